//! The message, class, and code of every kind of error.

use std::borrow::Cow;
use std::error::Error as _;
use std::fmt;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use trommel_base::commit;
use trommel_base::files::{Error as FileError, Op};
use trommel_blocks::{Error, ErrorClass, ErrorKind, StorageFault};

#[derive(Debug)]
struct Unplugged;

impl fmt::Display for Unplugged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the storage is unplugged")
    }
}

impl StorageFault for Unplugged {
    fn class(&self) -> ErrorClass {
        ErrorClass::Offline
    }

    fn help(&self) -> Option<Cow<'_, str>> {
        Some("plug it in".into())
    }
}

fn session() -> String {
    "5d1c".to_owned()
}

fn storage() -> String {
    "memory".to_owned()
}

fn path(name: &str) -> PathBuf {
    Path::new("/sessions/5d1c").join(name)
}

fn json_error() -> serde_json::Error {
    serde_json::from_str::<u8>("{").unwrap_err()
}

fn about_requests() -> Vec<ErrorKind> {
    vec![
        ErrorKind::InvalidName { role: "user", name: "a/b".into() },
        ErrorKind::UnknownResolution { name: "mine".into() },
        ErrorKind::HoldsSession { folder: path("") },
        ErrorKind::NoPayloadStorage { sequence: 7, session: session() },
        ErrorKind::Session(trommel_session::ErrorKind::Cancelled.into()),
        ErrorKind::NotFoundOffline {
            error: trommel_session::ErrorKind::NotFound(trommel_session::Missing::Session { id: session() })
                .into(),
            problem: Arc::new(ErrorKind::ProbeEnded.into()),
        },
        ErrorKind::BlockVersion { sequence: 7, session: session(), version: 9, known: 1 },
        ErrorKind::JournalVersion { path: path("journal"), version: 9 },
        ErrorKind::UnknownEncoding { encoding: "zip".into() },
        ErrorKind::NotAFolder { storage: storage() },
        ErrorKind::ReadOnlyStorage { storage: storage() },
        ErrorKind::ForeignSession { session: session() },
        ErrorKind::TooManyForks { session: session(), limit: 100 },
        ErrorKind::NoNumbers,
    ]
}

fn about_damage() -> Vec<ErrorKind> {
    vec![
        ErrorKind::Checksum { sequence: 7, session: session() },
        ErrorKind::BlockData { sequence: 7, session: session(), block_type: "message", cause: json_error() },
        ErrorKind::Record { sequence: 7, found: 1, written: 2 },
        ErrorKind::Piece(base64::DecodeError::InvalidLength(5)),
        ErrorKind::NotCanonical { cause: Some(json_error()) },
        ErrorKind::NotCanonical { cause: None },
        ErrorKind::NumberTooLarge { session: session(), sequence: u64::MAX, storage: storage() },
        ErrorKind::Journal { path: path("journal"), cause: Some(json_error()) },
        ErrorKind::Journal { path: path("journal"), cause: None },
        ErrorKind::Commit(commit::Error::Damaged { path: path("plan.json"), cause: json_error() }),
        ErrorKind::Commit(commit::Error::Version { path: path("plan.json"), found: 9, known: 1 }),
        ErrorKind::Commit(commit::Error::Foreign { path: path("plan.json") }),
        ErrorKind::Commit(commit::Error::Replaced { path: path("events.jsonl") }),
        ErrorKind::Commit(commit::Error::File(FileError::new(
            Op::Write,
            &path("events.jsonl"),
            io::ErrorKind::StorageFull.into(),
        ))),
        ErrorKind::Unwritable(json_error()),
    ]
}

fn about_others() -> Vec<ErrorKind> {
    vec![
        ErrorKind::NotQueried,
        ErrorKind::OnlyInCloud { session: session(), problem: Arc::new(ErrorKind::ProbeEnded.into()) },
        ErrorKind::ProbeEnded,
        ErrorKind::ListTooLate { storage: storage(), after: Duration::from_millis(1_500) },
        ErrorKind::HalfLine { folder: path("") },
        ErrorKind::BeingWritten { folder: path("") },
        ErrorKind::ChangedFile { path: path("events.jsonl") },
        ErrorKind::ChangedSession { session: session() },
        ErrorKind::Contended { session: session() },
        ErrorKind::BlocksLost {
            storage: storage(),
            session: session(),
            head: 3,
            known: 7,
            journal: path("journal"),
        },
        ErrorKind::BlocksLate { storage: storage(), session: session() },
        ErrorKind::Locked { path: path(""), waited: Duration::from_secs(10) },
        ErrorKind::File(FileError::new(Op::Read, &path("events.jsonl"), io::ErrorKind::NotFound.into())),
        ErrorKind::Thread(io::Error::other("no thread is available")),
        ErrorKind::Cancelled,
        ErrorKind::Storage(Box::new(Unplugged)),
    ]
}

/// R45: no kind is without a message, causes are linked, and messages change only on purpose.
#[test]
fn r45_every_kind_has_its_message() {
    let mut list = String::new();
    for kind in about_requests().into_iter().chain(about_damage()).chain(about_others()) {
        let error = Error::from(kind);
        assert_eq!(error.code(), error.class().code());
        let request = if error.class().is_request() { " (request)" } else { "" };
        let cause = error.source().map_or_else(String::new, |cause| format!(" [cause: {cause}]"));
        let _ = writeln!(list, "{}{request}: {error}{cause}", error.code());
    }
    trommel_testkit::golden::assert_golden("tests/golden/errors.txt", &list);
}

/// Errors of other libraries keep their meaning as errors about blocks.
#[test]
fn classes_of_other_errors_are_kept() {
    use trommel_session::{ErrorKind as SessionKind, Missing, Refusal, RequestFault};
    let file = |kind: io::ErrorKind| SessionKind::File(FileError::new(Op::Read, &path("a"), kind.into()));
    for (kind, class) in [
        (SessionKind::Request(RequestFault::EmptyId), ErrorClass::Request),
        (SessionKind::NotFound(Missing::Times), ErrorClass::NotFound),
        (SessionKind::Ambiguous { id: session(), candidates: vec![], count: 2 }, ErrorClass::Ambiguous),
        (SessionKind::Unsupported(Refusal::NoEvents { session: session() }), ErrorClass::Unsupported),
        (SessionKind::TooManyCalls { max: 1 }, ErrorClass::Limit),
        (SessionKind::NoRecords { path: path("a") }, ErrorClass::Corrupt),
        (SessionKind::BeingWritten { path: path("a") }, ErrorClass::Busy),
        (SessionKind::Cancelled, ErrorClass::Cancelled),
        (file(io::ErrorKind::PermissionDenied), ErrorClass::Io),
    ] {
        let error = ErrorKind::Session(kind.into());
        assert_eq!(error.class(), class, "{error}");
    }
}
