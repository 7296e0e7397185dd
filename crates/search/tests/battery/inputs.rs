//! Files and pipes whose kind is not known.

use std::fs::File;
use std::io::{Read, Write};
use std::ops::ControlFlow;

use flate2::Compression;
use flate2::write::GzEncoder;
use trommel::reader::{Framing, MapPolicy};
use trommel::{Cancel, Error};
use trommel_search::{
    FileSource, MatchSite, PatternMatch, PatternSearch, SearchContent, SearchPattern, SearchReport,
};
use trommel_testkit::chunks::{Chunks, FailAfter};

fn search(text: &str) -> PatternSearch {
    PatternSearch::new(SearchPattern::text(text, false).unwrap())
}

fn file(bytes: &[u8]) -> FileSource {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    FileSource::new(file, MapPolicy::never(), 1_000).unwrap()
}

/// Returns the sites of the matches, and the report.
fn of_file(search: &PatternSearch, bytes: &[u8], framing: Framing) -> (Vec<String>, SearchReport) {
    let mut sites = Vec::new();
    let report = search.run_file(&file(bytes), framing, &mut |found| {
        sites.push(site(&found));
        Ok(ControlFlow::Continue(()))
    });
    (sites, report.unwrap())
}

fn of_reader(search: &PatternSearch, reader: impl Read, framing: Framing) -> (Vec<String>, SearchReport) {
    let mut sites = Vec::new();
    let report = search.run_reader(reader, framing, &mut |found| {
        sites.push(site(&found));
        Ok(ControlFlow::Continue(()))
    });
    (sites, report.unwrap())
}

fn site(found: &PatternMatch) -> String {
    match &found.site {
        MatchSite::Line { line, .. } => format!("line {line}"),
        MatchSite::Value { path, record: None } => path.clone(),
        MatchSite::Value { path, record: Some(record) } => format!("{record} {path}"),
        MatchSite::MalformedRecord { record } => format!("malformed {record}"),
    }
}

