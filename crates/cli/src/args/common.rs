//! Options that many commands share.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use trommel::reader::{Framing as Records, Limits, Validation};
use trommel::{OnBadRecord, path};

use super::values;

/// What is read, and how.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// The input: a file, - for standard input, or output:ID for a stored output
    pub(crate) file: PathBuf,

    /// How the input is divided into records [default: by the name, else auto]
    ///
    /// A name that ends in .jsonl or .ndjson, also before .gz or .zst, means jsonl unless this
    /// option is given.
    #[arg(long, value_name = "FRAMING", help_heading = "Input")]
    pub(crate) input: Option<Framing>,

    /// Read the file through a window instead of mapping it
    #[arg(long, help_heading = "Input")]
    pub(crate) no_mmap: bool,

    /// Threads to work on [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Input")]
    #[arg(value_parser = values::at_least_one::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Most levels of arrays and objects, up to 1048576
    #[arg(long, value_name = "N", default_value_t = 10_000, help_heading = "Limits")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(Limits::MAX_DEPTH)))]
    pub(crate) limit_depth: u32,

    /// Most decompressed bytes for each compressed one, after the first 64 MiB
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Limits")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit_ratio: u64,

    /// Most bytes of temporary files, such as 500MB or 2GiB
    #[arg(long, value_name = "SIZE", default_value = "8GiB", help_heading = "Limits")]
    #[arg(value_parser = values::size)]
    pub(crate) spool_limit: u64,
}

/// How queries are answered.
#[derive(Debug, Args)]
pub(crate) struct Engine {
    /// Validate all of RFC 8259, in what the queries skip too
    ///
    /// A record that is decided early is validated to its end. --limit stops only at the end of a
    /// record or document.
    #[arg(long, help_heading = "Input")]
    pub(crate) strict: bool,

    /// Which members of the same name a query selects
    #[arg(long, value_name = "WHICH", default_value = "first", help_heading = "Input")]
    pub(crate) duplicates: Repeated,
}

/// Filters on records.
#[derive(Debug, Args)]
pub(crate) struct RecordFilters {
    /// Keep the records for which FILTER holds: '@.level == "error"'
    #[arg(long = "where", value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
}

/// What to do with bad records.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct BadRecords {
    /// What to do with a record that is no JSON
    #[arg(long, value_name = "WHAT", default_value = "stop", help_heading = "Input")]
    pub(crate) on_bad_record: Policy,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Framing {
    /// One value; several when each begins on a line of its own
    Auto,
    /// Exactly one value (RFC 8259)
    Json,
    /// One value a line
    Jsonl,
    /// Values one after the other
    Concatenated,
    /// A text sequence (RFC 7464)
    JsonSeq,
}

impl Framing {
    /// The engine's framing.
    pub(crate) fn records(self) -> Records {
        match self {
            Self::Auto => Records::Auto,
            Self::Json => Records::Single,
            Self::Jsonl => Records::Lines,
            Self::Concatenated => Records::Concatenated,
            Self::JsonSeq => Records::JsonSeq,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Repeated {
    /// The first; what is decided is left
    First,
    /// The last, as most parsers have it; each object is read to its end first
    Last,
    /// All of them
    All,
}

impl From<Repeated> for path::Duplicates {
    fn from(repeated: Repeated) -> Self {
        match repeated {
            Repeated::First => Self::First,
            Repeated::Last => Self::Last,
            Repeated::All => Self::All,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Policy {
    /// End with the error
    Stop,
    /// Leave it out and report it, where the framing allows to go on
    Skip,
}

/// The id in `output:ID`.
pub(crate) fn output_id(text: &str) -> Option<&str> {
    text.strip_prefix("output:")
}

impl BadRecords {
    pub(crate) const STOP: Self = Self { on_bad_record: Policy::Stop };

    pub(crate) fn skip(self) -> bool {
        self.on_bad_record == Policy::Skip
    }
}

impl From<BadRecords> for OnBadRecord {
    fn from(asked: BadRecords) -> Self {
        if asked.skip() { Self::Skip { at_most: u64::MAX } } else { Self::Stop }
    }
}

impl Engine {
    /// How closely the input is checked.
    pub(crate) fn validation(&self) -> Validation {
        if self.strict { Validation::Strict } else { Validation::Structural }
    }
}

impl Source {
    /// How the input is divided into records, where that is given.
    pub(crate) fn framing(&self) -> Option<Records> {
        self.input.map(Framing::records)
    }

    /// The file as it was given.
    pub(crate) fn id(&self) -> std::borrow::Cow<'_, str> {
        self.file.to_string_lossy()
    }

    /// The id, or the beginning of it, of the stored output that is meant.
    pub(crate) fn output(&self) -> Option<&str> {
        output_id(self.file.to_str()?)
    }

    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.depth = self.limit_depth;
        limits.spool_bytes = self.spool_limit;
        limits
    }
}
