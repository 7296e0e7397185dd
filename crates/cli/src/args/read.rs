use clap::Args;

use super::{Engine, Source};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel read data.json
  trommel read data.json '$.users[17].name'
  trommel read output:01jqx0 '$.log' --max-chars 2000

A page shows the beginning of one value, however large. What goes on is told with the --cursor
that shows the next page.")]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    pub(crate) source: Source,

    /// The value to read, a JSONPath query that can select one only
    #[arg(default_value = "$")]
    pub(crate) path: String,

    /// Where to go on, as the page before told
    #[arg(long, value_name = "C")]
    pub(crate) cursor: Option<String>,

    /// Most characters of the page, from 200 to 100000
    #[arg(long, value_name = "N", default_value_t = 8_000)]
    #[arg(value_parser = clap::value_parser!(u32).range(200..=100_000))]
    pub(crate) max_chars: u32,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,
}
