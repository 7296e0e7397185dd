//! Queries the library for the answer of an operation.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use trommel_session::{
    AggregateQuery, EventQuery, GetQuery, ListQuery, MAX_ROWS, Page as Span, RewindQuery, Scope, SearchQuery,
    Session, Sessions, TranscriptQuery, Watch,
};
use trommel_tool::Redaction;
#[cfg(feature = "cloud")]
use trommel_toolbox::sessions::access::SyncRequest;
use trommel_toolbox::sessions::access::{
    AccessError, Problems, SessionAccess, SyncOutcome, SyncResult, Target,
};

use super::answer::{Answer, Reply, SessionDetails};
use super::page::SessionPage;
use super::paging::{Document, Paging, all};
use super::prices::PriceTable;
use super::totals::TotalUsageAnswer;
use crate::args::{
    Analysis, AnalyzeSession, GetSession, ListSessions, ReportSessions, RewindSession, Rows, SearchSessions,
    SessionEvents, SessionFilter, SessionOperation as Operation, TotalUsage,
};
use crate::errors::{self, Failure};

/// Rows per page if the library does not limit the characters of a page.
const LONG_ROWS: usize = 8_000;

/// Characters per page if the library limits them. Each page reads the log again, so there should
/// be few.
const PAGE_CHARS: usize = 6_000_000;

/// The query of an operation.
pub(super) struct Query<'a, 'w> {
    pub(super) operation: &'a Operation,
    pub(super) position: &'a dyn SessionAccess,
    /// The session as given, or as project and ID if it was given by its path.
    pub(super) id: Option<&'a str>,
    pub(super) watch: &'a Watch<'w>,
    /// Problems that did not prevent the answer.
    pub(super) problems: Problems,
}

impl Query<'_, '_> {
    /// Answers the operation. Writes rows to `out`, if given.
    pub(super) fn run(&self, out: Option<&mut Document<'_>>) -> Result<Reply, Failure> {
        let mut reply = match self.operation {
            Operation::List(args) => self.list(args)?,
            Operation::Get(args) => self.get(args)?,
            Operation::Search(args) => self.search(args, out)?,
            Operation::Events(args) => self.events(args, out)?,
            Operation::Analyze(args) => self.analyze(args, out)?,
            Operation::Usage(args) => Reply::complete(Answer::Totals(Box::new(self.totals(args)?))),
            Operation::Report(args) => Reply::complete(self.report(args)?),
            Operation::Rewind(args) => Reply::complete(self.rewind(args)?),
            Operation::Undo { .. } => {
                let undone = self.change(false, |sessions, session| sessions.undo(session, self.watch))?;
                Reply::complete(Answer::Undo(undone))
            }
            Operation::Diagnose { .. } => {
                let diagnosis = self.done(self.session()?.diagnose(self.watch))?;
                Reply::complete(Answer::Diagnosis(Box::new(diagnosis)))
            }
            Operation::Repair { apply, .. } => {
                let repair = |sessions: &trommel_session::Sessions, session: &Session| {
                    sessions.repair(session, !apply, self.watch)
                };
                Reply::complete(Answer::Repair(Box::new(self.change(!apply, repair)?)))
            }
            Operation::Sync { .. } => Reply::complete(Answer::Sync(self.sync()?)),
        };
        reply.add_problems(self.problems.all());
        Ok(reply)
    }

    /// Converts an error into a failure whose message names options.
    fn done<T>(&self, result: Result<T, impl Into<AccessError>>) -> Result<T, Failure> {
        result.map_err(|error| {
            let (operation, json) = (self.operation.name(), self.operation.shared().json);
            errors::session::failure(operation, json, &error.into())
        })
    }

    /// Returns the ID of the session, which the operation requires.
    fn id(&self) -> &str {
        #[expect(clippy::expect_used, reason = "the parser of the command line requires it")]
        self.id.expect("the operation requires a session")
    }

    fn session(&self) -> Result<Session, Failure> {
        self.done(self.position.find(self.id(), self.watch, &self.problems))
    }

    fn change<T>(
        &self,
        dry_run: bool,
        change: impl Fn(&trommel_session::Sessions, &Session) -> trommel_session::Result<T>,
    ) -> Result<T, Failure> {
        let target = Target { id: self.id(), dry_run };
        self.done(self.position.apply(target, self.watch, &self.problems, change))
    }

    fn list(&self, args: &ListSessions) -> Result<Reply, Failure> {
        let mut query = ListQuery::default();
        let SessionFilter { project, date_range, local } = &args.filter;
        (query.project, query.date_range) = (project.clone(), date_range.clone());
        (query.include_cloud, query.top_level_only) = (!local, !args.all);
        let paging = Paging { offset: args.offset, limit: args.limit.get(), at_once: LONG_ROWS };
        let (listing, truncated) = all(paging, None, |offset, limit| {
            (query.offset, query.limit) = (at_most(offset), limit);
            self.done(self.position.list(&query, self.watch, &self.problems))
        })?;
        Ok(Reply { truncated, ..Reply::complete(Answer::List(listing)) })
    }

