//! `session`: lists, searches, analyzes, rewinds, and repairs the logs of agents' sessions.
//!
//! An answer has at most `max_chars` characters. Rows that do not fit are omitted whole from the
//! end. `truncated` then has the number of rows returned and the `offset` of the next page.

pub mod access;
mod answer;
mod arguments;
mod failures;
#[cfg(feature = "cloud")]
mod hybrid;
mod metadata;

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
#[cfg(feature = "cloud")]
use trommel_blocks::SyncedSessions;
use trommel_session::{
    AggregateQuery, Cancel, EventQuery, GetQuery, ListQuery, Page, RewindQuery, Scope, SearchQuery, Session,
    Sessions, TranscriptQuery, Watch,
};
use trommel_tool::{Call, Effects, Failure, Metadata, Output, Permissions, Registry, RegistryError, Tool};

use crate::schema;
use crate::text::safe_json;
use access::{LocalAccess, Problems, SessionAccess, Target};
use answer::{Answer, CharBudget};
pub use arguments::Bounds;
use arguments::{Analysis, Arguments, Operation};
pub use failures::NAME;
use failures::{failed, in_operation, refused};
#[cfg(feature = "cloud")]
pub use hybrid::HybridAccess;

/// The end of the description if sessions may not be changed.
const READ_ONLY_NOTE: &str = " Changes are not permitted: `undo` is refused, and so are rewind, repair, and sync without `dry_run` true.";

/// Registers the tool `session` over local sessions. It changes sessions only on request.
///
/// # Errors
/// Returns an error if the registry already has a tool of this name.
pub fn register(registry: &Registry, sessions: &Sessions) -> Result<(), RegistryError> {
    register_with_bounds(registry, sessions, Bounds::default())
}

/// Like [`register`], with other upper bounds on the arguments. The defaults stay the same.
///
/// # Errors
/// Returns an error if the registry already has a tool of this name.
pub fn register_with_bounds(
    registry: &Registry,
    sessions: &Sessions,
    bounds: Bounds,
) -> Result<(), RegistryError> {
    registry.register(SessionTool::new(LocalAccess(sessions.clone()), bounds))
}

/// Like [`register`], for a caller that fell back to local sessions, for example because a storage
/// is not available. Every answer reports `problem`.
///
/// # Errors
/// Returns an error if the registry already has a tool of this name.
pub fn register_with_problem(
    registry: &Registry,
    sessions: &Sessions,
    problem: &str,
) -> Result<(), RegistryError> {
    let mut tool = SessionTool::new(LocalAccess(sessions.clone()), Bounds::default());
    tool.problem = Some(problem.to_owned());
    registry.register(tool)
}

/// Like [`register_with_bounds`], over local sessions and those of a storage. The tool has the
/// operation `sync` in addition.
///
/// # Errors
/// Returns an error if the registry already has a tool of this name.
#[cfg(feature = "cloud")]
pub fn register_hybrid(
    registry: &Registry,
    hybrid: Arc<SyncedSessions>,
    bounds: Bounds,
) -> Result<(), RegistryError> {
    registry.register(SessionTool::new(HybridAccess(hybrid), bounds))
}

/// The tool `session`.
struct SessionTool {
    metadata: Metadata,
    bounds: Bounds,
    access: Arc<dyn SessionAccess>,
    /// A problem that every answer reports.
    problem: Option<String>,
    /// True if the tool may change sessions.
    may_change: bool,
}

impl SessionTool {
    fn new(access: impl SessionAccess + 'static, bounds: Bounds) -> Self {
        let metadata = metadata::metadata(bounds, access.is_hybrid());
        Self { metadata, bounds, access: Arc::new(access), problem: None, may_change: true }
    }

    /// Refuses a change of sessions that is not permitted.
    fn check_permitted(&self, arguments: &Arguments) -> Result<(), Failure> {
        let changes = match arguments.operation {
            Operation::Undo => true,
            Operation::Rewind | Operation::Repair | Operation::Sync => !arguments.is_dry_run(),
            _ => false,
        };
        if self.may_change || !changes {
            return Ok(());
        }
        let message = "sessions may not be changed here: pass `dry_run` true; a document permits it with `@tools session` in the \
            step, or when run with approval, and a server with `--allow-writes DIR`";
        Err(Failure::refused(message).with("code", "needs_approval"))
    }
}

