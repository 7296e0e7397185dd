//! Running a document: step by step, inputs, tools, the model, outputs.
//!
//! One engine for workflows and for context documents. A step's inputs are read in the order of their lines, and go where they are
//! routed, or into the prompt; then the model answers, unless it is `none`, and may call the step's tools on the way; then its
//! answer goes to the step's outputs. An error ends the run, with its place in the document; what can be checked is checked for all
//! steps before the first one runs.

mod calls;
mod checks;
mod conversation;
mod inputs;
mod pending;
mod plan;
mod prompt;
mod tools;

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::sync::Arc;

use trommel_tool::{Context, Executor, Failure, FailureKind, Manifest, ToolExecution};

use crate::destinations::{Destinations, Origin};
use crate::directive::{DirectiveError, Output};
use crate::document::{Document, Step};
use crate::fetch::Fetch;
use crate::model::Model;
use crate::notice;
use crate::router::Shelf;
use crate::target::{Route, Target};

pub use calls::CallReport;
pub use plan::{Plan, StepPlan};
pub use prompt::PROMPT_CHARS;

/// Rounds of tool calls that a model may make before it answers, unless set otherwise. After the last one it is asked once more.
pub const ROUNDS: usize = 50;

/// Runs documents.
#[derive(Clone)]
pub struct Runner {
    executor: Executor,
    destinations: Destinations,
    context: Context,
    model: Option<Arc<dyn Model>>,
    shelf: Option<Arc<dyn Shelf>>,
    fetchers: BTreeMap<&'static str, Arc<dyn Fetch>>,
    choosing: Vec<String>,
    rounds: usize,
    approves: bool,
    model_hint: Option<String>,
}

