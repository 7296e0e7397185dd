//! Rows of containers by path.

use super::Population;
use super::fields::Paths;
use crate::naive::{Data, Kind};
use std::collections::{BTreeMap, BTreeSet};

/// All arrays, or all objects, of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Containers {
    /// The shorthand path, the same for all elements of an array and for all members of a map.
    pub path: String,
    /// [`Kind::Array`] or [`Kind::Object`].
    pub kind: Kind,
    /// The number of containers in the row.
    pub count: u64,
    /// The total number of elements or members.
    pub total: u64,
    /// The number of elements or members of the smallest container.
    pub min: u64,
    /// The number of elements or members of the largest container.
    pub max: u64,
    /// The types of the elements or of the members' values.
    pub types: BTreeSet<Kind>,
}

impl Containers {
    /// Returns the types of the elements joined by `|`, or `empty`.
    pub fn item_type(&self) -> String {
        if self.types.is_empty() {
            return "empty".into();
        }
        self.types.iter().map(|kind| kind.name()).collect::<Vec<_>>().join("|")
    }
}

/// Returns the rows of all containers at most `max_depth` values deep (the values of the population
/// have depth 1), arrays and objects mixed, in order of first appearance.
pub fn containers(population: &Population<'_>, max_depth: u32) -> Vec<Containers> {
    let mut rows: Vec<Containers> = Vec::new();
    let paths = Paths::of(population);
    let mut known: BTreeMap<(&str, Kind), usize> = BTreeMap::new();
    for (number, &(document, root)) in population.iter().enumerate() {
        for id in document.subtree(root) {
            let value = &document[id];
            let kind = value.data.kind();
            let is_container = matches!(value.data, Data::Array(_) | Data::Object(_));
            if !is_container || value.depth - document[root].depth >= max_depth {
                continue;
            }
            let path = paths.path(number, id);
            let row = *known.entry((path, kind)).or_insert_with(|| {
                let (path, count, total, min, max) = (path.to_owned(), 0, 0, u64::MAX, 0);
                rows.push(Containers { path, kind, count, total, min, max, types: BTreeSet::new() });
                rows.len() - 1
            });
            let row = &mut rows[row];
            let children = document.children(id);
            let length = children.len() as u64;
            row.count += 1;
            row.total += length;
            row.min = row.min.min(length);
            row.max = row.max.max(length);
            row.types.extend(children.iter().map(|&child| document[child].data.kind()));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive::parse;

    #[test]
    fn all_containers_of_a_path_share_a_row() {
        let document = parse(br#"{"u":[{"t":[1,"a"],"first name":{}},{"t":[]},[null]]}"#).unwrap();
        let rows = containers(&[(&document, document.root())], 10);
        let short: Vec<_> = rows
            .iter()
            .map(|row| (row.path.as_str(), row.count, row.total, row.min, row.max, row.item_type()))
            .collect();
        assert_eq!(
            short,
            [
                ("$", 1, 1, 1, 1, "array".into()),
                ("$.u", 1, 3, 3, 3, "array|object".into()),
                ("$.u[*]", 2, 3, 1, 2, "array|object".into()),
                ("$.u[*].t", 2, 2, 0, 2, "number|string".into()),
                ("$.u[*]['first name']", 1, 0, 0, 0, "empty".into()),
                ("$.u[*]", 1, 1, 1, 1, "null".into()),
            ]
        );
        assert_eq!(containers(&[(&document, document.root())], 2).len(), 2);
    }
}
