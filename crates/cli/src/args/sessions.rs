#[cfg(feature = "cloud")]
use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::PageArgs;
use super::session_folders::SessionFolders;
use super::values;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel sessions list --date-range last_week
  trommel sessions search 'connection refused' --scope transcript
  trommel sessions get 5d1c0a9e --transcript
  trommel sessions events 5d1c0a9e --type 'llm:*' --field data.model --field data.usage
  trommel sessions usage --date-range last_week --by day,model
  trommel sessions report 5d1c0a9e --to session.html
  trommel sessions analyze logs/session.jsonl timeline
  trommel sessions rewind 5d1c0a9e --to-turn 3           # show what would be removed
  trommel sessions rewind 5d1c0a9e --to-turn 3 --apply   # remove it; `undo` restores it

SESSION is an ID, a unique ID prefix, PROJECT/ID, or the path of a session's folder or file.
Sessions are those of Amplifier and Claude Code; a path may also name a chat log.")]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) operation: SessionOperation,
}

/// The options of every operation.
#[derive(Debug, Args)]
pub(crate) struct Shared {
    #[command(flatten)]
    pub(crate) folders: SessionFolders,

    /// Show times in UTC
    #[arg(long)]
    pub(crate) utc: bool,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,
}

/// The session argument.
#[derive(Debug, Args)]
pub(crate) struct SessionArg {
    /// Session: an ID, a unique ID prefix, PROJECT/ID, or a path
    // Projects' names begin with a hyphen.
    #[arg(value_name = "SESSION", allow_hyphen_values = true, value_parser = session)]
    pub(crate) session: String,
}

const RANGE_HELP: &str =
    "Only this range of days: today, yesterday, this_week, last_week, last_month, 2026-03-01, or FROM:TO";

const FIELD_HELP: &str = "aggregate: Aggregate this numeric field, such as data.duration_ms";

/// The options that select sessions.
#[derive(Debug, Args)]
pub(crate) struct SessionFilter {
    /// Only this project: its name, its directory, or part of either
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) project: Option<String>,

    #[arg(long, value_name = "RANGE", help = RANGE_HELP)]
    pub(crate) date_range: Option<String>,

    /// Exclude sessions that are stored only in the cloud
    #[arg(long)]
    pub(crate) local: bool,
}

/// The options that select rows.
#[derive(Debug, Args)]
pub(crate) struct Rows {
    /// Show at most N rows [default: all]
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroU64>)]
    pub(crate) limit: Option<NonZeroU64>,

    /// Skip the first N rows
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionOperation {
    /// List sessions, most recently changed first
    List(ListSessions),
    /// Show session metadata and, optionally, the transcript
    Get(GetSession),
    /// Search descriptions, messages, and events for a text
    Search(SearchSessions),
    /// Print selected fields of a session's events
    Events(SessionEvents),
    /// Summarize events: errors, timeline, token usage, aggregates
    Analyze(AnalyzeSession),
    /// Total the tokens of many sessions by day, week, month, project, or model
    Usage(TotalUsage),
    /// Write a page about a session, or about the sessions of some days
    Report(ReportSessions),
    /// Cut a session back to a turn, a message, or a time
    Rewind(RewindSession),
    /// Undo the last rewind or repair of a session
    Undo {
        #[command(flatten)]
        target: SessionArg,

        #[command(flatten)]
        shared: Shared,
    },
    /// Report the sync status of sessions, or sync them
    Sync {
        /// Session to sync or report on [default: all local sessions]
        #[arg(value_name = "SESSION", allow_hyphen_values = true, value_parser = session)]
        session: Option<String>,

        #[cfg(feature = "cloud")]
        #[command(flatten)]
        exchange: Exchange,

        #[command(flatten)]
        shared: Shared,
    },
    /// Report why a session cannot be resumed
    Diagnose {
        #[command(flatten)]
        target: SessionArg,

        /// Exit with status 1 if the session is broken or damaged
        #[arg(long)]
        exit_status: bool,

        #[command(flatten)]
        shared: Shared,
    },
    /// Fix the transcript of a session
    Repair {
        #[command(flatten)]
        target: SessionArg,

        /// Apply the repair, after a backup; without it, only preview it
        #[arg(long)]
        apply: bool,

        #[command(flatten)]
        shared: Shared,
    },
}