impl Tool for SessionTool {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let named = |failure| in_operation(arguments.operation, failure);
        let given = schema::given(&self.metadata.args_schema, call.arguments);
        arguments.check(given).and_then(|()| self.check_permitted(&arguments)).map_err(named)?;
        let cancel = Cancel::from(call.cancel().flag());
        let handle = call.progress_handle();
        let watch = Watch::new().cancel_with(&cancel).progress(move |progress| handle.report(progress));
        let problems = Problems::default();
        problems.add(self.problem.clone());
        let work = OperationRun {
            access: &*self.access,
            arguments: &arguments,
            bounds: self.bounds,
            watch: &watch,
            problems,
        };
        let answer = work.run().map_err(named)?;
        // Unsafe characters become escapes with the same value.
        RawValue::from_string(safe_json(&answer)).map(Output::Json).map_err(|error| Failure::raised(&error))
    }

    fn within(&self, permissions: Permissions) -> Option<Arc<dyn Tool>> {
        if permissions.change_sessions || !self.may_change {
            return None;
        }
        let mut metadata = self.metadata.clone();
        metadata.description.push_str(READ_ONLY_NOTE);
        metadata.effects = Some(Effects::READ_ONLY);
        metadata.brief = metadata.brief.map(|brief| brief + READ_ONLY_NOTE);
        let (access, problem) = (Arc::clone(&self.access), self.problem.clone());
        Some(Arc::new(Self { metadata, bounds: self.bounds, access, problem, may_change: false }))
    }

    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        let arguments: Arguments = call.parse().ok()?;
        let id = arguments.session_id.as_deref().unwrap_or("");
        match arguments.operation {
            Operation::Rewind if !arguments.is_dry_run() => {
                Some(format!("Would rewind the session {id}, after a backup"))
            }
            Operation::Repair if !arguments.is_dry_run() => {
                Some(format!("Would repair the transcript of the session {id}, after a backup"))
            }
            Operation::Undo => Some(format!("Would undo the last change of the session {id}")),
            Operation::Sync if arguments.is_dry_run() => None,
            Operation::Sync if arguments.includes_cloud_only() => {
                Some("Would sync all sessions, and download those that are only in the cloud".to_owned())
            }
            Operation::Sync if id.is_empty() => Some("Would sync all sessions with the cloud".to_owned()),
            Operation::Sync => Some(format!("Would sync the session {id} with the cloud")),
            _ => None,
        }
    }
}

/// One call of `session`.
struct OperationRun<'a, 'w> {
    access: &'a dyn SessionAccess,
    arguments: &'a Arguments,
    bounds: Bounds,
    watch: &'a Watch<'w>,
    /// The problems that the answer reports.
    problems: Problems,
}

impl OperationRun<'_, '_> {
    /// Runs the operation and returns its answer as JSON.
    fn run(&self) -> Result<String, Failure> {
        match self.arguments.operation {
            Operation::List => self.list(),
            Operation::Get => self.get(),
            Operation::Search => self.search(),
            Operation::GetEvents => self.get_events(),
            Operation::AnalyzeEvents => self.analyze(),
            Operation::Rewind => self.rewind(),
            Operation::Undo => self.change(false, |sessions, session| sessions.undo(session, self.watch)),
            Operation::Diagnose => self.whole(&self.session()?.diagnose(self.watch).map_err(failed)?),
            Operation::Repair => {
                let dry_run = self.arguments.is_dry_run();
                self.change(dry_run, |sessions, session| sessions.repair(session, dry_run, self.watch))
            }
            Operation::SyncStatus => {
                self.whole(&self.access.sync_status(self.arguments.session_id.as_deref(), self.watch)?)
            }
            Operation::Sync => self.whole(&self.access.sync(&self.arguments.sync(), self.watch)?),
        }
    }

    fn session(&self) -> Result<Session, Failure> {
        Ok(self.access.find(self.arguments.session_id()?, self.watch, &self.problems)?)
    }

    /// Changes the session that the arguments name.
    fn change<T: Serialize>(
        &self,
        dry_run: bool,
        change: impl Fn(&Sessions, &Session) -> trommel_session::Result<T>,
    ) -> Result<String, Failure> {
        let target = Target { id: self.arguments.session_id()?, dry_run };
        self.whole(&self.access.apply(target, self.watch, &self.problems, change)?)
    }

    /// Returns the length limit of the answer, and the largest one that a call can request.
    fn budget(&self) -> CharBudget {
        CharBudget { chars: self.arguments.max_chars, max_chars: self.bounds.chars }
    }

    /// Writes an answer that is not paged.
    fn whole(&self, answer: &impl Serialize) -> Result<String, Failure> {
        self.answer(answer)?.whole(self.budget())
    }

    fn answer(&self, answer: &impl Serialize) -> Result<Answer, Failure> {
        let mut answer = Answer::of(answer)?;
        answer.add_problems(&self.problems.all())?;
        Ok(answer)
    }

    /// Writes an answer whose rows are already those of one page.
    fn paged(&self, answer: &impl Serialize, rows: &str) -> Result<String, Failure> {
        self.answer(answer)?.paged(rows, self.arguments.offset(), self.budget())
    }

    /// Writes an answer that has all rows, starting at the offset.
    fn paged_from_all(&self, answer: &impl Serialize, rows: &str) -> Result<String, Failure> {
        let mut answer = self.answer(answer)?;
        answer.skip_rows(rows, self.arguments.offset())?;
        answer.paged(rows, self.arguments.offset(), self.budget())
    }

