//! What an `@input` reads, and where it goes.

use std::fs::File;
use std::io::{self, Read, Write};

use trommel_tool::{Failure, Manifest};

use super::Runner;
use super::pending::Pending;
use super::prompt::Prompt;
use crate::buffers::Reader;
use crate::destinations::{Destinations, Origin};
use crate::directive::{Input, Source};
use crate::document::{Document, front};
use crate::error::{Error, ErrorKind, shown};
use crate::mode::WriteMode;
use crate::near;
use crate::notice;
use crate::pattern::{Files, Pattern};
use crate::target::Route;

/// Bytes in which a file's frontmatter is looked for.
const FRONT: u64 = 64 << 10;

/// One input.
pub(super) struct Reading<'a> {
    pub(super) runner: &'a Runner,
    pub(super) places: &'a Destinations,
    pub(super) input: &'a Input,
    pub(super) document: &'a Document,
}

/// Something that is read.
pub(super) struct Item {
    pub(super) name: String,
    from: From,
}

enum From {
    File(File),
    Buffer(Reader),
    Fetched,
}

type Done<T> = Result<T, Failure>;

fn raised(error: &io::Error) -> Failure {
    // What an error of ours says is all there is to say.
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(inner) => Failure::new(inner.to_string()).with("code", inner.kind().code()),
        None => match error.get_ref().and_then(|inner| inner.downcast_ref::<Failure>()) {
            Some(failure) => failure.clone(),
            None => Failure::raised(error),
        },
    }
}

impl Reading<'_> {
    /// Reads it into the prompt, or to where it is routed; the manifests of what was routed.
    pub(super) fn run(&self, prompt: &mut Prompt) -> Done<Vec<Manifest>> {
        let items = self.items()?;
        if items.is_empty() && self.input.required {
            return Err(self.missing());
        }
        let routed = self.input.route.as_ref().filter(|route| route.target.is_routed());
        let Some(route) = routed else {
            self.inline(items, prompt)?;
            return Ok(Vec::new());
        };
        let manifests = if route.mode() == WriteMode::New && items.len() > 1 {
            items.into_iter().map(|item| self.apart(route, item)).collect::<Done<Vec<_>>>()?
        } else {
            vec![self.together(route, items)?]
        };
        for manifest in &manifests {
            prompt.routed(manifest);
        }
        Ok(manifests)
    }

    /// What there is to read.
    pub(super) fn items(&self) -> Done<Vec<Item>> {
        let now = self.places.now();
        match &self.input.source {
            Source::File(pattern) => {
                let files = self.places.root()?;
                let paths = self.paths(pattern)?;
                let open = |path: String| Ok(Item { from: From::File(files.read(&path)?), name: path });
                paths.into_iter().map(open).collect()
            }
            Source::Variable(pattern) => {
                let name = pattern.resolve(&now);
                match self.places.buffers().find(&name, self.input.scope) {
                    Ok((_, content)) => Ok(vec![Item { from: From::Buffer(content.reader(0)), name }]),
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
                    Err(error) => Err(error.into()),
                }
            }
            Source::Url(name) | Source::Query(name) => {
                let scheme = self.input.source.scheme();
                if !self.runner.fetchers.contains_key(scheme) {
                    let message =
                        format!("nothing here fetches `{scheme}:` inputs: read a file or a variable instead");
                    return Err(Error::new(ErrorKind::Unsupported, message).into());
                }
                Ok(vec![Item { from: From::Fetched, name: name.clone() }])
            }
        }
    }

    /// The files that a path stands for.
    fn paths(&self, pattern: &Pattern) -> crate::Result<Vec<String>> {
        let files = self.places.root()?;
        let mut paths = files.find(&pattern.resolve(&self.places.now()))?;
        if let Some(pending) = Pending::of(self.places, &self.document.name, pattern) {
            paths = pending.new_ones(paths)?;
        }
        match pattern.files() {
            Some(wanted) => files.choose(paths, wanted),
            None => Ok(paths),
        }
    }

    /// The pending files that are about to be had.
    pub(super) fn pending(&self) -> crate::Result<Vec<String>> {
        match &self.input.source {
            Source::File(pattern) if matches!(pattern.files(), Some(Files::Pending(_))) => {
                self.paths(pattern)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Remembers pending files that it has had.
    pub(super) fn remember(&self, paths: &[String]) -> crate::Result<()> {
        match &self.input.source {
            Source::File(pattern) if !paths.is_empty() => {
                Pending::of(self.places, &self.document.name, pattern)
                    .map_or(Ok(()), |pending| pending.remember(paths))
            }
            _ => Ok(()),
        }
    }

    fn missing(&self) -> Failure {
        let now = self.places.now();
        let error = match &self.input.source {
            Source::Variable(name) => {
                let found = self.places.buffers().find(&name.resolve(&now), self.input.scope);
                return found
                    .err()
                    .map_or_else(|| Failure::refused("it was there a moment ago: try again"), Failure::from);
            }
            source => {
                let path = match source {
                    Source::File(pattern) => pattern.resolve(&now),
                    other => other.name().to_owned(),
                };
                let near = self
                    .near(&path)
                    .map_or(String::new(), |near| format!("; did you mean `{}`?", shown(&near)));
                let message = format!("there is no file `{}`, and it is required{near}", shown(&path));
                Error::new(ErrorKind::NotFound, message)
            }
        };
        error.into()
    }

    /// The file in the same folder that is named most like it.
    fn near(&self, path: &str) -> Option<String> {
        let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let there = self.places.root().ok()?.find(&format!("{folder}*")).ok()?;
        near::one(path, there.iter().map(String::as_str)).map(str::to_owned)
    }

    /// Puts it into the prompt.
    fn inline(&self, items: Vec<Item>, prompt: &mut Prompt) -> Done<()> {
        if items.is_empty() {
            prompt.named(&format!("{}:{} (not there)", self.input.source.scheme(), self.input.source.name()));
        }
        for item in items {
            if self.input.refs_only {
                prompt.named(&item.name);
                continue;
            }
            let mut data = prompt.open(self.input.source.scheme(), &item.name);
            self.write(item, &mut data)?;
            data.finish();
        }
        Ok(())
    }

    /// Brings all of it to one place, blank lines between.
    fn together(&self, route: &Route, items: Vec<Item>) -> Done<Manifest> {
        let mut parcel = self.places.open(route, self.origin(&items))?;
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                parcel.write_all(b"\n\n").map_err(|error| raised(&error))?;
            }
            self.write(item, &mut parcel)?;
        }
        Ok(parcel.finish()?)
    }

    /// Brings one of several to a place of its own, under its name.
    fn apart(&self, route: &Route, item: Item) -> Done<Manifest> {
        let mut parcel = self.places.open(route, self.origin(std::slice::from_ref(&item)))?;
        let title = format!("--- FILE: {} ---\n", item.name);
        parcel.write_all(title.as_bytes()).map_err(|error| raised(&error))?;
        self.write(item, &mut parcel)?;
        Ok(parcel.finish()?)
    }

    fn origin(&self, items: &[Item]) -> Origin {
        let mut origin = Origin::of(notice::INPUT);
        self.input.source.scheme().clone_into(&mut origin.kind);
        origin.items = Some(items.len() as u64);
        if matches!(self.input.source, Source::File(_)) {
            origin.paths = items.iter().map(|item| item.name.clone()).collect();
        }
        origin
    }

    /// Writes one of them: its name, its properties, its beginning, or all of it.
    fn write(&self, item: Item, to: &mut dyn Write) -> Done<()> {
        let write =
            |to: &mut dyn Write, text: &str| to.write_all(text.as_bytes()).map_err(|error| raised(&error));
        if self.input.refs_only {
            return write(to, &item.name);
        }
        if let Some(names) = &self.input.properties {
            return write(to, &properties(item, names)?);
        }
        let mut head = Head { to, left: self.input.head };
        match item.from {
            From::File(mut file) => io::copy(&mut file, &mut head).map(drop).map_err(|error| raised(&error)),
            From::Buffer(mut reader) => {
                io::copy(&mut reader, &mut head).map(drop).map_err(|error| raised(&error))
            }
            From::Fetched => {
                let fetcher = self.runner.fetchers.get(self.input.source.scheme());
                fetcher.map_or(Ok(()), |fetcher| fetcher.fetch(&item.name, &mut head))
            }
        }
    }
}

