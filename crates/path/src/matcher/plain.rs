//! Matches plans of plain paths, which follow one tree. The only state of a container is its node.

use std::ops::ControlFlow::{self, Break, Continue};

use trommel_reader::{Cursor, Kind, Result, Span};

use super::machine::{Matcher, Step};
use super::memory::{Level, Region, StepList};
use super::phase::{Phase, Stage};
use super::walk::pass_elements;
use crate::options::{Duplicates, QueryId};
use crate::program::{PathTree, TreeNode};

/// A step to report, or the next stage. A step's next stage is in the matcher's phase.
pub(super) type Flow = ControlFlow<Step, Stage>;

impl Matcher<'_, '_> {
    /// True if the matcher follows the tree of the plan: there is one, and no events are needed. A
    /// search for a name skips the bytes around the name, so it needs structural validation and
    /// knows no locations.
    pub(super) fn follows_tree(&self) -> bool {
        let can_search = || !self.wants.location && self.cursor.skips_by_masks();
        let tree = self.program.tree.as_ref();
        tree.is_some_and(|tree| tree.search_name.is_none() || can_search())
            && !self.wants.events.contains(&true)
    }

    /// Moves from stage to stage until there is a step to report. Never inlined, so that it takes
    /// no stack where filters nest.
    //
    // `BeforeValue` and `Walking`, the stages between the values of a document, are hot. They
    // bypass the match on `flow` below: joining their result with that of the other stages takes
    // 5 % more instructions.
    #[inline(never)]
    pub(super) fn follow(&mut self, tree: &PathTree, mut stage: Stage) -> Result<Option<Step>> {
        loop {
            let flow = match stage {
                Stage::BeforeValue { node } => {
                    self.kind = self.cursor.peek()?;
                    self.start = self.cursor.offset();
                    stage = match tree.queries(node) {
                        [] => self.enter_or_skip(tree, node, false)?,
                        &[query] if self.is_plain_leaf(tree, node, query) => {
                            return self.report_leaf(tree, node, query).map(Some);
                        }
                        queries => self.begin_entering(node, queries),
                    };
                    continue;
                }
                Stage::Walking | Stage::Stepping => {
                    if self.cursor.may_pass()
                        && let Some(next) = self.count_known(tree)?
                    {
                        stage = next;
                        continue;
                    }
                    if self.pauses(tree) {
                        self.phase = Phase::Tree(Stage::Walking);
                        return Ok(None);
                    }
                    if stage == Stage::Walking
                        && let Some(next) = self.follow_trail(tree)
                    {
                        stage = next;
                        continue;
                    }
                    let Some(next) = self.next_child(tree)? else {
                        self.phase = Phase::Done;
                        return Ok(None);
                    };
                    stage = next;
                    continue;
                }
                Stage::Pausing => {
                    self.phase = Phase::Tree(Stage::Walking);
                    return Ok(None);
                }
                Stage::EnteringQueries { node, query, held } => {
                    self.entering_queries(tree, node, query, held)?
                }
                Stage::LeavingQueries { node, query, held } => self.leaving_queries(tree, node, query, held),
                Stage::SettlingQueries { node, query, before } => {
                    self.settling_queries(tree, node, query, before)
                }
                Stage::ReportingCounts { node, query } => self.reporting_counts(tree, node, query),
                Stage::ReportingHits { node, number } => self.reporting_hits(tree, node, number),
                Stage::ReportingTrail { number, query } => self.reporting_trail(tree, number, query),
                Stage::ReportingTrailCounts { node, query } => self.reporting_trail_counts(tree, node, query),
            };
            match flow {
                Continue(next) => stage = next,
                Break(step) => return Ok(Some(step)),
            }
        }
    }

    /// Reports a step. `next` is the stage after it.
    #[inline]
    pub(super) fn report(&mut self, step: Step, next: Stage) -> Flow {
        self.phase = Phase::Tree(next);
        Break(step)
    }

    fn begin_entering(&mut self, node: u32, queries: &[QueryId]) -> Stage {
        let held = queries.iter().any(|&query| self.wants.bytes_of(query));
        if held {
            self.cursor.hold();
        }
        Stage::EnteringQueries { node, query: 0, held }
    }

