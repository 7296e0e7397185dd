//! Calls of wrapped tools, and other requests whose results may be long.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::service::{RequestContext, RoleServer};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::watch;

use jiff::Timestamp;
use trommel_tool::{ErrorKind, Output, Record, ToolError, ToolExecution, ToolResult};
use trommel_toolbox::StoreRecord;

use super::questions::{Ask, Parked, elicitation};
use super::tasks;
use super::{Proxy, Wrapped, WrappedTool};
use crate::era::Era;
use crate::progress::{Report, Reporter, report};
use crate::render;
use crate::runtime::blocking;
use crate::upstream::{CallOrigin, Outgoing, Params, Pending, RETRY, Reply, RequestError, Step};

/// The pause before a request is sent in a new session: longer than that before a new connection.
const RECONNECT: Duration = Duration::from_millis(150);

/// The number of times that a server may ask for input before a result.
const ROUNDS: usize = 16;

/// A request for a server, as often as it must be sent.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) server: Arc<Wrapped>,
    pub(super) method: &'static str,
    /// The exported name of the tool, or the URI.
    pub(super) what: String,
    pub(super) outgoing: Outgoing,
}

/// The outcome of a request.
pub(super) enum Outcome {
    /// The text of the result.
    Result(String),
    /// The text of a result after which the call continues.
    Interim(String),
    /// The server's own error.
    Refused(ErrorData),
    /// The request failed without an answer of the server.
    Failed(String),
}

impl Proxy {
    /// Calls a tool of a server. Returns the text of the result.
    pub(crate) async fn call(
        self: &Arc<Self>,
        name: &str,
        mut params: Params,
        context: &RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        let era = Era::of(context);
        if let Some(parked) = self.unpark(&params, name) {
            return self.resume(parked, &params, context).await;
        }
        let catalog = self.catalog().await;
        let Some((server, tool)) = catalog.get(name) else {
            return Err(self.unknown(name, &catalog));
        };
        match self.routed(server, tool, name, &mut params) {
            Ok(Some(routed)) => return Ok(routed.run(context).await),
            Ok(None) => {}
            Err(why) => return Ok(render::failure(era, &why)),
        }
        params.set("name", &tool.name.as_str().into());
        let request = match self.request(server, tool, name, &params) {
            Ok(request) => request,
            Err(why) => return Ok(render::failure(era, &why)),
        };
        let (origin, started_at) = (request.outgoing.origin.clone(), Timestamp::now());
        let outcome = self.run(request, context).await;
        self.record(origin, &outcome, started_at);
        answered(era, outcome)
    }

    /// Adds a call to the history, without waiting for it.
    pub(super) fn record(&self, origin: CallOrigin, outcome: &Outcome, started_at: Timestamp) {
        let error = match outcome {
            // The call continues.
            Outcome::Interim(_) => return,
            Outcome::Result(text) => render::error_of(text),
            Outcome::Refused(error) => Some(error.message.to_string()),
            Outcome::Failed(why) => Some(why.clone()),
        };
        let result = match error {
            None => ToolResult::ok(Output::Nothing),
            Some(why) => ToolResult::fail(ToolError::new(ErrorKind::Failed, self.redaction.text(&why))),
        };
        let record = StoreRecord::new(&self.store);
        drop(blocking(move || {
            let execution = ToolExecution::elsewhere(origin.tool, origin.parameters, result, started_at);
            // A store that is full is reported by the results that it cannot keep.
            let _ = record.record(&execution);
        }));
    }

    /// The request that calls a tool.
    fn request(
        &self,
        server: &Arc<Wrapped>,
        tool: &WrappedTool,
        name: &str,
        params: &Params,
    ) -> Result<Request, String> {
        let arguments = params.get("arguments").and_then(|raw| serde_json::from_str(raw.get()).ok());
        let arguments = arguments.unwrap_or(Value::Null);
        let parameters = self.redacted(&arguments);
        let outgoing = Outgoing {
            params: params.text(),
            origin: CallOrigin { tool: name.to_owned(), parameters },
            limit: Some(self.limit(&server.upstream.config, Some(tool))),
            mirrored: tool.mirrored.headers(&arguments)?,
            elicitation: None,
        };
        Ok(Request { server: Arc::clone(server), method: "tools/call", what: name.to_owned(), outgoing })
    }

