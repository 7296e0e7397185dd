//! Why a step fails.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;

use trommel_base::error::Kind;
use trommel_base::files;
use trommel_base::text::{grouped, shown_name};
use trommel_route::Error as RouteError;
use trommel_tool::{Failure, FailureKind, RegistryError};

trommel_base::error_type! {
    /// Why a step fails. One pointer wide.
    pub struct Error(ErrorKind);
}

/// The result of a part of a step.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// Why a step fails, with what it is about.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A file, a buffer, or a destination cannot be used.
    Route(RouteError),
    /// A tool, the model, or a fetcher of the host failed.
    Host(Failure),
    /// Two tools of the step have the same name.
    Registry(RegistryError),
    /// The run was cancelled.
    Cancelled,
    /// The step needs a model, and the host has set none.
    NoModel {
        /// The host's advice how to set one.
        hint: Option<String>,
    },
    /// The model's answer has no text.
    EmptyAnswer,
    /// The model still calls tools after the last round.
    NoAnswer {
        /// The rounds of tool calls.
        rounds: usize,
    },
    /// No tool has the name that the step uses.
    UnknownTool {
        /// The name.
        name: String,
        /// The names of tools that resemble it.
        near: Vec<String>,
        /// The names of all tools.
        known: Vec<String>,
    },
    /// The host has no fetcher for these inputs.
    NoFetcher {
        /// `url` or `query`.
        scheme: &'static str,
    },
    /// An input file does not exist.
    NoFile(Missing),
    /// An input variable does not exist.
    NoVariable(Missing),
    /// A required input is empty.
    Empty {
        /// `file`, `variable`, `url` or `query`.
        scheme: &'static str,
        /// The name of the input.
        name: String,
    },
    /// An input that the host fetches has no properties.
    NoProperties,
    /// The frontmatter of an input is longer than this many bytes, or is not closed.
    LongFrontmatter(u64),
    /// The inputs of the step have more characters than a prompt may take.
    LongPrompt {
        /// The characters that a prompt may take from inputs.
        limit: u64,
    },
}

/// An input that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missing {
    /// The path or the name of the input.
    pub name: String,
    /// What does not exist, as a clause: `there is no file`.
    pub(crate) what: &'static str,
    /// The consequence, as a clause that follows the name.
    pub(crate) so: &'static str,
    /// The name that resembles it most.
    pub near: Option<String>,
    /// The advice where no name resembles it.
    pub(crate) help: Option<String>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, what, so, .. } = self;
        write!(f, "{what} `{}`{so}", shown_name(name))
    }
}

impl Missing {
    fn help(&self) -> Option<Cow<'_, str>> {
        match &self.near {
            Some(near) => Some(format!("did you mean `{}`?", shown_name(near)).into()),
            None => self.help.as_deref().map(Cow::from),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Route(error) => write!(f, "{}", error.kind()),
            Self::Host(failure) => write!(f, "{failure}"),
            Self::Registry(error) => write!(f, "{error}"),
            Self::Cancelled => f.write_str("Tool was cancelled"),
            Self::NoModel { .. } => f.write_str("this step needs a model, and none is set up"),
            Self::EmptyAnswer => f.write_str("the model's answer is empty"),
            Self::NoAnswer { rounds } => write!(
                f,
                "the model still calls tools after {rounds} rounds of tool calls, and does not answer"
            ),
            Self::UnknownTool { name, .. } => write!(f, "there is no tool `{}`", shown_name(name)),
            Self::NoFetcher { scheme } => write!(f, "nothing here fetches `{scheme}:` inputs"),
            Self::NoFile(missing) | Self::NoVariable(missing) => missing.fmt(f),
            Self::Empty { scheme: "query", name } => {
                write!(f, "the query `{}` selects nothing, and it is required", shown_name(name))
            }
            Self::Empty { scheme, name } => {
                write!(f, "`{scheme}:{}` is empty, and it is required", shown_name(name))
            }
            Self::NoProperties => f.write_str("`properties` are those of a file or a variable"),
            Self::LongFrontmatter(limit) => {
                write!(f, "the frontmatter has more than {} bytes, or is not closed", grouped(*limit))
            }
            Self::LongPrompt { limit } => {
                write!(f, "the inputs have more than {} characters, too many for a prompt", grouped(*limit))
            }
        }
    }
}

