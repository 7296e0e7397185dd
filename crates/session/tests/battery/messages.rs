//! The message, class, and code of every kind of error.

use std::error::Error as _;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trommel_base::commit;
use trommel_base::files::{Error as FileError, Op};
use trommel_session::{Change, Error, ErrorKind, Missing, Refusal, RequestFault};

fn session() -> String {
    "5d1c".to_owned()
}

fn path(name: &str) -> PathBuf {
    Path::new("/sessions/5d1c").join(name)
}

fn about_arguments() -> Vec<ErrorKind> {
    let given = |text: &str| text.to_owned();
    let faults = [
        RequestFault::EmptyId,
        RequestFault::EmptyProject,
        RequestFault::EmptyText,
        RequestFault::LongText { max: 1_000 },
        RequestFault::Pattern { why: "the pattern is too large".into() },
        RequestFault::UnknownScope { given: given("all of it") },
        RequestFault::ContextLines { given: 50, max: 20 },
        RequestFault::Limit { given: 0, max: 1_000 },
        RequestFault::MaxChars { given: 1, min: 200 },
        RequestFault::Fields { count: 99, max: 32 },
        RequestFault::Field { given: given("a..b"), why: "a name is empty" },
        RequestFault::EventTypes { count: 99, max: 32 },
        RequestFault::EventType { given: given("*:x") },
        RequestFault::Time { given: given("soon") },
        RequestFault::Days { given: given("some day") },
        RequestFault::ReversedDays { first: given("2026-03-02"), last: given("2026-03-01") },
        RequestFault::NoTarget,
        RequestFault::SeveralTargets,
        RequestFault::TurnZero,
        RequestFault::Clock,
    ];
    faults.into_iter().map(ErrorKind::Request).collect()
}

fn about_absence() -> Vec<ErrorKind> {
    let missing = [
        Missing::Project { notes: vec!["no project `app`".into(), "did you mean `-home-u-app`?".into()] },
        Missing::Session { id: session() },
        Missing::Files { path: path(""), names: &["metadata.json", "events.jsonl"] },
        Missing::Part { session: session(), name: "events.jsonl", note: "it records no events" },
        Missing::Change { session: session() },
        Missing::Turn { turn: 9, turns: 2 },
        Missing::Message { index: 9, messages: 2 },
        Missing::Times,
    ];
    missing.into_iter().map(ErrorKind::NotFound).collect()
}

fn about_support() -> Vec<ErrorKind> {
    let format = |records, program| Refusal::Format {
        path: path("log.jsonl"),
        records,
        program,
        supported: vec!["Amplifier", "Claude Code"],
        expected: vec!["a record with `role`", "a record with `type`"],
    };
    let refusals = [
        Refusal::Remote { session: session(), change: Change::Rewind },
        Refusal::Unchangeable {
            session: session(),
            change: Change::Repair,
            program: "Claude Code",
            changeable: vec!["Amplifier"],
        },
        Refusal::Remote { session: session(), change: Change::Undo },
        Refusal::NoEvents { session: session() },
        format(0, None),
        format(3, None),
        format(3, Some("Other")),
    ];
    refusals.into_iter().map(ErrorKind::Unsupported).collect()
}

fn about_files() -> Vec<ErrorKind> {
    let file = |kind: io::ErrorKind| FileError::new(Op::Rename, &path("events.jsonl"), kind.into());
    let plan = |version| commit::Error::Version { path: path("plan.json"), found: version, known: 1 };
    vec![
        ErrorKind::Ambiguous { id: "5d".into(), candidates: vec!["app/5d1c".into()], count: 3 },
        ErrorKind::Ambiguous {
            id: "5d".into(),
            candidates: vec!["a/5d1c".into(), "b/5d1d".into()],
            count: 2,
        },
        ErrorKind::TooManyCalls { max: 1_000 },
        ErrorKind::NoRecords { path: path("log.jsonl") },
        ErrorKind::LongDescription { path: path("metadata.json"), bytes: 99_999_999 },
        ErrorKind::ChangedBackup { path: path("events.jsonl.bak"), name: "events.jsonl".into() },
        ErrorKind::Plan(plan(9)),
        ErrorKind::Locked { path: path(""), waited: Duration::from_secs(10) },
        ErrorKind::BeingWritten { path: path("events.jsonl") },
        ErrorKind::Replaced { path: path("events.jsonl") },
        ErrorKind::File(file(io::ErrorKind::NotFound)),
        ErrorKind::File(file(io::ErrorKind::StorageFull)),
        ErrorKind::File(file(io::ErrorKind::IsADirectory)),
        ErrorKind::File(file(io::ErrorKind::PermissionDenied)),
        ErrorKind::Unfinished(Box::new(ErrorKind::File(file(io::ErrorKind::StorageFull)).into())),
        ErrorKind::Unfinished(Box::new(ErrorKind::Cancelled.into())),
        ErrorKind::Cancelled,
    ]
}

/// R45: no kind is without a message, causes are linked, and messages change only on purpose.
#[test]
fn r45_every_kind_has_its_message() {
    let mut list = String::new();
    let kinds = about_arguments().into_iter().chain(about_absence()).chain(about_support());
    for kind in kinds.chain(about_files()) {
        let error = Error::from(kind);
        assert_eq!(error.code(), error.class().code());
        let argument = match error.kind() {
            ErrorKind::Request(fault) => fault.argument().unwrap_or("none"),
            _ => "none",
        };
        let cause = error.source().map_or_else(String::new, |cause| format!(" [cause: {cause}]"));
        let _ = writeln!(list, "{} ({argument}): {error}{cause}", error.code());
    }
    trommel_testkit::golden::assert_golden("tests/golden/errors.txt", &list);
}
