//! What a run would do.

use std::fmt;

use trommel_base::text::{grouped, safe};
use trommel_route::{Destinations, Target};

use super::inputs::Reading;
use super::work::{Done, Setup, Work, at};
use crate::directive::Input;
use crate::document::Document;
use crate::error::Result;
use crate::report::RunError;

/// What a run would do, as far as it is known before it is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plan {
    /// What each step would do.
    pub steps: Vec<StepPlan>,
}

/// What a step would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepPlan {
    /// Its heading.
    pub name: String,
    /// What it would do, a sentence each, in order.
    pub does: Vec<String>,
}

/// A line for each step, and for what it would do.
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
        let work = Work { setup, document, step };
        let does = work.plan().map_err(|wrong| work.error(wrong))?;
        plan.steps.push(StepPlan { name: step.name.clone(), does });
    }
    Ok(plan)
}

impl Work<'_> {
    fn plan(&self) -> Done<Vec<String>> {
        let places = at(&self.step.span, self.setup.places(self.document))?;
        let mut does = Vec::new();
        for input in &self.step.directives.inputs {
            does.push(at(&input.span, self.reads(&places, input))?);
        }
        does.extend(self.asks(&places)?);
        for output in &self.step.directives.outputs {
            let route = self.route(output);
            let to = match route.target {
                Target::Inline => "the document's context".to_owned(),
                _ => format!("{} ({})", safe(&at(&output.span, places.would_go(&route))?), route.mode()),
            };
            does.push(format!("[would write] the answer -> {to}"));
        }
        Ok(does)
    }

    /// What an input would read. A variable that an earlier step would make is not there yet.
    fn reads(&self, places: &Destinations, input: &Input) -> Result<String> {
        let reading = Reading { setup: self.setup, places, input, document: self.document };
        let found = reading.items()?;
        let must_be_there = reading.must_be_there() && !reading.may_be_empty(&found);
        let items = found.items;
        let kind = input.source.scheme();
        let count = items.len();
        let bytes: Option<u64> = items.iter().map(|item| item.bytes).sum();
        let size = match bytes {
            Some(bytes) if count > 0 => format!(" ({} bytes)", grouped(bytes)),
            _ => String::new(),
        };
        let missing = if count == 0 && must_be_there {
            "; the run fails here unless an earlier step creates it"
        } else {
            ""
        };
        let to = match input.route.as_ref().filter(|route| route.target.is_routed()) {
            None => "the prompt".to_owned(),
            Some(route) => {
                let to = places.would_go(route)?;
                let mode = if route.target == Target::Discard {
                    String::new()
                } else {
                    format!(" ({})", route.mode())
                };
                format!("{}{mode}", safe(&to))
            }
        };
        let what = if kind == "file" {
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
        Ok(format!("[would read] {what}{size} -> {to}{missing}"))
    }

    /// Which model would be asked, with which tools.
    fn asks(&self, places: &Destinations) -> Done<Vec<String>> {
        let model = self.step.directives.model.as_ref();
        let named = self.named()?;
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
                Some((route, span)) => format!("{name} -> {}", safe(&at(span, places.would_go(route))?)),
            });
        }
        let with = if tools.is_empty() { String::new() } else { format!(" with {}", tools.join(", ")) };
        let who = model.map_or("the default model".to_owned(), |name| format!("model {}", safe(name)));
        let mut does = vec![format!("[would ask] {who}{with}")];
        let checked = self.setup.chosen_model().and_then(|chosen| Ok(chosen.check(model)?));
        does.extend(checked.err().map(|error| format!("[would fail] {}", safe(&error.message()))));
        Ok(does)
    }
}
