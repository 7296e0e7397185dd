//! The message, class, and code of every kind of error.

use std::error::Error as _;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use trommel_base::files::{Error as FileError, Op};
use trommel_route::{Error, ErrorKind, PatternFault, RangeFault};

fn about_names() -> Vec<ErrorKind> {
    vec![
        ErrorKind::Target { text: "ftp:x".into(), why: "the scheme is unknown" },
        ErrorKind::WriteMode("prepend".into()),
        ErrorKind::Scope("world".into()),
        ErrorKind::VariableName { name: "a b".into(), why: "it contains a space".into() },
        ErrorKind::SessionId("a/b".into()),
        ErrorKind::Outside { path: "../x".into(), why: "it leads outside the root".into() },
        ErrorKind::NoBuffer { name: "notes".into(), scope: None, near: None, known: 0 },
        ErrorKind::NoBuffer { name: "notes".into(), scope: Some("run"), near: None, known: 3 },
        ErrorKind::NoBuffer { name: "notes".into(), scope: None, near: Some("note".into()), known: 3 },
        ErrorKind::NoNumber("report.md".into()),
        ErrorKind::TooManyFiles { path: "*.md".into(), limit: 1_000 },
        ErrorKind::Expression { text: "(".into(), why: "unclosed group".into() },
        ErrorKind::MatchesEmpty("a*".into()),
        ErrorKind::EmptyText,
        ErrorKind::NoSession("notes".into()),
        ErrorKind::NoRoot,
    ]
}

fn about_patterns() -> Vec<ErrorKind> {
    let name = || "a-{x}.md".to_owned();
    let faults = [
        PatternFault::Long { bytes: 5_000, limit: 4_096 },
        PatternFault::Brace(name()),
        PatternFault::Twice(name()),
        PatternFault::Number(name()),
        PatternFault::Unknown { name: "dat".into(), near: Some("date"), known: vec!["date", "latest"] },
        PatternFault::Unknown { name: "x".into(), near: None, known: vec!["date", "latest"] },
        PatternFault::ReadOnly(name()),
        PatternFault::Weekday { day: "mo".into(), known: &["monday", "tuesday"] },
        PatternFault::Date {
            format: "yyyy-M".into(),
            why: "the letter `M` is unknown".into(),
            near: Some("YYYY-MM".into()),
            words: vec!["YYYY", "MM"],
        },
        PatternFault::Date {
            format: "Q".into(),
            why: "the letter `Q` is unknown".into(),
            near: None,
            words: vec!["YYYY", "MM"],
        },
        PatternFault::Folder("*/x.md".into()),
        PatternFault::Glob { name: "[".into(), why: "unclosed character class".into() },
    ];
    faults.into_iter().map(ErrorKind::Pattern).collect()
}

fn about_ranges() -> Vec<ErrorKind> {
    let name = || "notes".to_owned();
    let faults = [
        RangeFault::Long { length: 9_000, limit: 8_000, next: 8_000 },
        RangeFault::Empty,
        RangeFault::Offset { offset: 9, name: name(), chars: 5 },
        RangeFault::Order { start: 3, end: 2 },
        RangeFault::Line { line: 9, name: name(), lines: 5 },
        RangeFault::LongLine { line: 2, offset: 40, limit: 8_000 },
        RangeFault::LongLines { start: 1, end: 9, fits: 4, limit: 8_000 },
    ];
    faults.into_iter().map(ErrorKind::Range).collect()
}

fn about_files() -> Vec<ErrorKind> {
    let file = |op, kind: io::ErrorKind, bytes_needed| ErrorKind::File {
        error: FileError::new(op, Path::new("report.md"), kind.into()),
        bytes_needed,
    };
    vec![
        ErrorKind::Locked { name: "notes".into(), seconds: 10 },
        ErrorKind::Version { name: "notes.json".into(), found: 9, known: 1 },
        ErrorKind::MalformedDescription {
            name: "notes.json".into(),
            cause: serde_json::from_str::<u8>("{").unwrap_err(),
        },
        ErrorKind::MissingContent("notes".into()),
        ErrorKind::Cancelled,
        file(Op::Write, io::ErrorKind::StorageFull, Some(4_096)),
        file(Op::Open, io::ErrorKind::NotFound, None),
        file(Op::Read, io::ErrorKind::PermissionDenied, None),
    ]
}

/// R45: no kind is without a message, causes are linked, and messages change only on purpose.
#[test]
fn r45_every_kind_has_its_message() {
    let mut list = String::new();
    let kinds = about_names().into_iter().chain(about_patterns()).chain(about_ranges()).chain(about_files());
    for kind in kinds {
        let error = Error::from(kind);
        let cause = error.source().map_or_else(String::new, |cause| format!(" [cause: {cause}]"));
        let _ = writeln!(list, "{}: {error}{cause}", error.code());
        let (text, class) = (error.to_string(), error.class());
        let wrapped = io::Error::from(error);
        assert_eq!(wrapped.to_string(), text);
        assert_eq!(wrapped.downcast::<Error>().unwrap().class(), class, "an error survives a writer");
    }
    trommel_testkit::golden::assert_golden("tests/golden/errors.txt", &list);
}
