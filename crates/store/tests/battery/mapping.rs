//! Reading of payloads without memory maps.

use std::fs::File;
use std::io::Read;

use trommel::Analysis;

use crate::support::{Home, file_of, named, put_as};

/// Safe code cannot map a payload. If another program truncates it, the result is an error, never a
/// signal.
#[test]
fn documents_are_read_through_a_window() {
    let home = Home::new();
    let stored = put_as(&home, named("output-1"), format!("[{}1]", "\"some text\", ".repeat(1 << 20)));
    let mut document = home.document(&stored).unwrap();
    assert!(document.view().is_none());
    let mut payload = home.payload(&stored).unwrap();
    File::options().write(true).open(file_of(&home, "output-1", ".json")).unwrap().set_len(4096).unwrap();
    let count = Analysis::new().count("$[*]".parse().unwrap());
    assert!(count.run(&mut document).is_err());
    assert!(payload.read_to_end(&mut Vec::new()).is_err());
}
