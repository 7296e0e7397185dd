//! Tools whose caller may choose where a result goes.

use serde_json::{Map, Value, json};
use trommel_tool::{Call, Failure, Metadata, Output, Tool};

use crate::error::Result;
use crate::mode::WriteMode;
use crate::target::{Route, Target};

/// The arguments that choose, and that the tool itself does not get.
const OUTPUT: &str = "output";
const WRITE_MODE: &str = "write_mode";

/// A tool whose caller may choose where a result goes, with the arguments `output` and
/// `write_mode`; the tool does not get them.
///
/// A tool that has an argument of one of these names itself keeps it, and lets nobody choose.
pub struct Choosing<T> {
    tool: T,
    metadata: Metadata,
    chooses: bool,
}

impl<T: Tool> Choosing<T> {
    /// Lets the caller of a tool choose. The [`Router`](super::Router) has to
    /// [allow](super::Router::choosing) it as well.
    pub fn new(tool: T) -> Self {
        let mut metadata = tool.metadata().clone();
        let properties = metadata.args_schema.get_mut("properties").and_then(Value::as_object_mut);
        let chooses = properties.is_some_and(|properties| {
            let is_free = [OUTPUT, WRITE_MODE].iter().all(|name| !properties.contains_key(*name));
            if is_free {
                properties.extend(arguments());
            }
            is_free
        });
        Self { tool, metadata, chooses }
    }

    /// Whether the caller can choose. Where it cannot, the tool's own arguments are no choice, and
    /// the [`Router`](super::Router) is not to take them for one.
    pub fn chooses(&self) -> bool {
        self.chooses
    }
}

/// What the schema says of them.
fn arguments() -> Map<String, Value> {
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

/// What a call's arguments choose.
pub(super) fn chosen(arguments: &Map<String, Value>) -> Result<Option<Route>> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let Some(output) = text(OUTPUT) else { return Ok(None) };
    let mut route = Route::to(Target::parse(output)?);
    route.write_mode = text(WRITE_MODE).map(str::parse).transpose()?;
    Ok(Some(route))
}

impl<T: Tool> Tool for Choosing<T> {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> std::result::Result<Output, Failure> {
        if !self.chooses {
            return self.tool.run(call);
        }
        // What cannot be a destination is told before anything is done.
        chosen(call.arguments)?;
        let own = own(call.arguments);
        call.with_arguments(&own, |call| self.tool.run(call))
    }

    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        self.tool.dry_run(call)
    }
}

/// The arguments that are the tool's own.
fn own(arguments: &Map<String, Value>) -> Map<String, Value> {
    let is_own = |name: &str| name != OUTPUT && name != WRITE_MODE;
    arguments
        .iter()
        .filter(|(name, _)| is_own(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
