//! The most frequent values.

use super::batch::Column;
use super::count_min::CountMin;
use super::exact::Exact;
use super::fingerprint::occurrence;
use super::identity::Identity;
use crate::Accumulator;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use trommel_reader::{Kind, Number, Scalar};

/// The default number of distinct values that are counted exactly.
const DEFAULT_CAP: usize = 1024;
const MIN_CAP: usize = 16;
/// The text of longer strings is not stored; only their occurrences and length are.
const MAX_STORED_TEXT_BYTES: usize = 256;
/// The number of values in a summary, unless another one is requested.
pub(crate) const FREQUENT_VALUES: usize = 10;
/// Bytes of the empty trees, and of an entry without its text.
const EMPTY_BYTES: usize = 850;
const ENTRY_BYTES: usize = 115;
/// Bytes of a sampled occurrence.
const SAMPLED_BYTES: usize = 30;

/// Entries are found by a hash with a random key, so that colliding fingerprints cannot be crafted.
type Entries = HashMap<u64, Entry, foldhash::fast::RandomState>;

/// The most frequent scalars, counted exactly while there are few distinct ones.
///
/// Past the cap, every value is counted in a Count-Min sketch, whose counts are never too low. The
/// candidates come from a uniform sample of *occurrences*: those whose value and offset have the
/// smallest hash. The sample depends on the input alone, not on the order in which parts are
/// merged. A value that makes up at least 2 % of the input is among the (512) candidates with a
/// probability of 99.997 %. Values too rare to distinguish from chance are left out of the summary.
///
/// Strings of more than 4,096 bytes as written are not counted. Of strings longer than 256 bytes,
/// only the length is stored. Memory: about 100 bytes and the text for each value up to the cap;
/// beyond it, the same for each candidate, and 36 KiB.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Frequent {
    cap: usize,
    /// Values by fingerprint: all of them, or only the sampled ones once there is a sketch.
    #[cfg_attr(feature = "serde", serde(with = "sorted"))]
    values: Entries,
    /// Hash and fingerprint of the sampled occurrences, in the order of the hashes.
    sample: BTreeSet<(u64, u64)>,
    sketch: Option<CountMin>,
    /// Bytes of the longest text up to the maximum, stored or not.
    longest: usize,
    /// Bytes of all texts in `values`.
    text_bytes: usize,
    /// The last entry of a full sample, if it is known.
    #[cfg_attr(feature = "serde", serde(skip))]
    highest: Option<(u64, u64)>,
    /// Occurrences from this one on are never sampled: those of an earlier part displace them.
    #[cfg_attr(feature = "serde", serde(skip))]
    ceiling: Option<(u64, u64)>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Entry {
    /// The number of occurrences; only those in the sample once there is a sketch.
    count: u64,
    /// Offset of the first occurrence; 0 once there is a sketch.
    first: u64,
    value: StoredValue,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum StoredValue {
    Null,
    Bool(bool),
    Number(Box<str>),
    String(Box<str>),
    Long(u64),
}

impl StoredValue {
    fn of(identity: &Identity<'_>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned().into_boxed_str();
        match (identity.kind, Self::stored_text(identity)) {
            (Kind::Number, Some(bytes)) => Self::Number(text(bytes)),
            (_, Some(bytes)) => Self::String(text(bytes)),
            (Kind::Bool, None) => Self::Bool(*identity.text == *b"true"),
            (Kind::Null, None) => Self::Null,
            (_, None) => Self::Long(identity.text.len() as u64),
        }
    }

    /// Returns the text to store for a value, if any.
    fn stored_text<'a>(identity: &'a Identity<'_>) -> Option<&'a [u8]> {
        let has_text = matches!(identity.kind, Kind::Number | Kind::String);
        Some(identity.text.as_ref()).filter(|text| has_text && text.len() <= MAX_STORED_TEXT_BYTES)
    }

    /// Bytes of the text to store for a value.
    fn text_bytes(identity: &Identity<'_>) -> usize {
        Self::stored_text(identity).map_or(0, <[u8]>::len)
    }

    const fn bytes(&self) -> usize {
        match self {
            Self::Number(text) | Self::String(text) => text.len(),
            _ => 0,
        }
    }

    fn to_scalar(&self) -> ScalarValue {
        match self {
            Self::Null => ScalarValue::Null,
            Self::Bool(value) => ScalarValue::Bool(*value),
            Self::Number(text) => Number::parse(text)
                .map_or(ScalarValue::Null, |number| ScalarValue::Number(Exact::new(number))),
            Self::String(text) => ScalarValue::String(text.clone()),
            Self::Long(bytes) => ScalarValue::Long { bytes: *bytes },
        }
    }
}

impl Default for Frequent {
    fn default() -> Self {
        Self::with_cap(DEFAULT_CAP)
    }
}

impl Frequent {
    /// Creates an empty counter that is exact up to `cap` distinct values (at least 16). The sample
    /// holds half as many occurrences.
    pub fn with_cap(cap: usize) -> Self {
        let (values, sample) = (Entries::default(), BTreeSet::new());
        let cap = cap.max(MIN_CAP);
        Self { cap, values, sample, sketch: None, longest: 0, text_bytes: 0, highest: None, ceiling: None }
    }

    /// Creates an empty counter for more of the same values, to be merged into this one: with a
    /// sketch, if this has one. It samples only what the merged sample can hold.
    pub(crate) fn emptied(&self) -> Self {
        let sketch = self.sketch.as_ref().map(CountMin::emptied);
        Self { sketch, ceiling: self.highest.or(self.ceiling), ..Self::with_cap(self.cap) }
    }

    /// Adds the value at an offset of the input. The offset identifies the occurrence.
    pub fn observe(&mut self, scalar: &Scalar<'_>, at: u64) {
        if let Some(identity) = Identity::of(scalar) {
            self.observe_all(&[(identity, at)]);
        }
    }

    /// Adds at most a batch of values, each at an offset of the input. Returns the fingerprints of
    /// those that had no entry.
    pub(crate) fn observe_all(&mut self, identities: &[(Identity<'_>, u64)]) -> Column<u64> {
        let mut unknown = Column::new();
        let mut rest = identities.iter();
        while self.sketch.is_none()
            && let Some((identity, at)) = rest.next()
        {
            // Sample from the first value on. If sampling began only past the cap, the candidates
            // would depend on when the sketch took over, and so on the order of merging.
            self.sample_occurrence(identity.fingerprint, *at);
            if !self.add_entry(identity, *at) {
                unknown.push(identity.fingerprint);
            }
        }
        if let Some(sketch) = &mut self.sketch {
            rest.clone().for_each(|(identity, _)| sketch.observe(identity.fingerprint));
        }
        for (identity, at) in rest {
            self.longest = self.longest.max(StoredValue::text_bytes(identity));
            if !self.sample_occurrence(identity.fingerprint, *at) || !self.add_entry(identity, 0) {
                unknown.push(identity.fingerprint);
            }
        }
        unknown
    }

    /// Counts an occurrence of a value in its entry. Returns true if it had one.
    fn add_entry(&mut self, identity: &Identity<'_>, first: u64) -> bool {
        let bytes = StoredValue::text_bytes(identity);
        self.longest = self.longest.max(bytes);
        let entry = self.values.entry(identity.fingerprint).or_insert_with(|| {
            self.text_bytes += bytes;
            Entry { count: 0, first, value: StoredValue::of(identity) }
        });
        let is_known = entry.count > 0;
        entry.count += 1;
        entry.first = entry.first.min(first);
        self.shrink_to_cap();
        is_known
    }

    /// Adds an occurrence to the sample if it belongs there. Returns true if it was added. The
    /// sample may then be one too large, until `shrink_to_cap` runs.
    #[inline]
    fn sample_occurrence(&mut self, fingerprint: u64, at: u64) -> bool {
        let key = (occurrence(fingerprint, at), fingerprint);
        let exceeds = |bound: Option<(u64, u64)>| bound.is_some_and(|bound| key >= bound);
        !exceeds(self.highest) && !exceeds(self.ceiling) && self.insert_occurrence(key)
    }

    /// Once the sample is full, most occurrences are not inserted.
    #[inline(never)]
    fn insert_occurrence(&mut self, key: (u64, u64)) -> bool {
        self.highest = None;
        self.sample.insert(key)
    }

    const fn sample_size(&self) -> usize {
        self.cap / 2
    }

    /// Lowers the cap. The state then equals one that had this cap from the start.
    pub(crate) fn lower_cap(&mut self, cap: usize) {
        self.cap = self.cap.min(cap.max(MIN_CAP));
        self.highest = None;
        if let Some(sketch) = &mut self.sketch {
            sketch.lower_width(self.cap);
        }
        self.shrink_to_cap();
    }

    /// Bytes to account for. They grow with the observations and shrink only if the cap is lowered.
    pub(crate) fn charge(&self) -> usize {
        let fixed = size_of::<Self>() + EMPTY_BYTES + SAMPLED_BYTES * self.sample.len();
        fixed
            + match &self.sketch {
                None => ENTRY_BYTES * self.values.len() + self.text_bytes,
                // The candidates change with every merge. Charging for the largest possible set
                // keeps the figure from shrinking, and thus independent of the order.
                Some(sketch) => {
                    self.cap.saturating_mul(ENTRY_BYTES + self.longest.min(MAX_STORED_TEXT_BYTES))
                        + sketch.bytes()
                }
            }
    }

    /// Evicts occurrences beyond the size of the sample, and switches to the sketch if there are
    /// too many values.
    #[inline]
    fn shrink_to_cap(&mut self) {
        if self.highest.is_none() {
            self.shrink_sample();
        }
        if self.values.len() > self.cap {
            self.switch_to_sketch();
        }
    }

    fn shrink_sample(&mut self) {
        while self.sample.len() > self.sample_size() {
            if let Some((_, fingerprint)) = self.sample.pop_last()
                && self.sketch.is_some()
            {
                self.remove_occurrence(fingerprint);
            }
        }
        if self.sample.len() == self.sample_size() {
            self.highest = self.sample.last().copied();
        }
    }

    /// Removes one sampled occurrence of a value.
    fn remove_occurrence(&mut self, fingerprint: u64) {
        if let Some(entry) = self.values.get_mut(&fingerprint) {
            entry.count = entry.count.saturating_sub(1);
            if entry.count == 0 {
                self.text_bytes = self.text_bytes.saturating_sub(entry.value.bytes());
                self.values.remove(&fingerprint);
            }
        }
    }

    /// Switches from exact counts to the sketch.
    fn switch_to_sketch(&mut self) {
        if self.sketch.is_none() {
            let mut sketch = CountMin::new(self.cap);
            self.values.iter().for_each(|(&fingerprint, entry)| sketch.add(fingerprint, entry.count));
            self.sketch = Some(sketch);
            self.retain_sampled();
        }
    }

    /// Keeps only the sampled values, and sets their counts to the number of sampled occurrences.
    fn retain_sampled(&mut self) {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for &(_, fingerprint) in &self.sample {
            *counts.entry(fingerprint).or_default() += 1;
        }
        self.values.retain(|fingerprint, entry| {
            // A value without a sampled occurrence gets a count of 0 and is dropped.
            entry.count = counts.get(fingerprint).copied().unwrap_or(0);
            entry.first = 0;
            entry.count > 0
        });
        self.text_bytes = self.values.values().map(|entry| entry.value.bytes()).sum();
    }

    /// Adds the sampled occurrences of another counter that belong to the sample of both. Both have
    /// a sketch.
    fn merge_sample(&mut self, other: &Self) {
        for &(hash, fingerprint) in &other.sample {
            // The samples are in the order of the hashes, and usually few occurrences are added.
            if self.highest.is_some_and(|highest| (hash, fingerprint) >= highest) {
                break;
            }
            // Both samples may contain the same occurrence, which counts once. Only a damaged state
            // that was stored lacks the value of an occurrence.
            if let Some(entry) = other.values.get(&fingerprint)
                && self.sample.insert((hash, fingerprint))
            {
                self.highest = None;
                self.merge_entry(fingerprint, Entry { count: 1, first: 0, value: entry.value.clone() });
                self.shrink_to_cap();
            }
        }
    }

    fn merge_entry(&mut self, fingerprint: u64, entry: Entry) {
        if let Some(same) = self.values.get_mut(&fingerprint) {
            same.count = same.count.saturating_add(entry.count);
            same.first = same.first.min(entry.first);
        } else {
            self.text_bytes += entry.value.bytes();
            self.values.insert(fingerprint, entry);
        }
    }

    /// Returns the `count` most frequent values, or all that are known if these are fewer.
    ///
    /// Sorts the counted values.
    pub fn top(&self, count: usize) -> FrequentSummary {
        let mut counted = self.counted();
        counted.sort_by_key(|&(count, entry)| (Reverse(count), entry.first));
        counted.truncate(count);
        let values =
            counted.into_iter().map(|(count, entry)| FrequentValue { value: entry.value.to_scalar(), count });
        FrequentSummary {
            values: values.collect(),
            approximate: self.sketch.is_some(),
            error: self.sketch.as_ref().map(|sketch| sketch.counters().error()),
        }
    }

    /// Returns values with their counts, without those that the sketch cannot distinguish from
    /// chance.
    fn counted(&self) -> Vec<(u64, &Entry)> {
        // In an order that does not depend on hashes, for values with equal counts and offsets.
        let values = self.values.iter().collect::<BTreeMap<_, _>>().into_iter();
        match &self.sketch {
            None => values.map(|(_, entry)| (entry.count, entry)).collect(),
            Some(sketch) => {
                let counters = sketch.counters();
                let error = counters.error();
                let bounded = values.map(|(fingerprint, entry)| (counters.upper_bound(*fingerprint), entry));
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
        // Both states must have the same form: exact counts are turned into a sketch if either has
        // one.
        if self.sketch.is_some() || other.sketch.is_some() {
            self.switch_to_sketch();
            other.switch_to_sketch();
        }
        self.longest = self.longest.max(other.longest);
        if let (Some(sketch), Some(more)) = (&mut self.sketch, other.sketch.take()) {
            sketch.merge(more);
            self.merge_sample(&other);
        } else {
            // The other sample is in order, and few of its occurrences belong to the merged one.
            let highest = self.highest.take();
            let is_sampled = |key: &(u64, u64)| highest.is_none_or(|highest| *key < highest);
            self.sample.extend(other.sample.into_iter().take_while(is_sampled));
            other.values.into_iter().for_each(|(fingerprint, entry)| self.merge_entry(fingerprint, entry));
        }
        self.shrink_to_cap();
    }

    /// Returns the ten most frequent values.
    fn summary(&self) -> FrequentSummary {
        self.top(FREQUENT_VALUES)
    }
}

/// The stored form of the entries: in the order of the fingerprints, which does not depend on
/// hashes.
#[cfg(feature = "serde")]
mod sorted {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Entries, Entry};

    pub(super) fn serialize<S: Serializer>(entries: &Entries, serializer: S) -> Result<S::Ok, S::Error> {
        entries.iter().collect::<BTreeMap<_, _>>().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        BTreeMap::<u64, Entry>::deserialize(deserializer).map(|entries| entries.into_iter().collect())
    }
}

/// The most frequent values, most frequent first. Ties are in order of first appearance.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FrequentSummary {
    /// The values and their numbers of occurrences.
    pub values: Vec<FrequentValue>,
    /// True if there were more distinct values than are counted exactly.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::is_false"))]
    pub approximate: bool,
    /// The maximum overestimate of each count, when approximate (98 % confidence). No count is ever
    /// too low. A value that occurred less often than this may be missing.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub error: Option<u64>,
}

/// A value and its number of occurrences.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FrequentValue {
    /// The value.
    pub value: ScalarValue,
    /// The number of occurrences.
    pub count: u64,
}

/// A scalar in a summary.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
#[non_exhaustive]
pub enum ScalarValue {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, by its value.
    Number(Exact),
    /// A string.
    String(Box<str>),
    /// A string or number whose text was too long to store.
    Long {
        /// Its length in bytes of UTF-8, after decoding escapes.
        bytes: u64,
    },
}
