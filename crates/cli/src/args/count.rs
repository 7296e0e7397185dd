use clap::{Args, ValueEnum};
use trommel::CountAs;

use super::{BadRecords, Engine, NamedQuery, RecordFilters, Source, values};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel count data.json '$.users[*]'
  trommel count data.json users='$.users' tags='$..tags' --as array-length
  trommel count log.jsonl '$' --where '@.level == \"error\"' --limit 100")]
pub(crate) struct CountArgs {
    #[command(flatten)]
    pub(crate) source: Source,

    /// JSONPath queries, each with a name in front if it is to have one
    #[arg(required = true, value_name = "[NAME=]QUERY", value_parser = values::named_query)]
    pub(crate) counts: Vec<NamedQuery>,

    /// What to count
    #[arg(long = "as", value_name = "TYPE", default_value = "matches")]
    pub(crate) count_as: CountType,

    #[command(flatten)]
    pub(crate) records: RecordFilters,

    /// Where to stop each count
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,

    /// Exit with status 1 when nothing is counted
    #[arg(long)]
    pub(crate) exit_status: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) bad_records: BadRecords,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CountType {
    /// The nodes
    Matches,
    /// The elements of the nodes, all of which must be arrays
    #[value(alias = "array_length")]
    ArrayLength,
    /// The members of the nodes, all of which must be objects
    #[value(alias = "object_keys")]
    ObjectKeys,
    /// The elements and members of the nodes
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
