//! Ceilings: the work that no engine can avoid, at the highest speed of this machine. All other
//! speeds are compared with them.

use std::hint::black_box;

use trommel::reader::{Config, Cursor, Framing, Result, Validation, View};

/// The name of the group of ceilings.
pub const GROUP: &str = "ceilings";

/// The ceiling that ratios refer to.
pub const BRACKETS: &str = "brackets";

/// An operation on all bytes of an input. Returns true if it succeeded.
pub type Ceiling = fn(&[u8], Framing) -> bool;

/// Every ceiling by name: adding up all words, searching for absent text, counting the brackets
/// outside of strings, and validating UTF-8.
pub const ALL: [(&str, Ceiling); 4] =
    [("reading", reading), ("search", search), (BRACKETS, brackets), ("UTF-8", utf8)];

/// Returns the ceiling of that name.
pub fn named(name: &str) -> Option<Ceiling> {
    ALL.iter().find(|(known, _)| *known == name).map(|&(_, ceiling)| ceiling)
}

fn reading(bytes: &[u8], _: Framing) -> bool {
    let sum = |sum: u64, word: &[u8; 8]| sum.wrapping_add(u64::from_ne_bytes(*word));
    black_box(bytes.as_chunks::<8>().0.iter().fold(0, sum));
    true
}

fn search(bytes: &[u8], _: Framing) -> bool {
    memchr::memmem::find(bytes, b"\"no such member\"").is_none()
}

/// Uses trommel's own masks, which are as fast as any.
fn brackets(bytes: &[u8], framing: Framing) -> bool {
    let config = Config::new().validation(Validation::Structural);
    passed(Cursor::from_view(View::new(bytes), framing, &config)).is_ok_and(|records| records > 0)
}

fn passed(mut cursor: Cursor<'_>) -> Result<u64> {
    let mut records = 0;
    while cursor.next_record()? {
        cursor.skip_value()?;
        records += 1;
    }
    Ok(records)
}

fn utf8(bytes: &[u8], _: Framing) -> bool {
    simdutf8::basic::from_utf8(bytes).is_ok()
}
