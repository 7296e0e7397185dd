//! Rewrites queries to the names in a document: misspelled names, missing and needless array steps.

use trommel::path::{
    Argument, Comparable, FilterQuery, FunctionCall, Logical, Query, Segment, Segments, Selector,
};
use trommel_base::nearest_one;

use super::outline::Outline;

/// Changes that a query may need. One that needs more is another query.
const CHANGES: usize = 4;

/// Rewrites queries to the places of an outline.
pub(super) struct Repair<'o> {
    outline: &'o Outline,
    changes: usize,
    pub(super) slips: Vec<Slip>,
}

/// A name that there is not.
#[derive(Clone, Debug)]
pub(super) struct Slip {
    pub(super) wanted: String,
    /// A path that leads to the nearest name, without indices and filters.
    pub(super) path: Query,
}

/// A query that was followed through an outline.
#[derive(Clone, Debug, Default)]
pub(super) struct Walk {
    /// The segments, rewritten.
    segments: Vec<Segment>,
    /// The same without indices and filters.
    general: Vec<Segment>,
    /// Where it leads.
    places: Vec<usize>,
}

impl Walk {
    /// A walk that starts at `$`.
    pub(super) fn from_root() -> Self {
        Self { places: vec![Outline::ROOT], ..Self::default() }
    }

    /// The rewritten query.
    pub(super) fn query(&self) -> Query {
        of_segments(&self.segments)
    }

    /// The rewritten query without indices and filters.
    pub(super) fn general(&self) -> Query {
        of_segments(&self.general)
    }

    /// The places that it leads to.
    pub(super) fn places(&self) -> &[usize] {
        &self.places
    }

    fn push(&mut self, segment: Segment, general: Segment, places: Vec<usize>) {
        self.segments.push(segment);
        self.general.push(general);
        self.places = places;
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
        Self { outline, changes: 0, slips: Vec::new() }
    }

    /// True if something was rewritten.
    pub(super) fn has_changed(&self) -> bool {
        self.changes > 0
    }

    /// Follows segments, rewriting those that lead nowhere. Nothing if no rewriting leads anywhere.
    pub(super) fn follow(&mut self, mut walk: Walk, segments: &Segments) -> Option<Walk> {
        for (number, segment) in (1..).zip(segments.iter()) {
            self.segment(&mut walk, segment, number == segments.iter().len())?;
        }
        (self.changes <= CHANGES).then_some(walk)
    }

    /// A filter whose candidates are where a walk leads.
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

    /// A step from where a walk leads into all children there.
    pub(super) fn step_to_children(&self, walk: &mut Walk) {
        let children = self.children(&walk.places);
        walk.push(child(Selector::Wildcard), child(Selector::Wildcard), children);
    }

