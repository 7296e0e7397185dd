//! The arguments of `tool_outputs.extract`, and the start of its answer.

use std::collections::HashSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use trommel::path::Query;
use trommel_hints::UnmatchedQuery as HintQuery;
use trommel_tool::Failure;

use super::document::Shape;
use crate::outputs::arguments::{Cursor, Each, Id, MaxChars, Where};
use crate::outputs::cursor::Binding;
use crate::outputs::filters::Filters;
use crate::outputs::page::DEFAULT_CHARS;
use crate::outputs::shared::{CallSubject, Shared};

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
    each: Option<Each>,
    #[serde(default, rename = "where")]
    filters: Where,
    pub(super) cursor: Option<Cursor>,
    #[serde(default)]
    pub(super) max_chars: MaxChars<DEFAULT_CHARS>,
}

/// Deserializes an argument that is present. Null is a value, while an absent argument is `None`.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A validated request.
pub(super) struct Request<'a> {
    pub(super) paths: Vec<Path<'a>>,
    pub(super) shape: Shape,
    /// The JSON text of `default_value`, if it was given.
    pub(super) default: Option<String>,
    pub(super) filters: Filters<'a>,
}

/// A path of the request.
pub(super) struct Path<'a> {
    pub(super) text: &'a str,
    pub(super) query: Arc<Query>,
    /// True if an earlier path is the same, so that this one is omitted. Members of an object need
    /// unique names.
    again: bool,
}

impl Path<'_> {
    pub(super) fn hint_query(&self) -> HintQuery<'_> {
        HintQuery::new(self.text, &self.query)
    }
}

/// The start of an answer: the index of a path, and the number of its values to skip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) path: usize,
    pub(super) skip: u64,
}

impl<'a> Request<'a> {
    pub(super) fn new(
        shared: &Shared,
        subject: CallSubject<'_>,
        arguments: &'a Arguments,
    ) -> Result<Self, Failure> {
        let shape = Shape::new(arguments.flatten, arguments.include_paths);
        if arguments.paths.is_empty() {
            return Err(subject.action.refuse("no_paths", "`paths` is empty; give at least one, such as $"));
        }
        let mut paths: Vec<Path<'a>> = Vec::with_capacity(arguments.paths.len());
        let mut known = HashSet::new();
        for text in &arguments.paths {
            let query = shared.query(subject.action, "the path", text)?;
            let again = !known.insert(text.as_str()) && shape == Shape::ByPath;
            paths.push(Path { text, query, again });
        }
        let filters = Filters::new(shared, subject.action, &arguments.filters, arguments.each.as_ref())?;
        let default = arguments.default_value.as_ref().map(Value::to_string);
        Ok(Self { paths, shape, default, filters })
    }

    pub(super) fn binding(&self, binding: Binding) -> Binding {
        let shape = [self.shape.is_flat(), self.shape.has_paths()].map(u8::from);
        let binding = binding.and(shape).and(self.default.as_deref().unwrap_or(""));
        let binding = self.paths.iter().fold(binding, |binding, path| binding.and(path.text));
        binding.and(self.filters.key())
    }

    pub(super) fn start(&self, subject: CallSubject<'_>, binding: &Binding) -> Result<Start, Failure> {
        let Some(cursor) = subject.cursor else { return Ok(Start::default()) };
        let position = binding.position(cursor).map_err(|bad| subject.action.cursor(bad))?;
        let (path, skip) = match *position.as_slice() {
            [path, skip] => (usize::try_from(path).unwrap_or(usize::MAX), skip),
            _ => (usize::MAX, 0),
        };
        // The binding has verified that this tool created the cursor. The bounds are for a hash
        // collision.
        Ok(Start { path: path.min(self.paths.len()), skip })
    }

    /// Returns the paths from a start on, with their indices.
    pub(super) fn paths_from(&self, start: Start) -> impl Iterator<Item = (usize, &Path<'a>)> {
        self.paths.iter().enumerate().skip(start.path).filter(|(_, path)| !path.again)
    }
}
