use std::path::PathBuf;

use clap::Args;

use super::common::Framing;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel explore data.json
  trommel explore log.jsonl --follow
  curl -s https://api.example.com/users | trommel explore
  trommel explore output:01m89z

Keys: arrows or h j k l move, / searches, : lists the results of a query, f filters, t shows a
table, d describes, y copies, w writes, ? lists all keys, and q quits.")]
pub(crate) struct ExploreArgs {
    /// Input file; - for standard input; output:ID for a stored output
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,

    /// Set the record framing [default: by file name, else auto]
    #[arg(long, value_name = "FRAMING")]
    pub(crate) input: Option<Framing>,

    /// Show lines that are appended to the file
    #[arg(long)]
    pub(crate) follow: bool,

    /// Neither use nor build the guide of the file
    ///
    /// Without this option, a guide is built in the background, and that of a file of 1 MB and more
    /// is kept below `$TROMMEL_HOME/guides`. `TROMMEL_GUIDE=off` does the same.
    #[arg(long)]
    pub(crate) no_guide: bool,

    /// Print a screen of this size, instead of showing it
    #[arg(long, value_name = "COLUMNSxROWS", value_parser = size)]
    pub(crate) print: Option<(u16, u16)>,

    /// Press keys before printing: characters, or names such as <Enter> and <C-d>
    #[arg(long, value_name = "KEYS", requires = "print", default_value = "", hide_default_value = true)]
    pub(crate) keys: String,
}

/// Columns and rows, as in `80x24`.
fn size(text: &str) -> Result<(u16, u16), String> {
    let parsed =
        text.split_once('x').and_then(|(columns, rows)| Some((columns.parse().ok()?, rows.parse().ok()?)));
    let fits = parsed.filter(|&(columns, rows)| columns > 0 && rows > 0 && columns <= 1000 && rows <= 1000);
    fits.ok_or_else(|| "write columns and rows up to 1000, as in 80x24".to_owned())
}
