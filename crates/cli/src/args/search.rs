use std::ffi::OsString;

use clap::Args;

use super::Source;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel search 'out of memory' server.log --context 2
  trommel search shop data.json                     # strings, with their paths
  trommel search --regex 'time(d )?out' --ignore-case server.log output:01jqx0
  gzip -dc log.jsonl.gz | trommel search error

In text, whole lines are searched. In JSON, the decoded string values are, not names and numbers;
to search values by path, use `trommel extract` with search(). An input is JSON if all of it is
valid JSON, or if --input or its name says so; a line of JSON Lines that is not JSON is searched as
text.

In a pipe the answer is one JSON document: {\"matches\": [{\"line\" or \"path\" and \"record\",
\"offset\", \"text\", …}, …], \"total\": N}.")]
pub(crate) struct SearchArgs {
    /// Text to find
    pub(crate) pattern: String,

    /// Input files; - for standard input; output:ID for a stored output [default: -]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<OsString>,

    #[command(flatten)]
    pub(crate) source: Source,

    /// Treat PATTERN as a regular expression, in the syntax of Rust's regex
    ///
    /// ^ and $ match at the ends of each line or string. Searching takes linear time.
    #[arg(long)]
    pub(crate) regex: bool,

    /// Ignore upper and lower case
    #[arg(short, long)]
    pub(crate) ignore_case: bool,

    /// Show N lines of text around matches, or N characters of strings
    ///
    /// Without it, a line or string is shown whole if it is short, and otherwise cut around the
    /// match.
    #[arg(short = 'C', long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub(crate) context: Option<u16>,

    /// Stop after N matches
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<u64>,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,

    /// Exit with status 1 if nothing matches
    #[arg(short = 'e', long)]
    pub(crate) exit_status: bool,
}
