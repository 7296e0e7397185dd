use std::path::PathBuf;

use clap::Args;

use super::values::{self, LineRange};
use super::{Engine, Source};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel read data.json
  trommel read data.json '$.users[17].name'
  trommel read output:01jqx0 '$.log' --max-chars 2000
  trommel read server.log --tail 20
  trommel read server.log --lines 100:150
  trommel read log.jsonl '$.level' --record 7

A page shows the start of one value of any size. If there is more, the page ends with the --cursor
of the next page. A stream is read as the array of its records: $[7] and --record 7 are the eighth.

An input that is not JSON is a text, of which a page shows whole lines. --lines, --tail, and --offset
read any file as text, and a stored output if it is one. They go straight to their part of it.")]
pub(crate) struct ReadArgs {
    /// Input file; - for standard input; output:ID for a stored output
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) source: Source,

    /// JSONPath query that can select only one value
    #[arg(default_value = "$")]
    pub(crate) path: String,

    /// Read record N of a stream, from 0; the query starts in it
    #[arg(long, value_name = "N")]
    pub(crate) record: Option<u32>,

    /// Read lines A to B of a text: 5:9, 100:, :20, or -20:
    ///
    /// Lines count from 1. Negative numbers count from the end; -1 is the last line.
    #[arg(long, value_name = "A:B", value_parser = values::lines, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["tail", "offset", "record"])]
    pub(crate) lines: Option<LineRange>,

    /// Read the last N lines of a text
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    #[arg(conflicts_with_all = ["offset", "record"])]
    pub(crate) tail: Option<u64>,

    /// Read a text from byte N on, such as the offset of a match
    #[arg(long, value_name = "N", conflicts_with = "record")]
    pub(crate) offset: Option<u64>,

    /// Continue from the cursor of the previous page
    ///
    /// A cursor is valid only for the same input, query, and lines.
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
