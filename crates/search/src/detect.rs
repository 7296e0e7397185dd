//! Decides if an input is JSON or text, as the store does: it is JSON if all of it is valid.

use std::io::{self, Read};
use std::ops::ControlFlow;

use trommel::Analysis;
use trommel::reader::{Config, Cursor, Error, Framing, View};

use crate::control::Control;
use crate::error::Halt;
use crate::excerpt::ExcerptSize;
use crate::found::SearchPosition;
use crate::pattern::SearchPattern;
use crate::search::SearchContent;
use crate::source::{FileSource, SearchSource};
use crate::targets::StreamCandidates;
use crate::text::TextSearch;
use crate::unit::UnitSearch;

/// The number of bytes at the start of an input that show if it may be JSON.
const PREFIX_BYTES: usize = 64 << 10;

const LITERALS: [&[u8]; 3] = [b"true", b"false", b"null"];

/// The first bytes of an input.
#[derive(Debug, Default)]
pub struct Prefix {
    bytes: Vec<u8>,
    /// True if the input has no more bytes.
    is_whole: bool,
}

impl Prefix {
    /// Reads the first 64 KiB of a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn of_file(file: &FileSource) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let read = file.reader_at(0)?.take(PREFIX_BYTES as u64).read_to_end(&mut bytes)?;
        Ok(Self { bytes, is_whole: read < PREFIX_BYTES })
    }

    /// Reads at least the first line that is not blank, or 64 KiB. Does not wait for more.
    ///
    /// # Errors
    /// If the reader fails.
    pub fn of_reader(reader: &mut dyn Read) -> io::Result<Self> {
        let mut prefix = Self { bytes: vec![0; PREFIX_BYTES], is_whole: false };
        let mut filled = 0;
        while filled < PREFIX_BYTES && !prefix.bytes[..filled].trim_ascii_start().contains(&b'\n') {
            match reader.read(&mut prefix.bytes[filled..]) {
                Ok(0) => {
                    prefix.is_whole = true;
                    break;
                }
                Ok(count) => filled = (filled + count).min(PREFIX_BYTES),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        prefix.bytes.truncate(filled);
        Ok(prefix)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// True if the input cannot be JSON, because its first bytes are not.
    pub(crate) fn is_text(&self) -> bool {
        self.fault().is_some()
    }

    /// Returns the reason why the input cannot be JSON, if its first bytes show that.
    pub fn fault(&self) -> Option<Error> {
        let config = Config::new();
        let mut cursor = Cursor::from_view(View::new(&self.bytes), Framing::Auto, &config);
        let mut read = || {
            while cursor.next_record()? {
                cursor.skip_value()?;
            }
            Ok(())
        };
        let error: Error = read().err()?;
        // An error at the end may only mean that the prefix ends there, also within a literal.
        let rest = usize::try_from(error.offset()).ok().and_then(|at| self.bytes.get(at..));
        let is_cut = |rest: &[u8]| LITERALS.iter().any(|literal| literal.starts_with(rest));
        (error.is_syntax() && (self.is_whole || !rest.is_none_or(is_cut))).then_some(error)
    }
}

/// True if the file may have a match as text or as JSON. Reads up to the first candidate.
pub(crate) fn has_candidate(
    pattern: &SearchPattern,
    file: &FileSource,
    control: &Control,
) -> Result<bool, trommel::Error> {
    let found = has_string_candidate(pattern, file, control).and_then(|found| {
        // A pattern without characters that JSON escapes looks the same in text.
        if found || pattern.prefilters_lines { Ok(found) } else { has_line(pattern, file, control) }
    });
    match found {
        Ok(found) => Ok(found),
        Err(Halt::Stopped) => Ok(true),
        Err(Halt::Failed(error)) => Err(error),
    }
}

fn has_string_candidate(pattern: &SearchPattern, file: &FileSource, control: &Control) -> Result<bool, Halt> {
    let reader = control.watch(file.reader_at(0)?, 0);
    let mut candidates = StreamCandidates::new(&pattern.prefilter, Box::new(reader), 0);
    Ok(candidates.next(0)?.is_some())
}

fn has_line(pattern: &SearchPattern, file: &FileSource, control: &Control) -> Result<bool, Halt> {
    let unit = UnitSearch { pattern, size: ExcerptSize { max_chars: 1, around: None } };
    let mut stop = |_| Ok(ControlFlow::Break(()));
    let search = TextSearch::new(unit, 0, SearchPosition::default(), &mut stop);
    search.run(&mut control.watch(file.reader_at(0)?, 0)).map(|()| false)
}

/// Validates a file in full, and returns its kind.
pub(crate) fn validate(analysis: Analysis, file: &FileSource) -> Result<SearchContent, trommel::Error> {
    let mut document = file.document()?;
    let root = trommel::path::Query::root();
    match analysis.count(root).run(&mut document) {
        Ok(report) if report.coverage.records == 1 => Ok(SearchContent::Json(single(file)?)),
        Ok(_) => Ok(SearchContent::Json(Framing::Auto)),
        Err(trommel::Error::Read { error, .. }) if error.is_syntax() => Ok(SearchContent::Text),
        Err(error) => Err(error),
    }
}

/// Returns the framing of a file with one record.
fn single(file: &FileSource) -> Result<Framing, trommel::Error> {
    let mut first = [0];
    let mut reader = file.reader_at(0).map_err(|error| Error::io(error, 0))?;
    let read = reader.read(&mut first).map_err(|error| Error::io(error, 0))?;
    Ok(if read == 1 && first == [0x1E] { Framing::JsonSeq } else { Framing::Single })
}