    fn list(&self) -> Result<String, Failure> {
        let mut query = ListQuery::default();
        let given = self.arguments;
        (query.project, query.date_range) = (given.project.clone(), given.date_range.clone());
        query.top_level_only = given.top_level_only;
        query.include_cloud = given.include_cloud;
        query.limit = given.limit.unwrap_or(query.limit);
        query.offset = usize::try_from(given.offset()).unwrap_or(usize::MAX);
        self.paged(&self.access.list(&query, self.watch, &self.problems)?, "sessions")
    }

    fn get(&self) -> Result<String, Failure> {
        let (mut query, given) = (GetQuery::default(), self.arguments);
        query.events_summary = given.include_events_summary;
        if given.include_transcript {
            let mut page = TranscriptQuery::default();
            (page.offset, page.limit) = (given.offset(), given.limit.unwrap_or(page.limit));
            page.max_text = given.max_text.unwrap_or(page.max_text);
            page.max_chars = given.row_chars();
            page.whole_messages = self.bounds.text.is_none();
            query.transcript = Some(page);
        } else if given.offset.is_some() || given.limit.is_some() || given.max_text.is_some() {
            return Err(refused(
                "`offset`, `limit`, and `max_text` apply to messages: pass `include_transcript`, or omit them",
            ));
        }
        let details = self.session()?.get(&query, self.watch).map_err(failed)?;
        let mut answer = self.answer(&details)?;
        if details.transcript.is_none() {
            return answer.whole(self.budget());
        }
        answer.lift("transcript", "messages", "transcript_page")?;
        // Without a limit on messages, a single message is returned whole even if it exceeds the
        // answer. Otherwise it could not be read at all.
        let one = details.transcript.is_some_and(|page| page.messages.len() == 1);
        let budget = if one && self.bounds.text.is_none() { CharBudget::UNLIMITED } else { self.budget() };
        answer.paged("transcript", given.offset(), budget)
    }

    fn search(&self) -> Result<String, Failure> {
        let given = self.arguments;
        let text = given.query.as_deref().ok_or_else(|| refused("pass the text to search for as `query`"))?;
        let mut query = SearchQuery::new(text);
        if let Some(scope) = &given.scope {
            query.scope = Scope::parse(scope).map_err(failed)?;
        }
        (query.project, query.date_range) = (given.project.clone(), given.date_range.clone());
        query.include_cloud = given.include_cloud;
        (query.offset, query.limit) = (given.offset(), given.limit.unwrap_or(query.limit));
        query.context_lines = given.context_lines;
        let sessions = self.access.sessions_to_search(&query, self.watch, &self.problems)?;
        self.paged(&sessions.search(&query, self.watch).map_err(failed)?, "matches")
    }

    fn get_events(&self) -> Result<String, Failure> {
        let (mut query, given) = (EventQuery::default(), self.arguments);
        query.event_types.clone_from(&given.event_types);
        query.fields.clone_from(&given.fields);
        query.errors_only = given.errors_only;
        (query.offset, query.limit) = (given.offset(), given.limit.unwrap_or(query.limit));
        query.max_chars = given.row_chars();
        self.paged(&self.access.get_events(&self.session()?, &query, self.watch)?, "events")
    }

    fn analyze(&self) -> Result<String, Failure> {
        let (analysis, session) = (self.arguments.analysis()?, self.session()?);
        let page = Page::new(self.arguments.offset(), self.arguments.limit.unwrap_or(Page::default().limit));
        match analysis {
            Analysis::Summary => self.whole(&session.summary(self.watch).map_err(failed)?),
            Analysis::Errors => self.paged(&session.errors(page, self.watch).map_err(failed)?, "errors"),
            Analysis::Timeline => self.paged(&session.timeline(page, self.watch).map_err(failed)?, "turns"),
            Analysis::Usage => {
                let sessions = self.access.family(&session, self.watch, &self.problems)?;
                let usage = sessions.usage(&session, self.watch).map_err(failed)?;
                self.paged_from_all(&usage, "by_session")
            }
            Analysis::Aggregate => {
                let mut query = AggregateQuery::default();
                self.arguments.field()?.clone_into(&mut query.field);
                query.by.clone_from(&self.arguments.by);
                query.event_types.clone_from(&self.arguments.event_types);
                self.paged_from_all(&self.access.aggregate(&session, &query, self.watch)?, "groups")
            }
        }
    }

    fn rewind(&self) -> Result<String, Failure> {
        let (mut query, given) = (RewindQuery::default(), self.arguments);
        (query.to_turn, query.to_message) = (given.to_turn, given.to_message);
        query.before_timestamp.clone_from(&given.before_timestamp);
        query.dry_run = given.is_dry_run();
        self.change(query.dry_run, |sessions, session| sessions.rewind(session, &query, self.watch))
    }
}
