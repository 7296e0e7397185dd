//! How tools are told to models: one set of tools in the spelling of each provider.
//!
//! A [`Dialect`] turns the [`Metadata`] of tools into what a provider's request, or a client's list, holds. What comes out
//! depends on the tools alone: they stand in the order of their names, keys in one order, and the same tools give the same
//! bytes, so that a provider's cache of prompts is not lost.
//!
//! A provider takes less than JSON Schema. What it would refuse is said in words, in the description of the same place, or
//! left out; every such change is in [`Export::dropped`]. Nothing is lost by it: a call is validated against the tool's own
//! schema, whatever the export says.
//!
//! # Strict dialects
//!
//! A strict schema is one that the provider's decoder can enforce: every object is closed, every value has a type. A tool
//! that cannot be put so is exported as in the dialect without `strict`, and the report says which place was in the way.
//!
//! * `OpenAI` wants every member required, so that an optional one becomes one that may be null.
//! * Anthropic allows optional members, and unions, but few of either in one request ([`crate::budget`]). Tools are taken in
//!   the order of their names: one whose optional members still fit keeps them, one whose optional members fit as unions gets
//!   those, and one that fits in neither way is exported without `strict`.
//!
//! # Names
//!
//! All dialects export a tool under the same name, one that is legal everywhere ([`Names`]): what MCP would allow is handed
//! on by its clients to providers that do not. An argument whose name is taken is renamed. [`Export::restore`] leads back.
//!
//! ```
//! use serde_json::json;
//! use trommel_tool::Metadata;
//! use trommel_tool::dialect::Dialect;
//!
//! let schema = json!({
//!     "type": "object",
//!     "properties": {"id": {"type": "string"}, "size": {"type": "integer", "minimum": 1, "default": 10}},
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

mod arguments;
mod keywords;
mod layout;
mod plain;
mod strict;
mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Metadata;
use crate::budget::{self, Excess, Spent};
use crate::names::Names;
use arguments::Arguments;

pub(crate) use keywords::{has_type, is_required, properties, schemas};

/// A way to describe tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Functions of `OpenAI`'s chat completions.
    OpenAi,
    /// The same, with schemas that the provider enforces.
    OpenAiStrict,
    /// Tools of Anthropic's messages.
    Anthropic,
    /// The same, with schemas that the provider enforces.
    AnthropicStrict,
    /// What `LangChain`'s structured tools are made from.
    LangChain,
    /// The tools of a Model Context Protocol server.
    Mcp,
}

impl Dialect {
    /// All dialects.
    pub const ALL: [Self; 6] = [
        Self::OpenAi,
        Self::OpenAiStrict,
        Self::Anthropic,
        Self::AnthropicStrict,
        Self::LangChain,
        Self::Mcp,
    ];

    /// The name under which a dialect is asked for.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiStrict => "openai-strict",
            Self::Anthropic => "anthropic",
            Self::AnthropicStrict => "anthropic-strict",
            Self::LangChain => "langchain",
            Self::Mcp => "mcp",
        }
    }

    /// Whether the provider enforces the schemas.
    pub const fn is_strict(self) -> bool {
        matches!(self, Self::OpenAiStrict | Self::AnthropicStrict)
    }

    /// Describes tools, in the order of their names; of two with the same name the first counts.
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

    /// The object that describes one tool.
    fn wrap(self, name: &str, tool: &Metadata, schema: Value, strict: bool) -> Value {
        let mut body = Map::new();
        body.insert("name".to_owned(), name.into());
        body.insert("description".to_owned(), tool.description.as_str().into());
        body.insert(self.schema_key().to_owned(), schema);
        if strict {
            body.insert("strict".to_owned(), true.into());
        }
        match self {
            Self::OpenAi | Self::OpenAiStrict => json!({"type": "function", "function": body}),
            _ => Value::Object(body),
        }
    }

    const fn schema_key(self) -> &'static str {
        match self {
            Self::OpenAi | Self::OpenAiStrict => "parameters",
            Self::Anthropic | Self::AnthropicStrict => "input_schema",
            Self::LangChain => "args_schema",
            Self::Mcp => "inputSchema",
        }
    }

    /// The object of a described tool that holds its name and schema.
    pub(crate) fn body(self, tool: &Value) -> &Value {
        match self {
            Self::OpenAi | Self::OpenAiStrict => tool.get("function").unwrap_or(&Value::Null),
            _ => tool,
        }
    }

    /// The schema of a described tool's arguments.
    pub(crate) fn schema(self, tool: &Value) -> &Value {
        self.body(tool).get(self.schema_key()).unwrap_or(&Value::Null)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, UnknownDialect> {
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.name() == name)
            .ok_or_else(|| UnknownDialect { name: name.to_owned() })
    }
}

