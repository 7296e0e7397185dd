//! Checks of all steps before the first one writes anything.
//!
//! Unknown tools, destinations that cannot be, sources that nothing fetches, a missing model, and
//! missing inputs are found here. An input that an earlier directive may create is left to its
//! step.

use std::collections::BTreeSet;

use trommel_route::{Destinations, Place, Route, WriteMode, has_wildcard, with_extension};

use super::inputs::Reading;
use super::work::{Done, Setup, Work, at};
use crate::directive::{Asked, Input, Source};
use crate::document::Document;
use crate::report::RunError;

/// What the directives so far may have created.
#[derive(Debug, Default)]
struct Made {
    files: BTreeSet<String>,
    variables: BTreeSet<String>,
    /// True where the names cannot be known: numbered ones, and those that a tool chooses.
    anything: bool,
}

impl Made {
    fn add(&mut self, places: &Destinations, route: &Route) -> trommel_route::Result<()> {
        self.anything |= route.mode() == WriteMode::New;
        match route.resolve(&places.now())? {
            Place::Variable(name) => drop(self.variables.insert(name)),
            Place::File(path) => drop(self.files.insert(path)),
            _ => {}
        }
        Ok(())
    }

    fn may_have(&self, source: &Source, places: &Destinations) -> bool {
        let now = places.now();
        self.anything
            || match source {
                Source::File(pattern) if pattern.files().is_some() => !self.files.is_empty(),
                Source::File(pattern) => {
                    let path = pattern.resolve(&now);
                    has_wildcard(&path) && !self.files.is_empty()
                        || self.files.contains(&path)
                        || self.files.contains(&with_extension(&path))
                }
                Source::Variable(pattern) => self.variables.contains(&pattern.resolve(&now)),
                Source::Url(_) | Source::Query(_) => false,
            }
    }
}

/// Checks all steps.
pub(crate) fn check(setup: &Setup, document: &Document) -> Result<(), RunError> {
    let mut made = Made::default();
    for step in &document.steps {
        let work = Work { setup, document, step };
        work.check_step(&mut made).map_err(|wrong| work.error(wrong))?;
    }
    Ok(())
}

impl Work<'_> {
    fn check_step(&self, made: &mut Made) -> Done<()> {
        let directives = &self.step.directives;
        let places = at(&self.step.span, self.setup.places(self.document))?;
        self.executor(&places)?;
        for input in &directives.inputs {
            if let Some(route) = &input.route {
                at(&input.span, places.would_go(route))?;
            }
            self.check_input(&places, input, made)?;
            if let Some(route) = &input.route {
                at(&input.span, made.add(&places, route))?;
            }
        }
        self.check_model()?;
        if !self.is_without_model()
            && (directives.tools.asked == Asked::All || !directives.tools.named.is_empty())
        {
            made.anything = true;
        }
        for output in &directives.outputs {
            let route = self.route(output);
            at(&output.span, places.would_go(&route))?;
            at(&output.span, made.add(&places, &route))?;
        }
        Ok(())
    }

    fn check_input(&self, places: &Destinations, input: &Input, made: &Made) -> Done<()> {
        let reading = Reading { setup: self.setup, places, input, document: self.document };
        let is_one = match &input.source {
            Source::File(pattern) => {
                pattern.files().is_none() && !has_wildcard(&pattern.resolve(&places.now()))
            }
            _ => true,
        };
        if made.may_have(&input.source, places) || !(is_one || reading.must_be_there()) {
            return Ok(());
        }
        let found = at(&input.span, reading.items())?;
        at(&input.span, reading.require(&found))
    }

    /// An error where the step asks a model that cannot answer.
    fn check_model(&self) -> Done<()> {
        if self.is_without_model() {
            return Ok(());
        }
        let directive = self.step.directives.model.as_ref();
        let span = directive.map_or(&self.step.span, |model| &model.span);
        let model = at(span, self.setup.chosen_model())?;
        at(span, model.check(directive.and_then(|model| model.name.as_deref())))
    }
}
