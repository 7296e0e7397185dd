//! How far the work is: a bar on a terminal, when it takes longer than half a second.

use std::fmt::Write;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use trommel_tool::Event;

use crate::screen::Screen;

/// Work that ends sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// What is counted.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Bytes,
    Outputs,
}

/// The bar, or its absence.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    shown: bool,
    bar: OnceLock<ProgressBar>,
}

/// A spinner on a terminal while nothing can be counted, until it is dropped.
#[derive(Debug)]
pub(crate) struct Waiting(Option<ProgressBar>);

impl Waiting {
    /// Shows what is waited for, and for how long by now.
    pub(crate) fn new(what: &'static str, screen: &Screen) -> Self {
        Self(screen.shows_progress.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner:.cyan} {msg}, {elapsed}");
            let bar =
                bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner())).with_message(what);
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        }))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

impl Progress {
    /// A bar that appears after a while, if the screen shows progress.
    pub(crate) fn new(screen: &Screen) -> Self {
        Self { started: Instant::now(), shown: screen.shows_progress, bar: OnceLock::new() }
    }

    /// A bar that never appears.
    pub(crate) fn hidden() -> Self {
        Self { started: Instant::now(), shown: false, bar: OnceLock::new() }
    }

    /// Tells how far the work is, in bytes, and of how many. Called about once a megabyte.
    pub(crate) fn update(&self, bytes: u64, total: Option<u64>) {
        self.show(bytes, total, Unit::Bytes);
    }

    /// Tells how many outputs are done, and of how many.
    pub(crate) fn count(&self, outputs: u64, total: u64) {
        self.show(outputs, Some(total), Unit::Outputs);
    }

    fn show(&self, done: u64, total: Option<u64>, unit: Unit) {
        if !self.shown || self.bar.get().is_none() && self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_init(|| bar(done, total, self.started, unit));
        if let Some(length) = total
            && total != bar.length()
        {
            bar.set_length(length);
        }
        bar.set_position(done);
    }

    /// Tells how far a tool is.
    pub(crate) fn watch(&self, event: &Event<'_>) {
        if let Event::Progress(progress) = event {
            self.update(progress.bytes, progress.total);
        }
    }

    /// Takes the bar off the terminal, for good.
    pub(crate) fn clear(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }

    /// Does something that writes to the terminal while the bar is not there.
    pub(crate) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        match self.bar.get() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

/// The bar of work that has reached `done` since `started`.
fn bar(done: u64, total: Option<u64>, started: Instant, unit: Unit) -> ProgressBar {
    let template = match (total, unit) {
        (Some(_), Unit::Bytes) => {
            "{bar:30.cyan/dim} {percent:>3} % of {binary_total_bytes}  {rate}  {left} left"
        }
        (Some(_), Unit::Outputs) => "{bar:30.cyan/dim} {percent:>3} % of {human_len} outputs  {left} left",
        (None, _) => "{spinner:.cyan} {binary_bytes}  {rate}  {elapsed}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    // The bar appears when the work has run for a while. The library's own rate starts at that
    // moment and takes everything done before it for the work of an instant, so the rate shown is
    // the mean since the start.
    let style = style.with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{}/s", BinaryBytes(mean_rate(state) as u64));
    });
    let style = style.with_key("left", |state: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{:#}", HumanDuration(time_left(state)));
    });
    ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr())
        .with_style(style)
        .with_elapsed(started.elapsed())
        .with_position(done)
}

/// Steps per second since the start of the work.
fn mean_rate(state: &ProgressState) -> f64 {
    state.pos() as f64 / state.elapsed().as_secs_f64().max(f64::EPSILON)
}

/// The time that the remaining steps take at the mean rate; zero while nothing is done.
fn time_left(state: &ProgressState) -> Duration {
    let remaining = state.len().unwrap_or(0).saturating_sub(state.pos()) as f64;
    Duration::try_from_secs_f64(remaining / mean_rate(state)).unwrap_or(Duration::ZERO)
}
