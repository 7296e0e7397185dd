//! Rewrites queries to the names in a document: fixes misspelled names, and adds or removes array
//! steps.

use trommel::path::{
    Argument, Comparable, FilterQuery, FunctionCall, Logical, Query, Segment, Segments, Selector,
};
use trommel_base::nearest_one;

use super::outline::Outline;

/// The maximum number of changes. A query that needs more of them is a different query.
const MAX_CHANGES: usize = 4;

/// Rewrites queries to the nodes of an outline.
pub(super) struct Repair<'o> {
    outline: &'o Outline,
    changes: usize,
    pub(super) misspellings: Vec<Misspelling>,
}

/// An unknown name.
#[derive(Clone, Debug)]
pub(super) struct Misspelling {
    pub(super) wanted: String,
    /// The path to the nearest name, without indices and filters.
    pub(super) path: Query,
}

/// The result of following a query through an outline.
#[derive(Clone, Debug, Default)]
pub(super) struct Walk {
    /// The rewritten segments.
    segments: Vec<Segment>,
    /// The rewritten segments without indices and filters.
    general: Vec<Segment>,
    /// The nodes that the query leads to.
    nodes: Vec<usize>,
}

impl Walk {
    /// Creates a walk that starts at `$`.
    pub(super) fn from_root() -> Self {
        Self { nodes: vec![Outline::ROOT], ..Self::default() }
    }

    /// Returns the rewritten query.
    pub(super) fn query(&self) -> Query {
        of_segments(&self.segments)
    }

    /// Returns the rewritten query without indices and filters.
    pub(super) fn general(&self) -> Query {
        of_segments(&self.general)
    }

    /// Returns the nodes that the walk leads to.
    pub(super) fn nodes(&self) -> &[usize] {
        &self.nodes
    }

    fn push(&mut self, segment: Segment, general: Segment, nodes: Vec<usize>) {
        self.segments.push(segment);
        self.general.push(general);
        self.nodes = nodes;
    }
}

fn of_segments(segments: &[Segment]) -> Query {
    segments.iter().cloned().collect::<Segments>().into()
}

fn child(selector: Selector) -> Segment {
    Segment { descendant: false, selectors: vec![selector] }
}

impl<'o> Repair<'o> {
    pub(super) fn new(outline: &'o Outline) -> Self {
        Self { outline, changes: 0, misspellings: Vec::new() }
    }

    /// Returns true if anything was rewritten.
    pub(super) fn has_changed(&self) -> bool {
        self.changes > 0
    }

    /// Follows segments and rewrites those that lead nowhere. Returns `None` if no rewriting leads
    /// anywhere.
    pub(super) fn follow(&mut self, mut walk: Walk, segments: &Segments) -> Option<Walk> {
        for (number, segment) in (1..).zip(segments.iter()) {
            self.segment(&mut walk, segment, number == segments.iter().len())?;
        }
        (self.changes <= MAX_CHANGES).then_some(walk)
    }

    /// Rewrites a filter. `candidates` leads to the values that the filter tests.
    pub(super) fn filter(&mut self, filter: &Logical, candidates: &Walk) -> Logical {
        match filter {
            Logical::Or(any) => Logical::Or(any.iter().map(|one| self.filter(one, candidates)).collect()),
            Logical::And(all) => Logical::And(all.iter().map(|one| self.filter(one, candidates)).collect()),
            Logical::Not(one) => Logical::Not(Box::new(self.filter(one, candidates))),
            Logical::Exists(query) => Logical::Exists(self.inner(query, candidates)),
            Logical::Compare { left, op, right } => Logical::Compare {
                left: self.comparable(left, candidates),
                op: *op,
                right: self.comparable(right, candidates),
            },
            Logical::Test(call) => Logical::Test(self.call(call, candidates)),
        }
    }

    /// Extends a walk to all children.
    pub(super) fn step_to_children(&self, walk: &mut Walk) {
        let children = self.children(&walk.nodes);
        walk.push(child(Selector::Wildcard), child(Selector::Wildcard), children);
    }

