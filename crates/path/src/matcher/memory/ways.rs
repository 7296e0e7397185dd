//! The ways in which nodes are selected, where the order of the RFC tells them apart.
//!
//! The node list of `$..*..*` has a node once for each pair of nodes above it that lead there, each
//! at a place of its own. Such derivations multiply with the depth, so they are not kept one by
//! one. A [`Way`] is one step: that a selector of a state at some container selected a child of it,
//! which has the next state by that. The ways to one state at one node are a list, and each of them
//! goes on from all the ways to the state before at the container, which are a list in turn. So a
//! list stands for all its derivations, and takes memory for the steps alone: at most one for each
//! selector of a query and container around the node. [`Ways::route`] is one derivation at a time,
//! made when a match is entered or left.

use crate::program::{Program, Select};

/// One step of derivations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// The state whose selector it is, and the selector's number in its segment.
    pub(crate) state: u32,
    pub(crate) number: u32,
    /// The ways to that state at the container.
    pub(crate) before: List,
    /// The other ways to the same state and node.
    pub(crate) others: List,
    /// Where the container and the child begin.
    pub(crate) container: u64,
    pub(crate) child: u64,
}

/// Ways to one state at one node: the index of the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct List(u32);

impl List {
    /// No way has to be told from others: what leads here needs no key.
    pub(crate) const NONE: Self = Self(u32::MAX);
}

/// All ways to the open nodes, and one derivation from them.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// Those of the outer frames first.
    all: Vec<Way>,
    /// The current derivation: a way to the last state, one to the state before it, and so on.
    route: Vec<Way>,
    /// What the current derivation is sorted by.
    key: Vec<u64>,
}

impl Ways {
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Forgets all but the first `length`.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.all.truncate(length);
    }

    /// Adds a way, and returns the list that it begins.
    pub(crate) fn push(&mut self, way: Way) -> List {
        self.all.push(way);
        List(self.all.len() as u32 - 1)
    }

    /// Takes the first derivation in a list; the only one of an empty list has no steps.
    pub(crate) fn begin(&mut self, list: List) {
        self.route.clear();
        self.descend(list);
    }

    /// Goes on to the next derivation of the list; `false` when there is none.
    pub(crate) fn advance(&mut self) -> bool {
        while let Some(last) = self.route.pop() {
            if last.others != List::NONE {
                self.descend(last.others);
                return true;
            }
        }
        false
    }

    fn descend(&mut self, mut list: List) {
        while let Some(&way) = self.all.get(list.0 as usize) {
            self.route.push(way);
            list = way.before;
        }
    }

    /// Makes the key of the current derivation: what each of its steps is sorted by, the first step
    /// first.
    pub(crate) fn make_key(&mut self, program: &Program) {
        self.key.clear();
        for way in self.route.iter().rev() {
            let Some(segment) = program.segment_of(way.state) else { continue };
            // Everything selected from a node comes before what is selected below it, one selector
            // after the other.
            if segment.descendant {
                self.key.push(way.container);
            }
            if segment.forked() {
                self.key.push(u64::from(way.number));
            }
            let reverse = segment.selectors.get(way.number as usize).is_some_and(Select::is_reverse);
            self.key.push(if reverse { !way.child } else { way.child });
        }
    }

    /// Makes the beginning of the smallest key among the derivations in a list.
    ///
    /// It is that of the oldest ways: a way from an outer container comes before one from an inner
    /// container, and of those from one container the selectors' come in their order, except where
    /// [`Program::can_bound`] says otherwise.
    pub(crate) fn lowest(&self, list: List, program: &Program, low: &mut Vec<u64>) {
        low.clear();
        let mut list = list;
        while let Some(mut way) = self.all.get(list.0 as usize) {
            while let Some(other) = self.all.get(way.others.0 as usize) {
                way = other;
            }
            low.push(way.child);
            if let Some(segment) = program.segment_of(way.state) {
                if segment.forked() {
                    low.push(u64::from(way.number));
                }
                if segment.descendant {
                    low.push(way.container);
                }
            }
            list = way.before;
        }
        low.reverse();
    }

    pub(crate) fn key(&self) -> &[u64] {
        &self.key
    }
}
