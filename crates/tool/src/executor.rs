//! Calls, from the received arguments to the recorded result.

mod error;
mod history;
mod job;
pub(crate) mod log;
mod shared;
mod stream;
mod wait;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use crate::arguments::faults;
use crate::arguments::heal::{self, Healed};
use crate::contract::context::Context;
use crate::contract::delivery::{Delivery, Limits, PREVIEW_CHARS};
use crate::contract::failure::Failure;
use crate::contract::fault::{Fault, FaultKind};
use crate::contract::host::{Approval, Decision, Event, Record};
use crate::contract::result::{Delivered, ToolExecution, ToolResult};
use crate::nesting;
use crate::redact::Redaction;
use crate::registry::{Entry, Registry, shown};
use error::{CallError, Unapproved};
use history::History;
use job::Job;
use shared::{Done, Tokens, guarded, warn};

/// The default number of executions in the history.
pub const HISTORY: usize = 1_000;

/// The default time that a tool may take to stop once it was asked to.
pub const GRACE: Duration = Duration::from_secs(1);

/// Runs tools.
///
/// Every call returns a [`ToolExecution`]. The executor heals and validates the arguments, asks for
/// approval if the tool needs it, lets the tool describe a dry run, or runs it on a thread of its
/// own under the context's timeout. It delivers the result, stamps its duration, and records it.
/// After the process's panic hook has run, a panic of the tool or of the delivery becomes a failed
/// result, a panic of the approval a refusal, and a panic of the record a warning. Only a panic of
/// the event callback reaches the caller.
///
/// **Stopping.** At the deadline, or when the context's token is cancelled, the call's own
/// [token](crate::Call::cancel) is cancelled within 10 ms. A tool that continues gets a
/// [grace](Self::grace) of a second. Then the call ends with `abandoned: true` in its metadata, and
/// its thread is left running: a result that it still returns is dropped, and its stream is
/// discarded. A result that comes after the call was stopped does not count. The delivery of a
/// returned result is not interrupted.
///
/// **Delivery.** Without a [`delivery`](Self::delivery) every result goes to the caller. Else a
/// result that is longer than its mode allows ([`Limits`]) goes to the delivery, and the caller
/// gets the manifest; with `keep_all`, shorter ones go to both. The results of a
/// [bounded](crate::Metadata::bounded) tool always stay inline. A result that a tool returns
/// instead of [streaming](crate::Call::writer) it must not exceed the context's `max_output_size`.
///
/// Clones share the registry and the history, so that one of them can deliver elsewhere.
#[derive(Clone)]
pub struct Executor {
    registry: Arc<Registry>,
    delivery: Option<Arc<dyn Delivery>>,
    limits: Limits,
    record: Option<Arc<dyn Record>>,
    approval: Option<Arc<dyn Approval>>,
    redaction: Arc<Redaction>,
    history: Arc<History>,
    grace: Duration,
}

