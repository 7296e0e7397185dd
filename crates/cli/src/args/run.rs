use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel run workflow.md --dry-run
  trommel run workflow.md --root notes --session monday
  TROMMEL_MODEL_URL=http://127.0.0.1:8080/v1 TROMMEL_MODEL=small trommel run workflow.md

A step stands under a heading `## NAME`: directives (@input, @tools, @output, @model, @write-mode,
@header), then its prompt. The model is any OpenAI-compatible endpoint: $TROMMEL_MODEL_URL,
$TROMMEL_MODEL_KEY, $TROMMEL_MODEL (else $OPENAI_BASE_URL, $OPENAI_API_KEY, $OPENAI_MODEL). A step
with `@model none` asks none. docs/DIRECTIVES.md describes documents.")]
pub(crate) struct RunArgs {
    /// The document, or - for standard input
    pub(crate) file: PathBuf,

    /// The folder that files are read and written below [default: the document's]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Only say what would happen
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// The session whose variables outlive the run
    #[arg(long, value_name = "ID", default_value = "default")]
    pub(crate) session: String,

    /// Print one JSON document at the end
    ///
    /// If a step fails, the document has the completed steps, what the failed step had done
    /// (`partial`), and the `error`.
    #[arg(long)]
    pub(crate) json: bool,

    /// Let `@tools all` change agents' sessions
    ///
    /// Also approves calls of tools that need approval. A step that names `session` in `@tools` may
    /// change sessions anyway.
    #[arg(long)]
    pub(crate) approve: bool,

    /// Most seconds that a request to the model may take
    #[arg(long, value_name = "S", env = "TROMMEL_MODEL_TIMEOUT", hide_env_values = true, default_value = "600", value_parser = values::seconds)]
    pub(crate) model_timeout: Duration,
}
