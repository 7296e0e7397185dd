//! Extracted values that are pulled: for callers that cannot pass a sink to a run, such as
//! iterators and bindings for other languages.
//!
//! [`Values`] returns what an [`Analysis`] extracts in batches. The run is on a thread of its own,
//! pauses while it is a batch ahead, and ends when the values are dropped. Memory is bounded by two
//! batches of 256 KiB and their longest values.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, io, thread};

use trommel::reader::Span;
use trommel::{Analysis, Cancel, Document, Error, Match, Report, Sink};

/// Bytes of values in a batch. A batch exceeds it by at most one value.
const BATCH_BYTES: usize = 256 << 10;

/// Values in a batch.
const BATCH_VALUES: usize = 4096;

/// The time that values of an unfinished batch may wait while the reader of values waits, too.
const PATIENCE: Duration = Duration::from_millis(1);

/// Extracted values, in the order in which [`Analysis::run_with`] passes them to a sink.
///
/// Dropping them cancels the run.
///
/// ```
/// use trommel::{Analysis, Document};
/// use trommel_values::Values;
///
/// let document = Document::from_bytes("{\"a\":[1,20,300]}");
/// let mut values = Values::new(&Analysis::new().extract("$.a[*]".parse()?), document)?;
/// let mut texts = Vec::new();
/// while let Some(batch) = values.next_batch()? {
///     texts.extend(batch.iter().map(|value| String::from_utf8_lossy(value.bytes).into_owned()));
/// }
/// assert_eq!(texts, ["1", "20", "300"]);
/// assert_eq!(values.report().map(|report| report.coverage.bytes_read), Some(16));
/// # Ok::<(), trommel::Error>(())
/// ```
#[must_use = "nothing reads the values"]
pub struct Values {
    shared: Arc<Shared>,
    cancel: Cancel,
    batch: Batch,
    report: Option<Report>,
}

/// Values in order.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    locations: String,
    rows: Vec<Row>,
}

/// A value in a batch, and the ends of its texts there.
#[derive(Debug)]
struct Row {
    measure: usize,
    span: Span,
    record: u64,
    end: usize,
    location: Option<usize>,
}

/// One extracted value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Value<'b> {
    /// The number of its measure in the analysis.
    pub measure: usize,
    /// The bytes of the value, verbatim from the input.
    pub bytes: &'b [u8],
    /// The position of the value in the input.
    pub span: Span,
    /// The record that contains the value, from 0.
    pub record: u64,
    /// The normalized path of the value, if the values are [`located`](Values::located).
    pub location: Option<&'b str>,
}

/// The state that both threads share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Signals values or the end to the thread that pulls.
    filled: Condvar,
    /// Signals to the run that the batch was taken, or that nothing pulls any more.
    taken: Condvar,
}

#[derive(Default)]
struct State {
    batch: Batch,
    /// True while the thread that pulls waits for a single value.
    is_waiting: bool,
    /// True once nothing is pulled any more: all values were, or the values were dropped.
    is_over: bool,
    /// The result, once the run has ended.
    ended: Option<Result<Report, Error>>,
}

impl Values {
    /// Answers the measures of an analysis over a document.
    ///
    /// # Errors
    /// If no thread can be started. Errors of the run come after the values before them.
    pub fn new(analysis: &Analysis, document: Document<'static>) -> Result<Self, Error> {
        Self::start(analysis, document, false)
    }

    /// Like [`new`](Self::new), with the normalized path of each value.
    ///
    /// # Errors
    /// Those of `new`.
    pub fn located(analysis: &Analysis, document: Document<'static>) -> Result<Self, Error> {
        Self::start(analysis, document, true)
    }

    fn start(analysis: &Analysis, mut document: Document<'static>, is_located: bool) -> Result<Self, Error> {
        let cancel = analysis.cancel().child();
        let analysis = analysis.clone().cancel_with(&cancel);
        let shared = Arc::new(Shared::default());
        let mut sink = BatchSink { shared: Arc::clone(&shared), is_located };
        let run = move || {
            // Ends the values even if a callback of the caller panics.
            let guard = EndGuard(Arc::clone(&sink.shared));
            let result = analysis.run_with(&mut document, &mut sink);
            guard.0.lock().ended = Some(result);
        };
        thread::Builder::new().name("trommel-values".into()).spawn(run)?;
        Ok(Self { shared, cancel, batch: Batch::default(), report: None })
    }