impl Executor {
    /// Runs the tools of a registry. Results go to the caller, nothing is approved, and the history
    /// holds 1,000 executions.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self {
            registry,
            delivery: None,
            limits: Limits::default(),
            record: None,
            approval: None,
            redaction: Arc::default(),
            history: Arc::new(History::new(HISTORY)),
            grace: GRACE,
        }
    }

    /// Runs the tools of another registry; all else stays, and is shared.
    #[must_use]
    pub fn tools(mut self, registry: Arc<Registry>) -> Self {
        self.registry = registry;
        self
    }

    /// Sets the delivery of results that do not go to the caller.
    #[must_use]
    pub fn delivery(mut self, delivery: Arc<dyn Delivery>) -> Self {
        self.delivery = Some(delivery);
        self
    }

    /// Sets the lengths above which results do not go to the caller.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the record that keeps executions beyond the process.
    #[must_use]
    pub fn record(mut self, record: Arc<dyn Record>) -> Self {
        self.record = Some(record);
        self
    }

    /// Sets the approval of tools that need it.
    #[must_use]
    pub fn approval(mut self, approval: impl Approval + 'static) -> Self {
        self.approval = Some(Arc::new(approval));
        self
    }

    /// Sets the redaction of secrets.
    #[must_use]
    pub fn redaction(mut self, redaction: Redaction) -> Self {
        self.redaction = Arc::new(redaction);
        self
    }

    /// Sets the size of the history, and empties it.
    #[must_use]
    pub fn remember(mut self, executions: usize) -> Self {
        self.history = Arc::new(History::new(executions));
        self
    }

    /// Sets the time that a tool may take to stop once it was asked to.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// The tools.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The newest executions, at most `newest`, oldest first: those of the [`record`](Self::record)
    /// if there is one, else those of this process. They hold no secrets and no payloads.
    pub fn history(&self, newest: usize) -> Result<Vec<ToolExecution>, Failure> {
        match &self.record {
            Some(record) => record.load(newest),
            None => Ok(self.history.newest(newest)),
        }
    }

    /// The number of all executions: those of the [`record`](Self::record) if there is one, else
    /// those of this process.
    pub fn total(&self) -> Result<u64, Failure> {
        match &self.record {
            Some(record) => record.total(),
            None => Ok(self.history.total()),
        }
    }

    /// Calls a tool by its name or its [exported](crate::names) name.
    pub fn call(&self, name: &str, arguments: Value, context: &Context) -> ToolExecution {
        self.call_with(name, arguments, context, &mut |_| {})
    }

    /// Calls a tool, and reports events on this thread.
    pub fn call_with(
        &self,
        name: &str,
        arguments: Value,
        context: &Context,
        events: &mut dyn FnMut(Event<'_>),
    ) -> ToolExecution {
        let started_at = Timestamp::now();
        let clock = Instant::now();
        let entry = self.registry.entry(name);
        // An unknown name may be a secret that was passed by mistake.
        let tool_name = entry
            .as_ref()
            .map_or_else(|| shown(&self.redaction.text(name)), |entry| entry.tool.metadata().name.clone());
        events(Event::Started);
        log::started(&tool_name);
        let mut call = Attempt { executor: self, context, started_at, parameters: Map::new() };
        let result = if let Some(entry) = entry {
            call.run(&entry, arguments, events)
        } else {
            // Deep arguments must not be dropped by recursion.
            drop(nesting::shallow(arguments));
            let suggestions = self.registry.suggestions(name);
            ToolResult::fail(CallError::NotFound { name, suggestions }.into())
        };
        let Attempt { parameters, .. } = call;
        let elapsed = clock.elapsed();
        let duration_ms = (elapsed.as_secs_f64() * 1e6).round() / 1e3;
        let elapsed = SignedDuration::try_from(elapsed).unwrap_or(SignedDuration::MAX);
        let completed_at = started_at.checked_add(elapsed).unwrap_or(Timestamp::MAX);
        let context = context.clone();
        let mut execution =
            ToolExecution { tool_name, parameters, context, result, started_at, completed_at, duration_ms };
        execution.result.duration_ms = duration_ms;
        self.finish(&mut execution, events);
        execution
    }

    /// Reports, logs, and records the result of a call.
    fn finish(&self, execution: &mut ToolExecution, events: &mut dyn FnMut(Event<'_>)) {
        self.redact(&mut execution.result);
        if let Some(output) = &execution.result.output {
            events(Event::Output(output));
        }
        if let Some(manifest) = execution.result.manifest() {
            events(Event::Manifest(manifest));
        }
        log::finished(&execution.tool_name, &execution.result);
        let remembered = self.redaction.execution(execution);
        if let Some(Err(failure)) = self.record.as_deref().map(|record| recorded(record, &remembered)) {
            let warning = format!("its execution was not recorded: {failure}");
            let warning = self.redaction.short(&warning, 1_000);
            log::warned(&execution.tool_name, &warning);
            warn(&mut execution.result.metadata, &warning);
        }
        self.history.add(remembered);
        events(Event::Finished(&execution.result));
    }

    /// Redacts the error and the manifest of a result.
    fn redact(&self, result: &mut ToolResult) {
        result.error = result.error.take().map(|error| self.redaction.error(error));
        if let Delivered::Kept(manifest) | Delivered::Stored(manifest) = &mut result.delivered {
            manifest.preview = self.redaction.short(&manifest.preview, PREVIEW_CHARS);
            let texts = [&mut manifest.id, &mut manifest.destination, &mut manifest.source];
            for text in texts.into_iter().chain(&mut manifest.paths).chain(&mut manifest.next_calls) {
                *text = self.redaction.text(text).into_owned();
            }
        }
    }
}

impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor")
            .field("registry", &self.registry)
            .field("limits", &self.limits)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}

