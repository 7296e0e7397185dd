use std::num::NonZeroUsize;

use clap::Args;

use super::{Arguments, BadRecords, Engine, NamedQuery, RecordFilters, Source, values};

const EXAMPLES: &str = "\
Examples:
  trommel group log.jsonl '$.level'
  trommel group log.jsonl '$.service' '$.level' --sum '$.ms' --max '$.ms' --top 10
  trommel group log.jsonl day='$.date' --mean ms='$.timing.ms' --sort mean:ms
  trommel group data.json '$.region' --each '$.orders[*]' --sum '$.total'
  trommel group log.jsonl '$.url' --top 20 --approximate";

const RULES: &str = "\
The values of all queries form the key of a record, and records with equal keys are a group.
1 equals 1.0, and a missing value differs from null. Several matches in one record form one array.
Names are those in NAME=QUERY, or the last name in the query, or else the query itself.

Figures cover every match of their query and leave out nulls. Sums and means take numbers only; a
minimum or maximum takes only numbers, or only strings. Other values are errors.";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{RULES}"))]
pub(crate) struct GroupArgs {
    #[command(flatten)]
    pub(crate) arguments: Arguments,

    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) figures: FigureArgs,

    #[command(flatten)]
    pub(crate) records: RecordFilters,

    /// Print only the first N groups
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroUsize>)]
    pub(crate) top: Option<NonZeroUsize>,

    /// Sort by count, key, or a figure such as sum:NAME
    ///
    /// Counts and figures come in descending order, keys in ascending order. Groups that are equal
    /// keep the order in which they first appear. `sum` alone is enough if there is one sum.
    #[arg(long, value_name = "BY", default_value = "count")]
    pub(crate) sort: String,

    /// Allow at most N groups
    #[arg(long, value_name = "N", default_value_t = 1_000_000, help_heading = "Limits")]
    pub(crate) max_groups: usize,

    /// Use at most SIZE of memory for groups, such as 500MB or 2GiB
    #[arg(long, value_name = "SIZE", default_value = "64MiB", help_heading = "Limits")]
    #[arg(value_parser = values::size)]
    pub(crate) max_group_bytes: u64,

    /// Keep the most frequent groups beyond the limits
    ///
    /// Without it, exceeding --max-groups or --max-group-bytes is an error. With it, the answer has
    /// the member `error`: no count is too low, none is too high by more than this, and no missing
    /// group has more records.
    #[arg(long, help_heading = "Limits")]
    pub(crate) approximate: bool,

    /// Add the groups of each file
    #[arg(long)]
    pub(crate) by_file: bool,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,

    /// Exit with status 1 if no query of a key matches
    #[arg(short = 'e', long)]
    pub(crate) exit_status: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) bad_records: BadRecords,
}

/// The figures of groups.
#[derive(Debug, Args)]
pub(crate) struct FigureArgs {
    /// Add the exact sum of the matches of a query
    #[arg(long, value_name = "[NAME=]QUERY", value_parser = values::named_query)]
    pub(crate) sum: Vec<NamedQuery>,

    /// Add the mean of the matches of a query
    #[arg(long, value_name = "[NAME=]QUERY", value_parser = values::named_query)]
    pub(crate) mean: Vec<NamedQuery>,

    /// Add the smallest match of a query
    #[arg(long, value_name = "[NAME=]QUERY", value_parser = values::named_query)]
    pub(crate) min: Vec<NamedQuery>,

    /// Add the largest match of a query
    #[arg(long, value_name = "[NAME=]QUERY", value_parser = values::named_query)]
    pub(crate) max: Vec<NamedQuery>,

    /// Add the number of distinct matches of a query
    ///
    /// Exact up to 4,096 values in a group, then an estimate with the error bound `distinct_error`.
    #[arg(long, value_name = "[NAME=]QUERY", value_parser = values::named_query)]
    pub(crate) distinct: Vec<NamedQuery>,
}
