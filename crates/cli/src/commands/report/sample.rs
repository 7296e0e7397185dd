//! The sample of rows: its share, from the start of the input, and the records to show.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use trommel::reader::{Config, Cursor, Framing, Kind, Validation};
use trommel::statistics::SampleRow;
use trommel::{Analysis, Document, Measure, Stats};
use trommel_base::text::grouped;

use super::broken;
use super::passes::{row_paths, size_of_rows};
use super::rows::{MAX_EXAMPLE, RowPath, Shown};
use crate::commands::stats::answer_of;

/// The bytes at the start of the input that show the size of its rows.
const START: usize = 4 << 20;

/// The part of the start that shows the size of short rows.
const SHORT_START: usize = 256 << 10;

/// With fewer rows, more of the start is inspected.
const MIN_ROWS: f64 = 100.0;

/// The bytes that a compressed byte is taken for.
const RATIO: u64 = 8;

/// Returns the largest hash of a row in a sample of about `size` rows: 2⁶⁴ times the share of the
/// rows. 0 if the inputs cannot be inspected, so that no row is in the sample.
pub(super) fn largest_hash(files: &[PathBuf], size: usize, is_stream: bool, ratio: u64) -> u64 {
    match mean_row(files, is_stream, ratio) {
        Ok(Some((mean, total))) => {
            let share = size as f64 * mean / total;
            // With an estimate just below the share of all rows, they would be read twice. The
            // product is exact in 2⁻⁵³ of the hashes, which is far below what a sample shows.
            if share >= 0.9 { u64::MAX } else { (share * 2_f64.powi(64)) as u64 }
        }
        Ok(None) => u64::MAX,
        Err(_) => 0,
    }
}

/// True if the first record of a file is a container that extends beyond the start that is
/// inspected.
pub(super) fn is_long(file: &Path, ratio: u64) -> io::Result<bool> {
    let mut start = trommel::unpacked(Box::new(File::open(file)?), ratio)?.take(START as u64);
    // A later pass validates these bytes, with all others.
    let config = Config::new().validation(Validation::Structural);
    let mut cursor = Cursor::from_reader(&mut start, Framing::Concatenated, &config);
    let is_container = cursor.next_record().is_ok_and(|found| found)
        && cursor.peek().is_ok_and(|kind| kind.is_some_and(Kind::is_container));
    let is_cut = is_container && cursor.skip_value().is_err();
    drop(cursor);
    Ok(is_cut && start.limit() == 0)
}

