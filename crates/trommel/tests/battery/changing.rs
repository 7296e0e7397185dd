//! Files that change while they are read through a window.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use trommel::reader::{ErrorKind, Framing};
use trommel::{Analysis, Document, Error, Extract, Match, Measure, Progress, Report};
use trommel_testkit::generate::Random;

use crate::support::{Scratch, answer_text, query};

/// A change of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Truncate,
    Grow,
    Overwrite,
    Replace,
}

const CHANGES: [Change; 4] = [Change::Truncate, Change::Grow, Change::Overwrite, Change::Replace];

impl Change {
    fn make(self, path: &Path, random: &mut Random, more: &str) {
        let length = std::fs::metadata(path).unwrap().len();
        let mut file = OpenOptions::new().write(true).open(path).unwrap();
        match self {
            Self::Truncate => file.set_len(random.below(length as usize) as u64).unwrap(),
            Self::Grow => {
                file.seek(SeekFrom::End(0)).unwrap();
                file.write_all(more.as_bytes()).unwrap();
            }
            Self::Overwrite => {
                file.seek(SeekFrom::Start(random.below(length as usize) as u64)).unwrap();
                file.write_all(b"\x00").unwrap();
            }
            Self::Replace => {
                let other = path.with_extension("new");
                File::create(&other).unwrap().write_all(b"[\"other\"]").unwrap();
                std::fs::rename(other, path).unwrap();
            }
        }
    }
}

fn all_measures() -> Analysis {
    Analysis::new().count(query("$..a")).extract(query("$..a")).stats()
}

/// Runs, and changes the file once `at` bytes were read.
fn run_and_change(
    path: &Path,
    framing: Framing,
    at: u64,
    change: impl Fn() + Send + Sync + 'static,
) -> Result<Report, Error> {
    let changed = std::sync::atomic::AtomicBool::new(false);
    let once = move |progress: Progress| {
        if progress.bytes >= at && !changed.swap(true, std::sync::atomic::Ordering::Relaxed) {
            change();
        }
    };
    all_measures().window(4096).on_progress(once).run(&mut Document::open(path).unwrap().framing(framing))
}

/// R22: a file that is read through a window is truncated, grown, overwritten, or replaced at any
/// point. The run returns the right answer or the error that the file changed, never another
/// answer, and never a signal.
#[test]
fn a_file_that_changes_is_noticed() {
    let item = r#"{"a": [1, {"a": "text"}], "b": null}"#;
    let document = format!("[{}]", vec![item; 3000].join(", "));
    let lines = format!("{}\n", vec![item; 3000].join("\n"));
    for (text, framing, more) in [(document, Framing::Single, " \n"), (lines, Framing::Lines, "{\"a\": 1}\n")]
    {
        let right = all_measures().run(&mut Document::from_bytes(text.clone()).framing(framing)).unwrap();
        let right: Vec<String> = right.answers.iter().map(answer_text).collect();
        let mut random = Random::new(22);
        for (number, change) in (0..20).flat_map(|number| CHANGES.map(|change| (number, change))) {
            let file = Scratch::new("changing", text.as_bytes());
            let (path, at) = (file.path().to_owned(), random.below(text.len()) as u64);
            let seed = random.bits();
            let ran = run_and_change(file.path(), framing, at, move || {
                change.make(&path, &mut Random::new(seed), more);
            });
            match ran {
                Ok(report) => {
                    // File timestamps are coarse: a change right after opening may have the same
                    // one.
                    let answers: Vec<String> = report.answers.iter().map(answer_text).collect();
                    assert_eq!(answers, right, "{change:?} {number} {framing:?}");
                }
                Err(Error::Read { error, .. }) => {
                    assert_eq!(
                        error.kind(),
                        ErrorKind::SourceChanged,
                        "{change:?} {number} {framing:?}: {error}"
                    );
                    assert!(change != Change::Grow || framing != Framing::Lines, "lines may grow: {error}");
                }
                Err(other) => panic!("{change:?} {number}: {other}"),
            }
        }
    }
}

/// A log that grows while it is read is read up to its length at opening.
#[test]
fn a_log_may_grow() {
    let line = "{\"a\": 1}\n";
    let file = Scratch::new("app.jsonl", line.repeat(3).as_bytes());
    let mut document = Document::open(file.path()).unwrap();
    let mut log = OpenOptions::new().append(true).open(file.path()).unwrap();
    log.write_all(line.as_bytes()).unwrap();
    let report = Analysis::new().count(query("$.a")).run(&mut document).unwrap();
    assert_eq!(report.answers[0].count(), Some(3));
    assert_eq!((report.coverage.bytes_read, report.coverage.bytes_total), (27, Some(27)));
    let report = Analysis::new().count(query("$.a")).run(&mut Document::open(file.path()).unwrap()).unwrap();
    assert_eq!(report.answers[0].count(), Some(4));
}

/// A log that is being written is read up to its last complete record.
#[test]
fn omits_a_record_that_is_still_being_written() {
    for (half, rest) in
        [("{\"a\": 2", "}\n"), ("{\"a\": \"x", "y\"}\n"), ("12", "34\n"), ("{\"a\": 4}", "\n")]
    {
        let file = Scratch::new("app.jsonl", format!("{{\"a\": 1}}\n{half}").as_bytes());
        let mut document = Document::open(file.path()).unwrap();
        let mut log = OpenOptions::new().append(true).open(file.path()).unwrap();
        log.write_all(rest.as_bytes()).unwrap();
        let analysis = Analysis::new().extract(query("$.a")).count(query("$")).stats();
        let mut found = Vec::new();
        let mut sink = |value: &Match<'_>| {
            found.push(value.value.to_vec());
            Ok(())
        };
        let report = analysis.run_with(&mut document, &mut sink).unwrap();
        assert_eq!((found, report.answers[1].count()), (vec![b"1".to_vec()], Some(1)), "{half}");
        assert_eq!((report.coverage.records, report.coverage.bytes_read), (1, 9), "{half}");
    }
    // No process writes to this one: it is truncated.
    let file = Scratch::new("app.jsonl", b"{\"a\": 1}\n{\"a\": 2");
    let error = Analysis::new().stats().run(&mut Document::open(file.path()).unwrap()).unwrap_err();
    assert!(error.to_string().contains("ends inside a value"), "{error}");
}

/// A limit that ends the run before the end does not hide the change.
#[test]
fn notices_changes_when_a_limit_ends_the_run() {
    let file = Scratch::new("changing.json", b"[1, 2, 3]");
    let mut document = Document::open(file.path()).unwrap();
    let mut limited = Extract::new(query("$[*]"));
    limited.limit = Some(1);
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::fs::write(file.path(), b"[1, 2, 4]").unwrap();
    let ran = Analysis::new().ask(Measure::Extract(limited)).run(&mut document);
    assert!(
        matches!(&ran, Err(Error::Read { error, .. }) if error.kind() == ErrorKind::SourceChanged),
        "{ran:?}"
    );
}

/// Changes of a compressed file are noticed too.
#[test]
fn notices_changes_of_compressed_files() {
    let text = format!("[{}]", vec!["1"; 500_000].join(","));
    let file = Scratch::new("packed.json.gz", &crate::support::gzip(text.as_bytes()));
    let path = file.path().to_owned();
    let ran = run_and_change(file.path(), Framing::Auto, 4096, move || {
        Change::Truncate.make(&path, &mut Random::new(1), "");
    });
    assert!(
        matches!(&ran, Err(Error::Read { error, .. }) if error.kind() == ErrorKind::SourceChanged),
        "{ran:?}"
    );
}
