//! `trommel rm`, `pin`, `gc`, `verify`, and `rebuild`: maintenance of the store.
//!
//! A signal never interrupts a single change: the change completes first. Work over all outputs
//! stops between two outputs.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use serde::Serialize;
use serde_json::json;
use trommel_base::{Cancel, Progress as Done};
use trommel_store::{Control, Damage, DamageKind, GcOptions, Limits, Store, VerifyReport};

use crate::args::{GcArgs, PinArgs, RebuildArgs, RmArgs, VerifyArgs};
use crate::errors::Failure;
use crate::output::{self, Screen, Stream, tables};
use crate::progress::Progress;
use crate::{home, signals};

/// Handles signals by cancelling the work.
#[derive(Clone)]
pub(super) struct Signal {
    /// The number of the signal, or 0.
    number: Arc<AtomicI32>,
    cancel: Cancel,
    progress: Arc<Progress>,
}

impl Signal {
    /// Installs the signal handler.
    pub(super) fn listen(screen: &Screen) -> io::Result<Self> {
        let (number, progress) = (Arc::default(), Arc::new(Progress::new(screen)));
        let signal = Self { number, cancel: Cancel::new(), progress };
        let handler = signal.clone();
        signals::on_signal(Arc::clone(&signal.progress), move |number| {
            handler.number.store(number, Ordering::Relaxed);
            handler.cancel.cancel();
            true
        })?;
        Ok(signal)
    }

    /// Lets a signal cancel an analysis, whose progress is shown.
    pub(super) fn watch(&self, analysis: trommel::Analysis) -> trommel::Analysis {
        let progress = Arc::clone(&self.progress);
        analysis.cancel_with(&self.cancel).on_progress(move |done| progress.update(done.bytes, done.total))
    }

    /// Ends the progress. Fails if a signal arrived.
    pub(super) fn end(&self) -> Result<(), Failure> {
        self.progress.clear();
        self.check()
    }

    /// Fails if a signal arrived.
    fn check(&self) -> Result<(), Failure> {
        match self.number.load(Ordering::Relaxed) {
            0 => Ok(()),
            number => Err(Failure::Signal(number)),
        }
    }

    /// Runs work over all outputs with progress. A signal cancels it.
    fn run<T>(
        &self,
        show: impl Fn(&Progress, Done) + Send + Sync + 'static,
        work: impl FnOnce(&Control) -> trommel_store::Result<T>,
    ) -> Result<T, Failure> {
        let progress = Arc::clone(&self.progress);
        let control = Control::new().cancel_with(&self.cancel).on_progress(move |done| show(&progress, done));
        let worked = work(&control);
        self.progress.clear();
        self.check()?;
        Ok(worked?)
    }
}

fn count(progress: &Progress, done: Done) {
    progress.count(done.items, done.total_items.unwrap_or(done.items));
}

pub(crate) fn rm(args: &RmArgs, screen: &Screen) -> Result<(), Failure> {
    let signal = Signal::listen(screen)?;
    let store = home::store()?;
    // All IDs are resolved first: an unknown one must not leave some outputs deleted.
    let ids = resolve(&store, &args.ids)?;
    for id in &ids {
        signal.check()?;
        store.delete(id)?;
    }
    print(args.json, screen.out, &json!({"deleted": ids}), || lines("deleted", &ids))
}

pub(crate) fn pin(args: &PinArgs, screen: &Screen) -> Result<(), Failure> {
    let signal = Signal::listen(screen)?;
    let store = home::store()?;
    let ids = resolve(&store, &args.ids)?;
    for id in &ids {
        signal.check()?;
        store.pin(id, !args.undo)?;
    }
    let done = if args.undo { "unpinned" } else { "pinned" };
    print(args.json, screen.out, &json!({done: ids}), || lines(done, &ids))
}

/// Resolves IDs and removes duplicates. If one of them matches no output, fails before anything is
/// changed.
fn resolve(store: &Store, ids: &[String]) -> Result<Vec<String>, Failure> {
    let mut resolved = Vec::with_capacity(ids.len());
    for id in ids {
        let id = store.resolve_in_files(id)?;
        if !resolved.contains(&id) {
            resolved.push(id);
        }
    }
    Ok(resolved)
}

fn lines(done: &str, ids: &[String]) -> String {
    ids.iter().flat_map(|id| [done, " ", id, "\n"]).collect()
}

pub(crate) fn gc(args: &GcArgs, screen: &Screen) -> Result<(), Failure> {
    let signal = Signal::listen(screen)?;
    let store = home::store()?;
    let mut options = GcOptions::default();
    options.dry_run = args.dry_run;
    if args.max_size.is_some() || args.max_count.is_some() || args.max_age.is_some() {
        let mut limits = Limits::default();
        (limits.bytes, limits.count, limits.age) = (args.max_size, args.max_count, args.max_age);
        options.limits = Some(limits);
    }
    let swept = signal.run(count, |control| store.gc_with(&options, control))?;
    print(args.json, screen.out, &swept, || tables::swept(&swept, screen.out))
}

/// The result of a verification, with each damage and each leftover file.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    verified: &'a VerifyReport,
    damages: &'a [Damage],
    #[serde(skip_serializing_if = "<[Damage]>::is_empty")]
    leftovers: &'a [Damage],
}

pub(crate) fn verify(args: &VerifyArgs, screen: &Screen) -> Result<(), Failure> {
    let signal = Signal::listen(screen)?;
    let store = home::store()?;
    let mut found = Vec::new();
    let bytes = |progress: &Progress, done: Done| progress.update(done.bytes, done.total);
    let verified =
        signal.run(bytes, |control| store.verify_with(control, &mut |damage| found.push(damage.clone())))?;
    let (leftovers, damages): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|found| found.kind == DamageKind::Stray);
    let report = Report { verified: &verified, damages: &damages, leftovers: &leftovers };
    print(args.json, screen.out, &report, || tables::verified(&verified, &damages, &leftovers, screen.out))?;
    if verified.is_whole() { Ok(()) } else { Err(Failure::AlreadyReported) }
}

pub(crate) fn rebuild(args: &RebuildArgs, screen: &Screen) -> Result<(), Failure> {
    let signal = Signal::listen(screen)?;
    let store = home::store()?;
    let rebuilt = signal.run(count, |control| store.rebuild_with(control))?;
    print(args.json, screen.out, &rebuilt, || tables::rebuilt(&rebuilt, screen.out))
}

/// Prints an answer: a table on a terminal, otherwise JSON.
pub(super) fn print(
    json: bool,
    out: Stream,
    answer: &impl Serialize,
    table: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if !json && out.is_terminal {
        return Ok(output::print(&table())?);
    }
    let document = serde_json::to_string(answer).map_err(io::Error::other)?;
    Ok(output::print_json(&document, true, out)?)
}
