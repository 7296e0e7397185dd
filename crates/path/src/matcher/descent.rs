//! Searches for `..name` at the end of a plain path: moves from one member of that name to the
//! next, at any depth.
//!
//! The bytes in between are skipped by masks, so only the open containers and their starts are
//! known. That suffices to recognize a repeated name, and for RFC order. There, the members of a
//! container come before those of the containers in it. So a match has to wait while an object
//! around its own is open that may still have a member of the name.

use std::ops::ControlFlow::Continue;

use trommel_reader::{Hit, Kind, PlainMembers, Result, SeekStep};

use super::machine::{Matcher, Step};
use super::memory::{Level, Scratch, Search};
use super::phase::Stage;
use super::plain::Flow;
use crate::options::{Duplicates, Order, QueryId};
use crate::program::PathTree;

impl Matcher<'_, '_> {
    /// Starts a search in a container that was just entered, if its node has one.
    pub(super) fn enter_search(&mut self, tree: &PathTree, node: u32) {
        let Some(search_node) = tree.node(node).search_node else { return };
        let (depth, is_outermost) = (self.cursor.depth(), !self.is_searching(tree));
        let Scratch { search, levels, pause, .. } = &mut *self.scratch;
        // A member that was found is itself searched for members of the same name: the search that
        // is in progress only has to know the container.
        if !is_outermost {
            return search.seek_mut().enter(depth, self.start);
        }
        let queries = tree.queries(search_node);
        let unique = self.program.options.duplicates == Duplicates::First;
        let counts = queries.iter().all(|&query| self.wants.only_counts(query));
        search.begin(depth, levels.len());
        search.collects_hits = matches!(queries, &[query] if self.wants.allows_late_leave(query));
        let seek = search.seek_mut();
        seek.begin(depth, self.start);
        seek.handle_plain(if counts { PlainMembers::Count } else { PlainMembers::Stop }, unique);
        // A guided search passes most bytes, so it is not shared.
        if pause.seeks_array() && !self.cursor.is_guided() {
            seek.watch(depth, self.start);
        }
    }

    /// True if the innermost level is being searched.
    pub(super) fn is_searching(&self, tree: &PathTree) -> bool {
        self.scratch.levels.last().is_some_and(|level| tree.node(level.node).search_node.is_some())
    }

    /// Moves to the next member of the name that is to be reported, or out of `level`, the
    /// innermost one.
    pub(super) fn continue_search(
        &mut self,
        tree: &PathTree,
        search_node: u32,
        level: Level,
    ) -> Result<Stage> {
        let next = self.search(tree, search_node, level)?;
        let search = &mut self.scratch.search;
        match search.seek_mut().take_counted() {
            0 => Ok(next),
            times => {
                (search.counted, search.after_count) = (times, Some(next));
                Ok(Stage::ReportingCounts { node: search_node, query: 0 })
            }
        }
    }

    /// Reports to the next query the number of nodes that were only counted.
    #[inline]
    pub(super) fn reporting_counts(&mut self, tree: &PathTree, node: u32, query: usize) -> Flow {
        let Some(&id) = tree.queries(node).get(query) else {
            return Continue(self.scratch.search.after_count.unwrap_or(Stage::Walking));
        };
        let times = self.scratch.search.counted;
        self.report(Step::Enter { query: id, times }, Stage::ReportingCounts { node, query: query + 1 })
    }

    fn search(&mut self, tree: &PathTree, search_node: u32, level: Level) -> Result<Stage> {
        loop {
            self.prepare();
            let seek = self.scratch.search.seek_mut();
            match self.cursor.seek_name(seek, level.floor)? {
                SeekStep::Member => {}
                SeekStep::Collected => return Ok(Stage::ReportingHits { node: search_node, number: 0 }),
                SeekStep::Left => {
                    if self.scratch.pause.is_array(self.scratch.levels.len()) {
                        return Ok(Stage::Pausing);
                    }
                    self.scratch.levels.pop();
                    return Ok(self.close_level(&level));
                }
                SeekStep::Between => {
                    if let Some(stage) = self.pause_between(tree, search_node) {
                        return Ok(stage);
                    }
                    continue;
                }
            }
            let lowest = seek.lowest();
            // Only containers that were open at the last match can add nodes before the held ones:
            // all newer containers start after them.
            self.update_blockers(lowest);
            let depth = self.cursor.depth();
            let seek = self.scratch.search.seek_mut();
            seek.mark(depth);
            if !seek.record(depth) && self.program.options.duplicates == Duplicates::First {
                continue;
            }
            let settles = self.settles(tree, search_node);
            return Ok(if settles {
                Stage::SettlingQueries { node: search_node, query: 0, before: true }
            } else {
                Stage::BeforeValue { node: search_node }
            });
        }
    }

