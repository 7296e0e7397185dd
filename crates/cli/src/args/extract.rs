#[cfg(feature = "table")]
use std::path::PathBuf;

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
  trommel extract log.jsonl '$.ts' '$.user.id' -o csv > log.csv
  trommel extract data.json --each '$.users[*]' '$.name' tag='$.tags[0]' -o tsv

Values are printed query by query, one per line, with numbers and members as written in the input.
Without a query, whole records are printed.")]
pub(crate) struct ExtractArgs {
    #[command(flatten)]
    pub(crate) arguments: Arguments,

    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) records: RecordFilters,

    /// Choose what to print for each match, or for each record
    ///
    /// objects, csv, and tsv print a row for each record, with a column for each query. A column is
    /// named by NAME=$…, by the last name in the query, or by its text. Several matches in a record
    /// are a JSON array. In csv and tsv, null is an empty cell, and an empty string is "".
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

    /// Stop after N values per query, or after N rows
    ///
    /// Reading stops once every query has N values; with --strict, at the end of that record or
    /// document.
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Skip the first N values of each query, or N rows
    ///
    /// --limit counts the values after them.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) skip: u64,

    /// Omit the names of the columns (-o csv and tsv)
    #[arg(long, hide_short_help = true)]
    pub(crate) no_header: bool,

    #[cfg(feature = "table")]
    #[command(flatten)]
    pub(crate) table: TableArgs,

    #[arg(long, help = "Print one JSON document: {\"extracted\": …, \"missing_paths\": […]}")]
    pub(crate) json: bool,

    /// Put all values into one array (needs --json)
    #[arg(long, requires = "json", hide_short_help = true)]
    pub(crate) flatten: bool,

    /// Add the path to the values of each query (needs --json)
    #[arg(long, requires = "json", hide_short_help = true)]
    pub(crate) include_paths: bool,

    /// Use this value for a query without a match
    ///
    /// Works with --json, and with -o objects, csv, and tsv for each record. It is null by default.
    #[arg(long, value_name = "JSON", value_parser = values::json)]
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

/// The options of tables.
#[cfg(feature = "table")]
#[derive(Clone, Debug, Args)]
pub(crate) struct TableArgs {
    /// Read the types of the columns from a JSON Schema (-o parquet and arrow)
    ///
    /// The schema is one that trommel schema prints. The input is then read once. Without a schema,
    /// the types are those of all rows.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) schema: Option<PathBuf>,

    /// Handle rows that do not fit the schema: stop, null, or skip (-o parquet and arrow)
    ///
    /// With null, the column that does not fit is null; with skip, the row is left out. Both are
    /// counted.
    #[arg(
        long,
        value_name = "POLICY",
        default_value = "stop",
        requires = "schema",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(crate) on_bad_row: BadRowPolicy,

    /// Write numbers that no type holds exactly as text, or as doubles (-o parquet and arrow)
    ///
    /// exact writes such columns as text, with the numbers as written in the input. float rounds
    /// them, and reports how many it changed.
    #[arg(
        long,
        value_name = "NUMBERS",
        default_value = "exact",
        hide_possible_values = true,
        hide_short_help = true
    )]
    pub(crate) numbers: NumberForm,

    /// Write values with more than N levels of arrays and objects as JSON (-o parquet and arrow)
    #[arg(long, value_name = "N", default_value_t = 8, hide_short_help = true)]
    pub(crate) depth: u32,
}

#[cfg(feature = "table")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BadRowPolicy {
    /// The first one is an error
    Stop,
    /// The column that does not fit is null
    Null,
    /// The row is left out
    Skip,
}

#[cfg(feature = "table")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NumberForm {
    /// As text
    Exact,
    /// As rounded doubles
    Float,
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
