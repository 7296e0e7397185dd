//! `..name` at the end of a plain path: from one member of the name to the next, at any depth.
//!
//! What is between them is skipped by masks, so that only the open containers and their starts are
//! known. That is enough to recognize a repeated name, and for the order of the RFC: the members of
//! a container come before those of the containers in it, so that a match has to wait while an
//! object is open around its own that has no member of the name yet.

use std::ops::ControlFlow::Continue;

use trommel_reader::{Hit, Kind, Result, SeekStep, Taken};

use super::machine::{Matcher, Step};
use super::memory::{Level, Scratch, Search};
use super::phase::Stage;
use super::plain::Flow;
use crate::options::{Duplicates, Order, QueryId};
use crate::program::PathTree;

impl Matcher<'_, '_> {
    /// A container was entered that is the value of a node. Begins a search, if the node has one.
    pub(super) fn enter_search(&mut self, tree: &PathTree, node: u32) {
        let Some(sought) = tree.node(node).sought else { return };
        let (depth, is_outermost) = (self.cursor.depth(), !self.is_searching(tree));
        let Scratch { search, levels, pause, .. } = &mut *self.scratch;
        if !is_outermost {
            return search.seek_mut().entered(depth, self.start);
        }
        let queries = tree.queries(sought);
        let unique = self.program.options.duplicates == Duplicates::First;
        let counts = queries.iter().all(|&query| self.wants.only_counts(query));
        search.begin(depth, levels.len());
        search.keeps = matches!(queries, &[query] if self.wants.allows_ahead(query));
        let seek = search.seek_mut();
        seek.begin(depth, self.start);
        seek.take(if counts { Taken::Counted } else { Taken::Alone }, unique);
        if pause.seeks_array() {
            seek.watch(depth, self.start);
        }
    }

    /// True if the innermost level is being searched.
    pub(super) fn is_searching(&self, tree: &PathTree) -> bool {
        self.scratch.levels.last().is_some_and(|level| tree.node(level.node).sought.is_some())
    }

    /// Moves to the next member of the name that is to be reported, or out of `level`, the
    /// innermost.
    pub(super) fn search_on(&mut self, tree: &PathTree, sought: u32, level: Level) -> Result<Stage> {
        let next = self.search(tree, sought, level)?;
        let search = &mut self.scratch.search;
        match search.seek_mut().take_counted() {
            0 => Ok(next),
            times => {
                (search.counted, search.after_count) = (times, Some(next));
                Ok(Stage::ReportingCounts { node: sought, query: 0 })
            }
        }
    }

    /// Reports to the next query how many nodes were counted.
    #[inline]
    pub(super) fn reporting_counts(&mut self, tree: &PathTree, node: u32, query: usize) -> Flow {
        let Some(&id) = tree.queries(node).get(query) else {
            return Continue(self.scratch.search.after_count.unwrap_or(Stage::Walking));
        };
        let times = self.scratch.search.counted;
        self.report(Step::Enter { query: id, times }, Stage::ReportingCounts { node, query: query + 1 })
    }

    fn search(&mut self, tree: &PathTree, sought: u32, level: Level) -> Result<Stage> {
        loop {
            self.prepare();
            let seek = self.scratch.search.seek_mut();
            match self.cursor.seek_name(seek, level.floor)? {
                SeekStep::Member => {}
                SeekStep::Kept => return Ok(Stage::ReportingHits { node: sought, number: 0 }),
                SeekStep::Left => {
                    if self.scratch.pause.is_array(self.scratch.levels.len()) {
                        return Ok(Stage::Pausing);
                    }
                    self.scratch.levels.pop();
                    return Ok(self.close_level(&level));
                }
                SeekStep::Between => {
                    if let Some(stage) = self.stop_between(tree, sought) {
                        return Ok(stage);
                    }
                    continue;
                }
            }
            let lowest = seek.lowest();
            self.look_for_blockers(lowest);
            let depth = self.cursor.depth();
            let seek = self.scratch.search.seek_mut();
            seek.mark(depth);
            if !seek.note(depth) && self.program.options.duplicates == Duplicates::First {
                continue;
            }
            let settles = self.settles(tree, sought);
            return Ok(if settles {
                Stage::SettlingQueries { node: sought, query: 0, before: true }
            } else {
                Stage::BeforeValue { node: sought }
            });
        }
    }

    /// Before the search continues: within a node that was found each node is reported by itself,
    /// and where matches wait for open containers, the search stops when these end.
    fn prepare(&mut self) {
        let Scratch { search, levels, unsettled, .. } = &mut *self.scratch;
        let Search { keeps, around, sorts, clear, .. } = *search;
        if !keeps {
            return;
        }
        let seek = search.seek_mut();
        let taken = if levels.len() == around + 1 { Taken::Kept } else { Taken::Alone };
        seek.take(taken, self.program.options.duplicates == Duplicates::First);
        if sorts {
            seek.stop_at_ebb(clear, unsettled.contains(&true));
        }
    }