    /// Prepares the search for the next step. Inside a node that was found, each node is reported
    /// on its own. Where matches wait for open containers, the search also stops at the end of
    /// these.
    fn prepare(&mut self) {
        let Scratch { search, levels, unsettled, .. } = &mut *self.scratch;
        let Search { collects_hits, outer_levels, sorts, cleared_depth, .. } = *search;
        if !collects_hits {
            return;
        }
        let seek = search.seek_mut();
        let taken = if levels.len() == outer_levels + 1 { PlainMembers::Collect } else { PlainMembers::Stop };
        seek.handle_plain(taken, self.program.options.duplicates == Duplicates::First);
        if sorts {
            seek.flush_at(cleared_depth, unsettled.contains(&true));
        }
    }

    /// Reports the next of the nodes that the search has moved past.
    #[inline]
    pub(super) fn reporting_hits(&mut self, tree: &PathTree, node: u32, number: usize) -> Flow {
        let Some(&query) = tree.queries(node).first() else { return Continue(Stage::Walking) };
        let search = &mut self.scratch.search;
        let Some(Hit { object, start, end }) = search.seek().collected(number) else {
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

    /// Returns the stage after all nodes were reported that a search has moved past.
    fn after_hits(&mut self, tree: &PathTree, node: u32) -> Stage {
        self.left = None;
        let depth = self.cursor.depth();
        self.update_blockers(depth);
        self.scratch.search.seek_mut().mark(depth);
        if self.settles(tree, node) {
            Stage::SettlingQueries { node, query: 0, before: false }
        } else {
            Stage::Walking
        }
    }

    /// Returns the stage between two elements of a long array, or `None` if the search continues.
    fn pause_between(&mut self, tree: &PathTree, search_node: u32) -> Option<Stage> {
        let (depth, offset) = (self.cursor.depth(), self.cursor.offset());
        self.update_blockers(depth);
        if self.settles(tree, search_node) {
            // The search stops again after the next element, where it can pause.
            return Some(Stage::SettlingQueries { node: search_node, query: 0, before: false });
        }
        let Scratch { search, levels, pause, .. } = &mut *self.scratch;
        if levels.iter().any(|level| level.held) {
            search.resume(depth, offset);
            return None;
        }
        pause.stop(offset);
        Some(Stage::Pausing)
    }

    /// Updates whether one of the outer `depth` containers may still add a node before those
    /// already found: an object that may still have a member of the name.
    fn update_blockers(&mut self, depth: u32) {
        if !self.scratch.search.sorts {
            return;
        }
        let unique = self.program.options.duplicates == Duplicates::First;
        let Scratch { search, levels, .. } = &mut *self.scratch;
        let lowest = search.seek().lowest();
        // Containers up to `lowest` have been open since the last check, so its result for them is
        // still valid. Deeper ones may have been replaced and are checked again.
        search.cleared_depth = search.cleared_depth.min(lowest);
        while search.cleared_depth < depth {
            let next = search.cleared_depth + 1;
            // A member that was found and is still open has not been reported yet.
            let is_open = || levels.iter().any(|level| level.floor == next);
            let was_reported = || unique && search.has_found(next) && !is_open();
            if self.cursor.kind_at(next) == Some(Kind::Object) && !was_reported() {
                break;
            }
            search.cleared_depth = next;
        }
        search.blocked = search.cleared_depth < depth;
    }

    /// Updates the sort key of the node that was left, and whether its position is final.
    pub(super) fn update_sort_key(&mut self, tree: &PathTree, node: u32, query: QueryId) {
        let is_found = tree.node(node).search_node == Some(node);
        self.scratch.search.key = None;
        self.scratch.search.settled = true;
        if !is_found {
            return;
        }
        let depth = self.cursor.depth();
        self.update_blockers(depth);
        let blocks = self.blocks(node, query);
        let start = self.start;
        let search = &mut self.scratch.search;
        search.key = Some([search.start_of(depth), start]);
        search.settled = !blocks;
        if let Some(unsettled) = self.scratch.unsettled.get_mut(query.index()) {
            *unsettled |= blocks;
        }
    }

    /// True if an open container may still add a node of this query before those already found.
    fn blocks(&self, node: u32, query: QueryId) -> bool {
        match self.program.order_of(query) {
            Order::Rfc => self.scratch.search.blocked,
            Order::Document => self.scratch.levels.iter().any(|level| level.node == node),
            Order::Any => false,
        }
    }

    /// True if a query of the node has held matches whose order is final now.
    fn settles(&self, tree: &PathTree, node: u32) -> bool {
        tree.queries(node).iter().any(|&query| self.has_settled(node, query))
    }

    /// True if a query has held matches whose order is final now.
    pub(super) fn has_settled(&self, node: u32, query: QueryId) -> bool {
        let unsettled = self.scratch.unsettled.get(query.index()).copied().unwrap_or(false);
        unsettled && !self.blocks(node, query)
    }

    /// Returns the stage after the value of a node was left.
    pub(super) fn after_left(&mut self, tree: &PathTree, node: u32) -> Stage {
        let Some(search_node) = tree.node(node).search_node else { return Stage::Walking };
        if self.is_searching(tree) {
            self.update_blockers(self.cursor.depth());
        } else {
            self.scratch.search.blocked = false;
        }
        let settles = self.settles(tree, search_node);
        if settles {
            Stage::SettlingQueries { node: search_node, query: 0, before: false }
        } else {
            Stage::Walking
        }
    }
}