/// Reads up to `bytes` bytes at the start of a file.
fn start_of(file: &Path, ratio: u64, bytes: usize) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(bytes);
    trommel::unpacked(Box::new(File::open(file)?), ratio)?.take(bytes as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// Returns the mean size of the rows at the start of the first input, and the size of all inputs.
/// `None` without rows at the start.
fn mean_row(files: &[PathBuf], is_stream: bool, ratio: u64) -> io::Result<Option<(f64, f64)>> {
    let mut total = 0;
    for file in files {
        let bytes = file.metadata()?.len();
        total += if is_packed(file)? { bytes.saturating_mul(RATIO) } else { bytes };
    }
    let Some(first) = files.first() else { return Ok(None) };
    let mean = |start: &[u8]| if is_stream { mean_line(start) } else { mean_element(start) };
    let start = start_of(first, ratio, SHORT_START)?;
    let is_whole = start.len() < SHORT_START;
    let short = mean(&start).filter(|mean| is_whole || mean * MIN_ROWS <= start.len() as f64);
    if is_whole || short.is_some() {
        return Ok(short.map(|mean| (mean, total as f64)));
    }
    Ok(mean(&start_of(first, ratio, START)?).map(|mean| (mean, total as f64)))
}

fn is_packed(file: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(file)?.take(16).read_to_end(&mut start)?;
    Ok(trommel::is_packed(&start))
}

fn mean_line(start: &[u8]) -> Option<f64> {
    let lines = memchr::memchr_iter(b'\n', start).count();
    (lines > 0).then(|| start.len() as f64 / lines as f64)
}

/// The mean size of the rows that take the most bytes.
fn mean_element(start: &[u8]) -> Option<f64> {
    // Nothing is open at the end of a whole document.
    let closed = broken::closed(start).unwrap_or_else(|| start.to_vec());
    let mut stats = Stats::new();
    (stats.bytes, stats.item_types) = (true, false);
    let analysis = Analysis::new().ask(Measure::Stats(stats)).threads(1);
    let answer = answer_of(analysis.run(&mut Document::from_bytes(closed)).ok()?);
    // The size of an array includes commas and white space. A document without arrays is a row of
    // its own.
    let size = |rows: &RowPath| Some((size_of_rows(&answer, rows.path.strip_suffix("[*]")?), rows.total));
    let (size, count) = row_paths(&answer, false).iter().filter_map(size).max()?;
    (count > 1).then(|| size as f64 / count as f64)
}

/// Reads the examples of a sample from a file. `None` if the file is compressed, or is not the only
/// one, so that offsets are not those of its bytes.
pub(super) fn examples(files: &[PathBuf], sample: &SampleRow) -> Option<Vec<Shown>> {
    let [file] = files else { return None };
    if is_packed(file).ok()? {
        return None;
    }
    let mut file = File::open(file).ok()?;
    let mut offsets = sample.examples.clone();
    offsets.sort_unstable();
    offsets.into_iter().map(|at| example(&mut file, at).ok()).collect()
}

/// Reads the value at an offset.
fn example(file: &mut File, at: u64) -> io::Result<Shown> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    file.take(MAX_EXAMPLE as u64 + 1).read_to_end(&mut bytes)?;
    let length = length(&bytes).filter(|length| *length <= MAX_EXAMPLE);
    let position = format!("at byte {}", grouped(at));
    bytes.truncate(length.unwrap_or(0));
    Ok(Shown { position, size: length.map(|length| length as u64), bytes: length.map(|_| bytes) })
}

/// The length of the first value, if it is complete.
fn length(bytes: &[u8]) -> Option<usize> {
    let mut cursor = Cursor::from_reader(bytes, Framing::Concatenated, &Config::new());
    cursor.next_record().ok().filter(|found| *found)?;
    let span = cursor.skip_value().ok()?;
    usize::try_from(span.end).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_a_mean_size() {
        let element = |text: &str| mean_element(text.as_bytes());
        // An array of three rows, with brackets, commas, and names.
        assert_eq!(element(r#"{"a":[1,2],"rows":[{"x":12345},{"x":12345},{"x":"#), Some(35.0 / 3.0));
        assert_eq!(element(r#"{"rows":[{"x":12345},{"x":12345}]}"#), Some(32.0 / 2.0));
        assert_eq!(element("[1,2,3"), Some(5.0 / 2.0));
        assert_eq!(element(r#"{"a":{"b":1}"#), None);
        assert_eq!(element("7"), None);
        assert_eq!((mean_line(b"{}\n{}\n{"), mean_line(b"{}")), (Some(3.5), None));
    }

    #[test]
    fn long_records_are_containers_that_exceed_the_start() {
        let zeros = "0,".repeat(START / 2);
        for (text, expected) in [
            (format!("[{zeros}0]"), true),
            (format!(" {{\"a\":[{zeros}"), true),
            (format!("[1]\n[{zeros}0]"), false),
            (format!("[{}", "0,".repeat(START / 4)), false),
            (format!("\"{zeros}\""), false),
            (String::new(), false),
        ] {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), &text).unwrap();
            assert_eq!(is_long(file.path(), 100).unwrap(), expected, "{:?}", text.get(..20));
        }
        assert!(is_long(Path::new("no such file"), 100).is_err());
    }

    #[test]
    fn values_end_where_they_end() {
        for (text, expected) in [
            ("{\"a\":[1]},{\"b\"", Some(9)),
            ("12,", Some(2)),
            ("\"x,\" ]", Some(4)),
            ("[1,", None),
            ("\"ab", None),
        ] {
            assert_eq!(length(text.as_bytes()), expected, "{text}");
        }
    }
}
