//! `trommel rm`, `pin`, `gc`, `verify` and `rebuild`: the store's upkeep.
//!
//! A change that has begun is brought to its end before a signal is heeded, so that nothing is left half done.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use serde::Serialize;
use serde_json::json;
use trommel_store::{Damage, GcOptions, Limits, Store, Verified};

use crate::args::{GcArgs, PinArgs, RebuildArgs, RmArgs, VerifyArgs};
use crate::errors::Failure;
use crate::output::{self, tables};
use crate::progress::Progress;
use crate::{home, signals};

/// The number of a signal that came, else 0.
#[derive(Clone, Debug, Default)]
struct Signal(Arc<AtomicI32>);

impl Signal {
    /// Listens from now on.
    fn listen() -> io::Result<Self> {
        let signal = Self::default();
        let told = signal.clone();
        signals::tell(Arc::new(Progress::new()), move |number| {
            told.0.store(number, Ordering::Relaxed);
            true
        })?;
        Ok(signal)
    }

    /// A failure when one came.
    fn check(&self) -> Result<(), Failure> {
        match self.0.load(Ordering::Relaxed) {
            0 => Ok(()),
            number => Err(Failure::Signal(number)),
        }
    }
}

pub(crate) fn rm(args: &RmArgs) -> Result<(), Failure> {
    let signal = Signal::listen()?;
    let store = home::store()?;
    let ids = resolved(&store, &args.ids)?;
    for id in &ids {
        signal.check()?;
        store.delete(id)?;
    }
    print(args.json, &json!({"deleted": ids}), || lines("deleted", &ids))
}

pub(crate) fn pin(args: &PinArgs) -> Result<(), Failure> {
    let signal = Signal::listen()?;
    let store = home::store()?;
    let ids = resolved(&store, &args.ids)?;
    for id in &ids {
        signal.check()?;
        store.pin(id, !args.undo)?;
    }
    let done = if args.undo { "unpinned" } else { "pinned" };
    print(args.json, &json!({done: ids}), || lines(done, &ids))
}

/// The ids in full, each once. When one of them fits no output, nothing is done to any.
fn resolved(store: &Store, ids: &[String]) -> Result<Vec<String>, Failure> {
    let mut resolved = Vec::with_capacity(ids.len());
    for id in ids {
        let id = store.resolve(id)?;
        if !resolved.contains(&id) {
            resolved.push(id);
        }
    }
    Ok(resolved)
}

fn lines(done: &str, ids: &[String]) -> String {
    ids.iter().flat_map(|id| [done, " ", id, "\n"]).collect()
}

pub(crate) fn gc(args: &GcArgs) -> Result<(), Failure> {
    let signal = Signal::listen()?;
    let store = home::store()?;
    let mut options = GcOptions::default();
    options.dry_run = args.dry_run;
    if args.max_size.is_some() || args.max_count.is_some() || args.max_age.is_some() {
        let mut limits = Limits::default();
        (limits.bytes, limits.count, limits.age) = (args.max_size, args.max_count, args.max_age);
        options.limits = Some(limits);
    }
    let swept = store.gc(&options)?;
    signal.check()?;
    print(args.json, &swept, || tables::swept(&swept))
}

/// What a verification found, with each damage.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    verified: &'a Verified,
    damages: &'a [Damage],
}

pub(crate) fn verify(args: &VerifyArgs) -> Result<(), Failure> {
    signals::install(Arc::new(Progress::new()))?;
    let mut damages = Vec::new();
    let verified = home::store()?.verify(&mut |damage| damages.push(damage.clone()))?;
    let report = Report { verified: &verified, damages: &damages };
    print(args.json, &report, || tables::verified(&verified, &damages))?;
    if verified.is_whole() { Ok(()) } else { Err(Failure::Said) }
}

pub(crate) fn rebuild(args: &RebuildArgs) -> Result<(), Failure> {
    let signal = Signal::listen()?;
    let rebuilt = home::store()?.rebuild()?;
    signal.check()?;
    print(args.json, &rebuilt, || tables::rebuilt(&rebuilt))
}

/// Prints an answer: for people on a terminal, else as JSON.
fn print(json: bool, answer: &impl Serialize, table: impl FnOnce() -> String) -> Result<(), Failure> {
    if !json && output::is_terminal() {
        return Ok(output::print(&table())?);
    }
    let document = serde_json::to_string(answer).map_err(io::Error::other)?;
    Ok(output::print_json(&document, true)?)
}
