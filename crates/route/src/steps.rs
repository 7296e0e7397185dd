//! Running a document: step by step, inputs, tools, the model, outputs.
//!
//! One engine for workflows and for context documents. A step's inputs are read in the order of their lines, and go where they are
//! routed, or into the prompt; then the model answers, unless it is `none`, and may call the step's tools on the way; then its
//! answer goes to the step's outputs. What goes wrong ends the run, with its place in the document.

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
use crate::mode::WriteMode;
use crate::model::Model;
use crate::notice;
use crate::router::Shelf;
use crate::target::Target;

pub use plan::{Plan, StepPlan};
pub use prompt::PROMPT_CHARS;

/// Times that a model may ask for tools before it answers, unless set otherwise.
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
}

/// What happens while a document is run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A step begins.
    Step(&'a Step),
    /// A content was routed, or a result stored.
    Manifest(&'a Manifest),
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
    /// What was routed or stored, in order.
    pub manifests: Vec<Manifest>,
    /// How many times tools were called.
    pub calls: u64,
    /// The model's answer; nothing where none was asked.
    pub answer: Option<String>,
}

/// Why a run ended early: what went wrong, in which step, and where in the document.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunError {
    /// The step's heading.
    pub step: String,
    /// The place in the document, and what went wrong.
    pub error: DirectiveError,
    /// Whether it was asked to end.
    pub is_cancelled: bool,
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

    /// Sets how many times a model may ask for tools before it answers.
    #[must_use]
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Runs a document, and tells what happens meanwhile, on this thread.
    ///
    /// Contents stream to their places; what goes into a prompt is held, up to [`PROMPT_CHARS`](crate::PROMPT_CHARS).
    pub fn run(&self, document: &Document, tell: &mut dyn FnMut(Progress<'_>)) -> Result<Report, RunError> {
        let mut report = Report::default();
        for step in &document.steps {
            tell(Progress::Step(step));
            let work = Work { runner: self, document, step };
            let mut done = StepReport { name: step.name.clone(), ..StepReport::default() };
            work.run(&mut done, &mut report.context, tell).map_err(|wrong| work.error(wrong))?;
            report.steps.push(done);
        }
        Ok(report)
    }

    /// Says what a run would do, and does none of it: what would be read, which tools a step would have, where contents would go.
    pub fn dry_run(&self, document: &Document) -> Result<Plan, RunError> {
        plan::plan(self, document)
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
            error: self.document.error(&wrong.span, wrong.failure.message),
            is_cancelled: wrong.failure.kind == FailureKind::Cancelled,
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
        // What is wrong with the tools is told before anything is written, also where no model will call them.
        let executor = self.executor(&places)?;
        let mut prompt = prompt::Prompt::default();
        let mut had = Vec::new();
        for input in &self.step.directives.inputs {
            self.check()?;
            let read =
                inputs::Reading { runner: self.runner, places: &places, input, document: self.document };
            let items = at(&input.span, read.items())?;
            had.push((input, read.pending(&items)));
            for manifest in at(&input.span, read.run(items, &mut prompt))? {
                tell(Progress::Manifest(&manifest));
                report.manifests.push(manifest);
            }
        }
        let prompt = prompt.text(&self.document.instructions, &self.step.body);
        self.check()?;
        let asked = self.step.directives.model.as_ref();
        let answer = if asked.is_some_and(|model| model.name.is_none()) {
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

    /// Brings an answer to an output.
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
        let mut route = output.route.clone();
        route.write_mode = route.write_mode.or(self.step.directives.write_mode);
        let mut origin = Origin::of(notice::MODEL);
        origin.header = self.step.directives.header.as_ref().map(|header| header.resolve(&places.now()));
        let mut parcel = at(&output.span, places.open(&route, origin))?;
        at(&output.span, parcel.write_all(answer.as_bytes()).map_err(|error| Failure::raised(&error)))?;
        at(&output.span, parcel.finish()).map(Some)
    }

    /// How an output is written.
    fn mode(&self, output: &Output) -> WriteMode {
        output.route.write_mode.or(self.step.directives.write_mode).unwrap_or_default()
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
