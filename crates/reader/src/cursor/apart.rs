//! Reading the elements of one array at several places at once.

use memchr::memchr2;
use memchr::memmem::Finder;

use super::{Cursor, Expect, Token};
use crate::config::Config;
use crate::framing::Framing;
use crate::grammar::is_space;
use crate::input::View;
use crate::source::Monitor;
use crate::span::Span;
use crate::stack::Stack;

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

/// Elements of an array that begin alike: what stands from the end of one to the name of the first member of the next.
///
/// Records are written by programs, so that most arrays of objects are like that. In a string the quotes would be escaped; only
/// in another array can the same bytes be found.
#[derive(Clone, Debug)]
pub struct Alike<'a> {
    view: View<'a>,
    finder: Finder<'a>,
}

/// Bytes in which the beginning of an element must be recognised.
const BEGINNING: usize = 256;

impl<'a> Alike<'a> {
    /// Elements that begin like the one behind an element that ends at this offset, if that is an object with a member.
    pub fn new(view: View<'a>, behind: u64) -> Option<Self> {
        let rest = rest(view, behind);
        let rest = rest.get(..BEGINNING).unwrap_or(rest);
        let mut at = 0;
        for wanted in b",{\"" {
            at += rest.get(at..)?.iter().position(|&byte| !is_space(byte))?;
            if rest.get(at) != Some(wanted) {
                return None;
            }
            at += 1;
        }
        let end = at + memchr2(b'"', b'\\', rest.get(at..)?)?;
        let beginning = rest.get(..=end).filter(|_| rest.get(end) == Some(&b'"'))?;
        Some(Self { view, finder: Finder::new(beginning) })
    }

    /// The first offset from `from` on, within so many bytes, at which it looks as if an element ended. It may be one of
    /// another array.
    pub fn guess(&self, from: u64, within: u64) -> Option<u64> {
        let rest = rest(self.view, from);
        let found = self.finder.find(rest.get(..within as usize).unwrap_or(rest))?;
        Some(from + found as u64)
    }
}

fn rest(view: View<'_>, from: u64) -> &[u8] {
    let end = view.base() + view.bytes().len() as u64;
    view.get(Span::new(from, end.max(from))).unwrap_or_default()
}

impl<'a> Cursor<'a> {
    /// What is open at the current place, where that is behind an element of an array, nothing is held, and the input is in
    /// memory or mapped; elsewhere nothing.
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

    /// A cursor that stands behind an element, where `view` begins: of the array in which [`between`](Self::between) was
    /// asked for. Whether there is one the caller must know, or find out: a cursor that comes from an element before it
    /// stands at that place, too. Lines and columns in its errors count from where the view begins.
    pub fn from_between(view: View<'a>, between: &Between, config: &Config) -> Self {
        let mut cursor = Self::from_view(view, Framing::Single, config);
        cursor.stack = between.stack.clone();
        cursor.record = between.record;
        cursor.record_start = between.record_start;
        cursor.expect = Expect::Next;
        cursor
    }

    /// Goes on behind a later element of the array, at this absolute offset. What lies between is not looked at; the
    /// monitor is for what follows.
    pub fn go_on_behind(&mut self, offset: u64, monitor: Monitor<'a>) {
        self.at = offset.saturating_sub(self.source.base()) as usize;
        (self.start, self.end) = (self.at, self.at);
        self.token = Token::None;
        self.expect = Expect::Next;
        self.source.go_on_at(self.at);
        self.source.set_monitor(monitor);
    }
}
