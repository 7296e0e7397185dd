//! The derivations of nodes, if RFC order distinguishes them.
//!
//! The node list of `$..*..*` has a node once for each pair of ancestors that leads to it, each
//! time at a different position. The number of such derivations grows exponentially, so they are
//! not stored one by one.
//!
//! A [`DerivationStep`] says: a selector of a state at some container selected this child, which
//! therefore has the next state. All steps to one state of one node form a list. Each step
//! continues all derivations of the previous state at its container, and those are a list again. So
//! a list represents all its derivations, but takes memory only for the steps: at most one for each
//! selector of a query and each container around the node.
//!
//! [`Derivations`] unfolds one derivation at a time, when a match is entered or left.

use crate::program::{Program, Select};

/// One step of a derivation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DerivationStep {
    /// The state whose selector was used, and the number of the selector in its segment.
    pub(crate) state: u32,
    pub(crate) number: u32,
    /// The steps to that state at the container.
    pub(crate) before: StepList,
    /// The next of the other steps to the same state and node.
    pub(crate) others: StepList,
    /// The offsets at which the container and the child begin.
    pub(crate) container: u64,
    pub(crate) child: u64,
}

/// The list of steps to one state of one node: the index of the first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepList(u32);

impl StepList {
    /// The empty list. The node needs no key, so its derivations are not distinguished.
    pub(crate) const NONE: Self = Self(u32::MAX);
}

/// All steps to the open nodes, and the current derivation.
#[derive(Debug, Default)]
pub(crate) struct Derivations {
    /// The steps of the outer frames come first.
    all: Vec<DerivationStep>,
    /// The current derivation, from its last step to its first.
    route: Vec<DerivationStep>,
    /// The sort key of the current derivation.
    key: Vec<u64>,
}

impl Derivations {
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Keeps the first `length` steps.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.all.truncate(length);
    }

    /// Adds a step, and returns the list that starts with it.
    pub(crate) fn push(&mut self, step: DerivationStep) -> StepList {
        self.all.push(step);
        StepList(self.all.len() as u32 - 1)
    }

    /// Starts with the first derivation in a list. An empty list has one derivation, without steps.
    pub(crate) fn begin(&mut self, list: StepList) {
        self.route.clear();
        self.descend(list);
    }

    /// Moves to the next derivation of the list. Returns false after the last one.
    pub(crate) fn advance(&mut self) -> bool {
        // As in an odometer: advance the innermost step that has an alternative, and reset those
        // after it.
        while let Some(last) = self.route.pop() {
            if last.others != StepList::NONE {
                self.descend(last.others);
                return true;
            }
        }
        false
    }

    fn descend(&mut self, mut list: StepList) {
        while let Some(&step) = self.all.get(list.0 as usize) {
            self.route.push(step);
            list = step.before;
        }
    }

    /// Builds the key of the current derivation: the key words of each step, the first step first.
    pub(crate) fn build_key(&mut self, program: &Program) {
        self.key.clear();
        for step in self.route.iter().rev() {
            let Some(segment) = program.segment_of(step.state) else { continue };
            // All nodes selected from one node come before those selected below it, and each
            // selector's nodes before those of the next.
            if segment.descendant {
                self.key.push(step.container);
            }
            if segment.forked() {
                self.key.push(u64::from(step.number));
            }
            let reverse = segment.selectors.get(step.number as usize).is_some_and(Select::is_reverse);
            self.key.push(if reverse { !step.child } else { step.child });
        }
    }

    /// Builds a prefix of the smallest key among the derivations in a list.
    ///
    /// The smallest key belongs to the oldest steps: a step from an outer container sorts before
    /// one from an inner container, and steps from one container are added in the order of their
    /// selectors. [`Program::can_bound`] is false for queries with exceptions.
    pub(crate) fn lowest_key(&self, list: StepList, program: &Program, low: &mut Vec<u64>) {
        low.clear();
        let mut list = list;
        while let Some(mut step) = self.all.get(list.0 as usize) {
            while let Some(other) = self.all.get(step.others.0 as usize) {
                step = other;
            }
            low.push(step.child);
            if let Some(segment) = program.segment_of(step.state) {
                if segment.forked() {
                    low.push(u64::from(step.number));
                }
                if segment.descendant {
                    low.push(step.container);
                }
            }
            list = step.before;
        }
        low.reverse();
    }

    pub(crate) fn key(&self) -> &[u64] {
        &self.key
    }
}
