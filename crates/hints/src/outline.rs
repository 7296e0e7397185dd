//! The names and arrays of a document, collected by a bounded scan.

use std::collections::HashMap;

use trommel::reader::{Cursor, Event, Framing, Kind};

use super::{MAX_READ_BYTES, is_stream};

/// The maximum number of nodes.
const MAX_NODES: usize = 4_000;

/// The maximum number of bytes of all names.
const MAX_ALL_NAMES_BYTES: usize = 1 << 20;

/// The maximum number of bytes of one name.
const MAX_NAME_BYTES: usize = 300;

/// The maximum number of inspected elements of an array, members of an object, and records of a
/// stream. The others are skipped.
const MAX_CHILDREN: u64 = 200;

/// The number of bytes of an array after which no more of its elements are inspected.
const MAX_ELEMENTS_BYTES: u64 = 8 << 20;

/// The maximum depth of inspected containers.
const MAX_DEPTH: usize = 24;

/// The shape of a document: the names at each path, where all elements of an array share one path.
///
/// A scan is bounded: 256 MiB, 200 records, 200 children of a container, 8 MiB of the elements of
/// an array, 24 levels, and 4,000 nodes. The rest of a long root is not read if the document is one
/// record ([`Framing::Single`]).
#[derive(Clone, Debug)]
pub struct Outline {
    nodes: Vec<OutlineNode>,
    /// True if the document is a stream of records.
    pub(super) is_stream: bool,
    /// True if nothing was skipped.
    pub(super) is_complete: bool,
}

/// A node of the outline: all values at one path without indices.
#[derive(Clone, Debug, Default)]
struct OutlineNode {
    /// Members in order of first appearance.
    names: Vec<(Box<str>, usize)>,
    known: HashMap<Box<str>, usize>,
    element: Option<usize>,
    /// The number of elements of the longest array at this path.
    longest: Option<u64>,
}

impl Default for Outline {
    fn default() -> Self {
        Self { nodes: vec![OutlineNode::default()], is_stream: false, is_complete: false }
    }
}

impl Outline {
    /// The node of `$`.
    pub(super) const ROOT: usize = 0;

    /// Scans the input of a cursor. An error ends the scan, or skips the record if the framing
    /// allows that.
    pub(super) fn scan(cursor: &mut Cursor<'_>) -> Self {
        let outline = Self { is_complete: true, ..Self::default() };
        let mut scan = Scan { outline, names: 0, open: Vec::new(), member: Self::ROOT };
        let mut records = 0;
        // Unreadable records count too, so that the scan ends.
        for _ in 0..2 * MAX_CHILDREN {
            match cursor.next_record() {
                Ok(false) => break,
                Ok(true) if records == MAX_CHILDREN => {
                    scan.outline.is_complete = false;
                    break;
                }
                Ok(true) if scan.record(cursor).is_some() => records += 1,
                _ => {
                    scan.outline.is_complete = false;
                    if !cursor.can_recover() || scan.is_over(cursor) {
                        break;
                    }
                }
            }
        }
        scan.outline.is_stream = records > 1 || is_stream(cursor.framing());
        scan.outline
    }

    /// Returns the approximate size in bytes.
    pub fn weight(&self) -> usize {
        let names = self.nodes.iter().flat_map(|node| &node.names);
        names.map(|(name, _)| 2 * name.len()).sum::<usize>() + self.nodes.len() * 2 * size_of::<OutlineNode>()
    }

    /// Returns the node of the member with a name.
    pub(super) fn member(&self, node: usize, name: &str) -> Option<usize> {
        self.nodes.get(node)?.known.get(name).copied()
    }

    /// Returns the node of the elements.
    pub(super) fn element(&self, node: usize) -> Option<usize> {
        self.nodes.get(node)?.element
    }

    /// Returns the names of the members and their nodes, in order of first appearance.
    pub(super) fn names(&self, node: usize) -> impl Iterator<Item = (&str, usize)> {
        let names = self.nodes.get(node).map_or(&[][..], |node| &node.names);
        names.iter().map(|(name, node)| (&**name, *node))
    }

    /// Returns the number of elements in the longest array at a node; `None` if no array was seen
    /// there.
    pub(super) fn longest(&self, node: usize) -> Option<u64> {
        self.nodes.get(node)?.longest
    }

