//! Reading an `@input` into the prompt or its destination.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::Path;

use trommel_base::files::{self, Op};
use trommel_base::nearest_one;
use trommel_base::text::{count_chars, display_name, grouped, nth_char};
use trommel_route::{
    Destinations, ErrorClass, FilePattern as Files, INPUT, MatchedFiles, Origin, Pattern, Reader, Route,
    Scope, Target, WriteMode, changed, has_wildcard,
};
use trommel_tool::{Cancel, Failure, Manifest};

use super::pending::{PendingLog, ProcessedFile};
use super::prompt::Prompt;
use super::step_run::Setup;
use crate::directive::{Input, Source};
use crate::document::{Document, frontmatter_span, member};
use crate::error::{Error, ErrorKind, Missing, Result};

/// The maximum size of a file's frontmatter.
const MAX_FRONTMATTER_BYTES: u64 = 64 << 10;

/// The size of the read buffer.
const READ_BYTES: usize = 64 << 10;

/// The reader of one input.
pub(super) struct InputReader<'a> {
    pub(super) setup: &'a Setup,
    pub(super) destinations: &'a Destinations,
    pub(super) input: &'a Input,
    pub(super) document: &'a Document,
}

/// A file, variable, or fetched content that an input reads.
pub(super) struct Item {
    pub(super) name: String,
    /// The length, if it is known before reading.
    pub(super) bytes: Option<u64>,
    from: ItemSource,
}

enum ItemSource {
    /// A file, with its modification time. It is opened only when it is read, because an input may
    /// match more files than a process may open.
    File(i128),
    Buffer(Reader),
    Fetched,
}

/// The items that an input reads.
#[derive(Default)]
pub(super) struct InputItems {
    pub(super) items: Vec<Item>,
    /// True if the folder of the files exists.
    has_folder: bool,
    /// Reasons why there may be fewer items than the document expects.
    warnings: Vec<String>,
}

/// The outcome of reading an input.
#[derive(Default)]
pub(super) struct InputReport {
    pub(super) manifests: Vec<Manifest>,
    pub(super) warnings: Vec<String>,
}

