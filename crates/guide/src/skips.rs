//! Extractions that skip the first elements of a long array: they begin at the first one that they
//! extract.

use trommel::path::{Query, Selector};
use trommel::reader::Framing;
use trommel::{Analysis, Count, Document, Measure};

use crate::error::Result;

/// The largest index (RFC 9535, section 2.1).
const MAX_INDEX: u64 = (1 << 53) - 1;

/// The same analysis of a document that has a guide, without visiting the elements that its
/// extractions of `[*]` skip. `None` if no extraction skips elements of one array.
///
/// The values and their order are the same. Reads the first element of each such array.
///
/// # Errors
/// Those of reading.
pub fn without_skipped(analysis: &Analysis, document: &mut Document<'_>) -> Result<Option<Analysis>> {
    let is_plain = analysis.filters().is_empty() && analysis.each_query().is_none();
    let is_single = matches!(document.current_framing(), Framing::Auto | Framing::Single);
    let arrays: Vec<Option<Query>> = analysis.measures().iter().map(skipped_array).collect();
    let skips = is_plain && is_single && document.guide().is_some() && document.is_repeatable();
    if !skips || arrays.iter().all(Option::is_none) {
        return Ok(None);
    }
    // The members of an object have no indices, and each document of a stream has elements of its
    // own.
    let mut first = analysis.settings().cancel_with(analysis.cancel()).ask(Measure::Count({
        let mut records = Count::new(Query::root());
        records.limit = Some(2);
        records
    }));
    for array in arrays.iter().flatten() {
        first = first.count(array.clone().with_child(Selector::Index(0)));
        // If all members of a repeated name count, an object may be beside the array.
        first = first.count(array.clone());
    }
    let found = first.run(document)?;
    if found.answers.iter().any(|answer| answer.count() != Some(1)) {
        return Ok(None);
    }
    let measures = analysis.measures().iter().cloned().zip(arrays).map(|pair| match pair {
        (Measure::Extract(mut extract), Some(_)) => {
            extract.query = extract.query.with_last_slice(extract.skip, u64::MAX);
            extract.skip = 0;
            Measure::Extract(extract)
        }
        (other, _) => other,
    });
    Ok(Some(measures.fold(analysis.clone().without_measures(), Analysis::ask)))
}

/// The array whose elements an extraction skips.
fn skipped_array(measure: &Measure) -> Option<Query> {
    let Measure::Extract(extract) = measure else { return None };
    if !(1..=MAX_INDEX).contains(&extract.skip) {
        return None;
    }
    let text = extract.query.to_string();
    let array: Query = text.strip_suffix("[*]")?.parse().ok()?;
    array.is_singular().then_some(array)
}
