//! What an `@input` reads, and where it goes.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::Path;

use trommel_base::text::grouped;
use trommel_tool::{Cancel, Failure, Manifest};

use super::Runner;
use super::pending::{Had, Pending};
use super::prompt::Prompt;
use crate::buffers::Reader;
use crate::destinations::{Destinations, Origin};
use crate::directive::{Input, Source};
use crate::document::{Document, front, member};
use crate::error::{Error, ErrorKind, shown};
use crate::files::{Matched, changed, has_wildcard};
use crate::mode::WriteMode;
use crate::near;
use crate::notice;
use crate::pattern::{Files, Pattern};
use crate::spool::{count_chars, nth_char};
use crate::target::{Route, Target};

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

/// What there is to read.
#[derive(Default)]
pub(super) struct Found {
    pub(super) items: Vec<Item>,
    /// True if the folder of a file is there.
    has_folder: bool,
    /// Why there is less than the document may mean.
    warnings: Vec<String>,
}

/// What was read.
#[derive(Default)]
pub(super) struct Done {
    pub(super) manifests: Vec<Manifest>,
    pub(super) warnings: Vec<String>,
}

type Tried<T> = Result<T, Failure>;

fn raised(error: &io::Error) -> Failure {
    // The message of our own error is complete.
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(inner) => Failure::new(inner.to_string()).with("code", inner.kind().code()),
        None => match error.get_ref().and_then(|inner| inner.downcast_ref::<Failure>()) {
            Some(failure) => failure.clone(),
            None => Failure::raised(error),
        },
    }
}