const CASES: [(&str, &[&str], Option<SearchContent>); 14] = [
    (r#"{"a": "needle"}"#, &["$['a']"], Some(SearchContent::Json(Framing::Single))),
    (r#"{"a": "hay", "needle": 1}"#, &[], Some(SearchContent::Json(Framing::Single))),
    (r#"{"a": "hay"}"#, &[], None),
    ("[\"needle\"]\n[\"needle\"]", &["0 $[0]", "1 $[0]"], Some(SearchContent::Json(Framing::Auto))),
    ("\u{1e}[\"needle\"]\n", &["0 $[0]"], Some(SearchContent::Json(Framing::JsonSeq))),
    ("\u{1e}[\"needle\"]\n\u{1e}{}\n", &["0 $[0]"], Some(SearchContent::Json(Framing::Auto))),
    ("[INFO] a needle\n", &["line 1"], Some(SearchContent::Text)),
    ("2024-01-01 hay\n2024-01-02 needle", &["line 2"], Some(SearchContent::Text)),
    ("{\"a\": 1}\nKilled: needle\n", &["line 2"], Some(SearchContent::Text)),
    ("{'a': 'needle'}\n", &["line 1"], Some(SearchContent::Text)),
    ("a needle", &["line 1"], Some(SearchContent::Text)),
    ("", &[], Some(SearchContent::Text)),
    ("\n\n", &[], Some(SearchContent::Text)),
    ("12\nneedle", &["line 2"], Some(SearchContent::Text)),
];

#[test]
fn the_kind_of_an_input_is_that_of_all_its_bytes() {
    for (text, sites, content) in CASES {
        let (found, report) = of_file(&search("needle"), text.as_bytes(), Framing::Auto);
        assert_eq!((&*found, report.content), (&sites.map_owned()[..], content), "{text}");
        for sizes in [&[1][..], &[3, 1000]] {
            let reader = Chunks::new(text.as_bytes(), sizes);
            let (found, _) = of_reader(&search("needle"), reader, Framing::Auto);
            assert_eq!(found, sites.map_owned(), "{text}");
        }
    }
}

trait MapOwned {
    fn map_owned(&self) -> Vec<String>;
}

impl MapOwned for &[&str] {
    fn map_owned(&self) -> Vec<String> {
        self.iter().map(|site| (*site).to_owned()).collect()
    }
}

#[test]
fn a_text_is_found_by_characters_that_json_escapes() {
    let text = "{\"level\":\"error\"}\nnot JSON\n";
    let (found, report) = of_file(&search("\":\"err"), text.as_bytes(), Framing::Auto);
    assert_eq!((&*found, report.content), (&["line 1".to_owned()][..], Some(SearchContent::Text)));
    let (found, _) = of_file(&search("\":\"err"), b"{\"level\":\"error\"}", Framing::Auto);
    assert!(found.is_empty());
}

#[test]
fn a_declared_framing_is_not_validated_first() {
    let text = b"{\"a\": \"needle\"}\nKilled: needle\n{\"a\": [\"needle\"]}\n";
    let expected = ["0 $['a']", "malformed 1", "2 $['a'][0]"];
    assert_eq!(of_file(&search("needle"), text, Framing::Lines).0, expected);
    assert_eq!(of_reader(&search("needle"), &text[..], Framing::Lines).0, expected);
    let error =
        search("needle").run_file(&file(text), Framing::Concatenated, &mut |_| Ok(ControlFlow::Continue(())));
    let Error::Read { error, record } = error.unwrap_err() else { panic!("not an error of reading") };
    assert_eq!((error.offset(), record), (16, Some(1)));
}

#[test]
fn compressed_files_are_decompressed() {
    let text = format!("{}a needle\n", "hay\n".repeat(100_000));
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let (found, report) = of_file(&search("needle"), &packed.finish().unwrap(), Framing::Auto);
    assert_eq!((&*found, report.bytes_read), (&["line 100001".to_owned()][..], text.len() as u64));
}

#[test]
fn text_is_searched_while_it_arrives() {
    // The reader fails after the first line, which is reported before that.
    let reader = FailAfter::new(&b"needle\nneedle\n"[..], 10, std::io::ErrorKind::TimedOut);
    let mut found = 0;
    let error = search("needle").run_reader(Chunks::new(reader, &[7]), Framing::Auto, &mut |_| {
        found += 1;
        Ok(ControlFlow::Continue(()))
    });
    let Error::Read { error, .. } = error.unwrap_err() else { panic!("not an error of reading") };
    assert_eq!((found, error.offset()), (1, 10));
}

#[test]
fn searches_can_be_cancelled_and_report_progress() {
    let text = "hay\n".repeat(1_000_000);
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let search = search("needle").cancel_with(&cancel).on_progress(move |progress| {
        if progress.bytes > 2_000_000 {
            stop.cancel();
        }
    });
    let ended = search.run_reader(text.as_bytes(), Framing::Auto, &mut |_| Ok(ControlFlow::Continue(())));
    let Error::Read { error, .. } = ended.unwrap_err() else { panic!("not an error of reading") };
    assert!(error.is_cancelled() && error.offset() < 3_000_000, "{}", error.offset());
}

#[test]
fn a_limit_of_the_temporary_file_is_an_error() {
    let mut limits = trommel::reader::Limits::default();
    limits.spool_bytes = 1_000;
    let text = format!("[\"needle\", \"{}\"]", "x".repeat(2_000));
    let search = search("needle").limits(limits);
    let ended = search.run_reader(text.as_bytes(), Framing::Auto, &mut |_| Ok(ControlFlow::Continue(())));
    assert!(ended.unwrap_err().to_string().contains("1000"));
}

#[test]
fn changed_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.log");
    std::fs::write(&path, "needle\n".repeat(200_000)).unwrap();
    let file = FileSource::new(File::open(&path).unwrap(), MapPolicy::never(), 1_000).unwrap();
    let mut first = true;
    let ended = search("needle").run_file(&file, Framing::Auto, &mut |_| {
        if std::mem::take(&mut first) {
            std::fs::write(&path, "short")?;
        }
        Ok(ControlFlow::Continue(()))
    });
    let Error::Read { error, .. } = ended.unwrap_err() else { panic!("not an error of reading") };
    assert_eq!(error.kind(), trommel::reader::ErrorKind::SourceChanged);
}
