//! The types of columns, and their names.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::{DataType, Field as ArrowField, Fields};
use trommel::reader::Names;

/// The metadata that marks texts as JSON: the canonical extension type `arrow.json`.
const EXTENSION: (&str, &str) = ("ARROW:extension:name", "arrow.json");

/// The type of a column, an element, or a field. Every type has nulls.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ColumnType {
    /// Only nulls.
    Null,
    /// `true` and `false`.
    Boolean,
    /// Signed integers of 64 bits.
    Int64,
    /// Unsigned integers of 64 bits.
    UInt64,
    /// Integers of at most 38 digits.
    Decimal,
    /// Doubles. Rounded doubles accept every number in their range.
    Float64 {
        /// True if numbers are rounded.
        rounded: bool,
    },
    /// Numbers as text, as they are written.
    NumberText,
    /// Strings.
    Text,
    /// Values of any type as JSON.
    Json,
    /// Arrays.
    List(Box<ColumnType>),
    /// Objects.
    Struct(Vec<Field>),
}

/// A column, or the field of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The name of the member in the input, or of the column as it was requested.
    pub key: String,
    /// The name in the table, which is unique regardless of case.
    pub name: String,
    /// The type.
    pub column_type: ColumnType,
}

impl Eq for ColumnType {}

/// A column whose name was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Renamed {
    /// The name in the input.
    pub from: String,
    /// The name in the table.
    pub to: String,
}

/// Names fields uniquely, regardless of case, because readers of Parquet often ignore it. Empty
/// names become `unnamed`, and repeated ones get a number.
pub(crate) fn fields(
    typed: impl IntoIterator<Item = (String, ColumnType)>,
    renamed: &mut Vec<Renamed>,
) -> Vec<Field> {
    let typed = typed.into_iter().collect::<Vec<_>>();
    // A name that needs no change keeps it, wherever it is.
    let mut taken = HashSet::new();
    let mut numbers = HashMap::new();
    let mut free = typed.iter().map(|(key, _)| !key.is_empty() && taken.insert(key.to_lowercase()));
    let free = free.by_ref().collect::<Vec<_>>();
    let named = typed.into_iter().zip(free).map(|((key, column_type), is_free)| {
        let name = if is_free { key.clone() } else { unique(&key, &mut taken, &mut numbers) };
        if name != key {
            renamed.push(Renamed { from: key.clone(), to: name.clone() });
        }
        Field { key, name, column_type }
    });
    named.collect()
}

/// Returns a name that is not taken: the next number after the last one that this name got.
fn unique(key: &str, taken: &mut HashSet<String>, numbers: &mut HashMap<String, u64>) -> String {
    let stem = if key.is_empty() { "unnamed" } else { key };
    if key.is_empty() && taken.insert(stem.to_owned()) {
        return stem.to_owned();
    }
    let number = numbers.entry(stem.to_lowercase()).or_insert(1);
    loop {
        *number += 1;
        let name = format!("{stem}_{number}");
        if taken.insert(name.to_lowercase()) {
            return name;
        }
    }
}

/// The fields in Arrow's form.
pub(crate) fn arrow_fields(fields: &[Field]) -> Fields {
    fields.iter().map(|field| arrow_field(&field.name, &field.column_type)).collect()
}

fn arrow_field(name: &str, column_type: &ColumnType) -> ArrowField {
    let data_type = match column_type {
        ColumnType::Null => DataType::Null,
        ColumnType::Boolean => DataType::Boolean,
        ColumnType::Int64 => DataType::Int64,
        ColumnType::UInt64 => DataType::UInt64,
        ColumnType::Decimal => DataType::Decimal128(38, 0),
        ColumnType::Float64 { .. } => DataType::Float64,
        ColumnType::NumberText | ColumnType::Text | ColumnType::Json => DataType::Utf8,
        ColumnType::List(item) => DataType::List(Arc::new(arrow_field("item", item))),
        ColumnType::Struct(fields) => DataType::Struct(arrow_fields(fields)),
    };
    let field = ArrowField::new(name, data_type, true);
    if *column_type == ColumnType::Json {
        let (key, value) = EXTENSION;
        return field.with_metadata(HashMap::from([(key.to_owned(), value.to_owned())]));
    }
    field
}

impl ColumnType {
    /// The name of the type in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Int64 => "an integer of 64 bits",
            Self::UInt64 => "an unsigned integer of 64 bits",
            Self::Decimal => "an integer of at most 38 digits",
            Self::Float64 { rounded: false } => "a number that a double holds exactly",
            Self::Float64 { rounded: true } => "a number in the range of doubles",
            Self::NumberText => "a number",
            Self::Text => "a string",
            Self::Json => "a value",
            Self::List(_) => "an array",
            Self::Struct(_) => "an object",
        }
    }
}

/// A type, and the names by which the members of its objects are found.
#[derive(Debug)]
pub(crate) enum Layout {
    Scalar(ColumnType),
    List(Box<Layout>),
    Struct(Members),
}

/// The members of an object, in the order of the schema.
#[derive(Debug)]
pub(crate) struct Members {
    pub(crate) names: Names,
    pub(crate) fields: Vec<(String, Layout)>,
}

impl Members {
    pub(crate) fn of(fields: &[Field]) -> Self {
        let names = Names::new(fields.iter().map(|field| field.key.as_str()));
        let layouts = fields.iter().map(|field| (field.key.clone(), Layout::of(&field.column_type)));
        Self { names, fields: layouts.collect() }
    }
}

impl Layout {
    pub(crate) fn of(column_type: &ColumnType) -> Self {
        match column_type {
            ColumnType::List(item) => Self::List(Box::new(Self::of(item))),
            ColumnType::Struct(fields) => Self::Struct(Members::of(fields)),
            scalar => Self::Scalar(scalar.clone()),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Scalar(column_type) => column_type.name(),
            Self::List(_) => "an array",
            Self::Struct(_) => "an object",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_regardless_of_case() {
        let names = ["a", "A", "", "b", "a_2", "", "B", "unnamed"];
        let mut renamed = Vec::new();
        let typed = names.iter().map(|name| ((*name).to_owned(), ColumnType::Null));
        let fields = fields(typed, &mut renamed);
        let found: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(found, ["a", "A_3", "unnamed_2", "b", "a_2", "unnamed_3", "B_2", "unnamed"]);
        assert_eq!(renamed.len(), 4);
    }
}