impl Serialize for Dialect {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A name that is no dialect's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDialect {
    name: String,
}

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.name.chars().take(40).flat_map(char::escape_debug).collect();
        write!(f, "there is no dialect `{shown}`; use one of ")?;
        for (at, dialect) in Dialect::ALL.into_iter().enumerate() {
            let mark = if at == 0 { "" } else { ", " };
            write!(f, "{mark}{dialect}")?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownDialect {}

/// Tools as a dialect describes them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Export {
    /// The dialect.
    pub dialect: Dialect,
    /// The tools, in the order of their own names.
    pub tools: Vec<Value>,
    /// What the dialect has no place for, and what became of it.
    pub dropped: Vec<Dropped>,
    /// The tools' names and how they are exported; also those of tools that were refused.
    pub names: Names,
    arguments: BTreeMap<String, Arguments>,
}

impl Export {
    /// What a request or a list of tools holds: an array, or for MCP `{"tools": […]}`.
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

    /// The name and the arguments of a call as the tool itself knows them.
    ///
    /// A name is taken in both spellings; arguments get their own names back, and a null for an optional member that has no
    /// use for one is taken away. None if no tool has that name.
    pub fn restore(&self, name: &str, arguments: Value) -> Option<(String, Value)> {
        let own = self.names.original(name).or_else(|| self.names.exported(name).map(|_| name))?;
        let arguments = match self.arguments.get(own) {
            Some(changed) => changed.restore(arguments),
            None => arguments,
        };
        Some((own.to_owned(), arguments))
    }

    /// Where the tools together exceed what one request may hold.
    pub fn excesses(&self) -> Vec<Excess> {
        budget::check(self.dialect, &self.tools)
    }
}

/// A change that a dialect made necessary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Dropped {
    /// The tool's own name.
    pub tool: String,
    /// Where in its schema: a JSON Pointer, empty for the root.
    pub place: String,
    /// The keyword, or `strict` where that is what was dropped.
    pub keyword: String,
    /// What became of it.
    pub fate: Fate,
    /// Why, in a sentence.
    pub reason: String,
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, place, keyword, reason, .. } = self;
        write!(f, "{tool}: `{keyword}`")?;
        if !place.is_empty() {
            write!(f, " at {place}")?;
        }
        write!(f, " {}: {reason}", self.fate)
    }
}

/// What became of something that a dialect has no place for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fate {
    /// It is said in words in the description of the same place.
    Described,
    /// It is left out; a call is checked for it all the same.
    Removed,
    /// It is put in another way that allows the same or more.
    Changed,
    /// It has another name.
    Renamed,
    /// The tool is exported without `strict`.
    NotStrict,
    /// The tool is not exported.
    Refused,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Described => "is described in words",
            Self::Removed => "is left out",
            Self::Changed => "is put another way",
            Self::Renamed => "is renamed",
            Self::NotStrict => "does not apply",
            Self::Refused => "cannot be exported",
        })
    }
}

/// Why a schema cannot be put into a dialect, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Obstacle {
    place: String,
    keyword: String,
    reason: String,
}

impl Obstacle {
    fn new(place: &str, keyword: &str, reason: impl Into<String>) -> Self {
        Self { place: place.to_owned(), keyword: keyword.to_owned(), reason: reason.into() }
    }

    fn dropped(self, tool: &str, fate: Fate) -> Dropped {
        let Self { place, keyword, reason } = self;
        Dropped { tool: tool.to_owned(), place, keyword, fate, reason }
    }
}

/// Changes to one schema.
#[derive(Default)]
struct Notes(Vec<(Obstacle, Fate)>);

impl Notes {
    fn add(&mut self, place: &str, keyword: &str, fate: Fate, reason: impl Into<String>) {
        self.0.push((Obstacle::new(place, keyword, reason), fate));
    }
}

/// An export that is being made.
struct Writer {
    export: Export,
    /// What the strict tools so far have taken of a request's budgets.
    spent: Spent,
}

impl Writer {
    const fn new(dialect: Dialect, names: Names) -> Self {
        let export =
            Export { dialect, tools: Vec::new(), dropped: Vec::new(), names, arguments: BTreeMap::new() };
        Self { export, spent: Spent::NOTHING }
    }

    fn add(&mut self, tool: &Metadata) {
        let dialect = self.export.dialect;
        let mut notes = Notes::default();
        let described = plain::root(dialect, &tool.args_schema, &mut notes)
            .and_then(|schema| arguments::rename(dialect, schema, &mut notes));
        let (schema, arguments) = match described {
            Ok(described) => described,
            Err(obstacle) => return self.export.dropped.push(obstacle.dropped(&tool.name, Fate::Refused)),
        };
        let strict = if dialect.is_strict() { self.strict(&schema, &mut notes) } else { None };
        let name = self.export.names.exported(&tool.name).unwrap_or_default().to_owned();
        let mut value =
            dialect.wrap(&name, tool, layout::ordered(strict.as_ref().unwrap_or(&schema)), strict.is_some());
        if dialect == Dialect::Mcp {
            plain::output(tool, &mut value, &mut notes);
        }
        self.export.tools.push(value);
        if let Some(arguments) = arguments.with_nulls(&schema, strict.as_ref()) {
            self.export.arguments.insert(tool.name.clone(), arguments);
        }
        let notes = notes.0.into_iter();
        self.export.dropped.extend(notes.map(|(obstacle, fate)| obstacle.dropped(&tool.name, fate)));
    }

    /// The schema as the provider enforces it, in the first form that fits, with the notes of that form.
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