    fn segment(&mut self, walk: &mut Walk, segment: &Segment, is_last: bool) -> Option<()> {
        let Segment { descendant, selectors } = segment;
        let base = if *descendant { self.descendants(&walk.nodes) } else { walk.nodes.clone() };
        let within = |selector: Selector| Segment { descendant: *descendant, selectors: vec![selector] };
        match selectors.as_slice() {
            [Selector::Name(name)] => self.name(walk, &base, name, *descendant)?,
            [selector @ (Selector::Index(_) | Selector::Slice(_))] => {
                let elements = self.elements(&base);
                let is_object = elements.is_empty() && base.iter().any(|&node| self.has_names(node));
                if is_object && !descendant && !is_last {
                    // The query expects an array but finds an object: drop the index.
                    self.changes += 1;
                    return Some(());
                }
                walk.push(within(selector.clone()), within(Selector::Wildcard), some(elements)?);
            }
            [Selector::Wildcard] => {
                walk.push(segment.clone(), segment.clone(), some(self.children(&base))?);
            }
            [Selector::Filter(filter)] => {
                let mut candidates = walk.clone();
                let children = some(self.children(&base))?;
                candidates.push(segment.clone(), within(Selector::Wildcard), children.clone());
                let filter = self.filter(filter, &candidates);
                walk.push(within(Selector::Filter(Box::new(filter))), within(Selector::Wildcard), children);
            }
            several => {
                let (selectors, nodes) = self.several(&base, several);
                let segment = Segment { descendant: *descendant, selectors };
                walk.push(segment, within(Selector::Wildcard), some(nodes)?);
            }
        }
        Some(())
    }

    /// Steps into the members with a name, or with the nearest one. Passes through the elements of
    /// arrays if only these have it.
    fn name(&mut self, walk: &mut Walk, base: &[usize], name: &str, descendant: bool) -> Option<()> {
        let named = |name: &str| {
            let segment = Segment { descendant, selectors: vec![Selector::Name(name.to_owned())] };
            (segment.clone(), segment)
        };
        if let Some((known, nodes)) = self.known_or_nearest(base, name) {
            let (segment, general) = named(&known);
            walk.push(segment, general, nodes);
            self.record_change(name, &known, walk);
            return Some(());
        }
        if descendant {
            return None;
        }
        let elements = some(self.elements(base))?;
        let (known, nodes) = self.known_or_nearest(&elements, name)?;
        self.changes += 1;
        walk.push(child(Selector::Wildcard), child(Selector::Wildcard), elements);
        walk.push(child(Selector::Name(known.clone())), child(Selector::Name(known.clone())), nodes);
        self.record_change(name, &known, walk);
        Some(())
    }

    /// Counts a change, and stores the path to the nearest name.
    fn record_change(&mut self, wanted: &str, known: &str, walk: &Walk) {
        if wanted != known {
            self.changes += 1;
            self.misspellings.push(Misspelling { wanted: wanted.to_owned(), path: walk.general() });
        }
    }

    /// Returns the name if it exists at one of these nodes, else the nearest one, and the nodes it
    /// leads to.
    fn known_or_nearest(&self, base: &[usize], name: &str) -> Option<(String, Vec<usize>)> {
        let members = |name: &str| -> Vec<usize> {
            base.iter().filter_map(|&node| self.outline.member(node, name)).collect()
        };
        let exact = members(name);
        if !exact.is_empty() {
            return Some((name.to_owned(), exact));
        }
        let names = base.iter().flat_map(|&node| self.outline.names(node)).map(|(name, _)| name);
        let near = nearest_one(name, names)?;
        Some((near.to_owned(), members(near)))
    }

    /// Rewrites the names in a list of selectors.
    fn several(&mut self, base: &[usize], selectors: &[Selector]) -> (Vec<Selector>, Vec<usize>) {
        let mut nodes = Vec::new();
        let mut rewritten = Vec::with_capacity(selectors.len());
        for selector in selectors {
            match selector {
                Selector::Name(name) => {
                    let (known, found) =
                        self.known_or_nearest(base, name).unwrap_or_else(|| (name.clone(), Vec::new()));
                    self.changes += usize::from(known != *name);
                    nodes.extend(found);
                    rewritten.push(Selector::Name(known));
                }
                other => {
                    nodes.extend(self.children(base));
                    rewritten.push(other.clone());
                }
            }
        }
        nodes.sort_unstable();
        nodes.dedup();
        (rewritten, nodes)
    }

    fn comparable(&mut self, comparable: &Comparable, candidates: &Walk) -> Comparable {
        match comparable {
            Comparable::Literal(literal) => Comparable::Literal(literal.clone()),
            Comparable::Singular(query) => self.singular(query, candidates),
            Comparable::Call(call) => Comparable::Call(self.call(call, candidates)),
        }
    }