    /// Calls a tool for a caller in this process, who answers no questions.
    pub(crate) async fn call_here(
        self: &Arc<Self>,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Reply, String> {
        let catalog = self.catalog().await;
        let (server, tool) =
            catalog.get(name).ok_or_else(|| self.unknown(name, &catalog).message.into_owned())?;
        let mut params = Params::default();
        params.set("name", &tool.name.as_str().into());
        params.set("arguments", &Value::Object(arguments.clone()));
        let request = self.request(server, tool, name, &params)?;
        let sent = server.upstream.request(request.method, request.outgoing, None).await;
        let mut pending = sent.map_err(|error| error.to_string())?;
        loop {
            match pending.next().await {
                Step::Done(reply) => return reply.map_err(|error| error.to_string()),
                // Dropping the question refuses it.
                Step::Question(_) => {}
            }
        }
    }

    fn unknown(&self, name: &str, catalog: &super::Catalog) -> ErrorData {
        let withheld = self.withheld();
        let is_withheld = withheld.iter().any(|one| name.ends_with(one.tool.as_str()));
        let mut message = format!("unknown tool {name}");
        if is_withheld {
            message += ": its description changed or is new; it is withheld until `trommel mcp approve`";
        } else if let Some((server, why)) =
            catalog.missing.iter().find(|(server, _)| name.starts_with(server.as_str()))
        {
            message = format!("{message}: the tools of the server {server} are not listed: {why}");
        } else if let Some(near) = trommel_base::nearest_one(name, catalog.names()) {
            message = format!("{message}: did you mean {near}?");
        }
        ErrorData::invalid_params(message, None)
    }

    /// Sends a request, and follows it to its result. Sends it again if the server ended the
    /// session before.
    pub(super) async fn run(
        self: &Arc<Self>,
        mut request: Request,
        context: &RequestContext<RoleServer>,
    ) -> Outcome {
        request.outgoing.elicitation = elicitation(context);
        let outcome = self.send(request.clone(), context).await;
        let can_retry = matches!(&outcome, Outcome::Refused(error) if
            error.data.as_ref().is_some_and(|data| data.get(RETRY).is_some()));
        if !can_retry {
            return outcome;
        }
        tokio::time::sleep(RECONNECT).await;
        self.send(request, context).await
    }

    async fn send(self: &Arc<Self>, request: Request, context: &RequestContext<RoleServer>) -> Outcome {
        let (progress, latest) = watch::channel(Report::default());
        let sent = request.server.upstream.request(request.method, request.outgoing.clone(), Some(progress));
        let pending = tokio::select! {
            sent = sent => match sent {
                Ok(pending) => pending,
                Err(error) => return error.into(),
            },
            () = context.ct.cancelled() => return Outcome::Failed("cancelled".to_owned()),
        };
        self.drive(
            Parked { request, pending, latest, answer: None, rounds: 0, started_at: Timestamp::now() },
            context,
        )
        .await
    }

    /// Continues a call with the client's answer to a question.
    async fn resume(
        self: &Arc<Self>,
        mut parked: Parked,
        params: &Params,
        context: &RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        parked.answer_with(params)?;
        let (origin, started_at) = (parked.request.outgoing.origin.clone(), parked.started_at);
        let outcome = self.drive(parked, context).await;
        self.record(origin, &outcome, started_at);
        answered(Era::of(context), outcome)
    }

    /// Waits for the result, reports progress, and passes questions on.
    async fn drive(self: &Arc<Self>, mut call: Parked, context: &RequestContext<RoleServer>) -> Outcome {
        let mut reporter = Reporter::of(context).map(Reporter::relaying);
        let what = call.request.what.clone();
        let latest = call.latest.clone();
        let may_become_task = call.request.method == "tools/call" && tasks::can_follow(context);
        let long = tokio::time::sleep(self.options.task_after);
        tokio::pin!(long);
        let mut is_long = false;
        let outcome = loop {
            let step = tokio::select! {
                step = call.pending.next() => step,
                () = &mut long, if may_become_task && !is_long => {
                    is_long = true;
                    match self.start_task(call) {
                        Ok(started) => return Outcome::Interim(started),
                        Err(same) => call = *same,
                    }
                    continue;
                }
                never = report(reporter.as_mut(), &latest, &what) => match never {},
                // Dropping the request tells the server.
                () = context.ct.cancelled() => return Outcome::Failed("cancelled".to_owned()),
            };
            match step {
                Step::Question(question) => match self.ask_client(call, question, context).await {
                    Ask::Continue(same) => call = *same,
                    Ask::Parked(result) => break Outcome::Interim(result),
                },
                Step::Done(Err(error)) => break error.into(),
                Step::Done(Ok(Reply::Reduced(reduced))) => {
                    let text = render::reduced(Era::of(context), &self.store, &reduced, &call.request.what);
                    break Outcome::Result(text);
                }
                Step::Done(Ok(Reply::Whole(text))) => {
                    if let Some(outcome) = self.complete(&mut call, text, context).await {
                        break outcome;
                    }
                }
            }
        };
        if let (Some(reporter), Outcome::Result(_)) = (&mut reporter, &outcome) {
            reporter.finish(&latest, &what).await;
        }
        outcome
    }

    /// Handles a result by its type. `None` if the request was sent again with the answers of the
    /// client.
    async fn complete(
        &self,
        call: &mut Parked,
        text: String,
        context: &RequestContext<RoleServer>,
    ) -> Option<Outcome> {
        let era = Era::of(context);
        let text = match call.completed(era, text) {
            Completed::Outcome(outcome) => return Some(outcome),
            // A newer client answers by itself.
            Completed::WantsInput(text) if era == Era::Modern => return Some(Outcome::Interim(text)),
            Completed::WantsInput(text) => text,
        };
        match self.ask_and_retry(&call.request.clone(), &text, context).await {
            Ok(pending) => {
                call.pending = pending;
                None
            }
            Err(error) => Some(error.into()),
        }
    }

    /// Asks an older client for the input that a newer server wants, and sends the request again.
    async fn ask_and_retry(
        &self,
        request: &Request,
        text: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Pending, RequestError> {
        let mut answers = Map::new();
        for (key, question) in wanted_input(request, text)? {
            let answer = super::questions::put_to_client(&question, context).await;
            let answer = answer
                .map_err(|error| RequestError::Failed(format!("{}: {}", request.what, error.message)))?;
            answers.insert(key, answer);
        }
        self.retry(request, text, answers).await
    }

    /// Sends a request again, with the answers to the questions of an interim result.
    pub(super) async fn retry(
        &self,
        request: &Request,
        text: &str,
        answers: Map<String, Value>,
    ) -> Result<Pending, RequestError> {
        let failed = |error: serde_json::Error| RequestError::Failed(format!("{}: {error}", request.what));
        let wanted = Params::parse(text).map_err(failed)?;
        let mut params = Params::parse(&request.outgoing.params).map_err(failed)?;
        params.set("inputResponses", &Value::Object(answers));
        match wanted.get("requestState") {
            Some(state) => params.set_raw("requestState", state.to_owned()),
            None => drop(params.remove("requestState")),
        }
        let outgoing = Outgoing { params: params.text(), ..request.outgoing.clone() };
        request.server.upstream.request(request.method, outgoing, None).await
    }
}

/// The questions of an interim result.
pub(super) fn wanted_input(request: &Request, text: &str) -> Result<Map<String, Value>, RequestError> {
    #[derive(Deserialize)]
    struct InputRequests {
        #[serde(default, rename = "inputRequests")]
        requests: Map<String, Value>,
    }
    let wanted: Result<InputRequests, _> = serde_json::from_str(text);
    wanted
        .map(|wanted| wanted.requests)
        .map_err(|error| RequestError::Failed(format!("{}: {error}", request.what)))
}

/// A result by its type.
pub(super) enum Completed {
    Outcome(Outcome),
    /// The text of an interim result: the server asks for input.
    WantsInput(String),
}

impl Parked {
    /// Handles a result by its type.
    pub(super) fn completed(&mut self, era: Era, text: String) -> Completed {
        #[derive(Deserialize)]
        struct Typed<'a> {
            #[serde(rename = "resultType")]
            kind: Option<String>,
            #[serde(borrow, rename = "structuredContent")]
            structured: Option<&'a RawValue>,
        }
        let failed = |why: &str| {
            Completed::Outcome(Outcome::Failed(format!("{}: the server {why}", self.request.what)))
        };
        let Ok(Typed { kind, structured }) = serde_json::from_str(&text) else {
            return failed("sent an invalid result");
        };
        match kind.as_deref() {
            None | Some("complete") => {
                let is_odd = structured.is_some_and(|value| !value.get().starts_with('{'));
                Completed::Outcome(Outcome::Result(render::passed(era, text, kind.is_some(), is_odd)))
            }
            Some("input_required") if self.rounds < ROUNDS => {
                self.rounds += 1;
                Completed::WantsInput(text)
            }
            Some("input_required") => failed(&format!("asked for input {ROUNDS} times")),
            Some(other) => {
                let other: String = other.chars().take(60).flat_map(char::escape_debug).collect();
                failed(&format!("sent a result of unknown type {other}"))
            }
        }
    }
}

impl From<RequestError> for Outcome {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Refused(error) => Self::Refused(error),
            RequestError::Failed(why) => Self::Failed(why),
        }
    }
}

/// The answer to a call. What the client did not cause is a result, so that a model can read it.
pub(super) fn answered(era: Era, outcome: Outcome) -> Result<String, ErrorData> {
    match outcome {
        Outcome::Result(text) | Outcome::Interim(text) => Ok(text),
        Outcome::Refused(error) if is_ours(&error) => Ok(render::failure(era, &error.message)),
        Outcome::Refused(error) => Err(error),
        Outcome::Failed(why) => Ok(render::failure(era, &why)),
    }
}

/// True for an error that this program reports in the server's place.
fn is_ours(error: &ErrorData) -> bool {
    error.data.as_ref().is_some_and(|data| data.get("reportedBy").is_some_and(|by| by == "trommel"))
}
