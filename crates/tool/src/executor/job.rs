//! The thread of a call: it runs the tool and delivers the result.

use std::io;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value};
use trommel_base::Reason;

use super::error::{CallError, DeliveryError};
use super::shared::{Done, Ended, Shared, Tokens, guarded};
use super::stream::{DeliveryCall, Stream};
use crate::contract::call::{Call, ProgressHandle};
use crate::contract::context::Context;
use crate::contract::delivery::{About, Delivery, Limits};
use crate::contract::failure::Failure;
use crate::contract::output::Output;
use crate::contract::result::Delivered;
use crate::registry::Entry;
use crate::text::one_line_json;

/// Maximum characters of arguments in the sentence of a dry run.
const MAX_ARGUMENTS: usize = 200;

/// One call, with all it needs.
pub(super) struct Job {
    pub(super) entry: Arc<Entry>,
    pub(super) arguments: Arc<Map<String, Value>>,
    /// The arguments without their secrets.
    pub(super) remembered: Map<String, Value>,
    pub(super) context: Context,
    pub(super) tokens: Tokens,
    pub(super) delivery: Option<Arc<dyn Delivery>>,
    pub(super) limits: Limits,
    pub(super) started_at: Timestamp,
}

impl Job {
    pub(super) fn name(&self) -> &str {
        &self.entry.tool.metadata().name
    }

    /// Runs the call; `None` if the caller no longer waits for it.
    pub(super) fn run(&self, shared: &Arc<Shared>) -> Option<Done> {
        let work = || if self.context.dry_run { self.describe(shared) } else { self.work(shared) };
        // A tool that was asked to stop has stopped, even if by a panic.
        guarded(work).unwrap_or_else(|message| match shared.ended(&self.tokens) {
            Ended::InTime => Some(Done::failed(CallError::Panicked { tool: self.name(), message: &message })),
            Ended::Stopped(reason) => Some(Done::failed(self.stopped(reason))),
            Ended::Unheeded => None,
        })
    }

    fn work(&self, shared: &Arc<Shared>) -> Option<Done> {
        let about = self.about();
        let delivery_call = self.delivery.as_deref().map(|delivery| DeliveryCall { delivery, about });
        let tool = self.entry.tool.metadata();
        let mut stream = Stream::new(tool, delivery_call, self.limits, &about, &self.tokens.tool);
        let mut call = self.call(&mut stream, shared.progress_handle());
        let returned = self.entry.tool.run(&mut call);
        let mut metadata = call.notes;
        let result = match (shared.ended(&self.tokens), returned) {
            (Ended::Unheeded, _) => return None,
            (Ended::Stopped(reason), _) => Err(self.stopped(reason)),
            (Ended::InTime, Ok(output)) => deliver(stream, output, &mut metadata).map_err(|mut failure| {
                metadata.append(&mut failure.metadata);
                CallError::Failed(failure)
            }),
            (Ended::InTime, Err(failure)) => {
                let mut failure = stream.failed().unwrap_or(failure);
                metadata.append(&mut failure.metadata);
                Err(CallError::Failed(failure))
            }
        };
        Some(Done { metadata, result: result.map_err(Into::into) })
    }

    fn stopped(&self, reason: Reason) -> CallError<'_> {
        CallError::Stopped { reason, timeout: self.context.timeout }
    }

    /// Lets the tool describe a dry run.
    fn describe(&self, shared: &Shared) -> Option<Done> {
        let mut nowhere = io::sink();
        let call = self.call(&mut nowhere, ProgressHandle(Arc::new(|_| {})));
        let sentence = self.entry.tool.dry_run(&call);
        let sentence = sentence.unwrap_or_else(|| {
            format!("Would execute {} with {}", self.name(), one_line_json(&self.remembered, MAX_ARGUMENTS))
        });
        let output = Output::Text(format!("[Dry Run] {sentence}"));
        let result = match shared.ended(&self.tokens) {
            Ended::InTime => Ok((output, Delivered::Inline)),
            Ended::Stopped(reason) => Err(self.stopped(reason).into()),
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

    fn call<'a>(&'a self, writer: &'a mut dyn io::Write, progress: ProgressHandle) -> Call<'a> {
        Call {
            arguments: &self.arguments,
            context: &self.context,
            cancel: &self.tokens.tool,
            progress,
            notes: Map::new(),
            writer,
        }
    }
}

/// Delivers a result. If the delivery panics, the tool is not to blame.
fn deliver(
    stream: Stream<'_>,
    output: Output,
    metadata: &mut Map<String, Value>,
) -> Result<(Output, Delivered), Failure> {
    guarded(|| stream.deliver(output, metadata))
        .unwrap_or_else(|panic| Err(DeliveryError::Panicked(panic).into()))
}
