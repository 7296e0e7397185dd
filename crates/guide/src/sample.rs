//! Samples of one long array: the indices are drawn first, and only their elements are read.

use std::io;

use trommel::path::{Query, Selector};
use trommel::reader::Framing;
use trommel::sampler::{systematic_indices, winners};
use trommel::{
    Analysis, Answer, Coverage, Document, Extract, ItemOrigin, Match, Measure, Report, Sample, SampleAnswer,
    SampleItem, Sink, Strategy,
};

use crate::error::Result;
use crate::index::Index;

/// The largest sample that is drawn by indices.
const MAX_ITEMS: u64 = 1000;

/// Bytes of the input for each item, with which drawing by indices reads less.
const BYTES_PER_ITEM: u64 = 256 << 10;

/// Answers an analysis that draws one sample from the elements of an array of a single document.
/// `None` if another way is needed.
pub(crate) fn sample(
    index: &Index,
    analysis: &Analysis,
    document: &mut Document<'_>,
) -> Result<Option<Report>> {
    let with_origins = matches!(analysis.measures(), [Measure::Sample(sample)] if sample.origins);
    let mut drawn = Vec::new();
    let draw = draw(index, analysis, document, &mut |index, found| {
        let origin = with_origins.then(|| {
            let location = found.location.unwrap_or("").to_owned();
            ItemOrigin { document: 0, span: found.span, record: found.record, location }
        });
        drawn.push(SampleItem { index, value: found.value.to_vec(), origin });
    })?;
    Ok(draw.map(|(total, coverage)| {
        Report::new(vec![Answer::Sample(SampleAnswer::new(drawn, total))], coverage)
    }))
}

/// Calls `each` with the index and the value of each item of a sample. Returns the size of the
/// population and the coverage.
pub(crate) fn draw(
    index: &Index,
    analysis: &Analysis,
    document: &mut Document<'_>,
    each: &mut dyn FnMut(u64, &Match<'_>),
) -> Result<Option<(u64, Coverage)>> {
    let [Measure::Sample(sample)] = analysis.measures() else { return Ok(None) };
    let is_plain = analysis.filters().is_empty() && analysis.each_query().is_none();
    let is_single =
        matches!(document.current_framing(), Framing::Auto | Framing::Single) && index.records() == 1;
    let size = sample.size.get() as u64;
    let pays = size <= MAX_ITEMS && size.saturating_mul(BYTES_PER_ITEM) <= index.length();
    let can = is_plain && is_single && pays;
    let array = if can { array(sample) } else { None };
    let Some(array) = array else { return Ok(None) };
    let settings = analysis.settings().cancel_with(analysis.cancel());
    let mut count = |query: Query| -> Result<Report> { Ok(settings.clone().count(query).run(document)?) };
    let counted = count(array.clone().with_wildcard())?;
    let Some(total @ 1..) = counted.answers.first().and_then(Answer::count) else { return Ok(None) };
    // The members of an object have no indices.
    let first = count(array.clone().with_child(Selector::Index(0)))?;
    if first.answers.first().and_then(Answer::count) != Some(1) {
        return Ok(None);
    }
    let Some(mut indices) = indices(sample, total) else { return Ok(None) };
    indices.sort_unstable();
    let query = array.with_children(indices.iter().map(|index| Selector::Index(*index as i64)).collect());
    let mut items = Items { each, indices: indices.into_iter(), is_located: sample.origins };
    settings.ask(Measure::Extract(Extract::new(query))).run_with(document, &mut items)?;
    Ok(Some((total, counted.coverage)))
}

/// The query of the array whose elements are the population.
fn array(sample: &Sample) -> Option<Query> {
    let text = sample.query.to_string();
    let array: Query = text.strip_suffix("[*]").unwrap_or(&text).parse().ok()?;
    array.is_singular().then_some(array)
}

fn indices(sample: &Sample, total: u64) -> Option<Vec<u64>> {
    let size = sample.size.get() as u64;
    Some(match sample.strategy {
        Strategy::Random => winners(sample.seed, sample.size, total),
        Strategy::First => (0..size.min(total)).collect(),
        Strategy::Last => (total.saturating_sub(size)..total).collect(),
        Strategy::Systematic(None) => systematic_indices(sample.size, total).collect(),
        _ => return None,
    })
}

/// Passes on the elements of these indices.
struct Items<'e> {
    each: &'e mut dyn FnMut(u64, &Match<'_>),
    indices: std::vec::IntoIter<u64>,
    is_located: bool,
}

impl Sink for Items<'_> {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        let index = self.indices.next();
        let index =
            index.ok_or_else(|| io::Error::other("an array has more elements than its guide says"))?;
        (self.each)(index, found);
        Ok(())
    }

    fn wants_location(&self) -> bool {
        self.is_located
    }
}