/// What happens while a document is run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A step begins.
    Step(&'a Step),
    /// An input is missing, or not all of it was read.
    Warning(&'a DirectiveError),
    /// A content was routed, or a result stored. Of an input whose files have a destination each, one manifest sums them up.
    Manifest(&'a Manifest),
    /// The model is asked, and answers or calls tools next.
    Asking,
    /// A tool was called.
    Call(&'a ToolExecution),
    /// The model has answered.
    Answer(&'a str),
}

/// What came of a document.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// What came of each step.
    pub steps: Vec<StepReport>,
    /// What the steps sent `inline` or to `context` with `@output`, one after the other.
    pub context: String,
}

/// What came of a step.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StepReport {
    /// Its heading.
    pub name: String,
    /// Inputs that are missing, or that were not read whole, with their places in the document.
    pub warnings: Vec<DirectiveError>,
    /// The manifests of contents that were routed or stored, in order.
    pub manifests: Vec<Manifest>,
    /// The number of tool calls.
    pub calls: u64,
    /// The tool calls, in order.
    pub tool_calls: Vec<CallReport>,
    /// The model's answer; nothing where none was asked.
    pub answer: Option<String>,
}

/// Why a run ended early: the error, its step, and its place in the document; and what was done by then.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunError {
    /// The step's heading.
    pub step: String,
    /// The place in the document, and the error.
    pub error: Box<DirectiveError>,
    /// True if the run was cancelled.
    pub is_cancelled: bool,
    /// The steps before, which are done.
    pub done: Box<Report>,
    /// What the step itself had done; nothing where the error was found before the first step began.
    pub partial: Option<Box<StepReport>>,
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for RunError {}

impl Runner {
    /// Runs the tools of an executor, and routes to these places. Whatever delivery the executor has is left aside.
    pub fn new(executor: Executor, destinations: Destinations) -> Self {
        Self {
            executor,
            destinations,
            context: Context::default(),
            model: None,
            shelf: None,
            fetchers: BTreeMap::new(),
            choosing: Vec::new(),
            rounds: ROUNDS,
            approves: false,
            model_hint: None,
        }
    }

    /// Sets the surroundings of tools' calls. Its flag ends the run.
    #[must_use]
    pub fn context(mut self, context: Context) -> Self {
        self.context = context;
        self
    }

    /// Sets the model that answers.
    #[must_use]
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = Some(model);
        self
    }

    /// Sets where results of tools go that nobody routed and that are too long.
    #[must_use]
    pub fn shelf(mut self, place: Arc<dyn Shelf>) -> Self {
        self.shelf = Some(place);
        self
    }

    /// Sets what fetches `url:` inputs.
    #[must_use]
    pub fn urls(mut self, fetch: Arc<dyn Fetch>) -> Self {
        self.fetchers.insert("url", fetch);
        self
    }

    /// Sets what answers `query:` inputs.
    #[must_use]
    pub fn queries(mut self, fetch: Arc<dyn Fetch>) -> Self {
        self.fetchers.insert("query", fetch);
        self
    }

    /// Lets the model choose where the results of a tool go that a step does not route.
    #[must_use]
    pub fn choosing(mut self, tool: impl Into<String>) -> Self {
        self.choosing.push(tool.into());
        self
    }

    /// Lets `@tools all` include tools that need approval, and operations that change the logs of agents' sessions. A step that names
    /// such a tool has it anyway; the executor decides about its calls.
    #[must_use]
    pub fn approve(mut self, approve: bool) -> Self {
        self.approves = approve;
        self
    }

    /// Sets what an error advises where a step needs a model and none is set, such as `set MODEL_URL`.
    #[must_use]
    pub fn model_hint(mut self, hint: impl Into<String>) -> Self {
        self.model_hint = Some(hint.into());
        self
    }

    /// Sets how many rounds of tool calls a model may make before it answers.
    #[must_use]
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Runs a document, and reports what happens meanwhile, on this thread.
    ///
    /// All steps are checked before the first one runs. Contents stream to their places; what goes into a prompt is held, up to [`PROMPT_CHARS`](crate::PROMPT_CHARS).
    pub fn run(&self, document: &Document, tell: &mut dyn FnMut(Progress<'_>)) -> Result<Report, RunError> {
        checks::check(self, document)?;
        let mut report = Report::default();
        for step in &document.steps {
            tell(Progress::Step(step));
            let work = Work { runner: self, document, step };
            let mut done = StepReport { name: step.name.clone(), ..StepReport::default() };
            if let Err(wrong) = work.run(&mut done, &mut report.context, tell) {
                let mut error = work.error(wrong);
                (error.done, error.partial) = (Box::new(report), Some(Box::new(done)));
                return Err(error);
            }
            report.steps.push(done);
        }
        Ok(report)
    }

    /// Says what a run would do, and does none of it: what would be read, which tools a step would have, where contents would go.
    pub fn dry_run(&self, document: &Document) -> Result<Plan, RunError> {
        plan::plan(self, document)
    }

    /// The model. An error advises how to have one.
    fn chosen_model(&self) -> Result<&Arc<dyn Model>, Failure> {
        self.model.as_ref().ok_or_else(|| {
            let hint = self.model_hint.as_deref().unwrap_or("set one up");
            Failure::refused(format!(
                "this step needs a model, and none is set up: {hint}, or write `@model none`"
            ))
        })
    }

    /// The places, at the document's own time.
    fn places(&self, document: &Document) -> crate::Result<Destinations> {
        let now = document.now(self.destinations.now())?;
        Ok(self.destinations.clone().at(now))
    }
}

/// One step at work.
struct Work<'a> {
    runner: &'a Runner,
    document: &'a Document,
    step: &'a Step,
}

/// What went wrong, and which bytes of the document asked for it.
struct Wrong {
    span: std::ops::Range<usize>,
    failure: Failure,
}

type Done<T> = Result<T, Wrong>;

/// What went wrong with a part of the document.
fn at<T>(span: &std::ops::Range<usize>, done: Result<T, impl Into<Failure>>) -> Done<T> {
    done.map_err(|error| Wrong { span: span.clone(), failure: error.into() })
}

impl Work<'_> {
    fn error(&self, wrong: Wrong) -> RunError {
        RunError {
            step: self.step.name.clone(),
            error: Box::new(self.document.error(&wrong.span, wrong.failure.message)),
            is_cancelled: wrong.failure.kind == FailureKind::Cancelled,
            done: Box::default(),
            partial: None,
        }
    }

    fn check(&self) -> Done<()> {
        let cancelled = self.runner.context.cancel.is_cancelled();
        at(&self.step.span, if cancelled { Err(Failure::cancelled()) } else { Ok(()) })
    }

    fn run(
        &self,
        report: &mut StepReport,
        context: &mut String,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Done<()> {
        let places = at(&self.step.span, self.runner.places(self.document))?;
        let executor = self.executor(&places)?;
        let mut prompt = prompt::Prompt::default();
        let mut had = Vec::new();
        for input in &self.step.directives.inputs {
            self.check()?;
            let reading =
                inputs::Reading { runner: self.runner, places: &places, input, document: self.document };
            let found = at(&input.span, reading.items())?;
            had.push((input, reading.pending(&found.items)));
            let read = at(&input.span, reading.run(found, &mut prompt))?;
            for warning in read.warnings {
                let warning = self.document.error(&input.span, warning);
                tell(Progress::Warning(&warning));
                report.warnings.push(warning);
            }
            if let Some(summary) = notice::summary(&read.manifests) {
                tell(Progress::Manifest(&summary));
            }
            report.manifests.extend(read.manifests);
        }
        let prompt = prompt.text(&self.document.instructions, &self.step.body);
        self.check()?;
        let answer = if self.is_without_model() {
            prompt
        } else {
            let answer = self.converse(&executor, prompt, report, tell)?;
            tell(Progress::Answer(&answer));
            report.answer = Some(answer.clone());
            answer
        };
        for output in &self.step.directives.outputs {
            if let Some(manifest) = self.put(&places, output, &answer, context)? {
                tell(Progress::Manifest(&manifest));
                report.manifests.push(manifest);
            }
        }
        // Only now, so that a step that fails has them again.
        for (input, had) in had {
            let read =
                inputs::Reading { runner: self.runner, places: &places, input, document: self.document };
            at(&input.span, read.remember(&had))?;
        }
        Ok(())
    }

    /// Writes an answer to an output.
    fn put(
        &self,
        places: &Destinations,
        output: &Output,
        answer: &str,
        context: &mut String,
    ) -> Done<Option<Manifest>> {
        if output.route.target == Target::Inline {
            if !context.is_empty() {
                context.push_str("\n\n");
            }
            context.push_str(answer);
            return Ok(None);
        }
        let route = self.route(output);
        let mut origin = Origin::of(notice::MODEL);
        origin.header = self.step.directives.header.as_ref().map(|header| header.resolve(&places.now()));
        let mut parcel = at(&output.span, places.open(&route, origin))?;
        at(&output.span, parcel.write_all(answer.as_bytes()).map_err(|error| Failure::raised(&error)))?;
        at(&output.span, parcel.finish()).map(Some)
    }

    /// The route of an output, with the step's write mode where it has none of its own.
    fn route(&self, output: &Output) -> Route {
        let mut route = output.route.clone();
        route.write_mode = route.write_mode.or(self.step.directives.write_mode);
        route
    }

    /// True for `@model none`.
    fn is_without_model(&self) -> bool {
        self.step.directives.model.as_ref().is_some_and(|model| model.name.is_none())
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner")
            .field("executor", &self.executor)
            .field("destinations", &self.destinations)
            .field("choosing", &self.choosing)
            .finish_non_exhaustive()
    }
}
