//! The runner of documents, as a host sets it up.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use trommel_route::{Destinations, Shelf};
use trommel_tool::{Context, Executor};

use crate::document::Document;
use crate::model::{Fetch, Model};
use crate::report::{Progress, Report, RunError, StepReport};
use crate::steps::{self, Plan, Setup, Work};

/// Rounds of tool calls that a model may make before it answers, unless set otherwise. After the
/// last one it is asked once more.
pub const ROUNDS: usize = 50;

/// Runs documents.
#[derive(Clone)]
pub struct Runner(Setup);

impl Runner {
    /// Runs the tools of an executor, and routes to these places. Whatever delivery the executor
    /// has is left aside.
    pub fn new(executor: Executor, destinations: Destinations) -> Self {
        Self(Setup {
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
        })
    }

    /// Sets the surroundings of tools' calls. Its flag ends the run.
    #[must_use]
    pub fn context(mut self, context: Context) -> Self {
        self.0.context = context;
        self
    }

    /// Sets the model that answers.
    #[must_use]
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.0.model = Some(model);
        self
    }

    /// Sets where results of tools go that nobody routed and that are too long.
    #[must_use]
    pub fn shelf(mut self, place: Arc<dyn Shelf>) -> Self {
        self.0.shelf = Some(place);
        self
    }

    /// Sets what fetches `url:` inputs.
    #[must_use]
    pub fn urls(mut self, fetch: Arc<dyn Fetch>) -> Self {
        self.0.fetchers.insert("url", fetch);
        self
    }

    /// Sets what answers `query:` inputs.
    #[must_use]
    pub fn queries(mut self, fetch: Arc<dyn Fetch>) -> Self {
        self.0.fetchers.insert("query", fetch);
        self
    }

    /// Lets the model choose where the results of a tool go that a step does not route.
    #[must_use]
    pub fn choosing(mut self, tool: impl Into<String>) -> Self {
        self.0.choosing.push(tool.into());
        self
    }

    /// Lets `@tools all` include tools that need approval, and operations that change the logs of
    /// agents' sessions. A step that names such a tool has it anyway; the executor decides about
    /// its calls.
    #[must_use]
    pub fn approve(mut self, approve: bool) -> Self {
        self.0.approves = approve;
        self
    }

    /// Sets what an error advises where a step needs a model and none is set, such as `set
    /// MODEL_URL`.
    #[must_use]
    pub fn model_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.model_hint = Some(hint.into());
        self
    }

    /// Sets how many rounds of tool calls a model may make before it answers.
    #[must_use]
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.0.rounds = rounds;
        self
    }

    /// Runs a document, and reports what happens meanwhile, on this thread.
    ///
    /// All steps are checked before the first one runs. Contents stream to their places; what goes
    /// into a prompt is held, up to [`PROMPT_CHARS`](crate::PROMPT_CHARS).
    pub fn run(&self, document: &Document, tell: &mut dyn FnMut(Progress<'_>)) -> Result<Report, RunError> {
        steps::check(&self.0, document)?;
        let mut report = Report::default();
        for step in &document.steps {
            tell(Progress::Step(step));
            let work = Work { setup: &self.0, document, step };
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

    /// Says what a run would do, and does none of it: what would be read, which tools a step would
    /// have, where contents would go.
    pub fn dry_run(&self, document: &Document) -> Result<Plan, RunError> {
        steps::plan(&self.0, document)
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner")
            .field("executor", &self.0.executor)
            .field("destinations", &self.0.destinations)
            .field("choosing", &self.0.choosing)
            .finish_non_exhaustive()
    }
}
