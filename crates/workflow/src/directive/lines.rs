//! The directives of a step as data.

use std::ops::Range;

use trommel_route::{Pattern, Route, Scope, WriteMode};

use super::tools::Tools;

/// The directives of one step or section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Directives {
    /// What is read, in the order of the lines.
    pub inputs: Vec<Input>,
    /// The tools of all `@tools` lines together.
    pub tools: Tools,
    /// Where the model's answer goes.
    pub outputs: Vec<Output>,
    /// Which model answers; the last one counts.
    pub model: Option<Model>,
    /// How `@output` writes; the last one counts.
    pub write_mode: Option<WriteMode>,
    /// What stands above what `@output` writes to files; the last one counts.
    pub header: Option<Pattern>,
}

/// `@input`: what is read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Input {
    /// What is read.
    pub source: Source,
    /// Where it goes; into the prompt unless it is said.
    pub route: Option<Route>,
    /// How long the variable lives that is read; it is looked for in both scopes unless it is said.
    pub scope: Option<Scope>,
    /// Whether it is an error that there is nothing to read.
    pub required: bool,
    /// Whether names are told and no content.
    pub refs_only: bool,
    /// Which properties of a file's frontmatter are read instead of its content; none of them for
    /// all.
    pub properties: Option<Vec<String>>,
    /// How many characters of each are read.
    pub head: Option<u64>,
    /// The bytes of the text that say so.
    pub span: Range<usize>,
}

/// What an `@input` reads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Files below the root; the last part of the path may hold `*`, `?` and `[…]`.
    File(Pattern),
    /// A variable.
    Variable(Pattern),
    /// What the host fetches from an address.
    Url(String),
    /// What the host answers to a query.
    Query(String),
}

impl Source {
    /// The word before the colon.
    pub const fn scheme(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Variable(_) => "variable",
            Self::Url(_) => "url",
            Self::Query(_) => "query",
        }
    }

    /// What stands behind it.
    pub fn name(&self) -> &str {
        match self {
            Self::File(name) | Self::Variable(name) => name.as_str(),
            Self::Url(name) | Self::Query(name) => name,
        }
    }
}

/// `@output`: where the model's answer goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output {
    /// Where it goes. What goes inline belongs to the context that a document makes.
    pub route: Route,
    /// The bytes of the text that say so.
    pub span: Range<usize>,
}

/// `@model`: which model answers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model {
    /// Its name; nothing for `none`, where no model is asked.
    pub name: Option<String>,
    /// How much it is to think, in the host's words.
    pub thinking: Option<String>,
    /// The bytes of the text that say so.
    pub span: Range<usize>,
}