/// The options of `sync` that transfer sessions, or exclude them from transfers.
#[cfg(feature = "cloud")]
#[derive(Debug, Args)]
pub(crate) struct Exchange {
    /// Sync; without it, only report the status
    ///
    /// Exits with status 1 if a conflict remains or a session could not be synced.
    #[arg(long)]
    pub(crate) apply: bool,

    /// Create the storage's folder first (needs --apply)
    ///
    /// Fails unless the storage is a folder (`file:///FOLDER`). Without this option, a missing or
    /// empty folder counts as not connected, because its disk may not be mounted.
    #[arg(long, requires = "apply")]
    pub(crate) create: bool,

    /// Also pull sessions that are only in the cloud (needs --apply)
    #[arg(long, requires = "apply", conflicts_with = "session")]
    pub(crate) all: bool,

    /// Resolve conflicts in this way [default: as configured]
    ///
    /// Needs --apply. The storage keeps the records of both sides in any case.
    #[arg(long, value_name = "SIDE", requires = "apply")]
    pub(crate) resolve: Option<Side>,

    /// Sync repeatedly at the configured interval
    ///
    /// Runs until it is interrupted. Cannot be combined with SESSION or another option of sync.
    #[arg(long, conflicts_with_all = ["session", "resolve", "apply", "all", "show", "keep", "send"])]
    pub(crate) watch: bool,

    /// Write the cloud's version of SESSION to DIR, for comparison
    ///
    /// Cannot be combined with --apply, --keep, or --send.
    #[arg(long, value_name = "DIR", requires = "session", conflicts_with_all = ["apply", "keep", "send"])]
    pub(crate) show: Option<OsString>,

    /// Exclude SESSION from syncs of this machine
    ///
    /// Records that were pushed before stay in the storage. Undo it with --send.
    #[arg(long, requires = "session", conflicts_with_all = ["apply", "send"])]
    pub(crate) keep: bool,

    /// Include SESSION in syncs again, after --keep
    #[arg(long, requires = "session", conflicts_with = "apply")]
    pub(crate) send: bool,
}

/// The resolution of a conflict.
#[cfg(feature = "cloud")]
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Side {
    /// Keep the local version
    Local,
    /// Keep the cloud's version
    Remote,
    /// Keep both: append the local records to the cloud's
    Merge,
}

