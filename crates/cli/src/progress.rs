//! How far the work is: a bar on a terminal, when it takes longer than half a second.

use std::env;
use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trommel_tool::Event;

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

/// True if standard error is a terminal that can clear a line.
fn is_shown() -> bool {
    let is_dumb = env::var_os("TERM").is_some_and(|name| name == "dumb");
    io::stderr().is_terminal() && !is_dumb
}

/// A spinner on a terminal while nothing can be counted, until it is dropped.
#[derive(Debug)]
pub(crate) struct Waiting(Option<ProgressBar>);

impl Waiting {
    /// Shows what is waited for, and for how long by now.
    pub(crate) fn new(what: &'static str) -> Self {
        Self(is_shown().then(|| {
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
    /// Nothing is shown yet, and nothing ever when standard error is no terminal, or one that cannot clear a line.
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), shown: is_shown(), bar: OnceLock::new() }
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
        let bar = self.bar.get_or_init(|| bar(total, self.started, unit));
        if total.is_some() && total != bar.length() {
            bar.set_length(total.unwrap_or_default());
        }
        bar.set_position(done);
    }

    /// Tells how far a tool is.
    pub(crate) fn watch(&self, event: &Event<'_>) {
        if let Event::Progress { done, total } = *event {
            self.update(done, total);
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

fn bar(total: Option<u64>, started: Instant, unit: Unit) -> ProgressBar {
    let (template, bar) = match total {
        Some(total) => (
            match unit {
                Unit::Bytes => {
                    "{bar:30.cyan/dim} {percent:>3} % of {binary_total_bytes}  {binary_bytes_per_sec}  {eta} left"
                }
                Unit::Outputs => "{bar:30.cyan/dim} {percent:>3} % of {human_len} outputs  {eta} left",
            },
            ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()),
        ),
        None => (
            "{spinner:.cyan} {binary_bytes}  {binary_bytes_per_sec}  {elapsed}",
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()),
        ),
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style).with_elapsed(started.elapsed())
}
