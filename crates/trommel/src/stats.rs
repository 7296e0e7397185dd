//! Describing values while matching.

use trommel_path::Matcher;
use trommel_reader::{Event, Span};
use trommel_stats::{Accumulator, Profile, ProfileOptions};

use crate::measure::Stats;
use crate::report::{PathStats, StatsAnswer};

/// The description of one query's values, being made.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Describing {
    path: String,
    profile: Profile,
    /// Values open now.
    #[cfg_attr(feature = "serde", serde(skip))]
    open: u32,
    /// Where characters are counted from, for each of them.
    #[cfg_attr(feature = "serde", serde(skip))]
    starts: Vec<u64>,
    bytes: u64,
    characters: u64,
}

impl Describing {
    pub(crate) fn new(stats: &Stats, path: String) -> Self {
        let mut options = ProfileOptions::default();
        options.per_path = stats.per_path || stats.schema || stats.values;
        options.item_types = stats.item_types;
        options.schema = stats.schema;
        options.values = stats.values;
        options.max_depth = stats.max_depth.unwrap_or(u32::MAX);
        options.root_path.clone_from(&path);
        Self { path, profile: Profile::new(options), open: 0, starts: Vec::new(), bytes: 0, characters: 0 }
    }

    pub(crate) fn enter(&mut self, start: u64, matcher: &mut Matcher<'_, '_>) {
        self.profile.begin();
        self.open += 1;
        self.starts.push(matcher.cursor_mut().chars(start));
    }

    pub(crate) fn event(&mut self, event: Event, matcher: &Matcher<'_, '_>) {
        if self.open > 0 {
            let cursor = matcher.cursor();
            self.profile.observe(event, cursor.payload(), cursor.span().start);
        }
    }

    pub(crate) fn leave(&mut self, span: Span, times: u64, matcher: &mut Matcher<'_, '_>) {
        self.profile.end();
        self.open = self.open.saturating_sub(1);
        let before = self.starts.pop().unwrap_or(0);
        self.bytes += span.len() * times;
        self.characters += (matcher.cursor_mut().chars(span.end) - before) * times;
    }

    /// Takes in what another part has described.
    #[cfg(any(feature = "parallel", feature = "serde"))]
    pub(crate) fn merge(&mut self, later: Self) {
        self.profile.merge(later.profile);
        self.bytes += later.bytes;
        self.characters += later.characters;
    }
}

/// The answer from the descriptions of all queries. `whole` is the size of the input and its characters, when it was not
/// narrowed by queries.
pub(crate) fn answer(parts: Vec<Describing>, whole: Option<(u64, u64)>, records: Option<u64>) -> StatsAnswer {
    let mut by_path: Vec<PathStats> = Vec::with_capacity(parts.len());
    let mut all: Option<Profile> = None;
    let several = parts.len() > 1;
    for mut part in parts {
        part.profile.settle();
        let summary = part.profile.summary();
        by_path.push(PathStats { path: part.path, bytes: part.bytes, characters: part.characters, summary });
        if several {
            match &mut all {
                Some(all) => all.merge(part.profile),
                None => all = Some(part.profile),
            }
        }
    }
    let (bytes, characters) = whole.unwrap_or_else(|| {
        by_path.iter().fold((0, 0), |(bytes, chars), part| (bytes + part.bytes, chars + part.characters))
    });
    let summary = match all {
        Some(all) => {
            // Figures of all values together; the rows keep the paths of their queries.
            let mut summary = all.summary();
            summary.arrays = by_path.iter().map(|part| part.summary.arrays.clone()).collect::<Option<Vec<_>>>().map(|rows| rows.concat());
            summary.objects = by_path.iter().map(|part| part.summary.objects.clone()).collect::<Option<Vec<_>>>().map(|rows| rows.concat());
            summary.values = by_path.iter().map(|part| part.summary.values.clone()).collect::<Option<Vec<_>>>().map(|rows| rows.concat());
            summary
        }
        None => by_path.pop().map(|part| part.summary).unwrap_or_else(|| Profile::new(ProfileOptions::default()).summary()),
    };
    StatsAnswer { bytes, characters, summary, records, by_path: if several { by_path } else { Vec::new() } }
}
