//! The dialects, and the objects in which they describe a tool.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::contract::metadata::Metadata;

/// The form in which a provider or a client wants tools.
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
    /// Structured tools of `LangChain`.
    LangChain,
    /// Tools of a Model Context Protocol server.
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

    /// The name of the dialect.
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

    /// True if the provider enforces the schemas.
    pub const fn is_strict(self) -> bool {
        matches!(self, Self::OpenAiStrict | Self::AnthropicStrict)
    }

    /// The object that describes one tool.
    pub(super) fn wrap(self, name: &str, tool: &Metadata, schema: Value, strict: bool) -> Value {
        let mut body = Map::new();
        body.insert("name".to_owned(), name.into());
        body.insert("description".to_owned(), tool.brief.as_deref().unwrap_or(&tool.description).into());
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
    pub(super) fn body(self, tool: &Value) -> &Value {
        match self {
            Self::OpenAi | Self::OpenAiStrict => tool.get("function").unwrap_or(&Value::Null),
            _ => tool,
        }
    }

    /// The schema of a described tool's arguments.
    pub(super) fn schema(self, tool: &Value) -> &Value {
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

/// An unknown name of a dialect.
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
