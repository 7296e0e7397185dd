//! Compares the tallies of masks with those of tokens.

use trommel_reader::{Backend, Config, Cursor, Framing, Tally, Validation, View};
use trommel_testkit::chunks::{Chunks, SIZES};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Layout, Shape, document};

use super::corpus::{own, real};

/// The tallies of all records; `None` if one is malformed.
fn tallies(mut cursor: Cursor<'_>) -> Option<Vec<Tally>> {
    let mut tallies = Vec::new();
    while cursor.next_record().ok()? {
        tallies.push(cursor.tally_value().ok()?);
    }
    Some(tallies)
}

fn compare(bytes: &[u8], framing: Framing, sizes: &[usize], note: &str) {
    let strict = Config::new().validation(Validation::Strict);
    let Some(expected) = tallies(Cursor::from_view(View::new(bytes), framing, &strict)) else { return };
    for backend in Backend::available() {
        let config = Config::new().validation(Validation::Structural).backend(backend);
        let found = tallies(Cursor::from_view(View::new(bytes), framing, &config)).unwrap();
        assert_eq!(found, expected, "{note} {backend:?}");
        for &size in sizes {
            let reader = Chunks::new(bytes, &[size]);
            let found = tallies(Cursor::from_reader(reader, framing, &config.window(size))).unwrap();
            assert_eq!(found, expected, "{note} {backend:?} reads of {size}");
        }
    }
}

#[test]
fn of_documents() {
    for text in own() {
        compare(&text.bytes, text.framing, &SIZES, &text.name);
    }
    for text in real(cases(2_000_000, 40_000_000) as usize) {
        compare(&text.bytes, text.framing, &[4096], &text.name);
    }
}

#[test]
fn of_random_documents() {
    for seed in 0..cases(2_000, 200_000) {
        let layout = if seed % 2 == 0 { Layout::Random } else { Layout::Compact };
        let bytes = document(seed, &Shape { layout, ..Shape::default() });
        compare(&bytes, Framing::Single, &[1, 63], &format!("seed {seed}"));
    }
}

/// Empty and other containers around every block edge, at the greatest depth and above it.
#[test]
fn depth_is_that_of_the_deepest_value() {
    for before in 0..70 {
        let pad = " ".repeat(before);
        for inner in [
            "[]",
            "[ ]",
            "{}",
            "[1]",
            "[ 1 ]",
            "[{}]",
            "[[ ],{ }]",
            "[[],[ \"\" ]]",
            "{\"[\": [ ] }",
            "[-1.5E+3,0e1,true,false,null,\"e\"]",
        ] {
            for after in ["", "  ,[[ ]]", ",{ \"a\":[2]}", ",1e5"] {
                let text = format!("[{pad}{inner}{pad}{after}]");
                compare(text.as_bytes(), Framing::Single, &[1, 64], &text);
            }
        }
    }
}