    fn call(&mut self, call: &FunctionCall, candidates: &Walk) -> FunctionCall {
        let arguments = call.arguments.iter().map(|argument| match argument {
            Argument::Value(value) => Argument::Value(self.comparable(value, candidates)),
            Argument::Nodes(query) => Argument::Nodes(self.inner(query, candidates)),
        });
        FunctionCall { function: call.function, arguments: arguments.collect() }
    }

    /// Rewrites a query that must remain singular.
    fn singular(&mut self, query: &FilterQuery, candidates: &Walk) -> Comparable {
        // Repairs may insert a wildcard, which a comparison does not allow. The repair is then
        // undone.
        let (changes, misspellings) = (self.changes, self.misspellings.len());
        let rewritten = self.inner(query, candidates);
        if rewritten.segments.is_singular() {
            return Comparable::Singular(rewritten);
        }
        self.changes = changes;
        self.misspellings.truncate(misspellings);
        Comparable::Singular(query.clone())
    }

    /// Rewrites a query of a filter, if the result leads somewhere.
    fn inner(&mut self, query: &FilterQuery, candidates: &Walk) -> FilterQuery {
        let (changes, misspellings) = (self.changes, self.misspellings.len());
        let start = if query.absolute {
            Walk::from_root()
        } else {
            Walk { segments: Vec::new(), ..candidates.clone() }
        };
        match self.follow(start, &query.segments) {
            Some(walk) if self.changes > changes => {
                FilterQuery { absolute: query.absolute, segments: walk.segments.into_iter().collect() }
            }
            Some(_) => query.clone(),
            None => {
                self.changes = changes;
                self.misspellings.truncate(misspellings);
                query.clone()
            }
        }
    }

    fn has_names(&self, node: usize) -> bool {
        self.outline.names(node).next().is_some()
    }

    fn elements(&self, nodes: &[usize]) -> Vec<usize> {
        nodes.iter().filter_map(|&node| self.outline.element(node)).collect()
    }

    fn children(&self, nodes: &[usize]) -> Vec<usize> {
        let children = nodes.iter().flat_map(|&node| {
            let members = self.outline.names(node).map(|(_, node)| node);
            members.chain(self.outline.element(node))
        });
        children.collect()
    }

    /// Returns the nodes and all nodes below them.
    fn descendants(&self, nodes: &[usize]) -> Vec<usize> {
        let mut found = nodes.to_vec();
        let mut next = 0;
        while let Some(&node) = found.get(next) {
            found.extend(self.children(&[node]));
            next += 1;
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn some(nodes: Vec<usize>) -> Option<Vec<usize>> {
    (!nodes.is_empty()).then_some(nodes)
}

/// Returns the shortest path to the name that a query ends with, if the query has only simple
/// steps.
pub(super) fn elsewhere(outline: &Outline, query: &Query) -> Option<Query> {
    let is_plain = |segment: &Segment| {
        !segment.descendant && !matches!(segment.selectors.as_slice(), [Selector::Filter(_)] | [_, _, ..])
    };
    if !query.segments().iter().all(is_plain) {
        return None;
    }
    let [Selector::Name(wanted)] = query.segments().iter().last()?.selectors.as_slice() else { return None };
    let mut paths: Vec<Option<(usize, Selector, usize)>> = Vec::new();
    let mut best: Option<(usize, usize)> = None;
    for (from, name, to) in outline.steps() {
        // The root has no entry.
        let depth = paths.get(from).and_then(Option::as_ref).map_or(0, |(_, _, depth)| *depth) + 1;
        let selector = name.map_or(Selector::Wildcard, |name| Selector::Name(name.to_owned()));
        if paths.len() <= to {
            paths.resize(to + 1, None);
        }
        paths[to] = Some((from, selector, depth));
        if name == Some(wanted) && best.is_none_or(|(shortest, _)| depth < shortest) {
            best = Some((depth, to));
        }
    }
    let (_, mut node) = best?;
    let mut steps = Vec::new();
    while let Some((from, selector, _)) = paths.get(node).cloned().flatten() {
        steps.push(child(selector));
        node = from;
    }
    steps.reverse();
    Some(of_segments(&steps))
}
