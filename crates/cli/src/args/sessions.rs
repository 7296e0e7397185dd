#[cfg(feature = "cloud")]
use std::ffi::OsString;
use std::num::NonZeroU64;

use clap::{Args, Subcommand, ValueEnum};

use super::places::Places;
use super::values;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  trommel sessions list --date-range last_week
  trommel sessions search 'connection refused' --scope transcript
  trommel sessions get 5d1c0a9e --transcript
  trommel sessions events 5d1c0a9e --type 'llm:*' --field data.model --field data.usage
  trommel sessions analyze 5d1c0a9e usage
  trommel sessions analyze logs/session.jsonl timeline
  trommel sessions rewind 5d1c0a9e --to-turn 3           # show what would be removed
  trommel sessions rewind 5d1c0a9e --to-turn 3 --apply   # remove it; `undo` restores it

SESSION is an id, a beginning that no other id has, PROJECT/ID, or the path of a session's folder
or file. Sessions are those of Amplifier and of Claude Code; a path may also be that of a chat.")]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) operation: SessionOperation,
}

/// What is said to every operation.
#[derive(Debug, Args)]
pub(crate) struct Shared {
    #[command(flatten)]
    pub(crate) places: Places,

    /// Tell times in UTC
    #[arg(long)]
    pub(crate) utc: bool,

    /// Print one JSON document, as in a pipe
    #[arg(long)]
    pub(crate) json: bool,
}

/// The session that is meant.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The session: an id, a beginning of one, PROJECT/ID, or a path
    // Projects' names begin with a hyphen.
    #[arg(value_name = "SESSION", allow_hyphen_values = true, value_parser = session)]
    pub(crate) session: String,
}

const RANGE_HELP: &str =
    "Of these days: today, yesterday, this_week, last_week, last_month, 2026-03-01, or FROM:TO";

const FIELD_HELP: &str = "aggregate: the field with the number, such as data.duration_ms";

/// Which sessions are looked at.
#[derive(Debug, Args)]
pub(crate) struct Among {
    /// Only this project: its name, its directory, or a part of one
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) project: Option<String>,

    #[arg(long, value_name = "RANGE", help = RANGE_HELP)]
    pub(crate) date_range: Option<String>,

    /// Without those that lie in the cloud only
    #[arg(long)]
    pub(crate) local: bool,
}

/// Which part of the rows.
#[derive(Debug, Args)]
pub(crate) struct Rows {
    /// Most rows [default: all]
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroU64>)]
    pub(crate) limit: Option<NonZeroU64>,

    /// Rows to pass over
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionOperation {
    /// List sessions, the one that changed last first
    List(ListSessions),
    /// Tell what is known of one, and on request what was said
    Get(GetSession),
    /// Search descriptions, messages, and events for a text
    Search(SearchSessions),
    /// Print events of one, of each the fields that are asked for
    Events(SessionEvents),
    /// Tell what the events of one were, in figures
    Analyze(AnalyzeSession),
    /// Cut one back to a turn, a message or a time
    Rewind(RewindSession),
    /// Take back the last rewind or repair of one
    Undo {
        #[command(flatten)]
        which: Which,

        #[command(flatten)]
        shared: Shared,
    },
    /// Tell how far sessions are the same on other machines
    Sync {
        /// The session [default: all]
        #[arg(value_name = "SESSION", allow_hyphen_values = true, value_parser = session)]
        session: Option<String>,

        #[cfg(feature = "cloud")]
        #[command(flatten)]
        exchange: Exchange,

        #[command(flatten)]
        shared: Shared,
    },
    /// Check whether a session can be resumed, and what is wrong
    Diagnose {
        #[command(flatten)]
        which: Which,

        /// Exit with status 1 if it is broken or damaged
        #[arg(long)]
        exit_status: bool,

        #[command(flatten)]
        shared: Shared,
    },
    /// Put the transcript of one right
    Repair {
        #[command(flatten)]
        which: Which,

        /// Do it: without this, only what would be done is told
        #[arg(long)]
        apply: bool,

        #[command(flatten)]
        shared: Shared,
    },
}

/// What is to be done with both sides.
#[cfg(feature = "cloud")]
#[derive(Debug, Args)]
pub(crate) struct Exchange {
    /// Make them the same: without this, only how far they are is told
    #[arg(long)]
    pub(crate) apply: bool,

    /// Create the storage's folder first, if it is one
    #[arg(long, requires = "apply")]
    pub(crate) create: bool,

    /// Also bring here what lies in the cloud only
    #[arg(long, requires = "apply", conflicts_with = "session")]
    pub(crate) all: bool,

    /// Which side of a conflict counts [default: as the settings say]
    #[arg(long, value_name = "SIDE", requires = "apply")]
    pub(crate) settle: Option<Side>,

    /// Make them the same again and again, as often as the settings say
    #[arg(long, conflicts_with_all = ["session", "settle", "apply", "all", "show", "keep", "send"])]
    pub(crate) watch: bool,

    /// Write what the cloud has of SESSION into this folder, to be compared with what is here
    #[arg(long, value_name = "DIR", requires = "session", conflicts_with_all = ["apply", "keep", "send"])]
    pub(crate) show: Option<OsString>,

    /// Keep SESSION on this machine from now on
    #[arg(long, requires = "session", conflicts_with_all = ["apply", "send"])]
    pub(crate) keep: bool,

    /// Let SESSION be sent again
    #[arg(long, requires = "session", conflicts_with = "apply")]
    pub(crate) send: bool,
}

