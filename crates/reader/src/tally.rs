//! The composition of a value, in numbers.

use trommel_scan::Tallier;

use crate::event::{Event, Kind};

/// Counts of the values in a value, including itself, by type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Objects.
    pub objects: u64,
    /// Arrays.
    pub arrays: u64,
    /// Strings that are values.
    pub strings: u64,
    /// Numbers.
    pub numbers: u64,
    /// `true` and `false`.
    pub bools: u64,
    /// `null`.
    pub nulls: u64,
    /// Members, including repeated names.
    pub names: u64,
    /// The number of values on the longest path to a leaf, including both ends.
    pub depth: u64,
}

impl Tally {
    /// Adds an event inside `above` containers of the value.
    pub(crate) fn observe(&mut self, event: Event, above: u32) {
        match event {
            Event::Begin(kind) | Event::Scalar(kind) => {
                *self.of_kind(kind) += 1;
                self.depth = self.depth.max(u64::from(above) + 1);
            }
            Event::Name => self.names += 1,
            Event::End(_) => {}
        }
    }

    fn of_kind(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::Object => &mut self.objects,
            Kind::Array => &mut self.arrays,
            Kind::String => &mut self.strings,
            Kind::Number => &mut self.numbers,
            Kind::Bool => &mut self.bools,
            Kind::Null => &mut self.nulls,
        }
    }

    /// The counts of masks. They are undefined for malformed JSON.
    pub(crate) fn of(counted: &Tallier) -> Self {
        let counts = counted.counts;
        // Each boolean has one `e`; any other `e` continues a number, whose digits are two runs
        // then.
        let exponents = counts.exponents.saturating_sub(counts.bools);
        Self {
            objects: counts.objects,
            arrays: counts.arrays,
            strings: counts.strings.saturating_sub(counts.colons),
            numbers: counts.runs.saturating_sub(exponents),
            bools: counts.bools,
            nulls: counts.nulls,
            names: counts.colons,
            depth: counted.deepest + u64::from(counted.filled),
        }
    }
}
