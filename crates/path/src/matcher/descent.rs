//! Matching `..name` at the end of a plain path: from one member of the name to the next, wherever they stand.
//!
//! What lies between them is passed over by masks, so that nothing is known of it but which containers are open and where
//! they began. That is enough to tell a repeated name, and the order of the RFC: the members of a container come before
//! those of the containers in it, so that a match has to wait while an object is open around its own that has no member of
//! the name yet.

use std::ops::ControlFlow;

use trommel_reader::{Hit, Kind, Result, Seek, SeekStep, Taken};

use super::trail::{Level, Stage};
use super::{Matcher, Phase, Scratch, Step};
use crate::plan::{Duplicates, Order, Plan, QueryId};
use crate::trail::Trails;

/// A search under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Descent {
    seek: Option<Seek>,
    /// Containers open around the outermost one that is searched, and levels.
    floor: u32,
    around: usize,
    /// Whether matches of any query are wanted in the order of the RFC.
    sorts: bool,
    /// Of so many open containers none can put anything before what was found, as when that was last looked at.
    clear: u32,
    /// Whether one can of those that are open.
    blocked: bool,
    /// What the node that was left last is sorted by, if it was found by a search.
    key: Option<[u64; 2]>,
    /// Whether it is in its final place.
    settled: bool,
    /// How many nodes are to be told of that were only counted, and what comes next.
    counted: (u64, Option<Stage>),
    /// Whether nodes may be told of when the search is further on.
    keeps: bool,
}

impl Descent {
    /// Forgets the last record.
    pub(super) fn restart(&mut self, plan: &Plan) {
        let sought = plan.trails.as_ref().and_then(Trails::sought);
        if self.seek.as_ref().map(Seek::name) != sought {
            self.seek = sought.map(Seek::new);
        }
        self.sorts = plan.ids().any(|query| plan.order_of(query) == Order::Rfc);
        self.key = None;
        self.settled = true;
    }

    /// Begins with a container in which so many are open, itself among them, and which so many levels are around.
    fn begin(&mut self, depth: u32, around: usize) {
        (self.floor, self.around) = (depth - 1, around);
        self.clear = self.floor;
    }

    /// Goes on between two elements of an array in which so many containers are open, and does not stop there again.
    pub(super) fn go_on(&mut self, depth: u32, offset: u64) {
        if let Some(seek) = &mut self.seek {
            seek.go_on(depth, offset);
        }
    }

    /// Stops between two elements of the array in which so many containers are open, at this offset or behind it. Returns the
    /// floor below which the search is over: with that array.
    pub(super) fn stop_behind(&mut self, depth: u32, offset: u64) -> u32 {
        if let Some(seek) = &mut self.seek {
            seek.stop_between(depth, offset);
        }
        depth - 1
    }

    fn start_of(&self, depth: u32) -> u64 {
        self.seek.as_ref().map_or(0, |seek| seek.start_of(depth))
    }

    fn has_found(&self, depth: u32) -> bool {
        self.seek.as_ref().is_some_and(|seek| seek.has_found(depth))
    }

    pub(super) fn key(&self) -> &[u64] {
        self.key.as_ref().map_or(&[], |key| key.as_slice())
    }

    pub(super) fn is_settled(&self) -> bool {
        self.settled
    }
}

impl Matcher<'_, '_> {
    /// A container was entered that is the value of a node; it may be one to be searched.
    pub(super) fn enter_search(&mut self, trails: &Trails, node: u32) {
        if trails.node(node).is_none_or(|node| node.sought.is_none()) {
            return;
        }
        let (depth, is_outermost) = (self.cursor.depth(), !self.is_searching(trails));
        let Scratch { descent, levels, pause, .. } = &mut *self.scratch;
        if is_outermost {
            descent.begin(depth, levels.len());
        }
        let Some(seek) = &mut descent.seek else { return };
        if !is_outermost {
            return seek.entered(depth, self.start);
        }
        seek.begin(depth, self.start);
        let sought = trails.node(node).and_then(|node| node.sought);
        let queries = sought.map_or(&[][..], |sought| trails.queries(sought));
        let unique = self.plan.options.duplicates == Duplicates::First;
        descent.keeps = matches!(queries, &[query] if self.wants.allows_ahead(query));
        let counts = queries.iter().all(|&query| self.wants.only_counts(query));
        seek.take(if counts { Taken::Counted } else { Taken::Alone }, unique);
        if pause.wants() {
            seek.watch(depth, self.start);
        }
    }

