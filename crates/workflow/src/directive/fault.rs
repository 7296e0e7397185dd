//! Faults of directives and documents, with their data.

use std::fmt;

use trommel_base::text::shown_name;
use trommel_route::{ErrorClass, WriteMode};

/// What is wrong with a directive or a document. [`Display`](fmt::Display) says it, and what to
/// write instead. Texts of the document are without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The document has more bytes than this.
    LongDocument(usize),
    /// The frontmatter names an unknown engine.
    UnknownEngine(String),
    /// The document has no step.
    NoStep,
    /// The frontmatter is not closed.
    OpenFrontmatter,
    /// A line of the frontmatter is not `key: value`.
    FrontmatterLine,
    /// A line has more characters than this.
    LongLine(usize),
    /// `@tools` has more bytes than this.
    LongTools(usize),
    /// A directive has no value.
    NoValue(String),
    /// A directive of other programs, and why it is not supported.
    Elsewhere {
        /// The directive.
        name: String,
        /// The reason.
        why: &'static str,
    },
    /// There is no such directive.
    UnknownDirective {
        /// The name.
        name: String,
        /// The directive that resembles it most.
        near: Option<&'static str>,
        /// All directives.
        known: &'static [&'static str],
    },
    /// An input has no scheme.
    NoScheme,
    /// A name is missing after this scheme.
    NoName(&'static str),
    /// A path has `**`.
    DoubleWildcard,
    /// `head` is not a number of characters.
    Head,
    /// The name of a model is not one word.
    ModelName,
    /// A destination, a path, a name, or a word of routing is not valid.
    Route {
        /// The class of the error.
        class: ErrorClass,
        /// The error, as routing reports it.
        why: String,
    },
    /// A text follows the parameters.
    AfterParameters,
    /// A text follows a quoted name.
    AfterQuotes,
    /// A parenthesis is not closed.
    OpenParenthesis,
    /// A parenthesis is closed that was not opened.
    ExtraParenthesis,
    /// Parameters cannot be read.
    Malformed,
    /// A parameter is outside of parentheses.
    OutsideParentheses,
    /// A parameter is given twice.
    Twice(String),
    /// A comma is missing before a parameter.
    NoComma,
    /// A parameter is written with `:` instead of `=`.
    Colon {
        /// The parameter.
        key: String,
        /// Its value.
        value: String,
    },
    /// The directive has no such parameter.
    UnknownParameter {
        /// The parameter.
        key: String,
        /// The parameter that may have been meant.
        near: Option<Near>,
        /// The directive.
        of: &'static str,
        /// Its parameters.
        known: &'static [&'static str],
    },
    /// A parameter has no value.
    NoParameterValue(String),
    /// A parameter is neither true nor false.
    NotBoolean(String),
    /// `@tools` names no tool.
    NoTool,
    /// The name of a tool begins with another character.
    ToolName(String),
    /// The parameters of a tool go over several lines.
    ToolLines,
    /// The parameters of a tool cannot be read.
    MalformedTool,
    /// The parenthesis of a tool is not closed.
    OpenTool,
    /// A line looks like a directive, and is read as text.
    Stray {
        /// The reason.
        why: &'static str,
        /// True if further lines are not checked.
        is_last: bool,
    },
    /// A step failed, or has a warning, as it reports it.
    Step(String),
}

/// A parameter that may have been meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Near {
    /// A parameter with a similar name.
    Key(&'static str),
    /// The parameter that takes this word.
    Mode(WriteMode),
}

