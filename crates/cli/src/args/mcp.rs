use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel mcp                                   # serve the tools over standard input and output
  trommel mcp --allow-writes notes              # also export buffers below notes, and change sessions")]
pub(crate) struct McpArgs {
    #[command(flatten)]
    pub(crate) serve: ServeArgs,
}

/// The options of the server.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Let tools change sessions, and export buffers to files below DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) allow_writes: Option<PathBuf>,

    /// Stop a call after S seconds without progress
    #[arg(long, value_name = "S", default_value = "300", value_parser = values::seconds)]
    pub(crate) timeout: Duration,
}
