//! Descriptions of tools for models: one set of tools in the dialect of each provider.
//!
//! A [`Dialect`] turns the [`Metadata`] of tools into the contents of a provider's request, or of a
//! client's list. The output depends on the tools alone: they are in the order of their names, keys
//! are in one order, and the same tools give the same bytes, so that a provider's cache of prompts
//! stays valid.
//!
//! A provider accepts less than JSON Schema. A keyword that it would refuse is described in words,
//! in the description of the same place, or omitted; every such change is in [`Export::dropped`].
//! The change weakens no check, because calls are validated by the tool's own schema.
//!
//! # Strict dialects
//!
//! A strict schema is one that the provider's decoder can enforce: every object is closed, every
//! value has a type. A tool without such a form is exported as in the dialect without `strict`, and
//! the report names the place that prevents it.
//!
//! * `OpenAI` wants every member required, so that an optional one becomes one that may be null.
//! * Anthropic allows optional members and unions, but few of either in one request
//!   ([`budget`](crate::budget)). Tools are taken in the order of their names: one whose optional
//!   members still fit keeps them, one whose optional members fit as unions gets those, and one
//!   that fits in neither form is exported without `strict`.
//!
//! # Length
//!
//! Descriptions are part of every request. A tool can have a [brief](Metadata::brief) description
//! for exports, which then omit the descriptions and defaults of its arguments.
//!
//! # Names
//!
//! All dialects export a tool under the same name, one that is legal everywhere ([`Names`]): the
//! clients of MCP pass names on to providers that accept less. An argument with a reserved name is
//! renamed. [`Export::restore`] maps a call back.
//!
//! ```
//! use serde_json::json;
//! use trommel_tool::Metadata;
//! use trommel_tool::dialect::Dialect;
//!
//! let schema = json!({
//!     "type": "object",
//!     "properties": {
//!         "id": {"type": "string"},
//!         "size": {"type": "integer", "minimum": 1, "default": 10}
//!     },
//!     "required": ["id"]
//! });
//! let tool = Metadata::new("tool_outputs.sample", "Samples an output", schema);
//! let export = "anthropic-strict".parse::<Dialect>()?.export(&[&tool]);
//! let described = json!({
//!     "name": "tool_outputs_sample",
//!     "description": "Samples an output",
//!     "input_schema": {
//!         "type": "object",
//!         "properties": {
//!             "id": {"type": "string"},
//!             "size": {"type": "integer", "description": "At least 1. Default: 10."}
//!         },
//!         "required": ["id"],
//!         "additionalProperties": false
//!     },
//!     "strict": true
//! });
//! assert_eq!(export.tools, [described]);
//! assert_eq!(export.dropped.len(), 2);
//!
//! let (name, arguments) = export.restore("tool_outputs_sample", json!({"id": "a"})).unwrap();
//! assert_eq!((name.as_str(), arguments), ("tool_outputs.sample", json!({"id": "a"})));
//! # Ok::<(), trommel_tool::dialect::UnknownDialect>(())
//! ```

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::arguments::{self, Arguments};
use super::budget::{self, Excess, Spent};
use super::changes::{Notes, Obstacle};
use super::{layout, plain, strict};
use crate::contract::metadata::Metadata;
use crate::names::Names;

pub use super::changes::{Dropped, Fate};
pub use super::provider::{Dialect, UnknownDialect};

impl Dialect {
    /// Exports tools, in the order of their names; of two with the same name the first counts.
    pub fn export(self, tools: &[&Metadata]) -> Export {
        let mut sorted: BTreeMap<&str, &Metadata> = BTreeMap::new();
        for tool in tools {
            sorted.entry(&tool.name).or_insert(tool);
        }
        let names = Names::of(sorted.keys().copied());
        let mut writer = Writer::new(self, names);
        for tool in sorted.values() {
            writer.add(tool);
        }
        writer.export
    }
}

/// Tools in a dialect.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Export {
    /// The dialect.
    pub dialect: Dialect,
    /// The tools, in the order of their own names.
    pub tools: Vec<Value>,
    /// The changes of schemas that the dialect needs.
    pub dropped: Vec<Dropped>,
    /// The tools' names and their exported spellings, including those of refused tools.
    pub names: Names,
    arguments: BTreeMap<String, Arguments>,
}

impl Export {
    /// The contents of a request or a list: an array, or for MCP `{"tools": […]}`.
    pub fn document(&self) -> Value {
        match self.dialect {
            Dialect::Mcp => json!({"tools": self.tools}),
            _ => Value::Array(self.tools.clone()),
        }
    }

