//! `trommel sessions`: the logs of agents' sessions, asked for as a model asks for them.

mod asked;
#[cfg(feature = "cloud")]
mod exchange;
mod pages;
mod told;

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use trommel_session::Sessions;
use trommel_tool::Registry;
use trommel_toolbox::sessions::{NAME, register_within};

use crate::args::{Analysis, DisplayForm as Form, SessionOperation as Operation, SessionsArgs};
use crate::commands::matched;
use crate::errors::Failure;
use crate::output::tables::sessions as tables;
use crate::output::{self, Notes};
use crate::progress::Progress;
use crate::{signals, stdio, toolbox};

pub(crate) fn run(args: &SessionsArgs) -> Result<(), Failure> {
    let progress = Arc::new(Progress::new());
    signals::install(Arc::clone(&progress))?;
    let operation = &args.operation;
    let shared = operation.shared();
    let place = Place::of(operation)?;
    let notes = Notes::new("", Arc::clone(&progress));
    place.notes.iter().for_each(|note| notes.warn(note));
    #[cfg(feature = "cloud")]
    if let Some(done) = exchange::done(operation, &place, &notes) {
        return done;
    }
    // A registry of its own: neither the store nor the buffers are needed, and nothing is made.
    let registry = Arc::new(Registry::new());
    place.register(&registry)?;
    let asked = asked::asked(operation, place.id)?;
    let is_piped = !output::is_terminal();
    let mut out = BufWriter::new(stdio::stdout());
    let answer = pages::all(asked, is_piped.then_some(&mut out), |arguments| {
        toolbox::ask(&registry, (NAME, arguments), Form::json(shared.json), &progress)
    });
    progress.clear();
    let answer = answer?;
    out.flush()?;
    drop(out);
    told::damage(&answer, &notes);
    if is_piped {
        return status(operation, &answer);
    }
    if shared.json {
        output::print_json(&answer, true)?;
        return status(operation, &answer);
    }
    match laid_out(operation, &answer) {
        Ok(text) => {
            output::print(&text)?;
            told::rest(operation, &answer, &notes);
        }
        // A number of a log may be one that no layout can hold.
        Err(_) => output::print_json(&answer, false)?,
    }
    status(operation, &answer)
}

/// The sessions to ask, and what is to be told beside that.
struct Place {
    sessions: Where,
    /// Among them the one that is meant: as it was given, or by its project and id.
    id: Option<String>,
    notes: Vec<String>,
}

/// Where sessions are.
enum Where {
    /// Where nobody else looks: the session was given by its path.
    Path(Sessions),
    /// On this machine.
    Here(Sessions),
    /// There, and in a storage.
    #[cfg(feature = "cloud")]
    Both(crate::cloud::Cloud),
}

impl Place {
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

    fn register(&self, registry: &Registry) -> Result<(), Failure> {
        let registered = match &self.sessions {
            Where::Path(sessions) | Where::Here(sessions) => register_within(registry, sessions, pages::PAGE),
            #[cfg(feature = "cloud")]
            Where::Both(cloud) => {
                let hybrid = Arc::clone(&cloud.hybrid);
                trommel_toolbox::sessions::register_hybrid(registry, hybrid, pages::PAGE)
            }
        };
        Ok(registered.map_err(io::Error::other)?)
    }
}

/// The sessions of the folders that are given, or of the usual ones, and of the storage that is named, with warnings about settings.
/// Settings that cannot be used end only what needs the storage.
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

/// The sessions of the folders that are given, or of the usual ones.
#[cfg(not(feature = "cloud"))]
#[expect(clippy::unnecessary_wraps, reason = "settings may be wrong")]
fn known(operation: &Operation) -> Result<(Where, Vec<String>), Failure> {
    let shared = operation.shared();
    let sessions = crate::home::sessions(&shared.places);
    Ok((Where::Here(sessions), Vec::new()))
}

/// Whether a session is given by the path of its folder or file.
fn is_path(given: &str) -> bool {
    let begins = ["/", "./", "../"].iter().any(|begins| given.starts_with(begins));
    begins || Path::new(given).exists()
}

/// An answer for people.
fn laid_out(operation: &Operation, answer: &str) -> serde_json::Result<String> {
    let clock = tables::Clock::new(operation.shared().utc);
    let given = operation.session().unwrap_or_default();
    match operation {
        Operation::List(_) => tables::list(answer, &clock),
        Operation::Get(_) => tables::details(answer, &clock),
        Operation::Search(args) => tables::matches(answer, &args.text, &clock),
        Operation::Events(args) => tables::events(answer, args.fields.is_empty(), &clock),
        Operation::Analyze(args) => match args.analysis {
            Analysis::Summary => tables::summary(answer, &clock),
            Analysis::Errors => tables::errors(answer, &clock),
            Analysis::Timeline => tables::timeline(answer, &clock),
            Analysis::Usage => tables::usage(answer),
            Analysis::Aggregate => tables::aggregate(answer),
        },
        Operation::Rewind(_) => tables::rewound(answer, given),
        Operation::Undo { .. } => tables::undone(answer, &clock),
        #[cfg(feature = "cloud")]
        Operation::Sync { exchange, .. } if exchange.apply => tables::exchanged(answer),
        Operation::Sync { .. } => tables::synced(answer, &clock),
        Operation::Diagnose { .. } => tables::diagnosed(answer, given),
        Operation::Repair { .. } => tables::repaired(answer, given),
    }
}

/// The failure that is none but for `--exit-status`.
fn status(operation: &Operation, answer: &str) -> Result<(), Failure> {
    match operation {
        Operation::Search(args) => matched(told::found_any(answer), args.exit_status),
        Operation::Diagnose { exit_status, .. } => matched(told::is_healthy(answer), *exit_status),
        #[cfg(feature = "cloud")]
        Operation::Sync { exchange, .. } if exchange.apply => matched(told::is_synced(answer), true),
        _ => Ok(()),
    }
}
