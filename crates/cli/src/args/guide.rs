use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::common::Framing;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel guide build data.json
  trommel count data.json '$.users[*]'       # reads the guide, not the data
  trommel guide build log.jsonl --beside
  trommel guide info data.json
  trommel guide verify data.json && echo intact
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
        /// File whose guide is shown
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
    /// Remove the guides of files
    Rm {
        /// Files whose guides are removed
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}
