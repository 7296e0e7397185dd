//! Matching plain paths: down one tree, with nothing kept at a container but the place in it.

use std::ops::ControlFlow;

use trommel_reader::{Cursor, Kind, Result, Span, Validation};

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
    /// It is told how often each query selects what was only counted.
    Counted { node: u32, query: usize },
    /// It is told of values that a search has passed, the one of this number next.
    Kept { node: u32, number: usize },
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
                Stage::Value { node } => {
                    self.kind = self.cursor.peek()?;
                    self.start = self.cursor.offset();
                    match trails.queries(node) {
                        [] => self.trail_inside(trails, node, false)?,
                        &[query] if self.is_plain_leaf(trails, node, query) => {
                            return self.trail_leaf(trails, node, query).map(Some);
                        }
                        queries => self.trail_enter(node, queries),
                    }
                }
                Stage::Enter { node, query, held } => {
                    if let Some(&query_id) = trails.queries(node).get(query) {
                        self.open += 1;
                        let next = Stage::Enter { node, query: query + 1, held };
                        if self.wants.tells_enter_of(query_id) {
                            self.phase = Phase::Trail(next);
                            return Ok(Some(Step::Enter { query: query_id, times: 1 }));
                        }
                        next
                    } else {
                        self.trail_inside(trails, node, held)?
                    }
                }
                Stage::Leave { node, query, held } => {
                    if let Some(&query_id) = trails.queries(node).get(query) {
                        let next = Stage::Leave { node, query: query + 1, held };
                        self.judge_order(trails, node, query_id);
                        let step = self.trail_leave(query_id, held);
                        if self.wants.tells_leave_of(query_id) {
                            self.phase = Phase::Trail(next);
                            return Ok(Some(step));
                        }
                        next
                    } else {
                        self.left = None;
                        if held {
                            self.cursor.release();
                        }
                        self.after_left(trails, node)
                    }
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
                Stage::Counted { .. } | Stage::Kept { .. } => match self.tell_taken(trails, stage) {
                    ControlFlow::Break(step) => return Ok(Some(step)),
                    ControlFlow::Continue(next) => next,
                },
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

    fn trail_enter(&mut self, node: u32, queries: &[QueryId]) -> Stage {
        let held = queries.iter().any(|&query| self.wants.bytes_of(query));
        if held {
            self.cursor.hold();
        }
        Stage::Enter { node, query: 0, held }
    }

    /// Whether there is one thing to tell of the value that comes next, and nothing in it.
    fn is_plain_leaf(&self, trails: &Trails, node: u32, query: QueryId) -> bool {
        let tells_once = self.wants.tells_enter_of(query) != self.wants.tells_leave_of(query);
        tells_once && self.container(trails, node).is_none()
    }

    /// Whether the value that comes next is an object or an array, if one in which something can be selected.
    fn container(&self, trails: &Trails, node: u32) -> Option<bool> {
        let object = match self.kind {
            Some(Kind::Object) => true,
            Some(Kind::Array) => false,
            _ => return None,
        };
        trails.node(node).is_some_and(|node| node.leads_into(object)).then_some(object)
    }

    /// Passes a value, and then tells of it.
    fn trail_leaf(&mut self, trails: &Trails, node: u32, query: QueryId) -> Result<Step> {
        if self.wants.tells_enter_of(query) {
            self.end = self.cursor.skip_value()?.end;
            self.phase = Phase::Trail(self.after_left(trails, node));
            return Ok(Step::Enter { query, times: 1 });
        }
        // Elsewhere bytes stay as long as they are, whether they are held or not.
        let held = self.wants.bytes_of(query) && self.cursor.is_stream();
        if held {
            self.cursor.hold();
        }
        self.end = self.cursor.skip_value()?.end;
        self.open += 1;
        self.judge_order(trails, node, query);
        let is_over = !held && trails.node(node).is_some_and(|node| node.sought.is_none());
        let next = if is_over { Stage::Walk } else { Stage::Leave { node, query: 1, held } };
        self.phase = Phase::Trail(next);
        Ok(self.trail_leave(query, held))
    }

    fn trail_inside(&mut self, trails: &Trails, node: u32, held: bool) -> Result<Stage> {
        if let Some(object) = self.container(trails, node) {
            self.cursor.begin_value()?;
            self.enter_search(trails, node);
            let (start, floor) = (self.start, self.cursor.depth() - 1);
            self.scratch.levels.push(Level { node, start, object, floor, index: 0, found: 0, held });
            return Ok(Stage::Walk);
        }
        self.end = self.cursor.skip_value()?.end;
        Ok(Stage::Leave { node, query: 0, held })
    }

    pub(super) fn trail_leave(&mut self, query: QueryId, held: bool) -> Step {
        let (start, depth) = (self.start, self.scratch.levels.len());
        self.left = Some(Region { query, times: 1, ways: List::NONE, start, depth, held });
        self.open -= 1;
        Step::Leave { query, times: 1, span: Span::new(start, self.end) }
    }

    /// To the next child that leads on, or out of the level; nothing when no other byte can matter.
    fn trail_walk(&mut self, trails: &Trails) -> Result<Option<Stage>> {
        let duplicates = self.plan.options.duplicates;
        let around = self.scratch.levels.len().saturating_sub(1);
        let Some(level) = self.scratch.levels.last_mut() else { return Ok(None) };
        let Some(node) = trails.node(level.node) else { return Ok(None) };
        if let Some(sought) = node.sought {
            let level = *level;
            return self.trail_search(trails, sought, level).map(Some);
        }
        loop {
            if node.is_used_up(level.object, level.found, level.index, duplicates) {
                let level = *level;
                self.scratch.levels.pop();
                if self.open == 0 && self.levels_are_used_up(trails) {
                    return Ok(None);
                }
                self.cursor.leave()?;
                return Ok(Some(self.end_level(node, &level)));
            }
            let next = if level.object {
                member(self.cursor, node, &mut level.found, duplicates)?
            } else {
                element(self.cursor, node, &mut level.index)?
            };
            if next == Next::End {
                let level = *level;
                self.scratch.levels.pop();
                return Ok(Some(self.end_level(node, &level)));
            }
            if let Next::Child(child) = next {
                let (object, index) = (level.object, level.index);
                self.note_location(object, around, index);
                return Ok(Some(Stage::Value { node: child }));
            }
        }
    }

    /// What comes when a level was left: nothing is told of a node that no query selects.
    fn end_level(&mut self, node: &Node, level: &Level) -> Stage {
        let next = self.close_level(level);
        if node.queries.is_empty() && !level.held && node.sought.is_none() { Stage::Walk } else { next }
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

/// What was gone to in a container.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A child that leads on, to a node.
    Child(u32),
    /// Another child.
    Other,
    End,
}

impl Next {
    fn of(node: Option<u32>) -> Self {
        node.map_or(Self::Other, Self::Child)
    }
}

/// Goes to the next member that leads on, or at least to the next.
fn member(cursor: &mut Cursor<'_>, node: &Node, found: &mut u64, duplicates: Duplicates) -> Result<Next> {
    if node.members.is_some() {
        return Ok(if cursor.next_member()? { Next::of(node.members) } else { Next::End });
    }
    let Some(number) = cursor.next_named(&node.named)? else { return Ok(Next::End) };
    let again = *found >> number & 1 == 1 && duplicates == Duplicates::First;
    *found |= 1 << number;
    let child = node.names.get(number).map(|(_, child)| *child);
    Ok(Next::of(child.filter(|_| !again)))
}

/// Goes to the next element.
fn element(cursor: &mut Cursor<'_>, node: &Node, next: &mut u64) -> Result<Next> {
    if !cursor.next_element()? {
        return Ok(Next::End);
    }
    let index = *next;
    *next += 1;
    let known = || node.indices.binary_search_by_key(&index, |(index, _)| *index).ok();
    Ok(Next::of(node.elements.or_else(|| node.indices.get(known()?).map(|(_, child)| *child))))
}
