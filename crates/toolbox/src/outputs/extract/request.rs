//! What a call asks to extract, and where its answer begins.

use std::collections::HashSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use trommel::path::Query;
use trommel_hints::Asked as Questioned;
use trommel_tool::Failure;

use super::document::Shape;
use crate::outputs::arguments::{Cursor, Id, MaxChars, Where};
use crate::outputs::cursor::Binding;
use crate::outputs::filters::Filters;
use crate::outputs::page::DEFAULT_CHARS;
use crate::outputs::shared::{Asked, Shared};

#[derive(Deserialize, JsonSchema)]
pub(super) struct Arguments {
    pub(super) id: Id,
    /// Array of JSONPath expressions to extract
    #[schemars(length(min = 1))]
    paths: Vec<String>,
    /// Whether to flatten results into a single array
    #[serde(default)]
    flatten: bool,
    /// Include the JSONPath expression with each result
    #[serde(default)]
    include_paths: bool,
    /// Default value for missing paths (null if not specified)
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Value")]
    default_value: Option<Value>,
    #[serde(default, rename = "where")]
    filters: Where,
    pub(super) cursor: Option<Cursor>,
    #[serde(default)]
    pub(super) max_chars: MaxChars<DEFAULT_CHARS>,
}

/// A value that was given, be it null.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// What is to be extracted.
pub(super) struct Request<'a> {
    pub(super) paths: Vec<Path<'a>>,
    pub(super) shape: Shape,
    /// The value of a path without a match, if one was given.
    pub(super) default: Option<String>,
    pub(super) filters: Filters<'a>,
}

/// One path.
pub(super) struct Path<'a> {
    pub(super) text: &'a str,
    pub(super) query: Arc<Query>,
    /// True if it is left out, since the same path is before it: an object has one member of a
    /// name.
    again: bool,
}

impl Path<'_> {
    pub(super) fn questioned(&self) -> Questioned<'_> {
        Questioned::new(self.text, &self.query)
    }
}

/// Where an answer begins: the number of a path, and how many of its values are skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) path: usize,
    pub(super) skip: u64,
}

impl<'a> Request<'a> {
    pub(super) fn new(shared: &Shared, asked: Asked<'_>, arguments: &'a Arguments) -> Result<Self, Failure> {
        let shape = Shape::new(arguments.flatten, arguments.include_paths);
        if arguments.paths.is_empty() {
            return Err(asked.doing.refuse("no_paths", "`paths` is empty; give at least one, such as $"));
        }
        let mut paths: Vec<Path<'a>> = Vec::with_capacity(arguments.paths.len());
        let mut known = HashSet::new();
        for text in &arguments.paths {
            let query = shared.query(asked.doing, "the path", text)?;
            let again = !known.insert(text.as_str()) && shape == Shape::ByPath;
            paths.push(Path { text, query, again });
        }
        let filters = Filters::new(shared, asked.doing, &arguments.filters.0)?;
        let default = arguments.default_value.as_ref().map(Value::to_string);
        Ok(Self { paths, shape, default, filters })
    }

    pub(super) fn binding(&self, binding: Binding) -> Binding {
        let shape = [self.shape.is_flat(), self.shape.has_paths()].map(u8::from);
        let binding = binding.and(shape).and(self.default.as_deref().unwrap_or(""));
        let binding = self.paths.iter().fold(binding, |binding, path| binding.and(path.text));
        binding.and(self.filters.key())
    }

    pub(super) fn start(&self, asked: Asked<'_>, binding: &Binding) -> Result<Start, Failure> {
        let Some(cursor) = asked.cursor else { return Ok(Start::default()) };
        let position = binding.position(cursor).map_err(|bad| asked.doing.cursor(bad))?;
        let (path, skip) = match *position.as_slice() {
            [path, skip] => (usize::try_from(path).unwrap_or(usize::MAX), skip),
            _ => (usize::MAX, 0),
        };
        // A cursor of this binding was made here.
        Ok(Start { path: path.min(self.paths.len()), skip })
    }

    /// The paths that are asked for from a start on, with their numbers.
    pub(super) fn asked_from(&self, start: Start) -> impl Iterator<Item = (usize, &Path<'a>)> {
        self.paths.iter().enumerate().skip(start.path).filter(|(_, path)| !path.again)
    }
}
