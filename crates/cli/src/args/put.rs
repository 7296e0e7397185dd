use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::common::Framing;
use super::values;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel put page.json --tool web.fetch
  id=$(curl -s https://example.org/api | trommel put --tool web.fetch)
  trommel put log.jsonl.gz --tool ci.log --conversation conv-7 --param '{\"run\": 7}'

A stored output never changes. Input that is not valid JSON is stored as text. A log in which
at least nine of ten lines are JSON is an exception: queries skip the other lines.")]
pub(crate) struct PutArgs {
    /// Input file, output:ID, or - for standard input; decompressed if packed
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// Set the record framing [default: by file name, else auto]
    ///
    /// Input that does not match the framing is stored as text, except that auto and jsonl accept
    /// one damaged line in ten. Names that end in .jsonl or .ndjson, also before .gz, .zst, .bz2,
    /// or .xz, imply jsonl unless this option is given.
    #[arg(long, value_name = "FRAMING")]
    pub(crate) input: Option<Framing>,

    /// Record NAME as the tool that made the output
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: String,

    /// Store the output under this ID [default: a new one]
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// Record the conversation that the output belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,

    /// Record the message that the output belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) message: Option<String>,

    /// Record that the tool failed
    #[arg(long)]
    pub(crate) failed: bool,

    /// Record the arguments of the tool call, with secrets redacted
    #[arg(long, value_name = "JSON", value_parser = values::value)]
    pub(crate) param: Option<Value>,

    /// Print the metadata as one JSON document instead of the ID
    #[arg(long)]
    pub(crate) json: bool,

    /// Refuse input that expands more than N times after the first 64 MiB
    ///
    /// Protects against decompression bombs.
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Limits")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit_ratio: u64,
}
