//! Matching plain paths: down one tree, with nothing kept at a container but the place in it.

use trommel_reader::{Kind, Result, Span, Validation};

use super::scratch::Region;
use super::ways::List;
use super::{Matcher, Phase, Step};
use crate::plan::{Duplicates, QueryId};
use crate::trail::{Node, Trails};

/// A container on the way down.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub(super) node: u32,
    pub(super) start: u64,
    pub(super) object: bool,
    /// Containers open around it.
    pub(super) floor: u32,
    /// Index of the next element.
    pub(super) index: u64,
    /// Which of the node's names were found, a bit each.
    found: u64,
    pub(super) held: bool,
}

/// What comes next on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The value that comes next is that of a node.
    Value { node: u32 },
    /// It is told which queries select it, this one next; then it is entered or passed over.
    Enter { node: u32, query: usize, held: bool },
    /// It has ended, and is told of.
    Leave { node: u32, query: usize, held: bool },
    /// It is told which queries have settled; then it goes on with the value of the node, or behind it.
    Settle { node: u32, query: usize, before: bool },
    /// To the next child of the innermost level.
    Walk,
    /// Others match what comes next.
    Pause,
}

impl Matcher<'_, '_> {
    /// Whether to go by the plan's tree: where it has one, and nobody wants events. Looking for a name passes over what is
    /// around it, without a look at other names.
    pub(super) fn trails_wanted(&self) -> bool {
        let passes = || !self.wants.location && self.cursor.validation() == Validation::Structural;
        let trails = self.plan.trails.as_ref().filter(|trails| trails.sought().is_none() || passes());
        trails.is_some() && !self.wants.events.contains(&true)
    }

    /// From stage to stage, until there is something to tell. By itself, so that it takes no stack where filters nest.
    #[inline(never)]
    pub(super) fn follow(&mut self, trails: &Trails, mut stage: Stage) -> Result<Option<Step>> {
        loop {
            stage = match stage {
                Stage::Value { node } => self.trail_value(trails, node)?,
                Stage::Enter { node, query, held } => {
                    if let Some(&query_id) = trails.queries(node).get(query) {
                        self.open += 1;
                        self.phase = Phase::Trail(Stage::Enter { node, query: query + 1, held });
                        return Ok(Some(Step::Enter { query: query_id, times: 1 }));
                    }
                    self.trail_inside(trails, node, held)?
                }
                Stage::Leave { node, query, held } => {
                    if let Some(&query_id) = trails.queries(node).get(query) {
                        self.phase = Phase::Trail(Stage::Leave { node, query: query + 1, held });
                        self.judge_order(trails, node, query_id);
                        return Ok(Some(self.trail_leave(query_id, held)));
                    }
                    self.left = None;
                    if held {
                        self.cursor.release();
                    }
                    self.after_left(trails, node)
                }
                Stage::Settle { node, query, before } => {
                    if let Some(&query_id) = trails.queries(node).get(query) {
                        let next = Stage::Settle { node, query: query + 1, before };
                        if self.has_settled(node, query_id) {
                            self.scratch.unsettled[query_id.index()] = false;
                            self.phase = Phase::Trail(next);
                            return Ok(Some(Step::Settled(query_id)));
                        }
                        next
                    } else if before {
                        Stage::Value { node }
                    } else {
                        Stage::Walk
                    }
                }
                Stage::Pause => {
                    self.phase = Phase::Trail(Stage::Walk);
                    return Ok(None);
                }
                Stage::Walk => {
                    if self.pauses(trails) {
                        self.phase = Phase::Trail(Stage::Walk);
                        return Ok(None);
                    }
                    let Some(next) = self.trail_walk(trails)? else {
                        self.phase = Phase::Done;
                        return Ok(None);
                    };
                    next
                }
            }
        }
    }

    fn trail_value(&mut self, trails: &Trails, node: u32) -> Result<Stage> {
        self.kind = self.cursor.peek()?;
        self.start = self.cursor.offset();
        let queries = trails.queries(node);
        if queries.is_empty() {
            return self.trail_inside(trails, node, false);
        }
        let held = queries.iter().any(|&query| self.wants.bytes_of(query));
        if held {
            self.cursor.hold();
        }
        Ok(Stage::Enter { node, query: 0, held })
    }

