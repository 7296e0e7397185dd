//! The paths that there are in an output, as far as a short look shows, to say what may have been meant by one that
//! leads nowhere.

use std::collections::HashSet;

use trommel::path::{Query, Segment, Selector};
use trommel::reader::{Cursor, Event, Kind};

use super::text::chars;

/// Paths that are remembered.
const PATHS: usize = 4_000;

/// Characters of a path that is remembered.
const PATH: usize = 300;

/// Bytes that are looked at.
const BYTES: u64 = 256 << 20;

/// Elements of an array, members of an object and records of a stream that are looked at; the others are passed over.
const CHILDREN: u32 = 200;

/// Containers within each other that are looked into.
const DEPTH: usize = 24;

/// The paths of an output in shorthand, elements of arrays not told apart, in order of first appearance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    paths: Vec<String>,
}

impl Shape {
    /// Looks at what a cursor goes over. What cannot be read ends the look, no more.
    pub(crate) fn of(cursor: &mut Cursor<'_>) -> Self {
        let mut look = Look::default();
        let mut records = 0;
        while records < CHILDREN && matches!(cursor.next_record(), Ok(true)) {
            if look.record(cursor).is_none() {
                break;
            }
            records += 1;
        }
        Self { paths: look.paths }
    }

    /// Bytes of memory, to speak of.
    pub(crate) fn weight(&self) -> usize {
        self.paths.iter().map(|path| path.len() + size_of::<String>()).sum()
    }

    /// The path that is most like a query, or that ends in the same name; nothing where none is like it.
    pub(crate) fn nearest(&self, query: &Query) -> Option<String> {
        let pattern = pattern(query);
        if self.paths.contains(&pattern) {
            // There is such a path, but not with this index or filter.
            return None;
        }
        let searches = pattern.find("..").map(|at| pattern.split_at(at));
        match searches {
            Some((_, end)) => self.nearest_end(end.trim_start_matches('.')).map(|end| format!("$..{end}")),
            None => Self::nearest_to(&pattern, self.paths.iter().map(String::as_str))
                .or_else(|| self.of_same_name(query))
                .map(str::to_owned),
        }
    }

    fn nearest_to<'a>(wanted: &str, paths: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        let length = chars(wanted);
        let most = (length / 3).max(2);
        let near = paths.filter(|path| length.abs_diff(chars(path)) <= most);
        let rated = near.map(|path| (strsim::damerau_levenshtein(wanted, path), path));
        let (distance, path) = rated.min_by_key(|(distance, _)| *distance)?;
        (distance <= most && distance > 0).then_some(path)
    }

    /// The nearest of what paths end in, from a name on.
    fn nearest_end(&self, wanted: &str) -> Option<&str> {
        let steps = names(wanted);
        let ends = self.paths.iter().filter_map(|path| {
            let from = path.match_indices('.').map(|(at, _)| at).rev().nth(steps.checked_sub(1)?)?;
            path.get(from + 1..)
        });
        let mut known = HashSet::new();
        Self::nearest_to(wanted, ends.filter(|end| known.insert(*end)))
    }

    /// The shortest path that ends in the name in which the query ends.
    fn of_same_name(&self, query: &Query) -> Option<&str> {
        let names = query.segments().iter().filter_map(|segment| match segment.selectors.as_slice() {
            [Selector::Name(name)] => Some(name),
            _ => None,
        });
        let last = names.last()?;
        let mut end = String::new();
        push_name(last, &mut end);
        self.paths
            .iter()
            .filter(|path| path.ends_with(&end))
            .min_by_key(|path| path.len())
            .map(String::as_str)
    }
}

fn names(path: &str) -> usize {
    path.matches('.').count() + 1
}

/// A query as the paths are written that it could select: `[*]` for whatever selects elements.
fn pattern(query: &Query) -> String {
    let mut pattern = String::from("$");
    for Segment { descendant, selectors } in query.segments().iter() {
        match (selectors.as_slice(), descendant) {
            ([Selector::Name(name)], true) => {
                pattern.push_str("..");
                pattern.push_str(name);
            }
            ([Selector::Name(name)], false) => push_name(name, &mut pattern),
            (_, true) => pattern.push_str("..[*]"),
            (_, false) => pattern.push_str("[*]"),
        }
    }
    pattern
}

/// Appends a step into a member: after a dot where RFC 9535 allows it, else in brackets.
pub(crate) fn push_name(name: &str, path: &mut String) {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
    if name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit()) {
        path.push('.');
        path.push_str(name);
        return;
    }
    let mut location = trommel::path::Location::new();
    location.push_name(name);
    path.push_str(location.to_string().trim_start_matches('$'));
}

/// A look in progress: the path of the value that comes next, and the containers around it.
#[derive(Debug, Default)]
struct Look {
    paths: Vec<String>,
    known: HashSet<String>,
    path: String,
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    /// Length of the container's own path.
    length: usize,
    children: u32,
}

