//! Builds an index from the events of a pass.

use trommel::reader::{Kind, Listener, Scalar, Text, Tokens};

use crate::filters::Filters;
use crate::index::{Container, Index, NONE, ORDERED_FROM, Point};
use crate::names::{Ascent, NameSet, hash};

/// The usual distance of two points, in bytes.
pub const SPACING: u64 = 32 << 10;

/// The part of a block that its filter of names may have, in bytes: a 330th.
const NAMES_SHARE: u64 = 330;

/// Containers that are recorded at most: one for each two windows, and a few more.
const MIN_CONTAINERS: u64 = 24;

/// A container that is open.
#[derive(Debug)]
struct Open {
    start: u64,
    /// Offset of its name in an object, else of itself.
    child_start: u64,
    /// The number of children before it in the container around it.
    index: u64,
    /// The number of children that have started in it.
    children: u64,
    object: bool,
    id: u32,
    /// The order of its names, once it has many.
    names: Option<Box<Ascent>>,
}

/// A candidate for the next point: the outermost one in its window so far.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    depth: usize,
    offset: u64,
    index: u64,
}

/// The kind of a token that a builder has observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "JSON has these tokens")]
pub enum TokenKind {
    /// The name of a member.
    Name,
    /// A container begins.
    Begin(Kind),
    /// A container ends.
    End,
    /// A value that is not a container.
    Scalar,
}

/// Builds an [`Index`] from the events of a strict pass over an input.
///
/// In each window of the input, one offset between two children becomes a point: the first one in
/// the outermost container. So the points of an array of short records lie between the records, and
/// only containers with points in them are recorded.
#[derive(Debug)]
pub struct IndexBuilder {
    spacing: u64,
    window_end: u64,
    open: Vec<Open>,
    /// Offset of the last name.
    name_at: u64,
    records: u64,
    max_depth: u32,
    candidate: Option<Candidate>,
    /// The depth of the candidate, or `usize::MAX`.
    candidate_depth: usize,
    points: Vec<Point>,
    containers: Vec<Container>,
    /// The names since the last point, up to the candidate.
    before: NameSet,
    /// The names since the candidate.
    after: NameSet,
    filters: Vec<u64>,
}

impl Default for IndexBuilder {
    fn default() -> Self {
        Self::new(SPACING)
    }
}

impl IndexBuilder {
    /// Creates a builder with one point in each window of `spacing` bytes.
    pub fn new(spacing: u64) -> Self {
        let spacing = spacing.max(1);
        Self {
            spacing,
            window_end: spacing,
            open: Vec::new(),
            name_at: 0,
            records: 0,
            max_depth: 0,
            candidate: None,
            candidate_depth: usize::MAX,
            points: vec![Point { offset: 0, container: NONE, index: 0, filter: 0, probes: 0 }],
            containers: Vec::new(),
            before: NameSet::default(),
            after: NameSet::default(),
            filters: Vec::new(),
        }
    }

    /// A record begins whose value starts at an offset. Its events follow.
    pub fn begin_record(&mut self, at: u64) {
        self.pass(at, self.records);
        self.records += 1;
    }

    /// Returns the index of an input of this length.
    pub fn finish(mut self, length: u64) -> Index {
        self.end_window(length);
        self.before.append(&mut self.after);
        self.end_block(length);
        let Self { records, max_depth, containers, points, filters, .. } = self;
        let filters = Filters::new(filters);
        Index { length, records, max_depth, containers, points, filters }
    }

    /// A child begins in the innermost container, after `index` others.
    #[inline]
    fn pass(&mut self, at: u64, index: u64) {
        if at >= self.window_end {
            self.end_window(at);
        }
        let depth = self.open.len();
        if depth < self.candidate_depth && index > 0 {
            self.candidate = Some(Candidate { depth, offset: at, index });
            self.candidate_depth = depth;
            self.before.append(&mut self.after);
        }
    }

    /// A value begins in an array, or as a record.
    #[inline]
    fn element(&mut self, at: u64) {
        if let Some(open) = self.open.last_mut()
            && !open.object
        {
            let index = open.children;
            open.children += 1;
            self.pass(at, index);
        }
    }

    /// Observes many tokens, and passes the kind and the start of each to `each`.
    #[inline]
    pub fn observe(&mut self, tokens: &Tokens<'_>, mut each: impl FnMut(TokenKind, u16)) {
        // Tokens begin between two values, so that the first one of an object is a name.
        let mut object = self.in_object();
        let mut expects_name = object;
        for (number, &start) in tokens.starts().iter().enumerate() {
            let at = tokens.base() + u64::from(start);
            let byte = tokens.bytes()[usize::from(start)];
            if expects_name && byte != b'}' {
                each(TokenKind::Name, start);
                self.member(tokens.name(number), at);
                expects_name = false;
                continue;
            }
            match byte {
                b'{' | b'[' => {
                    object = byte == b'{';
                    each(TokenKind::Begin(if object { Kind::Object } else { Kind::Array }), start);
                    self.enter(object, at);
                }
                b'}' | b']' => {
                    each(TokenKind::End, start);
                    self.leave(at);
                    object = self.in_object();
                }
                _ => {
                    each(TokenKind::Scalar, start);
                    if !object {
                        self.element(at);
                    }
                }
            }
            expects_name = object;
        }
    }

