//! Exact figures about documents, counted value by value over the tree of [`naive`](crate::naive).
//!
//! Terms and names follow the tool `tool_outputs.stats`: depth counts values (the root is 1), keys
//! count members with repetitions, and characters count Unicode scalar values of the text. A row
//! covers all values of one path: the [shorthand path](Document::shorthand_path), except that the
//! members of maps share the path `.*`. Rows are in order of first appearance. Nothing is capped.

mod bytes;
mod fields;
mod rows;
mod sum;
mod values;

pub use bytes::{Bytes, bytes};
pub use fields::{Field, fields};
pub use rows::{Containers, containers};
pub use sum::Sum;
pub use values::{Lengths, PathValues, path_values};

use crate::naive::{Data, Document, Kind, Span, ValueId};
use std::collections::{BTreeMap, BTreeSet};

/// The values to count, each with everything inside it.
pub type Population<'a> = [(&'a Document, ValueId)];

/// Length of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Bytes.
    pub bytes: u64,
    /// Unicode scalar values.
    pub characters: u64,
}

/// Figures about the structure of a population.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    /// The common type of all values of the population; `None` if they differ or there are none.
    pub root_type: Option<Kind>,
    /// The number of values on the longest path from a root to a leaf, both included.
    pub max_depth: u64,
    /// Members, repetitions included.
    pub total_keys: u64,
    /// Values, containers and roots included.
    pub total_values: u64,
    /// Members whose name occurred before in the same object.
    pub duplicate_names: u64,
    /// The number of values of each type that occurs.
    pub types: BTreeMap<Kind, u64>,
}

/// Returns the size of a text, which must be UTF-8.
pub fn size(text: &[u8]) -> Size {
    let characters = str::from_utf8(text).expect("a JSON text is UTF-8").chars().count() as u64;
    Size { bytes: text.len() as u64, characters }
}

/// Returns the total size of some spans of a text.
pub fn size_of(text: &[u8], spans: &[Span]) -> Size {
    spans.iter().map(|span| size(&text[span.range()])).fold(Size::default(), |sum, part| Size {
        bytes: sum.bytes + part.bytes,
        characters: sum.characters + part.characters,
    })
}

/// Counts the values of a population.
pub fn structure(population: &Population<'_>) -> Structure {
    let mut structure = Structure::default();
    let roots: BTreeSet<Kind> =
        population.iter().map(|&(document, root)| document[root].data.kind()).collect();
    if roots.len() == 1 {
        structure.root_type = roots.first().copied();
    }
    for &(document, root) in population {
        for id in document.subtree(root) {
            let value = &document[id];
            structure.total_values += 1;
            structure.max_depth = structure.max_depth.max(u64::from(value.depth - document[root].depth) + 1);
            *structure.types.entry(value.data.kind()).or_default() += 1;
            if let Data::Object(members) = &value.data {
                let distinct: BTreeSet<&str> = members.iter().map(|member| member.name.as_str()).collect();
                structure.total_keys += members.len() as u64;
                structure.duplicate_names += (members.len() - distinct.len()) as u64;
            }
        }
    }
    structure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive::parse;

    #[test]
    fn counts_everything() {
        let text = r#"{"a":[1,{"a":null,"b":"ü","a":true}],"b":[]}"#.as_bytes();
        let document = parse(text).unwrap();
        let found = structure(&[(&document, document.root())]);
        assert_eq!(
            (found.max_depth, found.total_keys, found.total_values, found.duplicate_names),
            (4, 5, 8, 1)
        );
        assert_eq!(found.root_type, Some(Kind::Object));
        let types: Vec<_> = found.types.into_iter().map(|(kind, count)| (kind.name(), count)).collect();
        assert_eq!(
            types,
            [("array", 2), ("boolean", 1), ("null", 1), ("number", 1), ("object", 2), ("string", 1)]
        );
        assert_eq!(size(text), Size { bytes: 45, characters: 44 });
        let array = document.member(document.root(), "a").unwrap();
        let found = structure(&[(&document, array), (&document, document.children(array)[1])]);
        assert_eq!(
            (found.max_depth, found.total_keys, found.total_values, found.root_type),
            (3, 6, 10, None)
        );
    }
}