    /// Returns the next values, or `None` after the last one. Waits for at least one.
    ///
    /// # Errors
    /// Those of [`Analysis::run_with`], after the values before the error. Then `None`.
    pub fn next_batch(&mut self) -> Result<Option<&Batch>, Error> {
        self.batch.clear();
        let mut state = self.shared.lock();
        while state.batch.rows.is_empty() {
            if let Some(result) = state.ended.take() {
                state.is_over = true;
                drop(state);
                self.report = Some(result?);
                return Ok(None);
            }
            if state.is_over {
                return Ok(None);
            }
            state = self.shared.wait_for_values(state);
        }
        std::mem::swap(&mut state.batch, &mut self.batch);
        drop(state);
        self.shared.taken.notify_one();
        Ok(Some(&self.batch))
    }

    /// The values that [`next_batch`](Self::next_batch) returned last.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// The report of the run, once all values were pulled.
    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Values").field("report", &self.report).finish_non_exhaustive()
    }
}

impl Drop for Values {
    fn drop(&mut self) {
        self.cancel.cancel();
        self.shared.lock().is_over = true;
        self.shared.taken.notify_one();
    }
}

impl Shared {
    /// The state. Nothing panics while it is locked.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits a moment for a whole batch, and after that for a single value: waking a thread for
    /// each value would cost more than the values.
    fn wait_for_values<'g>(&'g self, state: MutexGuard<'g, State>) -> MutexGuard<'g, State> {
        let wait = self.filled.wait_timeout(state, PATIENCE);
        let (mut state, _) = wait.unwrap_or_else(PoisonError::into_inner);
        if state.batch.rows.is_empty() && state.ended.is_none() {
            state.is_waiting = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.is_waiting = false;
        }
        state
    }
}

/// Marks the values as ended when the run ends in any way.
struct EndGuard(Arc<Shared>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        if state.ended.is_none() {
            let cause = io::Error::other("the thread that reads the values panicked");
            state.ended = Some(Err(Error::Output(cause)));
        }
        drop(state);
        self.0.filled.notify_one();
    }
}

/// Passes matches to the thread that pulls.
struct BatchSink {
    shared: Arc<Shared>,
    is_located: bool,
}

impl Sink for BatchSink {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        let mut state = self.shared.lock();
        while state.batch.is_full() && !state.is_over {
            state = self.shared.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_over {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        state.batch.push(found);
        let is_wanted = state.is_waiting || state.batch.is_full();
        drop(state);
        if is_wanted {
            self.shared.filled.notify_one();
        }
        Ok(())
    }

    fn wants_location(&self) -> bool {
        self.is_located
    }
}

impl Batch {
    fn is_full(&self) -> bool {
        self.bytes.len() >= BATCH_BYTES || self.rows.len() >= BATCH_VALUES
    }

    fn push(&mut self, found: &Match<'_>) {
        self.bytes.extend_from_slice(found.value);
        let location = found.location.map(|location| {
            self.locations.push_str(location);
            self.locations.len()
        });
        let Match { measure, span, record, .. } = *found;
        self.rows.push(Row { measure, span, record, end: self.bytes.len(), location });
    }

    /// Removes all values, and keeps the memory of usual ones.
    fn clear(&mut self) {
        self.rows.clear();
        self.locations.clear();
        self.bytes.clear();
        self.bytes.shrink_to(2 * BATCH_BYTES);
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if there are no values.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns a value, from 0.
    pub fn get(&self, index: usize) -> Option<Value<'_>> {
        let row = self.rows.get(index)?;
        let before = index.checked_sub(1).and_then(|before| self.rows.get(before));
        let bytes = &self.bytes[before.map_or(0, |row| row.end)..row.end];
        // Either all values have a location, or none.
        let start = before.and_then(|row| row.location).unwrap_or(0);
        let location = row.location.map(|end| &self.locations[start..end]);
        Some(Value { measure: row.measure, bytes, span: row.span, record: row.record, location })
    }

    /// Returns the values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Value<'_>> {
        (0..self.rows.len())
            .map(|index| self.get(index).unwrap_or_else(|| unreachable!("a value of {index}")))
    }
}
