use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use trommel_route::WriteMode;
use trommel_route::reading::{MAX_CONTEXT_LINES, MAX_PEEK_CHARS};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel buffers list --session monday
  trommel buffers read found --lines 1:200
  trommel buffers search found 'late|never' --context 2
  trommel buffers export found reports/found.md --root notes
  trommel buffers rm found

Buffers stay until they are removed; `trommel gc` does not touch them.")]
pub(crate) struct BuffersArgs {
    #[command(subcommand)]
    pub(crate) operation: BufferOperation,
}

/// The options of every operation.
#[derive(Debug, Args)]
pub(crate) struct Session {
    /// Use the buffers of this session
    #[arg(long, value_name = "ID", default_value = "default")]
    pub(crate) session: String,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BufferOperation {
    /// List buffers with their sizes
    List {
        /// Skip the first N buffers
        #[arg(long, value_name = "N", default_value_t = 0)]
        offset: u64,

        #[command(flatten)]
        session: Session,
    },
    /// Show a buffer's size, lines, source, and times
    Info {
        /// Name of the buffer
        name: String,

        #[command(flatten)]
        session: Session,
    },
    /// Show an excerpt of a buffer, at most 2,000 characters
    Peek {
        /// Name of the buffer
        name: String,

        /// Start at character N
        #[arg(long, value_name = "N", default_value_t = 0)]
        offset: u64,

        /// Show at most N characters
        #[arg(long, value_name = "N", default_value_t = MAX_PEEK_CHARS)]
        #[arg(value_parser = clap::value_parser!(u64).range(1..=MAX_PEEK_CHARS))]
        max_chars: u64,

        #[command(flatten)]
        session: Session,
    },
    /// Print lines or characters of a buffer, at most 8,000 characters
    Read {
        /// Name of the buffer
        name: String,

        /// Print this range of lines, counted from 1
        #[arg(long, value_name = "FIRST:LAST", value_parser = lines, conflicts_with_all = ["offset", "length"])]
        lines: Option<(u64, u64)>,

        /// Start at character N (needs --length)
        #[arg(long, value_name = "N", requires = "length")]
        offset: Option<u64>,

        /// Print N characters (needs --offset)
        #[arg(long, value_name = "N", requires = "offset")]
        length: Option<u64>,

        #[command(flatten)]
        session: Session,
    },
    /// Search a buffer for a regular expression
    Search {
        /// Name of the buffer
        name: String,

        /// Regular expression, or plain text with --plain
        pattern: String,

        /// Match the pattern as plain text
        #[arg(long)]
        plain: bool,

        /// Show N lines around each match, at most 10
        #[arg(long, value_name = "N", default_value_t = 0)]
        #[arg(value_parser = clap::value_parser!(u8).range(..=MAX_CONTEXT_LINES as i64))]
        context: u8,

        /// Start at character N
        #[arg(long, value_name = "N", default_value_t = 0)]
        offset: u64,

        #[command(flatten)]
        session: Session,
    },
    /// Write a buffer to a file
    Export {
        /// Name of the buffer
        name: String,

        /// File to write below the root; .md is added without an extension
        path: String,

        /// Write below this folder [default: the current one]
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,

        /// Choose how to write to an existing file
        #[arg(long, value_name = "MODE")]
        write_mode: Option<Mode>,

        #[command(flatten)]
        session: Session,
    },
    /// Remove buffers
    Rm {
        /// Names of the buffers
        #[arg(value_name = "NAME", required_unless_present = "all")]
        names: Vec<String>,

        /// Remove all buffers and the contents of {pending}
        #[arg(long, conflicts_with = "names")]
        all: bool,

        #[command(flatten)]
        session: Session,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Mode {
    /// Append to the file
    Append,
    /// Replace the file
    Replace,
    /// Add the first free number to the name
    New,
}

impl From<Mode> for WriteMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Append => Self::Append,
            Mode::Replace => Self::Replace,
            Mode::New => Self::New,
        }
    }
}

impl BufferOperation {
    /// The name of the operation.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::List { .. } => "list",
            Self::Info { .. } => "info",
            Self::Peek { .. } => "peek",
            Self::Read { .. } => "read",
            Self::Search { .. } => "search",
            Self::Export { .. } => "export",
            Self::Rm { .. } => "rm",
        }
    }

    /// The options that every operation takes.
    pub(crate) fn session(&self) -> &Session {
        match self {
            Self::List { session, .. }
            | Self::Info { session, .. }
            | Self::Peek { session, .. }
            | Self::Read { session, .. }
            | Self::Search { session, .. }
            | Self::Export { session, .. }
            | Self::Rm { session, .. } => session,
        }
    }
}

/// Parses the first and last line of a range.
fn lines(text: &str) -> Result<(u64, u64), String> {
    let range =
        text.split_once(':').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    range.ok_or_else(|| "expected the first and last line, such as 1:200".into())
}