/// One call in progress.
struct Attempt<'a> {
    executor: &'a Executor,
    context: &'a Context,
    started_at: Timestamp,
    /// The arguments, once they are healed.
    parameters: Map<String, Value>,
}

impl Attempt<'_> {
    fn run(&mut self, entry: &Arc<Entry>, arguments: Value, events: &mut dyn FnMut(Event<'_>)) -> ToolResult {
        let redaction = &self.executor.redaction;
        let (healed, checked) = self.prepare(entry, arguments);
        let remembered = redaction.parameters(&self.parameters);
        log::details(&remembered, self.context);
        let mut result = match checked.and_then(|()| self.approve(entry)) {
            Ok(()) => self.execute(entry, remembered, events),
            Err(CallError::Failed(mut failure)) => {
                let metadata = std::mem::take(&mut *failure.metadata);
                ToolResult { metadata, ..ToolResult::fail(CallError::Failed(failure).into()) }
            }
            Err(error) => ToolResult::fail(error.into()),
        };
        let mut metadata = heal::report(healed, redaction);
        metadata.append(&mut result.metadata);
        result.metadata = metadata;
        result
    }

    /// Heals, completes, and checks the arguments.
    fn prepare(&mut self, entry: &Entry, arguments: Value) -> (Vec<Healed>, Result<(), CallError<'static>>) {
        let Some(arguments) = nesting::shallow(arguments) else {
            let message = format!("Arguments are nested deeper than {} levels", nesting::MAX_DEPTH);
            let fault = Fault { kind: FaultKind::Form, message, ..Fault::default() };
            return (Vec::new(), Err(CallError::Invalid(vec![fault])));
        };
        let (mut arguments, healed) = heal::heal(&entry.schema, arguments);
        let completed = match &mut arguments {
            Value::Object(members) => guarded(|| entry.tool.complete(members)),
            _ => Ok(Ok(())),
        };
        let faults = faults::check(&entry.schema, &arguments, &self.executor.redaction);
        if let Value::Object(members) = arguments {
            self.parameters = members;
        }
        let checked = match completed {
            Ok(Err(failure)) => Err(CallError::Failed(failure)),
            Err(panic) => {
                Err(CallError::Failed(Failure::new(format!("the tool panicked on its arguments: {panic}"))))
            }
            Ok(Ok(())) if !faults.is_empty() => Err(CallError::Invalid(faults)),
            Ok(Ok(())) => Ok(()),
        };
        (healed, checked)
    }

    fn approve<'e>(&self, entry: &'e Entry) -> Result<(), CallError<'e>> {
        let tool = entry.tool.metadata();
        if !tool.requires_approval {
            return Ok(());
        }
        let approval = self.executor.approval.as_ref();
        let why = match approval.map(|approval| guarded(|| approval.decide(tool, &self.parameters))) {
            Some(Ok(Decision::Granted)) => return Ok(()),
            Some(Ok(Decision::Denied(why))) => Unapproved::Denied(why),
            Some(Err(panic)) => Unapproved::Panicked(panic),
            None => Unapproved::NoApproval,
        };
        Err(CallError::NeedsApproval { tool: &tool.name, why })
    }

    /// Runs the tool, or lets it describe a dry run.
    fn execute(
        &mut self,
        entry: &Arc<Entry>,
        remembered: Map<String, Value>,
        events: &mut dyn FnMut(Event<'_>),
    ) -> ToolResult {
        let parameters = Arc::new(std::mem::take(&mut self.parameters));
        let job = Job {
            entry: Arc::clone(entry),
            arguments: Arc::clone(&parameters),
            remembered,
            context: self.context.clone(),
            tokens: Tokens::new(self.context),
            delivery: self.executor.delivery.clone(),
            limits: self.executor.limits,
            started_at: self.started_at,
        };
        let Done { metadata, result } = wait::run(job, self.executor.grace, events);
        self.parameters = Arc::unwrap_or_clone(parameters);
        match result {
            Ok((output, delivered)) => ToolResult { metadata, delivered, ..ToolResult::ok(output) },
            Err(error) => ToolResult { metadata, ..ToolResult::fail(error) },
        }
    }
}

fn recorded(record: &dyn Record, execution: &ToolExecution) -> Result<(), Failure> {
    guarded(|| record.record(execution))
        .unwrap_or_else(|panic| Err(Failure::new(format!("the record panicked: {panic}"))))
}
