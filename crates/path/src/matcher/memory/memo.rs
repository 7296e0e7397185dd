//! Caches the outcomes of filters inside filters.
//!
//! `$..[?@..[?@..[?@.x]]]` evaluates the inner filters of a node again for each ancestor that the
//! outer filters test. Without a cache, the time would grow with the depth to the power of the
//! nesting. An outcome depends only on the filter, the candidate, and the record, so it can be
//! cached.

/// The number of slots: more than the number of containers that can be open by default. A power of
/// two.
const SLOTS: usize = 1 << 14;

/// A direct-mapped cache. Of two outcomes for one slot, the later is kept.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    answers: Vec<Answer>,
    /// The number of the record to which the outcomes belong.
    record: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Answer {
    /// The address of the filter. Plans do not move while they are used.
    filter: usize,
    candidate: u64,
    record: u64,
    passes: bool,
}

impl Memo {
    /// Invalidates all outcomes.
    pub(crate) const fn forget(&mut self) {
        // Entries carry their record, so that a new record does not have to clear the table.
        self.record += 1;
    }

    /// Returns the outcome of the filter for the candidate at this offset, if it is cached.
    pub(crate) fn get<T>(&self, filter: &T, candidate: u64) -> Option<bool> {
        let filter = std::ptr::from_ref(filter).addr();
        let answer = self.answers.get(slot(filter, candidate))?;
        let is_it = answer.filter == filter && answer.candidate == candidate && answer.record == self.record;
        is_it.then_some(answer.passes)
    }

    pub(crate) fn insert<T>(&mut self, filter: &T, candidate: u64, passes: bool) {
        if self.answers.is_empty() {
            // Records are numbered from 1, so the default entries belong to none.
            self.record = self.record.max(1);
            self.answers.resize(SLOTS, Answer::default());
        }
        let filter = std::ptr::from_ref(filter).addr();
        if let Some(answer) = self.answers.get_mut(slot(filter, candidate)) {
            *answer = Answer { filter, candidate, record: self.record, passes };
        }
    }
}

/// Maps a filter and a candidate to a slot. The hash spreads candidates at any regular distance.
fn slot(filter: usize, candidate: u64) -> usize {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = candidate.wrapping_mul(ODD) ^ (filter as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let spread = (mixed ^ mixed >> 32).wrapping_mul(ODD);
    (spread >> (64 - SLOTS.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_only_inserted_outcomes_of_the_record() {
        let mut memo = Memo::default();
        let filters = [1_u8, 2];
        assert_eq!(memo.get(&filters[0], 0), None);
        memo.insert(&filters[0], 0, true);
        memo.insert(&filters[1], 7, false);
        assert_eq!(memo.get(&filters[0], 0), Some(true));
        assert_eq!(memo.get(&filters[1], 7), Some(false));
        assert_eq!([memo.get(&filters[1], 0), memo.get(&filters[0], 7)], [None; 2]);
        memo.forget();
        assert_eq!([memo.get(&filters[0], 0), memo.get(&filters[1], 7)], [None; 2]);
    }

    #[test]
    fn spreads_candidates_at_any_distance() {
        for distance in [1, 2, 4, 5, 8, 64, 1000, 4096] {
            let mut memo = Memo::default();
            (0..5_000).for_each(|at| memo.insert(&(), at * distance, true));
            let kept = (0..5_000).filter(|at| memo.get(&(), at * distance).is_some()).count();
            assert!(kept > 3_500, "{kept} of 5000 kept at a distance of {distance}");
        }
    }
}
