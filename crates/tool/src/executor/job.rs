//! What the thread of a call does.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::guard::guarded;
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
use crate::spaced::spaced;

/// Characters of arguments in the sentence of a dry run.
const SHOWN: usize = 200;

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
        // What was to stop has stopped, however.
        guarded(work).unwrap_or_else(|message| match shared.ended() {
            Ended::InTime => Some(Done::panicked(self.name(), &message)),
            Ended::Stopped(stop) => Some(Done::failed(stop.error(&self.context))),
            Ended::Unheeded => None,
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
            (Ended::InTime, Ok(output)) => deliver(stream, output, &mut metadata).map_err(|mut failure| {
                metadata.append(&mut failure.metadata);
                error(failure)
            }),
            // It noticed its deadline before anyone told it.
            (Ended::InTime, Err(failure)) if failure.kind == FailureKind::Cancelled && self.is_late() => {
                Err(Stop::TimedOut.error(&self.context))
            }
            (Ended::InTime, Err(failure)) => {
                let mut failure = stream.failed().unwrap_or(failure);
                metadata.append(&mut failure.metadata);
                Err(error(failure))
            }
        };
        Some(Done { metadata, result })
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
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
            arguments: &self.arguments,
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

/// Delivers a result. Where that panics, the tool is not to blame.
fn deliver(
    stream: Stream<'_>,
    output: Output,
    metadata: &mut Map<String, Value>,
) -> Result<(Output, Delivered), Failure> {
    guarded(|| stream.deliver(output, metadata)).unwrap_or_else(|panic| {
        Err(Failure::new(format!("The result was not delivered: where it should go panicked: {panic}")))
    })
}

fn error(failure: Failure) -> ToolError {
    let kind = match failure.kind {
        FailureKind::Failed => ErrorKind::Failed,
        FailureKind::Refused => ErrorKind::Refused,
        FailureKind::Cancelled => ErrorKind::Cancelled,
    };
    ToolError { causes: failure.causes, ..ToolError::new(kind, failure.message) }
}
