//! What can go wrong, what is said about it, and the exit status.

mod advice;
pub(crate) mod buffers;
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

pub(crate) use input::BadWork;
use operation::BadOperation;
pub(crate) use query::BadQuery;
pub(crate) use route::BadStep;
use trommel::reader;
use trommel_route::Error as RouteError;
use trommel_session::Error as SessionError;
use trommel_store::Error as StoreError;
use trommel_tool::{ErrorKind, ToolExecution};

use crate::output::escape;

/// Columns that a snippet may take.
const WIDTH: usize = 220;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The request is wrong.
    Usage { command: &'static str, message: String },
    /// A query is wrong.
    Query(Box<BadQuery>),
    /// The work failed.
    Work(Box<BadWork>),
    /// A value that was found is no JSON on a closer look, and line and column in the file are not
    /// known.
    Value { error: reader::Error, file: String, place: String },
    /// The store refuses, or cannot do it.
    Store(Box<StoreError>),
    /// A directive of a document is wrong, or failed.
    Step(Box<BadStep>),
    /// Files or buffers cannot be had.
    Route(Box<RouteError>),
    /// The session at a path cannot be opened.
    Session(Box<SessionError>),
    /// An operation on sessions, buffers, or the list of outputs has no answer.
    Operation(Box<BadOperation>),
    /// Sessions in the cloud cannot be had.
    #[cfg(feature = "cloud")]
    Cloud(Box<trommel_blocks::Error>),
    /// There is no folder to keep anything in.
    Homeless,
    /// A tool has no result: what is shown instead, and whether the request was wrong.
    Tool { shown: String, request: bool },
    /// The tool that reads stored outputs has no result, in the words of the command.
    Called(Box<ToolExecution>),
    /// The answer cannot be written, or what it takes to write it.
    Output(io::Error),
    /// A signal of this number asked for the end.
    Signal(i32),
    /// Everything is said already, on standard output or by nothing at all.
    Said,
    /// The message is already on standard error.
    Reported { status: u8 },
}

impl Failure {
    /// The exit status.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::Usage { .. } | Self::Query(_) | Self::Tool { request: true, .. } => 2,
            Self::Called(execution) if execution.result.error_kind().is_some_and(ErrorKind::is_request) => 2,
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
            Self::Reported { status } => *status,
            Self::Work(_)
            | Self::Value { .. }
            | Self::Store(_)
            | Self::Step(_)
            | Self::Route(_)
            | Self::Session(_)
            | Self::Operation(_)
            | Self::Homeless
            | Self::Tool { .. }
            | Self::Called(_)
            | Self::Output(_)
            | Self::Said => 1,
        }
    }

    /// Says on standard error what is wrong and what to do. That it cannot be said changes nothing.
    pub(crate) fn report(&self) {
        let renderer = Renderer::styled().term_width(WIDTH);
        let text = match self {
            Self::Said | Self::Reported { .. } | Self::Signal(_) => return,
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return,
            Self::Output(error) => {
                let title =
                    Level::ERROR.primary_title(format!("cannot write the answer: {error}")).id("output");
                renderer.render(&[title.element(Level::NOTE.message("the output so far is incomplete"))])
            }
            Self::Usage { command, message } => {
                let help = format!("see `trommel {command} --help`");
                let title = Level::ERROR.primary_title(escape::short(message, 300)).id("usage");
                renderer.render(&[title.element(Level::HELP.message(help))])
            }
            Self::Query(bad) => bad.render(&renderer),
            Self::Store(error) => store::render(error, &renderer),
            Self::Step(bad) => bad.render(&renderer),
            Self::Route(error) => route::render(error, &renderer),
            Self::Session(error) => session::render(error, &renderer),
            Self::Operation(bad) => bad.render(&renderer),
            #[cfg(feature = "cloud")]
            Self::Cloud(error) => {
                let message = escape::short(&error.to_string(), 1_600);
                let title = Level::ERROR.primary_title(message).id(error.code());
                let help = "docs/CLOUD.md tells how storages are named, reached and asked";
                renderer.render(&[title.element(Level::HELP.message(help))])
            }
            Self::Homeless => {
                let title = Level::ERROR.primary_title("there is no folder for the user's data").id("home");
                let help = "set $TROMMEL_HOME to the folder that everything is to be kept in";
                renderer.render(&[title.element(Level::HELP.message(help))])
            }
            Self::Called(execution) => read::render(execution, &renderer),
            Self::Tool { shown, .. } => shown.trim_end_matches('\n').to_owned(),
            Self::Work(bad) => bad.render(&renderer),
            Self::Value { error, file, place } => input::render_value(error, file, place, &renderer),
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
