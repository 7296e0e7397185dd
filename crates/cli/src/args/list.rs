use std::num::NonZeroU64;

use clap::{Args, ValueEnum};

use super::values;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel list --limit 10
  trommel list --tool web.fetch --success false --after 2026-01-31
  trommel list --sort-by size --json | trommel extract - '$.outputs[*].id'")]
pub(crate) struct ListArgs {
    /// List only outputs of this conversation
    #[arg(long, value_name = "ID")]
    pub(crate) conversation: Option<String>,

    /// List only outputs of this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,

    /// List only outputs of successful (true) or failed (false) calls
    #[arg(long, value_name = "true|false")]
    pub(crate) success: Option<bool>,

    /// List only outputs stored after TIME, such as 2026-01-31
    ///
    /// TIME is a date, which means midnight in the local time zone, a time such as
    /// 2026-01-31T12:00:00Z, or Unix time.
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = values::time)]
    pub(crate) after: Option<i64>,

    /// List only outputs stored before TIME; takes the forms of --after
    #[arg(long, value_name = "TIME", allow_negative_numbers = true, value_parser = values::time)]
    pub(crate) before: Option<i64>,

    /// List at most N outputs [default: all]
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroU64>)]
    pub(crate) limit: Option<NonZeroU64>,

    /// Skip the first N outputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,

    /// Sort by this field
    #[arg(long, value_name = "FIELD", default_value = "created_at")]
    pub(crate) sort_by: SortBy,

    /// Sort in this direction
    #[arg(long, value_name = "ORDER", default_value = "desc")]
    pub(crate) sort_order: SortOrder,

    /// Show previews of N characters, at most 500
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u16).range(..=500))]
    pub(crate) preview_length: u16,

    /// Omit the previews
    #[arg(long, conflicts_with = "preview_length")]
    pub(crate) no_preview: bool,

    /// Show times in UTC
    #[arg(long)]
    pub(crate) utc: bool,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum SortBy {
    /// The time of storing
    CreatedAt,
    /// The size in bytes
    Size,
    /// The name of the tool
    ToolName,
}

impl From<SortBy> for trommel_store::SortBy {
    fn from(sort_by: SortBy) -> Self {
        match sort_by {
            SortBy::CreatedAt => Self::CreatedAt,
            SortBy::Size => Self::Size,
            SortBy::ToolName => Self::ToolName,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SortOrder {
    /// Ascending
    Asc,
    /// Descending
    Desc,
}

impl From<SortOrder> for trommel_store::SortOrder {
    fn from(order: SortOrder) -> Self {
        match order {
            SortOrder::Asc => Self::Asc,
            SortOrder::Desc => Self::Desc,
        }
    }
}