impl Fault {
    /// The texts that come from the document.
    pub(super) fn texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::UnknownEngine(text)
            | Self::NoValue(text)
            | Self::Elsewhere { name: text, .. }
            | Self::UnknownDirective { name: text, .. }
            | Self::Route { why: text, .. }
            | Self::Twice(text)
            | Self::UnknownParameter { key: text, .. }
            | Self::NoParameterValue(text)
            | Self::NotBoolean(text)
            | Self::ToolName(text)
            | Self::Step(text) => vec![text],
            Self::Colon { key, value } => vec![key, value],
            _ => Vec::new(),
        }
    }

    /// The message of a fault that has no data.
    fn plain(&self) -> &'static str {
        match self {
            Self::NoStep => "the document has no step: begin one with a heading `## NAME`",
            Self::OpenFrontmatter => "the frontmatter is not closed: end it with a line `---`",
            Self::FrontmatterLine => "every frontmatter line must be `key: value`",
            Self::NoScheme => {
                "an input is file:PATH, variable:NAME, url:ADDRESS or query:QUERY, with its parameters after it in parentheses"
            }
            Self::DoubleWildcard => {
                "`**` is not supported: a pattern is about the files of one folder, such as notes/*.md"
            }
            Self::Head => "`head` is a number of characters, from 1 on",
            Self::ModelName => "a model's name is one word: @model NAME, or @model none for no model",
            Self::AfterParameters => {
                "only a remark (` # …`) may follow the parameters; if this is part of the name, put the whole name in quotes"
            }
            Self::AfterQuotes => {
                "only parameters in parentheses and a remark (` # …`) may follow a quoted name"
            }
            Self::OpenParenthesis => {
                "the parenthesis is not closed: end the parameters with `)` on the same line, or put a name that has \
                 parentheses in quotes"
            }
            Self::ExtraParenthesis => "unexpected `)`: put a name that has parentheses in quotes",
            Self::Malformed => {
                "these parameters cannot be read from here on: put a value that holds a comma or a quote in quotes, \
                 output=\"file:a, b.md\""
            }
            Self::OutsideParentheses => {
                "parameters go in parentheses at the end of the line: (output=variable:NAME, required)"
            }
            Self::NoComma => {
                "a comma is missing before this parameter: (output=variable:NAME, write-mode=replace)"
            }
            Self::NoTool => "a tool is missing: @tools NAME, NAME(output=variable:x), or all, or none",
            Self::ToolLines => "a tool and its parameters stand on one line: break the line between tools",
            Self::MalformedTool => {
                "these parameters cannot be read from here on: a value that holds a comma or a quote stands in quotes"
            }
            _ => "the parenthesis is not closed: the parameters of a tool end with `)`",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LongDocument(limit) => write!(f, "the document is longer than {limit} bytes"),
            Self::UnknownEngine(name) => {
                write!(f, "unknown workflow engine {}; the only one is `step`", shown_name(name))
            }
            Self::LongLine(limit) => write!(f, "the line is longer than {limit} characters"),
            Self::LongTools(limit) => write!(f, "@tools is longer than {limit} bytes"),
            Self::NoValue(name) => write!(f, "@{name} needs a value"),
            Self::Elsewhere { name, why } => {
                write!(f, "@{name} is not supported: {why}; remove this line")
            }
            Self::UnknownDirective { name, near, known } => {
                write!(f, "there is no directive @{}.", shown_name(name))?;
                if let Some(near) = near {
                    write!(f, " Did you mean @{near}?")?;
                }
                write!(
                    f,
                    " There are @{}; a text may begin with `@` when another line stands before it",
                    known.join(", @")
                )
            }
            Self::NoName(scheme) => write!(f, "a name is missing behind `{scheme}:`"),
            Self::Route { why, .. } | Self::Step(why) => f.write_str(why),
            Self::Twice(name) => write!(f, "`{name}` is given twice"),
            Self::Colon { key, value } => {
                write!(f, "a parameter is written with `=`: {}={}", shown_name(key), shown_name(value))
            }
            Self::UnknownParameter { key, near, of, known } => {
                write!(f, "unknown parameter `{}`. ", shown_name(key))?;
                match near {
                    Some(Near::Key(near)) => write!(f, "Did you mean `{near}`? ")?,
                    Some(Near::Mode(mode)) => write!(f, "Did you mean `write-mode={mode}`? ")?,
                    None => {}
                }
                let known = known.join(", ");
                write!(
                    f,
                    "{of} takes {known}; put a name that has parentheses, or a value that holds a comma, in quotes"
                )
            }
            Self::NoParameterValue(name) => write!(f, "a value is missing: {name}=…"),
            Self::NotBoolean(name) => write!(f, "`{name}` is true or false"),
            Self::ToolName(text) => {
                write!(f, "a tool's name cannot begin with `{}`", shown_name(text))
            }
            Self::Stray { why, is_last } => {
                let last = if *is_last { " (further lines are not checked)" } else { "" };
                write!(f, "this looks like a directive, but is read as text: {why}{last}")
            }
            plain => f.write_str(plain.plain()),
        }
    }
}