impl InputReader<'_> {
    /// Reads the items into the prompt, or writes them to the input's destination.
    pub(super) fn read(&self, found: InputItems, prompt: &mut Prompt) -> Result<InputReport> {
        self.require(&found)?;
        let is_missing = found.items.is_empty() && !self.may_be_empty(&found);
        let InputItems { items, mut warnings, .. } = found;
        let route = self.input.route.as_ref().filter(|route| route.target.is_routed());
        if is_missing {
            let consequence =
                if route.is_some() { " (nothing was read)" } else { " (the prompt says that it is missing)" };
            warnings.push(Error::from(self.missing(consequence)).to_string());
        }
        let (manifests, bytes) = match route {
            None => (Vec::new(), self.inline(items, prompt)?),
            Some(route) if route.mode() == WriteMode::New && items.len() > 1 => {
                let each = items.into_iter().map(|item| self.write_separately(route, item));
                // The number of bytes matters only for queries, which have a single item.
                (each.collect::<Result<Vec<_>>>()?, 1)
            }
            Some(route) => {
                let (manifest, bytes) = self.write_joined(route, items)?;
                (vec![manifest], bytes)
            }
        };
        if let Some(summary) = summary(&manifests) {
            prompt.add_notice(&summary)?;
        }
        if bytes == 0 && matches!(self.input.source, Source::Query(_)) {
            let query = display_name(self.input.source.name());
            warnings.push(format!("the query `{query}` selects nothing (in a stream, `$` is each record)"));
        }
        Ok(InputReport { manifests, warnings })
    }

    /// True if it is an error that there is nothing to read: the input is required, or its
    /// destination would be emptied.
    pub(super) fn needs_content(&self) -> bool {
        let empties = |route: &Route| {
            route.mode() == WriteMode::Replace
                && matches!(route.target, Target::File(_) | Target::Variable(_))
        };
        self.input.required || self.input.route.as_ref().is_some_and(empties)
    }

    /// True if finding no file is normal: the folder exists, but no file is pending in it.
    pub(super) fn may_be_empty(&self, found: &InputItems) -> bool {
        !self.input.required
            && found.has_folder
            && self.file_selection().is_some_and(|files| matches!(files, Files::Pending(_)))
    }

    /// Returns an error if the input needs content and has none.
    pub(super) fn require(&self, found: &InputItems) -> Result<()> {
        if !self.needs_content() || self.may_be_empty(found) {
            return Ok(());
        }
        if found.items.is_empty() {
            return Err(Error::from(self.missing(if self.input.required {
                ", and it is required"
            } else {
                ", and `write-mode=replace` would empty its destination"
            })));
        }
        // The length of a fetched item is unknown, so the sum is `None`. `read` checks it again.
        let is_empty = found.items.iter().map(|item| item.bytes).sum::<Option<u64>>() == Some(0);
        if self.input.required && is_empty && !self.input.refs_only { Err(self.empty()) } else { Ok(()) }
    }

    /// Finds the items to read.
    pub(super) fn items(&self) -> Result<InputItems> {
        let now = self.destinations.now();
        let one = |item| InputItems { items: vec![item], ..InputItems::default() };
        match &self.input.source {
            Source::File(pattern) => self.files(pattern),
            Source::Variable(pattern) => {
                let name = pattern.resolve(&now);
                match self.destinations.buffers().find(&name, self.input.scope) {
                    Ok((info, content)) => {
                        let from = ItemSource::Buffer(content.reader(0));
                        Ok(one(Item { name, bytes: Some(info.bytes), from }))
                    }
                    Err(error) if error.class() == ErrorClass::NotFound => Ok(InputItems::default()),
                    Err(error) => Err(error.into()),
                }
            }
            Source::Url(name) | Source::Query(name) => {
                let scheme = self.input.source.scheme();
                let Some(fetcher) = self.setup.fetchers.get(scheme) else {
                    return Err(ErrorKind::NoFetcher { scheme }.into());
                };
                fetcher.check(name)?;
                Ok(one(Item { name: name.clone(), bytes: None, from: ItemSource::Fetched }))
            }
        }
    }

    /// Creates the item of a readable file.
    fn file(&self, path: String) -> Result<Item> {
        let file = self.destinations.root()?.read(&path)?;
        let inspect_error = |cause| Error::from(files::Error::new(Op::Inspect, Path::new(&path), cause));
        let bytes = file.metadata().map_err(inspect_error)?.len();
        let from = ItemSource::File(changed(&file).map_err(inspect_error)?);
        Ok(Item { name: path, bytes: Some(bytes), from })
    }

    /// Finds the files that a path matches.
    fn files(&self, pattern: &Pattern) -> Result<InputItems> {
        let root = self.destinations.root()?;
        let path = pattern.resolve(&self.destinations.now());
        let processed = match PendingLog::new(self.destinations, &self.document.name, pattern) {
            Some(pending) => pending.processed()?,
            None => BTreeSet::new(),
        };
        let is_new = |path: &str, changed: i128| {
            processed.is_empty()
                || !processed.contains(&ProcessedFile { path: path.to_owned(), changed }.to_string())
        };
        let MatchedFiles { paths, has_folder, left_out, left_out_count, .. } =
            root.matched(&path, pattern.files(), &is_new)?;
        let items = paths.into_iter().map(|path| self.file(path)).collect::<Result<_>>()?;
        let mut found = InputItems { items, has_folder, warnings: Vec::new() };
        if left_out_count > 0 {
            let more = if left_out_count > left_out.len() as u64 { ", …" } else { "" };
            let skipped = match left_out_count {
                1 => "1 file was skipped".to_owned(),
                count => format!("{} files were skipped", grouped(count)),
            };
            found.warnings.push(format!(
                "{skipped}: file names must be UTF-8 without control characters ({}{more})",
                left_out.join(", "),
            ));
        }
        Ok(found)
    }

    fn file_selection(&self) -> Option<Files> {
        match &self.input.source {
            Source::File(pattern) => pattern.files(),
            _ => None,
        }
    }

    /// Returns the pending files among the items, with their modification times before reading. A
    /// file that changes from now on is processed again by the next run.
    pub(super) fn pending(&self, items: &[Item]) -> Vec<ProcessedFile> {
        if !matches!(self.file_selection(), Some(Files::Pending(_))) {
            return Vec::new();
        }
        let processed = |item: &Item| match item.from {
            ItemSource::File(changed) => Some(ProcessedFile { path: item.name.clone(), changed }),
            _ => None,
        };
        items.iter().filter_map(processed).collect()
    }

    /// Records pending files as processed.
    pub(super) fn remember(&self, processed: &[ProcessedFile]) -> Result<()> {
        match &self.input.source {
            Source::File(pattern) if !processed.is_empty() => {
                PendingLog::new(self.destinations, &self.document.name, pattern)
                    .map_or(Ok(()), |pending| pending.remember(processed))
            }
            _ => Ok(()),
        }
    }

    /// Returns the error for an input that does not exist, with the consequence and the nearest
    /// name.
    fn missing(&self, consequence: &'static str) -> ErrorKind {
        let now = self.destinations.now();
        match &self.input.source {
            Source::Variable(pattern) => {
                let name = pattern.resolve(&now);
                let (near, known) = self.destinations.buffers().nearest(&name, self.input.scope);
                let what = match self.input.scope {
                    None => "there is no variable",
                    Some(Scope::Session) => "the session has no variable",
                    Some(_) => "the run has no variable",
                };
                let help = match known {
                    0 => "no variables exist yet".to_owned(),
                    known => format!("`list` shows the {known} existing ones"),
                };
                ErrorKind::NoVariable(Missing { name, what, consequence, near, help: Some(help) })
            }
            source => {
                let path = match source {
                    Source::File(pattern) => pattern.resolve(&now),
                    other => other.name().to_owned(),
                };
                let what = match self.file_selection() {
                    Some(Files::Pending(_)) => "no pending file matches",
                    _ if has_wildcard(&path) => "no file matches",
                    _ => "there is no file",
                };
                let near = self.near(&path);
                ErrorKind::NoFile(Missing { name: path, what, consequence, near, help: None })
            }
        }
    }

    /// The error for a required input that is empty.
    fn empty(&self) -> Error {
        let source = &self.input.source;
        ErrorKind::Empty { scheme: source.scheme(), name: source.name().to_owned() }.into()
    }

    /// Returns the most similar name of a file in the same folder. A name without an extension may
    /// refer to a Markdown file.
    fn near(&self, path: &str) -> Option<String> {
        let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        let siblings = self.destinations.root().ok()?.find(&format!("{folder}*")).ok()?;
        let is_bare = Path::new(path).extension().is_none();
        let comparable = |name: &str| {
            let bare = if is_bare { name.strip_suffix(".md").unwrap_or(name) } else { name };
            // `nearest_one` compares the last dotted part of a tool's name on its own. An extension
            // is not such a part.
            bare.replace('.', " ")
        };
        let names: Vec<_> = siblings.iter().map(|name| comparable(name)).collect();
        let near = nearest_one(&comparable(path), names.iter().map(String::as_str))?;
        let index = names.iter().position(|name| name == near)?;
        siblings.into_iter().nth(index)
    }

    /// Reads the items into the prompt. Returns the number of bytes.
    fn inline(&self, items: Vec<Item>, prompt: &mut Prompt) -> Result<u64> {
        if items.is_empty() {
            prompt.add_name(&format!(
                "{}:{} (missing)",
                self.input.source.scheme(),
                self.input.source.name()
            ))?;
        }
        let mut bytes = 0;
        for item in items {
            if self.input.refs_only {
                prompt.add_name(&item.name)?;
                bytes += 1;
                continue;
            }
            let mut data = prompt.open(self.input.source.scheme(), &item.name);
            self.write(item, &mut data)?;
            bytes += data.finish();
        }
        if bytes == 0 && self.input.required { Err(self.empty()) } else { Ok(bytes) }
    }

    /// Writes all items to one destination, separated by blank lines. Returns the number of bytes
    /// as well.
    fn write_joined(&self, route: &Route, items: Vec<Item>) -> Result<(Manifest, u64)> {
        let mut writer = self.destinations.open(route, self.origin(&items))?;
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                writer.write_all(b"\n\n")?;
            }
            self.write(item, &mut writer)?;
        }
        // An unfinished writer leaves its destination unchanged when it is dropped.
        if writer.chars() == 0 && self.input.required {
            return Err(self.empty());
        }
        let manifest = writer.finish()?;
        let bytes = manifest.size_bytes;
        Ok((manifest, bytes))
    }

    /// Writes one of several items to its own destination, under a title.
    fn write_separately(&self, route: &Route, item: Item) -> Result<Manifest> {
        let mut writer = self.destinations.open(route, self.origin(std::slice::from_ref(&item)))?;
        let title = format!("--- FILE: {} ---\n", item.name);
        writer.write_all(title.as_bytes())?;
        self.write(item, &mut writer)?;
        Ok(writer.finish()?)
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

    /// Writes an item: its name, its properties, its first characters, or all of it.
    fn write(&self, item: Item, to: &mut dyn Write) -> Result<()> {
        let write = |to: &mut dyn Write, text: &str| to.write_all(text.as_bytes());
        if self.input.refs_only {
            return Ok(write(to, &item.name)?);
        }
        let mut reader: Box<dyn Read> = match item.from {
            ItemSource::File(_) => Box::new(self.destinations.root()?.read(&item.name)?),
            ItemSource::Buffer(reader) => Box::new(reader),
            ItemSource::Fetched => return self.fetch(&item.name, to),
        };
        if let Some(names) = &self.input.properties {
            return Ok(write(to, &properties(&mut reader, names)?)?);
        }
        self.head(to).copy_from(&mut reader)
    }

    fn fetch(&self, name: &str, to: &mut dyn Write) -> Result<()> {
        if self.input.properties.is_some() {
            return Err(ErrorKind::NoProperties.into());
        }
        let fetcher = self.setup.fetchers.get(self.input.source.scheme());
        let result = fetcher.map_or(Ok(()), |fetcher| fetcher.fetch(name, &mut self.head(to)));
        // Cancellation takes precedence over the result, however the fetcher reports it.
        if self.setup.context.cancel.is_cancelled() { Err(ErrorKind::Cancelled.into()) } else { Ok(result?) }
    }

    /// Returns a writer that stops at the input's `head`.
    fn head<'w>(&'w self, to: &'w mut dyn Write) -> HeadWriter<'w> {
        HeadWriter { to, remaining: self.input.head, is_done: false, cancel: &self.setup.context.cancel }
    }
}

