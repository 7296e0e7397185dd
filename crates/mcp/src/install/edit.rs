//! Changes of a client's file that leave all other bytes as they are.

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, Table};

use super::clients::Format;
use super::{InstallError, Result};

/// A byte order mark.
const MARK: &str = "\u{feff}";

/// A file that is being edited.
pub(super) enum Document {
    Json { root: CstRootNode, key: &'static str, has_mark: bool },
    Toml { document: Box<DocumentMut>, key: &'static str },
}

impl Document {
    /// Parses a file; an absent or empty one is an empty object.
    pub(super) fn parse(path: &Path, bytes: Option<&[u8]>, format: Format) -> Result<Self> {
        let invalid = |why: String| InstallError::Invalid(path.to_owned(), why);
        let text = std::str::from_utf8(bytes.unwrap_or(b"")).map_err(|error| invalid(error.to_string()))?;
        let has_mark = text.starts_with(MARK);
        let text = text.trim_start_matches(MARK);
        match format {
            Format::Json(key) => {
                let text = if text.trim().is_empty() { "{}\n" } else { text };
                let root =
                    CstRootNode::parse(text, &options()).map_err(|error| invalid(error.to_string()))?;
                let Some(object) = root.object_value() else {
                    return Err(invalid("expected an object".to_owned()));
                };
                let servers = object.get(key).and_then(|member| member.value());
                if servers.is_some_and(|servers| servers.as_object().is_none()) {
                    return Err(invalid(format!("{key} is not an object")));
                }
                Ok(Self::Json { root, key, has_mark })
            }
            Format::Toml(key) => {
                let document: DocumentMut =
                    text.parse().map_err(|error: toml_edit::TomlError| invalid(error.to_string()))?;
                if document.get(key).is_some_and(|servers| !servers.is_table_like()) {
                    return Err(invalid(format!("{key} is not a table")));
                }
                Ok(Self::Toml { document: Box::new(document), key })
            }
        }
    }

    /// The servers.
    pub(super) fn servers(&self) -> Map<String, Value> {
        let servers = match self {
            Self::Json { root, key, .. } => root
                .object_value()
                .and_then(|object| object.object_value(key))
                .and_then(|servers| servers.to_serde_value()),
            Self::Toml { document, key } => document.get(key).map(value_of),
        };
        match servers {
            Some(Value::Object(servers)) => servers,
            _ => Map::new(),
        }
    }

    /// Sets an entry.
    pub(super) fn set(&mut self, name: &str, entry: &Value) {
        match self {
            Self::Json { root, key, .. } => {
                let servers = root.object_value_or_set().object_value_or_set(key);
                match servers.get(name) {
                    Some(member) => member.set_value(input(entry)),
                    None => drop(servers.append(name, input(entry))),
                }
            }
            Self::Toml { document, key } => {
                let servers = document.entry(key).or_insert_with(|| {
                    let mut table = Table::new();
                    table.set_implicit(true);
                    Item::Table(table)
                });
                if let Some(servers) = servers.as_table_like_mut() {
                    servers.insert(name, item_of(entry));
                }
            }
        }
    }

    /// Removes an entry.
    pub(super) fn remove(&mut self, name: &str) {
        match self {
            Self::Json { root, key, .. } => {
                let servers = root.object_value().and_then(|object| object.object_value(key));
                if let Some(member) = servers.and_then(|servers| servers.get(name)) {
                    member.remove();
                }
            }
            Self::Toml { document, key } => {
                if let Some(servers) = document.get_mut(key).and_then(Item::as_table_like_mut) {
                    servers.remove(name);
                }
            }
        }
    }

    /// The bytes of the file.
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Json { root, has_mark, .. } => format!("{}{root}", if *has_mark { MARK } else { "" }),
            Self::Toml { document, .. } => document.to_string(),
        }
        .into_bytes()
    }
}

