//! A step of a document with the setup of its runner, and errors with positions in the document.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use trommel_route::{Destinations, OverflowStore, Route};
use trommel_tool::{Context, Executor};

use crate::directive::Output;
use crate::document::{Document, Step};
use crate::error::{Error, ErrorKind};
use crate::model::{Fetch, Model};
use crate::report::{Cause, RunError};

/// The host's setup of a runner.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) executor: Executor,
    pub(crate) destinations: Destinations,
    pub(crate) context: Context,
    pub(crate) model: Option<Arc<dyn Model>>,
    pub(crate) overflow: Option<Arc<dyn OverflowStore>>,
    pub(crate) fetchers: BTreeMap<&'static str, Arc<dyn Fetch>>,
    pub(crate) choice_tools: Vec<String>,
    pub(crate) rounds: usize,
    pub(crate) approves: bool,
    pub(crate) model_hint: Option<String>,
}

impl Setup {
    /// Returns the model. If none is set, the error contains the host's advice.
    pub(super) fn chosen_model(&self) -> Result<&Arc<dyn Model>, Error> {
        self.model.as_ref().ok_or_else(|| ErrorKind::NoModel { hint: self.model_hint.clone() }.into())
    }

    /// Returns the destinations, with the time and week of the document.
    pub(super) fn destinations_for(&self, document: &Document) -> trommel_route::Result<Destinations> {
        let now = document.now(self.destinations.now())?;
        Ok(self.destinations.clone().at(now))
    }

    /// True if the model may choose the destination of this tool's results.
    pub(super) fn may_choose(&self, name: &str) -> bool {
        self.choice_tools.iter().any(|one| one == name)
    }
}

/// A step that is being checked or run.
pub(crate) struct StepRun<'a> {
    pub(crate) setup: &'a Setup,
    pub(crate) document: &'a Document,
    pub(crate) step: &'a Step,
}

/// An error of a step, with the bytes of the document that caused it.
pub(crate) struct StepError {
    span: Range<usize>,
    error: Error,
}

pub(crate) type StepResult<T> = Result<T, StepError>;

/// Attaches a span of the document to an error.
pub(super) fn at<T>(span: &Range<usize>, result: Result<T, impl Into<Error>>) -> StepResult<T> {
    result.map_err(|error| StepError { span: span.clone(), error: error.into() })
}

impl StepRun<'_> {
    /// Converts an error of this step to the error of the run.
    pub(crate) fn error(&self, failure: StepError) -> RunError {
        RunError {
            step: self.step.name.clone(),
            error: Box::new(self.document.error(&failure.span, failure.error.message())),
            is_cancelled: failure.error.is_cancelled(),
            kind: Cause(Arc::new(failure.error)),
            done: Box::default(),
            partial: None,
        }
    }

    /// Returns an error if the run was cancelled.
    pub(super) fn check_cancelled(&self) -> StepResult<()> {
        let cancelled = self.setup.context.cancel.is_cancelled();
        at(&self.step.span, if cancelled { Err(ErrorKind::Cancelled) } else { Ok(()) })
    }

    /// Returns the route of an output. The step's write mode applies if the output has none.
    pub(super) fn route(&self, output: &Output) -> Route {
        let mut route = output.route.clone();
        route.write_mode = route.write_mode.or(self.step.directives.write_mode);
        route
    }

    /// True for `@model none`.
    pub(super) fn is_without_model(&self) -> bool {
        self.step.directives.model.as_ref().is_some_and(|model| model.name.is_none())
    }
}
