//! Injected faults for tests: a chosen file operation of the current thread fails, either alone or
//! together with all later ones.
//!
//! Every operation of [`files`](crate::files) first calls [`inject_fault`]. If that call returns an
//! error, the operation returns it and does nothing else, with one exception: a write first writes
//! half of its bytes, like a disk that fills up.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

use crate::op::Op;

/// Returns true for the operations that are counted. Only these can fail at an index.
type Filter = Box<dyn Fn(Op) -> bool>;

/// The faults to inject into the work that a thread is running, and the operations so far.
#[derive(Default)]
struct Plan {
    /// The index of the operation that fails, among the counted ones. `None` if no operation fails
    /// because of its index.
    at: Option<u64>,
    /// True if all later counted operations fail too.
    all_later: bool,
    /// Operations that always fail, regardless of their index.
    refused: Vec<Op>,
    /// The error number of every fault.
    errno: i32,
    /// Selects the counted operations; `None` for all operations.
    filter: Option<Filter>,
    /// All operations so far, including those that failed.
    operations: Vec<(Op, PathBuf)>,
}

thread_local! {
    static PLAN: RefCell<Option<Plan>> = const { RefCell::new(None) };
}

/// The extent of an injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fails {
    /// Only this operation fails.
    Once,
    /// This operation and all later ones fail, which simulates a crash of the process.
    FromThenOn,
}

/// Runs `work` and makes its operation number `at`, counted from 0, fail with `errno`. `fails` says
/// if later operations fail too. Returns the result of `work` and the operations that it attempted.
///
/// ```
/// use trommel_base::faults::{Fails, failing, inject_fault};
/// use trommel_base::files::Op;
///
/// let work = || inject_fault(Op::Open, "a").and_then(|()| inject_fault(Op::Write, "a"));
/// let (done, operations) = failing(1, Fails::Once, 5, work);
/// assert_eq!(done.unwrap_err().raw_os_error(), Some(5));
/// assert_eq!(operations, [(Op::Open, "a".into()), (Op::Write, "a".into())]);
/// assert!(inject_fault(Op::Open, "a").is_ok(), "no operation fails outside of the work");
/// ```
pub fn failing<T>(at: u64, fails: Fails, errno: i32, work: impl FnOnce() -> T) -> (T, Vec<(Op, PathBuf)>) {
    run(Plan { at: Some(at), all_later: fails == Fails::FromThenOn, errno, ..Plan::default() }, work)
}

/// Runs `work`, and counts only the operations that `filter` selects. Of these, number `at`,
/// counted from 0, and all later ones fail with `errno`. All other operations succeed. Returns the
/// result of `work` and all operations that it attempted.
///
/// With a filter for the operations that need disk space, this simulates a disk that fills up and
/// stays full.
///
/// ```
/// use trommel_base::faults::{failing_all, inject_fault};
/// use trommel_base::files::Op;
///
/// let work =
///     || [Op::Write, Op::Write, Op::Remove, Op::Write].map(|op| inject_fault(op, "a").is_ok());
/// let (done, _) = failing_all(1, 28, |op| op == Op::Write, work);
/// assert_eq!(done, [true, false, true, false]);
/// ```
pub fn failing_all<T>(
    at: u64,
    errno: i32,
    filter: impl Fn(Op) -> bool + 'static,
    work: impl FnOnce() -> T,
) -> (T, Vec<(Op, PathBuf)>) {
    run(
        Plan { at: Some(at), all_later: true, errno, filter: Some(Box::new(filter)), ..Plan::default() },
        work,
    )
}

/// Runs `work` on a simulated disk that does not support some operations: each use of one of
/// `operations` fails with `errno`. Returns the result of `work`.
///
/// ```
/// use trommel_base::faults::{inject_fault, refusing};
/// use trommel_base::files::Op;
///
/// let work = || [Op::Link, Op::Write, Op::Link].map(|op| inject_fault(op, "a").is_err());
/// assert_eq!(refusing(&[Op::Link], 95, work), [true, false, true]);
/// ```
pub fn refusing<T>(operations: &[Op], errno: i32, work: impl FnOnce() -> T) -> T {
    run(Plan { refused: operations.to_vec(), errno, ..Plan::default() }, work).0
}

/// Runs `work` without injecting a fault. Returns the result of `work` and its operations.
pub fn watched<T>(work: impl FnOnce() -> T) -> (T, Vec<(Op, PathBuf)>) {
    run(Plan::default(), work)
}

/// One run of a scenario by [`exhaust`].
#[derive(Debug)]
pub struct Trial {
    at: u64,
    fails: Fails,
    errno: i32,
    /// The operation that failed, if any.
    failed: Option<(Op, PathBuf)>,
}

impl Trial {
    /// Runs the work under test, with the fault of this trial. Returns the result of `work`.
    pub fn run<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (done, operations) = failing(self.at, self.fails, self.errno, work);
        self.failed = usize::try_from(self.at).ok().and_then(|at| operations.into_iter().nth(at));
        done
    }

    /// The operation that failed in this trial. `None` in the last trial, in which the work ends
    /// before it reaches operation number [`at`](Self::at).
    pub fn failed(&self) -> Option<&(Op, PathBuf)> {
        self.failed.as_ref()
    }

    /// The number of the operation that fails, counted from 0.
    pub fn at(&self) -> u64 {
        self.at
    }
}

/// Runs a scenario once for each operation of the work under test, and each time makes that
/// operation fail with `errno`. The last run has no fault. Returns the number of operations.
///
/// A scenario prepares its files, calls [`Trial::run`] once with the work under test, and checks
/// the resulting files.
///
/// ```
/// use trommel_base::faults::{Fails, exhaust, inject_fault};
/// use trommel_base::files::Op;
///
/// let count = exhaust(Fails::Once, 5, |trial| {
///     let write = || inject_fault(Op::Write, "a");
///     let done = trial.run(|| inject_fault(Op::Create, "a").and_then(|()| write()));
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
    let operations =
        PLAN.with(|current| current.borrow_mut().take()).map_or_else(Vec::new, |plan| plan.operations);
    (result, operations)
}

/// Records an operation that is about to start. Outside of the functions above it does nothing.
///
/// # Errors
/// The injected fault, if the operation must fail.
pub fn inject_fault(op: Op, path: impl AsRef<Path>) -> io::Result<()> {
    PLAN.with(|current| {
        let mut current = current.borrow_mut();
        let Some(plan) = current.as_mut() else { return Ok(()) };
        let is_counted = |op: Op| plan.filter.as_ref().is_none_or(|filter| filter(op));
        let index = plan.operations.iter().filter(|(op, _)| is_counted(*op)).count() as u64;
        let is_due = plan.at.is_some_and(|at| index == at || plan.all_later && index > at);
        let fails = plan.refused.contains(&op) || is_counted(op) && is_due;
        plan.operations.push((op, path.as_ref().to_owned()));
        if fails { Err(io::Error::from_raw_os_error(plan.errno)) } else { Ok(()) }
    })
}
