//! The runner of documents, and its setup by the host.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use trommel_route::{Destinations, OverflowStore};
use trommel_tool::{Context, Executor};

use crate::document::Document;
use crate::model::{Fetch, Model};
use crate::report::{Progress, Report, RunError, StepReport};
use crate::steps::{self, Plan, Setup, StepRun};

/// The default number of rounds of tool calls that a model may make before it answers. After the
/// last round, the model is asked once more.
pub const DEFAULT_ROUNDS: usize = 50;

/// Runs documents.
#[derive(Clone)]
pub struct Runner(Setup);

impl Runner {
    /// Creates a runner that calls the tools of `executor` and routes to `destinations`. The
    /// executor's own delivery is ignored.
    pub fn new(executor: Executor, destinations: Destinations) -> Self {
        Self(Setup {
            executor,
            destinations,
            context: Context::default(),
            model: None,
            overflow: None,
            fetchers: BTreeMap::new(),
            choice_tools: Vec::new(),
            rounds: DEFAULT_ROUNDS,
            approves: false,
            model_hint: None,
        })
    }

    /// Sets the context of tool calls. Raising its cancel flag ends the run.
    #[must_use]
    pub fn context(mut self, context: Context) -> Self {
        self.0.context = context;
        self
    }

    /// Sets the model that answers prompts.
    #[must_use]
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.0.model = Some(model);
        self
    }

    /// Sets the store for long results of tools that have no route.
    #[must_use]
    pub fn overflow_store(mut self, store: Arc<dyn OverflowStore>) -> Self {
        self.0.overflow = Some(store);
        self
    }

    /// Sets the fetcher of `url:` inputs.
    #[must_use]
    pub fn urls(mut self, fetch: Arc<dyn Fetch>) -> Self {
        self.0.fetchers.insert("url", fetch);
        self
    }

    /// Sets the fetcher of `query:` inputs.
    #[must_use]
    pub fn queries(mut self, fetch: Arc<dyn Fetch>) -> Self {
        self.0.fetchers.insert("query", fetch);
        self
    }

    /// Lets the model choose the destination of this tool's results if a step does not route them.
    #[must_use]
    pub fn allow_choice(mut self, tool: impl Into<String>) -> Self {
        self.0.choice_tools.push(tool.into());
        self
    }

    /// Lets `@tools all` include tools that need approval, and operations that change the logs of
    /// agents' sessions. A step that names such a tool always gets it; the executor decides about
    /// its calls.
    #[must_use]
    pub fn approve(mut self, approve: bool) -> Self {
        self.0.approves = approve;
        self
    }

    /// Sets the advice of the error for a step that needs a model if none is set, such as `set
    /// MODEL_URL`.
    #[must_use]
    pub fn model_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.model_hint = Some(hint.into());
        self
    }

    /// Sets the number of rounds of tool calls that a model may make before it answers.
    #[must_use]
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.0.rounds = rounds;
        self
    }

    /// Runs a document, and reports progress on this thread.
    ///
    /// All steps are checked before the first one runs. Contents stream to their destinations. Only
    /// those of a prompt are held in memory, up to [`MAX_PROMPT_CHARS`](crate::MAX_PROMPT_CHARS).
    pub fn run(
        &self,
        document: &Document,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Report, RunError> {
        steps::check(&self.0, document)?;
        let mut report = Report::default();
        for step in &document.steps {
            on_progress(Progress::Step(step));
            let run = StepRun { setup: &self.0, document, step };
            let mut step_report = StepReport { name: step.name.clone(), ..StepReport::default() };
            if let Err(failure) = run.run(&mut step_report, &mut report.context, on_progress) {
                let mut error = run.error(failure);
                (error.done, error.partial) = (Box::new(report), Some(Box::new(step_report)));
                return Err(error);
            }
            report.steps.push(step_report);
        }
        Ok(report)
    }

    /// Describes a run without performing it: the inputs that it would read, the tools of each
    /// step, and the destinations of contents.
    pub fn dry_run(&self, document: &Document) -> Result<Plan, RunError> {
        steps::plan(&self.0, document)
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner")
            .field("executor", &self.0.executor)
            .field("destinations", &self.0.destinations)
            .field("choice_tools", &self.0.choice_tools)
            .finish_non_exhaustive()
    }
}
