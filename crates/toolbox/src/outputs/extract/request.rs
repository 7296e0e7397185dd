//! The arguments of `tool_outputs.extract`, and the start of its answer.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use trommel::path::Query;
use trommel_base::text::excerpt;
use trommel_hints::UnmatchedQuery as HintQuery;
use trommel_tool::Failure;

use super::document::Shape;
use crate::outputs::arguments::{Cursor, Each, Id, MaxChars, Where};
use crate::outputs::cursor::Binding;
use crate::outputs::failures::Action;
use crate::outputs::filters::Filters;
use crate::outputs::groups::NamedPath;
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
    /// Return an object for each record, {NAME: value}; a path may be named: NAME=$.path
    #[serde(default)]
    rows: bool,
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

fn two_paths(name: &str) -> String {
    format!("two paths have the name `{}`; name one, as in NAME=$.path", excerpt(name, 80))
}

/// A validated request.
pub(super) struct Request<'a> {
    pub(super) paths: Vec<Path<'a>>,
    pub(super) shape: Shape,
    /// The JSON text of `default_value`, if it was given.
    pub(super) default: Option<String>,
    pub(super) filters: Filters<'a>,
    /// The names of the columns, if the answer consists of rows.
    pub(super) rows: Option<Vec<String>>,
}

/// A path of the request.
pub(super) struct Path<'a> {
    pub(super) text: &'a str,
    /// The path in the answer: its name, if it has one, or the text.
    pub(super) label: &'a str,
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
        let mut known = HashMap::new();
        let action = subject.action;
        if arguments.rows && shape != Shape::ByPath {
            let why = "`rows` returns objects; leave out `flatten` and `include_paths`";
            return Err(action.refuse("shape", why));
        }
        for text in &arguments.paths {
            let NamedPath { name, path: text } = NamedPath::parse(text);
            let query = shared.query(action, "the path", text)?;
            let label = name.unwrap_or(text);
            // A path may occur twice; a name must not stand for two paths.
            if let Some(first) = known.insert(label, text)
                && first != text
            {
                return Err(action.refuse("duplicate_name", two_paths(label)));
            }
            let again = paths.iter().any(|path| path.label == label) && shape == Shape::ByPath;
            paths.push(Path { text, label, query, again });
        }
        let rows = arguments.rows.then(|| Self::columns(action, &paths)).transpose()?;
        let filters = Filters::new(shared, subject.action, &arguments.filters, arguments.each.as_ref())?;
        let default = arguments.default_value.as_ref().map(Value::to_string);
        Ok(Self { paths, shape, default, filters, rows })
    }

    /// Returns the names of the columns. Without a name, a column has the last name of its path, or
    /// the path itself.
    fn columns(action: Action<'_>, paths: &[Path<'_>]) -> Result<Vec<String>, Failure> {
        let mut known = HashSet::new();
        let column = |path: &Path<'_>| {
            let is_named = path.label != path.text;
            let name = if is_named { path.label } else { path.query.last_name().unwrap_or(path.text) };
            let is_new = known.insert(name.to_owned());
            if is_new { Ok(name.to_owned()) } else { Err(action.refuse("duplicate_name", two_paths(name))) }
        };
        paths.iter().map(column).collect()
    }

    pub(super) fn binding(&self, binding: Binding) -> Binding {
        let shape = [self.shape.is_flat(), self.shape.has_paths(), self.rows.is_some()].map(u8::from);
        let binding = binding.and(shape).and(self.default.as_deref().unwrap_or(""));
        let binding = self.paths.iter().fold(binding, |binding, path| binding.and(path.text).and(path.label));
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
