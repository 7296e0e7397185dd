//! What the thread of a call does.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::stream::{Place, Stream};
use super::wait::{Ended, Shared, Stop};
use crate::call::{Call, Meter};
use crate::cancel::CancelFlag;
use crate::context::Context;
use crate::delivery::{About, Delivery, Limits};
use crate::error::{ErrorKind, ToolError};
use crate::failure::{Failure, FailureKind};
use crate::log;
use crate::output::Output;
use crate::registry::Entry;
use crate::result::Delivered;
use crate::spaced::{shortened, spaced};

/// Characters of arguments in the sentence of a dry run.
const SHOWN: usize = 200;

/// Characters of a panic's message.
const LONGEST_PANIC: usize = 1_000;

/// One call, with all it needs.
pub(super) struct Job {
    pub(super) entry: Arc<Entry>,
    pub(super) arguments: Arc<Map<String, Value>>,
    /// The arguments without their secrets.
    pub(super) remembered: Map<String, Value>,
    pub(super) context: Context,
    pub(super) cancel: CancelFlag,
    pub(super) deadline: Option<Instant>,
    pub(super) delivery: Option<Arc<dyn Delivery>>,
    pub(super) limits: Limits,
    pub(super) started_at: Timestamp,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) metadata: Map<String, Value>,
    pub(super) result: Result<(Output, Delivered), ToolError>,
}

impl Done {
    pub(super) fn failed(error: ToolError) -> Self {
        Self { metadata: Map::new(), result: Err(error) }
    }

    pub(super) fn panicked(tool: &str, message: &str) -> Self {
        let message = shortened(message, LONGEST_PANIC).unwrap_or_else(|| message.to_owned());
        let message =
            format!("Tool {tool} panicked: {message}. This is a defect of the tool, not of the call");
        Self::failed(ToolError::new(ErrorKind::Panicked, message))
    }
}

impl Job {
    pub(super) fn name(&self) -> &str {
        &self.entry.tool.metadata().name
    }

    /// Does the work; nothing when nobody waits for it any more.
    pub(super) fn run(&self, shared: &Arc<Shared>) -> Option<Done> {
        let work = || if self.context.dry_run { self.tell(shared) } else { self.work(shared) };
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
            // Asked before its payload is told: what was to stop has stopped, however.
            match shared.ended() {
                Ended::InTime => Some(Done::panicked(self.name(), &message(&*payload))),
                Ended::Stopped(stop) => Some(Done::failed(stop.error(&self.context))),
                Ended::Unheeded => None,
            }
        })
    }

    fn work(&self, shared: &Arc<Shared>) -> Option<Done> {
        let about = self.about();
        let place = self.delivery.as_deref().map(|delivery| Place { delivery, about });
        let tool = self.entry.tool.metadata();
        let mut stream = Stream::new(tool, place, self.limits, &about, &self.cancel);
        let mut call = self.call(&mut stream, shared.meter());
        let returned = self.entry.tool.run(&mut call);
        let mut metadata = call.notes;
        let result = match (shared.ended(), returned) {
            (Ended::Unheeded, _) => return None,
            (Ended::Stopped(stop), _) => Err(stop.error(&self.context)),
            (Ended::InTime, Ok(output)) => stream.deliver(output, &mut metadata).map_err(error),
            (Ended::InTime, Err(failure)) => {
                let mut failure = stream.failed().unwrap_or(failure);
                metadata.append(&mut failure.metadata);
                Err(error(failure))
            }
        };
        Some(Done { metadata, result })
    }

    /// Lets the tool tell what it would do.
    fn tell(&self, shared: &Shared) -> Option<Done> {
        let mut nowhere = io::sink();
        let call = self.call(&mut nowhere, Meter(Arc::new(|_, _| {})));
        let sentence = self.entry.tool.dry_run(&call);
        let sentence = sentence.unwrap_or_else(|| {
            format!("Would execute {} with {}", self.name(), spaced(&self.remembered, SHOWN))
        });
        let output = Output::Text(format!("[Dry Run] {sentence}"));
        let result = match shared.ended() {
            Ended::InTime => Ok((output, Delivered::Inline)),
            Ended::Stopped(stop) => Err(stop.error(&self.context)),
            Ended::Unheeded => return None,
        };
        Some(Done { metadata: call.notes, result })
    }

    fn about(&self) -> About<'_> {
        About {
            tool_name: self.name(),
            parameters: &self.remembered,
            context: &self.context,
            started_at: self.started_at,
        }
    }

    fn call<'a>(&'a self, writer: &'a mut dyn io::Write, meter: Meter) -> Call<'a> {
        Call {
            arguments: &self.arguments,
            context: &self.context,
            cancel: &self.cancel,
            deadline: self.deadline,
            meter,
            notes: Map::new(),
            writer,
        }
    }
}

impl Stop {
    pub(super) fn error(self, context: &Context) -> ToolError {
        match self {
            Self::TimedOut => {
                let message = format!("Tool timed out after {}s", log::seconds(context.timeout));
                ToolError::new(ErrorKind::TimedOut, message)
            }
            Self::Cancelled => error(Failure::cancelled()),
        }
    }
}

fn error(failure: Failure) -> ToolError {
    let kind = match failure.kind {
        FailureKind::Failed => ErrorKind::Failed,
        FailureKind::Refused => ErrorKind::Refused,
        FailureKind::Cancelled => ErrorKind::Cancelled,
    };
    ToolError { causes: failure.causes, ..ToolError::new(kind, failure.message) }
}

/// What a panic says.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}
