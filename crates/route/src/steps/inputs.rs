//! What an `@input` reads, and where it goes.

use std::io::{self, Read, Write};

use trommel_tool::{CancelFlag, Failure, Manifest};

use super::Runner;
use super::pending::{Had, Pending};
use super::prompt::Prompt;
use crate::buffers::Reader;
use crate::destinations::{Destinations, Origin};
use crate::directive::{Input, Source};
use crate::document::{Document, front};
use crate::error::{Error, ErrorKind, shown};
use crate::files::changed;
use crate::mode::WriteMode;
use crate::near;
use crate::notice;
use crate::pattern::{Files, Pattern};
use crate::spool::{count_chars, nth_char};
use crate::target::Route;

/// Bytes in which a file's frontmatter is looked for.
const FRONT: u64 = 64 << 10;

/// Bytes that are read at a time.
const BLOCK: usize = 64 << 10;

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
    /// Its length, where that is known before it is read.
    pub(super) bytes: Option<u64>,
    from: From,
}

enum From {
    /// Opened when it is its turn, as there may be more of them than a process may have open; when it was changed last.
    File(i128),
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
    pub(super) fn run(&self, items: Vec<Item>, prompt: &mut Prompt) -> Done<Vec<Manifest>> {
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
            Source::File(pattern) => self.paths(pattern)?.into_iter().map(|path| self.file(path)).collect(),
            Source::Variable(pattern) => {
                let name = pattern.resolve(&now);
                match self.places.buffers().find(&name, self.input.scope) {
                    Ok((info, content)) => {
                        let from = From::Buffer(content.reader(0));
                        Ok(vec![Item { name, bytes: Some(info.bytes), from }])
                    }
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
                Ok(vec![Item { name: name.clone(), bytes: None, from: From::Fetched }])
            }
        }
    }

    /// A file that can be read.
    fn file(&self, path: String) -> Done<Item> {
        let file = self.places.root()?.read(&path)?;
        let looked_at = |cause| Error::io("look at", &path, cause);
        let bytes = file.metadata().map_err(looked_at)?.len();
        let from = From::File(changed(&file).map_err(looked_at)?);
        Ok(Item { name: path, bytes: Some(bytes), from })
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

    /// The pending files that are about to be had, each as it was before it is read: what changes from now on is had again.
    pub(super) fn pending(&self, items: &[Item]) -> Vec<Had> {
        let is_pending = match &self.input.source {
            Source::File(pattern) => matches!(pattern.files(), Some(Files::Pending(_))),
            _ => false,
        };
        let had = |item: &Item| match item.from {
            From::File(changed) => Some(Had { path: item.name.clone(), changed }),
            _ => None,
        };
        items.iter().filter(|_| is_pending).filter_map(had).collect()
    }

    /// Remembers pending files that it has had.
    pub(super) fn remember(&self, had: &[Had]) -> crate::Result<()> {
        match &self.input.source {
            Source::File(pattern) if !had.is_empty() => {
                Pending::of(self.places, &self.document.name, pattern)
                    .map_or(Ok(()), |pending| pending.remember(had))
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
        let mut reader: Box<dyn Read> = match item.from {
            From::File(_) => Box::new(self.places.root()?.read(&item.name)?),
            From::Buffer(reader) => Box::new(reader),
            From::Fetched => return self.fetch(&item.name, to),
        };
        if let Some(names) = &self.input.properties {
            return write(to, &properties(&mut reader, names)?);
        }
        self.head(to).pour(&mut reader)
    }

    fn fetch(&self, name: &str, to: &mut dyn Write) -> Done<()> {
        if self.input.properties.is_some() {
            let message = "`properties` are those of a file or a variable: leave it out";
            return Err(Error::new(ErrorKind::Unsupported, message).into());
        }
        let fetcher = self.runner.fetchers.get(self.input.source.scheme());
        let done = fetcher.map_or(Ok(()), |fetcher| fetcher.fetch(name, &mut self.head(to)));
        // Whatever a fetcher makes of it.
        if self.runner.context.cancel.is_cancelled() { Err(Failure::cancelled()) } else { done }
    }

    fn head<'w>(&'w self, to: &'w mut dyn Write) -> Head<'w> {
        Head { to, left: self.input.head, is_over: false, cancel: &self.runner.context.cancel }
    }
}

/// The lines of a file's frontmatter, or those of some keys.
fn properties(reader: &mut dyn Read, names: &[String]) -> Done<String> {
    let mut begins = Vec::new();
    reader.take(FRONT).read_to_end(&mut begins).map_err(|error| raised(&error))?;
    let text = String::from_utf8_lossy(&begins);
    let Some((inside, _)) = front(&text) else { return Ok(String::new()) };
    let inside = text.get(inside).unwrap_or_default();
    let is_wanted = |line: &&str| {
        let key = line.split_once(':').map(|(key, _)| key.trim());
        names.is_empty() || key.is_some_and(|key| names.iter().any(|name| name == key))
    };
    Ok(inside.lines().filter(is_wanted).flat_map(|line| [line, "\n"]).collect())
}

/// Passes on what is read, or the first characters of it, until the run is to end.
struct Head<'a> {
    to: &'a mut dyn Write,
    left: Option<u64>,
    /// Whether a character has come that is not wanted any more. The last one may have come in two pieces.
    is_over: bool,
    cancel: &'a CancelFlag,
}

impl Head<'_> {
    /// Reads as much as is wanted.
    fn pour(&mut self, from: &mut dyn Read) -> Done<()> {
        let mut block = vec![0; BLOCK];
        while !self.is_over {
            let count = match from.read(&mut block) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(|error| raised(&error))?,
            };
            let Some(part) = block.get(..count).filter(|part| !part.is_empty()) else { break };
            self.write_all(part).map_err(|error| raised(&error))?;
        }
        Ok(())
    }
}

impl Write for Head<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other(Failure::cancelled()));
        }
        let Some(left) = &mut self.left else { return self.to.write(bytes) };
        if self.is_over {
            return Ok(bytes.len());
        }
        let end = nth_char(bytes, *left).unwrap_or(bytes.len());
        let part = bytes.get(..end).unwrap_or_default();
        *left -= count_chars(part);
        self.is_over = end < bytes.len();
        self.to.write_all(part)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
