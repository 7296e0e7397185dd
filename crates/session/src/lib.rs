//! Query, search, rewind, and repair the logs of agent sessions, without loading whole events into
//! memory.
//!
//! ```
//! use trommel_session::{EventQuery, Sessions, Watch};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! # let folder = home.path().join("projects/-home-u-app/sessions/5d1c");
//! # std::fs::create_dir_all(&folder)?;
//! # let log = r#"{"ts":"2026-03-01T09:00:00Z","lvl":"INFO","event":"llm:response","#.to_owned()
//! #     + r#""data":{"model":"m","usage":{"input_tokens":9,"output_tokens":2}}}"#;
//! # std::fs::write(folder.join("events.jsonl"), log)?;
//! let sessions = Sessions::new().amplifier(home.path());
//! let session = sessions.find("5d1")?;
//! let mut query = EventQuery::default();
//! query.fields = vec!["model".into(), "data".into()];
//! let page = session.get_events(&query, &Watch::new())?;
//! assert_eq!(page.events[0].fields.get(&["data", "model"]), Some("\"m\""));
//! assert_eq!(page.events[0].omitted, ["data"]);
//! assert_eq!(session.usage(&Watch::new())?.total_output_tokens, 2);
//! # Ok(())
//! # }
//! ```
//!
//! # Should I use this crate?
//!
//! Yes, to find out what happened in agent sessions whose logs are too long to read, or to rewind
//! such a session. For other queries on the same files, use `trommel`: they are ordinary JSON.
//!
//! # Terms
//!
//! - A *session* is a folder with a description, a transcript, and events, or a single file of
//!   messages.
//! - A *record* is one JSON object of a file. Records count from 0.
//! - A *message* is a record with a role. Messages count from 0.
//! - A *turn* is a user's prompt and everything up to the next prompt. Turns count from 1.
//! - A *prompt* is a message with the role `user` that is not a tool result and does not start with
//!   `<system-reminder>`. In logs of Claude Code, some messages with this role are not prompts:
//!   commands such as `/clear` and their output, shell commands and their output, interruption
//!   markers, program notes, and summaries of compacted conversations ([`MessageKind`]).
//! - The *payload* of an event is its member `data`; in logs of Claude Code, the message.
//! - A *mirror* is a folder with sessions that are in the cloud: their descriptions, their
//!   transcripts, and at least an *outline* of each event, which has the fields that queries read
//!   ([`outline_fields`]).
//!
//! # Bounded answers
//!
//! An event is never returned as a whole. [`Session::get_events`] extracts the requested fields
//! from the tokens of each record. Fields longer than [`FIELD_CHARS`] characters and whole payloads
//! are omitted and named. Texts are truncated, excerpts are bounded, and lists are paged. By
//! default, the rows of a page have at most a million characters.
//!
//! # Damage
//!
//! A malformed record does not hide later ones. Each answer reports the number of malformed
//! records, with the offsets of the first ones ([`Damage`]). An incomplete last line is reported
//! separately, as it may still be being written.
//!
//! # Changes
//!
//! [`Sessions::rewind`] and [`Sessions::repair`] stage the new files beside the old ones, link the
//! old files as backups, and write a plan. Then they rename the files into place. If the process
//! ends at any step, the next lookup of the session finds either all old files or all new ones. A
//! program that keeps an old file open continues to write to the backup, so none of its lines is
//! lost. [`Sessions::undo`] reverts the last change that was not yet undone, byte for byte,
//! and keeps lines that were appended to its backups.
//!
//! # Errors
//!
//! All queries use one definition. An event reports an error if any of these is true:
//!
//! - Its level is `ERROR`, or its status is `error`.
//! - Its `error` is set.
//! - Its type contains `error`.
//! - It is a `tool:post` whose result has `success: false`.
//! - In logs of Claude Code: it holds a tool result with `is_error: true`, or has
//!   `isApiErrorMessage: true`.
//!
//! # Sessions of Claude Code
//!
//! A session is `projects/<slug>/<id>.jsonl`. Its sub-agents are sessions that it spawned: files
//! `agent-….jsonl` below the folder `<id>/subagents/`, or beside the session with its ID as the
//! `sessionId` of their records. The description is read from the first and the last records. The
//! name is the user's title, else a model's title, else the last summary, else the start of the
//! first prompt. `modified` is the time of the last record.
//!
//! # Design decisions
//!
//! - A project can be given by its name in lists, by its directory, or by a part of either. A part
//!   that is a suffix takes precedence over a substring. Several projects may match.
//! - A session is in a date range if it was created before the range's end and modified after its
//!   start.
//! - A search ignores case, and covers all strings of a message but its role and type. Occurrences
//!   within one excerpt are one match. By default, events are searched only in sessions without a
//!   match in description and messages, as most events repeat messages; [`Scope::Events`] searches
//!   them alone. Of Claude Code's records, searches skip the envelope, progress records, and copies
//!   of messages.
//! - [`Sessions::usage`] includes the sessions that a session spawned, but not its forks. Its
//!   figures do not overlap: input excludes the cache ([`Usage`]). A response counts once, with its
//!   largest figures, even if several records repeat it.
//! - A turn whose answers are all earlier than its prompt has no duration, and is marked as having
//!   a clock skew.
//! - A rewind cuts events to match the transcript: at the prompt of the first removed turn if
//!   messages and events have the same number of turns, else by time. Events of a tool call are
//!   removed if and only if the call is.
//! - Files of other programs are read and never changed.
//! - This crate knows the cloud only through a mirror that the caller maintains
//!   ([`Sessions::cloud`]). It never writes to the mirror. It cannot compare local sessions with
//!   the cloud, and [`Sessions::sync_status`] returns no sequence numbers.
//! - A session with the same project and ID on this machine and in the mirror is one session, and
//!   the local files take precedence. A session that is only in the cloud cannot be changed. On its
//!   mirror, [`Session::aggregate`] and [`Session::get_events`] with explicit fields see only the
//!   outlines.
//!
//! # Limits, errors, and cost
//!
//! A query reads a log once (a rewind twice), through a window, and with up to four threads if the
//! log is long. Memory depends on the answer, and on the number of tool calls if they have to be
//! distinguished. An [`Error`] has a kind with data for programs, and names the next step. Every
//! operation takes a [`Watch`], which can cancel it and reports progress. At most 500,000 responses
//! of Claude Code and 2 million call IDs are tracked at once; beyond that, usage and aggregates are
//! marked as approximate.

