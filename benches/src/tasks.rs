//! The tasks, as read from their file.

use std::sync::OnceLock;

use serde::Deserialize;

use crate::Input;

/// A query on an input, and its answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// `stage/name`.
    pub name: String,
    /// The input.
    pub input: Input,
    /// The JSONPath queries, for engines that support them.
    #[serde(default)]
    pub queries: Vec<String>,
    /// True if only the number of matches is requested, not the values.
    #[serde(default)]
    pub count: bool,
    /// The query as a jq filter.
    pub jq: Option<String>,
    /// True if `peak` measures it too.
    #[serde(default)]
    pub peak: bool,
    /// The correct answer for the input at its usual size.
    pub answer: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Definitions {
    task: Vec<Task>,
}

impl Task {
    /// Returns every task, in the order of the file.
    pub fn all() -> &'static [Self] {
        static ALL: OnceLock<Vec<Task>> = OnceLock::new();
        ALL.get_or_init(|| {
            let definitions: Definitions = toml::from_str(include_str!("../definitions/tasks.toml"))
                .expect("the definitions of the tasks are valid");
            definitions.task
        })
    }

    /// Returns the part of the name before the `/`.
    pub fn stage(&self) -> &str {
        self.name.split_once('/').map_or(self.name.as_str(), |(stage, _)| stage)
    }
}
