//! Options that many commands share.

use std::ffi::OsString;
use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use trommel::reader::{Framing as Records, Limits, Validation};
use trommel::{OnBadRecord, path};

use super::values;

/// The files and queries of a command.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Files and JSONPath queries (RFC 9535), in any order
    ///
    /// An argument that begins with $, or with NAME=$, is a query. Every other argument is a file;
    /// "-" is standard input, and output:ID a stored output. Without files, standard input is read.
    /// Several files are read in order, as one sequence of records. A file whose name begins with $
    /// is written ./$name.
    #[arg(value_name = "FILE|QUERY")]
    pub(crate) arguments: Vec<OsString>,
}

/// The files of a command.
#[derive(Debug, Args)]
pub(crate) struct Files {
    /// Input files; - for standard input; output:ID for a stored output [default: -]
    ///
    /// Several files are read in order, as one sequence of records.
    #[arg(value_name = "FILE")]
    pub(crate) arguments: Vec<OsString>,
}

/// A query with an optional name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedQuery {
    pub(crate) name: Option<String>,
    pub(crate) query: String,
}

impl NamedQuery {
    /// The name in answers: the given one, or the last name in the query, or else its text.
    pub(crate) fn name_in_answers(&self, parsed: &path::Query) -> String {
        let name = self.name.as_deref().or_else(|| parsed.last_name());
        name.unwrap_or(&self.query).to_owned()
    }
}

/// The reading of the input.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// Set the record framing [default: by file name, else auto]
    ///
    /// Names that end in .jsonl or .ndjson, also before .gz, .zst, .bz2, or .xz, imply jsonl unless
    /// this option is given.
    #[arg(long, value_name = "FRAMING", help_heading = "Input")]
    pub(crate) input: Option<Framing>,

    /// Read the file through a window instead of mapping it into memory
    ///
    /// Use it for a file that another process may change or truncate during the run.
    #[arg(long, help_heading = "Input")]
    pub(crate) no_mmap: bool,

    /// Neither use nor leave a guide of the file
    ///
    /// `stats` and `schema` leave their answer about a file of 64 MiB and more below
    /// `$TROMMEL_HOME/guides`. Answers are the same with and without a guide. The variable
    /// `TROMMEL_GUIDE=off` does the same as this option.
    #[arg(long, help_heading = "Input")]
    pub(crate) no_guide: bool,

    /// Use N threads [default: all cores]
    #[arg(short = 'j', long, value_name = "N", help_heading = "Input")]
    #[arg(value_parser = values::at_least_one::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,

    /// Refuse input nested deeper than N levels, at most 1048576
    #[arg(long, value_name = "N", default_value_t = 10_000, help_heading = "Limits", hide_short_help = true)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(Limits::MAX_DEPTH)))]
    pub(crate) limit_depth: u32,

    /// Refuse input that expands more than N times after the first 64 MiB
    ///
    /// Protects against decompression bombs.
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Limits", hide_short_help = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit_ratio: u64,

    /// Use at most SIZE of temporary files, such as 500MB or 2GiB
    ///
    /// Temporary files hold input from a pipe that a query must read again, and values that
    /// `extract` prints later. To avoid both, pass a file and --order document.
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "8GiB",
        help_heading = "Limits",
        hide_short_help = true
    )]
    #[arg(value_parser = values::size)]
    pub(crate) spool_limit: u64,
}

/// Options of the query engine.
#[derive(Debug, Args)]
pub(crate) struct Engine {
    /// Validate skipped values in full, as RFC 8259 requires
    ///
    /// Without it, skipped values are checked only for brackets and strings. With it, each record
    /// is read to its end even if its answer is known earlier, and --limit stops only at the end of
    /// a record or document. `check`, `schema`, and `stats` without --only always validate
    /// everything.
    #[arg(long, help_heading = "Input")]
    pub(crate) strict: bool,

    /// Choose among members that share a name
    #[arg(long, value_name = "WHICH", default_value = "first", help_heading = "Input")]
    pub(crate) duplicates: DuplicateMembers,
}

/// The records, and filters on them.
#[derive(Debug, Args)]
pub(crate) struct RecordFilters {
    #[arg(long, value_name = "QUERY", help = "Make each node of QUERY a record: '$.data.records[*]'")]
    #[arg(
        long_help = "Make each node of QUERY a record: '$.data.records[*]'\n\nIn queries and filters, $ is \
                       then that node. Paths and offsets in answers remain those of the whole document. The \
                       elements of a long array are divided among threads."
    )]
    pub(crate) each: Option<String>,

    /// Keep only records for which FILTER holds: '@.level == "error"'
    ///
    /// May be repeated; a record must pass every filter. With --each, the nodes are the records.
    #[arg(long = "where", value_name = "FILTER")]
    pub(crate) filters: Vec<String>,
}

/// The policy for malformed records.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct BadRecords {
    /// Stop at a malformed record, or skip and report it
    ///
    /// Reports the first ten skipped records one by one, and the total number at the end. `check`
    /// reports every malformed record.
    #[arg(long, value_name = "ACTION", default_value = "stop", help_heading = "Input")]
    pub(crate) on_bad_record: BadRecordPolicy,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Framing {
    /// One value, or a stream if more values start on lines of their own
    Auto,
    /// Exactly one value (RFC 8259)
    Json,
    /// One value per line
    Jsonl,
    /// Values one after another
    Concatenated,
    /// A JSON text sequence (RFC 7464)
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
pub(crate) enum DuplicateMembers {
    /// The first; stops reading an object once its answer is known
    First,
    /// The last, like most parsers; reads each object to its end
    Last,
    /// All of them
    All,
}

impl From<DuplicateMembers> for path::Duplicates {
    fn from(duplicates: DuplicateMembers) -> Self {
        match duplicates {
            DuplicateMembers::First => Self::First,
            DuplicateMembers::Last => Self::Last,
            DuplicateMembers::All => Self::All,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BadRecordPolicy {
    /// Stop with the error
    Stop,
    /// Skip and report the record; needs jsonl or json-seq
    Skip,
}

/// Returns the ID in `output:ID`.
pub(crate) fn output_id(text: &str) -> Option<&str> {
    text.strip_prefix("output:")
}

impl BadRecords {
    pub(crate) const STOP: Self = Self { on_bad_record: BadRecordPolicy::Stop };

    pub(crate) fn skip(self) -> bool {
        self.on_bad_record == BadRecordPolicy::Skip
    }
}

impl From<BadRecords> for OnBadRecord {
    fn from(asked: BadRecords) -> Self {
        if asked.skip() { Self::Skip { at_most: u64::MAX } } else { Self::Stop }
    }
}

impl Engine {
    /// The validation level that `--strict` selects.
    pub(crate) fn validation(&self) -> Validation {
        if self.strict { Validation::Strict } else { Validation::Structural }
    }
}

impl Source {
    /// The framing given with `--input`.
    pub(crate) fn framing(&self) -> Option<Records> {
        self.input.map(Framing::records)
    }

    pub(crate) fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        limits.depth = self.limit_depth;
        limits.spool_bytes = self.spool_limit;
        limits
    }
}