impl Item {
    /// Its length in bytes, where that is known before it is read.
    pub(super) fn bytes(&self) -> Option<u64> {
        match &self.from {
            From::File(file) => file.metadata().ok().map(|metadata| metadata.len()),
            From::Buffer(_) | From::Fetched => None,
        }
    }
}

/// The lines of a file's frontmatter, or those of some keys.
fn properties(item: Item, names: &[String]) -> Done<String> {
    let mut begins = Vec::new();
    let read = match item.from {
        From::File(file) => file.take(FRONT).read_to_end(&mut begins),
        From::Buffer(reader) => reader.take(FRONT).read_to_end(&mut begins),
        From::Fetched => {
            let message = "`properties` are those of a file or a variable: leave it out";
            return Err(Error::new(ErrorKind::Unsupported, message).into());
        }
    };
    read.map_err(|error| raised(&error))?;
    let text = String::from_utf8_lossy(&begins);
    let Some((inside, _)) = front(&text) else { return Ok(String::new()) };
    let inside = text.get(inside).unwrap_or_default();
    let is_wanted = |line: &&str| {
        let key = line.split_once(':').map(|(key, _)| key.trim());
        names.is_empty() || key.is_some_and(|key| names.iter().any(|name| name == key))
    };
    Ok(inside.lines().filter(is_wanted).flat_map(|line| [line, "\n"]).collect())
}

/// Passes on the first characters.
struct Head<'a> {
    to: &'a mut dyn Write,
    left: Option<u64>,
}

impl Write for Head<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(left) = &mut self.left else { return self.to.write(bytes) };
        let begins = bytes.iter().enumerate().filter(|(_, byte)| (**byte & 0xc0) != 0x80);
        let end =
            begins.map(|(at, _)| at).nth(usize::try_from(*left).unwrap_or(usize::MAX)).unwrap_or(bytes.len());
        let part = bytes.get(..end).unwrap_or_default();
        self.to.write_all(part)?;
        *left -= crate::spool::count_chars(part);
        if end < bytes.len() {
            *left = 0;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
