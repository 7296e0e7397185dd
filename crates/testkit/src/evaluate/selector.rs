//! Selectors (RFC 9535, section 2.3).

use super::{Duplicates, Evaluation};
use crate::naive::{Data, ValueId};
use trommel_query::{Selector, Slice};

impl Evaluation<'_> {
    pub(super) fn child_segment(self, node: ValueId, selectors: &[Selector], selected: &mut Vec<ValueId>) {
        for selector in selectors {
            selected.extend(self.children_selected(node, selector));
        }
    }

    fn children_selected(self, node: ValueId, selector: &Selector) -> Vec<ValueId> {
        let children = self.document.children(node);
        match selector {
            Selector::Name(name) => self.named(node, name),
            Selector::Wildcard => children,
            Selector::Index(index) => {
                self.elements(node, |count| element(*index, count).into_iter().collect())
            }
            Selector::Slice(slice) => self.elements(node, |count| slice_indices(*slice, count)),
            Selector::Filter(filter) => {
                children.into_iter().filter(|&candidate| self.holds(filter, candidate)).collect()
            }
        }
    }

    fn named(self, node: ValueId, name: &str) -> Vec<ValueId> {
        let mut members = self.document.members(node).iter().filter(|member| member.name == name);
        let members: Vec<_> = match self.duplicates {
            Duplicates::First => members.next().into_iter().collect(),
            Duplicates::Last => members.next_back().into_iter().collect(),
            Duplicates::All => members.collect(),
        };
        members.into_iter().map(|member| member.value).collect()
    }

    /// Returns the elements at the indices that `choose` computes from their number; empty if the
    /// value is not an array.
    fn elements(self, node: ValueId, choose: impl FnOnce(usize) -> Vec<usize>) -> Vec<ValueId> {
        match &self.document[node].data {
            Data::Array(items) => choose(items.len()).into_iter().map(|index| items[index]).collect(),
            _ => Vec::new(),
        }
    }
}

fn element(index: i64, count: usize) -> Option<usize> {
    let index = if index < 0 { i128::from(index) + count as i128 } else { i128::from(index) };
    usize::try_from(index).ok().filter(|&index| index < count)
}

/// The algorithm of section 2.3.4.2.2.
fn slice_indices(slice: Slice, count: usize) -> Vec<usize> {
    let count = count as i128;
    let step = i128::from(slice.step);
    if step == 0 {
        return Vec::new();
    }
    let normalize = |index: i64| if index >= 0 { i128::from(index) } else { count + i128::from(index) };
    let mut indices = Vec::new();
    if step > 0 {
        let lower = slice.start.map_or(0, normalize).clamp(0, count);
        let upper = slice.end.map_or(count, normalize).clamp(0, count);
        let mut index = lower;
        while index < upper {
            indices.push(index as usize);
            index += step;
        }
    } else {
        let upper = slice.start.map_or(count - 1, normalize).clamp(-1, count - 1);
        let lower = slice.end.map_or(-1, normalize).clamp(-1, count - 1);
        let mut index = upper;
        while lower < index {
            indices.push(index as usize);
            index += step;
        }
    }
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_like_the_rfc() {
        let indices = |start, end, step| slice_indices(Slice { start, end, step }, 7);
        assert_eq!(indices(Some(1), Some(3), 1), [1, 2]);
        assert_eq!(indices(Some(5), None, 1), [5, 6]);
        assert_eq!(indices(Some(1), Some(5), 2), [1, 3]);
        assert_eq!(indices(Some(5), Some(1), -2), [5, 3]);
        assert_eq!(indices(None, None, -1), [6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(indices(Some(-100), Some(100), 3), [0, 3, 6]);
        assert_eq!(indices(None, None, 0), [0_usize; 0]);
        assert_eq!(indices(None, None, i64::MAX), [0]);
        assert_eq!(indices(None, None, i64::MIN), [6]);
        assert_eq!(element(-7, 7), Some(0));
        assert_eq!((element(-8, 7), element(7, 7), element(i64::MIN, 7)), (None, None, None));
    }
}
