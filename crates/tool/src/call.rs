//! One call, as the tool that answers it sees it.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::cancel::CancelFlag;
use crate::context::Context;
use crate::failure::Failure;
use crate::heal::whole_numbers;
use crate::nesting::shallow_or_told;

/// One call, as the tool that answers it sees it.
#[non_exhaustive]
pub struct Call<'a> {
    /// The arguments, healed and valid.
    pub arguments: &'a Map<String, Value>,
    /// The surroundings.
    pub context: &'a Context,
    pub(crate) cancel: &'a CancelFlag,
    pub(crate) deadline: Option<Instant>,
    pub(crate) meter: Meter,
    pub(crate) notes: Map<String, Value>,
    pub(crate) writer: &'a mut dyn io::Write,
}

impl Call<'_> {
    /// The arguments as a type of the tool's own. An integer that was written with a fraction of zero (`5.0`, which the
    /// schema allows) is read as one.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        T::deserialize(self.arguments)
            .or_else(|error| T::deserialize(whole_numbers(self.arguments)).map_err(|_again| error))
            .map_err(|error| Failure::refused(format!("Invalid arguments: {error}")))
    }

    /// The same call with other arguments, for a tool that wraps another one: what that notes and streams is this one's.
    pub fn with_arguments<T>(
        &mut self,
        arguments: &Map<String, Value>,
        work: impl FnOnce(&mut Call<'_>) -> T,
    ) -> T {
        let mut inner = Call {
            arguments,
            context: self.context,
            cancel: self.cancel,
            deadline: self.deadline,
            meter: self.meter.clone(),
            notes: std::mem::take(&mut self.notes),
            writer: &mut *self.writer,
        };
        let done = work(&mut inner);
        self.notes = inner.notes;
        done
    }

    /// Raised when the tool is to stop: at its deadline, or because the caller gave up.
    pub fn cancel(&self) -> &CancelFlag {
        self.cancel
    }

    /// A failure when the tool is to stop.
    pub fn check(&self) -> Result<(), Failure> {
        if self.cancel.is_cancelled() { Err(Failure::cancelled()) } else { Ok(()) }
    }

    /// How long the tool may still run; nothing when it may run for ever.
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Tells how far the work is, in whatever unit. What goes back is passed over.
    pub fn progress(&self, done: u64, total: Option<u64>) {
        self.meter.progress(done, total);
    }

    /// What tells progress, for other threads.
    pub fn meter(&self) -> Meter {
        self.meter.clone()
    }

    /// Adds to the result's metadata. A value of more than 128 levels is not taken.
    pub fn note(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.notes.insert(key.into(), shallow_or_told(value.into()));
    }

    /// Where a long result is streamed to, instead of being returned. It goes where the executor delivers results to, and
    /// is bounded by that alone. Without any such place it is bounded like a result that is returned.
    pub fn writer(&mut self) -> &mut dyn io::Write {
        self.writer
    }
}

/// Tells progress; can be cloned and sent to other threads.
#[derive(Clone)]
pub struct Meter(pub(crate) Arc<dyn Fn(u64, Option<u64>) + Send + Sync>);

impl Meter {
    /// Tells how far the work is, in whatever unit. What goes back is passed over.
    pub fn progress(&self, done: u64, total: Option<u64>) {
        (self.0)(done, total);
    }
}
