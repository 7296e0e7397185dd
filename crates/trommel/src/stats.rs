//! Describing values while matching.

use trommel_path::Matcher;
use trommel_reader::{Cursor, Kind, Listener, Scalar, Span, Text};
use trommel_stats::{Accumulator, Profile, ProfileOptions, RowsShown, Summary};

use crate::measure::Stats;
use crate::report::{PathStats, StatsAnswer};

/// The description of one query's values, being made.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Describing {
    path: String,
    profile: Profile,
    /// For each value open now, the characters before it.
    #[cfg_attr(feature = "serde", serde(skip))]
    open: Vec<u64>,
    /// What the place of everything in the whole begins with, so that what one part saw first comes
    /// before what a later part saw first.
    #[cfg_attr(feature = "serde", serde(skip))]
    base: u64,
    bytes: u64,
    characters: u64,
}

/// Bits of an offset within a part; those above are the part's number.
#[cfg(feature = "serde")]
const OFFSET_BITS: u32 = 44;

/// The last part that has a number of its own: what those behind see first is in the order of their
/// offsets alone.
#[cfg(feature = "serde")]
const LAST_PART: u64 = (1 << (u64::BITS - OFFSET_BITS)) - 1;

impl Describing {
    pub(crate) fn new(stats: &Stats, path: String) -> Self {
        let mut options = ProfileOptions::default();
        options.per_path = stats.per_path || stats.schema || stats.values;
        options.duplicate_names = stats.duplicate_names;
        options.counts = stats.counts;
        options.item_types = stats.item_types;
        options.schema = stats.schema;
        options.values = stats.values;
        options.max_depth = stats.max_depth.unwrap_or(u32::MAX);
        options.root_path.clone_from(&path);
        Self { path, profile: Profile::new(options), open: Vec::new(), base: 0, bytes: 0, characters: 0 }
    }

    /// Makes it the description of part `number` of an input whose other parts are described
    /// elsewhere.
    #[cfg(feature = "serde")]
    pub(crate) fn of_part(&mut self, number: u64) {
        self.base = number.min(LAST_PART) << OFFSET_BITS;
    }

    pub(crate) fn enter(&mut self, start: u64, matcher: &mut Matcher<'_, '_>) {
        self.profile.begin();
        self.open.push(matcher.cursor_mut().chars(start));
    }

    /// What describes more elements of the innermost open array, having counted nothing so far.
    #[cfg(feature = "parallel")]
    pub(crate) fn apart(&self) -> Option<Self> {
        let profile = self.profile.apart()?;
        let (path, open) = (self.path.clone(), self.open.clone());
        Some(Self { path, profile, open, base: self.base, bytes: 0, characters: 0 })
    }

    /// Takes in what was described apart.
    #[cfg(feature = "parallel")]
    pub(crate) fn join(&mut self, apart: Self) {
        self.profile.join(apart.profile);
    }

    /// Describes a record without looking at more than masks. With `sized`, its size is added to
    /// that of the others: the records are not all of the input.
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

    #[expect(clippy::expect_used, reason = "values that are left were entered")]
    pub(crate) fn leave(&mut self, span: Span, matcher: &mut Matcher<'_, '_>) {
        self.profile.end();
        let before = self.open.pop().expect("a value is open");
        self.bytes += span.len();
        self.characters += matcher.cursor_mut().chars(span.end) - before;
    }

    /// Takes in what another part has described.
    #[cfg(any(feature = "parallel", feature = "serde"))]
    pub(crate) fn merge(&mut self, later: Self) {
        self.profile.merge(later.profile);
        self.bytes = self.bytes.saturating_add(later.bytes);
        self.characters = self.characters.saturating_add(later.characters);
    }
}

/// All descriptions, of which those with open values are told of events.
pub(crate) struct Describers<'a>(pub(crate) &'a mut [Describing]);

impl Listener for Describers<'_> {
    fn wants_scalars(&self) -> bool {
        self.0.iter().any(Listener::wants_scalars)
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

impl Listener for Describing {
    fn wants_scalars(&self) -> bool {
        self.profile.wants_scalars()
    }

    #[inline]
    fn begin(&mut self, kind: Kind, at: u64) {
        Listener::begin(&mut self.profile, kind, self.base.saturating_add(at));
    }

    #[inline]
    fn end(&mut self, kind: Kind, at: u64) {
        Listener::end(&mut self.profile, kind, at);
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

/// The answer from the descriptions of all queries. `whole` is the size of the input and its
/// characters, when it was not narrowed by queries.
pub(crate) fn answer(parts: Vec<Describing>, whole: Option<(u64, u64)>, records: Option<u64>) -> StatsAnswer {
    let mut by_path: Vec<PathStats> = Vec::with_capacity(parts.len());
    let mut all: Option<Profile> = None;
    let several = parts.len() > 1;
    for mut part in parts {
        part.profile.settle();
        let summary = part.profile.summary();
        let Describing { path, bytes, characters, profile, .. } = part;
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
    let summary = if several {
        let mut summary = all.unwrap_or_else(nothing).summary();
        join_rows(&mut summary, &by_path);
        summary
    } else {
        by_path.pop().map_or_else(|| nothing().summary(), |part| part.summary)
    };
    StatsAnswer { bytes, characters, summary, records, by_path }
}

fn nothing() -> Profile {
    Profile::new(ProfileOptions::default())
}

/// Figures of all values together have the rows of each query, which keep its path.
fn join_rows(summary: &mut Summary, by_path: &[PathStats]) {
    let parts = || by_path.iter().map(|part| &part.summary);
    let capped = &mut summary.capped;
    (summary.arrays, capped.arrays) =
        joined(parts().map(|part| (part.arrays.as_deref(), part.capped.arrays)));
    (summary.objects, capped.objects) =
        joined(parts().map(|part| (part.objects.as_deref(), part.capped.objects)));
    (summary.values, capped.values) =
        joined(parts().map(|part| (part.values.as_deref(), part.capped.values)));
}

fn joined<'a, T: Clone + 'a>(
    parts: impl Iterator<Item = (Option<&'a [T]>, Option<RowsShown>)>,
) -> (Option<Vec<T>>, Option<RowsShown>) {
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
