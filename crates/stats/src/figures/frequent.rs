//! The most frequent values.

use super::batch::Column;
use super::exact::Exact;
use super::identity::Identity;
use crate::Accumulator;
use arrayvec::ArrayString;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use trommel_histogram::{CountMin, OccurrenceKey, Occurrences, occurrence_key};
use trommel_reader::{Kind, Number, Scalar};

/// The default number of distinct values that are counted exactly.
const DEFAULT_CAP: usize = 1024;
const MIN_CAP: usize = 16;
/// The text of longer strings is not stored; only their occurrences and length are.
const MAX_STORED_TEXT_BYTES: usize = 256;
/// The number of values in a summary, unless another one is requested.
pub(crate) const FREQUENT_VALUES: usize = 10;
/// Bytes of empty tables, and of an entry without its text.
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
/// beyond it, at most the same for each candidate, and 40 KiB.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "stored::Frequent", into = "stored::Frequent"))]
pub struct Frequent {
    cap: usize,
    counts: Counts,
    /// Bytes of the longest text up to the maximum, stored or not.
    longest: usize,
}

#[derive(Clone, Debug)]
enum Counts {
    Exact(ExactCounts),
    Sketch(Estimates),
}

/// All values.
#[derive(Clone, Debug)]
struct ExactCounts {
    /// By fingerprint.
    values: Entries,
    /// Bytes of their texts.
    text_bytes: usize,
    /// The number of all occurrences.
    total: u64,
    /// Occurrences are sampled from the first one on. If sampling began only past the cap, the
    /// candidates would depend on when the sketch took over, and so on the order of merging.
    sample: Occurrences<()>,
    /// The number of values in the last part that was merged. The next one needs about as much
    /// room.
    in_part: usize,
}

