//! What may follow what.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use super::Masks;
use crate::blocks::add;

/// What is due at the first byte that is no white space: one bit each, and one of them at most.
#[derive(Clone, Copy, Default)]
pub(super) struct Due {
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

/// The scalars in a block that are no strings.
#[derive(Clone, Copy)]
pub(super) struct Runs {
    /// Their bytes, and a byte behind one that began before.
    pub(super) any: u64,
    pub(super) bytes: u64,
    /// Their first bytes.
    pub(super) starts: u64,
    /// The bytes right behind them.
    pub(super) behind: u64,
}

/// What was found of a block.
#[derive(Clone, Copy)]
pub(super) struct Checked {
    /// The bytes that stand where something else is due.
    pub(super) bad: u64,
    /// The opening quotes of names, and the closing ones.
    pub(super) names: u64,
    pub(super) names_end: u64,
}

impl Due {
    /// Behind an opening bracket, or behind a value.
    pub(super) fn at(first: bool, in_object: bool) -> Self {
        Self {
            name_or_end: u64::from(first && in_object),
            value_or_end: u64::from(first && !in_object),
            comma_or_end: u64::from(!first),
            ..Self::default()
        }
    }

    /// Whether what stands in a block is what is due.
    #[inline(always)]
    pub(super) fn check(&mut self, masks: &Masks, in_object: u64, scalars: Runs) -> Checked {
        // Most documents have no white space, and then what follows is what stands behind.
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
        let (sum, over) = add(inside, names, self.in_name);
        self.in_name = u64::from(over);
        let names_end = sum & masks.closings();
        bad |= next::<BLANKS>(names_end, blank, &mut self.colon) & !colon;
        let behind = (masks.closings() & !names_end) | close;
        bad |= next_of::<BLANKS>(behind << 1 | scalars.behind, behind >> 63, blank, &mut self.comma_or_end)
            & !(comma | close);
        Checked { bad, names, names_end }
    }
}

/// The first bytes behind some that are not blank. Whether the last has to be sought in the next
/// block is carried over.
#[inline(always)]
fn next<const BLANKS: bool>(bytes: u64, blank: u64, carry: &mut u64) -> u64 {
    next_of::<BLANKS>(bytes << 1, bytes >> 63, blank, carry)
}

#[inline(always)]
fn next_of<const BLANKS: bool>(behind: u64, last: u64, blank: u64, carry: &mut u64) -> u64 {
    let behind = behind | *carry;
    if !BLANKS {
        *carry = last;
        return behind;
    }
    let (sum, over) = blank.overflowing_add(behind);
    *carry = last | u64::from(over);
    sum & !blank
}