    fn get(&self, args: &GetSession) -> Result<Reply, Failure> {
        let session = self.session()?;
        let mut query = GetQuery::default();
        query.events_summary = args.events_summary;
        if !args.transcript {
            let details = self.done(session.get(&query, self.watch))?;
            return Ok(Reply::complete(Answer::Get(Box::new(SessionDetails::new(details)))));
        }
        let mut page = TranscriptQuery::default();
        page.max_text = args.max_text.map_or(page.max_text, at_most);
        (page.max_chars, page.whole_messages) = (PAGE_CHARS, true);
        let mut summary = None;
        let paging = paging(args.offset, args.limit, MAX_ROWS);
        let (mut got, truncated) = all(paging, None, |offset, limit| {
            (page.offset, page.limit) = (offset, limit);
            query.transcript = Some(page.clone());
            let mut details = self.done(session.get(&query, self.watch))?;
            // The summary is the same on every page, so only the first page requests it.
            if std::mem::take(&mut query.events_summary) {
                summary = details.events_summary.take();
            }
            Ok(SessionDetails::new(details))
        })?;
        got.details.events_summary = summary;
        Ok(Reply { truncated, ..Reply::complete(Answer::Get(Box::new(got))) })
    }

    fn search(&self, args: &SearchSessions, out: Option<&mut Document<'_>>) -> Result<Reply, Failure> {
        let mut query = SearchQuery::new(&*args.text);
        query.scope = self.done(Scope::parse(args.scope.name()))?;
        let SessionFilter { project, date_range, local } = &args.filter;
        (query.project, query.date_range) = (project.clone(), date_range.clone());
        (query.include_cloud, query.context_lines) = (!local, at_most(args.context));
        let sessions = self.done(self.position.sessions_to_search(&query, self.watch, &self.problems))?;
        let (found, truncated) = all(rows(&args.rows, LONG_ROWS), out, |offset, limit| {
            (query.offset, query.limit) = (offset, limit);
            self.done(sessions.search(&query, self.watch))
        })?;
        Ok(Reply { truncated, ..Reply::complete(Answer::Search(found)) })
    }

    fn events(&self, args: &SessionEvents, out: Option<&mut Document<'_>>) -> Result<Reply, Failure> {
        let session = self.session()?;
        let mut query = EventQuery::default();
        (query.event_types, query.fields) = (args.types.clone(), args.fields.clone());
        (query.errors_only, query.max_chars) = (args.errors, PAGE_CHARS);
        let (page, truncated) = all(rows(&args.rows, MAX_ROWS), out, |offset, limit| {
            (query.offset, query.limit) = (offset, limit);
            self.done(self.position.get_events(&session, &query, self.watch))
        })?;
        Ok(Reply { truncated, ..Reply::complete(Answer::Events(page)) })
    }

    fn analyze(&self, args: &AnalyzeSession, out: Option<&mut Document<'_>>) -> Result<Reply, Failure> {
        check(args)?;
        let session = self.session()?;
        let paging = paging(args.offset, args.limit, LONG_ROWS);
        let (answer, truncated) = match args.analysis {
            Analysis::Summary => (Answer::Summary(self.done(session.summary(self.watch))?), None),
            Analysis::Errors => {
                let (errors, truncated) = all(paging, out, |offset, limit| {
                    self.done(session.errors(Span::new(offset, limit), self.watch))
                })?;
                (Answer::Errors(errors), truncated)
            }
            Analysis::Timeline => {
                let (timeline, truncated) = all(paging, out, |offset, limit| {
                    self.done(session.timeline(Span::new(offset, limit), self.watch))
                })?;
                (Answer::Timeline(timeline), truncated)
            }
            Analysis::Usage => {
                let sessions = self.done(self.position.family(&session, self.watch, &self.problems))?;
                let usage = self.done(sessions.usage(&session, self.watch))?;
                (Answer::Usage(Box::new(usage)), None)
            }
            Analysis::Aggregate => (Answer::Aggregate(self.aggregate(args, &session)?), None),
        };
        Ok(Reply { truncated, ..Reply::complete(answer) })
    }

