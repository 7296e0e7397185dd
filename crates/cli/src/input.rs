//! The input of a run: a file, standard input, or a stored output.

use std::cell::OnceCell;
use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use trommel::path::Duplicates;
use trommel::reader::{Framing, Input, Limits, LineColumn, MapPolicy, Validation};
use trommel::{Document, Error, OnBadRecord, framing_of, reader};
use trommel_guide::Error::Changed;
use trommel_guide::Guide;
use trommel_search::{FileSource, Prefix as StartOfInput};
use trommel_store::{Store, Stored};

use crate::args::{BadRecords, DuplicateMembers, Engine, Source, output_id};
use crate::errors::{EngineError, Failure};
use crate::prefix::Prefix;
use crate::read_ahead::ReadAhead;
use crate::{home, sigbus, stdio};

/// The argument that names standard input.
pub(crate) const STDIN_ARGUMENT: &str = "-";

/// The name of standard input in messages.
const STDIN: &str = "<stdin>";

/// An input and the options for reading it.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) file: PathBuf,
    /// Copies of inputs in temporary files, and the names of the inputs.
    pub(crate) aliases: Arc<[(PathBuf, String)]>,
    /// True if the command reads several inputs.
    pub(crate) is_one_of_several: bool,
    /// The ID or ID prefix of a stored output, if the input is one.
    pub(crate) output: Option<String>,
    /// The framing, unless the file name decides it.
    pub(crate) framing: Option<Framing>,
    pub(crate) is_mapped: bool,
    /// True if a guide of the file may be used.
    pub(crate) is_guided: bool,
    /// The number of threads, unless all cores are used.
    pub(crate) threads: Option<usize>,
    pub(crate) limits: Limits,
    /// The maximum number of decompressed bytes for each compressed one.
    pub(crate) limit_ratio: u64,
    pub(crate) validation: Validation,
    pub(crate) duplicates: Duplicates,
    pub(crate) on_bad_record: OnBadRecord,
}

/// The guide of a file.
#[derive(Debug)]
pub(crate) struct FoundGuide {
    pub(crate) guide: Guide,
    pub(crate) path: PathBuf,
    /// False if the file is a log that has grown since the guide was built.
    pub(crate) is_whole: bool,
}

/// An input as bytes that are not parsed.
pub(crate) enum RawInput {
    /// A regular file.
    File(FileSource),
    /// An input that can be read once, decompressed.
    Stream(Box<dyn Read + Send>),
}

/// Standard input, after its first bytes were read and pushed back.
static PUSHED_BACK: Mutex<Option<Box<dyn Read + Send>>> = Mutex::new(None);

fn push_back(reader: Box<dyn Read + Send>) {
    *PUSHED_BACK.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader);
}

fn pushed_back() -> Option<Box<dyn Read + Send>> {
    PUSHED_BACK.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Resources that the inputs of a command share.
#[derive(Default)]
pub(crate) struct SharedInputs {
    /// The first bytes of standard input, if it can be read only once.
    pub(crate) prefix: Prefix,
    store: OnceCell<Arc<Store>>,
}

impl SharedInputs {
    /// Returns the store of outputs, which is opened once.
    pub(crate) fn store(&self, mapping: MapPolicy) -> Result<&Store, Failure> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let store = home::store_with(mapping)?;
        Ok(self.store.get_or_init(|| store))
    }
}

impl Options {
    /// Builds the options from the command line, for standard input.
    pub(crate) fn new(source: &Source, engine: &Engine, validation: Validation, bad: BadRecords) -> Self {
        Self {
            file: STDIN_ARGUMENT.into(),
            aliases: Arc::default(),
            is_one_of_several: false,
            output: None,
            framing: source.framing(),
            is_mapped: !source.no_mmap,
            is_guided: !source.no_guide && env::var_os("TROMMEL_GUIDE").is_none_or(|value| value != "off"),
            threads: source.threads.map(NonZeroUsize::get),
            limits: source.limits(),
            limit_ratio: source.limit_ratio,
            validation,
            duplicates: engine.duplicates.into(),
            on_bad_record: bad.into(),
        }
    }

    /// Builds the options of a command without the query engine, for standard input.
    pub(crate) fn of_source(source: &Source) -> Self {
        let engine = Engine { strict: false, duplicates: DuplicateMembers::First };
        Self::new(source, &engine, Validation::Structural, BadRecords::STOP)
    }

    /// The same options for another input.
    pub(crate) fn of_file(&self, file: PathBuf) -> Self {
        let output = file.to_str().and_then(output_id).map(str::to_owned);
        Self { file, output, ..self.clone() }
    }

    pub(crate) fn is_stdin(&self) -> bool {
        self.file.as_os_str() == STDIN_ARGUMENT
    }

