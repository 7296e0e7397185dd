//! The coverage of a run.

use trommel::path::Query;
use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Coverage, Document, Extract, Measure};

use crate::support::{Source, gzip, query};

fn covered(analysis: &Analysis, document: &mut Document<'_>) -> Coverage {
    analysis.run(document).unwrap().coverage
}

fn facts(coverage: Coverage) -> (u64, Option<u64>, u64, bool) {
    (coverage.bytes_read, coverage.bytes_total, coverage.records, coverage.complete)
}

#[test]
fn reports_bytes_and_records_read() {
    let text = b"{\"a\": [1, 2]}\n";
    let analysis = Analysis::new().count(query("$..*"));
    for framing in [Framing::Single, Framing::Auto, Framing::Lines, Framing::Concatenated] {
        let coverage = covered(&analysis, &mut Document::from_bytes(&text[..]).framing(framing));
        assert_eq!(facts(coverage), (14, Some(14), 1, true), "{framing:?}");
        assert!(coverage.strict && coverage.bad_records == 0);
    }
    let loose = analysis.clone().validation(Validation::Structural);
    assert!(!covered(&loose, &mut Document::from_bytes(&text[..])).strict);
    // The length of compressed and read-once inputs is not known in advance.
    for document in
        [&mut Document::from_bytes(gzip(text)), &mut *Source::Reads(3).document(text, Framing::Auto)]
    {
        assert_eq!(facts(covered(&analysis, document)), (14, None, 1, true));
    }
    let stream = b"1\n\n2\n 3";
    let coverage = covered(&analysis, &mut Document::from_bytes(&stream[..]));
    assert_eq!(facts(coverage), (7, Some(7), 3, true));
    let coverage = covered(&analysis, &mut Document::from_bytes("").framing(Framing::Lines));
    assert_eq!(facts(coverage), (0, Some(0), 0, true));
}

/// Under structural validation the run leaves a decided document: the rest is not read, and no
/// error in it is found.
#[test]
fn stops_reading_a_decided_document() {
    let text = format!("{{\"a\": [7, {}], \"b\": [nul", "8, ".repeat(100_000) + "9");
    let first = Analysis::new().extract(query("$.a[0]")).validation(Validation::Structural);
    let coverage = covered(&first, &mut Document::from_bytes(text.clone()).framing(Framing::Single));
    assert!(coverage.bytes_read < 100 && !coverage.complete && coverage.records == 1, "{coverage:?}");
    // A reader is read no further than the windows needed.
    let taken = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let reader =
        CountingReader { text: std::io::Cursor::new(text.clone().into_bytes()), taken: taken.clone() };
    covered(&first, &mut Document::from_reader(reader).framing(Framing::Single));
    assert!(taken.load(std::sync::atomic::Ordering::Relaxed) <= 2 << 16);
    // Another measure that needs the rest finds the error there.
    let both = first.clone().count(query("$.b[*]"));
    assert!(both.run(&mut Document::from_bytes(text.clone()).framing(Framing::Single)).is_err());
    // A document that may be the first of several must be skipped to find out, unless a limit makes
    // that unnecessary.
    assert!(first.run(&mut Document::from_bytes(text.clone())).is_err());
    let limited = Analysis::new().ask(Measure::Extract(Extract::new(query("$.a[0]")).limit(1)));
    let loose = limited.clone().validation(Validation::Structural);
    let coverage = covered(&loose, &mut Document::from_bytes(text.clone()));
    assert!(coverage.bytes_read < 100 && !coverage.complete && coverage.records == 1, "{coverage:?}");
    assert!(limited.run(&mut Document::from_bytes(text)).is_err());
}

struct CountingReader {
    text: std::io::Cursor<Vec<u8>>,
    taken: std::sync::Arc<std::sync::atomic::AtomicU64>,
}

impl std::io::Read for CountingReader {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.text.read(into)?;
        self.taken.fetch_add(count as u64, std::sync::atomic::Ordering::Relaxed);
        Ok(count)
    }
}

/// Under structural validation the rest of a decided line is not validated, and the coverage
/// reports it; unless every record is validated first.
#[test]
fn skips_validation_of_a_decided_line() {
    let text = "{\"a\": 1, \"b\": nul}\n{\"b\": 2, \"a\": 3}\n";
    let analysis = Analysis::new().extract(query("$.a")).validation(Validation::Structural);
    for threads in [1, 2] {
        let analysis = analysis.clone().threads(threads);
        let coverage = covered(&analysis, &mut Document::from_bytes(text).framing(Framing::Lines));
        assert_eq!(facts(coverage), (text.len() as u64, Some(text.len() as u64), 2, false));
    }
    let skip = analysis.clone().on_bad_record(trommel::OnBadRecord::Skip { at_most: 1 });
    let coverage = covered(&skip, &mut Document::from_bytes(text).framing(Framing::Lines));
    assert_eq!((coverage.records, coverage.bad_records, coverage.complete), (1, 1, true));
    let all = Analysis::new().count(query("$.*"));
    assert!(all.run(&mut Document::from_bytes(text).framing(Framing::Lines)).is_err());
    let whole = Analysis::new().extract(Query::root());
    assert!(whole.run(&mut Document::from_bytes(text).framing(Framing::Lines)).is_err());
}

#[test]
fn a_limit_of_zero_reads_nothing() {
    let none = Analysis::new().ask(Measure::Extract(Extract::new(query("$..*")).limit(0)));
    let coverage = covered(&none, &mut Document::from_bytes("[1, 2, 3]"));
    assert_eq!((coverage.bytes_read, coverage.records, coverage.complete), (0, 0, false));
}

/// Samples and statistics need every byte: they are never decided early.
#[test]
fn samples_and_statistics_read_everything() {
    let text = "[1, 2, 3]";
    let analysis = Analysis::new().ask(Measure::Extract(Extract::new(query("$[0]")).limit(1))).sample(
        trommel::Sample::new(Query::root(), crate::support::size(1)).strategy(trommel::Strategy::First),
    );
    assert_eq!(facts(covered(&analysis, &mut Document::from_bytes(text))), (9, Some(9), 1, true));
    let analysis = Analysis::new().ask(Measure::Extract(Extract::new(query("$[0]")).limit(1))).stats();
    assert_eq!(facts(covered(&analysis, &mut Document::from_bytes(text))), (9, Some(9), 1, true));
}

/// An input that can be read once cannot be read twice.
#[test]
fn a_reader_is_consumed() {
    let mut document = Source::Reads(7).document(b"[1]", Framing::Auto);
    let analysis = Analysis::new().count(query("$[*]"));
    assert!(analysis.run(&mut document).is_ok());
    let error = analysis.run(&mut document).unwrap_err();
    assert!(matches!(error, trommel::Error::Consumed), "{error}");
    let mut document = Document::from_bytes("[1]");
    assert!(analysis.run(&mut document).is_ok() && analysis.run(&mut document).is_ok());
}
