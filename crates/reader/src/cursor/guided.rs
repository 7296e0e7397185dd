//! Passes bytes that a [`Guide`] knows.
//!
//! A cursor asks where it would otherwise request more bytes: at the end of the window. So short
//! containers cost nothing, and a long one is read up to the end of one window.

use std::cmp::Ordering;

use trommel_scan::is_space;

use super::{Cursor, Expect, Token, kind_of};
use crate::config::Validation;
use crate::error::Result;
use crate::event::Kind;
use crate::guide::{ContainerEnd, Guide, NameOrder, NameRange, Waypoint};

/// The longest name with which another one is compared, in bytes.
const MAX_NAME: usize = 1 << 10;

/// Bytes before a waypoint among which the comma or bracket before it is searched.
const MAX_SPACE: usize = 64;

impl<'a> Cursor<'a> {
    /// Passes bytes of long containers without reading them, by what an earlier pass over the same
    /// input has found. The results are the same, for an input within the same limits.
    ///
    /// What the guide describes was validated strictly, so skipped bytes are not validated again.
    /// On a stream, needs an input that can be read from any offset, and otherwise only skips by
    /// masks.
    #[must_use]
    pub fn guided_by(mut self, guide: Option<&'a dyn Guide>) -> Self {
        if let Some(guide) = guide.filter(|guide| guide.is_within(&self.limits)) {
            self.guide = Some(guide);
            self.source.show_little();
        }
        self
    }

    /// Reads every byte from here on.
    pub(super) fn drop_guide(&mut self) {
        self.guide = None;
        self.source.show_much();
    }

    /// True if a guide passes bytes.
    pub fn is_guided(&self) -> bool {
        self.guide.is_some()
    }

    /// True if skipped bytes are passed by masks: under structural validation, and if a guide shows
    /// that they are valid.
    pub fn skips_by_masks(&self) -> bool {
        self.validation == Validation::Structural || self.guide.is_some()
    }

    /// Leaves the container at a depth that the cursor is in, or enters, if its end is known.
    /// `kind` is its kind, if that is known. Returns false if nothing was passed.
    pub(super) fn pass_container(&mut self, depth: u32, kind: Option<Kind>) -> Result<bool> {
        let Some(guide) = self.askable() else { return Ok(false) };
        let end = guide.end(self.offset(), depth).filter(|end| end.offset > self.offset());
        let is = |bracket: Kind| kind.is_none_or(|kind| kind == bracket);
        let closes = |byte| byte == b'}' && is(Kind::Object) || byte == b']' && is(Kind::Array);
        let Some(end) = end else { return Ok(self.pause_guide()) };
        // No container ends after a comma or a colon.
        let follows = |before| !matches!(before, b',' | b':');
        if !self.move_to(end.offset - 1, closes, follows)? {
            return Ok(false);
        }
        // Shows the bracket.
        self.want(1)?;
        self.at += 1;
        Ok(true)
    }

    /// In a container, between children or before an element that was not read: passes children
    /// without reading them, at most `count`. `index` children were passed before, that element
    /// included. Returns the number of children passed, and is before a child then.
    pub fn pass_children(&mut self, index: u64, count: u64) -> Result<u64> {
        let depth = self.stack.depth();
        let is_between = matches!(self.expect, Expect::First | Expect::Next)
            || self.expect == Expect::Value && !self.stack.in_object();
        let can = is_between && depth > 0 && count > 0;
        let guide = if can { self.askable() } else { None };
        let Some(guide) = guide else { return Ok(0) };
        let waypoint = guide.waypoint(self.offset(), depth, index.saturating_add(count));
        let is_later = |waypoint: &Waypoint| waypoint.offset > self.offset() && waypoint.index > index;
        let Some(waypoint) = waypoint.filter(is_later) else { return Ok(self.pause_guide().into()) };
        Ok(if self.move_between(depth, waypoint)? { waypoint.index - index } else { 0 })
    }

    /// The number of elements of the innermost array, which was just entered, if it is known.
    pub fn known_elements(&self) -> Option<u64> {
        let is_first = self.expect == Expect::First && !self.stack.in_object();
        let guide = if is_first { self.guide? } else { return None };
        guide.end(self.offset(), self.stack.depth()).map(|ContainerEnd { children, .. }| children)
    }

    /// Passes bytes in which none of the names occurs, at most up to a waypoint in the container at
    /// depth `floor` or in a deeper one that is open. Returns false if nothing was passed.
    pub(super) fn pass_to_names(&mut self, floor: u32, names: &[&str]) -> Result<bool> {
        let Some(guide) = self.askable() else { return Ok(false) };
        let (at, deepest) = (self.offset(), self.stack.depth());
        if let Some(end) = guide.names_until(at, names).filter(|end| *end > at) {
            // Asks again right after these bytes, not later.
            self.guide_from = end;
            self.source.show_until(end);
            return Ok(false);
        }
        match guide.before_names(at, floor, deepest, names) {
            Some((depth, waypoint)) => self.move_between(depth, waypoint),
            None => Ok(self.pause_guide()),
        }
    }

