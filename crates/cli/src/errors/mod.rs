//! Failures of commands, their messages, and their exit statuses.

mod advice;
pub(crate) mod buffers;
mod group;
mod input;
pub(crate) mod list;
mod operation;
mod query;
pub(crate) mod read;
mod route;
pub(crate) mod session;
mod store;
pub(crate) mod usage;

use std::io::{self, Write};

use annotate_snippets::{Level, Renderer};

pub(crate) use input::EngineError;
use operation::OperationError;
pub(crate) use query::QueryError;
pub(crate) use route::StepError;
use trommel::reader;
use trommel_route::Error as RouteError;
use trommel_session::Error as SessionError;
use trommel_store::Error as StoreError;
use trommel_tool::{ErrorKind, ToolExecution};

use crate::output::escape;

/// The maximum width of a snippet in columns.
const WIDTH: usize = 220;

/// The maximum number of characters of a file name.
const NAME: usize = 200;

/// The maximum number of characters of a message, which may contain a query and a path.
const SENTENCE: usize = 600;

/// The reason why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The request is invalid.
    Usage { command: &'static str, message: String },
    /// A query is invalid.
    Query(Box<QueryError>),
    /// A run over an input failed.
    Work(Box<EngineError>),
    /// A value that the engine skipped is malformed, and its line and column are unknown.
    Value { error: reader::Error, file: String, position: String },
    /// A value cannot be printed in the requested form.
    Form { message: &'static str, position: String, note: String, help: &'static str },
    /// A file cannot be written.
    Target { file: String, cause: io::Error, help: &'static str },
    /// The store refused a request or failed.
    Store(Box<StoreError>),
    /// A directive of a document is invalid or failed.
    Step(Box<StepError>),
    /// Files or buffers are not accessible.
    Route(Box<RouteError>),
    /// The session at a path cannot be opened.
    Session(Box<SessionError>),
    /// An operation on sessions, buffers, or the list of outputs failed.
    Operation(Box<OperationError>),
    /// Sessions in the cloud are not accessible.
    #[cfg(feature = "cloud")]
    Cloud(Box<trommel_blocks::Error>),
    /// The guide of a file is missing, damaged, or cannot be built.
    Guide { file: String, error: Box<trommel_guide::Error> },
    /// No data directory was found.
    NoDataDir,
    /// A tool failed: the text for standard error, and true if the request was invalid.
    Tool { text: String, is_request: bool },
    /// The tool that reads stored outputs failed. Its message names options of the command line.
    ReadTool(Box<ToolExecution>),
    /// The answer cannot be written, or a resource for writing it is missing.
    Output(io::Error),
    /// A signal of this number ended the command.
    Signal(i32),
    /// The failure is already reported, or needs no message.
    AlreadyReported,
    /// The argument parser has printed its message.
    ParserReported { status: u8 },
}

impl Failure {
    /// Returns the exit status.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::Usage { .. } | Self::Query(_) | Self::Tool { is_request: true, .. } => 2,
            Self::ReadTool(execution) if execution.result.error_kind().is_some_and(ErrorKind::is_request) => {
                2
            }
            Self::Store(error) if store::is_request(error.class()) => 2,
            Self::Route(error) if error.class().is_request() => 2,
            Self::Session(error) if error.class().is_request() => 2,
            Self::Operation(bad) if bad.is_request() => 2,
            #[cfg(feature = "cloud")]
            Self::Cloud(error) => {
                if error.class().is_request() {
                    2
                } else {
                    1
                }
            }
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 141,
            Self::Signal(number) => u8::try_from(128 + number).unwrap_or(1),
            Self::ParserReported { status } => *status,
            Self::Work(_)
            | Self::Value { .. }
            | Self::Form { .. }
            | Self::Target { .. }
            | Self::Store(_)
            | Self::Step(_)
            | Self::Route(_)
            | Self::Session(_)
            | Self::Operation(_)
            | Self::Guide { .. }
            | Self::NoDataDir
            | Self::Tool { .. }
            | Self::ReadTool(_)
            | Self::Output(_)
            | Self::AlreadyReported => 1,
        }
    }

    /// Prints the failure and help to standard error. A failure to print is ignored.
    pub(crate) fn report(&self) {
        let renderer = Renderer::styled().term_width(WIDTH);
        let text = match self {
            Self::AlreadyReported | Self::ParserReported { .. } | Self::Signal(_) => return,
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return,
            Self::Output(error) => {
                let title =
                    Level::ERROR.primary_title(format!("cannot write the output: {error}")).id("output");
                renderer.render(&[title.element(Level::NOTE.message("the output so far is incomplete"))])
            }
            Self::Usage { command, message } => {
                let help = format!("see `trommel {command} --help`");
                let title = Level::ERROR.primary_title(escape::short(message, 300)).id("usage");
                renderer.render(&[title.element(Level::HELP.message(help))])
            }
            Self::Query(bad) => bad.render(&renderer),
            Self::Form { message, position, note, help } => {
                let title = format!("{}: {message}", escape::short(position, 200));
                let title = Level::ERROR.primary_title(title).id("form");
                let notes = [Level::NOTE.message(note), Level::HELP.message(*help)];
                renderer.render(&[title.elements(notes)])
            }
            Self::Target { file, cause, help } => {
                let title = format!("cannot write {}", escape::short(file, NAME));
                let title = Level::ERROR.primary_title(title).id("output");
                let notes = [Level::NOTE.message(cause.to_string()), Level::HELP.message(*help)];
                renderer.render(&[title.elements(notes)])
            }
            Self::Store(error) => store::render(error, &renderer),
            Self::Step(bad) => bad.render(&renderer),
            Self::Route(error) => route::render(error, &renderer),
            Self::Session(error) => session::render(error, &renderer),
            Self::Operation(bad) => bad.render(&renderer),
            #[cfg(feature = "cloud")]
            Self::Cloud(error) => {
                let message = escape::short(&error.to_string(), 1_600);
                let title = Level::ERROR.primary_title(message).id(error.code());
                let help = "see docs/CLOUD.md for the settings of storages";
                renderer.render(&[title.element(Level::HELP.message(help))])
            }
            Self::Guide { file, error } => {
                let message =
                    format!("{}: {}", escape::short(file, 200), escape::short(&error.to_string(), 300));
                let title = Level::ERROR.primary_title(message).id("guide");
                let help = error.help().map(|help| Level::HELP.message(help));
                renderer.render(&[title.elements(help)])
            }
            Self::NoDataDir => {
                let title = Level::ERROR.primary_title("no data directory was found").id("home");
                let help = "set $TROMMEL_HOME to the folder for stored data";
                renderer.render(&[title.element(Level::HELP.message(help))])
            }
            Self::ReadTool(execution) => read::render(execution, &renderer),
            Self::Tool { text, .. } => text.trim_end_matches('\n').to_owned(),
            Self::Work(bad) => bad.render(&renderer),
            Self::Value { error, file, position } => input::render_value(error, file, position, &renderer),
        };
        let _ = writeln!(anstream::stderr(), "{text}");
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(Box::new(error))
    }
}

impl From<RouteError> for Failure {
    fn from(error: RouteError) -> Self {
        Self::Route(Box::new(error))
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        Self::Session(Box::new(error))
    }
}

#[cfg(feature = "cloud")]
impl From<trommel_blocks::Error> for Failure {
    fn from(error: trommel_blocks::Error) -> Self {
        Self::Cloud(Box::new(error))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
