//! Calls that take long, as tasks that a client follows (the MCP extension
//! `io.modelcontextprotocol/tasks`, SEP-2663).

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{Timestamp, Unit};
use rmcp::ErrorData;
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::Proxy;
use super::call::{Completed, Outcome, answered, wanted_input};
use super::questions::{Parked, rand_handle};
use crate::era::Era;
use crate::progress::Report;
use crate::render::{self, ResultText};
use crate::runtime::spawn;
use crate::upstream::{Question, Reply, Step};

/// The tasks at once. A call beyond stays a call.
const MAX_TASKS: usize = 64;

/// How long the result of a task is kept.
const KEPT: Duration = Duration::from_mins(30);

/// The interval in which a client should ask for the state.
const POLL_MS: u64 = 1_000;

/// A task.
pub(super) struct Task {
    created: Timestamp,
    updated: Timestamp,
    latest: watch::Receiver<Report>,
    phase: Phase,
    cancel: CancellationToken,
    /// The number of questions so far, for keys that are never used again.
    questions: usize,
}

/// The state of a task.
enum Phase {
    Working,
    /// It waits for answers to questions.
    Asking(BTreeMap<String, (Value, oneshot::Sender<Value>)>),
    /// Its result, or the server's error.
    Done(Result<String, ErrorData>),
    Cancelled,
}

/// True if the client can follow tasks.
pub(super) fn can_follow(context: &RequestContext<RoleServer>) -> bool {
    Era::of(context) == Era::Modern
        && context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks())
}

impl Proxy {
    fn lock_tasks(&self) -> MutexGuard<'_, BTreeMap<String, Task>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Turns a call into a task, and returns the text of the result that says so. Returns the call
    /// if there are too many tasks.
    pub(super) fn start_task(self: &Arc<Self>, call: Parked) -> Result<String, Box<Parked>> {
        let now = Timestamp::now();
        let id = format!("trommel-task-{:032x}", rand_handle());
        let task = Task {
            created: now,
            updated: now,
            latest: call.latest.clone(),
            phase: Phase::Working,
            cancel: CancellationToken::new(),
            questions: 0,
        };
        let text = {
            let mut tasks = self.lock_tasks();
            tasks.retain(|_, task| !task.is_over() || task.age() < KEPT);
            if tasks.len() >= MAX_TASKS {
                return Err(Box::new(call));
            }
            let text = task.describe(&id).finish_as("task");
            tasks.insert(id.clone(), task);
            text
        };
        let proxy = Arc::clone(self);
        let (origin, started_at) = (call.request.outgoing.origin.clone(), call.started_at);
        spawn(async move {
            let outcome = proxy.follow_task(&id, call).await;
            let is_cancelled = outcome.is_none();
            let outcome = outcome.unwrap_or_else(|| Outcome::Failed("cancelled".to_owned()));
            proxy.record(origin, &outcome, started_at);
            let phase = match answered(Era::Modern, outcome) {
                _ if is_cancelled => Phase::Cancelled,
                done => Phase::Done(done),
            };
            proxy.set_phase(&id, phase);
        });
        Ok(text)
    }

    fn set_phase(&self, id: &str, phase: Phase) {
        if let Some(task) = self.lock_tasks().get_mut(id) {
            (task.phase, task.updated) = (phase, Timestamp::now());
        }
    }

    /// Follows a call to its result. `None` if it was cancelled: dropping the call
    /// cancels it at the server.
    async fn follow_task(&self, id: &str, mut call: Parked) -> Option<Outcome> {
        let cancel = self.lock_tasks().get(id)?.cancel.clone();
        loop {
            let step = tokio::select! {
                step = call.pending.next() => step,
                () = cancel.cancelled() => return None,
            };
            match step {
                Step::Done(Err(error)) => return Some(error.into()),
                Step::Done(Ok(Reply::Reduced(reduced))) => {
                    let text = render::reduced(Era::Modern, &self.store, &reduced, &call.request.what);
                    return Some(Outcome::Result(text));
                }
                Step::Done(Ok(Reply::Whole(text))) => match call.completed(Era::Modern, text) {
                    Completed::Outcome(outcome) => return Some(outcome),
                    Completed::WantsInput(text) => {
                        let questions = match wanted_input(&call.request, &text) {
                            Ok(questions) => questions,
                            Err(error) => return Some(error.into()),
                        };
                        let answers = self.put_to_task(id, questions, &cancel).await?;
                        match self.retry(&call.request.clone(), &text, answers).await {
                            Ok(pending) => call.pending = pending,
                            Err(error) => return Some(error.into()),
                        }
                    }
                },
                Step::Question(Question { request, answer }) => {
                    let question = Map::from_iter([("question".to_owned(), request)]);
                    let mut answers = self.put_to_task(id, question, &cancel).await?;
                    // The server may have given up meanwhile.
                    let _ = answer.send(
                        answers
                            .remove("question")
                            .ok_or_else(|| ErrorData::internal_error("the question has no answer", None)),
                    );
                }
            }
        }
    }