    #[inline]
    fn entering_queries(&mut self, tree: &PathTree, node: u32, query: usize, held: bool) -> Result<Flow> {
        let Some(&id) = tree.queries(node).get(query) else {
            return self.enter_or_skip(tree, node, held).map(Continue);
        };
        self.open += usize::from(!tree.node(node).marks_end);
        let next = Stage::EnteringQueries { node, query: query + 1, held };
        Ok(if self.wants.enter_of(id) {
            self.report(Step::Enter { query: id, times: 1 }, next)
        } else {
            Continue(next)
        })
    }

    #[inline]
    fn leaving_queries(&mut self, tree: &PathTree, node: u32, query: usize, held: bool) -> Flow {
        let Some(&id) = tree.queries(node).get(query) else {
            self.left = None;
            if held {
                self.cursor.release();
            }
            return Continue(self.after_left(tree, node));
        };
        let next = Stage::LeavingQueries { node, query: query + 1, held };
        self.update_sort_key(tree, node, id);
        self.open += usize::from(tree.node(node).marks_end);
        let step = self.leave_query(id, held);
        if self.wants.leave_of(id) { self.report(step, next) } else { Continue(next) }
    }

    #[inline]
    fn settling_queries(&mut self, tree: &PathTree, node: u32, query: usize, before: bool) -> Flow {
        let Some(&id) = tree.queries(node).get(query) else {
            return Continue(if before { Stage::BeforeValue { node } } else { Stage::Walking });
        };
        let next = Stage::SettlingQueries { node, query: query + 1, before };
        if !self.has_settled(node, id) {
            return Continue(next);
        }
        self.scratch.unsettled[id.index()] = false;
        self.report(Step::Settled(id), next)
    }

    /// True if the next value takes a single step, and nothing in it can be selected.
    fn is_plain_leaf(&self, tree: &PathTree, node: u32, query: QueryId) -> bool {
        let reports_once = self.wants.enter_of(query) != self.wants.leave_of(query);
        reports_once && self.container(tree, node).is_none()
    }

    /// Returns true for an object and false for an array in which something can be selected.
    /// Returns `None` for any other value.
    pub(super) fn container(&self, tree: &PathTree, node: u32) -> Option<bool> {
        let object = match self.kind {
            Some(Kind::Object) => true,
            Some(Kind::Array) => false,
            _ => return None,
        };
        tree.node(node).leads_into(object).then_some(object)
    }

    /// Skips a value and returns its only step.
    fn report_leaf(&mut self, tree: &PathTree, node: u32, query: QueryId) -> Result<Step> {
        if self.wants.enter_of(query) {
            self.end = self.cursor.skip_value()?.end;
            self.phase = Phase::Tree(self.after_left(tree, node));
            return Ok(Step::Enter { query, times: 1 });
        }
        // Only streams release bytes, so other sources do not need to hold them.
        let held = self.wants.bytes_of(query) && self.cursor.is_stream();
        if held {
            self.cursor.hold();
        }
        self.end = self.cursor.skip_value()?.end;
        self.open += 1;
        self.update_sort_key(tree, node, query);
        let is_over = !held && tree.node(node).search_node.is_none();
        let next = if is_over { Stage::Walking } else { Stage::LeavingQueries { node, query: 1, held } };
        self.phase = Phase::Tree(next);
        Ok(self.leave_query(query, held))
    }

    fn enter_or_skip(&mut self, tree: &PathTree, node: u32, held: bool) -> Result<Stage> {
        if let Some(object) = self.container(tree, node) {
            self.cursor.begin_value()?;
            self.enter_search(tree, node);
            let (start, floor) = (self.start, self.cursor.depth() - 1);
            self.scratch.levels.push(Level { node, start, object, floor, index: 0, found: 0, held });
            return Ok(Stage::Walking);
        }
        self.end = self.cursor.skip_value()?.end;
        Ok(Stage::LeavingQueries { node, query: 0, held })
    }

    /// Leaves the node of a query and returns the step.
    pub(super) fn leave_query(&mut self, query: QueryId, held: bool) -> Step {
        let (start, depth) = (self.start, self.scratch.levels.len());
        self.left = Some(Region { query, times: 1, derivations: StepList::NONE, start, depth, held });
        self.open -= 1;
        Step::Leave { query, times: 1, span: Span::new(start, self.end) }
    }