    /// The input's name in messages.
    pub(crate) fn name(&self) -> String {
        if self.is_stdin() {
            return STDIN.into();
        }
        let alias = self.aliases.iter().find(|(copy, _)| *copy == self.file);
        alias.map_or_else(|| self.file.to_string_lossy().into_owned(), |(_, name)| name.clone())
    }

    /// True if the input can be read several times: a regular file or a stored output.
    pub(crate) fn is_repeatable(&self) -> bool {
        !self.is_stdin() && (self.output.is_some() || self.file.is_file())
    }

    /// The size of a regular file in bytes, and 0 for a file that cannot be opened. `None` for
    /// other inputs.
    pub(crate) fn size(&self) -> Option<u64> {
        if self.is_stdin() || self.output.is_some() {
            return None;
        }
        match self.file.metadata() {
            Ok(metadata) => metadata.is_file().then_some(metadata.len()),
            Err(_) => Some(0),
        }
    }

    /// Returns the metadata of the input, if it is a stored output.
    pub(crate) fn stored(&self, shared: &SharedInputs) -> Result<Option<Stored>, Failure> {
        let Some(id) = &self.output else { return Ok(None) };
        Ok(Some(shared.store(self.mapping())?.get(id)?))
    }

    /// Opens the input. Regular files are mapped unless `--no-mmap` is given.
    pub(crate) fn open(&self, shared: &SharedInputs) -> Result<(Document<'static>, Option<Stored>), Failure> {
        let stored = self.stored(shared)?;
        let mut document = match &stored {
            // A stored output must be JSON.
            Some(stored) => shared.store(self.mapping())?.document(stored)?,
            None => self.open_file(&shared.prefix).map_err(|error| self.failure(error))?,
        };
        if let Some(framing) = self.framing {
            document = document.framing(framing);
        }
        Ok((document, stored))
    }

    /// The guide of a file that was opened, if there is one that fits.
    pub(crate) fn guide(&self, document: &Document<'_>) -> Option<FoundGuide> {
        let (guides, file) = (home::guides().ok()?, self.guided_file(document)?);
        let (found, is_whole) = match guides.find(&self.file, file) {
            Err(Changed(_)) => (guides.find_grown(&self.file, file), false),
            found => (found, true),
        };
        // Any other guide is not used. `trommel guide verify` says why.
        let (guide, path) = found.ok()?;
        Some(FoundGuide { guide, path, is_whole })
    }

    /// The file that was opened, if its guide may be used.
    pub(crate) fn guided_file<'d>(&self, document: &'d Document<'_>) -> Option<&'d File> {
        if self.is_guided && !self.is_stdin() { document.file() } else { None }
    }

    /// The framing that an option or the name of the input declares, or `Auto`.
    pub(crate) fn declared_framing(&self) -> Framing {
        self.framing.unwrap_or_else(|| framing_of(&self.file))
    }

    /// Opens the input as bytes that are not parsed.
    pub(crate) fn open_raw(&self) -> Result<RawInput, Error> {
        let file = if self.is_stdin() {
            let cause = |cause| Error::Open { path: STDIN.into(), cause };
            stdio::check_stdin().map_err(cause)?;
            let Some(file) = redirected().map_err(cause)? else {
                let ahead = ReadAhead::start(io::stdin()).map_err(cause)?;
                return self.stream(Box::new(ahead));
            };
            file
        } else {
            let cause = |cause| Error::Open { path: self.file.clone(), cause };
            let file = File::open(&self.file).map_err(cause)?;
            let metadata = file.metadata().map_err(cause)?;
            if !metadata.is_file() && !metadata.is_dir() {
                return self.stream(Box::new(file));
            }
            file
        };
        let source = FileSource::new(file, self.mapping(), self.limit_ratio);
        source.map(RawInput::File).map_err(|cause| Error::Open { path: self.name().into(), cause })
    }

    /// Opens the input as bytes if it is text, because its first bytes are not JSON. Also returns
    /// the reason if it looks like JSON.
    ///
    /// Malformed objects are not text: their fault is an error. A pipe other than standard input is
    /// not inspected, because it can be opened only once.
    pub(crate) fn open_if_text(&self) -> Result<Option<(RawInput, Option<reader::Error>)>, Error> {
        if !self.is_stdin() && !self.file.is_file() {
            return Ok(None);
        }
        let unreadable = |cause| Error::from(reader::Error::io(cause, 0));
        let (prefix, input) = match self.open_raw()? {
            RawInput::File(file) => (StartOfInput::of_file(&file).map_err(unreadable)?, RawInput::File(file)),
            RawInput::Stream(mut reader) => {
                let prefix = StartOfInput::of_reader(&mut reader).map_err(unreadable)?;
                let whole = io::Cursor::new(prefix.bytes().to_vec()).chain(reader);
                (prefix, RawInput::Stream(Box::new(whole)))
            }
        };
        let start = prefix.bytes().trim_ascii_start();
        let may_be_list = !start.is_empty() && !start.starts_with(b"{");
        let fault = if may_be_list { prefix.fault() } else { None };
        match (fault, input) {
            (Some(fault), input) => {
                let looks_like_json = start.starts_with(b"[") || start.starts_with(b"\"");
                Ok(Some((input, looks_like_json.then_some(fault))))
            }
            (None, RawInput::Stream(reader)) => {
                push_back(reader);
                Ok(None)
            }
            (None, RawInput::File(_)) => Ok(None),
        }
    }

