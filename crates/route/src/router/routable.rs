//! Tools whose caller can choose the destination of a result.

use serde_json::{Map, Value, json};
use trommel_tool::{Call, Failure, Metadata, Output, Tool};

use crate::error::Result;
use crate::mode::WriteMode;
use crate::target::{Route, Target};

/// The arguments for the choice, which are not passed on to the tool.
const OUTPUT: &str = "output";
const WRITE_MODE: &str = "write_mode";

/// Wraps a tool so that its caller can choose the destination of a result, with the arguments
/// `output` and `write_mode`. They are not passed on to the tool.
///
/// If the tool has an argument of one of these names itself, it keeps it, and the caller cannot
/// choose.
pub struct RoutableTool<T> {
    tool: T,
    metadata: Metadata,
    can_choose: bool,
}

impl<T: Tool> RoutableTool<T> {
    /// Wraps a tool. The [`Router`](super::Router) must [allow](super::Router::allow_choice) the
    /// choice as well.
    pub fn new(tool: T) -> Self {
        let mut metadata = tool.metadata().clone();
        let schema = with_choice(&metadata.args_schema);
        let can_choose = schema.is_some();
        metadata.args_schema = schema.unwrap_or(metadata.args_schema);
        Self { tool, metadata, can_choose }
    }

    /// True if the caller can choose. Otherwise `output` and `write_mode` are the tool's own
    /// arguments, and the [`Router`](super::Router) must not interpret them.
    pub fn can_choose(&self) -> bool {
        self.can_choose
    }
}

/// Adds the arguments for the choice to a schema of arguments. `None` if it has arguments of these
/// names, or no `properties`.
pub fn with_choice(schema: &Value) -> Option<Value> {
    let mut schema = schema.clone();
    let properties = schema.get_mut("properties")?.as_object_mut()?;
    if [OUTPUT, WRITE_MODE].iter().any(|name| properties.contains_key(*name)) {
        return None;
    }
    properties.extend(choice_schemas());
    Some(schema)
}

/// The schemas of the arguments for the choice.
fn choice_schemas() -> Map<String, Value> {
    let output = "Where the result goes instead of into the answer: variable:NAME (read it with buffer_ops), file:PATH, discard; \
        inline for the answer itself. You then get a short notice of where it is.";
    let write_mode =
        "How it is written there: append (the default), replace, or new (under the first free number).";
    let modes: Vec<&str> = WriteMode::ALL.iter().map(|mode| mode.name()).collect();
    let members = [
        (OUTPUT, json!({"type": "string", "description": output})),
        (WRITE_MODE, json!({"type": "string", "enum": modes, "description": write_mode})),
    ];
    members.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

/// Parses the choice in the arguments of a call.
pub(super) fn parse_choice(arguments: &Map<String, Value>) -> Result<Option<Route>> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let Some(output) = text(OUTPUT) else { return Ok(None) };
    let mut route = Route::to(Target::parse(output)?);
    route.write_mode = text(WRITE_MODE).map(str::parse).transpose()?;
    Ok(Some(route))
}

impl<T: Tool> Tool for RoutableTool<T> {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn complete(&self, arguments: &mut Map<String, Value>) -> std::result::Result<(), Failure> {
        self.tool.complete(arguments)
    }

    fn run(&self, call: &mut Call<'_>) -> std::result::Result<Output, Failure> {
        if !self.can_choose {
            return self.tool.run(call);
        }
        // Refuse an invalid destination before the tool does anything.
        parse_choice(call.arguments)?;
        let own = tool_arguments(call.arguments);
        call.with_arguments(&own, |call| self.tool.run(call))
    }

    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        self.tool.dry_run(call)
    }
}

/// The arguments without those for the choice.
fn tool_arguments(arguments: &Map<String, Value>) -> Map<String, Value> {
    let is_own = |name: &str| name != OUTPUT && name != WRITE_MODE;
    arguments
        .iter()
        .filter(|(name, _)| is_own(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
