//! Column types from a JSON Schema, as `trommel schema` prints it.

use serde_json::Value;

use crate::error::{Error, SchemaError};
use crate::types::{ColumnType, Field, Renamed, fields};

/// The schema of a table: the columns and their types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSchema {
    pub(crate) columns: Vec<(String, ColumnType)>,
    /// True if rows are not objects: the only column is the row itself.
    pub(crate) is_bare: bool,
}

impl TableSchema {
    /// The schema of columns.
    pub(crate) fn of(columns: &[Field], is_bare: bool) -> Self {
        let columns = columns.iter().map(|field| (field.key.clone(), field.column_type.clone()));
        Self { columns: columns.collect(), is_bare }
    }

    /// Reads a JSON Schema of objects: each property is a column. `type`, `properties`, and `items`
    /// decide its type; integers have 64 bits, and values of several types are JSON.
    ///
    /// ```
    /// use trommel_table::TableSchema;
    ///
    /// let schema = r#"{"type":"object","properties":{"id":{"type":"integer"}}}"#;
    /// assert!(TableSchema::from_json_schema(schema).is_ok());
    /// assert!(TableSchema::from_json_schema("{}").is_err());
    /// ```
    ///
    /// # Errors
    /// If the text is not JSON, or describes no objects with properties.
    pub fn from_json_schema(text: &str) -> Result<Self, Error> {
        let none = || Error::Schema(SchemaError::NoProperties);
        let schema: Value = serde_json::from_str(text)
            .map_err(|cause| Error::Schema(SchemaError::NotJson(cause.to_string())))?;
        let properties = schema.get("properties").and_then(Value::as_object).filter(|all| !all.is_empty());
        let columns = properties.ok_or_else(none)?.iter();
        let columns = columns.map(|(name, schema)| (name.clone(), column_type(schema))).collect();
        Ok(Self { columns, is_bare: false })
    }
}

/// Maximum nesting of a schema. Deeper values are JSON.
const MAX_DEPTH: u32 = 64;

fn column_type(schema: &Value) -> ColumnType {
    within(schema, MAX_DEPTH)
}

fn within(schema: &Value, depth: u32) -> ColumnType {
    let Some(depth) = depth.checked_sub(1) else { return ColumnType::Json };
    let names = match schema.get("type") {
        Some(Value::String(name)) => vec![name.as_str()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => return ColumnType::Json,
    };
    let mut kinds = names.iter().filter(|name| **name != "null");
    match (kinds.next(), kinds.next()) {
        (None, _) => ColumnType::Null,
        (Some(&"boolean"), None) => ColumnType::Boolean,
        (Some(&"integer"), None) => ColumnType::Int64,
        (Some(&"number"), None) => ColumnType::Float64 { rounded: false },
        (Some(&"string"), None) => ColumnType::Text,
        (Some(&"array"), None) => {
            let item = schema.get("items").map_or(ColumnType::Json, |items| within(items, depth));
            ColumnType::List(Box::new(item))
        }
        (Some(&"object"), None) => object(schema, depth),
        _ => ColumnType::Json,
    }
}

fn object(schema: &Value, depth: u32) -> ColumnType {
    match schema.get("properties").and_then(Value::as_object) {
        Some(properties) if !properties.is_empty() => {
            let typed = properties.iter().map(|(name, schema)| (name.clone(), within(schema, depth)));
            let mut renamed: Vec<Renamed> = Vec::new();
            ColumnType::Struct(fields(typed, &mut renamed))
        }
        _ => ColumnType::Json,
    }
}