    fn segment(&mut self, walk: &mut Walk, segment: &Segment, is_last: bool) -> Option<()> {
        let Segment { descendant, selectors } = segment;
        let base = if *descendant { self.descendants(&walk.places) } else { walk.places.clone() };
        let within = |selector: Selector| Segment { descendant: *descendant, selectors: vec![selector] };
        match selectors.as_slice() {
            [Selector::Name(name)] => self.name(walk, &base, name, *descendant)?,
            [selector @ (Selector::Index(_) | Selector::Slice(_))] => {
                let elements = self.elements(&base);
                let is_object = elements.is_empty() && base.iter().any(|&place| self.has_names(place));
                if is_object && !descendant && !is_last {
                    // An object where an array was expected: the step is needless.
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
                let (selectors, places) = self.several(&base, several);
                let segment = Segment { descendant: *descendant, selectors };
                walk.push(segment, within(Selector::Wildcard), some(places)?);
            }
        }
        Some(())
    }

    /// A step into the members of a name, or of the nearest one; through the elements of arrays if
    /// only those have it.
    fn name(&mut self, walk: &mut Walk, base: &[usize], name: &str, descendant: bool) -> Option<()> {
        let named = |name: &str| {
            let segment = Segment { descendant, selectors: vec![Selector::Name(name.to_owned())] };
            (segment.clone(), segment)
        };
        if let Some((known, places)) = self.known_or_nearest(base, name) {
            let (segment, general) = named(&known);
            walk.push(segment, general, places);
            self.note(name, &known, walk);
            return Some(());
        }
        if descendant {
            return None;
        }
        let elements = some(self.elements(base))?;
        let (known, places) = self.known_or_nearest(&elements, name)?;
        self.changes += 1;
        walk.push(child(Selector::Wildcard), child(Selector::Wildcard), elements);
        walk.push(child(Selector::Name(known.clone())), child(Selector::Name(known.clone())), places);
        self.note(name, &known, walk);
        Some(())
    }

    /// Counts a change, and remembers where the nearest name is.
    fn note(&mut self, wanted: &str, known: &str, walk: &Walk) {
        if wanted != known {
            self.changes += 1;
            self.slips.push(Slip { wanted: wanted.to_owned(), path: walk.general() });
        }
    }

    /// A name that there is at one of these places, or the nearest one, and where it leads.
    fn known_or_nearest(&self, base: &[usize], name: &str) -> Option<(String, Vec<usize>)> {
        let members = |name: &str| -> Vec<usize> {
            base.iter().filter_map(|&place| self.outline.member(place, name)).collect()
        };
        let exact = members(name);
        if !exact.is_empty() {
            return Some((name.to_owned(), exact));
        }
        let names = base.iter().flat_map(|&place| self.outline.names(place)).map(|(name, _)| name);
        let near = nearest_one(name, names)?;
        Some((near.to_owned(), members(near)))
    }

    /// Several selectors, of which those that are names are rewritten.
    fn several(&mut self, base: &[usize], selectors: &[Selector]) -> (Vec<Selector>, Vec<usize>) {
        let mut places = Vec::new();
        let mut rewritten = Vec::with_capacity(selectors.len());
        for selector in selectors {
            match selector {
                Selector::Name(name) => {
                    let (known, found) =
                        self.known_or_nearest(base, name).unwrap_or_else(|| (name.clone(), Vec::new()));
                    self.changes += usize::from(known != *name);
                    places.extend(found);
                    rewritten.push(Selector::Name(known));
                }
                other => {
                    places.extend(self.children(base));
                    rewritten.push(other.clone());
                }
            }
        }
        places.sort_unstable();
        places.dedup();
        (rewritten, places)
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

    /// A query that must stay one that selects one node at most.
    fn singular(&mut self, query: &FilterQuery, candidates: &Walk) -> Comparable {
        let (changes, slips) = (self.changes, self.slips.len());
        let rewritten = self.inner(query, candidates);
        if rewritten.segments.is_singular() {
            return Comparable::Singular(rewritten);
        }
        self.changes = changes;
        self.slips.truncate(slips);
        Comparable::Singular(query.clone())
    }

    /// A query of a filter, rewritten where that leads somewhere.
    fn inner(&mut self, query: &FilterQuery, candidates: &Walk) -> FilterQuery {
        let (changes, slips) = (self.changes, self.slips.len());
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
                self.slips.truncate(slips);
                query.clone()
            }
        }
    }

    fn has_names(&self, place: usize) -> bool {
        self.outline.names(place).next().is_some()
    }

    fn elements(&self, places: &[usize]) -> Vec<usize> {
        places.iter().filter_map(|&place| self.outline.element(place)).collect()
    }

    fn children(&self, places: &[usize]) -> Vec<usize> {
        let children = places.iter().flat_map(|&place| {
            let members = self.outline.names(place).map(|(_, place)| place);
            members.chain(self.outline.element(place))
        });
        children.collect()
    }

    /// The places themselves and all within them.
    fn descendants(&self, places: &[usize]) -> Vec<usize> {
        let mut found = places.to_vec();
        let mut next = 0;
        while let Some(&place) = found.get(next) {
            found.extend(self.children(&[place]));
            next += 1;
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn some(places: Vec<usize>) -> Option<Vec<usize>> {
    (!places.is_empty()).then_some(places)
}

/// The shortest path to the name in which a query ends, if the query is one of plain steps.
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
        // The root has no path to it.
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
    let (_, mut place) = best?;
    let mut steps = Vec::new();
    while let Some((from, selector, _)) = paths.get(place).cloned().flatten() {
        steps.push(child(selector));
        place = from;
    }
    steps.reverse();
    Some(of_segments(&steps))
}