    /// Waits for the client's answers to questions. `None` if the task is cancelled before.
    async fn put_to_task(
        &self,
        id: &str,
        questions: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> Option<Map<String, Value>> {
        let mut waiting = Vec::new();
        {
            let mut tasks = self.lock_tasks();
            let task = tasks.get_mut(id)?;
            let mut asking = BTreeMap::new();
            for (key, question) in questions {
                task.questions += 1;
                let (answer, answered) = oneshot::channel();
                asking.insert(format!("{key}-{}", task.questions), (question, answer));
                waiting.push((key, answered));
            }
            (task.phase, task.updated) = (Phase::Asking(asking), Timestamp::now());
        }
        let mut answers = Map::new();
        for (key, answered) in waiting {
            tokio::select! {
                answer = answered => drop(answers.insert(key, answer.ok()?)),
                () = cancel.cancelled() => return None,
            }
        }
        self.set_phase(id, Phase::Working);
        Some(answers)
    }

    /// The state of a task, as the text of a result.
    pub(crate) fn task(&self, id: &str) -> Result<String, ErrorData> {
        let tasks = self.lock_tasks();
        let task = tasks.get(id).ok_or_else(|| unknown(id))?;
        let text = task.describe(id);
        let text = match &task.phase {
            Phase::Working | Phase::Cancelled => text,
            Phase::Asking(questions) => {
                let questions = questions.iter().map(|(key, (question, _))| (key.clone(), question.clone()));
                text.member("inputRequests", &Value::Object(questions.collect()))
            }
            Phase::Done(Ok(result)) => text.raw("result", result),
            Phase::Done(Err(ErrorData { code, message, data, .. })) => {
                let mut error = json!({ "code": code.0, "message": message });
                if let Some(data) = data {
                    error["data"] = data.clone();
                }
                text.member("error", &error)
            }
        };
        Ok(text.finish())
    }

    /// Takes answers to the questions of a task. Those to other questions are ignored.
    pub(crate) fn update_task(&self, id: &str, answers: Map<String, Value>) -> Result<(), ErrorData> {
        let mut tasks = self.lock_tasks();
        let task = tasks.get_mut(id).ok_or_else(|| unknown(id))?;
        if let Phase::Asking(questions) = &mut task.phase {
            for (key, answer) in answers {
                if let Some((_, waiting)) = questions.remove(&key) {
                    // The task may have been cancelled meanwhile.
                    let _ = waiting.send(answer);
                }
            }
            task.updated = Timestamp::now();
        }
        Ok(())
    }

    /// Cancels a task.
    pub(crate) fn cancel_task(&self, id: &str) -> Result<(), ErrorData> {
        self.lock_tasks().get(id).map(|task| task.cancel.cancel()).ok_or_else(|| unknown(id))
    }

    /// Cancels all tasks, when the program ends.
    pub(super) fn cancel_tasks(&self) {
        for task in self.lock_tasks().values() {
            task.cancel.cancel();
        }
    }
}

impl Task {
    fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Done(_) | Phase::Cancelled)
    }

    /// The time since the last change.
    fn age(&self) -> Duration {
        Duration::try_from(Timestamp::now().duration_since(self.updated)).unwrap_or(Duration::ZERO)
    }

    /// The members that every state has.
    fn describe(&self, id: &str) -> ResultText {
        let status = match &self.phase {
            Phase::Working => "working",
            Phase::Asking(_) => "input_required",
            Phase::Done(Ok(_)) => "completed",
            Phase::Done(Err(_)) => "failed",
            Phase::Cancelled => "cancelled",
        };
        let mut members = json!({ "taskId": id, "status": status });
        let message = self.latest.borrow().message.clone();
        if !message.is_empty() && !self.is_over() {
            members["statusMessage"] = message.into();
        }
        // Only a task that is over expires.
        let kept = self.updated.duration_since(self.created).as_millis() + KEPT.as_millis().cast_signed();
        members["createdAt"] = text(self.created);
        members["lastUpdatedAt"] = text(self.updated);
        members["ttlMs"] =
            if self.is_over() { i64::try_from(kept).unwrap_or(i64::MAX).into() } else { Value::Null };
        members["pollIntervalMs"] = POLL_MS.into();
        let members = members.as_object().into_iter().flatten();
        members.fold(ResultText::new(Era::Modern), |text, (name, value)| text.member(name, value))
    }
}

/// A time in milliseconds.
fn text(time: Timestamp) -> Value {
    time.round(Unit::Millisecond).unwrap_or(time).to_string().into()
}

fn unknown(id: &str) -> ErrorData {
    let id: String = id.chars().take(60).flat_map(char::escape_debug).collect();
    ErrorData::invalid_params(format!("unknown task {id}: it never existed, or has expired"), None)
}
