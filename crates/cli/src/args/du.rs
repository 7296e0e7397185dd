use std::num::{NonZeroU32, NonZeroUsize};

use clap::Args;

use super::{Arguments, BadRecords, Engine, RecordFilters, Source, values};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel du data.json
  trommel du log.jsonl.gz --depth 3
  trommel du data.json '$.users[*]' --top 100
  trommel du log.jsonl --where '@.level == \"error\"'")]
pub(crate) struct DuArgs {
    #[command(flatten)]
    pub(crate) arguments: Arguments,

    #[command(flatten)]
    pub(crate) source: Source,

    #[command(flatten)]
    pub(crate) records: RecordFilters,

    /// List paths of at most N levels; the root is level 1 [default: all]
    ///
    /// The bytes of deeper values are part of those that contain them.
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroU32>)]
    pub(crate) depth: Option<NonZeroU32>,

    /// List the N largest paths [default: 40; in JSON 1,000]
    #[arg(short = 'n', long, value_name = "N", value_parser = values::at_least_one::<NonZeroUsize>)]
    pub(crate) top: Option<NonZeroUsize>,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) engine: Engine,

    #[command(flatten)]
    pub(crate) bad_records: BadRecords,
}