#[cfg(feature = "cloud")]
impl Side {
    /// The name that the tool uses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Remote => "remote",
            Self::Merge => "merge",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ListSessions {
    #[command(flatten)]
    pub(crate) filter: SessionFilter,

    /// Include sub-sessions and sub-agents
    #[arg(long)]
    pub(crate) all: bool,

    /// List at most N sessions
    #[arg(long, value_name = "N", default_value = "50", value_parser = values::at_least_one::<NonZeroU64>)]
    pub(crate) limit: NonZeroU64,

    /// Skip the first N sessions
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

#[derive(Debug, Args)]
pub(crate) struct GetSession {
    #[command(flatten)]
    pub(crate) target: SessionArg,

    /// Show the transcript
    #[arg(long)]
    pub(crate) transcript: bool,

    /// Show a summary of the events
    #[arg(long)]
    pub(crate) events_summary: bool,

    /// Show at most N messages [default: all] (needs --transcript)
    #[arg(long, value_name = "N", requires = "transcript", value_parser = values::at_least_one::<NonZeroU64>)]
    pub(crate) limit: Option<NonZeroU64>,

    /// Skip the first N messages (needs --transcript)
    #[arg(long, value_name = "N", requires = "transcript")]
    pub(crate) offset: Option<u64>,

    /// Show at most N characters of each message [default: 1000]
    ///
    /// Needs --transcript.
    #[arg(long, value_name = "N", requires = "transcript")]
    pub(crate) max_text: Option<u64>,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

#[derive(Debug, Args)]
pub(crate) struct SearchSessions {
    /// Text to search for, in either case
    pub(crate) text: String,

    /// Choose what to search
    #[arg(long, value_name = "SCOPE", default_value = "all")]
    pub(crate) scope: SearchScope,

    #[command(flatten)]
    pub(crate) filter: SessionFilter,

    /// Show N lines of the same message around each match, at most 20
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(..=20))]
    pub(crate) context: u64,

    #[command(flatten)]
    pub(crate) rows: Rows,

    /// Exit with status 1 if nothing matches
    #[arg(long)]
    pub(crate) exit_status: bool,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SearchScope {
    /// Descriptions
    Metadata,
    /// Messages
    Transcript,
    /// Events
    Events,
    /// Descriptions and messages; events if neither matches
    All,
}

impl SearchScope {
    /// The name that the tool uses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Metadata => "metadata",
            Self::Transcript => "transcript",
            Self::Events => "events",
            Self::All => "all",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SessionEvents {
    #[command(flatten)]
    pub(crate) target: SessionArg,

    /// Print only events of this type; a name may end with *
    ///
    /// May be repeated.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,

    /// Print this field, as a dotted path [default: known small fields]
    ///
    /// May be repeated.
    #[arg(long = "field", value_name = "PATH")]
    pub(crate) fields: Vec<String>,

    /// Print only events that report an error
    #[arg(long)]
    pub(crate) errors: bool,

    #[command(flatten)]
    pub(crate) rows: Rows,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

#[derive(Debug, Args)]
pub(crate) struct AnalyzeSession {
    #[command(flatten)]
    pub(crate) target: SessionArg,

    /// Choose the analysis
    #[arg(value_name = "ANALYSIS", default_value = "summary")]
    pub(crate) analysis: Analysis,

    #[arg(long, value_name = "PATH", help = FIELD_HELP)]
    pub(crate) field: Option<String>,

    /// aggregate: Group the numbers by this field, such as data.model
    #[arg(long, value_name = "PATH")]
    pub(crate) by: Option<String>,

    /// aggregate: Use only events of this type; a name may end with *
    ///
    /// May be repeated.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,

    /// errors, timeline: Show at most N rows [default: all]
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroU64>)]
    pub(crate) limit: Option<NonZeroU64>,

    /// errors, timeline: Skip the first N rows
    #[arg(long, value_name = "N")]
    pub(crate) offset: Option<u64>,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Analysis {
    /// Counts of events by type, time span, errors
    Summary,
    /// Messages of errors
    Errors,
    /// Turns: start, duration, tools, errors
    Timeline,
    /// Tokens by model (input without cache), calls by tool
    Usage,
    /// Sum, mean, minimum, and maximum of a number
    Aggregate,
}

impl Analysis {
    /// The name that the tool uses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Errors => "errors",
            Self::Timeline => "timeline",
            Self::Usage => "usage",
            Self::Aggregate => "aggregate",
        }
    }
}

/// The prices of models.
#[derive(Debug, Args)]
pub(crate) struct Prices {
    /// Add costs, with the prices of models from FILE
    ///
    /// A JSON file with the prices of an amount of tokens by model; docs/prices.example.json is
    /// one. The program has no prices of its own, because they change.
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel sessions usage --date-range last_week
  trommel sessions usage --by day,model --prices prices.json
  trommel sessions usage --project shop --by month --json

Sub-sessions are included, and every response counts once. The most tokens come first.")]
pub(crate) struct TotalUsage {
    /// Choose the totals, separated by commas
    #[arg(
        long,
        value_name = "KEYS",
        value_delimiter = ',',
        num_args = 1,
        default_value = "model,project,month"
    )]
    pub(crate) by: Vec<UsageKey>,

    #[command(flatten)]
    pub(crate) filter: SessionFilter,

