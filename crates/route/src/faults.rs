//! Failing operations, for tests: the n-th operation of a thread fails, once or from then on.

use std::cell::RefCell;
use std::io;

use crate::disk::Op;

#[derive(Default)]
struct Plan {
    /// The operation that fails, from 0.
    at: Option<u64>,
    /// Whether all later ones fail as well, as if the process had ended.
    dead: bool,
    errno: i32,
    seen: Vec<(Op, String)>,
}

thread_local! {
    static PLAN: RefCell<Option<Plan>> = const { RefCell::new(None) };
}

/// What an operation does when it is to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fails {
    /// It fails, and all later ones are done.
    Once,
    /// It fails, and so do all later ones.
    FromThenOn,
}

/// Runs `work`, whose operation `at` fails with `errno`; what came of it, and the operations that were asked for.
pub(crate) fn failing<T>(
    at: u64,
    fails: Fails,
    errno: i32,
    work: impl FnOnce() -> T,
) -> (T, Vec<(Op, String)>) {
    let plan = Plan { at: Some(at), dead: fails == Fails::FromThenOn, errno, ..Plan::default() };
    PLAN.with(|current| *current.borrow_mut() = Some(plan));
    let result = work();
    let seen = PLAN.with(|current| current.borrow_mut().take()).map(|plan| plan.seen);
    (result, seen.unwrap_or_default())
}

pub(crate) fn pass(op: Op, name: &str) -> io::Result<()> {
    PLAN.with(|current| {
        let mut current = current.borrow_mut();
        let Some(plan) = current.as_mut() else { return Ok(()) };
        let number = plan.seen.len() as u64;
        plan.seen.push((op, name.to_owned()));
        let fails = plan.at.is_some_and(|at| number == at || plan.dead && number > at);
        if fails { Err(io::Error::from_raw_os_error(plan.errno)) } else { Ok(()) }
    })
}