/// JSON with comments and trailing commas, as VS Code has it.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Parses JSON with comments and trailing commas.
pub(crate) fn parse_json(text: &str) -> std::result::Result<Value, String> {
    let root =
        CstRootNode::parse(text.trim_start_matches(MARK), &options()).map_err(|error| error.to_string())?;
    root.to_serde_value().ok_or_else(|| "the file is empty".to_owned())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

/// A TOML item as JSON.
fn value_of(item: &Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return Value::Object(table.iter().map(|(name, item)| (name.to_owned(), value_of(item))).collect());
    }
    match item.as_value() {
        Some(toml_edit::Value::Array(items)) => {
            items.iter().map(|value| value_of(&Item::Value(value.clone()))).collect()
        }
        Some(toml_edit::Value::String(text)) => text.value().as_str().into(),
        Some(toml_edit::Value::Integer(number)) => (*number.value()).into(),
        Some(toml_edit::Value::Float(number)) => (*number.value()).into(),
        Some(toml_edit::Value::Boolean(flag)) => (*flag.value()).into(),
        Some(other) => other.to_string().trim().into(),
        None => Value::Null,
    }
}

/// JSON as a TOML item: objects as tables.
fn item_of(value: &Value) -> Item {
    match value {
        Value::Object(members) => {
            let mut table = Table::new();
            for (name, value) in members {
                table.insert(name, item_of(value));
            }
            Item::Table(table)
        }
        Value::Array(items) => {
            let items = items.iter().filter_map(|value| item_of(value).into_value().ok());
            toml_edit::value(items.collect::<toml_edit::Array>())
        }
        Value::String(text) => toml_edit::value(text.as_str()),
        Value::Bool(flag) => toml_edit::value(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => toml_edit::value(integer),
            None => toml_edit::value(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::Null => Item::None,
    }
}

/// Hides the values of variables and headers in the lines of a file.
#[derive(Default)]
pub(super) struct Secrets {
    /// The indentation of the member whose values are hidden.
    inside: Option<usize>,
}

/// Members that hold secrets.
const SECRET: [&str; 5] = ["env", "environment", "headers", "http_headers", "bearer_token"];

impl Secrets {
    /// Returns a line as it may be shown.
    pub(super) fn hide(&mut self, line: &str) -> String {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let name = trimmed.trim_start_matches(['[', '"']);
        let is_secret = SECRET.iter().any(|secret| {
            name.strip_prefix(secret).is_some_and(|rest| rest.starts_with(['"', ' ', '=', ':']))
                || (trimmed.starts_with('[') && trimmed.trim_end().ends_with(&format!(".{secret}]")))
        });
        if let Some(outer) = self.inside {
            if indent > outer || (outer == 0 && !trimmed.starts_with('[') && !trimmed.is_empty()) {
                return match trimmed.find([':', '=']) {
                    Some(at) => format!("{}{} …", &line[..indent], &trimmed[..=at]),
                    None if trimmed.starts_with(['{', '[', '}', ']']) => line.to_owned(),
                    None => format!("{}…", &line[..indent]),
                };
            }
            self.inside = None;
        }
        if is_secret {
            self.inside = Some(indent);
            // In one line: `"env": { "KEY": "secret" }`.
            if let Some(at) = line.find('{')
                && line.trim_end_matches([',', ' ']).ends_with('}')
            {
                self.inside = None;
                return format!("{}{{ … }}", &line[..at]);
            }
            if let Some(at) = trimmed.find([':', '='])
                && !trimmed.starts_with('[')
            {
                let value = trimmed[at + 1..].trim_matches([' ', ',']);
                let is_closed = value.len() > 1 && value.ends_with(['}', ']']);
                if is_closed || !value.starts_with(['{', '[']) {
                    self.inside = None;
                }
                if !["", "{", "["].contains(&value) {
                    return format!("{}{} …", &line[..indent], &trimmed[..=at]);
                }
            }
        }
        line.to_owned()
    }
}
