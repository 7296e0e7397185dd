//! The tools of a step, and the routes of their results.

use std::collections::BTreeMap;
use std::sync::Arc;

use trommel_route::{Destinations, RoutableTool, Route, Router, Target, WriteMode};
use trommel_tool::{Executor, Permissions, Registry, Tool};

use super::step_run::{StepResult, StepRun, at};
use crate::directive::{ToolSelection, ToolUse};
use crate::error::ErrorKind;

/// The tool that reads buffers. A step with other tools gets it as well.
const BUFFER_OPS: &str = "buffer_ops";

/// The prefix of the tools that read stored results.
const STORED_OUTPUTS: &str = "tool_outputs.";

/// The tools of a step by their own names, each with the step's entry for it.
pub(super) type StepTools = BTreeMap<String, (Arc<dyn Tool>, Option<ToolUse>)>;

impl StepRun<'_> {
    /// Returns the tools of the step by their own names, restricted to the permissions that the
    /// step grants.
    pub(super) fn step_tools(&self) -> StepResult<StepTools> {
        let registry = self.setup.executor.registry();
        let tools = &self.step.directives.tools;
        let mut found = StepTools::new();
        if tools.selection == ToolSelection::All {
            let approves = |tool: &Arc<dyn Tool>| self.setup.approves || !tool.metadata().requires_approval;
            let all = registry.tools().into_iter().filter(approves);
            found.extend(all.map(|tool| (tool.metadata().name.clone(), (tool, None))));
        }
        // Both spellings of a name refer to one tool. The entries apply in the order of the
        // document, so the last one wins.
        let mut named: Vec<_> = tools.named.iter().collect();
        named.sort_by_key(|named| named.span.start);
        for named in named {
            let tool =
                at(&named.span, registry.get(&named.name).ok_or_else(|| unknown(registry, &named.name)))?;
            let (_, entry) = found.entry(tool.metadata().name.clone()).or_insert((tool, None));
            match entry {
                Some(entry) => entry.add(named.clone()),
                None => *entry = Some(named.clone()),
            }
        }
        let has_tools = !found.is_empty();
        for (tool, entry) in found.values_mut() {
            restrict(tool, self.permissions(entry.as_ref()));
        }
        if tools.selection != ToolSelection::None && (has_tools || self.routes_inputs()) {
            let has_long_results = found.values().any(|(tool, _)| !tool.metadata().bounded);
            let reads_stored = self.setup.overflow.is_some() && has_long_results;
            let is_added =
                |name: &str| name == BUFFER_OPS || (reads_stored && name.starts_with(STORED_OUTPUTS));
            for mut tool in registry.tools().into_iter().filter(|tool| is_added(&tool.metadata().name)) {
                let name = tool.metadata().name.clone();
                // The step does not name this tool, so it may only read.
                restrict(&mut tool, Permissions::NONE);
                found.entry(name).or_insert((tool, None));
            }
        }
        Ok(found)
    }

    /// Returns the permissions of a tool. A step that names a tool permits all its operations,
    /// except that replacing files requires an explicit write mode.
    fn permissions(&self, entry: Option<&ToolUse>) -> Permissions {
        let mut permissions = Permissions::NONE;
        permissions.write_files = true;
        permissions.change_sessions = entry.is_some() || self.setup.approves;
        permissions.act_outside = permissions.change_sessions;
        permissions.replace_files =
            entry.is_some_and(|entry| entry.route.is_none() && entry.write_mode == Some(WriteMode::Replace));
        permissions
    }

    /// True if the step writes an input to a variable.
    fn routes_inputs(&self) -> bool {
        let routed = |route: &Route| matches!(route.target, Target::Variable(_));
        self.step.directives.inputs.iter().any(|input| input.route.as_ref().is_some_and(routed))
    }

    /// Creates an executor of the step's tools that routes each result to its destination.
    pub(super) fn executor(&self, destinations: &Destinations) -> StepResult<Executor> {
        let registry = Registry::new();
        let mut router = Router::new(destinations.clone());
        if let Some(overflow) = &self.setup.overflow {
            router = router.overflow_store(Arc::clone(overflow));
        }
        for (name, (tool, named)) in self.step_tools()? {
            let route = named.as_ref().and_then(|named| named.route.clone());
            let span = named.as_ref().map_or(&self.step.span, |named| &named.span);
            if let Some(route) = route {
                // Report an invalid destination before any tool runs.
                at(span, destinations.preview(&route))?;
                router = router.rule(name, route);
                at(span, registry.register(tool))?;
            } else if self.setup.may_choose(&name) {
                let tool = RoutableTool::new(tool);
                // A tool with its own `output` argument keeps its meaning: the model cannot choose.
                if tool.can_choose() {
                    router = router.allow_choice(name, named.as_ref().and_then(|named| named.write_mode));
                }
                at(span, registry.register(tool))?;
            } else {
                at(span, registry.register(tool))?;
            }
        }
        Ok(self.setup.executor.clone().tools(Arc::new(registry)).delivery(Arc::new(router)))
    }
}

/// Removes the operations of a tool that the permissions do not cover.
fn restrict(tool: &mut Arc<dyn Tool>, permissions: Permissions) {
    if let Some(within) = tool.within(permissions) {
        *tool = within;
    }
}

fn unknown(registry: &Registry, name: &str) -> ErrorKind {
    let (near, known) = (registry.suggestions(name), registry.names());
    ErrorKind::UnknownTool { name: name.to_owned(), near, known }
}
