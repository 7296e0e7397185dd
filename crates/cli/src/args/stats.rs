use std::num::{NonZeroU32, NonZeroUsize};

use clap::{Args, ValueEnum};

use super::{Arguments, BadRecords, Engine, Files, RecordFilters, Source, values};
use crate::output::tables;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel stats data.json
  trommel stats data.json --only structure,types         # fast overview
  trommel stats data.json '$.users' '$.orders' --values
  trommel stats log.jsonl --where '@.level == \"error\"' --values
  trommel stats log.jsonl '$.level' --top 20             # most frequent values
  cargo metadata --format-version 1 | trommel stats")]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) arguments: Arguments,

    #[command(flatten)]
    pub(crate) source: Source,

    /// Add the statistics of each file
    #[arg(long)]
    pub(crate) by_file: bool,

    #[command(flatten)]
    pub(crate) records: RecordFilters,

    /// Add a JSON Schema
    #[arg(long)]
    pub(crate) schema: bool,

    /// Add every path to the JSON: types, counts, and missing names
    ///
    /// Each row of `fields` has the path, the types with their counts, the number of values, and
    /// the number of objects without the name. On a terminal, the fields are always shown.
    #[arg(long)]
    pub(crate) fields: bool,

    /// Add the bytes of every path: its values, their names, and white space
    #[arg(long)]
    pub(crate) bytes: bool,

    /// Add value statistics per path: ranges, lengths, frequent values
    #[arg(long)]
    pub(crate) values: bool,

    /// Add histograms of numbers, lengths, and times to the JSON
    ///
    /// Implies --values. A histogram has at most 60 buckets with exact counts.
    #[arg(long)]
    pub(crate) histograms: bool,

    /// Report the N most frequent values per path [default: 10]
    ///
    /// Implies --values. On a terminal, also lists these values one by one.
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroUsize>)]
    pub(crate) top: Option<NonZeroUsize>,

    /// Describe at most N levels; the root is level 1 [default: all]
    ///
    /// Limits the fields, the arrays, the objects, the value statistics, and the schema. The
    /// structure and the types always cover all levels.
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroU32>)]
    pub(crate) max_depth: Option<NonZeroU32>,

    /// Omit the types of array items
    #[arg(long)]
    pub(crate) no_sample_arrays: bool,

    /// Print only these sections; this is faster
    ///
    /// Does not read member names, so it cannot report duplicate names. Checks values only for
    /// brackets and strings, unless --strict is given.
    ///
    /// Cannot be combined with --schema, --fields, --bytes, --values, --histograms, --top,
    /// --max-depth, or --no-sample-arrays.
    #[arg(long, value_name = "SECTIONS", value_delimiter = ',', num_args = 1)]
    #[arg(conflicts_with_all = ["schema", "fields", "bytes", "values", "histograms", "top", "max_depth", "no_sample_arrays"])]
    pub(crate) only: Vec<Section>,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,

    /// Exit with status 1 if nothing matches
    #[arg(short = 'e', long)]
    pub(crate) exit_status: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) bad_records: BadRecords,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// Type of the root, depth, and counts of names and values
    Structure,
    /// Count of values per type
    Types,
}

impl From<Section> for tables::Section {
    fn from(section: Section) -> Self {
        match section {
            Section::Structure => Self::Structure,
            Section::Types => Self::Types,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel schema data.json
  trommel schema log.jsonl.zst --max-depth 3 > log.schema.json
  trommel schema log.jsonl --where '@.level == \"error\"'")]
pub(crate) struct SchemaArgs {
    #[command(flatten)]
    pub(crate) files: Files,

    #[command(flatten)]
    pub(crate) source: Source,

    /// Add the schema of each file
    #[arg(long)]
    pub(crate) by_file: bool,

    #[command(flatten)]
    pub(crate) records: RecordFilters,

    /// Describe at most N levels; the root is level 1 [default: all]
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroU32>)]
    pub(crate) max_depth: Option<NonZeroU32>,

    /// Print the schema on one line, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) bad_records: BadRecords,
}