    #[command(flatten)]
    pub(crate) prices: Prices,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum UsageKey {
    /// Days, in the local time zone or UTC
    Day,
    /// Weeks (ISO 8601), from Monday
    Week,
    /// Months
    Month,
    /// Projects
    Project,
    /// Models
    Model,
}

impl UsageKey {
    /// The name in answers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Project => "project",
            Self::Model => "model",
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel sessions report 5d1c0a9e --to session.html
  trommel sessions report --date-range last_month --prices prices.json --to month.html

The page has the turns of a session, or the sessions of the days; tools; errors; and tokens by day,
model, and project. Texts of errors are redacted unless --no-redact is given.")]
pub(crate) struct ReportSessions {
    /// Session [default: all that --project and --date-range select]
    #[arg(value_name = "SESSION", allow_hyphen_values = true, value_parser = session)]
    #[arg(conflicts_with_all = ["project", "date_range"])]
    pub(crate) session: Option<String>,

    #[command(flatten)]
    pub(crate) page: PageArgs,

    /// Show secrets in the texts of errors
    #[arg(long)]
    pub(crate) no_redact: bool,

    #[command(flatten)]
    pub(crate) filter: SessionFilter,

    #[command(flatten)]
    pub(crate) prices: Prices,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("target").required(true))]
pub(crate) struct RewindSession {
    #[command(flatten)]
    pub(crate) target: SessionArg,

    /// Keep turns up to N, counted from 1
    ///
    /// Exactly one of --to-turn, --to-message, and --before is required.
    #[arg(long, value_name = "N", group = "target", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) to_turn: Option<u64>,

    /// Keep messages up to N, counted from 0
    #[arg(long, value_name = "N", group = "target")]
    pub(crate) to_message: Option<u64>,

    /// Remove records from TIME on: 2026-01-31 or 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", group = "target")]
    pub(crate) before: Option<String>,

    /// Apply the rewind, after a backup; without it, only preview it
    #[arg(long)]
    pub(crate) apply: bool,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

impl SessionOperation {
    pub(crate) fn shared(&self) -> &Shared {
        match self {
            Self::List(ListSessions { shared, .. })
            | Self::Get(GetSession { shared, .. })
            | Self::Search(SearchSessions { shared, .. })
            | Self::Events(SessionEvents { shared, .. })
            | Self::Analyze(AnalyzeSession { shared, .. })
            | Self::Usage(TotalUsage { shared, .. })
            | Self::Report(ReportSessions { shared, .. })
            | Self::Rewind(RewindSession { shared, .. })
            | Self::Undo { shared, .. }
            | Self::Sync { shared, .. }
            | Self::Diagnose { shared, .. }
            | Self::Repair { shared, .. } => shared,
        }
    }

    /// The name of the operation.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::List(_) => "list",
            Self::Get(_) => "get",
            Self::Search(_) => "search",
            Self::Events(_) => "events",
            Self::Analyze(_) => "analyze",
            Self::Usage(_) => "usage",
            Self::Report(_) => "report",
            Self::Rewind(_) => "rewind",
            Self::Undo { .. } => "undo",
            Self::Sync { .. } => "sync",
            Self::Diagnose { .. } => "diagnose",
            Self::Repair { .. } => "repair",
        }
    }

    /// The session argument as given, if the operation has one.
    pub(crate) fn session(&self) -> Option<&str> {
        let target = match self {
            Self::List(_) | Self::Search(_) | Self::Usage(_) => return None,
            Self::Sync { session, .. } | Self::Report(ReportSessions { session, .. }) => {
                return session.as_deref();
            }
            Self::Get(GetSession { target, .. })
            | Self::Events(SessionEvents { target, .. })
            | Self::Analyze(AnalyzeSession { target, .. })
            | Self::Rewind(RewindSession { target, .. })
            | Self::Undo { target, .. }
            | Self::Diagnose { target, .. }
            | Self::Repair { target, .. } => target,
        };
        Some(&target.session)
    }
}

/// Parses a session argument. Project names may begin with a hyphen, so the argument accepts one. A
/// misspelled option must not be mistaken for a session.
fn session(text: &str) -> Result<String, String> {
    if text.starts_with("--") && !text.contains('/') {
        return Err("unknown option; no session ID begins with --".into());
    }
    Ok(text.to_owned())
}
