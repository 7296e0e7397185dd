//! What an `@input` reads, and where it goes.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::Path;

use trommel_base::files::{self, Op};
use trommel_base::nearest_one;
use trommel_base::text::{count_chars, grouped, nth_char, shown_name};
use trommel_route::{
    Destinations, ErrorClass, FilePattern as Files, INPUT, Matched, Origin, Pattern, Reader, Route, Scope,
    Target, WriteMode, changed, has_wildcard,
};
use trommel_tool::{Cancel, Failure, Manifest};

use super::pending::{Had, Pending};
use super::prompt::Prompt;
use super::work::Setup;
use crate::directive::{Input, Source};
use crate::document::{Document, front, member};
use crate::error::{Error, ErrorKind, Missing, Result};

/// Bytes in which a file's frontmatter is looked for.
const FRONT: u64 = 64 << 10;

/// Bytes that are read at a time.
const BLOCK: usize = 64 << 10;

/// One input.
pub(super) struct Reading<'a> {
    pub(super) setup: &'a Setup,
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
    /// Opened when it is its turn, as there may be more of them than a process may have open; when
    /// it was changed last.
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

impl Reading<'_> {
    /// Reads it into the prompt, or to where it is routed.
    pub(super) fn run(&self, found: Found, prompt: &mut Prompt) -> Result<Done> {
        self.require(&found)?;
        let is_missing = found.items.is_empty() && !self.may_be_empty(&found);
        let Found { items, mut warnings, .. } = found;
        let route = self.input.route.as_ref().filter(|route| route.target.is_routed());
        if is_missing {
            let then =
                if route.is_some() { " (nothing was read)" } else { " (the prompt says that it is missing)" };
            warnings.push(Error::from(self.missing(then)).to_string());
        }
        let (manifests, bytes) = match route {
            None => (Vec::new(), self.inline(items, prompt)?),
            Some(route) if route.mode() == WriteMode::New && items.len() > 1 => {
                let each = items.into_iter().map(|item| self.apart(route, item));
                (each.collect::<Result<Vec<_>>>()?, 1)
            }
            Some(route) => {
                let (manifest, bytes) = self.together(route, items)?;
                (vec![manifest], bytes)
            }
        };
        if let Some(summary) = summary(&manifests) {
            prompt.routed(&summary)?;
        }
        if bytes == 0 && matches!(self.input.source, Source::Query(_)) {
            let query = shown_name(self.input.source.name());
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

    /// True if it is nothing unusual that no file was found: none is pending in a folder that is
    /// there.
    pub(super) fn may_be_empty(&self, found: &Found) -> bool {
        !self.input.required
            && found.has_folder
            && self.wanted().is_some_and(|files| matches!(files, Files::Pending(_)))
    }

    /// An error where there must be something to read, and there is not.
    pub(super) fn require(&self, found: &Found) -> Result<()> {
        if !self.must_be_there() || self.may_be_empty(found) {
            return Ok(());
        }
        if found.items.is_empty() {
            return Err(Error::from(self.missing(if self.input.required {
                ", and it is required"
            } else {
                ", and `write-mode=replace` would empty its destination"
            })));
        }
        let is_empty = found.items.iter().map(|item| item.bytes).sum::<Option<u64>>() == Some(0);
        if self.input.required && is_empty && !self.input.refs_only { Err(self.empty()) } else { Ok(()) }
    }

    /// What there is to read.
    pub(super) fn items(&self) -> Result<Found> {
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
                    Err(error) if error.class() == ErrorClass::NotFound => Ok(Found::default()),
                    Err(error) => Err(error.into()),
                }
            }
            Source::Url(name) | Source::Query(name) => {
                let scheme = self.input.source.scheme();
                let Some(fetcher) = self.setup.fetchers.get(scheme) else {
                    return Err(ErrorKind::NoFetcher { scheme }.into());
                };
                fetcher.check(name)?;
                Ok(one(Item { name: name.clone(), bytes: None, from: From::Fetched }))
            }
        }
    }

    /// A file that can be read.
    fn file(&self, path: String) -> Result<Item> {
        let file = self.places.root()?.read(&path)?;
        let looked_at = |cause| Error::from(files::Error::new(Op::Inspect, Path::new(&path), cause));
        let bytes = file.metadata().map_err(looked_at)?.len();
        let from = From::File(changed(&file).map_err(looked_at)?);
        Ok(Item { name: path, bytes: Some(bytes), from })
    }

    /// The files that a path matches.
    fn files(&self, pattern: &Pattern) -> Result<Found> {
        let root = self.places.root()?;
        let path = pattern.resolve(&self.places.now());
        let had = match Pending::of(self.places, &self.document.name, pattern) {
            Some(pending) => pending.had()?,
            None => BTreeSet::new(),
        };
        let is_new = |path: &str, changed: i128| {
            had.is_empty() || !had.contains(&Had { path: path.to_owned(), changed }.to_string())
        };
        let Matched { paths, has_folder, left_out, left_out_count, .. } =
            root.matched(&path, pattern.files(), &is_new)?;
        let items = paths.into_iter().map(|path| self.file(path)).collect::<Result<_>>()?;
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

    /// The pending files that are about to be processed, each as it was before it is read: one that
    /// changes from now on comes again.
    pub(super) fn pending(&self, items: &[Item]) -> Vec<Had> {
        if !matches!(self.wanted(), Some(Files::Pending(_))) {
            return Vec::new();
        }
        let had = |item: &Item| match item.from {
            From::File(changed) => Some(Had { path: item.name.clone(), changed }),
            _ => None,
        };
        items.iter().filter_map(had).collect()
    }

    /// Remembers the pending files that were processed.
    pub(super) fn remember(&self, had: &[Had]) -> Result<()> {
        match &self.input.source {
            Source::File(pattern) if !had.is_empty() => {
                Pending::of(self.places, &self.document.name, pattern)
                    .map_or(Ok(()), |pending| pending.remember(had))
            }
            _ => Ok(()),
        }
    }

    /// The error that the input does not exist, with the consequence and the nearest name.
    fn missing(&self, so: &'static str) -> ErrorKind {
        let now = self.places.now();
        match &self.input.source {
            Source::Variable(pattern) => {
                let name = pattern.resolve(&now);
                let (near, known) = self.places.buffers().nearest(&name, self.input.scope);
                let what = match self.input.scope {
                    None => "there is no variable",
                    Some(Scope::Session) => "the session has no variable",
                    Some(_) => "the run has no variable",
                };
                let help = match known {
                    0 => "there are none yet".to_owned(),
                    known => format!("`list` shows the {known} there are"),
                };
                ErrorKind::NoVariable(Missing { name, what, so, near, help: Some(help) })
            }
            source => {
                let path = match source {
                    Source::File(pattern) => pattern.resolve(&now),
                    other => other.name().to_owned(),
                };
                let what = match self.wanted() {
                    Some(Files::Pending(_)) => "no pending file matches",
                    _ if has_wildcard(&path) => "no file matches",
                    _ => "there is no file",
                };
                let near = self.near(&path);
                ErrorKind::NoFile(Missing { name: path, what, so, near, help: None })
            }
        }
    }

    /// The failure that there is nothing in what is required.
    fn empty(&self) -> Error {
        let source = &self.input.source;
        ErrorKind::Empty { scheme: source.scheme(), name: source.name().to_owned() }.into()
    }

    /// The file in the same folder that is named most like it. A name without an extension may mean
    /// a Markdown file.
    fn near(&self, path: &str) -> Option<String> {
        let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let there = self.places.root().ok()?.find(&format!("{folder}*")).ok()?;
        let is_bare = Path::new(path).extension().is_none();
        let compared = |name: &str| {
            let bare = if is_bare { name.strip_suffix(".md").unwrap_or(name) } else { name };
            // An extension is not a name of its own, as the last part of a tool's name is.
            bare.replace('.', " ")
        };
        let names: Vec<_> = there.iter().map(|name| compared(name)).collect();
        let near = nearest_one(&compared(path), names.iter().map(String::as_str))?;
        let index = names.iter().position(|name| name == near)?;
        there.into_iter().nth(index)
    }

    /// Puts it into the prompt; how many bytes there were.
    fn inline(&self, items: Vec<Item>, prompt: &mut Prompt) -> Result<u64> {
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
    fn together(&self, route: &Route, items: Vec<Item>) -> Result<(Manifest, u64)> {
        let mut parcel = self.places.open(route, self.origin(&items))?;
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                parcel.write_all(b"\n\n")?;
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
    fn apart(&self, route: &Route, item: Item) -> Result<Manifest> {
        let mut parcel = self.places.open(route, self.origin(std::slice::from_ref(&item)))?;
        let title = format!("--- FILE: {} ---\n", item.name);
        parcel.write_all(title.as_bytes())?;
        self.write(item, &mut parcel)?;
        Ok(parcel.finish()?)
    }

    fn origin(&self, items: &[Item]) -> Origin {
        let mut origin = Origin::of(INPUT);
        self.input.source.scheme().clone_into(&mut origin.kind);
        origin.items = Some(items.len() as u64);
        if matches!(self.input.source, Source::File(_)) {
            origin.paths = items.iter().map(|item| item.name.clone()).collect();
        }
        origin
    }

    /// Writes one of them: its name, its properties, its beginning, or all of it.
    fn write(&self, item: Item, to: &mut dyn Write) -> Result<()> {
        let write = |to: &mut dyn Write, text: &str| to.write_all(text.as_bytes());
        if self.input.refs_only {
            return Ok(write(to, &item.name)?);
        }
        let mut reader: Box<dyn Read> = match item.from {
            From::File(_) => Box::new(self.places.root()?.read(&item.name)?),
            From::Buffer(reader) => Box::new(reader),
            From::Fetched => return self.fetch(&item.name, to),
        };
        if let Some(names) = &self.input.properties {
            return Ok(write(to, &properties(&mut reader, names)?)?);
        }
        self.head(to).pour(&mut reader)
    }

    fn fetch(&self, name: &str, to: &mut dyn Write) -> Result<()> {
        if self.input.properties.is_some() {
            return Err(ErrorKind::NoProperties.into());
        }
        let fetcher = self.setup.fetchers.get(self.input.source.scheme());
        let done = fetcher.map_or(Ok(()), |fetcher| fetcher.fetch(name, &mut self.head(to)));
        // Whatever a fetcher makes of it.
        if self.setup.context.cancel.is_cancelled() { Err(ErrorKind::Cancelled.into()) } else { Ok(done?) }
    }

    fn head<'w>(&'w self, to: &'w mut dyn Write) -> Head<'w> {
        Head { to, left: self.input.head, is_over: false, cancel: &self.setup.context.cancel }
    }
}

/// One manifest for several of one input, which has a destination for each of its files; nothing
/// for none.
pub(super) fn summary(manifests: &[Manifest]) -> Option<Manifest> {
    let (first, last) = (manifests.first()?, manifests.last()?);
    let mut summary = first.clone();
    if manifests.len() > 1 {
        summary.destination = format!("{} … {}", first.destination, last.destination);
        summary.items = Some(manifests.iter().map(|one| one.items.unwrap_or(1)).sum());
        summary.size_chars = manifests.iter().map(|one| one.size_chars).sum();
        summary.size_bytes = manifests.iter().map(|one| one.size_bytes).sum();
        summary.paths = manifests.iter().flat_map(|one| one.paths.iter().cloned()).collect();
        summary.next_calls.clear();
    }
    Some(summary)
}

/// The lines of a file's frontmatter, or those of some keys: with what continues them, such as
/// lists and folded text.
fn properties(reader: &mut dyn Read, names: &[String]) -> Result<String> {
    let mut begins = Vec::new();
    reader.take(FRONT).read_to_end(&mut begins)?;
    let text = String::from_utf8_lossy(&begins);
    let Some((inside, _)) = front(&text) else {
        if begins.len() as u64 == FRONT && text.trim_start_matches('\u{feff}').starts_with("---\n") {
            return Err(ErrorKind::LongFrontmatter(FRONT).into());
        }
        return Ok(String::new());
    };
    let inside = &text[inside];
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
    /// Whether a character has come that is not wanted any more. The last one may have come in two
    /// pieces.
    is_over: bool,
    cancel: &'a Cancel,
}

impl Head<'_> {
    /// Reads as much as is wanted.
    fn pour(&mut self, from: &mut dyn Read) -> Result<()> {
        let mut block = vec![0; BLOCK];
        while !self.is_over {
            let count = match from.read(&mut block) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if count == 0 {
                break;
            }
            self.write_all(&block[..count])?;
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
        let part = &bytes[..end];
        *left -= count_chars(part);
        self.is_over = end < bytes.len();
        self.to.write_all(part)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