    /// In an object at a depth whose names ascend, passes members whose names come before `name`.
    /// Returns false if nothing was passed, and `None` if no order is known.
    pub(super) fn pass_in_order(&mut self, depth: u32, name: &str) -> Result<Option<bool>> {
        let Some(guide) = self.askable() else { return Ok(None) };
        let (start, at) = (self.absolute(self.start.min(self.at)), self.offset());
        let (mut failure, mut has_compared) = (None, false);
        let range = guide.name_range(at, depth, &mut |order, offset| {
            has_compared = true;
            let compared = self.compare_name(order, offset, name.as_bytes());
            compared.unwrap_or_else(|error| {
                failure = Some(error);
                None
            })
        });
        if let Some(error) = failure {
            return Err(error);
        }
        // A stream has moved, and may have shown the rest of the record, even if it is back here.
        if self.is_stream() && has_compared {
            self.restart_at(start, (at - start) as usize)?;
            self.at = (at - start) as usize;
        }
        match range {
            None => Ok(None),
            Some(NameRange::From(waypoint)) => Ok(Some(self.move_between(depth, waypoint)?)),
            Some(NameRange::Before(end)) => {
                self.guide_from = end;
                self.source.show_until(end);
                Ok(Some(false))
            }
        }
    }

    /// Compares the name at an offset with another. Returns `None` unless a short name without
    /// escapes begins there. Moves a stream.
    fn compare_name(&mut self, order: NameOrder, offset: u64, name: &[u8]) -> Result<Option<Ordering>> {
        let bytes = if let Some(view) = self.source.view() {
            // An input that begins within a document does not show the bytes before it.
            offset.checked_sub(self.source.base()).and_then(|at| view.bytes().get(at as usize..))
        } else {
            self.restart_at(offset, 0)?;
            self.want(MAX_NAME)?;
            Some(self.source.window())
        };
        let Some([b'"', bytes @ ..]) = bytes else { return Ok(None) };
        let bytes = bytes.get(..MAX_NAME).unwrap_or(bytes);
        let end = memchr::memchr2(b'"', b'\\', bytes).filter(|&end| bytes[end] == b'"');
        Ok(end.map(|end| order.compare(&bytes[..end], name)))
    }

    /// Continues after a later element of the innermost array, which ends at this offset. Returns
    /// false if a stream cannot move there, or if no element ends there.
    pub fn continue_after(&mut self, offset: u64) -> Result<bool> {
        let follows = |byte| is_space(byte) || matches!(byte, b',' | b']');
        let moved = self.can_move() && self.move_to(offset, follows, |_| true)?;
        if moved {
            self.expect = Expect::Next;
        }
        Ok(moved)
    }

    /// True if a guide may know what follows.
    #[inline]
    pub fn may_pass(&self) -> bool {
        self.guide.is_some() && self.offset() >= self.guide_from
    }

    /// The guide, if it can be asked here.
    fn askable(&self) -> Option<&'a dyn Guide> {
        if self.can_move() && self.may_pass() { self.guide } else { None }
    }

    /// True if bytes can be passed without reading them. On a stream, held ones stay in the window.
    fn can_move(&self) -> bool {
        !self.is_stream() || self.holds.is_empty() && self.source.can_restart()
    }

    /// Asks no more for a while, which grows with each vain question. Returns false.
    pub fn pause_guide(&mut self) -> bool {
        self.guide_from = self.offset() + self.source.step() as u64 / 2;
        self.source.show_more_at_once();
        false
    }

    /// Moves to a waypoint in an open container.
    fn move_between(&mut self, depth: u32, waypoint: Waypoint) -> Result<bool> {
        let Some(kind) = self.kind_at(depth) else { return Ok(false) };
        let is_child = |byte| if kind == Kind::Object { byte == b'"' } else { kind_of(byte).is_some() };
        let follows = |before| matches!(before, b',' | b'{' | b'[');
        if !self.move_to(waypoint.offset, is_child, follows)? {
            return Ok(false);
        }
        self.stack.set_depth(depth);
        self.expect = Expect::First;
        Ok(true)
    }

    /// Moves to an offset whose byte must fit, and the last byte before it that is not white space.
    /// If they do not, stays and drops the guide, which is not one of this input.
    fn move_to(
        &mut self,
        offset: u64,
        fits: impl Fn(u8) -> bool,
        follows: impl Fn(u8) -> bool,
    ) -> Result<bool> {
        let is_place = |bytes: &[u8], index: usize| {
            let near = &bytes[index.saturating_sub(MAX_SPACE)..index];
            let before = near.iter().rev().copied().find(|byte| !is_space(*byte));
            bytes.get(index).copied().is_some_and(&fits) && before.is_none_or(&follows)
        };
        let moved = match self.source.view() {
            Some(view) => {
                let index = (offset - self.source.base()) as usize;
                let is_place = index < view.bytes().len() && is_place(view.bytes(), index);
                if is_place {
                    self.source.pass_to(self.at, index);
                    (self.start, self.end, self.at) = (index, index, index);
                }
                is_place
            }
            None => self.restart_if(offset, is_place)?,
        };
        self.ahead.forget();
        self.token = Token::None;
        if !moved {
            self.drop_guide();
        }
        Ok(moved)
    }

    /// Moves to an offset of a stream, if the bytes around it are those of a waypoint.
    fn restart_if(&mut self, offset: u64, is_place: impl Fn(&[u8], usize) -> bool) -> Result<bool> {
        let (start, at) = (self.absolute(self.start.min(self.at)), self.offset());
        let index = offset.min(MAX_SPACE as u64) as usize;
        self.restart_at(offset - index as u64, index)?;
        if self.want(index + 1)? && is_place(self.source.window(), index) {
            (self.start, self.end, self.at) = (index, index, index);
            return Ok(true);
        }
        self.restart_at(start, (at - start) as usize)?;
        self.at = (at - start) as usize;
        Ok(false)
    }

    fn restart_at(&mut self, offset: u64, count: usize) -> Result<()> {
        let restarted = self.source.restart(offset, count);
        (self.start, self.end, self.at) = (0, 0, 0);
        restarted.map(|_| ()).map_err(|error| self.failed(error))
    }
}
