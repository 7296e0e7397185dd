//! The inputs of the tasks, generated in memory and always identical.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::OnceLock;

use serde::Deserialize;
use trommel::reader::Framing;
use trommel_testkit::events::{self, Arrangement};
use trommel_testkit::generate::Random;

/// The usual size of an input in bytes, not counting the end of the last record.
pub const BYTES: u64 = 8_000_000;

/// An input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// Events of 3 KB in one document of one line: `{"data":{"records":[…]},"meta":…}`.
    Document,
    /// The same events as NDJSON.
    Lines,
    /// The document with line breaks and indents of two spaces.
    Pretty,
    /// A collection of polygons: almost nothing but numbers with many digits.
    Numbers,
    /// Articles: strings of some ten KB, with escapes and letters beyond ASCII.
    Strings,
}

impl Input {
    const ALL: [Self; 5] = [Self::Document, Self::Lines, Self::Pretty, Self::Numbers, Self::Strings];

    /// Returns the input at its usual size. It is generated once.
    pub fn bytes(self) -> &'static [u8] {
        static GENERATED: [OnceLock<Vec<u8>>; Input::ALL.len()] =
            [const { OnceLock::new() }; Input::ALL.len()];
        let index = Self::ALL.iter().position(|&input| input == self);
        let generated = index.and_then(|index| GENERATED.get(index)).expect("the list of inputs is complete");
        generated.get_or_init(|| self.make(BYTES))
    }

    /// Returns the framing of its records.
    pub fn framing(self) -> Framing {
        if self == Self::Lines { Framing::Lines } else { Framing::Single }
    }

    /// Generates the input with at least `bytes` bytes.
    pub fn make(self, bytes: u64) -> Vec<u8> {
        let mut text = Vec::new();
        self.write(&mut text, bytes).expect("writing to memory does not fail");
        text
    }

    /// Writes the input with at least `bytes` bytes, in pieces.
    pub fn write(self, out: impl Write, bytes: u64) -> io::Result<()> {
        match self {
            Self::Document => events::write(out, Arrangement::Document, bytes).map(drop),
            Self::Lines => events::write(out, Arrangement::Lines, bytes).map(drop),
            Self::Pretty => events::write(Layout::new(out), Arrangement::Document, bytes).map(drop),
            Self::Numbers => polygons(out, bytes),
            Self::Strings => articles(out, bytes),
        }
    }
}

/// Indents a document that has no white space outside of strings.
struct Layout<W> {
    out: W,
    depth: usize,
    in_string: bool,
    escaped: bool,
    before: u8,
}

impl<W: Write> Layout<W> {
    fn new(out: W) -> Self {
        Self { out, depth: 0, in_string: false, escaped: false, before: b' ' }
    }

    fn push(&mut self, byte: u8, text: &mut Vec<u8>) {
        let before = std::mem::replace(&mut self.before, byte);
        if self.in_string {
            self.in_string = byte != b'"' || self.escaped;
            self.escaped = byte == b'\\' && !self.escaped;
            text.push(byte);
            return;
        }
        self.in_string = byte == b'"';
        if matches!(byte, b'}' | b']') {
            self.depth -= 1;
        }
        if matches!(before, b'{' | b'[' | b',') || matches!(byte, b'}' | b']') {
            text.push(b'\n');
            text.extend(std::iter::repeat_n(b' ', 2 * self.depth));
        }
        text.push(byte);
        match byte {
            b'{' | b'[' => self.depth += 1,
            b':' => text.push(b' '),
            _ => {}
        }
    }
}

impl<W: Write> Write for Layout<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = Vec::with_capacity(2 * bytes.len());
        for &byte in bytes {
            self.push(byte, &mut text);
        }
        self.out.write_all(&text)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes a prefix, elements until there are at least `bytes` bytes, and a suffix. There is at
/// least one element; `element` pushes the text of each.
fn elements(
    mut out: impl Write,
    bytes: u64,
    prefix: &str,
    suffix: &str,
    mut element: impl FnMut(u64, &mut String),
) -> io::Result<()> {
    let mut text = String::from(prefix);
    let mut written = 0;
    for number in 0_u64.. {
        if number > 0 && written + text.len() as u64 >= bytes {
            break;
        }
        if number > 0 {
            text.push(',');
        }
        element(number, &mut text);
        out.write_all(text.as_bytes())?;
        written += text.len() as u64;
        text.clear();
    }
    out.write_all(suffix.as_bytes())?;
    out.flush()
}

fn polygons(out: impl Write, bytes: u64) -> io::Result<()> {
    let mut random = Random::new(0);
    let mut degrees = |range: u64| random.bits() as f64 / u64::MAX as f64 * 2.0 * range as f64 - range as f64;
    elements(out, bytes, r#"{"type":"FeatureCollection","features":["#, "]}", |number, text| {
        write!(text, r#"{{"id":{number},"coordinates":["#).expect("writing to memory does not fail");
        for corner in 0..1000 {
            let comma = if corner > 0 { "," } else { "" };
            write!(text, "{comma}[{},{}]", degrees(180), degrees(90))
                .expect("writing to memory does not fail");
        }
        text.push_str("]}");
    })
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

fn articles(out: impl Write, bytes: u64) -> io::Result<()> {
    let mut random = Random::new(1);
    elements(out, bytes, r#"{"articles":["#, "]}", |number, text| {
        write!(text, r#"{{"id":"{number}","body":""#).expect("writing to memory does not fail");
        for _ in 0..random.between(200, 3000) {
            text.push_str(random.pick(&WORDS));
            text.push(' ');
        }
        text.push_str(r#""}"#);
    })
}
