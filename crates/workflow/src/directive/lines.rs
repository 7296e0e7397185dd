//! The directives of a step as data.

use std::ops::Range;

use trommel_route::{Pattern, Route, Scope, WriteMode};

use super::tools::Tools;

/// The directives of one step or section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Directives {
    /// The inputs, in the order of the lines.
    pub inputs: Vec<Input>,
    /// The tools of all `@tools` lines.
    pub tools: Tools,
    /// The targets of the model's answer.
    pub outputs: Vec<Output>,
    /// The model that answers; the last line applies.
    pub model: Option<Model>,
    /// The write mode of `@output`; the last line applies.
    pub write_mode: Option<WriteMode>,
    /// The header of files that `@output` writes; the last line applies.
    pub header: Option<Pattern>,
}

/// `@input`: an input of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Input {
    /// The content to read.
    pub source: Source,
    /// The target of the content; `None` adds it to the prompt.
    pub route: Option<Route>,
    /// The scope of the variable to read; `None` searches both scopes.
    pub scope: Option<Scope>,
    /// True if an empty or missing input is an error.
    pub required: bool,
    /// True if the prompt gets only the names, not the contents.
    pub refs_only: bool,
    /// The frontmatter properties to read instead of a file's content; an empty list selects all.
    pub properties: Option<Vec<String>>,
    /// The maximum number of characters to read from each file.
    pub head: Option<u64>,
    /// The byte range of the directive.
    pub span: Range<usize>,
}

/// The content that an `@input` reads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Files below the root. The last part of the path may contain `*`, `?`, and `[…]`.
    File(Pattern),
    /// A variable.
    Variable(Pattern),
    /// A document that the host fetches from an address.
    Url(String),
    /// The host's answer to a query.
    Query(String),
}

impl Source {
    /// Returns the word before the colon.
    pub const fn scheme(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Variable(_) => "variable",
            Self::Url(_) => "url",
            Self::Query(_) => "query",
        }
    }

    /// Returns the name after the colon.
    pub fn name(&self) -> &str {
        match self {
            Self::File(name) | Self::Variable(name) => name.as_str(),
            Self::Url(name) | Self::Query(name) => name,
        }
    }
}

/// `@output`: a target of the model's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// The target. An inline answer becomes part of the context that the document builds.
    pub route: Route,
    /// The byte range of the directive.
    pub span: Range<usize>,
}

/// `@model`: the model that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model {
    /// The name; `None` for `none`, which calls no model.
    pub name: Option<String>,
    /// The effort of reasoning, in the host's terms.
    pub thinking: Option<String>,
    /// The byte range of the directive.
    pub span: Range<usize>,
}