    /// Returns the steps from each node to its children: a name, or `None` for the step to the
    /// elements. Every node comes after its parent.
    pub(super) fn steps(&self) -> impl Iterator<Item = (usize, Option<&str>, usize)> {
        self.nodes.iter().enumerate().flat_map(|(from, node)| {
            let names = node.names.iter().map(move |(name, to)| (from, Some(&**name), *to));
            names.chain(node.element.map(|to| (from, None, to)))
        })
    }
}

/// A scan in progress.
struct Scan {
    outline: Outline,
    /// The number of bytes of names so far.
    names: usize,
    open: Vec<OpenContainer>,
    /// The node of the member whose name was read last.
    member: usize,
}

/// An open container.
struct OpenContainer {
    node: usize,
    kind: Kind,
    children: u64,
    /// The offset of its first bracket.
    start: u64,
}

impl Scan {
    fn is_over(&self, cursor: &Cursor<'_>) -> bool {
        cursor.offset() > MAX_READ_BYTES
            || self.outline.nodes.len() >= MAX_NODES
            || self.names > MAX_ALL_NAMES_BYTES
    }

    /// Reads one record. Returns `None` if the scan ends in it.
    fn record(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        self.open.clear();
        while let Some(event) = cursor.advance().ok()? {
            if self.is_over(cursor) {
                return None;
            }
            match event {
                Event::Name => {
                    let name = cursor.name()?.decode();
                    self.name(&name)?;
                }
                Event::Begin(kind) => self.begin(kind, cursor)?,
                Event::Scalar(_) => {
                    self.node();
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

    /// Prepares for the value of the member with this name.
    fn name(&mut self, name: &str) -> Option<()> {
        let from = self.open.last()?.node;
        if let Some(known) = self.outline.member(from, name) {
            self.member = known;
            return Some(());
        }
        self.member = self.new_node();
        // A name too long for a suggestion gets a node, so that its value can be read, but no entry
        // that leads to it.
        if name.len() > MAX_NAME_BYTES {
            self.outline.is_complete = false;
            return Some(());
        }
        self.names += name.len();
        let node = self.outline.nodes.get_mut(from)?;
        node.names.push((name.into(), self.member));
        node.known.insert(name.into(), self.member);
        Some(())
    }

    fn new_node(&mut self) -> usize {
        self.outline.nodes.push(OutlineNode::default());
        self.outline.nodes.len() - 1
    }

    /// Returns the node of the value that begins at the cursor.
    fn node(&mut self) -> usize {
        let Some(OpenContainer { node: from, kind, .. }) = self.open.last() else { return Outline::ROOT };
        let (from, is_array) = (*from, *kind == Kind::Array);
        if !is_array {
            return self.member;
        }
        if let Some(known) = self.outline.element(from) {
            return known;
        }
        let new = self.new_node();
        if let Some(node) = self.outline.nodes.get_mut(from) {
            node.element = Some(new);
        }
        new
    }

    fn begin(&mut self, kind: Kind, cursor: &mut Cursor<'_>) -> Option<()> {
        let node = self.node();
        self.open.push(OpenContainer { node, kind, children: 0, start: cursor.offset() });
        if self.open.len() > MAX_DEPTH { self.leave(cursor) } else { Some(()) }
    }

    /// Closes the innermost container.
    fn close(&mut self) {
        let Some(OpenContainer { node, kind: Kind::Array, children, .. }) = self.open.pop() else { return };
        if let Some(node) = self.outline.nodes.get_mut(node) {
            node.longest = node.longest.max(Some(children));
        }
    }

    /// Counts a child of the innermost container. After enough children or bytes, leaves the
    /// container.
    fn child_ended(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let Some(open) = self.open.last_mut() else { return Some(()) };
        open.children += 1;
        // Later elements are likely to be alike, later members are not.
        let is_long = open.kind == Kind::Array && cursor.offset() - open.start > MAX_ELEMENTS_BYTES;
        if is_long || open.children >= MAX_CHILDREN { self.leave(cursor) } else { Some(()) }
    }

    /// Leaves the innermost container, and every surrounding one that has enough children as a
    /// result.
    fn leave(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        self.outline.is_complete = false;
        if self.open.len() == 1 && cursor.framing() == Framing::Single {
            // Nothing follows the root, and the rest of it may be most of the input.
            self.close();
            return None;
        }
        cursor.leave().ok()?;
        self.close();
        self.child_ended(cursor)
    }
}

#[cfg(test)]
mod tests {
    use trommel::reader::{Config, Validation, View};

    use super::*;

    fn outline(text: &str) -> Outline {
        outline_of(text, Framing::Auto)
    }

    fn outline_of(text: &str, framing: Framing) -> Outline {
        let config = Config::new().validation(Validation::Structural);
        Outline::scan(&mut Cursor::from_view(View::new(text.as_bytes()), framing, &config))
    }

    /// The paths of all nodes, in order.
    fn paths(outline: &Outline) -> Vec<String> {
        let mut paths = vec![String::from("$"); outline.nodes.len()];
        for (from, name, to) in outline.steps() {
            paths[to] = match name {
                Some(name) => format!("{}.{name}", paths[from]),
                None => format!("{}[*]", paths[from]),
            };
        }
        paths
    }

    #[test]
    fn nodes_are_in_order_of_first_appearance() {
        let outline =
            outline("{\"a\": [{\"b\": 1, \"c d\": [[]]}, {\"b\": 2, \"e\": null}], \"f\": {}}\n[7]");
        let expected =
            ["$", "$.a", "$.a[*]", "$.a[*].b", "$.a[*].c d", "$.a[*].c d[*]", "$.a[*].e", "$.f", "$[*]"];
        assert_eq!(paths(&outline), expected);
        assert!(outline.is_stream && outline.is_complete);
        assert_eq!((outline.longest(0), outline.longest(1), outline.longest(2)), (Some(1), Some(2), None));
    }

    #[test]
    fn continues_after_a_long_array() {
        let long = format!(
            r#"{{"a": [{}0], "deep": {}1{}, "last": 1}}"#,
            "[1,2],".repeat(1000),
            "[".repeat(60),
            "]".repeat(60)
        );
        let outline = outline(&long);
        assert_eq!(paths(&outline).last().unwrap(), "$.last");
        assert!(!outline.is_complete && outline.weight() > 10);
    }

    #[test]
    fn the_rest_of_a_single_root_is_not_read() {
        let elements = r#"{"a":1},"#.repeat(200);
        // A scan that reads on finds the error in the rest, and the member after the array.
        let text = format!(r#"[{elements}{{"a":1}} "rest"]"#);
        let outline = outline_of(&text, Framing::Single);
        assert_eq!(paths(&outline), ["$", "$[*]", "$[*].a"]);
        assert!(!outline.is_complete && !outline.is_stream);
        assert_eq!(outline.longest(Outline::ROOT), Some(200));
        let inner = format!(r#"{{"rows":[{elements}{{"a":1}}],"last":1}}"#);
        assert_eq!(paths(&outline_of(&inner, Framing::Single)).last().unwrap(), "$.last");
    }

    #[test]
    fn long_elements_are_alike() {
        let long = |name: &str| format!(r#"{{"{name}":1,"text":"{}"}}"#, "x".repeat(5 << 20));
        let text = format!(r#"{{"rows":[{},{},{}],"last":1}}"#, long("a"), long("b"), long("c"));
        let outline = outline(&text);
        let names = ["$", "$.rows", "$.rows[*]", "$.rows[*].a", "$.rows[*].text", "$.rows[*].b", "$.last"];
        assert_eq!(paths(&outline), names);
        assert!(!outline.is_complete);
    }

    #[test]
    fn scans_are_bounded() {
        let members =
            |seed: u32| (0..150).map(|n| format!("\"m{seed}_{n}\": 1")).collect::<Vec<_>>().join(",");
        let wide: Vec<String> = (0..100).map(|n| format!("\"k{n}\": {{{}}}", members(n))).collect();
        assert_eq!(outline(&format!("{{{}}}", wide.join(","))).nodes.len(), MAX_NODES);
        assert_eq!(paths(&outline("[1, 2")), ["$", "$[*]"]);
        assert_eq!(paths(&outline("")), ["$"]);
        let long = outline(&format!(r#"{{"{}": {{"a": 1}}, "b": 2}}"#, "x".repeat(301)));
        assert!(long.member(0, "b").is_some() && long.names(0).count() == 1 && !long.is_complete);
    }
}
