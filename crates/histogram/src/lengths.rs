//! Lengths of strings.

/// Lengths of strings in Unicode scalar values, after decoding escapes. Exact, also for strings too
/// long to buffer; 48 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TextLengths {
    count: u64,
    min: u64,
    max: u64,
    total: u64,
}

impl TextLengths {
    /// Adds the length of a string, in Unicode scalar values.
    #[inline]
    pub fn observe(&mut self, length: u64) {
        self.merge(Self { count: 1, min: length, max: length, total: length });
    }

    /// Adds the lengths of strings, faster than one by one.
    pub fn observe_all(&mut self, lengths: &[u64]) {
        let ends = lengths.iter().min().zip(lengths.iter().max());
        if let Some((&min, &max)) = ends {
            let total = lengths.iter().fold(0, |total: u64, &length| total.saturating_add(length));
            self.merge(Self { count: lengths.len() as u64, min, max, total });
        }
    }

    /// Adds the lengths of another part.
    #[inline]
    pub fn merge(&mut self, other: Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.total = self.total.saturating_add(other.total);
        self.count = self.count.saturating_add(other.count);
    }

    /// Returns the figures about the lengths.
    pub fn summary(&self) -> TextLengthsSummary {
        let mean = (self.count > 0).then(|| self.total as f64 / self.count as f64);
        TextLengthsSummary {
            count: self.count,
            min_length: self.min,
            max_length: self.max,
            total_length: self.total,
            mean_length: mean,
        }
    }
}

/// Lengths of strings, in Unicode scalar values.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TextLengthsSummary {
    /// The number of strings.
    pub count: u64,
    /// The shortest length; 0 without strings.
    pub min_length: u64,
    /// The longest length; 0 without strings.
    pub max_length: u64,
    /// The sum of all lengths.
    pub total_length: u64,
    /// The mean length; `None` without strings.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub mean_length: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_lengths_have_the_figures_of_each() {
        for lengths in [&[][..], &[7], &[3, 0, u64::MAX, 9], &[u64::MAX, 1]] {
            let (mut each, mut at_once) = (TextLengths::default(), TextLengths::default());
            for part in [lengths, lengths] {
                for &length in part {
                    each.observe(length);
                }
                at_once.observe_all(part);
            }
            assert_eq!(at_once, each, "{lengths:?}");
        }
    }
}
