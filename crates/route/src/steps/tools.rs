//! The tools of a step, and the rules for their results.

use std::collections::BTreeMap;
use std::sync::Arc;

use trommel_tool::{Executor, Failure, Registry, Tool};

use super::{Done, Runner, Work, at};
use crate::destinations::Destinations;
use crate::directive::{Asked, ToolUse};
use crate::error::shown;
use crate::router::{Choosing, Router};

/// The tool that looks at buffers, which a step with other tools has as well.
const BUFFER_OPS: &str = "buffer_ops";

/// The tools that look at stored results.
const STORED: &str = "tool_outputs.";

/// Tools under their own names, with what a step says of each.
pub(super) type Named<'a> = BTreeMap<String, (Arc<dyn Tool>, Option<&'a ToolUse>)>;

impl Work<'_> {
    /// The tools that the step names, under their own names, with what it says of each.
    pub(super) fn named(&self) -> Done<Named<'_>> {
        let registry = self.runner.executor.registry();
        let tools = &self.step.directives.tools;
        let mut found = Named::new();
        if tools.asked == Asked::All {
            found.extend(
                registry.tools().into_iter().map(|tool| (tool.metadata().name.clone(), (tool, None))),
            );
        }
        for named in &tools.named {
            let tool =
                at(&named.span, registry.get(&named.name).ok_or_else(|| unknown(registry, &named.name)))?;
            // Under another spelling, it may have been named before: the last `output` counts.
            let (_, said) = found.entry(tool.metadata().name.clone()).or_insert((tool, None));
            if said.is_none_or(|said: &ToolUse| named.route.is_some() || said.route.is_none()) {
                *said = Some(named);
            }
        }
        if tools.asked != Asked::None && (!found.is_empty() || self.routes_inputs()) {
            let is_long = found.values().any(|(tool, _)| !tool.metadata().bounded);
            let stored = self.runner.shelf.is_some() && is_long;
            let looks = |name: &str| name == BUFFER_OPS || (stored && name.starts_with(STORED));
            for tool in registry.tools().into_iter().filter(|tool| looks(&tool.metadata().name)) {
                found.entry(tool.metadata().name.clone()).or_insert((tool, None));
            }
        }
        Ok(found)
    }

    fn routes_inputs(&self) -> bool {
        let routed =
            |route: &crate::target::Route| matches!(route.target, crate::target::Target::Variable(_));
        self.step.directives.inputs.iter().any(|input| input.route.as_ref().is_some_and(routed))
    }

    /// What runs the step's tools, and sends each result where it goes.
    pub(super) fn executor(&self, places: &Destinations) -> Done<Executor> {
        let registry = Registry::new();
        let mut router = Router::new(places.clone());
        if let Some(shelf) = &self.runner.shelf {
            router = router.shelf(Arc::clone(shelf));
        }
        for (name, (tool, named)) in self.named()? {
            let route = named.and_then(|named| named.route.clone());
            let span = named.map_or(&self.step.span, |named| &named.span);
            let failed = |error: trommel_tool::RegistryError| Failure::new(error.to_string());
            if let Some(route) = route {
                // What is wrong with a destination is told before any tool runs.
                at(span, places.would_go(&route))?;
                router = router.rule(name, route);
                at(span, registry.register(tool).map_err(failed))?;
            } else if self.runner.chooses(&name) {
                let tool = Choosing::new(tool);
                if tool.chooses() {
                    router = router.choosing(name, named.and_then(|named| named.write_mode));
                }
                at(span, registry.register(tool).map_err(failed))?;
            } else {
                at(span, registry.register(tool).map_err(failed))?;
            }
        }
        Ok(self.runner.executor.clone().tools(Arc::new(registry)).delivery(Arc::new(router)))
    }
}

impl Runner {
    fn chooses(&self, name: &str) -> bool {
        self.choosing.iter().any(|one| one == name)
    }
}

fn unknown(registry: &Registry, name: &str) -> Failure {
    let near = registry.suggestions(name);
    let hint = if near.is_empty() {
        format!("there are {}", registry.names().join(", "))
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    Failure::refused(format!("there is no tool `{}`: {hint}", shown(name)))
}
