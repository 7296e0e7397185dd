//! Statistics of values while they are matched.

use trommel_path::Matcher;
use trommel_reader::{Cursor, Kind, Listener, NameTokens, Scalar, Span, Text, Tokens};
use trommel_stats::{Accumulator, Profile, ProfileOptions, RowCounts, Summary};

use crate::measure::Stats;
use crate::report::{PathStats, StatsAnswer};

/// The statistics of one query's values.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Description {
    path: String,
    pub(crate) profile: Profile,
    /// For each open value, the number of characters before it.
    #[cfg_attr(feature = "serde", serde(skip))]
    open: Vec<u64>,
    /// The base of all positions in this part. Rows are ordered by first position, so paths of this
    /// part come after those of earlier parts.
    #[cfg_attr(feature = "serde", serde(skip))]
    base: u64,
    bytes: u64,
    characters: u64,
}

/// Bits of an offset within a part. The higher bits are the part's number.
const OFFSET_BITS: u32 = 44;

/// The last part with its own number. Paths that first occur in later parts are ordered by their
/// offsets alone.
const LAST_PART: u64 = (1 << (u64::BITS - OFFSET_BITS)) - 1;

impl Description {
    pub(crate) fn new(stats: &Stats, path: String) -> Self {
        let mut options = ProfileOptions::default();
        (options.per_path, options.duplicate_names) = (stats.needs_paths(), stats.duplicate_names);
        (options.counts, options.item_types) = (stats.counts, stats.item_types);
        (options.schema, options.fields, options.bytes) = (stats.schema, stats.fields, stats.bytes);
        let Stats { values, histograms, row_sample, .. } = *stats;
        (options.values, options.histograms, options.row_sample) = (values, histograms, row_sample);
        let limits = &mut options.limits;
        limits.frequent_values = stats.top.unwrap_or(limits.frequent_values);
        limits.rows = stats.rows.unwrap_or(limits.rows);
        (options.max_depth, options.root_path) = (stats.max_depth.unwrap_or(u32::MAX), path.clone());
        Self { path, profile: Profile::new(options), open: Vec::new(), base: 0, bytes: 0, characters: 0 }
    }

    /// Sets the part's number in an input whose other parts are processed elsewhere.
    pub(crate) fn set_part(&mut self, number: u64) {
        self.base = number.min(LAST_PART) << OFFSET_BITS;
    }

    pub(crate) fn enter(&mut self, start: u64, matcher: &mut Matcher<'_, '_>) {
        self.profile.begin();
        self.open.push(matcher.cursor_mut().chars(start));
    }

    /// Returns empty statistics for further elements of the innermost open array. `None` if the
    /// profile cannot be forked: several values are open, or paths were folded.
    #[cfg(feature = "parallel")]
    pub(crate) fn fork(&mut self) -> Option<Self> {
        let profile = self.profile.fork()?;
        let (path, open) = (self.path.clone(), self.open.clone());
        Some(Self { path, profile, open, base: self.base, bytes: 0, characters: 0 })
    }

    /// Merges the statistics of a fork.
    #[cfg(feature = "parallel")]
    pub(crate) fn join(&mut self, apart: Self) {
        self.profile.join(apart.profile);
    }

    /// Counts a record from masks alone. With `sized`, adds the record's size: the records are not
    /// the whole input then.
    pub(crate) fn tally(
        &mut self,
        cursor: &mut Cursor<'_>,
        sized: bool,
    ) -> Result<(), trommel_reader::Error> {
        let kind = cursor.peek()?;
        let start = cursor.offset();
        let before = if sized { cursor.chars(start) } else { 0 };
        let tally = cursor.tally_value()?;
        if let Some(kind) = kind {
            self.profile.observe_tally(kind, &tally);
        }
        if sized {
            let end = cursor.offset();
            self.bytes += end - start;
            self.characters += cursor.chars(end) - before;
        }
        Ok(())
    }

    #[expect(clippy::expect_used, reason = "a value is entered before it is left")]
    pub(crate) fn leave(&mut self, span: Span, matcher: &mut Matcher<'_, '_>) {
        self.profile.end();
        let before = self.open.pop().expect("the value was entered");
        self.bytes += span.len();
        self.characters += matcher.cursor_mut().chars(span.end) - before;
    }

    /// Merges the statistics of a later part.
    #[cfg(any(feature = "parallel", feature = "serde"))]
    pub(crate) fn merge(&mut self, later: Self) {
        self.profile.merge(later.profile);
        self.bytes = self.bytes.saturating_add(later.bytes);
        self.characters = self.characters.saturating_add(later.characters);
    }
}

/// The statistics of all queries, as one listener.
pub(crate) struct Descriptions<'a>(pub(crate) &'a mut [Description]);