    fn trail_inside(&mut self, trails: &Trails, node: u32, held: bool) -> Result<Stage> {
        let object = match self.kind {
            Some(Kind::Object) => Some(true),
            Some(Kind::Array) => Some(false),
            _ => None,
        };
        let leads = |object: &bool| trails.node(node).is_some_and(|node| node.leads_into(*object));
        if let Some(object) = object.filter(leads) {
            self.cursor.begin_value()?;
            self.enter_search(trails, node);
            let (start, floor) = (self.start, self.cursor.depth() - 1);
            self.scratch.levels.push(Level { node, start, object, floor, index: 0, found: 0, held });
            return Ok(Stage::Walk);
        }
        self.end = self.cursor.skip_value()?.end;
        Ok(Stage::Leave { node, query: 0, held })
    }

    fn trail_leave(&mut self, query: QueryId, held: bool) -> Step {
        let (start, depth) = (self.start, self.scratch.levels.len());
        self.left = Some(Region { query, times: 1, ways: List::NONE, start, depth, held });
        self.open -= 1;
        Step::Leave { query, times: 1, span: Span::new(start, self.end) }
    }

    /// To the next child that leads on, or out of the level; nothing when no other byte can matter.
    fn trail_walk(&mut self, trails: &Trails) -> Result<Option<Stage>> {
        let duplicates = self.plan.options.duplicates;
        let Some(mut level) = self.scratch.levels.pop() else { return Ok(None) };
        let Some(node) = trails.node(level.node) else { return Ok(None) };
        if let Some(sought) = node.sought {
            self.scratch.levels.push(level);
            return self.trail_search(trails, sought, level).map(Some);
        }
        loop {
            if node.is_used_up(level.object, level.found, level.index, duplicates) {
                if self.open == 0 && self.levels_are_used_up(trails) {
                    return Ok(None);
                }
                self.cursor.leave()?;
                return Ok(Some(self.close_level(&level)));
            }
            let more = if level.object { self.cursor.next_member()? } else { self.cursor.next_element()? };
            if !more {
                return Ok(Some(self.close_level(&level)));
            }
            let child = if level.object {
                self.member(node, &mut level.found, duplicates)
            } else {
                level.index += 1;
                let by_index = |at: usize| node.indices.get(at).map(|(_, child)| *child);
                let index = || node.indices.binary_search_by_key(&(level.index - 1), |(index, _)| *index);
                node.elements.or_else(|| index().ok().and_then(by_index))
            };
            if let Some(child) = child {
                self.note_location(level.object, self.scratch.levels.len(), level.index);
                self.scratch.levels.push(level);
                return Ok(Some(Stage::Value { node: child }));
            }
        }
    }

    /// Where the member leads whose name was just read.
    fn member(&self, node: &Node, found: &mut u64, duplicates: Duplicates) -> Option<u32> {
        if node.members.is_some() {
            return node.members;
        }
        let name = self.cursor.name()?;
        let number = node.names.iter().position(|(wanted, _)| name.eq_str(wanted))?;
        let seen = *found >> number & 1 == 1;
        *found |= 1 << number;
        let again = seen && duplicates == Duplicates::First;
        node.names.get(number).map(|(_, child)| *child).filter(|_| !again)
    }

    pub(super) fn close_level(&mut self, level: &Level) -> Stage {
        if self.wants.location {
            self.scratch.location.truncate(self.scratch.levels.len());
        }
        self.start = level.start;
        self.end = self.cursor.offset();
        Stage::Leave { node: level.node, query: 0, held: level.held }
    }

    /// Whether nothing in what is left of the levels around the innermost can be selected.
    fn levels_are_used_up(&self, trails: &Trails) -> bool {
        self.scratch.levels.iter().all(|level| {
            let node = trails.node(level.node);
            let duplicates = self.plan.options.duplicates;
            node.is_some_and(|node| node.is_used_up(level.object, level.found, level.index, duplicates))
        })
    }
}