impl Kind for ErrorKind {
    fn code(&self) -> &'static str {
        match self {
            Self::Route(error) => error.code(),
            Self::Host(_) | Self::Registry(_) => "failed",
            Self::Cancelled => "cancelled",
            Self::NoModel { .. } => "no_model",
            Self::EmptyAnswer | Self::NoAnswer { .. } => "no_answer",
            Self::UnknownTool { .. } => "unknown_tool",
            Self::NoFetcher { .. } | Self::NoProperties => "unsupported",
            Self::NoFile(_) | Self::NoVariable(_) | Self::Empty { .. } => "not_found",
            Self::LongFrontmatter(_) | Self::LongPrompt { .. } => "range",
        }
    }

    fn help(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Route(error) => error.help(),
            Self::Host(_) | Self::Registry(_) | Self::Cancelled | Self::Empty { .. } => None,
            Self::NoModel { hint } => {
                let hint = hint.as_deref().unwrap_or("set one up");
                Some(format!("{hint}, or write `@model none`").into())
            }
            Self::EmptyAnswer => Some("try again, or change the prompt".into()),
            Self::NoAnswer { .. } => Some("ask for less in one step".into()),
            Self::UnknownTool { near, known, .. } if near.is_empty() => {
                Some(format!("use one of {}", known.join(", ")).into())
            }
            Self::UnknownTool { near, .. } => Some(format!("did you mean {}?", near.join(" or ")).into()),
            Self::NoFetcher { .. } => Some("read a file or a variable instead".into()),
            Self::NoFile(missing) | Self::NoVariable(missing) => missing.help(),
            Self::NoProperties => Some("leave it out".into()),
            Self::LongFrontmatter(_) => Some("close it with a line `---`".into()),
            Self::LongPrompt { .. } => Some(
                "route them with (output=variable:NAME), or take only the first ones with (head=N)".into(),
            ),
        }
    }

    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Route(error) => Some(error),
            Self::Registry(error) => Some(error),
            _ => None,
        }
    }
}

impl Error {
    /// True if the work stopped because it was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        match self.kind() {
            ErrorKind::Cancelled => true,
            ErrorKind::Host(failure) => failure.kind == FailureKind::Cancelled,
            ErrorKind::Route(error) => matches!(error.kind(), trommel_route::ErrorKind::Cancelled),
            _ => false,
        }
    }

    /// The whole message. What the host and the destinations report is passed on verbatim.
    pub(crate) fn message(&self) -> String {
        match self.kind() {
            ErrorKind::Host(failure) => failure.message.clone(),
            ErrorKind::Route(error) => error.to_string(),
            _ => self.to_string(),
        }
    }
}

impl From<RouteError> for Error {
    fn from(error: RouteError) -> Self {
        ErrorKind::Route(error).into()
    }
}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        RouteError::from(error).into()
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        ErrorKind::Host(failure).into()
    }
}

impl From<RegistryError> for Error {
    fn from(error: RegistryError) -> Self {
        ErrorKind::Registry(error).into()
    }
}

/// The error inside, where one of ours or of the host went through [`io::Write`].
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        let error = match error.downcast::<Self>() {
            Ok(own) => return own,
            Err(error) => error,
        };
        let error = match error.downcast::<RouteError>() {
            Ok(route) => return route.into(),
            Err(error) => error,
        };
        match error.downcast::<Failure>() {
            Ok(failure) => failure.into(),
            Err(error) => Failure::raised(&error).into(),
        }
    }
}

/// For writers: the error is inside.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::other(error)
    }
}
