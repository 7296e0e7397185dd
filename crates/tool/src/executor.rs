//! Calls, from arguments as they come to a result that is remembered.

mod guard;
mod job;
mod stream;
mod wait;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use crate::approval::{Approval, Decision};
use crate::cancel::CancelFlag;
use crate::context::Context;
use crate::delivery::{Delivery, Limits};
use crate::error::{ErrorKind, ToolError};
use crate::event::Event;
use crate::failure::Failure;
use crate::fault::{Fault, FaultKind};
use crate::heal;
use crate::history::History;
use crate::log;
use crate::nesting;
use crate::record::Record;
use crate::redact::Redaction;
use crate::registry::{Entry, Registry, shown};
use crate::result::{Delivered, ToolExecution, ToolResult};
use guard::guarded;
use job::{Done, Job};

/// Executions that are remembered unless another number is set.
pub const HISTORY: usize = 1_000;

/// How long a tool may take to stop, once it was asked to, unless another time is set.
pub const GRACE: Duration = Duration::from_secs(1);

/// Runs tools.
///
/// Whatever happens, a call comes back as a [`ToolExecution`]: the arguments are healed and validated, approval is asked for
/// where the tool needs it, a dry run only tells, and otherwise the tool runs, on a thread of its own, under the context's
/// timeout. Its result is delivered, stamped with its duration, and recorded. A panic of the tool, or of where its result goes,
/// becomes a failed result, one of who approves a refusal, and one of the record a warning (after the process's panic hook
/// has had its say). Only those of whoever hears the events are the caller's own.
///
/// **Stopping.** At the deadline, or when the context's flag is raised, the call's own [flag](crate::Call::cancel) is raised
/// within 10 ms. A tool that goes on is given a [grace](Self::grace) of a second; then the call ends, `abandoned: true` stands in
/// its metadata, and the thread is left behind: what it still returns is dropped, and what it streamed leaves nothing. An
/// answer that comes after the call was to stop does not count. What a tool has returned is delivered without being
/// interrupted.
///
/// **Delivery.** Without a [`delivery`](Self::delivery) every result goes to the caller. Else a result that is longer than its
/// mode allows ([`Limits`]) goes there, and the caller gets the manifest; with `keep_all` shorter ones go to both. A tool that
/// is [bounded](crate::Metadata::bounded) by itself has its results always inline. What a tool returns instead of
/// [streaming](crate::Call::writer) it must not exceed the context's `max_output_size`.
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
    /// Runs the tools of a registry. Results go to the caller, nothing is approved, and 1,000 executions are remembered.
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

    /// Runs the tools of another registry; everything else stays, and is shared.
    #[must_use]
    pub fn tools(mut self, registry: Arc<Registry>) -> Self {
        self.registry = registry;
        self
    }

    /// Sets where results go that do not go to the caller.
    #[must_use]
    pub fn delivery(mut self, delivery: Arc<dyn Delivery>) -> Self {
        self.delivery = Some(delivery);
        self
    }

    /// Sets which results do not go to the caller.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets where executions are kept beyond the process.
    #[must_use]
    pub fn record(mut self, record: Arc<dyn Record>) -> Self {
        self.record = Some(record);
        self
    }

    /// Sets who agrees to what needs approval.
    #[must_use]
    pub fn approval(mut self, approval: impl Approval + 'static) -> Self {
        self.approval = Some(Arc::new(approval));
        self
    }

    /// Sets what is secret.
    #[must_use]
    pub fn redaction(mut self, redaction: Redaction) -> Self {
        self.redaction = Arc::new(redaction);
        self
    }

    /// Sets how many executions this process remembers, and forgets those so far.
    #[must_use]
    pub fn remember(mut self, executions: usize) -> Self {
        self.history = Arc::new(History::new(executions));
        self
    }

    /// Sets how long a tool may take to stop once it was asked to.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// The tools.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The newest executions, at most so many, the oldest of them first: those of the [`record`](Self::record) where there is
    /// one, else those of this process. They hold no secrets and no payloads.
    pub fn history(&self, newest: usize) -> Result<Vec<ToolExecution>, Failure> {
        match &self.record {
            Some(record) => record.load(newest),
            None => Ok(self.history.newest(newest)),
        }
    }

    /// How many executions there were: as the [`record`](Self::record) counts them where there is one, else in this process.
    pub fn total(&self) -> Result<u64, Failure> {
        match &self.record {
            Some(record) => record.total(),
            None => Ok(self.history.total()),
        }
    }

    /// Calls a tool by its name, or by the name it is [exported](crate::names) under.
    pub fn call(&self, name: &str, arguments: Value, context: &Context) -> ToolExecution {
        self.call_with(name, arguments, context, &mut |_| {})
    }

    /// The same, telling what happens meanwhile, on this thread.
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
        // A name that no tool has may be anything, also a secret that was passed in its place.
        let tool_name = entry
            .as_ref()
            .map_or_else(|| shown(&self.redaction.text(name)), |entry| entry.tool.metadata().name.clone());
        events(Event::Started);
        log::started(&tool_name);
        let mut call = Attempt { executor: self, context, started_at, parameters: Map::new() };
        let result = if let Some(entry) = entry {
            call.run(&entry, arguments, events)
        } else {
            // However deep they are nested, they are dropped level by level.
            drop(nesting::shallow(arguments));
            ToolResult::fail(self.not_found(name))
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

    fn not_found(&self, name: &str) -> ToolError {
        let message = format!("The tool \"{}\" is not registered.", shown(name));
        ToolError {
            suggestions: self.registry.suggestions(name),
            ..ToolError::new(ErrorKind::NotFound, message)
        }
    }

    /// Tells, logs and remembers what came of a call.
    fn finish(&self, execution: &mut ToolExecution, events: &mut dyn FnMut(Event<'_>)) {
        self.tidy(&mut execution.result);
        if let Some(output) = &execution.result.output {
            events(Event::Output(output));
        }
        if let Some(manifest) = execution.result.manifest() {
            events(Event::Manifest(manifest));
        }
        log::finished(&execution.tool_name, &execution.result);
        let remembered = self.redaction.execution(execution);
        if let Some(Err(failure)) = self.record.as_deref().map(|record| recorded(record, &remembered)) {
            let what = self.redaction.short(&format!("its execution was not recorded: {failure}"), 1_000);
            log::warned(&execution.tool_name, &what);
            warn(&mut execution.result.metadata, &what);
        }
        self.history.add(remembered);
        events(Event::Finished(&execution.result));
    }

    /// Takes secrets out of what is said about a result.
    fn tidy(&self, result: &mut ToolResult) {
        result.error = result.error.take().map(|error| self.redaction.error(error));
        if let Delivered::Kept(manifest) | Delivered::Stored(manifest) = &mut result.delivered {
            manifest.preview = self.redaction.short(&manifest.preview, crate::PREVIEW_CHARS);
            let told = [&mut manifest.id, &mut manifest.destination, &mut manifest.source];
            for text in told.into_iter().chain(&mut manifest.paths).chain(&mut manifest.next_calls) {
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

/// One call on its way.
struct Attempt<'a> {
    executor: &'a Executor,
    context: &'a Context,
    started_at: Timestamp,
    /// The arguments as far as they are known.
    parameters: Map<String, Value>,
}

impl Attempt<'_> {
    fn run(&mut self, entry: &Arc<Entry>, arguments: Value, events: &mut dyn FnMut(Event<'_>)) -> ToolResult {
        let redaction = &self.executor.redaction;
        let (healed, faults) = self.prepare(entry, arguments);
        let remembered = redaction.parameters(&self.parameters);
        log::details(&remembered, self.context);
        let allowed = if faults.is_empty() { self.approve(entry) } else { Err(invalid(faults)) };
        let mut result = match allowed {
            Ok(()) => self.execute(entry, remembered, events),
            Err(error) => ToolResult::fail(error),
        };
        let mut metadata = heal::told(healed, redaction);
        metadata.append(&mut result.metadata);
        result.metadata = metadata;
        result
    }

    /// Heals and checks the arguments.
    fn prepare(&mut self, entry: &Entry, arguments: Value) -> (Vec<heal::Healed>, Vec<Fault>) {
        let Some(arguments) = nesting::shallow(arguments) else {
            let message = format!("Arguments are nested deeper than {} levels", nesting::DEEPEST);
            return (Vec::new(), vec![Fault { kind: FaultKind::Form, message, ..Fault::default() }]);
        };
        let (arguments, healed) = entry.schema.heal(arguments);
        let faults = entry.schema.check(&arguments, &self.executor.redaction);
        if let Value::Object(members) = arguments {
            self.parameters = members;
        }
        (healed, faults)
    }

    fn approve(&self, entry: &Entry) -> Result<(), ToolError> {
        let tool = entry.tool.metadata();
        if !tool.requires_approval {
            return Ok(());
        }
        let approval = self.executor.approval.as_ref();
        let why = match approval.map(|approval| guarded(|| approval.decide(tool, &self.parameters))) {
            Some(Ok(Decision::Granted)) => return Ok(()),
            Some(Ok(Decision::Denied(why))) => why,
            Some(Err(panic)) => format!("who was asked panicked: {panic}"),
            None => "there is nobody to ask".to_owned(),
        };
        let message = format!("The tool \"{}\" needs approval: {why}", tool.name);
        Err(ToolError::new(ErrorKind::NeedsApproval, message))
    }

    /// Runs the tool, or lets it tell what it would do.
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
            cancel: CancelFlag::new(),
            deadline: Instant::now().checked_add(self.context.timeout),
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

fn invalid(faults: Vec<Fault>) -> ToolError {
    let messages = faults.iter().map(|fault| fault.message.as_str()).collect::<Vec<_>>();
    let message = messages.join("; ");
    ToolError { faults, ..ToolError::new(ErrorKind::InvalidArguments, message) }
}

/// Adds a warning to a result's metadata, behind those that stand there.
fn warn(metadata: &mut Map<String, Value>, what: &str) {
    let before = metadata.get("warning").and_then(Value::as_str);
    let warning = before.map_or_else(|| what.to_owned(), |before| format!("{before}; {what}"));
    metadata.insert("warning".to_owned(), warning.into());
}
