use std::num::{NonZeroU64, NonZeroUsize};

use clap::{Args, ValueEnum};

use super::{BadRecords, Engine, RecordFilters, Source, values};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel sample data.json '$.users' -n 10 --seed 42
  trommel sample log.jsonl '$' -n 10 --where '@.level == \"error\"'
  trommel sample data.json '$.users' -n 20 --strategy stratified --strata-path '$.country'

A query that can select one node only must select an array, whose elements are sampled; any
other query's nodes are. With $ the records of a stream are.")]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    pub(crate) source: Source,

    /// What to draw from, a JSONPath query
    pub(crate) query: String,

    #[command(flatten)]
    pub(crate) records: RecordFilters,

    /// How many to draw
    #[arg(short = 'n', long = "size", value_name = "N", value_parser = values::at_least_one::<NonZeroUsize>)]
    pub(crate) size: NonZeroUsize,

    /// How to draw
    #[arg(long, default_value = "random")]
    pub(crate) strategy: Plan,

    /// What makes a random sample the same every time [default: from the system, noted on standard
    /// error]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = values::seed)]
    pub(crate) seed: Option<u64>,

    /// With systematic: take every K-th [default: evenly spread]
    #[arg(long, value_name = "K", value_parser = values::at_least_one::<NonZeroU64>)]
    pub(crate) stride: Option<NonZeroU64>,

    /// With stratified: the query, within an item, that makes the groups
    #[arg(long, value_name = "P")]
    pub(crate) strata_path: Option<String>,

    /// Print lines {"index": …, "value": …}
    #[arg(long, conflicts_with = "json")]
    pub(crate) indices: bool,

    #[arg(long, help = "Print one JSON document: {\"sample\": […], \"total_items\": …, …}")]
    pub(crate) json: bool,

    /// Exit with status 1 when there is nothing to draw from
    #[arg(long)]
    pub(crate) exit_status: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) bad_records: BadRecords,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Plan {
    /// Uniformly at random
    Random,
    /// The first
    First,
    /// The last
    Last,
    /// At even distances
    Systematic,
    /// From each group its share
    Stratified,
}
