//! Logs of agents' sessions, questioned and rewound: lists, messages, events, figures, searches,
//! without ever holding an event.
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
//! Yes, to find out what happened in sessions of agents whose logs are too long to read, or to cut
//! such a session back. To ask other questions of the same files, take `trommel`: they are JSON
//! like any other.
//!
//! # Terms
//!
//! A *session* is a folder with a description, a transcript and events, or a file of messages. A
//! *record* is one JSON object of a file. A *message* is a record with a role. A *turn* is what a
//! user said and everything until a user said something again; turns count from 1, messages and
//! records from 0. What a user said is a message with the role `user` that answers no call of a
//! tool, and does not begin with `<system-reminder>`. In logs of Claude Code these are also not a
//! user's: commands such as `/clear` and their output, those of the shell, marks of interruptions,
//! notes of the program, and summaries of compacted conversations ([`MessageKind`]). A *mirror* is
//! a folder that tells of sessions in the cloud: their descriptions, their transcripts, and of each
//! event at least an *outline*, which is what questions look at ([`outline_fields`]).
//!
//! # What is never returned
//!
//! An event as it stands. [`Session::get_events`] takes the fields that were asked for out of the
//! tokens of each record; what is longer than [`FIELD_CHARS`] characters, and all that an event
//! carries (`data`), is left out and named. Texts are cut, excerpts are bounded, and lists come in
//! pages, whose rows have a million characters together unless fewer or more are asked for.
//!
//! # Damage
//!
//! A record that is no JSON hides no later one. How many there are, and where the first ones stand,
//! is said beside the answer ([`Damage`]). A last line that has no end yet is told apart: it may be
//! being written.
//!
//! # Changes
//!
//! [`Sessions::rewind`] and [`Sessions::repair`] write the new files beside the old ones, give the
//! old ones second names as backups, then write a plan, and only then exchange names. Whatever ends
//! a process in between, whoever looks for the session next finds all old files or all new ones. A
//! program that keeps a file open continues in the backup, so that none of its lines is lost.
//! [`Sessions::undo`] takes back the last change that was not taken back, byte for byte, with the
//! lines that were added to its backups.
//!
//! # Errors
//!
//! An event is of an error, for every question alike, if its level is `ERROR`, its status is
//! `error`, its `error` is set, its type has the word in it, or a tool failed: a `tool:post` whose
//! result has `success: false`, or in logs of Claude Code a result with `is_error: true`. There a
//! message with `isApiErrorMessage: true` is one too.
//!
//! # Sessions of Claude Code
//!
//! A session is `projects/<slug>/<id>.jsonl`. Its sub-agents are sessions that it spawned:
//! `agent-….jsonl` in the session's folder `<id>/subagents/` and folders of that, or beside the
//! session, where the records' `sessionId` names it. The description is read from the first records
//! and the last ones: the name is the user's title, else a model's, else that of the last summary,
//! else the beginning of the first prompt; `modified` is the time of the last record.
//!
//! # What was decided here
//!
//! - A project is meant by its name in lists, by its directory, or by a part of either: the part
//!   that names end in wins over one that they contain. Several projects may be meant.
//! - A session lies in a range of days when it was begun before its end and changed after its
//!   beginning.
//! - A search finds texts in either case, in all strings of a message but its role and type. Hits
//!   that one excerpt shows are one match. Events are searched where neither the description nor
//!   the messages of a session have a match, as most repeat messages; or alone ([`Scope::Events`]).
//!   Of Claude Code's records the messages are searched, and not the envelope, the progress, and
//!   the copies beside them.
//! - Usage of a session counts what it spawned, where it is asked of [`Sessions`], and no forks.
//!   Its figures do not overlap: input is without the cache ([`Usage`]). A response counts once,
//!   whatever repeats it, by its largest figures.
//! - A turn whose answers all have earlier times than its prompt has no duration, and says that the
//!   clocks differ.
//! - Events are cut where the transcript is: at the prompt of the first turn that goes where
//!   messages and events count as many turns, else by time; what is told of a tool's call always
//!   goes where the call goes.
//! - Files of other programs are read and never changed.
//! - Of the cloud nothing is known but a mirror, which somebody else keeps ([`Sessions::cloud`]);
//!   nothing is ever written there, and how far both places are the same is not known, which
//!   [`Sessions::sync_status`] says.
//! - A session of the same project and id here and in the cloud is one, and what lies here counts.
//!   One that lies in the cloud only is not changed. Of its mirror [`Session::aggregate`], and
//!   [`Session::get_events`] with fields of its own, see what outlines have.
//!
//! # Limits, errors and cost
//!
//! A log is read once for a question (twice to be cut), through a window, and by up to four threads
//! when it is long; memory follows what is returned, and the number of tool calls where those have
//! to be told apart. An [`Error`] has a kind with data for programs, and says what to do.
//! Everything takes a [`Watch`], which ends it and is told how far it is. Of Claude Code's
//! responses 500,000 are told apart at once, and of IDs of calls 2 million; beyond that usage and
//! aggregates say that they are approximate.

mod analyze;
mod change;
mod detect;
mod diagnose;
mod divided;
mod error;
mod events;
mod format;
mod formats;
mod get;
mod kind;
mod layout;
mod list;
mod message;
mod metadata;
mod names;
mod outline;
mod project;
mod projects;
mod records;
mod repair;
mod rewind;
mod room;
mod search;
mod seek;
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
    Aggregate, AggregateQuery, ErrorRow, Errors, Group, Largest, LeftOut, ModelUsage, Page, SessionUsage,
    Summary, Timeline, ToolCalls, Turn, UsageReport,
};
pub use diagnose::{Diagnosis, IncompleteTurn};
pub use error::{Change, Error, ErrorClass, ErrorKind, Missing, Refusal, RequestFault, Result};
pub use events::{EventPage, EventQuery, EventRow, FIELD_CHARS};
pub use format::Home;
pub use formats::Format;
pub use get::{Details, GetQuery};
pub use kind::MessageKind;
pub use list::{ListQuery, Listing, SessionRow};
pub use outline::{MessageOutline, Outliner, is_outlined, message_outline, outline_fields};
pub use project::{Member, Nested};
pub use records::{Damage, Damaged, open_regular};
pub use repair::Repaired;
pub use rewind::{Removed, RewindQuery, Rewound, Undone};
pub use room::MOST_ROWS;
pub use search::{Match, Matches, Scope, SearchQuery};
pub use session::{Session, Source};
pub use sessions::Sessions;
pub use sync::{SessionSync, SyncStatus};
pub use transcript::{CallRow, MessageRow, Transcript, TranscriptQuery};
pub use trommel_base::{Cancel, Progress};
pub use usage::Usage;
pub use watch::Watch;
