//! Random damage.

use super::random::Random;

/// Damages a text by one to three random accidents: truncation, a flipped bit, and bytes removed,
/// repeated, swapped, or inserted. The result always differs from the text, but may still be valid.
pub fn damage(seed: u64, text: &[u8]) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut damaged = text.to_vec();
    for _ in 0..random.between(1, 3) {
        accident(&mut random, &mut damaged);
    }
    // Accidents may cancel out or change nothing, for example by swapping equal bytes.
    if damaged == text {
        damaged.push(b']');
    }
    damaged
}

const INSERTED: [&[u8]; 20] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"\"",
    b"\\",
    b"\0",
    b"\n",
    b"-",
    b"0",
    b".",
    b"e",
    b"null",
    b"\xFF",
    b"\xC3",
    b"\xED\xA0\x80",
    b"\\ud800",
    b"\xEF\xBB\xBF",
];

fn accident(random: &mut Random, text: &mut Vec<u8>) {
    if text.is_empty() {
        text.extend(random.pick(&INSERTED));
        return;
    }
    let at = random.below(text.len());
    let end = (at + random.between(1, 8)).min(text.len());
    match random.below(7) {
        0 => text.truncate(at),
        1 => text[at] ^= 1 << random.below(8),
        2 => {
            text.drain(at..end);
        }
        3 => {
            let inserted: &[u8] = random.pick(&INSERTED);
            text.splice(at..at, inserted.iter().copied());
        }
        4 => text[at] = random.pick(&INSERTED)[0],
        5 => {
            let again = text[at..end].to_vec();
            text.splice(at..at, again);
        }
        _ => {
            let other = random.below(text.len());
            text.swap(at, other);
        }
    }
}
