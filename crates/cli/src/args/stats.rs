use std::num::NonZeroU32;

use clap::{Args, ValueEnum};

use super::{BadRecords, Engine, RecordFilters, Source, values};
use crate::output::tables;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel stats data.json
  trommel stats data.json --only structure,types         # the fast overview
  trommel stats data.json '$.users' '$.orders' --values
  trommel stats log.jsonl --where '@.level == \"error\"' --values
  cargo metadata --format-version 1 | trommel stats -")]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    pub(crate) source: Source,

    /// JSONPath queries that select what to describe [default: everything]
    #[arg(value_name = "QUERY")]
    pub(crate) queries: Vec<String>,

    #[command(flatten)]
    pub(crate) records: RecordFilters,

    /// Add a JSON Schema
    #[arg(long)]
    pub(crate) schema: bool,

    /// Add figures of the values by path: numbers, lengths, distinct and frequent values
    #[arg(long)]
    pub(crate) values: bool,

    /// How deep arrays, objects and schema go, the root being 1 [default: no bound]
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroU32>)]
    pub(crate) max_depth: Option<NonZeroU32>,

    /// Leave the types of the arrays' items out
    #[arg(long)]
    pub(crate) no_sample_arrays: bool,

    /// Nothing per path, and what is passed over only checked for its structure
    #[arg(long, value_name = "SECTIONS", value_delimiter = ',', num_args = 1)]
    #[arg(conflicts_with_all = ["schema", "values", "max_depth", "no_sample_arrays"])]
    pub(crate) only: Vec<Section>,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,

    /// Exit with status 1 when nothing matches
    #[arg(long)]
    pub(crate) exit_status: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) bad_records: BadRecords,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Section {
    /// Root type, depth, names and values
    Structure,
    /// How many values there are of each type
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
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) records: RecordFilters,

    /// How deep the schema goes, the root being 1 [default: no bound]
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroU32>)]
    pub(crate) max_depth: Option<NonZeroU32>,

    /// Print it on one line, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) bad_records: BadRecords,
}
