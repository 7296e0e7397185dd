//! The most frequent values.

use super::count_min::CountMin;
use super::exact::Exact;
use super::fingerprint::occurrence;
use super::identity::Identity;
use crate::Accumulator;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use trommel_reader::{Kind, Number, Scalar};

/// Different values counted exactly unless told otherwise.
const DEFAULT_CAP: usize = 1024;
const MIN_CAP: usize = 16;
/// Longer strings are counted, but their text is not kept.
const LONGEST_KEPT: usize = 256;
/// Values shown.
const SHOWN: usize = 10;
/// What the trees take at least, and what an entry takes besides its text.
const EMPTY_BYTES: usize = 850;
const ENTRY_BYTES: usize = 115;
/// What an occurrence takes in the sample.
const SAMPLED_BYTES: usize = 30;

/// The most frequent scalars, counted exactly while there are few different ones.
///
/// Past the cap every value is counted in a Count-Min sketch, whose counts are never too low, and
/// the candidates come from a uniform sample of *occurrences*: those whose offset has the smallest
/// keyed hash. Which occurrences these are depends on the input alone, not on the order in which
/// parts are merged. A value that makes up at least 2 % is among the (512) candidates with a
/// probability of 99.997 %; values too rare to be told from chance are not shown.
///
/// Strings spelt in more than 4,096 bytes are not looked at; of those longer than 256 bytes only
/// the length is kept. Memory: about 100 bytes and the text for each value up to the cap, then for
/// each candidate, and 32 KiB.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Frequent {
    cap: usize,
    /// Values by fingerprint: all of them, or once there is a sketch those of the sample.
    values: BTreeMap<u64, Entry>,
    /// Hash and fingerprint of the sampled occurrences.
    sample: BTreeSet<(u64, u64)>,
    sketch: Option<CountMin>,
    /// Bytes of the longest text that was to be kept.
    longest: usize,
    /// Bytes of all texts in `values`.
    text_bytes: usize,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Entry {
    /// How often the value occurred; in the sample, once there is a sketch.
    count: u64,
    /// Offset of the first occurrence; 0 once there is a sketch.
    first: u64,
    value: Kept,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Kept {
    Null,
    Bool(bool),
    Number(Box<str>),
    String(Box<str>),
    Long(u64),
}

impl Kept {
    fn of(identity: &Identity<'_>) -> Self {
        match (identity.kind, Self::text_of(identity)) {
            (Kind::Number, Some(text)) => Self::Number(text.into()),
            (_, Some(text)) => Self::String(text.into()),
            (Kind::Bool, None) => Self::Bool(identity.text == "true"),
            (Kind::Null, None) => Self::Null,
            (_, None) => Self::Long(identity.text.len() as u64),
        }
    }

    /// The text to keep of a value, if any.
    fn text_of<'a>(identity: &'a Identity<'_>) -> Option<&'a str> {
        let has_text = matches!(identity.kind, Kind::Number | Kind::String);
        Some(identity.text.as_ref()).filter(|text| has_text && text.len() <= LONGEST_KEPT)
    }

    const fn bytes(&self) -> usize {
        match self {
            Self::Number(text) | Self::String(text) => text.len(),
            _ => 0,
        }
    }

    fn shown(&self) -> Shown {
        match self {
            Self::Null => Shown::Null,
            Self::Bool(value) => Shown::Bool(*value),
            Self::Number(text) => {
                Number::parse(text).map_or(Shown::Null, |number| Shown::Number(Exact::new(number)))
            }
            Self::String(text) => Shown::String(text.clone()),
            Self::Long(bytes) => Shown::Long { bytes: *bytes },
        }
    }
}

impl Default for Frequent {
    fn default() -> Self {
        Self::with_cap(DEFAULT_CAP)
    }
}

impl Frequent {
    /// An empty counter that is exact up to `cap` different values (at least 16). The sample holds
    /// half as many.
    pub fn with_cap(cap: usize) -> Self {
        let (values, sample) = (BTreeMap::new(), BTreeSet::new());
        Self { cap: cap.max(MIN_CAP), values, sample, sketch: None, longest: 0, text_bytes: 0 }
    }

    /// Adds the value at an offset of the input. The offset tells occurrences apart.
    pub fn observe(&mut self, scalar: &Scalar<'_>, at: u64) {
        if let Some(identity) = Identity::of(scalar) {
            self.observe_identity(&identity, at);
        }
    }

    pub(crate) fn observe_identity(&mut self, identity: &Identity<'_>, at: u64) {
        let fingerprint = identity.fingerprint;
        let sampled = self.sample_occurrence(fingerprint, at);
        let text = Kept::text_of(identity).unwrap_or_default();
        self.longest = self.longest.max(text.len());
        if let Some(sketch) = &mut self.sketch {
            sketch.add(fingerprint, 1);
        }
        if sampled || self.sketch.is_none() {
            let first = if self.sketch.is_none() { at } else { 0 };
            let entry = self.values.entry(fingerprint).or_insert_with(|| {
                self.text_bytes += text.len();
                Entry { count: 0, first, value: Kept::of(identity) }
            });
            entry.count += 1;
            entry.first = entry.first.min(at);
        }
        self.fit();
    }

    /// Whether an occurrence belongs to the sample and was not in it yet. May leave the sample one
    /// too large.
    fn sample_occurrence(&mut self, fingerprint: u64, at: u64) -> bool {
        let key = (occurrence(fingerprint, at), fingerprint);
        let has_room = self.sample.len() < self.sample_size();
        (has_room || self.sample.last().is_some_and(|last| key < *last)) && self.sample.insert(key)
    }

    const fn sample_size(&self) -> usize {
        self.cap / 2
    }

    /// Lowers the cap; the state is then as if it had been so from the start.
    pub(crate) fn lower_cap(&mut self, cap: usize) {
        self.cap = self.cap.min(cap.max(MIN_CAP));
        if let Some(sketch) = &mut self.sketch {
            sketch.lower_width(self.cap);
        }
        self.fit();
    }

    /// Bytes to account for: grows with what is observed, never shrinks unless the cap is lowered.
    pub(crate) fn charge(&self) -> usize {
        let fixed = size_of::<Self>() + EMPTY_BYTES + SAMPLED_BYTES * self.sample.len();
        fixed
            + match &self.sketch {
                None => ENTRY_BYTES * self.values.len() + self.text_bytes,
                Some(sketch) => {
                    self.cap.saturating_mul(ENTRY_BYTES + self.longest.min(LONGEST_KEPT)) + sketch.bytes()
                }
            }
    }

    /// Drops what falls out of the sample, and goes over to the sketch when there are too many
    /// values.
    fn fit(&mut self) {
        while self.sample.len() > self.sample_size() {
            if let Some((_, fingerprint)) = self.sample.pop_last()
                && self.sketch.is_some()
            {
                self.forget(fingerprint);
            }
        }
        if self.values.len() > self.cap {
            self.go_over();
        }
    }

    /// Forgets one sampled occurrence of a value.
    fn forget(&mut self, fingerprint: u64) {
        if let Some(entry) = self.values.get_mut(&fingerprint) {
            entry.count = entry.count.saturating_sub(1);
            if entry.count == 0 {
                self.text_bytes = self.text_bytes.saturating_sub(entry.value.bytes());
                self.values.remove(&fingerprint);
            }
        }
    }

    /// From exact counts to the sketch.
    fn go_over(&mut self) {
        if self.sketch.is_none() {
            let mut sketch = CountMin::new(self.cap);
            self.values.iter().for_each(|(&fingerprint, entry)| sketch.add(fingerprint, entry.count));
            self.sketch = Some(sketch);
            self.keep_sampled();
        }
    }

    /// Keeps only the values of sampled occurrences, with their number there as the count.
    fn keep_sampled(&mut self) {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for &(_, fingerprint) in &self.sample {
            *counts.entry(fingerprint).or_default() += 1;
        }
        self.values.retain(|fingerprint, entry| {
            // A value without a sampled occurrence is not counted.
            entry.count = counts.get(fingerprint).copied().unwrap_or(0);
            entry.first = 0;
            entry.count > 0
        });
        self.text_bytes = self.values.values().map(|entry| entry.value.bytes()).sum();
    }

    /// Values with their counts, those the sketch cannot tell from chance left out.
    fn counted(&self) -> Vec<(u64, &Entry)> {
        let values = self.values.iter();
        match &self.sketch {
            None => values.map(|(_, entry)| (entry.count, entry)).collect(),
            Some(sketch) => {
                let error = sketch.error();
                let bounded = values.map(|(&fingerprint, entry)| (sketch.at_most(fingerprint), entry));
                bounded.filter(|&(count, _)| count > error).collect()
            }
        }
    }
}

impl Accumulator for Frequent {
    type Summary = FrequentSummary;

    fn merge(&mut self, mut other: Self) {
        self.lower_cap(other.cap);
        other.lower_cap(self.cap);
        if self.sketch.is_some() || other.sketch.is_some() {
            self.go_over();
            other.go_over();
        }
        self.longest = self.longest.max(other.longest);
        self.sample.append(&mut other.sample);
        for (fingerprint, entry) in other.values {
            if let Some(same) = self.values.get_mut(&fingerprint) {
                same.count = same.count.saturating_add(entry.count);
                same.first = same.first.min(entry.first);
            } else {
                self.text_bytes += entry.value.bytes();
                self.values.insert(fingerprint, entry);
            }
        }
        if let (Some(sketch), Some(other)) = (&mut self.sketch, other.sketch) {
            sketch.merge(other);
            // The same occurrence may have been in both samples.
            self.keep_sampled();
        }
        self.fit();
    }

    fn summary(&self) -> FrequentSummary {
        let mut counted = self.counted();
        counted.sort_by_key(|&(count, entry)| (Reverse(count), entry.first));
        counted.truncate(SHOWN);
        let values =
            counted.into_iter().map(|(count, entry)| FrequentValue { value: entry.value.shown(), count });
        FrequentSummary {
            values: values.collect(),
            approximate: self.sketch.is_some(),
            error: self.sketch.as_ref().map(CountMin::error),
        }
    }
}

/// The ten most frequent values, most frequent first, equally frequent ones in order of first
/// appearance.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FrequentSummary {
    /// The values and how often they occurred.
    pub values: Vec<FrequentValue>,
    /// Whether there were more different values than are counted exactly.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::is_false"))]
    pub approximate: bool,
    /// When approximate: how much too high each count may be (98 % sure); none is ever too low. A
    /// value that occurred less often than this may be missing.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub error: Option<u64>,
}

/// A value and how often it occurred.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FrequentValue {
    /// The value.
    pub value: Shown,
    /// How often it occurred.
    pub count: u64,
}

/// A scalar to be shown.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
#[non_exhaustive]
pub enum Shown {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, by its value.
    Number(Exact),
    /// A string.
    String(Box<str>),
    /// A string or number whose text was too long to be kept.
    Long {
        /// Its length in bytes of UTF-8, escapes undone.
        bytes: u64,
    },
}
