//! Failing file operations, for tests: the n-th operation of a thread fails, once or from then on.
//!
//! Every operation of [`files`](crate::files) passes [`pass`] before it starts, and starts only if
//! that succeeds.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use crate::op::Op;

/// Selects the operations that can fail and are counted.
type Which = Box<dyn Fn(Op) -> bool>;

#[derive(Default)]
struct Plan {
    /// The operation that fails, from 0.
    at: Option<u64>,
    /// True if all later ones fail as well, as if the process had ended.
    dead: bool,
    /// Operations that fail wherever they occur.
    refused: Vec<Op>,
    errno: i32,
    /// None for all operations.
    which: Option<Which>,
    seen: Vec<(Op, PathBuf)>,
}

thread_local! {
    static PLAN: RefCell<Option<Plan>> = const { RefCell::new(None) };
}

/// How long an injected fault lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fails {
    /// The operation fails, and all later ones succeed.
    Once,
    /// The operation and all later ones fail, as if the process had ended.
    FromThenOn,
}

/// Runs `work` with operation `at` failing with `errno`. Returns its result and the operations it
/// asked for.
///
/// ```
/// use trommel_base::faults::{Fails, failing, pass};
/// use trommel_base::files::Op;
///
/// let work = || pass(Op::Open, "a").and_then(|()| pass(Op::Write, "a"));
/// let (done, operations) = failing(1, Fails::Once, 5, work);
/// assert_eq!(done.unwrap_err().raw_os_error(), Some(5));
/// assert_eq!(operations, [(Op::Open, "a".into()), (Op::Write, "a".into())]);
/// assert!(pass(Op::Open, "a").is_ok(), "nothing fails by itself");
/// ```
pub fn failing<T>(at: u64, fails: Fails, errno: i32, work: impl FnOnce() -> T) -> (T, Vec<(Op, PathBuf)>) {
    run(Plan { at: Some(at), dead: fails == Fails::FromThenOn, errno, ..Plan::default() }, work)
}

/// Runs `work` with the `at`-th of the operations that `which` selects failing with `errno`, and
/// all of these after it; the others succeed. With the operations that need space selected, that is
/// a disk that fills up and stays full.
///
/// ```
/// use trommel_base::faults::{failing_all, pass};
/// use trommel_base::files::Op;
///
/// let work = || [Op::Write, Op::Write, Op::Remove, Op::Write].map(|op| pass(op, "a").is_ok());
/// let (done, _) = failing_all(1, 28, |op| op == Op::Write, work);
/// assert_eq!(done, [true, false, true, false]);
/// ```
pub fn failing_all<T>(
    at: u64,
    errno: i32,
    which: impl Fn(Op) -> bool + 'static,
    work: impl FnOnce() -> T,
) -> (T, Vec<(Op, PathBuf)>) {
    run(Plan { at: Some(at), dead: true, errno, which: Some(Box::new(which)), ..Plan::default() }, work)
}

/// Runs `work` with each of these operations failing with `errno`, as on a disk that does not
/// support them.
///
/// ```
/// use trommel_base::faults::{pass, refusing};
/// use trommel_base::files::Op;
///
/// let work = || [Op::Link, Op::Write, Op::Link].map(|op| pass(op, "a").is_err());
/// assert_eq!(refusing(&[Op::Link], 95, work), [true, false, true]);
/// ```
pub fn refusing<T>(operations: &[Op], errno: i32, work: impl FnOnce() -> T) -> T {
    run(Plan { refused: operations.to_vec(), errno, ..Plan::default() }, work).0
}

/// Runs `work` without a fault. Returns its result and the operations it asked for.
pub fn watched<T>(work: impl FnOnce() -> T) -> (T, Vec<(Op, PathBuf)>) {
    run(Plan::default(), work)
}

/// One run of a scenario under [`exhaust`].
#[derive(Debug)]
pub struct Trial {
    at: u64,
    fails: Fails,
    errno: i32,
    failed: Option<(Op, PathBuf)>,
}

impl Trial {
    /// Runs the work whose operations can fail. Returns its result.
    pub fn run<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (done, operations) = failing(self.at, self.fails, self.errno, work);
        self.failed = usize::try_from(self.at).ok().and_then(|at| operations.into_iter().nth(at));
        done
    }

    /// The operation that failed in this trial. None in the last trial, where the work had fewer
    /// operations.
    pub fn failed(&self) -> Option<&(Op, PathBuf)> {
        self.failed.as_ref()
    }

    /// The number of the operation that fails, from 0.
    pub fn at(&self) -> u64 {
        self.at
    }
}

/// Runs a scenario once for each of its operations, with that operation failing with `errno`, and a
/// last time without a fault. A scenario prepares its files, calls [`Trial::run`] once with the
/// work under test, and checks what is left. Returns the number of operations.
///
/// ```
/// use trommel_base::faults::{Fails, exhaust, pass};
/// use trommel_base::files::Op;
///
/// let count = exhaust(Fails::Once, 5, |trial| {
///     let done = trial.run(|| pass(Op::Create, "a").and_then(|()| pass(Op::Write, "a")));
///     assert_eq!(done.is_err(), trial.failed().is_some());
/// });
/// assert_eq!(count, 2);
/// ```
pub fn exhaust(fails: Fails, errno: i32, mut scenario: impl FnMut(&mut Trial)) -> u64 {
    let mut trial = Trial { at: 0, fails, errno, failed: None };
    loop {
        trial.failed = None;
        scenario(&mut trial);
        if trial.failed.is_none() {
            return trial.at;
        }
        trial.at += 1;
    }
}

fn run<T>(plan: Plan, work: impl FnOnce() -> T) -> (T, Vec<(Op, PathBuf)>) {
    PLAN.with(|current| *current.borrow_mut() = Some(plan));
    let result = work();
    let seen = PLAN.with(|current| current.borrow_mut().take()).map_or_else(Vec::new, |plan| plan.seen);
    (result, seen)
}

/// Asks whether an operation on a path is to fail.
///
/// # Errors
/// The injected fault.
pub fn pass(op: Op, path: impl AsRef<Path>) -> io::Result<()> {
    PLAN.with(|current| {
        let mut current = current.borrow_mut();
        let Some(plan) = current.as_mut() else { return Ok(()) };
        let counts = |op: Op| plan.which.as_ref().is_none_or(|which| which(op));
        let number = plan.seen.iter().filter(|(op, _)| counts(*op)).count() as u64;
        let is_due = plan.at.is_some_and(|at| number == at || plan.dead && number > at);
        let fails = plan.refused.contains(&op) || counts(op) && is_due;
        plan.seen.push((op, path.as_ref().to_owned()));
        if fails { Err(io::Error::from_raw_os_error(plan.errno)) } else { Ok(()) }
    })
}
