//! The tools of a step, and the rules for their results.

use std::collections::BTreeMap;
use std::sync::Arc;

use trommel_route::{Choosing, Destinations, Route, Router, Target, WriteMode};
use trommel_tool::{Executor, Permissions, Registry, Tool};

use super::work::{Done, Work, at};
use crate::directive::{Asked, ToolUse};
use crate::error::ErrorKind;

/// The tool that looks at buffers, which a step with other tools has as well.
const BUFFER_OPS: &str = "buffer_ops";

/// The tools that look at stored results.
const STORED: &str = "tool_outputs.";

/// Tools under their own names, with what a step says of each.
pub(super) type Named = BTreeMap<String, (Arc<dyn Tool>, Option<ToolUse>)>;

impl Work<'_> {
    /// The tools that the step names, under their own names, with what it says of each, within what
    /// it lets them do.
    pub(super) fn named(&self) -> Done<Named> {
        let registry = self.setup.executor.registry();
        let tools = &self.step.directives.tools;
        let mut found = Named::new();
        if tools.asked == Asked::All {
            let approves = |tool: &Arc<dyn Tool>| self.setup.approves || !tool.metadata().requires_approval;
            let all = registry.tools().into_iter().filter(approves);
            found.extend(all.map(|tool| (tool.metadata().name.clone(), (tool, None))));
        }
        // Both spellings of a name are one tool: what the document says last applies.
        let mut named: Vec<_> = tools.named.iter().collect();
        named.sort_by_key(|named| named.span.start);
        for named in named {
            let tool =
                at(&named.span, registry.get(&named.name).ok_or_else(|| unknown(registry, &named.name)))?;
            let (_, said) = found.entry(tool.metadata().name.clone()).or_insert((tool, None));
            match said {
                Some(said) => said.add(named.clone()),
                None => *said = Some(named.clone()),
            }
        }
        let is_named = !found.is_empty();
        for (tool, said) in found.values_mut() {
            restrict(tool, self.permissions(said.as_ref()));
        }
        if tools.asked != Asked::None && (is_named || self.routes_inputs()) {
            let is_long = found.values().any(|(tool, _)| !tool.metadata().bounded);
            let stored = self.setup.shelf.is_some() && is_long;
            let looks = |name: &str| name == BUFFER_OPS || (stored && name.starts_with(STORED));
            for mut tool in registry.tools().into_iter().filter(|tool| looks(&tool.metadata().name)) {
                let name = tool.metadata().name.clone();
                // The step does not ask for it: it may look, and nothing else.
                restrict(&mut tool, Permissions::NONE);
                found.entry(name).or_insert((tool, None));
            }
        }
        Ok(found)
    }

    /// What a tool of the step may do. A step that names a tool lets it do what it does, but
    /// replacing files has to be said.
    fn permissions(&self, said: Option<&ToolUse>) -> Permissions {
        let mut permissions = Permissions::NONE;
        permissions.write_files = true;
        permissions.change_sessions = said.is_some() || self.setup.approves;
        permissions.replace_files =
            said.is_some_and(|said| said.route.is_none() && said.write_mode == Some(WriteMode::Replace));
        permissions
    }

    fn routes_inputs(&self) -> bool {
        let routed = |route: &Route| matches!(route.target, Target::Variable(_));
        self.step.directives.inputs.iter().any(|input| input.route.as_ref().is_some_and(routed))
    }

    /// What runs the step's tools, and sends each result where it goes.
    pub(super) fn executor(&self, places: &Destinations) -> Done<Executor> {
        let registry = Registry::new();
        let mut router = Router::new(places.clone());
        if let Some(shelf) = &self.setup.shelf {
            router = router.shelf(Arc::clone(shelf));
        }
        for (name, (tool, named)) in self.named()? {
            let route = named.as_ref().and_then(|named| named.route.clone());
            let span = named.as_ref().map_or(&self.step.span, |named| &named.span);
            if let Some(route) = route {
                // A destination that cannot be is an error before any tool runs.
                at(span, places.would_go(&route))?;
                router = router.rule(name, route);
                at(span, registry.register(tool))?;
            } else if self.setup.chooses(&name) {
                let tool = Choosing::new(tool);
                if tool.chooses() {
                    router = router.choosing(name, named.as_ref().and_then(|named| named.write_mode));
                }
                at(span, registry.register(tool))?;
            } else {
                at(span, registry.register(tool))?;
            }
        }
        Ok(self.setup.executor.clone().tools(Arc::new(registry)).delivery(Arc::new(router)))
    }
}

fn restrict(tool: &mut Arc<dyn Tool>, permissions: Permissions) {
    if let Some(within) = tool.within(permissions) {
        *tool = within;
    }
}

fn unknown(registry: &Registry, name: &str) -> ErrorKind {
    let (near, known) = (registry.suggestions(name), registry.names());
    ErrorKind::UnknownTool { name: name.to_owned(), near, known }
}