    /// Whether the innermost level is being searched.
    pub(super) fn is_searching(&self, trails: &Trails) -> bool {
        let node = self.scratch.levels.last().and_then(|level| trails.node(level.node));
        node.is_some_and(|node| node.sought.is_some())
    }

    /// To the next member of the name that is told of, or out of the innermost level, which is this one.
    pub(super) fn trail_search(&mut self, trails: &Trails, sought: u32, level: Level) -> Result<Stage> {
        let next = self.search(trails, sought, level)?;
        let descent = &mut self.scratch.descent;
        match descent.seek.as_mut().map_or(0, Seek::take_counted) {
            0 => Ok(next),
            times => {
                descent.counted = (times, Some(next));
                Ok(Stage::Counted { node: sought, query: 0 })
            }
        }
    }

    /// Tells of what a search has taken on the way, or what comes when all was told.
    #[inline]
    pub(super) fn tell_taken(&mut self, trails: &Trails, stage: Stage) -> ControlFlow<Step, Stage> {
        match stage {
            Stage::Kept { node, number } => self.tell_kept(trails, node, number),
            Stage::Counted { node, query } => self.tell_counted(trails, node, query),
            stage => ControlFlow::Continue(stage),
        }
    }

    /// Tells the next query how many nodes were counted, or what comes when all were told.
    fn tell_counted(&mut self, trails: &Trails, node: u32, query: usize) -> ControlFlow<Step, Stage> {
        let (times, next) = self.scratch.descent.counted;
        let Some(&id) = trails.queries(node).get(query) else {
            return ControlFlow::Continue(next.unwrap_or(Stage::Walk));
        };
        self.phase = Phase::Trail(Stage::Counted { node, query: query + 1 });
        ControlFlow::Break(Step::Enter { query: id, times })
    }

    fn search(&mut self, trails: &Trails, sought: u32, level: Level) -> Result<Stage> {
        loop {
            self.prepare();
            let Some(seek) = &mut self.scratch.descent.seek else { return Ok(self.close_level(&level)) };
            match self.cursor.seek_name(seek, level.floor)? {
                SeekStep::Member => {}
                SeekStep::Kept => return Ok(Stage::Kept { node: sought, number: 0 }),
                SeekStep::Left => {
                    if self.scratch.pause.is_outermost(self.scratch.levels.len()) {
                        return Ok(Stage::Pause);
                    }
                    self.scratch.levels.pop();
                    return Ok(self.close_level(&level));
                }
                SeekStep::Between => {
                    if let Some(stage) = self.stop_between(trails, sought) {
                        return Ok(stage);
                    }
                    continue;
                }
            }
            let lowest = seek.lowest();
            self.look_for_blockers(lowest);
            let depth = self.cursor.depth();
            let Some(seek) = &mut self.scratch.descent.seek else { return Ok(self.close_level(&level)) };
            seek.mark(depth);
            if !seek.note(depth) && self.plan.options.duplicates == Duplicates::First {
                continue;
            }
            let settles = self.settles(trails, sought);
            return Ok(if settles {
                Stage::Settle { node: sought, query: 0, before: true }
            } else {
                Stage::Value { node: sought }
            });
        }
    }

    /// Before the search goes on: in what was found each node is told of by itself, and where something waits for what is open
    /// it is looked at when that ends.
    fn prepare(&mut self) {
        let Scratch { descent, levels, unsettled, .. } = &mut *self.scratch;
        let Some(seek) = &mut descent.seek else { return };
        if !descent.keeps {
            return;
        }
        let taken = if levels.len() == descent.around + 1 { Taken::Kept } else { Taken::Alone };
        seek.take(taken, self.plan.options.duplicates == Duplicates::First);
        if descent.sorts {
            seek.stop_at_ebb(descent.clear, unsettled.contains(&true));
        }
    }

    /// The next of the nodes that were kept, or what comes when all were told of.
    #[inline]
    fn tell_kept(&mut self, trails: &Trails, node: u32, number: usize) -> ControlFlow<Step, Stage> {
        let Some(&query) = trails.queries(node).first() else { return ControlFlow::Continue(Stage::Walk) };
        let descent = &mut self.scratch.descent;
        let kept = descent.seek.as_ref().and_then(|seek| seek.kept(number));
        let Some(Hit { object, start, end }) = kept else {
            return ControlFlow::Continue(self.after_kept(trails, node));
        };
        descent.key = Some([object, start]);
        descent.settled = !descent.sorts;
        if descent.sorts
            && let Some(unsettled) = self.scratch.unsettled.get_mut(query.index())
        {
            *unsettled = true;
        }
        (self.start, self.end) = (start, end);
        self.open += 1;
        self.phase = Phase::Trail(Stage::Kept { node, number: number + 1 });
        ControlFlow::Break(self.trail_leave(query, false))
    }

