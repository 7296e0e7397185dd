//! What the tasks are about, made in memory and the same every time.

use std::fmt::Write as _;
use std::sync::OnceLock;

use serde::Deserialize;
use trommel::reader::Framing;
use trommel_testkit::events::{self, Arrangement};
use trommel_testkit::generate::Random;

/// Bytes of an input, but for the record that reaches beyond.
pub const BYTES: u64 = 8_000_000;

/// An input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// Events of 3 KB in one document of one line: `{"data":{"records":[…]},"meta":…}`.
    Document,
    /// The same events, one a line.
    Lines,
    /// The document with line breaks and indents of two.
    Pretty,
    /// A collection of polygons: almost nothing but numbers with many digits.
    Numbers,
    /// Articles: strings of some ten KB, with escapes and letters beyond ASCII.
    Strings,
}

impl Input {
    const ALL: [Self; 5] = [Self::Document, Self::Lines, Self::Pretty, Self::Numbers, Self::Strings];

    /// The input at its usual size; made once.
    pub fn bytes(self) -> &'static [u8] {
        static MADE: [OnceLock<Vec<u8>>; Input::ALL.len()] = [const { OnceLock::new() }; Input::ALL.len()];
        let place = Self::ALL.iter().position(|&input| input == self);
        let made = place.and_then(|place| MADE.get(place)).expect("the list of inputs is complete");
        made.get_or_init(|| self.make(BYTES))
    }

    /// How its records are divided.
    pub fn framing(self) -> Framing {
        if self == Self::Lines { Framing::Lines } else { Framing::Single }
    }

    /// The input with so many bytes at least.
    pub fn make(self, bytes: u64) -> Vec<u8> {
        match self {
            Self::Document => event_records(Arrangement::Document, bytes),
            Self::Lines => event_records(Arrangement::Lines, bytes),
            Self::Pretty => pretty(&event_records(Arrangement::Document, bytes)),
            Self::Numbers => polygons(bytes).into_bytes(),
            Self::Strings => articles(bytes).into_bytes(),
        }
    }
}

fn event_records(arrangement: Arrangement, bytes: u64) -> Vec<u8> {
    let mut text = Vec::new();
    events::write(&mut text, arrangement, bytes).expect("writing to memory does not fail");
    text
}

/// Lays out a document that has no white space outside of strings.
fn pretty(compact: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(compact.len() * 3 / 2);
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    for (&byte, before) in compact.iter().zip(std::iter::once(&b' ').chain(compact)) {
        if in_string {
            in_string = byte != b'"' || escaped;
            escaped = byte == b'\\' && !escaped;
            text.push(byte);
            continue;
        }
        in_string = byte == b'"';
        if matches!(byte, b'}' | b']') {
            depth -= 1;
        }
        if matches!(before, b'{' | b'[' | b',') || matches!(byte, b'}' | b']') {
            text.push(b'\n');
            text.extend(std::iter::repeat_n(b' ', 2 * depth));
        }
        text.push(byte);
        match byte {
            b'{' | b'[' => depth += 1,
            b':' => text.push(b' '),
            _ => {}
        }
    }
    text
}

fn polygons(bytes: u64) -> String {
    let mut text = String::from(r#"{"type":"FeatureCollection","features":["#);
    let mut random = Random::new(0);
    let mut degrees = |range: u64| random.bits() as f64 / u64::MAX as f64 * 2.0 * range as f64 - range as f64;
    for number in 0_u64.. {
        if number > 0 && text.len() as u64 >= bytes {
            break;
        }
        let comma = if number > 0 { "," } else { "" };
        write!(text, r#"{comma}{{"id":{number},"coordinates":["#).expect("writing to memory does not fail");
        for corner in 0..1000 {
            let comma = if corner > 0 { "," } else { "" };
            write!(text, "{comma}[{},{}]", degrees(180), degrees(90))
                .expect("writing to memory does not fail");
        }
        text.push_str("]}");
    }
    text.push_str("]}");
    text
}

const WORDS: [&str; 12] = [
    "stream",
    "of",
    "bytes",
    "größer",
    "than",
    "memory",
    "\\n",
    "\\\"quoted\\\"",
    "\\u00e9t\\u00e9",
    "東京",
    "reads",
    "once,",
];

fn articles(bytes: u64) -> String {
    let mut text = String::from(r#"{"articles":["#);
    let mut random = Random::new(1);
    for number in 0_u64.. {
        if number > 0 && text.len() as u64 >= bytes {
            break;
        }
        let comma = if number > 0 { "," } else { "" };
        write!(text, r#"{comma}{{"id":"{number}","body":""#).expect("writing to memory does not fail");
        for _ in 0..random.between(200, 3000) {
            text.push_str(random.pick(&WORDS));
            text.push(' ');
        }
        text.push_str(r#""}"#);
    }
    text.push_str("]}");
    text
}
