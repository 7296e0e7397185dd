//! What filters inside of filters have said.
//!
//! `$..[?@..[?@..[?@.x]]]` asks the inner filters of one node again for each node around it that
//! the outer ones are asked of: without a memory the time would grow with the depth to the power of
//! the nesting. An answer depends on the filter, the candidate and the record alone, so that it can
//! be kept.

/// Answers kept: as many as containers can be open by default, and then some. A power of two.
const KEPT: usize = 1 << 14;

/// A table of answers; of two that belong in one place the later stays.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    answers: Vec<Answer>,
    /// Number of the record the answers are for.
    record: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Answer {
    /// Which filter, by where it lies in memory: plans do not move while they are used.
    filter: usize,
    candidate: u64,
    record: u64,
    passes: bool,
}

impl Memo {
    /// Forgets everything.
    pub(crate) const fn forget(&mut self) {
        self.record += 1;
    }

    /// What the filter said of the candidate that begins at this offset.
    pub(crate) fn recall<T>(&self, filter: &T, candidate: u64) -> Option<bool> {
        let filter = std::ptr::from_ref(filter).addr();
        let answer = self.answers.get(place(filter, candidate))?;
        let is_it = answer.filter == filter && answer.candidate == candidate && answer.record == self.record;
        is_it.then_some(answer.passes)
    }

    pub(crate) fn note<T>(&mut self, filter: &T, candidate: u64, passes: bool) {
        if self.answers.is_empty() {
            // The first record has number 1, so that what is here is of none.
            self.record = self.record.max(1);
            self.answers.resize(KEPT, Answer::default());
        }
        let filter = std::ptr::from_ref(filter).addr();
        if let Some(answer) = self.answers.get_mut(place(filter, candidate)) {
            *answer = Answer { filter, candidate, record: self.record, passes };
        }
    }
}

/// Spreads candidates over the table, whatever the distance between them.
fn place(filter: usize, candidate: u64) -> usize {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    let mixed = candidate.wrapping_mul(ODD) ^ (filter as u64).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let spread = (mixed ^ mixed >> 32).wrapping_mul(ODD);
    (spread >> (64 - KEPT.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recalls_what_was_noted_and_no_more() {
        let mut memo = Memo::default();
        let filters = [1_u8, 2];
        assert_eq!(memo.recall(&filters[0], 0), None);
        memo.note(&filters[0], 0, true);
        memo.note(&filters[1], 7, false);
        assert_eq!(memo.recall(&filters[0], 0), Some(true));
        assert_eq!(memo.recall(&filters[1], 7), Some(false));
        assert_eq!([memo.recall(&filters[1], 0), memo.recall(&filters[0], 7)], [None; 2]);
        memo.forget();
        assert_eq!([memo.recall(&filters[0], 0), memo.recall(&filters[1], 7)], [None; 2]);
    }

    #[test]
    fn candidates_at_any_distance_find_room() {
        for distance in [1, 2, 4, 5, 8, 64, 1000, 4096] {
            let mut memo = Memo::default();
            (0..5_000).for_each(|at| memo.note(&(), at * distance, true));
            let kept = (0..5_000).filter(|at| memo.recall(&(), at * distance).is_some()).count();
            assert!(kept > 3_500, "{kept} of 5000 at a distance of {distance}");
        }
    }
}
