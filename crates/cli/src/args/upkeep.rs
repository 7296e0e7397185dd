use std::time::Duration;

use clap::Args;

use super::values;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel rm 01jqx0h4
  trommel rm output:01jqx0h4 output:api-response-123

The beginning of an id will do, if it has 6 characters or more and fits one output only. When
one of the ids fits none, nothing is deleted.")]
pub(crate) struct RmArgs {
    /// The outputs to delete
    #[arg(required = true, value_name = "ID", value_parser = values::id)]
    pub(crate) ids: Vec<String>,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel pin 01jqx0h4
  trommel pin --undo 01jqx0h4")]
pub(crate) struct PinArgs {
    /// The outputs to keep whatever gc does
    #[arg(required = true, value_name = "ID", value_parser = values::id)]
    pub(crate) ids: Vec<String>,

    /// Let them go again
    #[arg(long)]
    pub(crate) undo: bool,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel gc --dry-run --max-size 2GiB
  trommel gc --max-age 30 --max-count 1000

The oldest outputs go until the rest keeps to the limits; what is pinned or being read stays.
Without a limit only what broken-off writers have left goes, when it is an hour old.")]
pub(crate) struct GcArgs {
    /// Only say what would go
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Most bytes of all outputs, such as 500MB or 2GiB
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) max_size: Option<u64>,

    /// Most outputs
    #[arg(long, value_name = "N")]
    pub(crate) max_count: Option<u64>,

    /// Most days since an output was made
    #[arg(long, value_name = "DAYS", value_parser = values::days)]
    pub(crate) max_age: Option<Duration>,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel verify && echo all is as it was stored

Files that a killed writer has left are noted, and are no damage: gc removes them after an hour.")]
pub(crate) struct VerifyArgs {
    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel rebuild

The index is kept right by itself; it has to be made anew only when somebody has changed the
files of outputs.")]
pub(crate) struct RebuildArgs {
    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,
}
