//! Compares validation by groups of blocks with validation block by block, on every backend.

use super::lanes::Lanes;
use crate::validate::{Recording, pass};
use crate::{Stack, Tape, Validated, Validator};

/// Pseudo-random numbers (Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % bound
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const SCALARS: &[&str] = &[
    "0",
    "-1",
    "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
    "-0.5e-7",
    "1E+22",
    "3.25",
    "10.000000000000000000000000000000000000000000000000000000000000000000000001e5",
    "true",
    "false",
    "null",
    r#""""#,
    r#""a""#,
    r#""a \\ b \" c""#,
    r#""\ud83d\ude00 \u00e9""#,
    "\"\u{e9}\u{20ac}\"",
    r#""{[,:]}""#,
    "\"a long text, longer than a block of sixty-four bytes, so that a whole block is inside of it, and more\"",
];
const NAMES: &[&str] =
    &[r#""a""#, r#""name""#, r#""\u0061\"""#, r#""""#, r#""a name that is about as long as half a block""#];

/// Bytes that are significant somewhere.
const ODD: &[u8] = b"\"\\{}[],: \n\x01\x7F\x80\xC30123456789+-.eEtrufalsn/bu";

/// Appends a random value.
fn value(random: &mut Random, depth: usize, blanks: &[&str], text: &mut String) {
    let kind = random.below(if depth < 6 { 10 } else { 6 });
    if kind < 6 {
        return text.push_str(random.pick(SCALARS));
    }
    let (open, close) = if kind < 8 { ('[', ']') } else { ('{', '}') };
    text.push(open);
    text.push_str(random.pick(blanks));
    for child in 0..random.below(8) {
        if child > 0 {
            text.push(',');
            text.push_str(random.pick(blanks));
        }
        if open == '{' {
            text.push_str(random.pick(NAMES));
            text.push_str(random.pick(blanks));
            text.push(':');
            text.push_str(random.pick(blanks));
        }
        value(random, depth + 1, blanks, text);
        text.push_str(random.pick(blanks));
    }
    text.push(close);
}

/// A document with up to three bytes that are not those of its value.
fn document(random: &mut Random) -> Vec<u8> {
    let blanks: &[&str] = if random.below(2) == 0 { &[""] } else { &["", " ", "\n", "\r\n\t  ", "      "] };
    let mut text = String::from("[");
    text.push_str(&" ".repeat(random.below(70)));
    for child in 0..random.below(30) {
        if child > 0 {
            text.push(',');
        }
        value(random, 1, blanks, &mut text);
    }
    text.push(']');
    let mut bytes = text.into_bytes();
    for _ in 0..random.below(4) {
        let at = random.below(bytes.len());
        match random.below(3) {
            0 => bytes[at] = ODD[random.below(ODD.len())],
            1 => bytes.insert(at, ODD[random.below(ODD.len())]),
            _ => drop(bytes.remove(at)),
        }
        if bytes.is_empty() {
            bytes.push(b'[');
        }
    }
    bytes
}

/// The end of the valid bytes, the open containers there, and the tokens.
type Outcome = (Validated, Vec<bool>, Vec<u16>);

fn outcome<L: Lanes, const GROUPS: bool>(proof: L::Proof, bytes: &[u8], limit: u32, kind: usize) -> Outcome {
    let mut stack = Stack::default();
    stack.push(false);
    let mut state = Validator { stack: &mut stack, floor: 0, limit, first: true };
    let mut tape = Tape::default();
    tape.begin(bytes.len());
    let from = 1.min(bytes.len());
    let recording = match kind {
        0 => Recording::NONE,
        1 => Recording::names(&mut tape),
        _ => Recording::all(&mut tape),
    };
    let validated = pass::<L, GROUPS>(proof, bytes, from, &mut state, recording);
    tape.finish(0);
    let mut open = Vec::new();
    while stack.depth() > 0 {
        open.push(stack.in_object());
        stack.pop();
    }
    // A block that is not ASCII may or may not have been inspected after an error.
    (Validated { high: false, ..validated }, open, tape.starts().to_vec())
}

fn compare<L: Lanes>(proof: L::Proof, documents: u64) {
    for seed in 1..=documents {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let bytes = document(&mut random);
        let limit = [1000, 1000, 4][random.below(3)];
        for kind in 0..3 {
            assert_eq!(
                outcome::<L, true>(proof, &bytes, limit, kind),
                outcome::<L, false>(proof, &bytes, limit, kind),
                "{seed} {kind} {}",
                String::from_utf8_lossy(&bytes)
            );
        }
    }
}

#[test]
fn groups_are_validated_as_blocks() {
    compare::<super::scalar::Scalar>((), 3_000);
    #[cfg(target_arch = "x86_64")]
    {
        compare::<super::sse2::Sse2>((), 20_000);
        if let Some(proof) = super::avx2::Detected::new() {
            compare::<super::avx2::Avx2>(proof, 20_000);
        }
    }
}
