//! Progress on standard error, for work that takes longer than half a second.

use std::fmt::Write;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{BinaryBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use trommel_tool::Event;

use crate::screen::{ProgressForm, Screen};

/// The delay before a bar appears. Shorter work shows none.
const BAR_DELAY: Duration = Duration::from_millis(500);

/// The unit of the progress.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Bytes,
    Outputs,
}

/// The time between two lines of progress.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// Progress on standard error: a bar, lines, or nothing.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    form: ProgressForm,
    bar: OnceLock<ProgressBar>,
    /// The interval of the last line.
    last_line: AtomicU64,
}

/// A spinner on a terminal for work without progress, until it is dropped.
#[derive(Debug)]
pub(crate) struct Spinner(Option<ProgressBar>);

impl Spinner {
    /// Shows a message and the elapsed time.
    pub(crate) fn new(what: &'static str, screen: &Screen) -> Self {
        Self((screen.progress == ProgressForm::Bar).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner:.cyan} {msg}, {elapsed}");
            let bar =
                bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner())).with_message(what);
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        }))
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

impl Progress {
    /// Creates a bar that appears after a delay, if the screen shows progress.
    pub(crate) fn new(screen: &Screen) -> Self {
        Self::with_form(screen.progress)
    }

    /// Creates a bar that never appears.
    pub(crate) fn hidden() -> Self {
        Self::with_form(ProgressForm::Hidden)
    }

    fn with_form(form: ProgressForm) -> Self {
        Self { started: Instant::now(), form, bar: OnceLock::new(), last_line: AtomicU64::new(0) }
    }

    /// Sets the number of bytes done and their total. Called about once per megabyte.
    pub(crate) fn update(&self, bytes: u64, total: Option<u64>) {
        self.show(bytes, total, Unit::Bytes);
    }

    /// Sets the number of outputs done and their total.
    pub(crate) fn count(&self, outputs: u64, total: u64) {
        self.show(outputs, Some(total), Unit::Outputs);
    }

    fn show(&self, done: u64, total: Option<u64>, unit: Unit) {
        match self.form {
            ProgressForm::Hidden => return,
            ProgressForm::Lines => return self.line(done, total, unit),
            ProgressForm::Bar => {}
        }
        if self.bar.get().is_none() && self.started.elapsed() < BAR_DELAY {
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

    /// Prints a line, at most one per interval.
    fn line(&self, done: u64, total: Option<u64>, unit: Unit) {
        let due = (self.started.elapsed().as_secs_f64() / LINE_INTERVAL.as_secs_f64()) as u64;
        let last = self.last_line.fetch_max(due, Ordering::Relaxed);
        if last >= due {
            return;
        }
        let amount = |amount: u64| match unit {
            Unit::Bytes => BinaryBytes(amount).to_string(),
            Unit::Outputs => format!("{amount} outputs"),
        };
        let of_total = match total {
            Some(total @ 1..) => format!(" of {} ({} %)", amount(total), done.saturating_mul(100) / total),
            _ => String::new(),
        };
        // A failure to report progress is no failure of the work.
        let _ = writeln!(anstream::stderr(), "progress: {}{of_total}", amount(done));
    }

    /// Shows the progress of a tool.
    pub(crate) fn watch(&self, event: &Event<'_>) {
        if let Event::Progress(progress) = event {
            self.update(progress.bytes, progress.total);
        }
    }

    /// Removes the bar from the terminal for good.
    pub(crate) fn clear(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }

    /// Calls `write` while the bar is hidden, so that its output does not mix with the bar.
    pub(crate) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        match self.bar.get() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

/// Creates the bar of work that has reached `done` since `started`.
fn bar(done: u64, total: Option<u64>, started: Instant, unit: Unit) -> ProgressBar {
    let template = match (total, unit) {
        (Some(_), Unit::Bytes) => {
            "{bar:30.cyan/dim} {percent:>3} % of {binary_total_bytes}  {rate}  {left} left"
        }
        (Some(_), Unit::Outputs) => "{bar:30.cyan/dim} {percent:>3} % of {human_len} outputs  {left} left",
        (None, _) => "{spinner:.cyan} {binary_bytes}  {rate}  {elapsed}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    // The bar appears when the work has run for a while. The library's own rate starts then and
    // counts all earlier work as done in an instant. The rate shown is therefore the mean since the
    // start.
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

/// Returns the steps per second since the start of the work.
fn mean_rate(state: &ProgressState) -> f64 {
    state.pos() as f64 / state.elapsed().as_secs_f64().max(f64::EPSILON)
}

/// Returns the time for the remaining steps at the mean rate, or zero before the first step.
fn time_left(state: &ProgressState) -> Duration {
    let remaining = state.len().unwrap_or(0).saturating_sub(state.pos()) as f64;
    Duration::try_from_secs_f64(remaining / mean_rate(state)).unwrap_or(Duration::ZERO)
}
