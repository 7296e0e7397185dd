use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use trommel_route::WriteMode;
use trommel_route::look::{CONTEXT_LINES, PEEK_CHARS};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel buffers list --session monday
  trommel buffers read found --lines 1:200
  trommel buffers search found 'late|never' --context 2
  trommel buffers export found reports/found.md --root notes
  trommel buffers rm found

Buffers are kept until they are removed: `trommel gc` leaves them.")]
pub(crate) struct BuffersArgs {
    #[command(subcommand)]
    pub(crate) operation: BufferOperation,
}

/// What is said to every operation.
#[derive(Debug, Args)]
pub(crate) struct Session {
    /// The session whose buffers they are
    #[arg(long, value_name = "ID", default_value = "default")]
    pub(crate) session: String,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BufferOperation {
    /// List the buffers, with their sizes
    List {
        /// Buffers to pass over
        #[arg(long, value_name = "N", default_value_t = 0)]
        offset: u64,

        #[command(flatten)]
        session: Session,
    },
    /// Tell what is known of one: size, lines, source, times
    Info {
        /// The buffer
        name: String,

        #[command(flatten)]
        session: Session,
    },
    /// Show a piece of one, at most 2,000 characters
    Peek {
        /// The buffer
        name: String,

        /// Character to begin at
        #[arg(long, value_name = "N", default_value_t = 0)]
        offset: u64,

        /// Most characters
        #[arg(long, value_name = "N", default_value_t = PEEK_CHARS)]
        #[arg(value_parser = clap::value_parser!(u64).range(1..=PEEK_CHARS))]
        max_chars: u64,

        #[command(flatten)]
        session: Session,
    },
    /// Print lines or characters of one, at most 8,000 characters
    Read {
        /// The buffer
        name: String,

        /// First and last line, from 1
        #[arg(long, value_name = "FIRST:LAST", value_parser = lines, conflicts_with_all = ["offset", "length"])]
        lines: Option<(u64, u64)>,

        /// Character to begin at
        #[arg(long, value_name = "N", requires = "length")]
        offset: Option<u64>,

        /// How many characters
        #[arg(long, value_name = "N", requires = "offset")]
        length: Option<u64>,

        #[command(flatten)]
        session: Session,
    },
    /// Search one for a regular expression
    Search {
        /// The buffer
        name: String,

        /// What to search for
        pattern: String,

        /// Take the pattern as a text
        #[arg(long)]
        plain: bool,

        /// Lines to show before and after each hit, at most 10
        #[arg(long, value_name = "N", default_value_t = 0)]
        #[arg(value_parser = clap::value_parser!(u8).range(..=CONTEXT_LINES as i64))]
        context: u8,

        /// Character to begin at
        #[arg(long, value_name = "N", default_value_t = 0)]
        offset: u64,

        #[command(flatten)]
        session: Session,
    },
    /// Write one to a file
    Export {
        /// The buffer
        name: String,

        /// The file, below the root; a name without an extension gets that of Markdown
        path: String,

        /// The folder that the file is written below [default: this one]
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,

        /// How to write to a file that is there
        #[arg(long, value_name = "MODE")]
        write_mode: Option<Mode>,

        #[command(flatten)]
        session: Session,
    },
    /// Remove buffers of the session
    Rm {
        /// The buffers
        #[arg(value_name = "NAME", required_unless_present = "all")]
        names: Vec<String>,

        /// Remove all, with what {pending} remembers
        #[arg(long, conflicts_with = "names")]
        all: bool,

        #[command(flatten)]
        session: Session,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Mode {
    /// Behind what is there
    Append,
    /// In its place
    Replace,
    /// Under the first number that is free
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
    /// The name of the command.
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

/// Two lines, the first and the last.
fn lines(text: &str) -> Result<(u64, u64), String> {
    let range =
        text.split_once(':').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    range.ok_or_else(|| "expected the first and the last line, such as 1:200".into())
}
