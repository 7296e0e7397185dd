use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel run workflow.md --dry-run
  trommel run workflow.md --root notes --session monday
  trommel run workflow.md --wrap web='npx -y web-server'   # @tools web_search, …
  TROMMEL_MODEL_URL=http://127.0.0.1:8080/v1 TROMMEL_MODEL=small trommel run workflow.md

A step is a heading `## NAME`, directives (@input, @tools, @output, @model, @write-mode, @header),
and a prompt. A step with `@model none` calls no model. docs/DIRECTIVES.md describes documents.

Any OpenAI-compatible endpoint can be the model. Set $TROMMEL_MODEL_URL, $TROMMEL_MODEL_KEY, and
$TROMMEL_MODEL, or else $OPENAI_BASE_URL, $OPENAI_API_KEY, and $OPENAI_MODEL. An https:// address
needs a program that was built with the feature `tls` or `cloud`.")]
pub(crate) struct RunArgs {
    /// Document to run, or - for standard input
    pub(crate) file: PathBuf,

    /// Read and write files below DIR [default: the document's folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Show what each step would do without running it
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Keep variables with scope=session under this ID
    ///
    /// The session also stores the list of files that `{pending}` has processed.
    #[arg(long, value_name = "ID", default_value = "default")]
    pub(crate) session: String,

    /// Print one JSON document at the end
    ///
    /// If a step fails, the JSON document contains the completed steps, the work that the failed
    /// step completed (`partial`), and the `error`.
    #[arg(long)]
    pub(crate) json: bool,

    /// Let `@tools all` change agent sessions
    ///
    /// Also permits tools that require approval, and tools of wrapped servers that do not declare
    /// that they only read. A step that names a tool in `@tools` may call it without this option.
    #[arg(long)]
    pub(crate) approve: bool,

    /// Stop a request to the model after S seconds
    #[arg(long, value_name = "S", env = "TROMMEL_MODEL_TIMEOUT", hide_env_values = true, default_value = "600", value_parser = values::seconds)]
    pub(crate) model_timeout: Duration,

    #[cfg(feature = "mcp")]
    #[command(flatten)]
    pub(crate) wrapping: super::Wrapping,
}
