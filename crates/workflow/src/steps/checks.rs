//! Checks of all steps before the first one writes anything.
//!
//! They detect unknown tools, invalid destinations, sources without a fetcher, a missing model, and
//! missing inputs. An input that an earlier directive may create is checked when its step runs.

use std::collections::BTreeSet;

use trommel_route::{Destinations, ResolvedTarget, Route, WriteMode, has_wildcard, with_extension};

use super::inputs::InputReader;
use super::step_run::{Setup, StepResult, StepRun, at};
use crate::directive::{Input, Source, ToolSelection};
use crate::document::Document;
use crate::report::RunError;

/// The targets that the directives so far may create.
#[derive(Debug, Default)]
struct CreatedTargets {
    files: BTreeSet<String>,
    variables: BTreeSet<String>,
    /// True if more targets with unknown names may be created: numbered ones, or the choices of a
    /// tool.
    has_unknown: bool,
}

impl CreatedTargets {
    fn add(&mut self, destinations: &Destinations, route: &Route) -> trommel_route::Result<()> {
        self.has_unknown |= route.mode() == WriteMode::New;
        match route.resolve(&destinations.now())? {
            ResolvedTarget::Variable(name) => drop(self.variables.insert(name)),
            ResolvedTarget::File(path) => drop(self.files.insert(path)),
            _ => {}
        }
        Ok(())
    }

    fn may_include(&self, source: &Source, destinations: &Destinations) -> bool {
        let now = destinations.now();
        self.has_unknown
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

/// Checks all steps. Returns the first error.
pub(crate) fn check(setup: &Setup, document: &Document) -> Result<(), RunError> {
    let mut created = CreatedTargets::default();
    for step in &document.steps {
        let run = StepRun { setup, document, step };
        run.check_step(&mut created).map_err(|error| run.error(error))?;
    }
    Ok(())
}

impl StepRun<'_> {
    fn check_step(&self, created: &mut CreatedTargets) -> StepResult<()> {
        let directives = &self.step.directives;
        let destinations = at(&self.step.span, self.setup.destinations_for(self.document))?;
        self.executor(&destinations)?;
        for input in &directives.inputs {
            if let Some(route) = &input.route {
                at(&input.span, destinations.preview(route))?;
            }
            self.check_input(&destinations, input, created)?;
            if let Some(route) = &input.route {
                at(&input.span, created.add(&destinations, route))?;
            }
        }
        self.check_model()?;
        // The tools of a model may create files and variables under names that it chooses.
        if !self.is_without_model()
            && (directives.tools.selection == ToolSelection::All || !directives.tools.named.is_empty())
        {
            created.has_unknown = true;
        }
        for output in &directives.outputs {
            let route = self.route(output);
            at(&output.span, destinations.preview(&route))?;
            at(&output.span, created.add(&destinations, &route))?;
        }
        Ok(())
    }

    fn check_input(
        &self,
        destinations: &Destinations,
        input: &Input,
        created: &CreatedTargets,
    ) -> StepResult<()> {
        let reader = InputReader { setup: self.setup, destinations, input, document: self.document };
        let is_single = match &input.source {
            Source::File(pattern) => {
                pattern.files().is_none() && !has_wildcard(&pattern.resolve(&destinations.now()))
            }
            _ => true,
        };
        // Matching a wildcard lists a folder. Unless finding nothing is an error, leave that to the
        // step.
        if created.may_include(&input.source, destinations) || !(is_single || reader.needs_content()) {
            return Ok(());
        }
        let found = at(&input.span, reader.items())?;
        at(&input.span, reader.require(&found))
    }

    /// Returns an error if the step needs a model that is not set or cannot answer.
    fn check_model(&self) -> StepResult<()> {
        if self.is_without_model() {
            return Ok(());
        }
        let directive = self.step.directives.model.as_ref();
        let span = directive.map_or(&self.step.span, |model| &model.span);
        let model = at(span, self.setup.chosen_model())?;
        at(span, model.check(directive.and_then(|model| model.name.as_deref())))
    }
}
