//! Checks which tokens may follow each other.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use super::single::Masks;
use crate::blocks::add;

/// The expected token at the first byte that is not white space: at most one bit is set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Expected {
    /// A name or the end of the object.
    name_or_end: u64,
    /// A value or the end of the array.
    value_or_end: u64,
    name: u64,
    value: u64,
    colon: u64,
    /// A comma or the end of the container.
    comma_or_end: u64,
    /// 1 while inside a name.
    in_name: u64,
}

/// What the bytes before a position allow at the first byte that is not white space: 1 each, or 0.
#[derive(Clone, Copy)]
pub(super) struct Planes {
    /// After an opening bracket.
    pub(super) opened: u64,
    /// After a comma or colon.
    pub(super) separated: u64,
    /// Any value may follow, not only a name.
    pub(super) valued: u64,
    /// After a name.
    pub(super) named: u64,
    /// After a value.
    pub(super) ended: u64,
    /// Inside a name.
    pub(super) in_name: u64,
}

/// The scalars of a block that are not strings.
#[derive(Clone, Copy)]
pub(super) struct Runs {
    /// Their bytes, and the byte after one that started in an earlier block.
    pub(super) any: u64,
    pub(super) bytes: u64,
    /// Their first bytes.
    pub(super) starts: u64,
    /// The bytes right after them.
    pub(super) after: u64,
}

/// The result of checking a block.
#[derive(Clone, Copy)]
pub(super) struct Checked {
    /// Bytes at which another token is expected.
    pub(super) bad: u64,
    /// The opening quotes of names.
    pub(super) names: u64,
}

impl Expected {
    /// The expectation after an opening bracket (`first`), or after a value.
    pub(super) fn at(first: bool, in_object: bool) -> Self {
        Self {
            name_or_end: u64::from(first && in_object),
            value_or_end: u64::from(first && !in_object),
            comma_or_end: u64::from(!first),
            ..Self::default()
        }
    }

    #[inline(always)]
    pub(super) fn planes(&self) -> Planes {
        Planes {
            opened: self.name_or_end | self.value_or_end,
            separated: self.name | self.value,
            valued: self.value | self.value_or_end,
            named: self.colon,
            ended: self.comma_or_end,
            in_name: self.in_name,
        }
    }

    #[inline(always)]
    pub(super) fn after(planes: Planes) -> Self {
        let Planes { opened, separated, valued, named, ended, in_name } = planes;
        Self {
            name_or_end: opened & !valued,
            value_or_end: opened & valued,
            name: separated & !valued,
            value: separated & valued,
            colon: named,
            comma_or_end: ended,
            in_name,
        }
    }

    /// Checks the tokens of a block against the expectations.
    #[inline(always)]
    pub(super) fn check(&mut self, masks: &Masks, in_object: u64, scalars: Runs) -> Checked {
        // Most documents have no white space: then the next byte is the next token.
        if masks.blank == 0 {
            self.check_all::<false>(masks, in_object, scalars)
        } else {
            self.check_all::<true>(masks, in_object, scalars)
        }
    }

    #[inline(always)]
    fn check_all<const BLANKS: bool>(&mut self, masks: &Masks, in_object: u64, scalars: Runs) -> Checked {
        let Masks { blank, open, close, curly, comma, colon, inside, .. } = *masks;
        let openings = masks.openings();
        let values = openings | open | scalars.starts;
        let mut bad = 0;
        let mut names = 0;
        if open | self.name_or_end | self.value_or_end != 0 {
            let first_names = next::<BLANKS>(open & curly, blank, &mut self.name_or_end);
            names = first_names & openings;
            bad |= first_names & !(openings | close);
            bad |= next::<BLANKS>(open & !curly, blank, &mut self.value_or_end) & !(values | close);
        }
        let later_names = next::<BLANKS>(comma & in_object, blank, &mut self.name);
        bad |= later_names & !openings;
        names |= later_names & openings;
        bad |= next::<BLANKS>(colon | comma & !in_object, blank, &mut self.value) & !values;
        // Adding an opening quote to the bits inside strings carries up to its closing quote.
        let (sum, over) = add(inside, names, self.in_name);
        self.in_name = u64::from(over);
        let names_end = sum & masks.closings();
        bad |= next::<BLANKS>(names_end, blank, &mut self.colon) & !colon;
        let after = (masks.closings() & !names_end) | close;
        bad |= next_of::<BLANKS>(after << 1 | scalars.after, after >> 63, blank, &mut self.comma_or_end)
            & !(comma | close);
        Checked { bad, names }
    }
}

/// The first bytes after `bytes` that are not blank. Carries over to the next block if one is still
/// to be found there.
#[inline(always)]
fn next<const BLANKS: bool>(bytes: u64, blank: u64, carry: &mut u64) -> u64 {
    next_of::<BLANKS>(bytes << 1, bytes >> 63, blank, carry)
}

#[inline(always)]
fn next_of<const BLANKS: bool>(after: u64, last: u64, blank: u64, carry: &mut u64) -> u64 {
    let after = after | *carry;
    if !BLANKS {
        *carry = last;
        return after;
    }
    // The addition carries each bit through the blanks to the first byte after them.
    let (sum, over) = blank.overflowing_add(after);
    *carry = last | u64::from(over);
    sum & !blank
}
