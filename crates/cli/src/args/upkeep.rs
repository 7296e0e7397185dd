use std::time::Duration;

use clap::Args;

use super::values;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel rm 01jqx0h4
  trommel rm output:01jqx0h4 output:api-response-123

Any unique prefix of at least six characters is accepted as an ID. If an ID matches no output,
nothing is deleted.")]
pub(crate) struct RmArgs {
    /// Outputs to delete
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
    /// Outputs to pin
    #[arg(required = true, value_name = "ID", value_parser = values::id)]
    pub(crate) ids: Vec<String>,

    /// Unpin the outputs
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

Evicts the oldest outputs until the limits are met. Pinned outputs and outputs that are being read
stay. Without a limit, only removes leftovers of interrupted writes that are an hour old.")]
pub(crate) struct GcArgs {
    /// Show what would be removed without removing it
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Keep at most SIZE of outputs, such as 500MB or 2GiB
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub(crate) max_size: Option<u64>,

    /// Keep at most N outputs
    #[arg(long, value_name = "N")]
    pub(crate) max_count: Option<u64>,

    /// Evict outputs older than DAYS
    #[arg(long, value_name = "DAYS", value_parser = values::days)]
    pub(crate) max_age: Option<Duration>,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel verify && echo intact

Leftovers of killed writers are notes, not damage; gc removes them when they are an hour old.")]
pub(crate) struct VerifyArgs {
    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel rebuild

The index is updated automatically. Rebuild it only if the files of outputs were changed by
hand.")]
pub(crate) struct RebuildArgs {
    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,
}