impl Listener for Descriptions<'_> {
    fn wants_scalars(&self) -> bool {
        self.0.iter().any(Listener::wants_scalars)
    }

    fn names(&mut self, names: &NameTokens<'_>) -> bool {
        let [describing] = &mut *self.0 else { return false };
        describing.names(names)
    }

    fn tokens(&mut self, tokens: &Tokens<'_>) -> bool {
        for describing in &mut *self.0 {
            if !describing.tokens(tokens) {
                tokens.each(describing);
            }
        }
        true
    }

    #[inline]
    fn begin(&mut self, kind: Kind, at: u64) {
        self.0.iter_mut().for_each(|describing| Listener::begin(describing, kind, at));
    }

    #[inline]
    fn end(&mut self, kind: Kind, at: u64) {
        self.0.iter_mut().for_each(|describing| Listener::end(describing, kind, at));
    }

    #[inline]
    fn name(&mut self, name: Text<'_>, at: u64) {
        self.0.iter_mut().for_each(|describing| describing.name(name, at));
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar<'_>, at: u64) {
        self.0.iter_mut().for_each(|describing| describing.scalar(scalar, at));
    }
}

impl Listener for Description {
    fn wants_scalars(&self) -> bool {
        self.profile.wants_scalars()
    }

    fn names(&mut self, names: &NameTokens<'_>) -> bool {
        self.profile.names(names)
    }

    fn tokens(&mut self, tokens: &Tokens<'_>) -> bool {
        self.profile.tokens(&tokens.moved(self.base))
    }

    #[inline]
    fn begin(&mut self, kind: Kind, at: u64) {
        Listener::begin(&mut self.profile, kind, self.base.saturating_add(at));
    }

    #[inline]
    fn end(&mut self, kind: Kind, at: u64) {
        Listener::end(&mut self.profile, kind, self.base.saturating_add(at));
    }

    #[inline]
    fn name(&mut self, name: Text<'_>, at: u64) {
        self.profile.name(name, at);
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar<'_>, at: u64) {
        self.profile.scalar(scalar, self.base.saturating_add(at));
    }
}

/// Assembles the answer from the statistics of all queries. `whole` is the size of the input in
/// bytes and characters, if no query narrows it.
pub(crate) fn answer(
    parts: Vec<Description>,
    whole: Option<(u64, u64)>,
    records: Option<u64>,
) -> StatsAnswer {
    let mut by_path: Vec<PathStats> = Vec::with_capacity(parts.len());
    let mut all: Option<Profile> = None;
    let several = parts.len() > 1;
    for mut part in parts {
        // Normalized, a profile depends only on the values, not on how the input was divided.
        part.profile.normalize();
        let summary = part.profile.summary();
        let Description { path, bytes, characters, profile, .. } = part;
        by_path.push(PathStats { path, bytes, characters, summary });
        match &mut all {
            Some(all) => all.merge(profile),
            None => all = Some(profile),
        }
    }
    let (bytes, characters) = whole.unwrap_or_else(|| {
        let add = |(bytes, chars): (u64, u64), part: &PathStats| {
            (bytes.saturating_add(part.bytes), chars.saturating_add(part.characters))
        };
        by_path.iter().fold((0, 0), add)
    });
    let empty = || Profile::new(ProfileOptions::default());
    let summary = if several {
        let mut summary = all.unwrap_or_else(empty).summary();
        join_rows(&mut summary, &by_path);
        summary
    } else {
        by_path.pop().map_or_else(|| empty().summary(), |part| part.summary)
    };
    StatsAnswer { bytes, characters, summary, records, by_path }
}

/// The summary of all values has the rows of every query, each with its query's path.
fn join_rows(summary: &mut Summary, by_path: &[PathStats]) {
    let parts = || by_path.iter().map(|part| &part.summary);
    let capped = &mut summary.capped;
    (summary.arrays, capped.arrays) =
        joined(parts().map(|part| (part.arrays.as_deref(), part.capped.arrays)));
    (summary.objects, capped.objects) =
        joined(parts().map(|part| (part.objects.as_deref(), part.capped.objects)));
    (summary.fields, capped.fields) =
        joined(parts().map(|part| (part.fields.as_deref(), part.capped.fields)));
    (summary.values, capped.values) =
        joined(parts().map(|part| (part.values.as_deref(), part.capped.values)));
    (summary.bytes, capped.bytes) = joined(parts().map(|part| (part.bytes.as_deref(), part.capped.bytes)));
}

fn joined<'a, T: Clone + 'a>(
    parts: impl Iterator<Item = (Option<&'a [T]>, Option<RowCounts>)>,
) -> (Option<Vec<T>>, Option<RowCounts>) {
    let (mut joined, mut any, mut total) = (Vec::new(), None, 0);
    for (rows, capped) in parts {
        let Some(rows) = rows else { return (None, None) };
        joined.extend_from_slice(rows);
        total += capped.map_or(rows.len() as u64, |capped| capped.total);
        any = any.or(capped);
    }
    let capped = any.map(|mut capped| {
        (capped.shown, capped.total) = (joined.len() as u64, total);
        capped
    });
    (Some(joined), capped)
}
