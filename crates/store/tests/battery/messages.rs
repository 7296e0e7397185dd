//! The message, class, and code of every kind of error.

use std::error::Error as _;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use trommel_base::files::{Error as FileError, Op};
use trommel_store::{DatabaseFault, Error, ErrorClass, ErrorKind, ForeignFault, PayloadFault};

fn path(name: &str) -> PathBuf {
    Path::new("/store").join(name)
}

fn id() -> String {
    "output-1".to_owned()
}

fn json_error() -> serde_json::Error {
    serde_json::from_str::<u8>("{").unwrap_err()
}

fn about_outputs() -> Vec<ErrorKind> {
    let payload = |why| ErrorKind::Payload { id: id(), path: path("output-1.json"), why };
    vec![
        ErrorKind::InvalidId("no/id".into()),
        ErrorKind::NotFound { id: id(), needs: None, near: Vec::new() },
        ErrorKind::NotFound { id: "out".into(), needs: Some(6), near: Vec::new() },
        ErrorKind::NotFound { id: id(), needs: None, near: vec!["output-2".into()] },
        ErrorKind::Ambiguous { prefix: "output".into(), ids: vec!["output-1".into()], more: true },
        ErrorKind::Exists { id: id(), path: path("output-1.meta.json") },
        ErrorKind::InUse { id: id(), path: path("output-1.part") },
        ErrorKind::Metadata { id: id(), path: path("output-1.meta.json"), why: "it is empty".into() },
        ErrorKind::MetadataVersion { id: id(), path: path("output-1.meta.json"), found: 9, known: 1 },
        ErrorKind::Unsealed,
        payload(PayloadFault::Length { found: 1, written: 2 }),
        payload(PayloadFault::Missing),
        payload(PayloadFault::Packed),
        ErrorKind::NotJson { id: id(), why: None },
        ErrorKind::NotJson { id: id(), why: Some("expected a value at byte 0".into()) },
        ErrorKind::Pinned(id()),
        ErrorKind::PayloadTooLarge { bytes: 200, limit: 100 },
        ErrorKind::NoRoom { limit: 100, what: "bytes", pinned: 1, open: 2 },
        ErrorKind::PutFailed(id()),
        ErrorKind::Source { bytes: 7, cause: io::Error::other("the pipe broke") },
        ErrorKind::Compression(path("output-1.part")),
        ErrorKind::Check(path("output-1.part")),
        ErrorKind::Cancelled { outputs: 1, total: 3 },
    ]
}

fn about_arguments() -> Vec<ErrorKind> {
    vec![
        ErrorKind::EmptyTimeRange { after: 2, before: 1, seconds_up_to: 100_000_000_000 },
        ErrorKind::UnknownFilterValue { what: "sort_by", found: "color".into(), known: "created_at, size" },
        ErrorKind::NameTooLong { what: "tool_name", bytes: 5_000, limit: 1_024 },
        ErrorKind::ExecutionTooLarge { bytes: 200, limit: 100, entries: 5 },
        ErrorKind::Execution(json_error()),
        ErrorKind::Description(json_error()),
    ]
}

fn about_files() -> Vec<ErrorKind> {
    let foreign = |why| ErrorKind::Foreign { path: path(""), why };
    let database = |why| ErrorKind::Database { path: path("index.db"), why };
    let refused = |class, bytes_needed| DatabaseFault::Refused {
        doing: "read",
        cause: rusqlite::Error::InvalidQuery,
        class,
        bytes_needed,
    };
    let file = |kind: io::ErrorKind, bytes_needed| ErrorKind::File {
        error: FileError::new(Op::Write, &path("output-1.part"), kind.into()),
        bytes_needed,
    };
    vec![
        ErrorKind::Locked { path: path("lock"), seconds: 10 },
        foreign(ForeignFault::NotFile),
        foreign(ForeignFault::Link),
        foreign(ForeignFault::NotFolder),
        foreign(ForeignFault::Owner { owner: 7, user: 8 }),
        foreign(ForeignFault::Writable { mode: 0o777 }),
        database(DatabaseFault::Version(9)),
        database(refused(ErrorClass::Io, None)),
        database(refused(ErrorClass::Busy, None)),
        database(refused(ErrorClass::Full, Some(4_096))),
        database(DatabaseFault::Damaged("a page is torn".into())),
        database(DatabaseFault::Unusable),
        file(io::ErrorKind::StorageFull, Some(4_096)),
        file(io::ErrorKind::PermissionDenied, None),
        file(io::ErrorKind::NotFound, None),
    ]
}

/// R45: no kind is without a message, causes are linked, and messages change only on purpose.
#[test]
fn r45_every_kind_has_its_message() {
    let mut list = String::new();
    for kind in about_outputs().into_iter().chain(about_arguments()).chain(about_files()) {
        let error = Error::from(kind);
        assert_eq!(error.code(), error.class().code());
        let cause = error.source().map_or_else(String::new, |cause| format!(" [cause: {cause}]"));
        let path = error.path().map_or_else(String::new, |path| format!(" [path: {}]", path.display()));
        let _ = writeln!(list, "{}: {error}{cause}{path}", error.code());
        let (text, class) = (error.to_string(), error.class());
        let wrapped = io::Error::from(error);
        assert_eq!(wrapped.to_string(), text);
        assert_eq!(wrapped.downcast::<Error>().unwrap().class(), class, "an error survives a writer");
    }
    trommel_testkit::golden::assert_golden("tests/golden/errors.txt", &list);
}
