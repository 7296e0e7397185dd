use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::common::Framing;
use super::values;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel guide build data.json
  trommel count data.json '$.users[*]'       # reads the guide, not the data
  trommel guide build log.jsonl --beside
  trommel guide info data.json
  trommel guide verify data.json && echo intact
  trommel guide parts data.json -n 4 --each '$.users[*]'
  trommel guide rm data.json

A guide knows where the long arrays and objects of a file are, and its statistics. Commands use it
while the file is unchanged, unless --no-guide is given or TROMMEL_GUIDE=off is set. Answers are
those without a guide.")]
pub(crate) struct GuideArgs {
    #[command(subcommand)]
    pub(crate) operation: GuideOperation,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GuideOperation {
    /// Build the guides of files
    Build {
        /// Files to describe
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,

        /// Write each guide next to its file, as FILE.guide
        ///
        /// Without this option, guides are kept below `$TROMMEL_HOME/guides`: at most 256 MiB, the
        /// least recently used are removed.
        #[arg(long)]
        beside: bool,

        /// Set the record framing [default: by file name, else auto]
        #[arg(long, value_name = "FRAMING")]
        input: Option<Framing>,

        /// Print one JSON document, as in a pipe
        #[arg(long)]
        json: bool,
    },
    /// Show what a guide knows, and if it fits its file
    Info {
        /// File whose guide is shown, or output:ID for a stored output
        file: PathBuf,

        /// Print one JSON document, as in a pipe
        #[arg(long)]
        json: bool,
    },
    /// Read a file again, and compare it with its guide
    Verify {
        /// File whose guide is checked
        file: PathBuf,

        /// Set the record framing [default: by file name, else auto]
        #[arg(long, value_name = "FRAMING")]
        input: Option<Framing>,
    },
    /// Divide the elements of a long array for several processes or machines
    ///
    /// Each part is a query for --each. Merged counts, statistics, and groups of the parts are
    /// those of all elements.
    Parts {
        /// File whose guide divides it
        file: PathBuf,

        /// Divide into N parts of about the same size, or fewer if the array is short
        #[arg(short = 'n', long, value_name = "N", value_parser = values::at_least_one::<NonZeroU64>)]
        parts: NonZeroU64,

        /// Elements to divide, such as '$.users[*]' [default: those of the longest array]
        #[arg(long, value_name = "QUERY")]
        each: Option<String>,

        /// Print one JSON document, as in a pipe
        #[arg(long)]
        json: bool,
    },
    /// Remove the guides of files
    Rm {
        /// Files whose guides are removed
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}