mod analyze;
mod budget;
mod change;
mod detect;
mod diagnose;
mod error;
mod event_types;
mod events;
mod fields;
mod format;
mod formats;
mod get;
mod kind;
mod layout;
mod list;
mod message;
mod metadata;
mod outline;
mod parallel;
mod projects;
mod records;
mod repair;
mod rewind;
mod search;
mod searcher;
mod session;
mod sessions;
mod sync;
#[cfg(test)]
mod tests;
mod text;
mod time;
mod transcript;
mod turns;
mod usage;
mod value;
mod watch;

pub use analyze::{
    Aggregate, AggregateQuery, ErrorRow, Errors, Exclusion, Group, LargestEvent, ModelUsage, Page,
    SessionUsage, Summary, Timeline, ToolCalls, Turn, UsageReport, UsageRow, UsageTotals,
};
pub use budget::MAX_ROWS;
pub use diagnose::{Diagnosis, IncompleteTurn};
pub use error::{Change, Error, ErrorClass, ErrorKind, Missing, Refusal, RequestFault, Result};
pub use events::{EventPage, EventQuery, EventRow, FIELD_CHARS};
pub use fields::{Member, Nested};
pub use format::Home;
pub use formats::Format;
pub use get::{Details, GetQuery};
pub use kind::MessageKind;
pub use list::{ListQuery, Listing, SessionRow};
pub use outline::{MessageOutline, Outliner, is_outlined, message_outline, outline_fields};
pub use records::{Damage, DamagedRecord};
pub use repair::RepairReport;
pub use rewind::{RemovedCounts, RewindQuery, RewindReport, UndoReport};
pub use search::{Match, Matches, Scope, SearchQuery};
pub use session::{Session, Source};
pub use sessions::Sessions;
pub use sync::{SessionSync, SyncStatus};
pub use transcript::{CallRow, MessageRow, Transcript, TranscriptQuery};
pub use trommel_base::{Cancel, Progress};
pub use usage::Usage;
pub use watch::Watch;
