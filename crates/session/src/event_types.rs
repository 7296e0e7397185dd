//! Names of event types. Names in older logs are aliases of the current ones.

use crate::error::{RequestFault, Result};

/// Former or differently documented names, with the current name of each.
const ALIASES: [(&str, &str); 6] = [
    ("tool:call", "tool:pre"),
    ("tool:result", "tool:post"),
    ("task:agent_spawned", "delegate:agent_spawned"),
    ("agent:spawn", "delegate:agent_spawned"),
    ("task:completed", "delegate:agent_completed"),
    ("agent:complete", "delegate:agent_completed"),
];

/// Names of more detailed variants, which a query for the base name includes.
const DETAILS: [(&str, &str); 2] = [("llm:request:debug", "llm:request"), ("llm:request:raw", "llm:request")];

/// Returns the current name of an event type.
pub(crate) fn current(name: &str) -> &str {
    ALIASES.iter().find(|(old, _)| *old == name).map_or(name, |(_, current)| *current)
}

/// The requested event types.
#[derive(Debug)]
pub(crate) struct EventTypes(Vec<String>);

/// The maximum number of event types.
const MAX_TYPES: usize = 100;

impl EventTypes {
    pub(crate) fn new(requested: &[String]) -> Result<Self> {
        if requested.len() > MAX_TYPES {
            return Err(RequestFault::EventTypes { count: requested.len(), max: MAX_TYPES }.into());
        }
        let inner = |name: &str| name.trim_end_matches('*').contains('*') || name.is_empty();
        if let Some(name) = requested.iter().find(|name| inner(name)) {
            return Err(RequestFault::EventType { given: name.clone() }.into());
        }
        Ok(Self(requested.to_vec()))
    }

    /// True if an event of this type is requested.
    pub(crate) fn matches(&self, event: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|requested| matches_type(requested, event))
    }
}

fn matches_type(requested: &str, event: &str) -> bool {
    if let Some(prefix) = requested.strip_suffix('*') {
        return event.starts_with(prefix) || current(event).starts_with(prefix);
    }
    let detail = DETAILS.iter().any(|(name, of)| *name == event && *of == requested);
    requested == event || current(requested) == current(event) || detail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_match_each_other() {
        let takes =
            |requested: &str, event: &str| EventTypes::new(&[requested.to_owned()]).unwrap().matches(event);
        for (requested, event) in [
            ("tool:pre", "tool:call"),
            ("tool:call", "tool:pre"),
            ("agent:spawn", "task:agent_spawned"),
            ("llm:request", "llm:request:raw"),
            ("tool:*", "tool:post"),
            ("delegate:*", "task:completed"),
        ] {
            assert!(takes(requested, event), "{requested} {event}");
        }
        for (requested, event) in
            [("llm:request:raw", "llm:request"), ("tool:pre", "tool:post"), ("tool", "tool:pre")]
        {
            assert!(!takes(requested, event), "{requested} {event}");
        }
        assert!(EventTypes::new(&[]).unwrap().matches("anything"));
        assert!(EventTypes::new(&["*:pre".to_owned()]).unwrap_err().to_string().contains("at the end"));
    }
}
