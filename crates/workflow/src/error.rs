//! The errors of steps.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;

use trommel_base::error::Kind;
use trommel_base::files;
use trommel_base::text::{display_name, grouped};
use trommel_route::Error as RouteError;
use trommel_tool::{Failure, FailureKind, RegistryError};

trommel_base::error_type! {
    /// The error of a step. One pointer wide.
    pub struct Error(ErrorKind);
}

/// The result of a part of a step.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// The kind of an error, with its data.
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
    /// The step needs a model, but the host configured none.
    NoModel {
        /// The host's advice for configuring one.
        hint: Option<String>,
    },
    /// The model's answer has no text.
    EmptyAnswer,
    /// The model keeps calling tools after the last round.
    NoAnswer {
        /// The number of rounds of tool calls.
        rounds: usize,
    },
    /// A tool that the step names does not exist.
    UnknownTool {
        /// The name.
        name: String,
        /// Tools with similar names.
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
        /// `file`, `variable`, `url`, or `query`.
        scheme: &'static str,
        /// The name of the input.
        name: String,
    },
    /// An input that the host fetches has no properties.
    NoProperties,
    /// The frontmatter of an input exceeds this number of bytes, or is not closed.
    LongFrontmatter(u64),
    /// The inputs of the step exceed the maximum length of a prompt.
    LongPrompt {
        /// The maximum number of characters from inputs.
        limit: u64,
    },
}

/// An input that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Missing {
    /// The path or the name of the input.
    pub name: String,
    /// The missing input, as a clause: `there is no file`.
    pub(crate) what: &'static str,
    /// The consequence, as a clause that follows the name.
    pub(crate) consequence: &'static str,
    /// The most similar name.
    pub near: Option<String>,
    /// The advice if no name is similar.
    pub(crate) help: Option<String>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, what, consequence, .. } = self;
        write!(f, "{what} `{}`{consequence}", display_name(name))
    }
}

impl Missing {
    fn help(&self) -> Option<Cow<'_, str>> {
        match &self.near {
            Some(near) => Some(format!("did you mean `{}`?", display_name(near)).into()),
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
            Self::NoModel { .. } => f.write_str("the step needs a model, but none is configured"),
            Self::EmptyAnswer => f.write_str("the model's answer is empty"),
            Self::NoAnswer { rounds } => write!(
                f,
                "the model still calls tools after {rounds} rounds of tool calls, without an answer"
            ),
            Self::UnknownTool { name, .. } => write!(f, "unknown tool `{}`", display_name(name)),
            Self::NoFetcher { scheme } => write!(f, "the host does not fetch `{scheme}:` inputs"),
            Self::NoFile(missing) | Self::NoVariable(missing) => missing.fmt(f),
            Self::Empty { scheme: "query", name } => {
                write!(f, "the query `{}` is required, but selects nothing", display_name(name))
            }
            Self::Empty { scheme, name } => {
                write!(f, "`{scheme}:{}` is required, but empty", display_name(name))
            }
            Self::NoProperties => f.write_str("`properties` needs a file or a variable"),
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
                let hint = hint.as_deref().unwrap_or("configure one");
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
            Self::NoProperties => Some("remove it".into()),
            Self::LongFrontmatter(_) => Some("close it with a line `---`".into()),
            Self::LongPrompt { .. } => {
                Some("route them with (output=variable:NAME), or shorten them with (head=N)".into())
            }
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

    /// Returns the whole message. Messages of the host and of targets stay verbatim.
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

/// Unwraps an error of this crate or of the host that passed through [`io::Write`].
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

/// Wraps the error for callers that use [`io::Write`].
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::other(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(near: Option<&str>) -> Missing {
        let (near, help) = (near.map(str::to_owned), Some("list the files".to_owned()));
        Missing { name: "notes.md".into(), what: "there is no file", consequence: "", near, help }
    }

    fn kinds() -> Vec<ErrorKind> {
        let unknown = |near: &[&str]| ErrorKind::UnknownTool {
            name: "web".into(),
            near: near.iter().map(|name| (*name).to_owned()).collect(),
            known: vec!["web_search".into(), "web_fetch".into()],
        };
        vec![
            ErrorKind::Route(trommel_route::ErrorKind::NoRoot.into()),
            ErrorKind::Host(Failure::refused("the host refuses")),
            ErrorKind::Cancelled,
            ErrorKind::NoModel { hint: None },
            ErrorKind::NoModel { hint: Some("set $MODEL".into()) },
            ErrorKind::EmptyAnswer,
            ErrorKind::NoAnswer { rounds: 8 },
            unknown(&[]),
            unknown(&["web_search"]),
            ErrorKind::NoFetcher { scheme: "url" },
            ErrorKind::NoFile(missing(None)),
            ErrorKind::NoVariable(missing(Some("note.md"))),
            ErrorKind::Empty { scheme: "query", name: "$.a".into() },
            ErrorKind::Empty { scheme: "file", name: "notes.md".into() },
            ErrorKind::NoProperties,
            ErrorKind::LongFrontmatter(65_536),
            ErrorKind::LongPrompt { limit: 100_000 },
        ]
    }

    /// R45: no kind is without a message, and messages change only on purpose.
    #[test]
    fn r45_every_kind_has_its_message() {
        let lines = kinds().into_iter().map(|kind| {
            let error = Error::from(kind);
            format!("{}: {error}\n", error.code())
        });
        trommel_testkit::golden::assert_golden("tests/golden/errors.txt", &lines.collect::<String>());
    }

    #[test]
    fn errors_survive_writers() {
        let route = || RouteError::from(trommel_route::ErrorKind::NoRoot);
        let own = Error::from(io::Error::from(Error::from(ErrorKind::EmptyAnswer)));
        assert!(matches!(own.kind(), ErrorKind::EmptyAnswer));
        let wrapped = Error::from(io::Error::other(route()));
        assert!(matches!(wrapped.kind(), ErrorKind::Route(_)) && StdError::source(&wrapped).is_some());
        let host = Error::from(io::Error::other(Failure::cancelled()));
        assert!(host.is_cancelled() && matches!(host.kind(), ErrorKind::Host(_)));
        let other = Error::from(io::Error::other("the pipe broke"));
        assert!(other.message().contains("the pipe broke") && !other.is_cancelled());
        assert_eq!(Error::from(route()).message(), route().to_string());
    }
}
