use clap::{Args, ValueEnum};
use trommel::CountAs;

use super::{Arguments, BadRecords, Engine, RecordFilters, Source};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel count data.json '$.users[*]'
  trommel count data.json users='$.users' tags='$..tags' --as array-length
  trommel count log.jsonl                              # records
  trommel count log.jsonl orders.jsonl --by-file
  trommel count log.jsonl --where '@.level == \"error\"' --limit 100")]
pub(crate) struct CountArgs {
    #[command(flatten)]
    pub(crate) arguments: Arguments,

    #[command(flatten)]
    pub(crate) source: Source,

    /// Choose what to count
    #[arg(long = "as", value_name = "TYPE", default_value = "matches")]
    pub(crate) count_as: CountType,

    #[command(flatten)]
    pub(crate) records: RecordFilters,

    /// Stop each count at N
    ///
    /// Reading stops once every count has reached N; with --strict, at the end of that record or
    /// document.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Add a count for each file
    #[arg(long)]
    pub(crate) by_file: bool,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,

    /// Exit with status 1 if every count is zero
    #[arg(short = 'e', long)]
    pub(crate) exit_status: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) bad_records: BadRecords,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CountType {
    /// Matching nodes
    Matches,
    /// Elements of matching arrays; other matches are an error
    #[value(alias = "array_length")]
    ArrayLength,
    /// Members of matching objects; other matches are an error
    #[value(alias = "object_keys")]
    ObjectKeys,
    /// Elements and members of matching nodes
    #[value(alias = "nested_total")]
    NestedTotal,
}

impl From<CountType> for CountAs {
    fn from(count: CountType) -> Self {
        match count {
            CountType::Matches => Self::Matches,
            CountType::ArrayLength => Self::ArrayLength,
            CountType::ObjectKeys => Self::ObjectKeys,
            CountType::NestedTotal => Self::NestedTotal,
        }
    }
}
