//! `trommel sessions`: lists, searches, analyzes, and changes agent session logs.

mod answer;
#[cfg(feature = "cloud")]
mod exchange;
mod page;
mod paging;
mod prices;
mod query;
mod report;
mod totals;

use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use trommel_session::{Sessions, Watch};
use trommel_toolbox::sessions::access::{LocalAccess, Problems, SessionAccess, SyncOutcome};

use self::answer::{Answer, Reply};
use self::paging::Document;
use self::query::Query;
use crate::args::{SessionOperation as Operation, SessionsArgs};
use crate::commands::matched;
use crate::errors::Failure;
use crate::output::tables::sessions as tables;
use crate::output::{self, Notes, Screen};
use crate::progress::Progress;
use crate::{signals, stdio};

pub(crate) fn run(args: &SessionsArgs, screen: &Screen) -> Result<(), Failure> {
    if let Operation::Report(report) = &args.operation {
        super::report::check_target(&report.page, "sessions report", screen)?;
    }
    let progress = Arc::new(Progress::new(screen));
    signals::install(Arc::clone(&progress))?;
    let operation = &args.operation;
    let location = Location::new(operation)?;
    let notes = Notes::new("", Arc::clone(&progress));
    location.notes.iter().for_each(|note| notes.warn(note));
    #[cfg(feature = "cloud")]
    if let Some(done) = exchange::run(operation, &location, &notes) {
        return done;
    }
    let watch = Watch::new().progress(|report| progress.update(report.bytes, report.total));
    let position = location.sessions.position();
    let (id, problems) = (location.id.as_deref(), Problems::default());
    let query = Query { operation, position: &*position, id, watch: &watch, problems };
    let mut out = BufWriter::new(stdio::stdout());
    let mut document = Document::new(&mut out);
    // A terminal gets the answer as a whole, so that no error follows half of it. A pipe gets rows
    // as they are read.
    let reply = query.run((!screen.out.is_terminal).then_some(&mut document));
    progress.clear();
    let reply = reply?;
    if let (Answer::Page(page), Operation::Report(args)) = (&reply.answer, operation) {
        report::damage(&reply, &notes);
        return super::report::write_page(page, &args.page, "sessions report");
    }
    if screen.out.is_terminal && !operation.shared().json {
        report::damage(&reply, &notes);
        output::print(&layout(operation, &reply, screen))?;
        report::remaining(&reply, &notes);
    } else {
        document.finish(&reply)?;
        report::damage(&reply, &notes);
    }
    status(operation, &reply)
}

/// The session of an operation, and the sessions to look it up in.
struct Location {
    sessions: SessionSource,
    /// The session as given, or as project and ID if it was given by its path.
    id: Option<String>,
    notes: Vec<String>,
}

/// The location of sessions.
enum SessionSource {
    /// In a folder of its own: the session was given by its path.
    Path(Sessions),
    /// On this machine.
    Local(Sessions),
    /// On this machine and in a storage.
    #[cfg(feature = "cloud")]
    Both(crate::cloud::Cloud),
}

impl SessionSource {
    fn position(&self) -> Box<dyn SessionAccess> {
        match self {
            Self::Path(sessions) | Self::Local(sessions) => Box::new(LocalAccess(sessions.clone())),
            #[cfg(feature = "cloud")]
            Self::Both(cloud) => Box::new(trommel_toolbox::sessions::HybridAccess(Arc::clone(&cloud.hybrid))),
        }
    }
}

impl Location {
    fn new(operation: &Operation) -> Result<Self, Failure> {
        let given = operation.session();
        if let Some(path) = given.filter(|given| is_path(given)) {
            let (sessions, session) = Sessions::open(path)?;
            let id = Some(format!("{}/{}", session.project(), session.id()));
            return Ok(Self { sessions: SessionSource::Path(sessions), id, notes: Vec::new() });
        }
        let (sessions, notes) = available(operation)?;
        Ok(Self { sessions, id: given.map(str::to_owned), notes })
    }
}

