use std::num::{NonZeroU64, NonZeroUsize};

use clap::{Args, ValueEnum};

use super::{Arguments, BadRecords, Engine, RecordFilters, SampleForm, Source, ValueStyle, values};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel sample data.json '$.users' -n 10 --seed 42
  trommel sample log.jsonl -n 10 --where '@.level == \"error\"'
  trommel sample data.json '$.users' -n 20 --strategy stratified --strata-path '$.country'

A query that can select only one node must select an array; its elements are sampled. On a stream,
and with --each, it may instead select other values, which are then sampled; a pipe must have
arrays. Other queries sample the nodes that they select. Without a query, or with `$`, a sample is
of the records of a stream, or of the elements of one array.")]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    pub(crate) arguments: Arguments,

    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) records: RecordFilters,

    /// Draw N items
    #[arg(short = 'n', long = "size", value_name = "N", value_parser = values::at_least_one::<NonZeroUsize>)]
    pub(crate) size: NonZeroUsize,

    /// Choose how to draw
    #[arg(long, default_value = "random")]
    pub(crate) strategy: SampleStrategy,

    /// Set the random seed [default: a new one, noted on standard error]
    ///
    /// The same seed draws the same sample from the same input. Only the strategies random and
    /// stratified use it.
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = values::seed)]
    pub(crate) seed: Option<u64>,

    /// Take every K-th item (--strategy systematic) [default: evenly spread]
    #[arg(long, value_name = "K", value_parser = values::at_least_one::<NonZeroU64>)]
    pub(crate) stride: Option<NonZeroU64>,

    /// Group items by this query (--strategy stratified)
    ///
    /// The query is evaluated within each item. The first value that it selects names the group.
    #[arg(long, value_name = "P")]
    pub(crate) strata_path: Option<String>,

    /// Choose what to print for each item
    ///
    /// Cannot be combined with --json.
    #[arg(short = 'o', long, value_name = "FORM", default_value = "values", conflicts_with = "json")]
    pub(crate) output: SampleForm,

    #[command(flatten)]
    pub(crate) style: ValueStyle,

    /// Print the file before each item, followed by a tab
    #[arg(short = 'H', long, conflicts_with_all = ["json", "indices"])]
    pub(crate) with_filename: bool,

    /// Print each item as {"index": …, "value": …}
    #[arg(long, conflicts_with_all = ["json", "output", "raw_strings"])]
    pub(crate) indices: bool,

    #[arg(long, help = "Print one JSON document: {\"sample\": […], \"total_items\": …, …}")]
    pub(crate) json: bool,

    /// Exit with status 1 if there is nothing to sample
    #[arg(short = 'e', long)]
    pub(crate) exit_status: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) bad_records: BadRecords,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SampleStrategy {
    /// Uniformly at random
    Random,
    /// The first N
    First,
    /// The last N
    Last,
    /// Evenly spaced
    Systematic,
    /// From each group, in proportion to its size
    Stratified,
}