impl Reading<'_> {
    /// Reads it into the prompt, or to where it is routed.
    pub(super) fn run(&self, found: Found, prompt: &mut Prompt) -> Tried<Done> {
        self.require(&found)?;
        let is_missing = found.items.is_empty() && !self.may_be_empty(&found);
        let Found { items, mut warnings, .. } = found;
        let route = self.input.route.as_ref().filter(|route| route.target.is_routed());
        if is_missing {
            let then =
                if route.is_some() { "nothing was read" } else { "the prompt says that it is missing" };
            warnings.push(self.missing(&format!(" ({then})")).message);
        }
        let (manifests, bytes) = match route {
            None => (Vec::new(), self.inline(items, prompt)?),
            Some(route) if route.mode() == WriteMode::New && items.len() > 1 => {
                let each = items.into_iter().map(|item| self.apart(route, item));
                (each.collect::<Tried<Vec<_>>>()?, 1)
            }
            Some(route) => {
                let (manifest, bytes) = self.together(route, items)?;
                (vec![manifest], bytes)
            }
        };
        if let Some(summary) = notice::summary(&manifests) {
            prompt.routed(&summary)?;
        }
        if bytes == 0 && matches!(self.input.source, Source::Query(_)) {
            let query = shown(self.input.source.name());
            warnings.push(format!("the query `{query}` selects nothing (in a stream, `$` is each record)"));
        }
        Ok(Done { manifests, warnings })
    }

    /// True if nothing to read is an error: it is required, or would empty its destination.
    pub(super) fn must_be_there(&self) -> bool {
        let empties = |route: &Route| {
            route.mode() == WriteMode::Replace
                && matches!(route.target, Target::File(_) | Target::Variable(_))
        };
        self.input.required || self.input.route.as_ref().is_some_and(empties)
    }

    /// True if it is nothing unusual that no file was found: none is pending in a folder that is there.
    pub(super) fn may_be_empty(&self, found: &Found) -> bool {
        !self.input.required
            && found.has_folder
            && self.wanted().is_some_and(|files| matches!(files, Files::Pending(_)))
    }

    /// An error where there must be something to read, and there is not.
    pub(super) fn require(&self, found: &Found) -> Tried<()> {
        if !self.must_be_there() || self.may_be_empty(found) {
            return Ok(());
        }
        if found.items.is_empty() {
            return Err(self.missing(if self.input.required {
                ", and it is required"
            } else {
                ", and `write-mode=replace` would empty its destination"
            }));
        }
        let is_empty = found.items.iter().map(|item| item.bytes).sum::<Option<u64>>() == Some(0);
        if self.input.required && is_empty && !self.input.refs_only { Err(self.empty()) } else { Ok(()) }
    }

    /// What there is to read.
    pub(super) fn items(&self) -> Tried<Found> {
        let now = self.places.now();
        let one = |item| Found { items: vec![item], ..Found::default() };
        match &self.input.source {
            Source::File(pattern) => self.files(pattern),
            Source::Variable(pattern) => {
                let name = pattern.resolve(&now);
                match self.places.buffers().find(&name, self.input.scope) {
                    Ok((info, content)) => {
                        let from = From::Buffer(content.reader(0));
                        Ok(one(Item { name, bytes: Some(info.bytes), from }))
                    }
                    Err(error) if error.kind() == ErrorKind::NotFound => Ok(Found::default()),
                    Err(error) => Err(error.into()),
                }
            }
            Source::Url(name) | Source::Query(name) => {
                let scheme = self.input.source.scheme();
                let Some(fetcher) = self.runner.fetchers.get(scheme) else {
                    let message =
                        format!("nothing here fetches `{scheme}:` inputs: read a file or a variable instead");
                    return Err(Error::new(ErrorKind::Unsupported, message).into());
                };
                fetcher.check(name)?;
                Ok(one(Item { name: name.clone(), bytes: None, from: From::Fetched }))
            }
        }
    }

    /// A file that can be read.
    fn file(&self, path: String) -> Tried<Item> {
        let file = self.places.root()?.read(&path)?;
        let looked_at = |cause| Error::io("look at", &path, cause);
        let bytes = file.metadata().map_err(looked_at)?.len();
        let from = From::File(changed(&file).map_err(looked_at)?);
        Ok(Item { name: path, bytes: Some(bytes), from })
    }

    /// The files that a path matches.
    fn files(&self, pattern: &Pattern) -> Tried<Found> {
        let root = self.places.root()?;
        let path = pattern.resolve(&self.places.now());
        let had = match Pending::of(self.places, &self.document.name, pattern) {
            Some(pending) => pending.had()?,
            None => BTreeSet::new(),
        };
        let is_new = |path: &str, changed: i128| {
            had.is_empty() || !had.contains(&Had { path: path.to_owned(), changed }.to_string())
        };
        let Matched { paths, has_folder, left_out, left_out_count } =
            root.matched(&path, pattern.files(), &is_new)?;
        let items = paths.into_iter().map(|path| self.file(path)).collect::<Tried<_>>()?;
        let mut found = Found { items, has_folder, warnings: Vec::new() };
        if left_out_count > 0 {
            let more = if left_out_count > left_out.len() as u64 { ", …" } else { "" };
            found.warnings.push(format!(
                "{} left out, as no path can name {}: the names are not UTF-8, or hold control characters ({}{more})",
                if left_out_count == 1 { "1 file was".to_owned() } else { format!("{} files were", grouped(left_out_count)) },
                if left_out_count == 1 { "it" } else { "them" },
                left_out.join(", "),
            ));
        }
        Ok(found)
    }

    fn wanted(&self) -> Option<Files> {
        match &self.input.source {
            Source::File(pattern) => pattern.files(),
            _ => None,
        }
    }

    /// The pending files that are about to be processed, each as it was before it is read: one that changes from now on comes again.
    pub(super) fn pending(&self, items: &[Item]) -> Vec<Had> {
        let is_pending = matches!(self.wanted(), Some(Files::Pending(_)));
        let had = |item: &Item| match item.from {
            From::File(changed) => Some(Had { path: item.name.clone(), changed }),
            _ => None,
        };
        items.iter().filter(|_| is_pending).filter_map(had).collect()
    }

    /// Remembers the pending files that were processed.
    pub(super) fn remember(&self, had: &[Had]) -> crate::Result<()> {
        match &self.input.source {
            Source::File(pattern) if !had.is_empty() => {
                Pending::of(self.places, &self.document.name, pattern)
                    .map_or(Ok(()), |pending| pending.remember(had))
            }
            _ => Ok(()),
        }
    }

    /// The failure that there is nothing, with what follows from that, and the nearest name.
    fn missing(&self, so: &str) -> Failure {
        let now = self.places.now();
        let error = match &self.input.source {
            Source::Variable(name) => {
                self.places.buffers().missing("variable", &name.resolve(&now), self.input.scope, so)
            }
            source => {
                let path = match source {
                    Source::File(pattern) => pattern.resolve(&now),
                    other => other.name().to_owned(),
                };
                let near = self
                    .near(&path)
                    .map_or(String::new(), |near| format!("; did you mean `{}`?", shown(&near)));
                let what = match self.wanted() {
                    Some(Files::Pending(_)) => "no pending file matches",
                    _ if has_wildcard(&path) => "no file matches",
                    _ => "there is no file",
                };
                Error::new(ErrorKind::NotFound, format!("{what} `{}`{so}{near}", shown(&path)))
            }
        };
        error.into()
    }

    /// The failure that there is nothing in what is required.
    fn empty(&self) -> Failure {
        let (scheme, name) = (self.input.source.scheme(), shown(self.input.source.name()));
        let message = match &self.input.source {
            Source::Query(_) => format!("the query `{name}` selects nothing, and it is required"),
            _ => format!("`{scheme}:{name}` is empty, and it is required"),
        };
        Error::new(ErrorKind::NotFound, message).into()
    }

    /// The file in the same folder that is named most like it. A name without an extension may mean a Markdown file.
    fn near(&self, path: &str) -> Option<String> {
        let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let there = self.places.root().ok()?.find(&format!("{folder}*")).ok()?;
        let is_bare = Path::new(path).extension().is_none();
        let compared = |name: &str| match name.strip_suffix(".md") {
            Some(bare) if is_bare => bare.to_owned(),
            _ => name.to_owned(),
        };
        let names: Vec<_> = there.iter().map(|name| compared(name)).collect();
        let near = near::one(path, names.iter().map(String::as_str))?;
        let index = names.iter().position(|name| name == near)?;
        there.into_iter().nth(index)
    }

    /// Puts it into the prompt; how many bytes there were.
    fn inline(&self, items: Vec<Item>, prompt: &mut Prompt) -> Tried<u64> {
        if items.is_empty() {
            prompt.named(&format!(
                "{}:{} (missing)",
                self.input.source.scheme(),
                self.input.source.name()
            ))?;
        }
        let mut bytes = 0;
        for item in items {
            if self.input.refs_only {
                prompt.named(&item.name)?;
                bytes += 1;
                continue;
            }
            let mut data = prompt.open(self.input.source.scheme(), &item.name);
            self.write(item, &mut data)?;
            bytes += data.finish();
        }
        if bytes == 0 && self.input.required { Err(self.empty()) } else { Ok(bytes) }
    }

    /// Writes all of it to one place, with blank lines between; how many bytes there were.
    fn together(&self, route: &Route, items: Vec<Item>) -> Tried<(Manifest, u64)> {
        let mut parcel = self.places.open(route, self.origin(&items))?;
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                parcel.write_all(b"\n\n").map_err(|error| raised(&error))?;
            }
            self.write(item, &mut parcel)?;
        }
        // Dropped, the parcel leaves its destination as it is.
        if parcel.chars() == 0 && self.input.required {
            return Err(self.empty());
        }
        let manifest = parcel.finish()?;
        let bytes = manifest.size_bytes;
        Ok((manifest, bytes))
    }

    /// Writes one of several to a place of its own, under its name.
    fn apart(&self, route: &Route, item: Item) -> Tried<Manifest> {
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
    fn write(&self, item: Item, to: &mut dyn Write) -> Tried<()> {
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

    fn fetch(&self, name: &str, to: &mut dyn Write) -> Tried<()> {
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

/// The lines of a file's frontmatter, or those of some keys: with what continues them, such as lists and folded text.
fn properties(reader: &mut dyn Read, names: &[String]) -> Tried<String> {
    let mut begins = Vec::new();
    reader.take(FRONT).read_to_end(&mut begins).map_err(|error| raised(&error))?;
    let text = String::from_utf8_lossy(&begins);
    let Some((inside, _)) = front(&text) else {
        if begins.len() as u64 == FRONT && text.trim_start_matches('\u{feff}').starts_with("---\n") {
            let message = format!("the frontmatter has more than {} bytes, or is not closed", grouped(FRONT));
            return Err(Error::new(ErrorKind::Range, message).into());
        }
        return Ok(String::new());
    };
    let inside = text.get(inside).unwrap_or_default();
    let mut is_wanted = names.is_empty();
    let mut lines = String::new();
    for line in inside.lines() {
        if let (Some((key, _)), false) = (member(line), names.is_empty()) {
            is_wanted = names.iter().any(|name| name == key);
        }
        if is_wanted {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    Ok(lines)
}

/// Passes on what is read, or the first characters of it, until the run is to end.
struct Head<'a> {
    to: &'a mut dyn Write,
    left: Option<u64>,
    /// Whether a character has come that is not wanted any more. The last one may have come in two pieces.
    is_over: bool,
    cancel: &'a Cancel,
}

impl Head<'_> {
    /// Reads as much as is wanted.
    fn pour(&mut self, from: &mut dyn Read) -> Tried<()> {
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
