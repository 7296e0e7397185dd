use std::path::PathBuf;

use clap::Args;

use super::{Engine, Source};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel read data.json
  trommel read data.json '$.users[17].name'
  trommel read output:01jqx0 '$.log' --max-chars 2000

A page shows the start of one value of any size. If there is more, the page ends with the --cursor
of the next page.")]
pub(crate) struct ReadArgs {
    /// Input file; - for standard input; output:ID for a stored output
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) source: Source,

    /// JSONPath query that can select only one value
    #[arg(default_value = "$")]
    pub(crate) path: String,

    /// Continue from the cursor of the previous page
    ///
    /// A cursor is valid only for the same input and query.
    #[arg(long, value_name = "C")]
    pub(crate) cursor: Option<String>,

    /// Limit the page to N characters, from 200 to 100000
    #[arg(long, value_name = "N", default_value_t = 8_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(200..=100_000))]
    pub(crate) max_chars: u32,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,
}
