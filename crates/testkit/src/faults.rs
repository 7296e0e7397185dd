//! Failing operations on files: the n-th operation of a thread fails, once or from then on.
//!
//! Code under test passes through [`pass`] before each operation, and does it only when that went well.

use std::any::Any;
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

/// True for an operation that is not known.
type Refused = dyn Fn(&dyn Any) -> bool;

#[derive(Default)]
struct Plan {
    /// The operation that fails, from 0.
    at: Option<u64>,
    /// Whether all later ones fail as well, as if the process had ended.
    dead: bool,
    /// Operations that fail wherever they occur.
    refused: Option<Box<Refused>>,
    errno: i32,
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

/// Runs `work`, whose operation `at` fails with `errno`; what came of it, and the operations that were asked for, all of which
/// are told as an `O`.
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

/// Runs `work`, in which each of these operations fails with `errno`, as on a disk that does not know them.
///
/// ```
/// use trommel_testkit::faults::{pass, refusing};
///
/// let work = || (pass("link", "a").is_err(), pass("write", "a").is_ok(), pass("link", "b").is_err());
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
        let number = plan.seen.len() as u64;
        let refused = plan.refused.as_ref().is_some_and(|refused| refused(&op));
        plan.seen.push((Box::new(op), path.as_ref().to_owned()));
        let fails = refused || plan.at.is_some_and(|at| number == at || plan.dead && number > at);
        if fails { Err(io::Error::from_raw_os_error(plan.errno)) } else { Ok(()) }
    })
}