/// Opens the sessions in the given or usual folders and in the configured storage. Returns warnings
/// about settings. Invalid settings fail only operations that need the storage.
#[cfg(feature = "cloud")]
fn available(operation: &Operation) -> Result<(SessionSource, Vec<String>), Failure> {
    let shared = operation.shared();
    let known = crate::cloud::open(&shared.folders);
    let mut notes = known.notes;
    match known.problem {
        Some(problem) if matches!(operation, Operation::Sync { .. }) => return Err(problem.into()),
        Some(problem) => {
            notes.push(format!("only sessions of this machine: the storage cannot be used: {problem}"));
        }
        None => {}
    }
    let sessions = known.cloud.map_or(SessionSource::Local(known.sessions), SessionSource::Both);
    Ok((sessions, notes))
}

/// Opens the sessions in the given or usual folders.
#[cfg(not(feature = "cloud"))]
#[expect(clippy::unnecessary_wraps, reason = "settings may be invalid with the feature `cloud`")]
fn available(operation: &Operation) -> Result<(SessionSource, Vec<String>), Failure> {
    let shared = operation.shared();
    let sessions = crate::home::sessions(&shared.folders);
    Ok((SessionSource::Local(sessions), Vec::new()))
}

/// True if a session is given by the path of its folder or file.
fn is_path(given: &str) -> bool {
    let begins = ["/", "./", "../"].iter().any(|begins| given.starts_with(begins));
    begins || Path::new(given).exists()
}

/// Lays an answer out for a terminal.
fn layout(operation: &Operation, reply: &Reply, screen: &Screen) -> String {
    let (out, clock) = (screen.out, tables::Clock::new(operation.shared().utc));
    let given = operation.session().unwrap_or("");
    match (&reply.answer, operation) {
        (Answer::List(listing), _) => tables::list(listing, &clock, out),
        (Answer::Get(details), _) => tables::details(&details.details, &details.messages, &clock, out),
        (Answer::Search(found), _) => {
            let sought = if let Operation::Search(args) = operation { &*args.text } else { "" };
            tables::matches(found, sought, &clock, out)
        }
        (Answer::Events(page), _) => {
            let is_usual = matches!(operation, Operation::Events(args) if args.fields.is_empty());
            tables::events(&page.events, is_usual, &clock, out)
        }
        (Answer::Summary(summary), _) => tables::summary(summary, &clock, out),
        (Answer::Errors(errors), _) => tables::errors(&errors.errors, &clock, out),
        (Answer::Timeline(timeline), _) => tables::timeline(timeline, &clock, out),
        (Answer::Usage(usage), _) => tables::usage(usage, out),
        (Answer::Aggregate(aggregate), _) => tables::aggregate(aggregate, out),
        (Answer::Totals(totals), _) => totals.tables(out),
        (Answer::Page(page), _) => page.clone(),
        (Answer::Rewind(rewound), _) => tables::rewound(rewound, given),
        (Answer::Undo(undone), _) => tables::undone(undone, &clock),
        (Answer::Diagnosis(diagnosis), _) => tables::diagnosed(diagnosis, given),
        (Answer::Repair(repaired), _) => tables::repaired(repaired, given),
        (Answer::Sync(synced), _) => match &synced.outcome {
            #[cfg(feature = "cloud")]
            SyncOutcome::Report(report) => tables::exchanged(report, synced.cloud_only),
            SyncOutcome::Status(status) => tables::synced(status, &clock),
        },
    }
}

/// Fails under `--exit-status`, or if a sync left conflicts.
fn status(operation: &Operation, reply: &Reply) -> Result<(), Failure> {
    let counts = match operation {
        Operation::Search(args) => args.exit_status,
        Operation::Diagnose { exit_status, .. } => *exit_status,
        #[cfg(feature = "cloud")]
        Operation::Sync { exchange, .. } => exchange.apply,
        _ => false,
    };
    matched(reply.answer.is_positive(), counts)
}