/// A side of a conflict.
#[cfg(feature = "cloud")]
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Side {
    /// What is here
    Local,
    /// What is in the cloud
    Remote,
    /// Both: what is here behind what is there
    Merge,
}

#[cfg(feature = "cloud")]
impl Side {
    /// As the tool spells it.
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
    pub(crate) among: Among,

    /// List also sub-sessions and sub-agents
    #[arg(long)]
    pub(crate) all: bool,

    /// Most sessions
    #[arg(long, value_name = "N", default_value = "50", value_parser = values::at_least_one::<NonZeroU64>)]
    pub(crate) limit: NonZeroU64,

    /// Sessions to pass over
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

#[derive(Debug, Args)]
pub(crate) struct GetSession {
    #[command(flatten)]
    pub(crate) which: Which,

    /// And what was said
    #[arg(long)]
    pub(crate) transcript: bool,

    /// And what its events were, in figures
    #[arg(long)]
    pub(crate) events_summary: bool,

    /// Most messages [default: all]
    #[arg(long, value_name = "N", requires = "transcript", value_parser = values::at_least_one::<NonZeroU64>)]
    pub(crate) limit: Option<NonZeroU64>,

    /// Messages to pass over
    #[arg(long, value_name = "N", requires = "transcript")]
    pub(crate) offset: Option<u64>,

    /// Show at most N characters of each message [default: 1000]
    #[arg(long, value_name = "N", requires = "transcript")]
    pub(crate) max_text: Option<u64>,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

#[derive(Debug, Args)]
pub(crate) struct SearchSessions {
    /// What to search for
    pub(crate) text: String,

    /// Where to search
    #[arg(long, value_name = "WHERE", default_value = "all")]
    pub(crate) scope: SearchScope,

    #[command(flatten)]
    pub(crate) among: Among,

    /// Show N lines of the same message around each hit, at most 20
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(..=20))]
    pub(crate) context: u64,

    #[command(flatten)]
    pub(crate) rows: Rows,

    /// End with status 1 when nothing is found
    #[arg(long)]
    pub(crate) exit_status: bool,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SearchScope {
    /// Search descriptions
    Metadata,
    /// Search messages
    Transcript,
    /// Search events
    Events,
    /// Search both, and events where neither has a match
    All,
}

impl SearchScope {
    /// As the tool spells it.
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
    pub(crate) which: Which,

    /// Of this type; a name may end with *. May be repeated
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,

    /// This field, a path of names with dots [default: small ones that are known]. May be repeated
    #[arg(long = "field", value_name = "PATH")]
    pub(crate) fields: Vec<String>,

    /// Those that tell of an error
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
    pub(crate) which: Which,

    /// What to find out
    #[arg(value_name = "WHAT", default_value = "summary")]
    pub(crate) analysis: Analysis,

    #[arg(long, value_name = "PATH", help = FIELD_HELP)]
    pub(crate) field: Option<String>,

    /// aggregate: the field that groups the numbers, such as data.model
    #[arg(long, value_name = "PATH")]
    pub(crate) by: Option<String>,

    /// aggregate: of events of this type; a name may end with *. May be repeated
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,

    /// errors, timeline: most rows [default: all]
    #[arg(long, value_name = "N", value_parser = values::at_least_one::<NonZeroU64>)]
    pub(crate) limit: Option<NonZeroU64>,

    /// errors, timeline: rows to pass over
    #[arg(long, value_name = "N")]
    pub(crate) offset: Option<u64>,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Analysis {
    /// Events by type, times, errors
    Summary,
    /// What errors say
    Errors,
    /// The turns: when, how long, tools, errors
    Timeline,
    /// Tokens by model (input without cache), calls by tool
    Usage,
    /// Sum, mean, least and greatest of a number
    Aggregate,
}

impl Analysis {
    /// As the tool spells it.
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

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("target").required(true))]
pub(crate) struct RewindSession {
    #[command(flatten)]
    pub(crate) which: Which,

    /// The last turn that stays, from 1
    #[arg(long, value_name = "N", group = "target", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) to_turn: Option<u64>,

    /// The last message that stays, from 0
    #[arg(long, value_name = "N", group = "target")]
    pub(crate) to_message: Option<u64>,

    /// What is of this time or later goes: 2026-01-31, or 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", group = "target")]
    pub(crate) before: Option<String>,

    /// Do it: without this, only what would go is told
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
            Self::Rewind(_) => "rewind",
            Self::Undo { .. } => "undo",
            Self::Sync { .. } => "sync",
            Self::Diagnose { .. } => "diagnose",
            Self::Repair { .. } => "repair",
        }
    }

    /// The session it is about, as it was given.
    pub(crate) fn session(&self) -> Option<&str> {
        let which = match self {
            Self::List(_) | Self::Search(_) => return None,
            Self::Sync { session, .. } => return session.as_deref(),
            Self::Get(GetSession { which, .. })
            | Self::Events(SessionEvents { which, .. })
            | Self::Analyze(AnalyzeSession { which, .. })
            | Self::Rewind(RewindSession { which, .. })
            | Self::Undo { which, .. }
            | Self::Diagnose { which, .. }
            | Self::Repair { which, .. } => which,
        };
        Some(&which.session)
    }
}

/// A session as it was given. Where a hyphen may begin it, a misspelt option must not be taken for
/// one.
fn session(text: &str) -> Result<String, String> {
    if text.starts_with("--") && !text.contains('/') {
        return Err("there is no such option, and no id begins like that".into());
    }
    Ok(text.to_owned())
}
