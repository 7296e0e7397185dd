//! The bytes of every path, counted byte by byte.

use super::Population;
use super::fields::Paths;
use crate::naive::{Data, Document, Span, ValueId};
use std::collections::BTreeMap;

/// The bytes of all values of one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The number of values.
    pub count: u64,
    /// From the first byte of each value to its last one.
    pub values: u64,
    /// The names with their quotes and colons.
    pub names: u64,
    /// White space in the values, outside of names and of the values in them.
    pub space: u64,
}

/// Returns the bytes of all values at most `max_depth` values deep, by path. The population is that
/// of one text.
pub fn bytes(population: &Population<'_>, text: &[u8], max_depth: u32) -> BTreeMap<String, Bytes> {
    let paths = Paths::of(population);
    let mut rows: BTreeMap<String, Bytes> = BTreeMap::new();
    for (number, &(document, root)) in population.iter().enumerate() {
        for id in document.subtree(root) {
            let depth = document[id].depth - document[root].depth;
            if depth < max_depth {
                let row = rows.entry(paths.path(number, id).to_owned()).or_default();
                row.count += 1;
                row.values += document[id].span.range().len() as u64;
                row.space += own_space(document, id, text);
            }
            if depth + 1 >= max_depth {
                continue;
            }
            if let Data::Object(members) = &document[id].data {
                for member in members {
                    let path = paths.path(number, member.value).to_owned();
                    rows.entry(path).or_default().names += member.name_span.range().len() as u64 + 1;
                }
            }
        }
    }
    rows
}

/// The white space in a value that is in none of its names and children.
fn own_space(document: &Document, id: ValueId, text: &[u8]) -> u64 {
    let mut covered: Vec<Span> = document.children(id).iter().map(|&child| document[child].span).collect();
    match &document[id].data {
        Data::Object(members) => covered.extend(members.iter().map(|member| member.name_span)),
        Data::Array(_) => {}
        _ => return 0,
    }
    let is_space = |at: u64| text[at as usize].is_ascii_whitespace();
    let is_own = |at: u64| covered.iter().all(|span| at < span.start || at >= span.end);
    let span = document[id].span;
    (span.start..span.end).filter(|&at| is_space(at) && is_own(at)).count() as u64
}