    /// What comes when all nodes were told of that were kept.
    fn after_kept(&mut self, trails: &Trails, node: u32) -> Stage {
        self.left = None;
        let depth = self.cursor.depth();
        self.look_for_blockers(depth);
        if let Some(seek) = &mut self.scratch.descent.seek {
            seek.mark(depth);
        }
        if self.settles(trails, node) { Stage::Settle { node, query: 0, before: false } } else { Stage::Walk }
    }

    /// Between two elements of a long array: what comes, unless the search is to go on.
    fn stop_between(&mut self, trails: &Trails, sought: u32) -> Option<Stage> {
        let (depth, offset) = (self.cursor.depth(), self.cursor.offset());
        self.look_for_blockers(depth);
        if self.settles(trails, sought) {
            // There is another stop behind the next element.
            return Some(Stage::Settle { node: sought, query: 0, before: false });
        }
        let Scratch { descent, levels, pause, .. } = &mut *self.scratch;
        if levels.iter().any(|level| level.held) {
            descent.go_on(depth, offset);
            return None;
        }
        pause.stop(offset);
        Some(Stage::Pause)
    }

    /// Looks whether one of the containers that are open, up to so many, can put something before what was found: an object
    /// that may still have a member of the name.
    fn look_for_blockers(&mut self, depth: u32) {
        if !self.scratch.descent.sorts {
            return;
        }
        let unique = self.plan.options.duplicates == Duplicates::First;
        let Scratch { descent, levels, .. } = &mut *self.scratch;
        let lowest = descent.seek.as_ref().map_or(0, Seek::lowest);
        descent.clear = descent.clear.min(lowest);
        while descent.clear < depth {
            let next = descent.clear + 1;
            // What was found and is still open has not come yet.
            let is_open = || levels.iter().any(|level| level.floor == next);
            let has_come = || unique && descent.has_found(next) && !is_open();
            if self.cursor.kind_at(next) == Some(Kind::Object) && !has_come() {
                break;
            }
            descent.clear = next;
        }
        descent.blocked = descent.clear < depth;
    }

    /// Notes what the node is sorted by that is left, and whether it is in its final place.
    pub(super) fn judge_order(&mut self, trails: &Trails, node: u32, query: QueryId) {
        let is_found = trails.node(node).is_some_and(|found| found.sought == Some(node));
        self.scratch.descent.key = None;
        self.scratch.descent.settled = true;
        if !is_found {
            return;
        }
        let depth = self.cursor.depth();
        self.look_for_blockers(depth);
        let blocks = self.blocks(node, query);
        let start = self.start;
        let descent = &mut self.scratch.descent;
        descent.key = Some([descent.start_of(depth), start]);
        descent.settled = !blocks;
        if let Some(unsettled) = self.scratch.unsettled.get_mut(query.index()) {
            *unsettled |= blocks;
        }
    }

    /// Whether something that is open can put a node of this query before those that were found.
    fn blocks(&self, node: u32, query: QueryId) -> bool {
        match self.plan.order_of(query) {
            Order::Rfc => self.scratch.descent.blocked,
            Order::Document => self.scratch.levels.iter().any(|level| level.node == node),
            Order::Any => false,
        }
    }

    /// Whether a query that selects what is found has matches that were held and need not be any more.
    fn settles(&self, trails: &Trails, node: u32) -> bool {
        trails.queries(node).iter().any(|&query| self.has_settled(node, query))
    }

    pub(super) fn has_settled(&self, node: u32, query: QueryId) -> bool {
        let unsettled = self.scratch.unsettled.get(query.index()).copied().unwrap_or(false);
        unsettled && !self.blocks(node, query)
    }

    /// What comes when the value of a node was left.
    pub(super) fn after_left(&mut self, trails: &Trails, node: u32) -> Stage {
        let Some(sought) = trails.node(node).and_then(|node| node.sought) else { return Stage::Walk };
        if self.is_searching(trails) {
            self.look_for_blockers(self.cursor.depth());
        } else {
            self.scratch.descent.blocked = false;
        }
        let settles = self.settles(trails, sought);
        if settles { Stage::Settle { node: sought, query: 0, before: false } } else { Stage::Walk }
    }
}