    /// One tool, by its own name or the exported one.
    pub fn tool(&self, name: &str) -> Option<&Value> {
        let spelling = self.names.exported(name).unwrap_or(name);
        self.tools.iter().find(|tool| self.dialect.body(tool).get("name").is_some_and(|n| n == spelling))
    }

    /// The name and the arguments of a call in the tool's own terms; `None` if no tool has that
    /// name.
    ///
    /// Both spellings of a name are accepted. Arguments get their own names back, and a null for an
    /// optional member that cannot be null is removed.
    pub fn restore(&self, name: &str, arguments: Value) -> Option<(String, Value)> {
        let own = self.names.original(name).or_else(|| self.names.exported(name).map(|_| name))?;
        let arguments = match self.arguments.get(own) {
            Some(changed) => changed.restore(arguments),
            None => arguments,
        };
        Some((own.to_owned(), arguments))
    }

    /// The budgets of one request that the tools exceed together.
    pub fn excesses(&self) -> Vec<Excess> {
        budget::check(self.dialect, &self.tools)
    }
}

/// Removes the descriptions and defaults of a schema's members.
fn brief(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else { return schema.clone() };
    let members = |value: &Value| match value {
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), brief(value))).collect(),
        value => value.clone(),
    };
    let schemas = |value: &Value| match value {
        Value::Array(schemas) => schemas.iter().map(brief).collect(),
        value => brief(value),
    };
    let keywords =
        keywords.iter().filter(|(name, _)| !matches!(name.as_str(), "description" | "default" | "title"));
    let keywords = keywords.map(|(name, value)| {
        let value = match name.as_str() {
            "properties" | "patternProperties" | "$defs" => members(value),
            "items" | "anyOf" | "oneOf" | "allOf" | "additionalProperties" | "prefixItems" => schemas(value),
            _ => value.clone(),
        };
        (name.clone(), value)
    });
    keywords.collect()
}

/// An export in progress.
struct Writer {
    export: Export,
    /// The part of a request's budgets that the strict tools so far have used.
    spent: Spent,
}

impl Writer {
    const fn new(dialect: Dialect, names: Names) -> Self {
        let export =
            Export { dialect, tools: Vec::new(), dropped: Vec::new(), names, arguments: BTreeMap::new() };
        Self { export, spent: Spent::NOTHING }
    }

    #[expect(clippy::expect_used, reason = "the names are those of the tools")]
    fn add(&mut self, tool: &Metadata) {
        let dialect = self.export.dialect;
        let mut notes = Notes::default();
        let brief = tool.brief.as_ref().map(|_| brief(&tool.args_schema));
        let described = plain::root(dialect, brief.as_ref().unwrap_or(&tool.args_schema), &mut notes)
            .and_then(|schema| arguments::rename(dialect, schema, &mut notes));
        let (schema, arguments) = match described {
            Ok(described) => described,
            Err(obstacle) => return self.export.dropped.push(obstacle.dropped(&tool.name, Fate::Refused)),
        };
        let strict = if dialect.is_strict() { self.strict(&schema, &mut notes) } else { None };
        let name =
            self.export.names.exported(&tool.name).expect("the names are those of the tools").to_owned();
        let ordered = layout::ordered(strict.as_ref().unwrap_or(&schema));
        let mut value = dialect.wrap(&name, tool, ordered, strict.is_some());
        if dialect == Dialect::Mcp {
            plain::output(tool, &mut value, &mut notes);
            layout::annotate(tool, &mut value);
        }
        self.export.tools.push(value);
        if let Some(arguments) = arguments.with_nulls(&schema, strict.as_ref()) {
            self.export.arguments.insert(tool.name.clone(), arguments);
        }
        let notes = notes.0.into_iter();
        self.export.dropped.extend(notes.map(|(obstacle, fate)| obstacle.dropped(&tool.name, fate)));
    }

    /// The strict schema, in the first form that fits, with the changes of that form.
    fn strict(&mut self, schema: &Value, notes: &mut Notes) -> Option<Value> {
        let mut obstacle = None;
        for form in strict::forms(self.export.dialect) {
            let mut changes = Notes::default();
            let made = strict::schema(*form, schema, &mut changes)
                .and_then(|made| self.within_budget(&made).map(|spent| (made, spent)));
            match made {
                Ok((made, spent)) => {
                    self.spent = spent;
                    notes.0.extend(changes.0);
                    return Some(made);
                }
                Err(found) => obstacle = obstacle.or(Some(found)),
            }
        }
        notes.0.extend(obstacle.map(|obstacle| (obstacle, Fate::NotStrict)));
        None
    }

    fn within_budget(&self, schema: &Value) -> Result<Spent, Obstacle> {
        let spent = self.spent.with(self.export.dialect, schema);
        spent.map_err(|excess| Obstacle::new("", "strict", excess.to_string()))
    }
}
