//! Failing operations on files: the n-th operation of a thread fails, once or from then on.
//!
//! Code under test passes through [`pass`] before each operation, and does it only when that went
//! well.

use std::any::Any;
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

/// True for an operation that fails, or that is counted.
type Which = Box<dyn Fn(&dyn Any) -> bool>;

#[derive(Default)]
struct Plan {
    /// The operation that fails, from 0.
    at: Option<u64>,
    /// Whether all later ones fail as well, as if the process had ended.
    dead: bool,
    /// Operations that fail wherever they occur.
    refused: Option<Which>,
    errno: i32,
    /// The operations that can fail and are counted; nothing for all of them.
    which: Option<Which>,
    seen: Vec<(Box<dyn Any>, PathBuf)>,
}

thread_local! {
    static PLAN: RefCell<Option<Plan>> = const { RefCell::new(None) };
}

/// What an operation does when it is to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fails {
    /// It fails, and all later ones are done.
    Once,
    /// It fails, and so do all later ones.
    FromThenOn,
}

/// Runs `work`, whose operation `at` fails with `errno`; what came of it, and the operations that
/// were asked for, all of which are told as an `O`.
///
/// ```
/// use trommel_testkit::faults::{Fails, failing, pass};
///
/// let work = || pass("open", "a").and_then(|()| pass("write", "a"));
/// let (done, operations) = failing(1, Fails::Once, 5, work);
/// assert_eq!(done.unwrap_err().raw_os_error(), Some(5));
/// assert_eq!(operations, [("open", "a".into()), ("write", "a".into())]);
/// assert!(pass("open", "a").is_ok(), "nothing fails by itself");
/// ```
pub fn failing<O: Any, T>(
    at: u64,
    fails: Fails,
    errno: i32,
    work: impl FnOnce() -> T,
) -> (T, Vec<(O, PathBuf)>) {
    run(Plan { at: Some(at), dead: fails == Fails::FromThenOn, errno, ..Plan::default() }, work)
}

/// Runs `work`, in which the `at`-th of the operations that `which` names fails with `errno`, and
/// all of these after it; the others succeed. With the operations that need space named, that is a
/// disk that fills up and stays full.
///
/// ```
/// use trommel_testkit::faults::{failing_all, pass};
///
/// let work = || (pass("write", "a"), pass("write", "a"), pass("remove", "a"), pass("write", "a"));
/// let (done, _) = failing_all(1, 28, |op: &&str| *op == "write", work);
/// assert!(done.0.is_ok() && done.1.is_err() && done.2.is_ok() && done.3.is_err());
/// ```
pub fn failing_all<O: Any, T>(
    at: u64,
    errno: i32,
    which: impl Fn(&O) -> bool + 'static,
    work: impl FnOnce() -> T,
) -> (T, Vec<(O, PathBuf)>) {
    let which: Which = Box::new(move |op| op.downcast_ref().is_some_and(&which));
    run(Plan { at: Some(at), dead: true, errno, which: Some(which), ..Plan::default() }, work)
}

/// Runs `work`, in which each of these operations fails with `errno`, as on a disk that does not
/// know them.
///
/// ```
/// use trommel_testkit::faults::{pass, refusing};
///
/// let fails = |op: &'static str, path| pass(op, path).is_err();
/// let work = || (fails("link", "a"), !fails("write", "a"), fails("link", "b"));
/// assert_eq!(refusing(&["link"], 95, work), (true, true, true));
/// ```
pub fn refusing<O: Any + Clone + PartialEq, T>(operations: &[O], errno: i32, work: impl FnOnce() -> T) -> T {
    let operations = operations.to_vec();
    let refused = move |op: &dyn Any| op.downcast_ref::<O>().is_some_and(|op| operations.contains(op));
    run::<O, T>(Plan { refused: Some(Box::new(refused)), errno, ..Plan::default() }, work).0
}

/// Runs `work`, of which nothing fails, and tells which operations it asked for.
pub fn watched<O: Any, T>(work: impl FnOnce() -> T) -> (T, Vec<(O, PathBuf)>) {
    run(Plan::default(), work)
}

fn run<O: Any, T>(plan: Plan, work: impl FnOnce() -> T) -> (T, Vec<(O, PathBuf)>) {
    PLAN.with(|current| *current.borrow_mut() = Some(plan));
    let result = work();
    let seen = PLAN.with(|current| current.borrow_mut().take()).map(|plan| plan.seen).unwrap_or_default();
    let operation = |(op, path): (Box<dyn Any>, PathBuf)| (*op.downcast().expect("all are told alike"), path);
    (result, seen.into_iter().map(operation).collect())
}

/// What an operation on a path must ask before it is done.
///
/// # Errors
/// When it is to fail.
pub fn pass(op: impl Any, path: impl AsRef<Path>) -> io::Result<()> {
    PLAN.with(|current| {
        let mut current = current.borrow_mut();
        let Some(plan) = current.as_mut() else { return Ok(()) };
        let counts = |op: &dyn Any| plan.which.as_ref().is_none_or(|which| which(op));
        let refused = plan.refused.as_ref().is_some_and(|refused| refused(&op));
        let is_counted = counts(&op);
        let number = plan.seen.iter().filter(|(op, _)| counts(op.as_ref())).count() as u64;
        plan.seen.push((Box::new(op), path.as_ref().to_owned()));
        let fails =
            refused || is_counted && plan.at.is_some_and(|at| number == at || plan.dead && number > at);
        if fails { Err(io::Error::from_raw_os_error(plan.errno)) } else { Ok(()) }
    })
}