    /// Returns the sessions that a filter selects, and the query for them.
    fn selected(&self, filter: &SessionFilter) -> Result<(Sessions, ListQuery), Failure> {
        let SessionFilter { project, date_range, local } = filter;
        let mut search = SearchQuery::new("");
        (search.project, search.date_range) = (project.clone(), date_range.clone());
        search.include_cloud = !local;
        let sessions = self.done(self.position.sessions_to_search(&search, self.watch, &self.problems))?;
        let mut query = ListQuery::default();
        (query.project, query.date_range) = (project.clone(), date_range.clone());
        (query.include_cloud, query.top_level_only, query.limit) = (!local, true, MAX_ROWS);
        let zone = if self.operation.shared().utc { TimeZone::UTC } else { TimeZone::system() };
        Ok((sessions.at(Timestamp::now().to_zoned(zone)), query))
    }

    fn totals(&self, args: &TotalUsage) -> Result<TotalUsageAnswer, Failure> {
        let prices = args.prices.prices.as_deref().map(PriceTable::read).transpose()?;
        let (sessions, query) = self.selected(&args.filter)?;
        let totals = self.done(sessions.usage_totals(&query, self.watch))?;
        Ok(TotalUsageAnswer::new(totals, &args.by, prices.as_ref()))
    }

    /// Makes a page, which is the answer.
    fn report(&self, args: &ReportSessions) -> Result<Answer, Failure> {
        let prices = args.prices.prices.as_deref().map(PriceTable::read).transpose()?;
        let redaction = (!args.no_redact).then(Redaction::new);
        let mut page = SessionPage::new(prices.as_ref(), redaction);
        if args.session.is_some() {
            let session = self.session()?;
            let sessions = self.done(self.position.family(&session, self.watch, &self.problems))?;
            self.done(page.about_session(&sessions, &session, self.watch))?;
        } else {
            let (sessions, query) = self.selected(&args.filter)?;
            self.done(page.about_sessions(&sessions, &query, self.watch))?;
        }
        Ok(Answer::Page(page.finish(&args.page)))
    }

    fn aggregate(
        &self,
        args: &AnalyzeSession,
        session: &Session,
    ) -> Result<trommel_session::Aggregate, Failure> {
        let mut query = AggregateQuery::default();
        args.field.as_deref().unwrap_or("").clone_into(&mut query.field);
        (query.by, query.event_types) = (args.by.clone(), args.types.clone());
        self.done(self.position.aggregate(session, &query, self.watch))
    }

    fn rewind(&self, args: &RewindSession) -> Result<Answer, Failure> {
        let mut query = RewindQuery::default();
        (query.to_turn, query.to_message) = (args.to_turn, args.to_message);
        (query.before_timestamp, query.dry_run) = (args.before.clone(), !args.apply);
        let rewound =
            self.change(!args.apply, |sessions, session| sessions.rewind(session, &query, self.watch))?;
        Ok(Answer::Rewind(Box::new(rewound)))
    }

    fn sync(&self) -> Result<SyncResult, Failure> {
        #[cfg(feature = "cloud")]
        if let Operation::Sync { exchange, .. } = self.operation
            && exchange.apply
        {
            let resolve = exchange.resolve.map(crate::args::Side::name);
            let request = SyncRequest { session_id: self.id, resolve, all: exchange.all, dry_run: false };
            return self.done(self.position.sync(&request, self.watch));
        }
        let status = self.done(self.position.sync_status(self.id, self.watch))?;
        Ok(SyncResult { outcome: SyncOutcome::Status(status), cloud_only: None })
    }
}

/// Returns the range of rows.
fn paging(offset: Option<u64>, limit: Option<std::num::NonZeroU64>, at_once: usize) -> Paging {
    Paging { offset: offset.unwrap_or(0), limit: limit.map_or(u64::MAX, Into::into), at_once }
}

/// Converts a count of things in memory, of which a `usize` can count all.
fn at_most(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn rows(asked: &Rows, at_once: usize) -> Paging {
    paging(Some(asked.offset), asked.limit, at_once)
}

/// Fails for options that belong to another analysis.
fn check(args: &AnalyzeSession) -> Result<(), Failure> {
    let name = args.analysis.name();
    let aggregates = args.analysis == Analysis::Aggregate;
    let has_rows = matches!(args.analysis, Analysis::Errors | Analysis::Timeline);
    let unfit = [
        ("--field", args.field.is_some() && !aggregates),
        ("--by", args.by.is_some() && !aggregates),
        ("--type", !args.types.is_empty() && !aggregates),
        ("--limit", args.limit.is_some() && !has_rows),
        ("--offset", args.offset.is_some() && !has_rows),
    ];
    let message = match unfit.iter().find(|(_, unfit)| *unfit) {
        Some((option, _)) => format!("{option} does not apply to {name}"),
        None if aggregates && args.field.is_none() => {
            "aggregate needs a numeric field, such as --field data.duration_ms".to_owned()
        }
        None => return Ok(()),
    };
    Err(Failure::Usage { command: "sessions analyze", message })
}