    /// Moves to the next child that leads to a node, or out of the level. Returns `None` if nothing
    /// in the rest of the record can matter.
    fn next_child(&mut self, tree: &PathTree) -> Result<Option<Stage>> {
        let duplicates = self.program.options.duplicates;
        let outer_levels = self.scratch.levels.len().saturating_sub(1);
        let Some(level) = self.scratch.levels.last_mut() else { return Ok(None) };
        let node = tree.node(level.node);
        if let Some(search_node) = node.search_node {
            let level = *level;
            return self.continue_search(tree, search_node, level).map(Some);
        }
        loop {
            if node.is_used_up(level.object, level.found, level.index, duplicates) {
                let level = *level;
                self.scratch.levels.pop();
                // A decided record ends here only if no node is open: the end of an open node is
                // part of the answer.
                if self.open == 0 && !node.marks_end && self.levels_are_decided(tree) {
                    return Ok(None);
                }
                self.cursor.leave()?;
                return Ok(Some(self.end_level(node, &level)));
            }
            let next = if level.object {
                member(self.cursor, node, &mut level.found, duplicates)?
            } else {
                if self.cursor.may_pass() {
                    level.index += pass_elements(self.cursor, level.index, node.unselected(level.index))?;
                }
                element(self.cursor, node, &mut level.index)?
            };
            if next == NextChild::End {
                let level = *level;
                self.scratch.levels.pop();
                return Ok(Some(self.end_level(node, &level)));
            }
            if let NextChild::Child(child) = next {
                let (object, index) = (level.object, level.index);
                self.record_location(object, outer_levels, index);
                return Ok(Some(Stage::BeforeValue { node: child }));
            }
        }
    }

    /// Returns the stage after a level. Nodes without queries have nothing to report.
    fn end_level(&mut self, node: &TreeNode, level: &Level) -> Stage {
        let next = self.close_level(level);
        if node.queries.is_empty() && !level.held && node.search_node.is_none() {
            Stage::Walking
        } else {
            next
        }
    }

    pub(super) fn close_level(&mut self, level: &Level) -> Stage {
        if self.wants.location {
            self.scratch.truncate_location(self.scratch.levels.len());
        }
        self.start = level.start;
        self.end = self.cursor.offset();
        Stage::LeavingQueries { node: level.node, query: 0, held: level.held }
    }

    /// True if nothing more matters in the levels around the innermost one.
    fn levels_are_decided(&self, tree: &PathTree) -> bool {
        self.scratch.levels.iter().all(|level| {
            let duplicates = self.program.options.duplicates;
            tree.node(level.node).is_decided(level.object, level.found, level.index, duplicates)
        })
    }
}

/// The next child in a container.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextChild {
    /// A child that leads to a node.
    Child(u32),
    /// A child that leads to no node.
    Other,
    End,
}

impl NextChild {
    fn of(node: Option<u32>) -> Self {
        node.map_or(Self::Other, Self::Child)
    }
}

/// Moves to the next member that leads to a node, or at least to the next member.
#[inline]
fn member(
    cursor: &mut Cursor<'_>,
    node: &TreeNode,
    found: &mut u64,
    duplicates: Duplicates,
) -> Result<NextChild> {
    if node.members.is_some() {
        return Ok(if cursor.next_member()? { NextChild::of(node.members) } else { NextChild::End });
    }
    let Some(number) = cursor.next_named(&node.name_set)? else { return Ok(NextChild::End) };
    // A name that repeats is skipped under `First`. The bit of its first member is already set.
    let again = *found >> number & 1 == 1 && duplicates == Duplicates::First;
    *found |= 1 << number;
    Ok(if again { NextChild::Other } else { NextChild::Child(node.names[number].1) })
}

/// Moves to the next element.
#[inline]
fn element(cursor: &mut Cursor<'_>, node: &TreeNode, next: &mut u64) -> Result<NextChild> {
    if !cursor.next_element()? {
        return Ok(NextChild::End);
    }
    let index = *next;
    *next += 1;
    let known = || node.indices.binary_search_by_key(&index, |(index, _)| *index).ok();
    Ok(NextChild::of(node.elements.or_else(|| node.indices.get(known()?).map(|(_, child)| *child))))
}
