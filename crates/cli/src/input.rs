//! The input of a run: a file, standard input, or a stored output, and how it is opened.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use trommel::path::Duplicates;
use trommel::reader::{Framing, Input, Limits, MapPolicy, Place, Validation};
use trommel::{Document, Error, OnBadRecord, framing_of};
use trommel_store::Stored;

use crate::ahead::Ahead;
use crate::args::{BadRecords, Engine, Source};
use crate::errors::{BadWork, Failure};
use crate::prefix::Prefix;
use crate::{home, sigbus, stdio};

/// The name of standard input in messages.
const STDIN: &str = "<stdin>";

/// What is read, and how closely.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) file: PathBuf,
    /// The id of the stored output that is meant, or its beginning.
    pub(crate) output: Option<String>,
    /// How the input is divided into records, unless its name tells.
    pub(crate) framing: Option<Framing>,
    pub(crate) is_mapped: bool,
    /// Threads to work on, if not all cores.
    pub(crate) threads: Option<usize>,
    pub(crate) limits: Limits,
    /// Decompressed bytes for each compressed one.
    pub(crate) limit_ratio: u64,
    pub(crate) validation: Validation,
    pub(crate) duplicates: Duplicates,
    pub(crate) on_bad_record: OnBadRecord,
}

impl Options {
    /// The options of the command line.
    pub(crate) fn of(source: &Source, engine: &Engine, validation: Validation, bad: BadRecords) -> Self {
        Self {
            file: source.file.clone(),
            output: source.output().map(str::to_owned),
            framing: source.framing(),
            is_mapped: !source.no_mmap,
            threads: source.threads.map(NonZeroUsize::get),
            limits: source.limits(),
            limit_ratio: source.limit_ratio,
            validation,
            duplicates: engine.duplicates.into(),
            on_bad_record: bad.into(),
        }
    }

    pub(crate) fn is_stdin(&self) -> bool {
        self.file.as_os_str() == "-"
    }

    /// The input's name in messages.
    pub(crate) fn name(&self) -> String {
        if self.is_stdin() { STDIN.into() } else { self.file.to_string_lossy().into_owned() }
    }

    /// Opens the input. Regular files are mapped unless that is not wanted.
    pub(crate) fn open(&self, prefix: &Prefix) -> Result<(Document, Option<Stored>), Failure> {
        let (mut document, stored) = match &self.output {
            Some(id) => self.open_output(id).map(|(document, stored)| (document, Some(stored)))?,
            None => (self.open_file(prefix).map_err(|error| self.failure(error))?, None),
        };
        if let Some(framing) = self.framing {
            document = document.framing(framing);
        }
        Ok((document, stored))
    }

    fn open_file(&self, prefix: &Prefix) -> Result<Document, Error> {
        let limited = |document: Document| document.ratio_limit(self.limit_ratio);
        if !self.is_stdin() {
            return Document::open_with(&self.file, self.mapping()).map(limited);
        }
        let cause = |cause| Error::Open { path: STDIN.into(), cause };
        stdio::check_stdin().map_err(cause)?;
        match redirected().map_err(cause)? {
            Some(file) => Input::from_file(file, self.mapping()).and_then(Document::from_input),
            None => Ahead::of(io::stdin()).map(|ahead| Document::from_reader(prefix.tee(ahead))),
        }
        .map(limited)
        .map_err(cause)
    }

    /// Opens a stored output, which must be JSON. Plain ones are mapped unless `--no-mmap` is
    /// given.
    fn open_output(&self, id: &str) -> Result<(Document, Stored), Failure> {
        let store = home::store_with(self.mapping())?;
        let stored = store.get(id)?;
        Ok((store.document(&stored)?, stored))
    }

    /// Decides if regular files are mapped, with a handler in place for one that is truncated.
    fn mapping(&self) -> MapPolicy {
        if self.is_mapped { sigbus::map_files(&self.name()) } else { MapPolicy::never() }
    }

    /// The failure of a run over this input.
    pub(crate) fn failure(&self, error: Error) -> Failure {
        if let Error::Output(cause) = error {
            return Failure::Output(cause);
        }
        let framing = self.framing.unwrap_or_else(|| framing_of(&self.file));
        let has_records = matches!(framing, Framing::Lines | Framing::JsonSeq);
        Failure::Work(Box::new(BadWork { error, file: self.name(), has_records }))
    }

    /// The line and column of an offset, where a file can be read again.
    pub(crate) fn place(&self, offset: u64) -> Option<Place> {
        place_in(Input::open(&self.file, MapPolicy::never()).ok()?.reader(), offset)
    }
}

/// The file that standard input is, if it is a regular file of which nothing was read yet.
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

/// The line and column of an offset. None if the input is compressed, where offsets count other
/// bytes, or ends before it.
pub(crate) fn place_in(mut reader: impl Read, offset: u64) -> Option<Place> {
    let (mut line, mut column, mut passed) = (1, 1, 0);
    let mut piece = vec![0; 64 << 10];
    while passed < offset {
        let wanted = usize::try_from(offset - passed).map_or(piece.len(), |left| left.min(piece.len()));
        let count = reader.read(&mut piece[..wanted]).ok()?;
        if count == 0 {
            return None;
        }
        let bytes = &piece[..count];
        if passed == 0 && matches!(bytes, [0x1F, 0x8B, ..] | [0x28, 0xB5, 0x2F, 0xFD, ..]) {
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
    Some(Place::new(line, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let text = "[1,\n \"ü\", x".as_bytes();
        let x = text.len() as u64 - 1;
        assert_eq!(place_in(text, x), Some(Place::new(2, 7)));
        assert_eq!(place_in(text, 0), Some(Place::new(1, 1)));
        assert_eq!(place_in(text, 100), None);
        assert_eq!(place_in(&[0x1F, 0x8B, 1, 2][..], 3), None);
    }
}
