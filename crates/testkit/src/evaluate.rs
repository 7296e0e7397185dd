//! RFC 9535 implemented literally, over the tree of [`naive`](crate::naive).
//!
//! Nothing is planned, indexed, or skipped. A segment is applied to every node of the previous node
//! list, a descendant segment walks the whole subtree, and a filter is evaluated again for every
//! candidate. The node list has the order of the RFC, with members in the order of the text, and
//! contains a node as often as it was selected.
//!
//! Choices for objects with repeated names, which the RFC leaves open:
//! - [`Duplicates`] determines the members that a name selector selects, in filters too;
//! - wildcards, descendant segments, filter selectors, and `length` consider every member under any
//!   policy;
//! - a query in a comparison has the value of the first node it selects;
//! - two objects are compared by the first member of each name.

mod compare;
mod filter;
mod function;
mod pattern;
mod selector;

use crate::naive::{Document, Span, ValueId};
use trommel_query::{Logical, Segments};

/// The members that a name selector selects in an object that repeats the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Duplicates {
    /// The first member of that name.
    First,
    /// The last member of that name.
    Last,
    /// Every member of that name.
    All,
}

/// A selected node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The value.
    pub value: ValueId,
    /// The span of the value.
    pub span: Span,
    /// Its normalized path.
    pub path: String,
}

/// Returns the node list of a query that starts at the root, in the order of the RFC.
pub fn evaluate(document: &Document, query: &Segments, duplicates: Duplicates) -> Vec<Node> {
    let evaluation = Evaluation { document, duplicates };
    let node = |value| Node { value, span: document[value].span, path: document.path(value) };
    evaluation.select(document.root(), query).into_iter().map(node).collect()
}

/// Returns true if a filter holds for the whole document. Both `@` and `$` are its root.
pub fn holds(document: &Document, filter: &Logical, duplicates: Duplicates) -> bool {
    Evaluation { document, duplicates }.holds(filter, document.root())
}

/// Sorts nodes by their start in the text. A node selected several times occurs several times in a
/// row.
pub fn in_document_order(mut nodes: Vec<Node>) -> Vec<Node> {
    nodes.sort_by_key(|node| node.span.start);
    nodes
}

/// The constant inputs of an evaluation.
#[derive(Clone, Copy)]
struct Evaluation<'a> {
    document: &'a Document,
    duplicates: Duplicates,
}

impl Evaluation<'_> {
    /// Returns the nodes that `query` selects when it starts at `start`.
    fn select(self, start: ValueId, query: &Segments) -> Vec<ValueId> {
        let mut nodes = vec![start];
        for segment in query.iter() {
            let mut selected = Vec::new();
            for node in nodes {
                if segment.descendant {
                    for inner in self.document.subtree(node) {
                        self.child_segment(inner, &segment.selectors, &mut selected);
                    }
                } else {
                    self.child_segment(node, &segment.selectors, &mut selected);
                }
            }
            nodes = selected;
        }
        nodes
    }
}
