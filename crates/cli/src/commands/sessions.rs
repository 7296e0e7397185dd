//! `trommel sessions`: lists, searches, analyzes, and changes the logs of agents' sessions.

mod answer;
#[cfg(feature = "cloud")]
mod exchange;
mod paging;
mod query;
mod report;

use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use trommel_session::{Sessions, Watch};
use trommel_toolbox::sessions::place::{Here, Place, Problems, SyncOutcome};

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
    let progress = Arc::new(Progress::new(screen));
    signals::install(Arc::clone(&progress))?;
    let operation = &args.operation;
    let location = Location::of(operation)?;
    let notes = Notes::new("", Arc::clone(&progress));
    location.notes.iter().for_each(|note| notes.warn(note));
    #[cfg(feature = "cloud")]
    if let Some(done) = exchange::done(operation, &location, &notes) {
        return done;
    }
    let watch = Watch::new().progress(|report| progress.update(report.bytes, report.total));
    let place = location.sessions.place();
    let (id, problems) = (location.id.as_deref(), Problems::default());
    let query = Query { operation, place: &*place, id, watch: &watch, problems };
    let mut out = BufWriter::new(stdio::stdout());
    let mut document = Document::new(&mut out);
    // On a terminal an error must not follow half an answer.
    let reply = query.run((!screen.out.is_terminal).then_some(&mut document));
    progress.clear();
    let reply = reply?;
    if screen.out.is_terminal && !operation.shared().json {
        report::damage(&reply, &notes);
        output::print(&shown(operation, &reply, screen))?;
        report::remaining(&reply, &notes);
    } else {
        document.finish(&reply)?;
        report::damage(&reply, &notes);
    }
    status(operation, &reply)
}

/// Where the sessions are that an operation is about.
struct Location {
    sessions: Where,
    /// The session that is meant: as it was given, or by its project and id.
    id: Option<String>,
    notes: Vec<String>,
}

/// Where sessions are.
enum Where {
    /// In a folder that no other option names: the session was given by its path.
    Path(Sessions),
    /// On this machine.
    Here(Sessions),
    /// On this machine and in a storage.
    #[cfg(feature = "cloud")]
    Both(crate::cloud::Cloud),
}

impl Where {
    fn place(&self) -> Box<dyn Place> {
        match self {
            Self::Path(sessions) | Self::Here(sessions) => Box::new(Here(sessions.clone())),
            #[cfg(feature = "cloud")]
            Self::Both(cloud) => Box::new(trommel_toolbox::sessions::Hybrid(Arc::clone(&cloud.hybrid))),
        }
    }
}

impl Location {
    fn of(operation: &Operation) -> Result<Self, Failure> {
        let given = operation.session();
        if let Some(path) = given.filter(|given| is_path(given)) {
            let (sessions, session) = Sessions::open(path)?;
            let id = Some(format!("{}/{}", session.project(), session.id()));
            return Ok(Self { sessions: Where::Path(sessions), id, notes: Vec::new() });
        }
        let (sessions, notes) = known(operation)?;
        Ok(Self { sessions, id: given.map(str::to_owned), notes })
    }
}

/// The sessions of the given or usual folders, and of the configured storage, with warnings about
/// settings. Invalid settings end only the operations that need the storage.
#[cfg(feature = "cloud")]
fn known(operation: &Operation) -> Result<(Where, Vec<String>), Failure> {
    let shared = operation.shared();
    let known = crate::cloud::open(&shared.places);
    let mut notes = known.notes;
    match known.problem {
        Some(problem) if matches!(operation, Operation::Sync { .. }) => return Err(problem.into()),
        Some(problem) => {
            notes.push(format!("sessions of this machine only, as the storage cannot be used: {problem}"));
        }
        None => {}
    }
    let sessions = known.cloud.map_or(Where::Here(known.sessions), Where::Both);
    Ok((sessions, notes))
}

/// The sessions of the given or usual folders.
#[cfg(not(feature = "cloud"))]
#[expect(clippy::unnecessary_wraps, reason = "settings may be wrong")]
fn known(operation: &Operation) -> Result<(Where, Vec<String>), Failure> {
    let shared = operation.shared();
    let sessions = crate::home::sessions(&shared.places);
    Ok((Where::Here(sessions), Vec::new()))
}

/// True if a session is given by the path of its folder or file.
fn is_path(given: &str) -> bool {
    let begins = ["/", "./", "../"].iter().any(|begins| given.starts_with(begins));
    begins || Path::new(given).exists()
}

/// An answer for people.
fn shown(operation: &Operation, reply: &Reply, screen: &Screen) -> String {
    let (out, clock) = (screen.out, tables::Clock::new(operation.shared().utc));
    let given = operation.session().unwrap_or("");
    match (&reply.answer, operation) {
        (Answer::List(listing), _) => tables::list(listing, &clock, out),
        (Answer::Get(got), _) => tables::details(&got.details, &got.messages, &clock, out),
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

/// The failure of `--exit-status`, and of a synchronization that left conflicts.
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