    /// Reports the next of the nodes that the search has passed.
    #[inline]
    pub(super) fn reporting_hits(&mut self, tree: &PathTree, node: u32, number: usize) -> Flow {
        let Some(&query) = tree.queries(node).first() else { return Continue(Stage::Walking) };
        let search = &mut self.scratch.search;
        let Some(Hit { object, start, end }) = search.seek().kept(number) else {
            return Continue(self.after_hits(tree, node));
        };
        search.key = Some([object, start]);
        search.settled = !search.sorts;
        if search.sorts
            && let Some(unsettled) = self.scratch.unsettled.get_mut(query.index())
        {
            *unsettled = true;
        }
        (self.start, self.end) = (start, end);
        self.open += 1;
        let step = self.leave_query(query, false);
        self.report(step, Stage::ReportingHits { node, number: number + 1 })
    }

    /// The stage after all nodes were reported that a search has passed.
    fn after_hits(&mut self, tree: &PathTree, node: u32) -> Stage {
        self.left = None;
        let depth = self.cursor.depth();
        self.look_for_blockers(depth);
        self.scratch.search.seek_mut().mark(depth);
        if self.settles(tree, node) {
            Stage::SettlingQueries { node, query: 0, before: false }
        } else {
            Stage::Walking
        }
    }

    /// The stage between two elements of a long array. Returns `None` if the search continues.
    fn stop_between(&mut self, tree: &PathTree, sought: u32) -> Option<Stage> {
        let (depth, offset) = (self.cursor.depth(), self.cursor.offset());
        self.look_for_blockers(depth);
        if self.settles(tree, sought) {
            // There is another stop after the next element.
            return Some(Stage::SettlingQueries { node: sought, query: 0, before: false });
        }
        let Scratch { search, levels, pause, .. } = &mut *self.scratch;
        if levels.iter().any(|level| level.held) {
            search.resume(depth, offset);
            return None;
        }
        pause.stop(offset);
        Some(Stage::Pausing)
    }

    /// Notes if one of the outer `depth` containers can put something before what was found: an
    /// object that may still have a member of the name.
    fn look_for_blockers(&mut self, depth: u32) {
        if !self.scratch.search.sorts {
            return;
        }
        let unique = self.program.options.duplicates == Duplicates::First;
        let Scratch { search, levels, .. } = &mut *self.scratch;
        let lowest = search.seek().lowest();
        search.clear = search.clear.min(lowest);
        while search.clear < depth {
            let next = search.clear + 1;
            // A member that was found and is still open has not been reported yet.
            let is_open = || levels.iter().any(|level| level.floor == next);
            let has_come = || unique && search.has_found(next) && !is_open();
            if self.cursor.kind_at(next) == Some(Kind::Object) && !has_come() {
                break;
            }
            search.clear = next;
        }
        search.blocked = search.clear < depth;
    }

    /// Notes the sort key of the node that is left, and if it is in its final place.
    pub(super) fn judge_order(&mut self, tree: &PathTree, node: u32, query: QueryId) {
        let is_found = tree.node(node).sought == Some(node);
        self.scratch.search.key = None;
        self.scratch.search.settled = true;
        if !is_found {
            return;
        }
        let depth = self.cursor.depth();
        self.look_for_blockers(depth);
        let blocks = self.blocks(node, query);
        let start = self.start;
        let search = &mut self.scratch.search;
        search.key = Some([search.start_of(depth), start]);
        search.settled = !blocks;
        if let Some(unsettled) = self.scratch.unsettled.get_mut(query.index()) {
            *unsettled |= blocks;
        }
    }

    /// True if an open container can put a node of this query before those that were found.
    fn blocks(&self, node: u32, query: QueryId) -> bool {
        match self.program.order_of(query) {
            Order::Rfc => self.scratch.search.blocked,
            Order::Document => self.scratch.levels.iter().any(|level| level.node == node),
            Order::Any => false,
        }
    }

    /// True if a query of the node has matches that were held and have settled.
    fn settles(&self, tree: &PathTree, node: u32) -> bool {
        tree.queries(node).iter().any(|&query| self.has_settled(node, query))
    }

    /// True if a query has matches that were held and have settled.
    pub(super) fn has_settled(&self, node: u32, query: QueryId) -> bool {
        let unsettled = self.scratch.unsettled.get(query.index()).copied().unwrap_or(false);
        unsettled && !self.blocks(node, query)
    }

    /// The stage after the value of a node was left.
    pub(super) fn after_left(&mut self, tree: &PathTree, node: u32) -> Stage {
        let Some(sought) = tree.node(node).sought else { return Stage::Walking };
        if self.is_searching(tree) {
            self.look_for_blockers(self.cursor.depth());
        } else {
            self.scratch.search.blocked = false;
        }
        let settles = self.settles(tree, sought);
        if settles {
            Stage::SettlingQueries { node: sought, query: 0, before: false }
        } else {
            Stage::Walking
        }
    }
}
