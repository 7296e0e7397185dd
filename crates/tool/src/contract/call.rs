//! One call, from the view of its tool.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use trommel_base::{Cancel, Progress};

use super::context::Context;
use super::failure::Failure;
use crate::nesting::shallow_or_message;

/// One call, from the view of its tool.
#[non_exhaustive]
pub struct Call<'a> {
    /// The arguments, healed and valid.
    pub arguments: &'a Map<String, Value>,
    /// The context of the call.
    pub context: &'a Context,
    pub(crate) cancel: &'a Cancel,
    pub(crate) progress: ProgressHandle,
    pub(crate) notes: Map<String, Value>,
    pub(crate) writer: &'a mut dyn io::Write,
}

impl Call<'_> {
    /// Parses the arguments into a type of the tool. An integer that is written with a fraction of
    /// zero (`5.0`, which the schema allows) is read as one.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        T::deserialize(self.arguments)
            .or_else(|error| T::deserialize(whole_numbers(self.arguments)).map_err(|_again| error))
            .map_err(|error| Failure::refused(format!("Invalid arguments: {error}")))
    }

    /// The same call with other arguments, for a tool that wraps another one. The notes and the
    /// output of the inner call belong to this one.
    pub fn with_arguments<T>(
        &mut self,
        arguments: &Map<String, Value>,
        work: impl FnOnce(&mut Call<'_>) -> T,
    ) -> T {
        let mut inner = Call {
            arguments,
            context: self.context,
            cancel: self.cancel,
            progress: self.progress.clone(),
            notes: std::mem::take(&mut self.notes),
            writer: &mut *self.writer,
        };
        let done = work(&mut inner);
        self.notes = inner.notes;
        done
    }

    /// The token that stops the tool: at the deadline of the call, or when the caller gives up.
    pub fn cancel(&self) -> &Cancel {
        self.cancel
    }

    /// Fails if the tool is to stop.
    pub fn check(&self) -> Result<(), Failure> {
        if self.cancel.is_cancelled() { Err(Failure::cancelled()) } else { Ok(()) }
    }

    /// The time until the deadline; `None` without one.
    pub fn remaining(&self) -> Option<Duration> {
        self.cancel.remaining()
    }

    /// Reports progress in bytes. A report below an earlier one is ignored.
    pub fn progress(&self, bytes: u64, total: Option<u64>) {
        self.progress.progress(bytes, total);
    }

    /// A handle that reports progress from other threads.
    pub fn progress_handle(&self) -> ProgressHandle {
        self.progress.clone()
    }

    /// Adds to the result's metadata. A value of more than 128 levels is replaced by a message.
    pub fn note(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.notes.insert(key.into(), shallow_or_message(value.into()));
    }

    /// The destination of a long result, which is streamed there instead of being returned. It goes
    /// to the executor's [`Delivery`](crate::Delivery), which alone limits its length. Without a
    /// delivery the limits of a returned result apply.
    pub fn writer(&mut self) -> &mut dyn io::Write {
        self.writer
    }
}

/// Reports the progress of a call; can be cloned and sent to other threads.
#[derive(Clone)]
pub struct ProgressHandle(pub(crate) Arc<dyn Fn(Progress) + Send + Sync>);

impl ProgressHandle {
    /// Reports progress in bytes. A report below an earlier one is ignored.
    pub fn progress(&self, bytes: u64, total: Option<u64>) {
        self.report(Progress::new(bytes, total));
    }

    /// Reports progress. A report with fewer bytes than an earlier one is ignored.
    pub fn report(&self, progress: Progress) {
        (self.0)(progress);
    }
}

/// A copy in which integers that were written with a fraction of zero are integers.
fn whole_numbers(arguments: &Map<String, Value>) -> Value {
    fn convert(value: &Value) -> Value {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match value {
            Value::Number(number) => match number.as_f64() {
                Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT => {
                    json!(float as i64)
                }
                _ => value.clone(),
            },
            Value::Array(items) => items.iter().map(convert).collect(),
            Value::Object(members) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), convert(value))).collect())
            }
            _ => value.clone(),
        }
    }
    Value::Object(arguments.iter().map(|(name, value)| (name.clone(), convert(value))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_lose_their_fraction() {
        let given = json!({"a": 5.0, "b": [1.5, {"c": -3.0}], "d": 1e300, "e": "5.0"});
        let whole = json!({"a": 5, "b": [1.5, {"c": -3}], "d": 1e300, "e": "5.0"});
        assert_eq!(whole_numbers(given.as_object().unwrap()), whole);
    }
}
