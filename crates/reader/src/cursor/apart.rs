//! Reads the elements of one array with several cursors.

use memchr::memchr2;
use memchr::memmem::Finder;
use trommel_scan::{Stack, is_space};

use super::{Cursor, Expect, Token};
use crate::config::Config;
use crate::framing::Framing;
use crate::input::View;
use crate::source::Monitor;

/// The open containers between two elements of an array. A cursor can start from it after any
/// element.
#[derive(Clone, Debug)]
pub struct Between {
    stack: Stack,
    record: Option<u64>,
    record_start: u64,
    monitored: u64,
}

impl Between {
    /// The offset up to which the cursor's [monitor](Cursor::monitored) has been called.
    pub fn monitored(&self) -> u64 {
        self.monitored
    }
}

/// Finds elements of an array by their common start: the bytes from the end of an element to the
/// name of the next one's first member, and the name of its second member if the first value is a
/// scalar.
///
/// Most arrays of objects are written by programs, so their elements start alike. Inside a string,
/// the quotes would be escaped, so the same bytes can only occur in another array.
#[derive(Clone, Debug)]
pub struct ElementFinder<'a> {
    view: View<'a>,
    first: Finder<'a>,
    second: Option<&'a [u8]>,
}

/// Bytes in which the start of an element must be recognized.
const MAX_START: usize = 512;

impl<'a> ElementFinder<'a> {
    /// Learns the start of the element after an element that ends at offset `after`, if it is an
    /// object with a member.
    pub fn new(view: View<'a>, after: u64) -> Option<Self> {
        let rest = rest(view, after);
        let rest = rest.get(..MAX_START).unwrap_or(rest);
        let end = skip_bytes(rest, b",{").and_then(|at| Some(at + skip_string(rest.get(at..)?)?))?;
        let second = skip_scalar_member(rest, end);
        Some(Self { view, first: Finder::new(rest.get(..end)?), second })
    }

    /// Returns the first offset in `within` bytes from `from` at which an element seems to end. It
    /// may belong to another array.
    pub fn guess(&self, from: u64, within: u64) -> Option<u64> {
        let rest = rest(self.view, from);
        let mut found = self.first.find_iter(rest.get(..within as usize).unwrap_or(rest));
        let length = self.first.needle().len();
        let fits = |at: &usize| {
            // Without this bound, a candidate with a long value could cost a search through the
            // rest of the input.
            let window = &rest[*at..];
            let window = window.get(..MAX_START).unwrap_or(window);
            // Objects of other arrays may start with the same name, such as `id`. The second name
            // rules out most of them.
            self.second.is_none() || skip_scalar_member(window, length) == self.second
        };
        found.find(fits).map(|at| from + at as u64)
    }
}

/// The index after these bytes, which white space may separate.
fn skip_bytes(bytes: &[u8], expected: &[u8]) -> Option<usize> {
    let mut at = 0;
    for byte in expected {
        at += bytes.get(at..)?.iter().position(|&other| !is_space(other))?;
        if bytes.get(at) != Some(byte) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// The index after a string without escapes, which white space may precede.
fn skip_string(bytes: &[u8]) -> Option<usize> {
    let start = skip_bytes(bytes, b"\"")?;
    let end = start + memchr2(b'"', b'\\', bytes.get(start..)?)?;
    (bytes.get(end) == Some(&b'"')).then_some(end + 1)
}

/// The bytes from the end of a member to the end of the next member's name. `name` is the end of
/// the first member's name; its value must be a scalar.
fn skip_scalar_member(bytes: &[u8], name: usize) -> Option<&[u8]> {
    let value = bytes.get(name..).and_then(|rest| rest.get(skip_bytes(rest, b":")?..))?;
    let value = value.trim_ascii_start();
    let length = match value.first()? {
        b'"' => skip_string(value)?,
        b'{' | b'[' => return None,
        _ => value.iter().position(|byte| matches!(byte, b',' | b'}' | b' ' | b'\n' | b'\r' | b'\t'))?,
    };
    let next = value.get(length..)?;
    let comma = skip_bytes(next, b",")?;
    next.get(..comma + skip_string(next.get(comma..)?)?)
}

/// The bytes of a view from an offset, which is not before its start; empty after its end.
fn rest(view: View<'_>, from: u64) -> &[u8] {
    let bytes = view.bytes();
    let skipped = (from - view.base()).min(bytes.len() as u64);
    &bytes[skipped as usize..]
}

impl<'a> Cursor<'a> {
    /// The open containers at the current position, if it is after an element of an array, nothing
    /// is held, and the input is in memory or mapped.
    pub fn between(&self) -> Option<Between> {
        let after_element = self.expect == Expect::Next && !self.stack.in_object();
        // The other cursors know no holds, read with the framing `Single`, and need random access.
        let alone = self.holds.is_empty() && self.framing.delimiter().is_none() && !self.is_stream();
        (after_element && alone).then(|| Between {
            stack: self.stack.clone(),
            record: self.record,
            record_start: self.record_start,
            monitored: self.source.monitored_until(),
        })
    }

    /// Creates a cursor after an element of the array of [`between`](Self::between), at the start
    /// of `view`. The caller must know that an element ends there, or check it: a cursor over the
    /// elements before it must arrive at the same offset. Lines and columns in errors count from
    /// the start of the view.
    pub fn from_between(view: View<'a>, between: &Between, config: &Config) -> Self {
        let mut cursor = Self::from_view(view, Framing::Single, config);
        (cursor.stack, cursor.expect) = (between.stack.clone(), Expect::Next);
        (cursor.record, cursor.record_start) = (between.record, between.record_start);
        cursor
    }

    /// Reports that other cursors have counted the characters up to an offset, so that
    /// [`chars`](Self::chars) need not.
    pub fn add_chars(&mut self, offset: u64, chars: u64) {
        let here = self.offset();
        self.source.add_chars(here, offset, chars);
    }

    /// Continues after a later element of the array, at this absolute offset, without reading the
    /// bytes before it. `monitor` replaces the monitor.
    pub fn resume_after(&mut self, offset: u64, monitor: Monitor<'a>) {
        self.at = (offset - self.source.base()) as usize;
        (self.start, self.end) = (self.at, self.at);
        (self.token, self.expect) = (Token::None, Expect::Next);
        self.ahead.forget();
        self.source.resume_at(self.at);
        self.source.set_monitor(monitor);
    }
}
