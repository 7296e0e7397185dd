use clap::{Args, ValueEnum};
use trommel::path;

use super::{BadRecords, Engine, RecordFilters, Source, values};
use crate::output::LineForm;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel extract data.json '$.users[*].name'
  trommel extract data.json '$..price' --output located --limit 10
  trommel extract - '$.id' '$.total' --order document < orders.jsonl
  trommel extract log.jsonl '$' --where '@.level == \"error\"'
  trommel extract data.json '$.name' '$.nick' --json --default '\"none\"'

Values come query by query, one a line, as they stand in the input.")]
pub(crate) struct ExtractArgs {
    #[command(flatten)]
    pub(crate) source: Source,

    /// JSONPath queries
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) queries: Vec<String>,

    #[command(flatten)]
    pub(crate) records: RecordFilters,

    /// What to print of each match
    #[arg(long, value_name = "FORM", default_value = "values", conflicts_with = "json")]
    pub(crate) output: Form,

    /// The order of the values
    #[arg(long, value_name = "ORDER", default_value = "rfc")]
    pub(crate) order: Sequence,

    /// Most values of each query
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    #[arg(long, help = "Print one JSON document: {\"extracted\": …, \"missing_paths\": […]}")]
    pub(crate) json: bool,

    /// With --json: all values in one array
    #[arg(long, requires = "json")]
    pub(crate) flatten: bool,

    /// With --json: the path beside its values
    #[arg(long, requires = "json")]
    pub(crate) include_paths: bool,

    /// With --json: what a query without a match gives instead of null
    #[arg(long, value_name = "JSON", requires = "json", value_parser = values::json)]
    pub(crate) default: Option<String>,

    /// Exit with status 1 when nothing matches
    #[arg(long)]
    pub(crate) exit_status: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) bad_records: BadRecords,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// The value, without insignificant white space
    Values,
    /// The bytes as they stand
    Raw,
    /// The normalized path
    Paths,
    /// A JSON object with path, value and byte offsets
    Located,
}

impl From<Form> for LineForm {
    fn from(form: Form) -> Self {
        match form {
            Form::Values => Self::Values,
            Form::Raw => Self::Raw,
            Form::Paths => Self::Paths,
            Form::Located => Self::Located,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sequence {
    /// Query by query, each in the order of RFC 9535
    Rfc,
    /// As they begin in the input, all queries together
    Document,
}

impl From<Sequence> for path::Order {
    fn from(sequence: Sequence) -> Self {
        match sequence {
            Sequence::Rfc => Self::Rfc,
            Sequence::Document => Self::Document,
        }
    }
}
