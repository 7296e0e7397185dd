//! Follows the tree of plain paths by masks, as far as the bytes are plain to see.
//!
//! The kernel of the reader enters and leaves levels on its own, and collects or counts the values
//! at the ends of paths. Where it stops, the levels of the matcher are brought up to date, its
//! nodes are reported, and the matcher takes the next step from child to child.

use std::ops::ControlFlow::{Break, Continue};

use trommel_reader::{Result, Span, TrailHit, TrailLevel, TrailStep, Validation};

use super::machine::{Matcher, Step};
use super::memory::{Level, Scratch};
use super::phase::{Phase, Stage};
use super::plain::Flow;
use crate::options::{Duplicates, QueryId};
use crate::program::PathTree;

/// Bytes that may be inspected in vain before the trail is left.
const MAX_WASTE: u64 = 4 << 10;

/// The trail is left for this many times the bytes that were inspected in vain, as a power of two:
/// after the first miss, and at most.
const FIRST_BREAK: u32 = 4;
const LONGEST_BREAK: u32 = 10;

/// The reports that allow to follow a trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrailMode {
    /// None: each node must be reported where it is.
    Off,
    /// All nodes are reported when the matcher has moved on.
    Collect,
    /// Only the numbers of nodes are reported.
    Count,
}

impl<'m> Matcher<'m, '_> {
    /// The reports that this matcher has to give.
    pub(super) fn trail_mode(&self) -> TrailMode {
        let Some(tree) = self.program.tree.as_ref().filter(|tree| !tree.trail.is_empty()) else {
            return TrailMode::Off;
        };
        // A container whose end is marked is entered without a report.
        let enters = |&query: &QueryId| self.wants.enter_of(query);
        let must_enter = tree.nodes.iter().any(|node| node.marks_end && node.queries.iter().any(enters));
        if self.wants.location || must_enter || !self.cursor.can_follow() {
            return TrailMode::Off;
        }
        let mut queries = tree.nodes.iter().flat_map(|node| &node.queries).copied();
        if queries.clone().all(|query| self.wants.only_counts(query)) {
            return TrailMode::Count;
        }
        let collects = |query| self.wants.allows_late_leave(query) || self.wants.only_counts(query);
        if queries.all(collects) { TrailMode::Collect } else { TrailMode::Off }
    }

    /// Follows the trail from the innermost level. Returns the next stage, or `None` if the next
    /// step is to be taken from child to child.
    pub(super) fn follow_trail(&mut self, tree: &PathTree) -> Option<Stage> {
        if self.trail_mode == TrailMode::Off
            || self.open > 0
            || self.cursor.offset() < self.scratch.trail.from_offset
            || self.scratch.pause.seeks_array()
        {
            return None;
        }
        let from = self.cursor.offset();
        self.prepare_trail(tree)?;
        let memory = &mut self.scratch.trail;
        let step = self.cursor.follow(&tree.trail, &mut memory.trail)?;
        let (at, inspected) = (self.cursor.offset(), memory.trail.inspected);
        let waste = inspected.saturating_sub(at);
        if waste > (at - from).max(MAX_WASTE) {
            // Values that extend beyond the window are likely to be followed by others.
            let times = (FIRST_BREAK + memory.misses).min(LONGEST_BREAK);
            memory.from_offset = inspected.saturating_add(waste << times);
            memory.misses += 1;
        } else {
            memory.misses = 0;
        }
        self.take_levels();
        let after = match step {
            TrailStep::Full => Stage::Walking,
            TrailStep::Value(Some(node)) => Stage::BeforeValue { node },
            TrailStep::Between | TrailStep::Value(None) => Stage::Stepping,
        };
        self.scratch.trail.after = Some(after);
        Some(match self.trail_mode {
            TrailMode::Count => Stage::ReportingTrailCounts { node: 0, query: 0 },
            _ => Stage::ReportingTrail { number: 0, query: 0 },
        })
    }

    /// Counts elements without reading them, if the innermost level is an array all of whose
    /// elements are nodes that are only counted. Returns the next stage, or `None` if it passed
    /// none.
    #[cold]
    pub(super) fn count_known(&mut self, tree: &PathTree) -> Result<Option<Stage>> {
        if self.trail_mode != TrailMode::Count || self.open > 0 {
            return Ok(None);
        }
        let Scratch { levels, trail: memory, .. } = &mut *self.scratch;
        let Some(level) = levels.last_mut().filter(|level| !level.object) else { return Ok(None) };
        let Some(child) = tree.node(level.node).elements else { return Ok(None) };
        let node = tree.node(child);
        if node.leads_into(true) || node.leads_into(false) {
            return Ok(None);
        }
        let passed = self.cursor.pass_children(level.index, u64::MAX)?;
        if passed == 0 {
            return Ok(None);
        }
        level.index += passed;
        memory.trail.counts.clear();
        memory.trail.counts.resize(tree.nodes.len(), 0);
        memory.trail.counts[child as usize] = passed;
        memory.after = Some(Stage::Walking);
        Ok(Some(Stage::ReportingTrailCounts { node: 0, query: 0 }))
    }

    /// Prepares the trail for the innermost level.
    fn prepare_trail(&mut self, tree: &PathTree) -> Option<()> {
        let duplicates = self.program.options.duplicates;
        let Scratch { levels, trail: memory, pause, .. } = &mut *self.scratch;
        let (&Level { node, object, start, found, index, .. }, outer) = levels.split_last()?;
        // A single name is found as fast by a move, which needs no preparation.
        let names_left = tree.node(node).all & !found;
        if !tree.trail[node as usize].can_enter(object) || object && names_left.count_ones() < 2 {
            return None;
        }
        let trail = &mut memory.trail;
        trail.levels.clear();
        trail.levels.push(TrailLevel { node, object, start, found, index });
        trail.hits.clear();
        // Another matcher may have used this memory to count.
        trail.counts.clear();
        if self.trail_mode == TrailMode::Count {
            trail.counts.resize(tree.nodes.len(), 0);
        }
        trail.unique = duplicates == Duplicates::First;
        trail.is_decided_outside = outer.iter().all(|level| {
            tree.node(level.node).is_decided(level.object, level.found, level.index, duplicates)
        });
        // A pause among the elements of an outer level is up to the matcher, which returns there.
        trail.pause_level = pause.levels.saturating_sub(outer.len());
        trail.pause_from = pause.from_offset;
        Some(())
    }

    /// Takes over the levels in which the trail has stopped.
    fn take_levels(&mut self) {
        let Scratch { levels, trail: memory, .. } = &mut *self.scratch;
        let mut followed = memory.trail.levels.iter();
        let (Some(level), Some(first)) = (levels.last_mut(), followed.next()) else {
            unreachable!("a trail starts in the innermost level, and stays in it");
        };
        (level.found, level.index) = (first.found, first.index);
        let outside = level.floor;
        levels.extend((1..).zip(followed).map(
            |(above, &TrailLevel { node, object, start, found, index })| Level {
                node,
                start,
                object,
                floor: outside + above,
                index,
                found,
                held: false,
            },
        ));
    }

    /// Matches whole lines from the record on whose value is next in the cursor. Returns the number
    /// of records, of which the last one is the current record then. 0 if the record must be
    /// matched on its own.
    ///
    /// The nodes are not reported as steps, but are those of [`line_nodes`](Self::line_nodes).
    pub fn follow_lines(&mut self) -> u64 {
        let Some(tree) = self.program.tree.as_ref() else { return 0 };
        if self.trail_mode == TrailMode::Off || self.cursor.offset() < self.scratch.trail.lines_from {
            return 0;
        }
        let memory = &mut self.scratch.trail;
        let trail = &mut memory.trail;
        trail.levels.clear();
        trail.hits.clear();
        trail.counts.clear();
        trail.unique = self.program.options.duplicates == Duplicates::First;
        (trail.is_decided_outside, trail.pause_level) = (true, 0);
        let offset = self.cursor.offset();
        let lines = self.cursor.follow_lines(&tree.trail, trail).unwrap_or(0);
        if lines == 0 {
            // The next lines are likely to need a closer look, too.
            memory.lines_from = offset + MAX_WASTE;
        }
        lines
    }

    /// The nodes in the lines that were matched as a whole: the queries that select each, its span,
    /// and the number of its line.
    pub fn line_nodes(&self) -> impl Iterator<Item = (&'m [QueryId], Span, u64)> {
        let hits = &self.scratch.trail.trail.hits;
        self.program.tree.iter().flat_map(move |tree| {
            hits.iter().map(|hit| (tree.queries(hit.node), Span::new(hit.start, hit.end), hit.line))
        })
    }

    /// True if the end of one of these lines was skipped, because nothing more could be selected in
    /// it.
    pub fn skips_rest(&self) -> bool {
        // Under strict validation, lines are followed only if a guide shows that they are valid.
        self.scratch.trail.trail.skips_rest && self.cursor.validation() == Validation::Structural
    }

    /// Reports the next of the collected nodes.
    #[inline]
    pub(super) fn reporting_trail(&mut self, tree: &PathTree, number: usize, query: usize) -> Flow {
        let Some(&TrailHit { node, start, end, .. }) = self.scratch.trail.trail.hits.get(number) else {
            self.left = None;
            return Continue(self.after_trail());
        };
        let queries = tree.queries(node);
        let Some(&id) = queries.get(query) else {
            return Continue(Stage::ReportingTrail { number: number + 1, query: 0 });
        };
        // The node is reported to its other queries first.
        let next = if query + 1 < queries.len() {
            Stage::ReportingTrail { number, query: query + 1 }
        } else {
            Stage::ReportingTrail { number: number + 1, query: 0 }
        };
        if self.wants.only_counts(id) {
            return self.report(Step::Enter { query: id, times: 1 }, next);
        }
        (self.start, self.end) = (start, end);
        self.open += 1;
        let step = self.leave_query(id, false);
        self.report(step, next)
    }

    /// Returns the next node that was left together with the one of the last [`Step::Leave`], and
    /// its query, if there is one. The next step would report it too, at a higher cost.
    #[inline]
    pub fn next_left(&mut self) -> Option<(QueryId, Span)> {
        let Phase::Tree(stage) = self.phase else { return None };
        let tree = self.program.tree.as_ref()?;
        let flow = match stage {
            Stage::ReportingTrail { number, query } => self.reporting_trail(tree, number, query),
            // What follows the last one is left to the next step.
            Stage::ReportingHits { node, number } if self.scratch.search.has_hit(number) => {
                self.reporting_hits(tree, node, number)
            }
            _ => return None,
        };
        if let Break(Step::Leave { query, span, .. }) = flow {
            return Some((query, span));
        }
        // The next step reports counts, and moves on.
        self.phase = Phase::Tree(stage);
        None
    }

    /// Reports the next of the numbers of counted nodes.
    #[inline]
    pub(super) fn reporting_trail_counts(&mut self, tree: &PathTree, node: u32, query: usize) -> Flow {
        let Some(&times) = self.scratch.trail.trail.counts.get(node as usize) else {
            return Continue(self.after_trail());
        };
        match tree.queries(node).get(query) {
            Some(&id) if times > 0 => {
                let next = Stage::ReportingTrailCounts { node, query: query + 1 };
                self.report(Step::Enter { query: id, times }, next)
            }
            _ => Continue(Stage::ReportingTrailCounts { node: node + 1, query: 0 }),
        }
    }

    #[expect(clippy::expect_used, reason = "only called while nodes of a trail are reported")]
    fn after_trail(&self) -> Stage {
        self.scratch.trail.after.expect("the trail has stopped at a stage")
    }
}
