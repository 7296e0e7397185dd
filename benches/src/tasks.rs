//! The tasks, as they stand in their file.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::Input;

/// A question about an input, and its answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// `stage/name`.
    pub name: String,
    /// What it is about.
    pub input: Input,
    /// What it asks, as JSONPath, for those who take it.
    #[serde(default)]
    pub queries: Vec<String>,
    /// Whether only the number of matches is wanted, not the values.
    #[serde(default)]
    pub count: bool,
    /// What it asks, as a filter of the jq language.
    pub jq: Option<String>,
    /// Whether `peak` measures it too.
    #[serde(default)]
    pub peak: bool,
    /// The number that is right for the input at its usual size.
    pub answer: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Definitions {
    task: Vec<Task>,
}

impl Task {
    /// Every task, in the order of the file.
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Task>> = OnceLock::new();
        ALL.get_or_init(|| {
            let definitions: Definitions = toml::from_str(include_str!("../definitions/tasks.toml"))
                .expect("the definitions of the tasks are in order");
            definitions.task
        })
    }

    /// The part of the name before the `/`.
    pub fn stage(&self) -> &str {
        self.name.split_once('/').map_or(self.name.as_str(), |(stage, _)| stage)
    }
}