    #[inline]
    fn in_object(&self) -> bool {
        self.open.last().is_some_and(|open| open.object)
    }

    #[inline]
    fn member(&mut self, name: Text<'_>, at: u64) {
        self.name_at = at;
        if let Some(open) = self.open.last_mut() {
            let index = open.children;
            open.children += 1;
            if index >= ORDERED_FROM {
                open.names.get_or_insert_default().add(name);
            }
            self.pass(at, index);
        }
        let hash = if name.is_escaped() { hash(name.decode().as_bytes()) } else { hash(name.raw()) };
        if self.candidate.is_some() { self.after.insert(hash) } else { self.before.insert(hash) }
    }

    #[inline]
    fn enter(&mut self, object: bool, at: u64) {
        self.element(at);
        let (index, child_start) = match self.open.last() {
            None => (self.records.saturating_sub(1), at),
            Some(outer) => (outer.children - 1, if outer.object { self.name_at } else { at }),
        };
        self.open.push(Open { start: at, child_start, index, children: 0, object, id: NONE, names: None });
        self.max_depth = self.max_depth.max(self.open.len() as u32);
    }

    #[inline]
    fn leave(&mut self, at: u64) {
        if self.candidate_depth >= self.open.len() && self.candidate.is_some() {
            // A point in a container that has ended is useless.
            self.drop_candidate();
        }
        let Some(open) = self.open.pop() else { return };
        if let Some(container) = self.containers.get_mut(open.id as usize) {
            (container.end, container.children) = (at + 1, open.children);
            container.order = open.names.and_then(|names| names.order());
        }
    }

    #[cold]
    fn drop_candidate(&mut self) {
        self.candidate = None;
        self.candidate_depth = usize::MAX;
        self.before.append(&mut self.after);
    }

    /// Ends the window before an offset: its candidate becomes a point.
    #[cold]
    fn end_window(&mut self, at: u64) {
        self.window_end = (at / self.spacing + 1).saturating_mul(self.spacing);
        let Some(candidate) = self.candidate else { return };
        let windows = candidate.offset / self.spacing;
        let most = (MIN_CONTAINERS + windows / 2).min(u64::from(NONE));
        let fresh = self.open[..candidate.depth].iter().filter(|open| open.id == NONE).count();
        if self.containers.len() + fresh > most as usize {
            return self.drop_candidate();
        }
        let mut parent = NONE;
        for (depth, open) in (1..).zip(&mut self.open[..candidate.depth]) {
            if open.id == NONE {
                open.id = self.containers.len() as u32;
                let Open { start, child_start, index, object, .. } = *open;
                self.containers.push(Container {
                    start,
                    end: u64::MAX,
                    child_start,
                    index,
                    children: 0,
                    parent,
                    depth,
                    object,
                    order: None,
                });
            }
            parent = open.id;
        }
        self.end_block(candidate.offset);
        let (offset, index) = (candidate.offset, candidate.index);
        self.points.push(Point { offset, container: parent, index, filter: 0, probes: 0 });
        self.candidate = None;
        self.candidate_depth = usize::MAX;
        std::mem::swap(&mut self.before, &mut self.after);
    }

    /// Writes the filter of the names since the last point.
    fn end_block(&mut self, end: u64) {
        if let Some(point) = self.points.last_mut() {
            let max_words = (end - point.offset) / NAMES_SHARE / 8;
            point.filter = self.filters.len() as u32;
            point.probes = self.before.write(max_words as usize, &mut self.filters);
        }
        self.before.clear();
    }
}

impl Listener for IndexBuilder {
    #[inline]
    fn begin(&mut self, kind: Kind, at: u64) {
        self.enter(kind == Kind::Object, at);
    }

    #[inline]
    fn end(&mut self, _: Kind, at: u64) {
        self.leave(at);
    }

    #[inline]
    fn name(&mut self, name: Text<'_>, at: u64) {
        self.member(name, at);
    }

    #[inline]
    fn scalar(&mut self, _: Scalar<'_>, at: u64) {
        self.element(at);
    }

    fn tokens(&mut self, tokens: &Tokens<'_>) -> bool {
        self.observe(tokens, |_, _| {});
        true
    }
}
