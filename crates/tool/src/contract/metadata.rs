//! The description of a tool.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::parameter::ToolParameter;

/// The kind of work of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Category {
    /// Reads or writes files.
    File,
    /// Runs programs.
    Execution,
    /// Queries the web.
    Web,
    /// Starts or follows tasks.
    Task,
    /// Edits notebooks.
    Notebook,
    /// Belongs to a server of the Model Context Protocol.
    Mcp,
    /// Does anything else.
    #[default]
    Other,
}

impl Category {
    /// Every category, in the order in which lists show them.
    pub const ALL: [Self; 7] =
        [Self::File, Self::Execution, Self::Web, Self::Task, Self::Notebook, Self::Mcp, Self::Other];

    /// The name in JSON: `file`.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Execution => "execution",
            Self::Web => "web",
            Self::Task => "task",
            Self::Notebook => "notebook",
            Self::Mcp => "mcp",
            Self::Other => "other",
        }
    }

    /// The name as a heading: `FILE`.
    pub fn heading(self) -> &'static str {
        match self {
            Self::File => "FILE",
            Self::Execution => "EXECUTION",
            Self::Web => "WEB",
            Self::Task => "TASK",
            Self::Notebook => "NOTEBOOK",
            Self::Mcp => "MCP",
            Self::Other => "OTHER",
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The default destination of a tool's result; the lengths are those of [`Limits`](crate::Limits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ResultMode {
    /// To the caller, unless the result is very long.
    Inline,
    /// To the caller if the result is short, else to the [`Delivery`](crate::Delivery).
    #[default]
    Auto,
    /// Always to the [`Delivery`](crate::Delivery); the caller gets the manifest.
    Persist,
}

/// The effects of a tool, as hints for clients that ask a person before they run one. They promise
/// nothing; the names in JSON are those of the Model Context Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Effects {
    /// True if the tool changes nothing.
    #[serde(rename = "readOnlyHint")]
    pub read_only: bool,
    /// True if a change may remove or replace something. Only additions otherwise.
    #[serde(rename = "destructiveHint")]
    pub destructive: bool,
    /// True if repeating a call with the same arguments changes nothing more.
    #[serde(rename = "idempotentHint")]
    pub idempotent: bool,
    /// True if the tool reaches beyond the host's own data: the web, other services.
    #[serde(rename = "openWorldHint")]
    pub open_world: bool,
}

impl Effects {
    /// Only reads the host's own data.
    pub const READ_ONLY: Self =
        Self { read_only: true, destructive: false, idempotent: true, open_world: false };

    /// May change or remove some of the host's own data.
    pub const CHANGES: Self =
        Self { read_only: false, destructive: true, idempotent: false, open_world: false };
}

/// The worst case, as the Model Context Protocol assumes it for a tool without hints.
impl Default for Effects {
    fn default() -> Self {
        Self { read_only: false, destructive: true, idempotent: false, open_world: true }
    }
}

/// The description of a tool: its name, purpose, arguments, result, and how it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Metadata {
    /// The name of the tool: at most 128 letters, digits, `_`, `-`, and `.`.
    pub name: String,
    /// The purpose, for models.
    pub description: String,
    /// The purpose in exports, where every character costs. They then also omit the descriptions
    /// and defaults of arguments. Without it, exports have the whole description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<String>,
    /// The kind of work.
    #[serde(default)]
    pub category: Category,
    /// JSON Schema (2020-12) of the arguments, an object. Arguments that `properties` does not name
    /// are refused, unless the schema covers others: by `additionalProperties`,
    /// `patternProperties`, or further schemas at its root.
    pub args_schema: Value,
    /// JSON Schema of the result; `true` promises nothing.
    #[serde(default = "anything")]
    pub result_schema: Value,
    /// True if the tool runs only after approval.
    #[serde(default)]
    pub requires_approval: bool,
    /// The destination of the result.
    #[serde(default)]
    pub result_mode: ResultMode,
    /// The argument that displays show as `Command:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// True if the tool limits its result itself: such a result is never stored or routed.
    #[serde(default)]
    pub bounded: bool,
    /// The effects of a call. `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
}

fn anything() -> Value {
    Value::Bool(true)
}

impl Metadata {
    /// A tool of category [`Other`](Category::Other) that runs without approval. A schema of null
    /// means no arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>, args_schema: Value) -> Self {
        let args_schema = match args_schema {
            Value::Null => json!({"type": "object", "properties": {}, "additionalProperties": false}),
            schema => schema,
        };
        Self {
            name: name.into(),
            description: description.into(),
            brief: None,
            category: Category::Other,
            args_schema,
            result_schema: anything(),
            requires_approval: false,
            result_mode: ResultMode::Auto,
            command: None,
            bounded: false,
            effects: None,
        }
    }

    /// Sets the category.
    #[must_use]
    pub fn category(mut self, category: Category) -> Self {
        self.category = category;
        self
    }

    /// Sets the description in exports.
    #[must_use]
    pub fn brief(mut self, brief: impl Into<String>) -> Self {
        self.brief = Some(brief.into());
        self
    }

    /// Sets the schema of the result.
    #[must_use]
    pub fn result_schema(mut self, schema: Value) -> Self {
        self.result_schema = schema;
        self
    }

    /// Makes the tool run only after approval.
    #[must_use]
    pub fn requires_approval(mut self) -> Self {
        self.requires_approval = true;
        self
    }

    /// Sets where the result goes.
    #[must_use]
    pub fn result_mode(mut self, mode: ResultMode) -> Self {
        self.result_mode = mode;
        self
    }

    /// Names the argument that displays show as `Command:`.
    #[must_use]
    pub fn command(mut self, argument: impl Into<String>) -> Self {
        self.command = Some(argument.into());
        self
    }

    /// Declares that the tool limits its result itself.
    #[must_use]
    pub fn bounded(mut self) -> Self {
        self.bounded = true;
        self
    }

    /// Sets the effects of a call.
    #[must_use]
    pub fn effects(mut self, effects: Effects) -> Self {
        self.effects = Some(effects);
        self
    }

    /// The parameters, in the order of the schema.
    pub fn parameters(&self) -> Vec<ToolParameter> {
        ToolParameter::of_object(&self.args_schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_categories_are_those_of_their_json() {
        for category in Category::ALL {
            assert_eq!(serde_json::to_value(category).unwrap(), category.to_string());
            assert_eq!(category.heading(), category.name().to_uppercase());
        }
    }
}
