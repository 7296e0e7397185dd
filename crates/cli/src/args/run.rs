use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel run workflow.md --dry-run
  trommel run workflow.md --root notes --session monday
  TROMMEL_MODEL_URL=http://127.0.0.1:8080/v1 TROMMEL_MODEL=small trommel run workflow.md

A step stands under a heading `## NAME`: directives (@input, @tools, @output, @model, @write-mode,
@header), then its prompt. The model is any OpenAI-compatible endpoint: $TROMMEL_MODEL_URL,
$TROMMEL_MODEL_KEY, $TROMMEL_MODEL (else $OPENAI_BASE_URL, $OPENAI_API_KEY, $OPENAI_MODEL). A step
with `@model none` asks none.")]
pub(crate) struct RunArgs {
    /// The document
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

    /// Print one JSON document in the end
    #[arg(long)]
    pub(crate) json: bool,
}