/// Estimates for the values of the sampled occurrences.
#[derive(Clone, Debug)]
struct Estimates {
    sketch: CountMin,
    sample: Occurrences<StoredValue>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Entry {
    /// The number of occurrences; in a stored state with a sketch, only those in the sample.
    count: u64,
    /// Offset of the first occurrence; 0 if there is a sketch.
    first: u64,
    value: StoredValue,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum StoredValue {
    Null,
    Bool(bool),
    Number(StoredText),
    String(StoredText),
    Long(u64),
}

/// A text; a short one is stored without an allocation.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Box<str>", into = "Box<str>"))]
enum StoredText {
    Short(ArrayString<24>),
    Long(Box<str>),
}

impl StoredText {
    /// Stores valid UTF-8.
    fn new(text: &[u8]) -> Self {
        let text = str::from_utf8(text).map_or_else(|_| String::from_utf8_lossy(text), Cow::Borrowed);
        ArrayString::from(&text).map_or_else(|_| Self::Long(text.as_ref().into()), Self::Short)
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Short(text) => text,
            Self::Long(text) => text,
        }
    }
}

impl StoredValue {
    fn of(identity: &Identity<'_>) -> Self {
        match (identity.kind, Self::stored_text(identity)) {
            (Kind::Number, Some(bytes)) => Self::Number(StoredText::new(bytes)),
            (_, Some(bytes)) => Self::String(StoredText::new(bytes)),
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

    fn bytes(&self) -> usize {
        match self {
            Self::Number(text) | Self::String(text) => text.as_str().len(),
            _ => 0,
        }
    }

    fn to_scalar(&self) -> ScalarValue {
        match self {
            Self::Null => ScalarValue::Null,
            Self::Bool(value) => ScalarValue::Bool(*value),
            Self::Number(text) => Number::parse(text.as_str())
                .map_or(ScalarValue::Null, |number| ScalarValue::Number(Exact::new(number))),
            Self::String(text) => ScalarValue::String(text.as_str().into()),
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
        let cap = cap.max(MIN_CAP);
        Self { cap, counts: Counts::Exact(ExactCounts::new(cap, Occurrences::<()>::NO_END, 0)), longest: 0 }
    }

    /// Creates an empty counter for more of the same values, to be merged into this one: with a
    /// sketch, if this has one. It samples only what the merged sample can hold.
    pub(crate) fn emptied(&self) -> Self {
        let counts = match &self.counts {
            Counts::Exact(ExactCounts { sample, in_part, .. }) => {
                Counts::Exact(ExactCounts::new(self.cap, sample.end(), *in_part))
            }
            Counts::Sketch(Estimates { sketch, sample }) => {
                let sample = Occurrences::new(sample_size(self.cap), sample.end());
                Counts::Sketch(Estimates { sketch: sketch.emptied(), sample })
            }
        };
        Self { cap: self.cap, counts, longest: 0 }
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
        let lengths = identities.iter().map(|(identity, _)| StoredValue::text_bytes(identity));
        self.longest = lengths.fold(self.longest, usize::max);
        let mut rest = identities.iter();
        while let Counts::Exact(exact) = &mut self.counts
            && let Some((identity, at)) = rest.next()
        {
            if !exact.observe(identity, *at) {
                unknown.push(identity.fingerprint);
                self.shrink_to_cap();
            }
        }
        if let Counts::Sketch(estimates) = &mut self.counts {
            let exact = unknown.len();
            unknown.extend(rest.clone().map(|(identity, _)| identity.fingerprint));
            estimates.sketch.observe_all(&unknown[exact..]);
            estimates.sample_all(rest.as_slice());
        }
        unknown
    }

    /// Lowers the cap. The state then equals one that had this cap from the start.
    pub(crate) fn lower_cap(&mut self, cap: usize) {
        self.cap = self.cap.min(cap.max(MIN_CAP));
        let size = sample_size(self.cap);
        match &mut self.counts {
            Counts::Exact(exact) => exact.sample.lower_size(size),
            Counts::Sketch(Estimates { sketch, sample }) => {
                sketch.lower_width(self.cap);
                sample.lower_size(size);
            }
        }
        self.shrink_to_cap();
    }

    /// Bytes to account for. They grow with the observations and shrink only if the cap is lowered.
    pub(crate) fn charge(&self) -> usize {
        let fixed = size_of::<Self>() + EMPTY_BYTES;
        match &self.counts {
            // An occurrence that was added twice is sampled once, but counts twice: the list of the
            // sample shows that only now and then.
            Counts::Exact(ExactCounts { values, text_bytes, total, .. }) => {
                let sampled = sample_size(self.cap).min(usize::try_from(*total).unwrap_or(usize::MAX));
                fixed + SAMPLED_BYTES * sampled + ENTRY_BYTES * values.len() + text_bytes
            }
            // The candidates change with every merge. Charging for the largest possible set keeps
            // the figure from shrinking, and thus independent of the order.
            Counts::Sketch(Estimates { sketch, .. }) => {
                let entries = self.cap.saturating_mul(ENTRY_BYTES + self.longest.min(MAX_STORED_TEXT_BYTES));
                fixed + SAMPLED_BYTES * sample_size(self.cap) + entries + sketch.bytes()
            }
        }
    }

    /// Switches to the sketch if there are too many values.
    #[inline]
    fn shrink_to_cap(&mut self) {
        if let Counts::Exact(exact) = &self.counts
            && exact.values.len() > self.cap
        {
            self.counts = Counts::Sketch(exact.estimates(self.cap));
        }
    }

    /// Returns the `count` most frequent values, or all that are known if these are fewer.
    ///
    /// Sorts the counted values.
    pub fn top(&self, count: usize) -> FrequentSummary {
        let (mut counted, error) = match &self.counts {
            Counts::Exact(exact) => (exact.counted(), None),
            Counts::Sketch(estimates) => estimates.counted(),
        };
        counted.sort_by_key(|&(count, first, _)| (Reverse(count), first));
        counted.truncate(count);
        let values =
            counted.into_iter().map(|(count, _, value)| FrequentValue { value: value.to_scalar(), count });
        FrequentSummary { values: values.collect(), approximate: error.is_some(), error }
    }
}

/// A value with its count, and the offset of the first occurrence if it is known. Lists of them are
/// in an order that does not depend on hashes, for values with equal counts and offsets.
type Counted<'a> = (u64, u64, &'a StoredValue);

/// The number of occurrences in a sample.
const fn sample_size(cap: usize) -> usize {
    cap / 2
}

impl ExactCounts {
    /// Creates empty counts with room for a number of values.
    fn new(cap: usize, end: OccurrenceKey, capacity: usize) -> Self {
        let values = Entries::with_capacity_and_hasher(capacity, foldhash::fast::RandomState::default());
        let sample = Occurrences::new(sample_size(cap), end);
        Self { values, text_bytes: 0, total: 0, sample, in_part: 0 }
    }

    /// Counts an occurrence of a value. Returns true if the value had an entry.
    #[inline]
    fn observe(&mut self, identity: &Identity<'_>, at: u64) -> bool {
        self.sample.add_with(occurrence_key(identity.fingerprint, at), || ());
        self.total = self.total.saturating_add(1);
        let entry = self.values.entry(identity.fingerprint).or_insert_with(|| {
            self.text_bytes += StoredValue::text_bytes(identity);
            Entry { count: 0, first: at, value: StoredValue::of(identity) }
        });
        entry.count = entry.count.saturating_add(1);
        entry.first = entry.first.min(at);
        entry.count > 1
    }

    fn counted(&self) -> Vec<Counted<'_>> {
        let values = self.values.iter().collect::<BTreeMap<_, _>>().into_values();
        values.map(|entry| (entry.count, entry.first, &entry.value)).collect()
    }

    /// The sampled occurrences with their values. Only a damaged state that was stored lacks some.
    fn sampled(&self) -> Occurrences<StoredValue> {
        self.sample.map(|fingerprint| Some(self.values.get(&fingerprint)?.value.clone()))
    }

    fn estimates(&self, cap: usize) -> Estimates {
        let mut sketch = CountMin::new(cap);
        self.values.iter().for_each(|(&fingerprint, entry)| sketch.add(fingerprint, entry.count));
        Estimates { sketch, sample: self.sampled() }
    }

    fn merge(&mut self, other: Self) {
        self.sample.merge(other.sample);
        self.total = self.total.saturating_add(other.total);
        self.in_part = other.values.len();
        other.values.into_iter().for_each(|(fingerprint, entry)| {
            let same = self.values.entry(fingerprint).or_insert_with(|| {
                self.text_bytes += entry.value.bytes();
                Entry { count: 0, ..entry }
            });
            same.count = same.count.saturating_add(entry.count);
            same.first = same.first.min(entry.first);
        });
    }
}

impl Estimates {
    fn sample_all(&mut self, identities: &[(Identity<'_>, u64)]) {
        for (identity, at) in identities {
            let key = occurrence_key(identity.fingerprint, *at);
            self.sample.add_with(key, || StoredValue::of(identity));
        }
    }

    /// Returns the values that the sketch can distinguish from chance, and the error of the counts.
    fn counted(&self) -> (Vec<Counted<'_>>, Option<u64>) {
        let counters = self.sketch.counters();
        let error = counters.error();
        let sampled = self.sample.sorted().into_iter().map(|((_, fingerprint), value)| (fingerprint, value));
        let values = sampled.collect::<BTreeMap<_, _>>().into_iter();
        let bounded = values.map(|(fingerprint, value)| (counters.upper_bound(*fingerprint), 0, value));
        (bounded.filter(|&(count, ..)| count > error).collect(), Some(error))
    }

    fn merge(&mut self, other: Self) {
        self.sketch.merge(other.sketch);
        self.sample.merge(other.sample);
    }
}

impl Accumulator for Frequent {
    type Summary = FrequentSummary;

    fn merge(&mut self, mut other: Self) {
        self.lower_cap(other.cap);
        other.lower_cap(self.cap);
        self.longest = self.longest.max(other.longest);
        match (&mut self.counts, other.counts) {
            (Counts::Exact(exact), Counts::Exact(more)) => exact.merge(more),
            (Counts::Exact(exact), Counts::Sketch(more)) => {
                let mut estimates = exact.estimates(self.cap);
                estimates.merge(more);
                self.counts = Counts::Sketch(estimates);
            }
            (Counts::Sketch(estimates), Counts::Exact(more)) => estimates.merge(more.estimates(self.cap)),
            (Counts::Sketch(estimates), Counts::Sketch(more)) => estimates.merge(more),
        }
        self.shrink_to_cap();
    }

    /// Returns the ten most frequent values.
    fn summary(&self) -> FrequentSummary {
        self.top(FREQUENT_VALUES)
    }
}

/// The stored form: in the order of hashes and fingerprints.
#[cfg(feature = "serde")]
mod stored {
    use super::{
        CountMin, Counts, Entry, Estimates, ExactCounts, MIN_CAP, OccurrenceKey, Occurrences, StoredText,
        sample_size,
    };
    use std::collections::{BTreeMap, BTreeSet};

    #[derive(serde::Serialize, serde::Deserialize)]
    pub(super) struct Frequent {
        cap: usize,
        /// All values, or those in the sample if there is a sketch.
        values: BTreeMap<u64, Entry>,
        sample: BTreeSet<OccurrenceKey>,
        sketch: Option<CountMin>,
        longest: usize,
        text_bytes: usize,
    }

    impl From<super::Frequent> for Frequent {
        fn from(frequent: super::Frequent) -> Self {
            let super::Frequent { cap, counts, longest } = frequent;
            let (mut values, mut keys) = (BTreeMap::<u64, Entry>::new(), BTreeSet::new());
            let sketch = match counts {
                Counts::Exact(exact) => {
                    keys.extend(exact.sample.sorted().iter().map(|(key, ())| *key));
                    values.extend(exact.values);
                    None
                }
                Counts::Sketch(Estimates { sketch, sample }) => {
                    for (key, value) in sample.sorted() {
                        keys.insert(*key);
                        let new = || Entry { count: 0, first: 0, value: value.clone() };
                        values.entry(key.1).or_insert_with(new).count += 1;
                    }
                    Some(sketch)
                }
            };
            let text_bytes = values.values().map(|entry| entry.value.bytes()).sum();
            Self { cap, values, sample: keys, sketch, longest, text_bytes }
        }
    }

    impl From<Frequent> for super::Frequent {
        fn from(stored: Frequent) -> Self {
            let Frequent { cap, values, sample: keys, sketch, longest, text_bytes } = stored;
            let cap = cap.max(MIN_CAP);
            let mut sample = Occurrences::new(sample_size(cap), Occurrences::<()>::NO_END);
            for key in keys {
                sample.add_with(key, || ());
            }
            let total = values.values().fold(0_u64, |total, entry| total.saturating_add(entry.count));
            let values = values.into_iter().collect();
            let exact = ExactCounts { values, text_bytes, total, sample, in_part: 0 };
            let counts = match sketch {
                None => Counts::Exact(exact),
                Some(sketch) => Counts::Sketch(Estimates { sketch, sample: exact.sampled() }),
            };
            Self { cap, counts, longest }
        }
    }

    impl From<Box<str>> for StoredText {
        fn from(text: Box<str>) -> Self {
            Self::new(text.as_bytes())
        }
    }

    impl From<StoredText> for Box<str> {
        fn from(text: StoredText) -> Self {
            text.as_str().into()
        }
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