    /// Decompresses a stream, if it is compressed.
    fn stream(&self, reader: Box<dyn Read + Send>) -> Result<RawInput, Error> {
        let reader =
            trommel::unpacked(reader, self.limit_ratio).map_err(|cause| reader::Error::io(cause, 0))?;
        Ok(RawInput::Stream(reader))
    }

    fn open_file(&self, prefix: &Prefix) -> Result<Document<'static>, Error> {
        let limited = |document: Document<'static>| document.ratio_limit(self.limit_ratio);
        if !self.is_stdin() {
            return Document::open_with(&self.file, self.mapping()).map(limited);
        }
        let cause = |cause| Error::Open { path: STDIN.into(), cause };
        stdio::check_stdin().map_err(cause)?;
        if let Some(reader) = pushed_back() {
            return Ok(limited(Document::from_reader(prefix.tee(reader))));
        }
        match redirected().map_err(cause)? {
            Some(file) => Input::from_file(file, self.mapping()).and_then(Document::from_input),
            None => ReadAhead::start(io::stdin()).map(|ahead| Document::from_reader(prefix.tee(ahead))),
        }
        .map(limited)
        .map_err(cause)
    }

    /// Returns the map policy for regular files. If they may be mapped, installs the handler for
    /// files that are truncated during the run.
    pub(crate) fn mapping(&self) -> MapPolicy {
        // The message of the handler is written before any file is mapped.
        let name = if self.is_one_of_several { "an input file".to_owned() } else { self.name() };
        if self.is_mapped { sigbus::map_files(&name) } else { MapPolicy::never() }
    }

    /// The failure of a run over this input.
    pub(crate) fn failure(&self, error: Error) -> Failure {
        if let Error::Output(cause) = error {
            return Failure::Output(cause);
        }
        let has_records = matches!(self.declared_framing(), Framing::Lines | Framing::JsonSeq);
        Failure::Work(Box::new(EngineError { error, file: self.name(), has_records }))
    }

    /// Returns the line and column of an offset, if the file can be read again.
    pub(crate) fn locate(&self, offset: u64) -> Option<LineColumn> {
        locate_in(Input::open(&self.file, MapPolicy::never()).ok()?.reader(), offset)
    }
}

/// Returns standard input as a file if it is a regular file at its start. A seekable file can be
/// mapped and read again, which a pipe cannot.
#[cfg(unix)]
fn redirected() -> io::Result<Option<File>> {
    use std::io::Seek;
    use std::os::fd::AsFd;

    let mut file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    Ok((file.stream_position()? == 0).then_some(file))
}

#[cfg(not(unix))]
fn redirected() -> io::Result<Option<File>> {
    Ok(None)
}

/// Returns the line and column of an offset. Returns `None` if the input is compressed, because
/// offsets count decompressed bytes, or if it ends before the offset.
pub(crate) fn locate_in(mut reader: impl Read, offset: u64) -> Option<LineColumn> {
    let (mut line, mut column, mut passed) = (1, 1, 0);
    let mut piece = vec![0; 64 << 10];
    while passed < offset {
        let wanted = usize::try_from(offset - passed).map_or(piece.len(), |left| left.min(piece.len()));
        let count = reader.read(&mut piece[..wanted]).ok()?;
        if count == 0 {
            return None;
        }
        let bytes = &piece[..count];
        if passed == 0 && trommel::is_packed(bytes) {
            return None;
        }
        for &byte in bytes {
            match byte {
                b'\n' => (line, column) = (line + 1, 1),
                byte => column += u64::from(!trommel_base::text::is_continuation(byte)),
            }
        }
        passed += count as u64;
    }
    Some(LineColumn::new(line, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let text = "[1,\n \"ü\", x".as_bytes();
        let x = text.len() as u64 - 1;
        assert_eq!(locate_in(text, x), Some(LineColumn::new(2, 7)));
        assert_eq!(locate_in(text, 0), Some(LineColumn::new(1, 1)));
        assert_eq!(locate_in(text, 100), None);
        assert_eq!(locate_in(&[0x1F, 0x8B, 1, 2][..], 3), None);
    }
}
