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

What is stored never changes. JSON is checked as it passes; what is no JSON is kept as text.")]
pub(crate) struct PutArgs {
    /// What to store: a file, output:ID, or - for standard input; gzip and zstd are unpacked
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,

    /// How it is divided into records [default: by the name, else auto]
    ///
    /// What is not divided that way is kept as text. A name that ends in .jsonl or .ndjson, also
    /// before .gz or .zst, means jsonl unless this option is given.
    #[arg(long, value_name = "FRAMING")]
    pub(crate) input: Option<Framing>,

    /// The tool whose output it is
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: String,

    /// The id to store it under [default: a new one]
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,

    /// The conversation it belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,

    /// The message it belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) message: Option<String>,

    /// The tool failed
    #[arg(long)]
    pub(crate) failed: bool,

    /// The arguments of the tool's call; secrets in them are blotted out
    #[arg(long, value_name = "JSON", value_parser = values::value)]
    pub(crate) param: Option<Value>,

    /// Print all that is known of it as one JSON document, instead of its id
    #[arg(long)]
    pub(crate) json: bool,

    /// Most unpacked bytes for each packed one, after the first 64 MiB
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Limits")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit_ratio: u64,
}
