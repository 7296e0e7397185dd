use clap::{Args, ValueEnum};
use trommel::path;

use super::{Arguments, BadRecords, Engine, Form, RecordFilters, Source, ValueStyle, values};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel extract data.json '$.users[*].name'
  trommel extract data.json '$..price' -o located --limit 10
  trommel extract data.json '$.users[*].name' -r -0 | xargs -0 -n1 echo
  trommel extract '$.id' '$.total' --order document < orders.jsonl
  trommel extract log.jsonl --where '@.level == \"error\"'
  trommel extract data.json '$.name' '$.nick' --json --default '\"none\"'

Values are printed query by query, one per line, with numbers and members as written in the input.
Without a query, whole records are printed.")]
pub(crate) struct ExtractArgs {
    #[command(flatten)]
    pub(crate) arguments: Arguments,

    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) records: RecordFilters,

    /// Choose what to print for each match
    ///
    /// Cannot be combined with --json.
    #[arg(short, long, value_name = "FORM", default_value = "values", conflicts_with = "json")]
    pub(crate) output: Form,

    #[command(flatten)]
    pub(crate) style: ValueStyle,

    /// Print the file before each value, followed by a tab
    #[arg(short = 'H', long, conflicts_with = "json")]
    pub(crate) with_filename: bool,

    /// Order values by query (rfc) or by position (document)
    ///
    /// With rfc, the values of each query come in the order of RFC 9535. Values of later queries
    /// are held, if necessary in temporary files (see --spool-limit). With document, all queries
    /// are interleaved, and values are printed as they are found.
    #[arg(long, value_name = "ORDER", default_value = "rfc", hide_possible_values = true)]
    pub(crate) order: ValueOrder,

    /// Stop after N values per query
    ///
    /// Reading stops once every query has N values; with --strict, at the end of that record or
    /// document.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    #[arg(long, help = "Print one JSON document: {\"extracted\": …, \"missing_paths\": […]}")]
    pub(crate) json: bool,

    /// Put all values into one array (needs --json)
    #[arg(long, requires = "json", hide_short_help = true)]
    pub(crate) flatten: bool,

    /// Add the path to the values of each query (needs --json)
    #[arg(long, requires = "json", hide_short_help = true)]
    pub(crate) include_paths: bool,

    /// Use this value instead of null if a query has no match (needs --json)
    #[arg(long, value_name = "JSON", requires = "json", value_parser = values::json)]
    pub(crate) default: Option<String>,

    /// Exit with status 1 if nothing matches
    ///
    /// Without it, a run without matches succeeds.
    #[arg(short = 'e', long)]
    pub(crate) exit_status: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) bad_records: BadRecords,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ValueOrder {
    /// Query by query, each in the order of RFC 9535
    Rfc,
    /// By position in the input, all queries interleaved
    Document,
}

impl From<ValueOrder> for path::Order {
    fn from(order: ValueOrder) -> Self {
        match order {
            ValueOrder::Rfc => Self::Rfc,
            ValueOrder::Document => Self::Document,
        }
    }
}