/// Summarizes the manifests of an input, whose files may each have a destination. Returns `None`
/// for an empty list.
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

/// Returns the lines of a file's frontmatter, or only those of the given keys. Continuation lines,
/// such as lists and folded text, belong to the key above them.
fn properties(reader: &mut dyn Read, names: &[String]) -> Result<String> {
    let mut head = Vec::new();
    reader.take(MAX_FRONTMATTER_BYTES).read_to_end(&mut head)?;
    let text = String::from_utf8_lossy(&head);
    let Some((inside, _)) = frontmatter_span(&text) else {
        // The end of the frontmatter may be after the bytes that were read.
        if head.len() as u64 == MAX_FRONTMATTER_BYTES
            && text.trim_start_matches('\u{feff}').starts_with("---\n")
        {
            return Err(ErrorKind::LongFrontmatter(MAX_FRONTMATTER_BYTES).into());
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

/// A writer that forwards everything, or the first characters, until the run is cancelled.
struct HeadWriter<'a> {
    to: &'a mut dyn Write,
    remaining: Option<u64>,
    /// True once a character beyond the limit has arrived. Until then, the rest of the last
    /// character may still arrive, because a read may split it.
    is_done: bool,
    cancel: &'a Cancel,
}

impl HeadWriter<'_> {
    /// Copies up to the limit, or to the end of the input.
    fn copy_from(&mut self, from: &mut dyn Read) -> Result<()> {
        let mut block = vec![0; READ_BYTES];
        while !self.is_done {
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

impl Write for HeadWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other(Failure::cancelled()));
        }
        let Some(remaining) = &mut self.remaining else { return self.to.write(bytes) };
        if self.is_done {
            return Ok(bytes.len());
        }
        let end = nth_char(bytes, *remaining).unwrap_or(bytes.len());
        let part = &bytes[..end];
        *remaining -= count_chars(part);
        self.is_done = end < bytes.len();
        self.to.write_all(part)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
