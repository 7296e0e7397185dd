//! Plans: descriptions of runs that are not performed.

use std::fmt;

use trommel_base::text::{grouped, safe};
use trommel_route::{Destinations, Target};

use super::inputs::InputReader;
use super::step_run::{Setup, StepResult, StepRun, at};
use crate::directive::Input;
use crate::document::Document;
use crate::error::Result;
use crate::report::RunError;

/// The description of a run, as far as it is known in advance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// The description of each step.
    pub steps: Vec<StepPlan>,
}

/// The description of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepPlan {
    /// The step's heading.
    pub name: String,
    /// The actions of the step, in order, each in a sentence.
    pub does: Vec<String>,
}

/// Writes each heading and each action on a line.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            writeln!(f, "## {}", safe(&step.name))?;
            step.does.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        }
        Ok(())
    }
}

pub(crate) fn plan(setup: &Setup, document: &Document) -> std::result::Result<Plan, RunError> {
    let mut plan = Plan::default();
    for step in &document.steps {
        let run = StepRun { setup, document, step };
        let does = run.plan().map_err(|error| run.error(error))?;
        plan.steps.push(StepPlan { name: step.name.clone(), does });
    }
    Ok(plan)
}

impl StepRun<'_> {
    fn plan(&self) -> StepResult<Vec<String>> {
        let destinations = at(&self.step.span, self.setup.destinations_for(self.document))?;
        let mut does = Vec::new();
        for input in &self.step.directives.inputs {
            does.push(at(&input.span, self.describe_input(&destinations, input))?);
        }
        does.extend(self.describe_request(&destinations)?);
        for output in &self.step.directives.outputs {
            let route = self.route(output);
            let to = match route.target {
                Target::Inline => "the document's context".to_owned(),
                _ => {
                    format!("{} ({})", safe(&at(&output.span, destinations.preview(&route))?), route.mode())
                }
            };
            does.push(format!("[would write] the answer -> {to}"));
        }
        Ok(does)
    }

    /// Describes the reading of an input. Variables that an earlier step would create do not exist
    /// yet.
    fn describe_input(&self, destinations: &Destinations, input: &Input) -> Result<String> {
        let reader = InputReader { setup: self.setup, destinations, input, document: self.document };
        let found = reader.items()?;
        let needs_content = reader.needs_content() && !reader.may_be_empty(&found);
        let items = found.items;
        let kind = input.source.scheme();
        let count = items.len();
        let bytes: Option<u64> = items.iter().map(|item| item.bytes).sum();
        let size = match bytes {
            Some(bytes) if count > 0 => format!(" ({} bytes)", grouped(bytes)),
            _ => String::new(),
        };
        let missing = if count == 0 && needs_content {
            "; the run fails here unless an earlier step creates it"
        } else {
            ""
        };
        let to = match input.route.as_ref().filter(|route| route.target.is_routed()) {
            None => "the prompt".to_owned(),
            Some(route) => {
                let to = destinations.preview(route)?;
                let mode = if route.target == Target::Discard {
                    String::new()
                } else {
                    format!(" ({})", route.mode())
                };
                format!("{}{mode}", safe(&to))
            }
        };
        let source = if kind == "file" {
            let names: Vec<_> = items.iter().take(20).map(|item| safe(&item.name).into_owned()).collect();
            let paths =
                if names.is_empty() { String::new() } else { format!("\npaths: {}", names.join(", ")) };
            return Ok(format!(
                "[would read] {count} file{}{size} -> {to}{missing}{paths}",
                if count == 1 { "" } else { "s" }
            ));
        } else {
            format!("{kind}:{}", safe(input.source.name()))
        };
        Ok(format!("[would read] {source}{size} -> {to}{missing}"))
    }

    /// Describes the request to the model and the tools of the step.
    fn describe_request(&self, destinations: &Destinations) -> StepResult<Vec<String>> {
        let model = self.step.directives.model.as_ref();
        let named = self.step_tools()?;
        if self.is_without_model() {
            return Ok(vec!["[no model]".to_owned()]);
        }
        let model = model.and_then(|model| model.name.as_deref());
        let mut tools = Vec::new();
        for (name, (_, named)) in &named {
            let route =
                named.as_ref().and_then(|named| named.route.as_ref().map(|route| (route, &named.span)));
            tools.push(match route {
                None => name.clone(),
                Some((route, span)) => {
                    format!("{name} -> {}", safe(&at(span, destinations.preview(route))?))
                }
            });
        }
        let with = if tools.is_empty() { String::new() } else { format!(" with {}", tools.join(", ")) };
        let asked = model.map_or("the default model".to_owned(), |name| format!("model {}", safe(name)));
        let mut does = vec![format!("[would ask] {asked}{with}")];
        let checked = self.setup.chosen_model().and_then(|chosen| Ok(chosen.check(model)?));
        does.extend(checked.err().map(|error| format!("[would fail] {}", safe(&error.message()))));
        Ok(does)
    }
}
