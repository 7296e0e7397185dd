use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::{Files, Source, values};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel report data.json --to report.html
  trommel report log.jsonl.gz --to report.html --exact
  trommel report --compare last-week.json today.json --to changes.html
  curl -s https://api.example.com/orders | trommel report --to report.html

The page loads nothing and opens from disk. Malformed records are skipped and listed. If a document
is broken, the page covers the data before the error.")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) files: Files,

    #[command(flatten)]
    pub(crate) page: PageArgs,

    /// Show what changed between two files, the earlier one first
    #[arg(long)]
    pub(crate) compare: bool,

    /// Compute the figures of values from all rows
    ///
    /// Without it, arrays and streams with more rows than --sample are sampled. Sizes, types, and
    /// counts are always exact.
    #[arg(long, conflicts_with = "sample")]
    pub(crate) exact: bool,

    /// Draw about N rows of each longer array for the figures of values
    #[arg(long, value_name = "N", default_value = "100000")]
    #[arg(value_parser = values::at_least_one::<NonZeroUsize>)]
    pub(crate) sample: NonZeroUsize,

    /// Set the random seed of the samples
    #[arg(long, value_name = "S", default_value = "0", allow_negative_numbers = true)]
    #[arg(value_parser = values::seed)]
    pub(crate) seed: u64,

    /// Omit the sampled records
    #[arg(long)]
    pub(crate) no_samples: bool,

    /// Show secrets, such as the values of names like `password`
    #[arg(long)]
    pub(crate) no_redact: bool,

    #[command(flatten)]
    pub(crate) source: Source,
}

/// The file, the heading, and the size of a page.
#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// Write the page to PATH [default: standard output, unless it is a terminal]
    ///
    /// The file appears when the page is complete.
    #[arg(long, value_name = "PATH")]
    pub(crate) to: Option<PathBuf>,

    /// Set the heading of the page [default: the inputs, or the session]
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,

    /// Write at most SIZE, with fewer paths or rows if needed
    #[arg(long, value_name = "SIZE", default_value = "2MB", value_parser = values::size)]
    pub(crate) max_size: u64,
}

impl PageArgs {
    /// The maximum number of bytes of the page.
    pub(crate) fn max_bytes(&self) -> usize {
        usize::try_from(self.max_size).unwrap_or(usize::MAX)
    }
}
