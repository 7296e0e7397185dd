//! One step of a document with what its runner provides, and failures with their places in the
//! document.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use trommel_route::{Destinations, Route, Shelf};
use trommel_tool::{Context, Executor};

use crate::directive::Output;
use crate::document::{Document, Step};
use crate::error::{Error, ErrorKind};
use crate::model::{Fetch, Model};
use crate::report::{Cause, RunError};

/// What a host provides for its documents.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) executor: Executor,
    pub(crate) destinations: Destinations,
    pub(crate) context: Context,
    pub(crate) model: Option<Arc<dyn Model>>,
    pub(crate) shelf: Option<Arc<dyn Shelf>>,
    pub(crate) fetchers: BTreeMap<&'static str, Arc<dyn Fetch>>,
    pub(crate) choosing: Vec<String>,
    pub(crate) rounds: usize,
    pub(crate) approves: bool,
    pub(crate) model_hint: Option<String>,
}

impl Setup {
    /// The model. An error advises how to have one.
    pub(super) fn chosen_model(&self) -> Result<&Arc<dyn Model>, Error> {
        self.model.as_ref().ok_or_else(|| ErrorKind::NoModel { hint: self.model_hint.clone() }.into())
    }

    /// The places, at the document's own time.
    pub(super) fn places(&self, document: &Document) -> trommel_route::Result<Destinations> {
        let now = document.now(self.destinations.now())?;
        Ok(self.destinations.clone().at(now))
    }

    /// True if the model may choose where the results of this tool go.
    pub(super) fn chooses(&self, name: &str) -> bool {
        self.choosing.iter().any(|one| one == name)
    }
}

/// One step at work.
pub(crate) struct Work<'a> {
    pub(crate) setup: &'a Setup,
    pub(crate) document: &'a Document,
    pub(crate) step: &'a Step,
}

/// What went wrong, and which bytes of the document asked for it.
pub(crate) struct Wrong {
    span: Range<usize>,
    error: Error,
}

pub(crate) type Done<T> = Result<T, Wrong>;

/// What went wrong with a part of the document.
pub(super) fn at<T>(span: &Range<usize>, done: Result<T, impl Into<Error>>) -> Done<T> {
    done.map_err(|error| Wrong { span: span.clone(), error: error.into() })
}

impl Work<'_> {
    pub(crate) fn error(&self, wrong: Wrong) -> RunError {
        RunError {
            step: self.step.name.clone(),
            error: Box::new(self.document.error(&wrong.span, wrong.error.message())),
            is_cancelled: wrong.error.is_cancelled(),
            kind: Cause(Arc::new(wrong.error)),
            done: Box::default(),
            partial: None,
        }
    }

    pub(super) fn check(&self) -> Done<()> {
        let cancelled = self.setup.context.cancel.is_cancelled();
        at(&self.step.span, if cancelled { Err(ErrorKind::Cancelled) } else { Ok(()) })
    }

    /// The route of an output, with the step's write mode where it has none of its own.
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
