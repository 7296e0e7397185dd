//! Directives: the lines at the top of a step that say what it reads, which tools it has, and where contents go.
//!
//! ```text
//! @input file: notes/* (output=variable:notes, write-mode=replace)
//! @tools web_search(output=variable:found), buffer_ops
//! @model none
//! @output file: reports/{today}
//! @write-mode new
//! @header Report
//! ```
//!
//! A line is `@`, a name, perhaps a colon, a space, and a value. They stand at the top, blank lines between them; the first other
//! line ends them. A value may be quoted with `'` or `"`, or written `[[…]]`. Parentheses at the end of the line are
//! parameters; unknown keys in them are an error. A number in them is part of the name, so that `note (1)` needs no quotes; any
//! other name that ends in parentheses does. A remark, ` # …`, may follow parameters and quotes. Keys are compared without case,
//! and `write-mode` is `write_mode`.

mod block;
mod error;
mod parameters;
mod piece;
pub(crate) mod stray;
mod tools;
mod value;
mod write;

use std::ops::Range;

use crate::mode::{Scope, WriteMode};
use crate::pattern::Pattern;
use crate::target::Route;

pub use error::DirectiveError;
pub use tools::{Asked, ToolUse, Tools};

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

impl Directives {
    /// Reads the directives at the top of a text, and gives the text below them. An error points at the place.
    ///
    /// Takes time in proportion to the text, and at most to the square of a line's length where it is full of parentheses;
    /// a line has at most 4,096 characters.
    pub fn parse(text: &str) -> Result<(Self, &str), DirectiveError> {
        let (directives, body) = Self::parse_within(text, 0..text.len())?;
        Ok((directives, text.get(body..).unwrap_or_default()))
    }

    /// The same for a part of a text, whose places errors tell; where the text below begins.
    pub(crate) fn parse_within(whole: &str, part: Range<usize>) -> Result<(Self, usize), DirectiveError> {
        block::parse(whole, part)
    }
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
    /// Which properties of a file's frontmatter are read instead of its content; none of them for all.
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

#[cfg(test)]
mod tests;
