//! Names of events: those of older logs mean those of newer ones.

use crate::error::{RequestFault, Result};

/// What was written or documented under another name, and its name now.
const ALIASES: [(&str, &str); 6] = [
    ("tool:call", "tool:pre"),
    ("tool:result", "tool:post"),
    ("task:agent_spawned", "delegate:agent_spawned"),
    ("agent:spawn", "delegate:agent_spawned"),
    ("task:completed", "delegate:agent_completed"),
    ("agent:complete", "delegate:agent_completed"),
];

/// Names that say more of the same thing: who asks for the thing gets these too.
const DETAILS: [(&str, &str); 2] = [("llm:request:debug", "llm:request"), ("llm:request:raw", "llm:request")];

/// The name that an event has now.
pub(crate) fn current(name: &str) -> &str {
    ALIASES.iter().find(|(old, _)| *old == name).map_or(name, |(_, current)| *current)
}

/// Types of events that are asked for.
#[derive(Debug)]
pub(crate) struct Types(Vec<String>);

/// Types at most.
const MOST: usize = 100;

impl Types {
    pub(crate) fn new(asked: &[String]) -> Result<Self> {
        if asked.len() > MOST {
            return Err(RequestFault::EventTypes { count: asked.len(), max: MOST }.into());
        }
        let inner = |name: &str| name.trim_end_matches('*').contains('*') || name.is_empty();
        if let Some(name) = asked.iter().find(|name| inner(name)) {
            return Err(RequestFault::EventType { given: name.clone() }.into());
        }
        Ok(Self(asked.to_vec()))
    }

    /// Whether an event of this name is asked for.
    pub(crate) fn take(&self, event: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|asked| takes(asked, event))
    }
}

fn takes(asked: &str, event: &str) -> bool {
    if let Some(begins) = asked.strip_suffix('*') {
        return event.starts_with(begins) || current(event).starts_with(begins);
    }
    let detail = DETAILS.iter().any(|(name, of)| *name == event && *of == asked);
    asked == event || current(asked) == current(event) || detail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_names_are_one() {
        let takes = |asked: &str, event: &str| Types::new(&[asked.to_owned()]).unwrap().take(event);
        for (asked, event) in [
            ("tool:pre", "tool:call"),
            ("tool:call", "tool:pre"),
            ("agent:spawn", "task:agent_spawned"),
            ("llm:request", "llm:request:raw"),
            ("tool:*", "tool:post"),
            ("delegate:*", "task:completed"),
        ] {
            assert!(takes(asked, event), "{asked} {event}");
        }
        for (asked, event) in
            [("llm:request:raw", "llm:request"), ("tool:pre", "tool:post"), ("tool", "tool:pre")]
        {
            assert!(!takes(asked, event), "{asked} {event}");
        }
        assert!(Types::new(&[]).unwrap().take("anything"));
        assert!(Types::new(&["*:pre".to_owned()]).unwrap_err().to_string().contains("at the end"));
    }
}