impl Look {
    /// Goes through one record. Nothing when there is no need or no way to look on.
    fn record(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        self.path = "$".into();
        self.open.clear();
        while let Some(event) = cursor.advance().ok()? {
            if cursor.offset() > BYTES {
                return None;
            }
            match event {
                Event::Name => {
                    let length = self.open.last().map_or(1, |open| open.length);
                    self.path.truncate(length);
                    push_name(&cursor.name()?.decode(), &mut self.path);
                }
                Event::Begin(kind) => {
                    self.note()?;
                    self.open.push(Open { length: self.path.len(), children: 0 });
                    if kind == Kind::Array {
                        self.path.push_str("[*]");
                    }
                    if self.open.len() > DEPTH || chars(&self.path) > PATH {
                        self.leave(cursor)?;
                    }
                }
                Event::Scalar(_) => {
                    self.note()?;
                    self.child_ended(cursor)?;
                }
                Event::End(_) => {
                    self.close();
                    self.child_ended(cursor)?;
                }
            }
        }
        Some(())
    }

    /// Remembers the present path.
    fn note(&mut self) -> Option<()> {
        if chars(&self.path) <= PATH && !self.known.contains(&self.path) {
            self.known.insert(self.path.clone());
            self.paths.push(self.path.clone());
        }
        (self.paths.len() < PATHS).then_some(())
    }

    fn close(&mut self) {
        if let Some(open) = self.open.pop() {
            self.path.truncate(open.length);
        }
    }

    /// A child of the innermost container has ended; when there were enough, the container is left.
    fn child_ended(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let Some(open) = self.open.last_mut() else { return Some(()) };
        open.children += 1;
        if open.children >= CHILDREN { self.leave(cursor) } else { Some(()) }
    }

    /// Leaves the innermost container, and those around it that have shown enough by that.
    fn leave(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        cursor.leave().ok()?;
        self.close();
        self.child_ended(cursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::reader::{Config, Framing, Validation, View};

    fn shape(text: &str) -> Shape {
        let config = Config::new().validation(Validation::Structural);
        Shape::of(&mut Cursor::from_view(View::new(text.as_bytes()), Framing::Auto, &config))
    }

    fn nearest(shape: &Shape, query: &str) -> String {
        shape.nearest(&query.parse().unwrap()).unwrap_or_default()
    }

    #[test]
    fn paths_in_order_of_first_appearance() {
        let text = r#"{"a": [{"b": 1, "c d": [[]]}, {"b": 2, "e": null}], "f": {}} [7]"#;
        let paths = [
            "$",
            "$.a",
            "$.a[*]",
            "$.a[*].b",
            "$.a[*]['c d']",
            "$.a[*]['c d'][*]",
            "$.a[*].e",
            "$.f",
            "$[*]",
        ];
        assert_eq!(shape(&text.replace("} [", "}\n[")).paths, paths);
        for path in paths {
            path.parse::<Query>().unwrap();
        }
    }

    #[test]
    fn what_is_behind_a_long_array_is_seen() {
        let long = format!(
            r#"{{"a": [{}0], "deep": {}1{}, "last": 1}}"#,
            "[1,2],".repeat(1000),
            "[".repeat(60),
            "]".repeat(60)
        );
        let shape = shape(&long);
        assert_eq!(shape.paths.last().unwrap(), "$.last");
        assert!(shape.weight() > 10);
    }

    #[test]
    fn a_look_is_bounded() {
        let wide: Vec<String> = (0..100).map(|n| format!("\"k{n}\": {{{}}}", members(150, n))).collect();
        assert_eq!(shape(&format!("{{{}}}", wide.join(","))).paths.len(), PATHS);
        assert_eq!(shape("[1, 2").paths, ["$", "$[*]"]);
        assert_eq!(shape("").paths, [""; 0]);
    }

    fn members(count: u32, seed: u32) -> String {
        let members: Vec<String> = (0..count).map(|n| format!("\"m{seed}_{n}\": 1")).collect();
        members.join(",")
    }

    #[test]
    fn the_nearest_path_or_none() {
        let shape = shape(r#"{"data": {"users": [{"email": "x", "address": {"zip": 1}}]}, "total": 3}"#);
        for (query, expected) in [
            ("$.data.user[*].email", "$.data.users[*].email"),
            ("$.data.users[0].emial", "$.data.users[*].email"),
            ("$.data.users.email", "$.data.users[*].email"),
            ("$.Total", "$.total"),
            ("$..emial", "$..email"),
            ("$..adress.zip", "$..address.zip"),
            ("$.zip", "$.data.users[*].address.zip"),
            ("$.something.else.entirely", ""),
            ("$..quantity", ""),
            ("$.data.users[?@.x > 1].emails", "$.data.users[*].email"),
        ] {
            assert_eq!(nearest(&shape, query), expected, "{query}");
        }
    }
}
