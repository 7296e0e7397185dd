//! What can go wrong, what is said about it, and the exit status.

mod input;
mod query;

use std::io::{self, Write};

use annotate_snippets::{Level, Renderer};

pub(crate) use input::BadWork;
pub(crate) use query::BadQuery;
use trommel::reader;

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
    /// A value that was found is no JSON on a closer look, and line and column in the file are not known.
    Value { error: reader::Error, file: String, place: String },
    /// The answer cannot be written, or what it takes to write it.
    Output(io::Error),
    /// Everything is said already, on standard output or by nothing at all.
    Said,
}

impl Failure {
    /// The exit status.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Self::Usage { .. } | Self::Query(_) => 2,
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 141,
            Self::Work(_) | Self::Value { .. } | Self::Output(_) | Self::Said => 1,
        }
    }

    /// Says on standard error what is wrong and what to do. That it cannot be said changes nothing.
    pub(crate) fn report(&self) {
        let renderer = Renderer::styled().term_width(WIDTH);
        let text = match self {
            Self::Said => return,
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return,
            Self::Output(error) => {
                let title =
                    Level::ERROR.primary_title(format!("cannot write the answer: {error}")).id("output");
                renderer
                    .render(&[title.element(Level::HELP.message("what was written before is incomplete"))])
            }
            Self::Usage { command, message } => {
                let help = format!("`trommel {command} --help` tells what it takes");
                let title = Level::ERROR.primary_title(escape::short(message, 300)).id("usage");
                renderer.render(&[title.element(Level::HELP.message(help))])
            }
            Self::Query(bad) => bad.render(&renderer),
            Self::Work(bad) => bad.render(&renderer),
            Self::Value { error, file, place } => input::render_value(error, file, place, &renderer),
        };
        let _ = writeln!(anstream::stderr(), "{text}");
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
