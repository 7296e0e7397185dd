//! An explorer of JSON of any size for the terminal: a tree that reads only its visible rows.
//!
//! ```
//! use trommel::reader::{Framing, Input};
//! use trommel_explore::{Explorer, Source};
//!
//! # fn main() -> Result<(), trommel_explore::Error> {
//! let text = r#"{"users": [{"name": "Ada"}, {"name": "Bob"}]}"#;
//! let source = Source::new("users.json", Framing::Single, move || Ok(Input::from_bytes(text)));
//! // Prints the screen after two keys. `run` shows it in the terminal.
//! let screen = Explorer::new(source).print((80, 10), "jl")?;
//! assert!(screen.contains(r#"{"name":"Ada"}"#), "{screen}");
//! # Ok(())
//! # }
//! ```
//!
//! # Memory and time
//!
//! The first screen needs the first bytes of the input only, at any size. A page has 64 rows; at
//! most 128 pages are in memory. A child is found by a [guide](trommel_guide) of the input within
//! 32 KiB of it. Without one, the bytes before it are skipped by masks, and a pass in the
//! background [builds](Explorer::build_guide) the guide.
//!
//! # Errors
//!
//! An error of the input is shown as a row where it occurs; the rows before it can be explored.

mod app;
mod describe;
mod draw;
mod keys;
mod list;
mod locate;
mod message;
mod path;
mod print;
mod size;
mod source;
mod task;
mod terminal;
#[cfg(test)]
mod tests;
mod tree;
mod view;

use std::io;

use trommel::Analysis;
use trommel_guide::Guide;

use crate::app::{App, Builder};
use crate::print::Printer;
pub use crate::source::Source;

/// An explorer of one input.
pub struct Explorer {
    source: Source,
    builder: Option<Builder>,
    follows: bool,
}

/// The reason why an explorer has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// Its user has left it.
    Quit,
    /// The process received this signal.
    Signal(i32),
}

/// The reason why an explorer could not run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The input cannot be opened.
    Input(io::Error),
    /// The terminal cannot be used.
    Terminal(io::Error),
    /// A key has another name.
    Key(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Input(cause) => write!(f, "cannot open the input: {cause}"),
            Self::Terminal(cause) => write!(f, "the terminal cannot be used: {cause}"),
            Self::Key(name) => write!(f, "no key has the name <{name}>; write < as <lt>"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Input(cause) | Self::Terminal(cause) => Some(cause),
            Self::Key(_) => None,
        }
    }
}

impl std::fmt::Debug for Explorer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explorer").field("source", &self.source).finish_non_exhaustive()
    }
}

impl Explorer {
    /// Creates an explorer.
    pub fn new(source: Source) -> Self {
        Self { source, builder: None, follows: false }
    }

    /// Builds a guide on another thread while the input is explored, unless it has one. `build`
    /// gets the settings of the run: its threads, its cancellation, and its progress.
    #[must_use]
    pub fn build_guide(
        mut self,
        build: impl FnOnce(&Analysis) -> Result<Guide, String> + Send + 'static,
    ) -> Self {
        self.builder = Some(Box::new(build));
        self
    }

    /// Shows records that are appended to the input.
    #[must_use]
    pub fn follow(mut self, follows: bool) -> Self {
        self.follows = follows;
        self
    }

    /// Explores the input in the terminal, until its user or a signal ends it. The terminal is
    /// restored in any case, also after a panic.
    ///
    /// # Errors
    /// If the input cannot be opened, or the terminal cannot be used.
    pub fn run(self) -> Result<Ending, Error> {
        let app = App::new(self.source, self.builder, self.follows).map_err(Error::Input)?;
        terminal::run(app).map_err(Error::Terminal)
    }

    /// Returns the screen of so many columns and rows as text, after some keys: characters, and
    /// names such as `<Enter>`. Builds no guide.
    ///
    /// # Errors
    /// If the input cannot be opened, or a key has another name.
    pub fn print(self, size: (u16, u16), keys: &str) -> Result<String, Error> {
        let app = App::new(self.source, None, false).map_err(Error::Input)?;
        let mut printer = Printer::new(app, size).map_err(Error::Terminal)?;
        printer.press(keys)?;
        Ok(printer.text())
    }
}
