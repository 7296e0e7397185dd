//! Faults of directives and documents, with their data.

use std::fmt;

use trommel_base::text::display_name;
use trommel_route::{ErrorClass, WriteMode};

/// A fault of a directive or a document. [`Display`](fmt::Display) writes the fact and the remedy.
/// Texts from the document have their secrets redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The document exceeds this number of bytes.
    LongDocument(usize),
    /// The frontmatter names an unknown engine.
    UnknownEngine(String),
    /// The document has no step.
    NoStep,
    /// The frontmatter is not closed.
    OpenFrontmatter,
    /// A line of the frontmatter is not `key: value`.
    FrontmatterLine,
    /// A line exceeds this number of characters.
    LongLine(usize),
    /// `@tools` exceeds this number of bytes.
    LongTools(usize),
    /// A directive has no value.
    NoValue(String),
    /// A directive that other programs support and trommel does not.
    Unsupported {
        /// The directive.
        name: String,
        /// The reason.
        why: &'static str,
    },
    /// The directive does not exist.
    UnknownDirective {
        /// The name.
        name: String,
        /// The most similar directive.
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
    /// Text follows the parameters.
    AfterParameters,
    /// Text follows a quoted name.
    AfterQuotes,
    /// A parenthesis is not closed.
    OpenParenthesis,
    /// A parenthesis is closed without being opened.
    ExtraParenthesis,
    /// The parameters are malformed.
    Malformed,
    /// A parameter is outside the parentheses.
    OutsideParentheses,
    /// A parameter occurs twice.
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
    /// The directive does not have this parameter.
    UnknownParameter {
        /// The parameter.
        key: String,
        /// The parameter that the author may have meant.
        near: Option<ParameterHint>,
        /// The directive.
        directive: &'static str,
        /// Its parameters.
        known: &'static [&'static str],
    },
    /// A parameter has no value.
    NoParameterValue(String),
    /// A parameter is neither true nor false.
    NotBoolean(String),
    /// `@tools` names no tool.
    NoTool,
    /// A character cannot begin the name of a tool.
    ToolName(String),
    /// The parameters of a tool span several lines.
    ToolLines,
    /// The parameters of a tool are malformed.
    MalformedTool,
    /// The parenthesis of a tool is not closed.
    OpenTool,
    /// A line looks like a directive but is read as text.
    Stray {
        /// The reason.
        why: &'static str,
        /// True if further lines are not checked.
        is_last: bool,
    },
    /// A failed step or a warning, as the step reports it.
    Step(String),
}

/// A parameter that the author may have meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterHint {
    /// A parameter with a similar name.
    Key(&'static str),
    /// The parameter that takes this word as its value.
    Mode(WriteMode),
}

impl Fault {
    /// Returns the texts that come from the document.
    pub(super) fn texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::UnknownEngine(text)
            | Self::NoValue(text)
            | Self::Unsupported { name: text, .. }
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

    /// Returns the message of a fault without data.
    fn plain(&self) -> &'static str {
        match self {
            Self::NoStep => "the document has no step: begin one with a heading `## NAME`",
            Self::OpenFrontmatter => "the frontmatter is not closed: end it with a line `---`",
            Self::FrontmatterLine => "every frontmatter line must be `key: value`",
            Self::NoScheme => {
                "an input is file:PATH, variable:NAME, url:ADDRESS, or query:QUERY, followed by its parameters in parentheses"
            }
            Self::DoubleWildcard => {
                "`**` is not supported: a pattern matches the files of one folder, such as notes/*.md"
            }
            Self::Head => "`head` must be a number of characters, at least 1",
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
                "malformed parameters: put a value that contains a comma or a quote in quotes, \
                 output=\"file:a, b.md\""
            }
            Self::OutsideParentheses => {
                "parameters go in parentheses at the end of the line: (output=variable:NAME, required)"
            }
            Self::NoComma => {
                "a comma is missing before this parameter: (output=variable:NAME, write-mode=replace)"
            }
            Self::NoTool => "a tool is missing: @tools NAME, NAME(output=variable:x), or all, or none",
            Self::ToolLines => "a tool and its parameters must be on one line: break lines between tools",
            Self::MalformedTool => {
                "malformed parameters: put a value that contains a comma or a quote in quotes"
            }
            _ => "the parenthesis is not closed: end the parameters of a tool with `)`",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LongDocument(limit) => write!(f, "the document is longer than {limit} bytes"),
            Self::UnknownEngine(name) => {
                write!(f, "unknown workflow engine {}; the only one is `step`", display_name(name))
            }
            Self::LongLine(limit) => write!(f, "the line is longer than {limit} characters"),
            Self::LongTools(limit) => write!(f, "@tools is longer than {limit} bytes"),
            Self::NoValue(name) => write!(f, "@{name} needs a value"),
            Self::Unsupported { name, why } => {
                write!(f, "@{name} is not supported: {why}; remove this line")
            }
            Self::UnknownDirective { name, near, known } => {
                write!(f, "unknown directive @{}.", display_name(name))?;
                if let Some(near) = near {
                    write!(f, " Did you mean @{near}?")?;
                }
                write!(
                    f,
                    " The directives are @{}; to start the text with `@`, put another line before it",
                    known.join(", @")
                )
            }
            Self::NoName(scheme) => write!(f, "a name is missing after `{scheme}:`"),
            Self::Route { why, .. } | Self::Step(why) => f.write_str(why),
            Self::Twice(name) => write!(f, "`{name}` occurs twice"),
            Self::Colon { key, value } => {
                write!(f, "write a parameter with `=`: {}={}", display_name(key), display_name(value))
            }
            Self::UnknownParameter { key, near, directive, known } => {
                write!(f, "unknown parameter `{}`. ", display_name(key))?;
                match near {
                    Some(ParameterHint::Key(near)) => write!(f, "Did you mean `{near}`? ")?,
                    Some(ParameterHint::Mode(mode)) => write!(f, "Did you mean `write-mode={mode}`? ")?,
                    None => {}
                }
                let known = known.join(", ");
                write!(
                    f,
                    "{directive} takes {known}; put a name that has parentheses, or a value that contains a comma, in quotes"
                )
            }
            Self::NoParameterValue(name) => write!(f, "a value is missing: {name}=…"),
            Self::NotBoolean(name) => write!(f, "`{name}` must be true or false"),
            Self::ToolName(text) => {
                write!(f, "a tool's name cannot begin with `{}`", display_name(text))
            }
            Self::Stray { why, is_last } => {
                let last = if *is_last { " (further lines are not checked)" } else { "" };
                write!(f, "this looks like a directive, but is read as text: {why}{last}")
            }
            plain => f.write_str(plain.plain()),
        }
    }
}
