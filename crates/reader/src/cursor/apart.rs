//! Reading the elements of one array at several places at once.

use memchr::memchr2;
use memchr::memmem::Finder;
use trommel_scan::{Stack, is_space};

use super::{Cursor, Expect, Token};
use crate::config::Config;
use crate::framing::Framing;
use crate::input::View;
use crate::source::Monitor;

/// What is open between the elements of an array: with it a cursor can begin behind any of them.
#[derive(Clone, Debug)]
pub struct Between {
    stack: Stack,
    record: Option<u64>,
    record_start: u64,
    told: u64,
}

impl Between {
    /// The offset up to which the cursor's [monitor](Cursor::monitored) was told of bytes.
    pub fn told(&self) -> u64 {
        self.told
    }
}

/// Elements of an array that begin alike: what stands from the end of one to the name of the first
/// member of the next, and the name of its second member, if the value of the first is no
/// container.
///
/// Records are written by programs, so that most arrays of objects are like that. In a string the
/// quotes would be escaped; only in another array can the same bytes be found.
#[derive(Clone, Debug)]
pub struct Alike<'a> {
    view: View<'a>,
    first: Finder<'a>,
    second: Option<&'a [u8]>,
}

/// Bytes in which the beginning of an element must be recognised.
const BEGINNING: usize = 512;

impl<'a> Alike<'a> {
    /// Elements that begin like the one behind an element that ends at this offset, if that is an
    /// object with a member.
    pub fn new(view: View<'a>, behind: u64) -> Option<Self> {
        let rest = rest(view, behind);
        let rest = rest.get(..BEGINNING).unwrap_or(rest);
        let end = past(rest, b",{").and_then(|at| Some(at + past_string(rest.get(at..)?)?))?;
        let second = past_scalar_member(rest, end);
        Some(Self { view, first: Finder::new(rest.get(..end)?), second })
    }

    /// The first offset from `from` on, within so many bytes, at which it looks as if an element
    /// ended. It may be one of another array.
    pub fn guess(&self, from: u64, within: u64) -> Option<u64> {
        let rest = rest(self.view, from);
        let mut found = self.first.find_iter(rest.get(..within as usize).unwrap_or(rest));
        let length = self.first.needle().len();
        let fits = |at: &usize| {
            let window = &rest[*at..];
            let window = window.get(..BEGINNING).unwrap_or(window);
            self.second.is_none() || past_scalar_member(window, length) == self.second
        };
        found.find(fits).map(|at| from + at as u64)
    }
}

/// The index behind these bytes, between which there may be white space.
fn past(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let mut at = 0;
    for wanted in wanted {
        at += bytes.get(at..)?.iter().position(|&byte| !is_space(byte))?;
        if bytes.get(at) != Some(wanted) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// The index behind a string without escapes, and white space before it.
fn past_string(bytes: &[u8]) -> Option<usize> {
    let start = past(bytes, b"\"")?;
    let end = start + memchr2(b'"', b'\\', bytes.get(start..)?)?;
    (bytes.get(end) == Some(&b'"')).then_some(end + 1)
}

/// What names the next member, comma included, behind the name of a member whose value is no
/// container.
fn past_scalar_member(bytes: &[u8], name: usize) -> Option<&[u8]> {
    let value = bytes.get(name..).and_then(|rest| rest.get(past(rest, b":")?..))?;
    let value = value.trim_ascii_start();
    let length = match value.first()? {
        b'"' => past_string(value)?,
        b'{' | b'[' => return None,
        _ => value.iter().position(|byte| matches!(byte, b',' | b'}' | b' ' | b'\n' | b'\r' | b'\t'))?,
    };
    let next = value.get(length..)?;
    let comma = past(next, b",")?;
    next.get(..comma + past_string(next.get(comma..)?)?)
}

/// The bytes of a view from an offset on, which is not before it. Behind its end there are none.
fn rest(view: View<'_>, from: u64) -> &[u8] {
    let bytes = view.bytes();
    let skipped = (from - view.base()).min(bytes.len() as u64);
    &bytes[skipped as usize..]
}

impl<'a> Cursor<'a> {
    /// What is open at the current place, where that is behind an element of an array, nothing is
    /// held, and the input is in memory or mapped; elsewhere nothing.
    pub fn between(&self) -> Option<Between> {
        let behind_element = self.expect == Expect::Next && !self.stack.in_object();
        let alone = self.holds.is_empty() && self.framing.delimiter().is_none() && !self.is_stream();
        (behind_element && alone).then(|| Between {
            stack: self.stack.clone(),
            record: self.record,
            record_start: self.record_start,
            told: self.source.told(),
        })
    }

    /// A cursor that stands behind an element, where `view` begins: of the array in which
    /// [`between`](Self::between) was asked for. Whether there is one the caller must know, or find
    /// out: a cursor that comes from an element before it stands at that place, too. Lines and
    /// columns in its errors count from where the view begins.
    pub fn from_between(view: View<'a>, between: &Between, config: &Config) -> Self {
        let mut cursor = Self::from_view(view, Framing::Single, config);
        cursor.stack = between.stack.clone();
        cursor.record = between.record;
        cursor.record_start = between.record_start;
        cursor.expect = Expect::Next;
        cursor
    }

    /// Takes in that others have counted the characters from here to an offset:
    /// [`chars`](Self::chars) then need not.
    pub fn pass_chars(&mut self, offset: u64, chars: u64) {
        let here = self.offset();
        self.source.pass_chars(here, offset, chars);
    }

    /// Goes on behind a later element of the array, at this absolute offset. What lies between is
    /// not looked at; the monitor is for what follows.
    pub fn go_on_behind(&mut self, offset: u64, monitor: Monitor<'a>) {
        self.at = (offset - self.source.base()) as usize;
        (self.start, self.end) = (self.at, self.at);
        self.token = Token::None;
        self.expect = Expect::Next;
        self.ahead.forget();
        self.source.go_on_at(self.at);
        self.source.set_monitor(monitor);
    }
}
