//! The paths of values, with maps folded, and rows of all values by path.

use super::Population;
use crate::naive::{Data, Kind, ValueId, is_shorthand, normalized_name};
use std::collections::{BTreeMap, BTreeSet};

/// All values of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The shorthand path, the same for all elements of an array and for all members of a map.
    pub path: String,
    /// The number of values of each type that occurs.
    pub kinds: BTreeMap<Kind, u64>,
    /// The number of values.
    pub count: u64,
    /// The number of objects of the parent path without the name; 0 for elements, members of maps,
    /// and the values of the population.
    pub missing: u64,
}

/// Returns the rows of all values at most `max_depth` values deep, in order of first appearance.
pub fn fields(population: &Population<'_>, max_depth: u32) -> Vec<Field> {
    let paths = Paths::of(population);
    let mut rows: Vec<Field> = Vec::new();
    let mut by_group: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, &(document, root)) in population.iter().enumerate() {
        for id in document.subtree(root) {
            if document[id].depth - document[root].depth >= max_depth {
                continue;
            }
            let group = paths.groups[&(number, id)];
            let row = *by_group.entry(group).or_insert_with(|| {
                let (path, missing) = paths.paths[group].clone();
                rows.push(Field { path, kinds: BTreeMap::new(), count: 0, missing });
                rows.len() - 1
            });
            rows[row].count += 1;
            *rows[row].kinds.entry(document[id].data.kind()).or_default() += 1;
        }
    }
    rows
}

/// A value: the index of its root in the population, and its id.
type Member = (usize, ValueId);

/// The paths of all values of a population.
pub(super) struct Paths {
    /// The index of the path of each value.
    groups: BTreeMap<Member, usize>,
    /// Each path, with the number of objects that could have its name and do not.
    paths: Vec<(String, u64)>,
}

impl Paths {
    pub(super) fn of(population: &Population<'_>) -> Self {
        let mut found = Self { groups: BTreeMap::new(), paths: Vec::new() };
        let roots: Vec<Member> = population.iter().enumerate().map(|(at, &(_, root))| (at, root)).collect();
        let mut tasks = vec![("$".to_owned(), 0, roots)];
        while let Some((path, missing, values)) = tasks.pop() {
            if values.is_empty() {
                continue;
            }
            let group = found.paths.len();
            found.groups.extend(values.iter().map(|&value| (value, group)));
            let (mut items, mut objects) = (Vec::new(), Vec::new());
            for &(number, id) in &values {
                match &population[number].0[id].data {
                    Data::Array(elements) => items.extend(elements.iter().map(|&id| (number, id))),
                    Data::Object(_) => objects.push((number, id)),
                    _ => {}
                }
            }
            tasks.push((format!("{path}[*]"), 0, items));
            let names = members(population, &objects);
            if is_map(population, &objects, &names) {
                let all = names.into_values().flat_map(|named| named.values).collect();
                tasks.push((format!("{path}.*"), 0, all));
            } else {
                for (name, Named { values, objects: with }) in names {
                    let segment = if is_shorthand(&name) {
                        format!(".{name}")
                    } else {
                        format!("[{}]", normalized_name(&name))
                    };
                    tasks.push((format!("{path}{segment}"), (objects.len() - with.len()) as u64, values));
                }
            }
            found.paths.push((path, missing));
        }
        found
    }

    /// Returns the path of a value below the root with this index.
    pub(super) fn path(&self, number: usize, id: ValueId) -> &str {
        &self.paths[self.groups[&(number, id)]].0
    }
}

/// The values of a name, and the objects that have it.
#[derive(Default)]
struct Named {
    values: Vec<Member>,
    objects: BTreeSet<Member>,
}

/// Returns the members of objects by name.
fn members(population: &Population<'_>, objects: &[Member]) -> BTreeMap<String, Named> {
    let mut names: BTreeMap<String, Named> = BTreeMap::new();
    for &(number, id) in objects {
        for member in population[number].0.members(id) {
            let found = names.entry(member.name.clone()).or_default();
            found.values.push((number, member.value));
            found.objects.insert((number, id));
        }
    }
    names
}

/// Objects are maps if they have over 100 distinct names, and either none of them is in half of the
/// objects, or there is one object, whose members have the same shape.
fn is_map(population: &Population<'_>, objects: &[Member], names: &BTreeMap<String, Named>) -> bool {
    let rare = names.values().all(|named| named.objects.len() * 2 < objects.len());
    let values: Vec<Member> = names.values().flat_map(|named| &named.values).copied().collect();
    names.len() > 100 && (rare || objects.len() == 1 && are_alike(population, &values))
}

/// Members have the same shape if they have one type, and if they are objects, four fifths of their
/// names in common: the names that each shares with each other one, of all its names.
fn are_alike(population: &Population<'_>, values: &[Member]) -> bool {
    let kinds: BTreeSet<Kind> =
        values.iter().map(|&(number, id)| population[number].0[id].data.kind()).collect();
    if kinds.len() != 1 {
        return false;
    }
    // Objects with the same names are compared once.
    let mut shapes: BTreeMap<BTreeSet<&str>, usize> = BTreeMap::new();
    for &(number, id) in values {
        let Data::Object(members) = &population[number].0[id].data else { return true };
        *shapes.entry(members.iter().map(|member| member.name.as_str()).collect()).or_default() += 1;
    }
    let (mut shared, mut all) = (0, 0);
    for (one, one_count) in &shapes {
        for (other, other_count) in &shapes {
            let pairs = one_count * (other_count - usize::from(one == other));
            shared += pairs * one.intersection(other).count();
            all += pairs * one.len();
        }
    }
    shared * 5 >= all * 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive::parse;

    fn rows(text: &str) -> Vec<(String, u64, u64)> {
        let document = parse(text.as_bytes()).unwrap();
        let rows = fields(&[(&document, document.root())], u32::MAX);
        rows.into_iter().map(|row| (row.path, row.count, row.missing)).collect()
    }

    fn map(value: impl Fn(u32) -> String) -> String {
        let members: Vec<String> = (0..101).map(|id| format!("\"{id}\":{}", value(id))).collect();
        format!("{{{}}}", members.join(","))
    }

    #[test]
    fn counts_values_and_missing_names() {
        let found = rows(r#"[{"a":1,"b c":2},{"a":[],"a":null},7]"#);
        let expected = [("$", 1, 0), ("$[*]", 3, 0), ("$[*].a", 3, 0), ("$[*]['b c']", 1, 1)];
        assert_eq!(found, expected.map(|(path, count, missing)| (path.to_owned(), count, missing)));
    }

    #[test]
    fn folds_maps() {
        let paths = |text: &str| rows(text).into_iter().map(|row| row.0).collect::<Vec<_>>();
        let same = map(|id| format!(r#"{{"a":{id},"b":[1]}}"#));
        assert_eq!(paths(&same), ["$", "$.*", "$.*.a", "$.*.b", "$.*.b[*]"]);
        assert_eq!(paths(&map(|id| if id == 7 { "1".into() } else { "{}".into() })).len(), 102);
        // Of five names, four are in common.
        assert_eq!(paths(&map(|id| format!(r#"{{"a":1,"b":1,"c":1,"d":1,"{id}":1}}"#)))[1], "$.*");
        assert_eq!(paths(&map(|id| format!(r#"{{"a":1,"b":1,"c":1,"{id}":1}}"#)))[1], "$['0']");
    }
}
