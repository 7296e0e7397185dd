//! Errors have a kind for programs and a message for people.

use std::error::Error as _;
use std::fs;
use std::io::Write;

use trommel_store::{Error, ErrorClass, Store, StoreOptions};

use crate::support::{Home, file_of, named, put_as};

/// One error of each kind that can be provoked here.
fn errors() -> Vec<Error> {
    let home = Home::with(|options| options.limits.bytes = Some(100_000));
    put_as(&home, named("output-1"), "[1]");
    put_as(&home, named("output-2"), "no JSON");
    put_as(&home, named("output-3"), "[3]");
    home.pin("output-1", true).unwrap();
    fs::write(file_of(&home, "output-3", ".meta.json"), "{}").unwrap();
    let mut filter = trommel_store::Filter::default();
    (filter.after, filter.before) = (Some(2), Some(1));
    let mut full = home.put(named("output-4")).unwrap();
    full.write_all(&vec![b'x'; 200_000]).unwrap();
    let mut long = named("output-5");
    long.tool_name = "x".repeat(5000);
    let nowhere = Store::open("/proc/nowhere", StoreOptions::default());
    let short = home.get("output-2").map(|stored| {
        fs::write(file_of(&home, "output-2", ".json"), "").unwrap();
        home.payload(&stored).map(|_| ()).unwrap_err()
    });
    vec![
        home.get("no/id").unwrap_err(),
        home.get("output-9").unwrap_err(),
        home.get("output").unwrap_err(),
        home.put(named("output-1")).map(|_| ()).unwrap_err(),
        home.get("output-3").unwrap_err(),
        home.document(&home.get("output-2").unwrap()).map(|_| ()).unwrap_err(),
        home.list(&filter).unwrap_err(),
        home.put(long).map(|_| ()).unwrap_err(),
        home.delete("output-1").unwrap_err(),
        full.finish().unwrap_err(),
        nowhere.map(|_| ()).unwrap_err(),
        short.unwrap(),
        home.executions().append("{").unwrap_err(),
    ]
}

/// R45: every error has a code, the fault, the location, and advice, and is of bounded length.
#[test]
fn r45_errors_teach() {
    let shown = errors().iter().map(|error| format!("{}: {error}", error.class().code())).collect::<Vec<_>>();
    let expected = [
        "invalid_id: `no/id` is not a valid ID; an ID has 1 to 64 letters, digits, `_` or `-`; `list` shows the stored ones",
        "not_found: no output output-9; did you mean output-1 or output-2 or output-3? `list` shows the stored outputs",
        "ambiguous: output matches several outputs: output-1, output-2, output-3; give a longer prefix",
        "exists: output output-1 already exists, and outputs are immutable; use another ID",
        "corrupt: the metadata of output output-3 is damaged (it does not match its seal); the payload may be intact: copy it \
         out of the store, then delete the output",
        "not_json: output output-2 is text, not JSON (not a JSON literal at byte 0 (line 1, column 1); the literals are \
         true, false, and null, in lower case); read it page by page instead",
        "filter: empty time range: `after` (2) is not below `before` (1); swap them, or leave one out (times \
         up to 100000000000 are seconds, above milliseconds)",
        "invalid: the tool name has 5000 bytes; the limit is 1024; use a shorter name",
        "pinned: output output-1 is pinned; unpin it first",
        "full: the payload exceeds the store's limit of 100000 bytes (200000 bytes \
         were needed); raise the limit, or store less",
        "io: cannot create the folder /proc/nowhere: No such file or directory (os error 2); check that it still exists",
        "corrupt: the payload of output output-2 is damaged: it has 0 bytes on disk, but 7 were written; delete the output, \
         and create it again",
        "invalid: the execution record is not valid JSON: EOF while parsing an object at line 1 column 1; pass \
         one JSON text",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn errors_go_through_writers() {
    let home = Home::with(|options| options.limits.bytes = Some(1000));
    let mut put = home.put(named("output-1")).unwrap();
    let error = put.write_all(&vec![b'x'; 1 << 20]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    let error = error.downcast::<Error>().unwrap();
    assert_eq!(error.class(), ErrorClass::Full);
    assert!(error.bytes_needed().is_some_and(|bytes| bytes >= 1000));
    assert!(format!("{error:?}").contains("PayloadTooLarge"));
    let error = Store::open("/proc/nowhere", StoreOptions::default()).unwrap_err();
    assert!(error.source().unwrap().is::<std::io::Error>());
    assert_eq!(error.path(), Some(std::path::Path::new("/proc/nowhere")));
}
