//! What the tool is asked.

use serde_json::{Value, json};

use super::pages::{Asked, Paging};
use crate::args::{
    Among, Analysis, AnalyzeSession, GetSession, ListSessions, RewindSession, Rows, SearchSessions,
    SessionEvents, SessionOperation as Operation,
};
use crate::errors::Failure;

/// The question of an operation, about the session of this id.
pub(super) fn asked(operation: &Operation, id: Option<String>) -> Result<Asked, Failure> {
    let of_one = |name: &str| json!({"operation": name, "session_id": id});
    let once = |arguments| Asked { arguments, paging: None };
    Ok(match operation {
        Operation::List(args) => list(args),
        Operation::Get(args) => get(args, of_one("get")),
        Operation::Search(args) => search(args),
        Operation::Events(args) => events(args, of_one("get_events")),
        Operation::Analyze(args) => analyze(args, of_one("analyze_events"))?,
        Operation::Rewind(args) => once(rewind(args, of_one("rewind"))),
        Operation::Undo { .. } => once(of_one("undo")),
        Operation::Diagnose { .. } => once(of_one("diagnose")),
        Operation::Repair { apply, .. } => {
            let mut arguments = of_one("repair");
            set(&mut arguments, "dry_run", Some(!apply));
            once(arguments)
        }
        #[cfg(feature = "cloud")]
        Operation::Sync { exchange, .. } if exchange.apply => {
            let mut arguments = json!({"operation": "sync"});
            set(&mut arguments, "session_id", id);
            set(&mut arguments, "settle", exchange.settle.map(crate::args::Side::name));
            set(&mut arguments, "all", exchange.all.then_some(true));
            once(arguments)
        }
        Operation::Sync { .. } => {
            let mut arguments = json!({"operation": "sync_status"});
            set(&mut arguments, "session_id", id);
            once(arguments)
        }
    })
}

/// Sets an argument that is given.
fn set<T: Into<Value>>(arguments: &mut Value, name: &str, value: Option<T>) {
    if let (Some(value), Some(arguments)) = (value, arguments.as_object_mut()) {
        arguments.insert(name.to_owned(), value.into());
    }
}

/// Sets a list that is not empty.
fn set_list(arguments: &mut Value, name: &str, values: &[String]) {
    set(arguments, name, Some(values).filter(|values| !values.is_empty()).map(<[String]>::to_vec));
}

fn set_among(arguments: &mut Value, among: &Among) {
    set(arguments, "project", among.project.clone());
    set(arguments, "date_range", among.date_range.clone());
    set(arguments, "include_cloud", among.local.then_some(false));
}

fn list(args: &ListSessions) -> Asked {
    let mut arguments = json!({"operation": "list", "top_level_only": !args.all});
    set_among(&mut arguments, &args.among);
    let paging = Paging::new("sessions").kept().from(args.offset).most(Some(args.limit));
    Asked { arguments, paging: Some(paging) }
}

fn get(args: &GetSession, mut arguments: Value) -> Asked {
    set(&mut arguments, "include_events_summary", args.events_summary.then_some(true));
    if !args.transcript {
        return Asked { arguments, paging: None };
    }
    set(&mut arguments, "include_transcript", Some(true));
    set(&mut arguments, "max_text", args.max_text);
    let paging = Paging::new("transcript").until_full().from(args.offset.unwrap_or(0)).most(args.limit);
    Asked { arguments, paging: Some(paging) }
}

fn search(args: &SearchSessions) -> Asked {
    let mut arguments = json!({
        "operation": "search", "query": args.text, "scope": args.scope.name(), "context_lines": args.context
    });
    set_among(&mut arguments, &args.among);
    Asked { arguments, paging: Some(paging("matches", &args.rows)) }
}

fn events(args: &SessionEvents, mut arguments: Value) -> Asked {
    set_list(&mut arguments, "event_types", &args.types);
    set_list(&mut arguments, "fields", &args.fields);
    set(&mut arguments, "errors_only", args.errors.then_some(true));
    Asked { arguments, paging: Some(paging("events", &args.rows).until_full()) }
}

fn paging(rows: &'static str, asked: &Rows) -> Paging {
    Paging::new(rows).from(asked.offset).most(asked.limit)
}

fn analyze(args: &AnalyzeSession, mut arguments: Value) -> Result<Asked, Failure> {
    check(args)?;
    set(&mut arguments, "analysis_type", Some(args.analysis.name()));
    set(&mut arguments, "field", args.field.clone());
    set(&mut arguments, "by", args.by.clone());
    set_list(&mut arguments, "event_types", &args.types);
    let rows = |name| Paging::new(name).from(args.offset.unwrap_or(0)).most(args.limit);
    let paging = match args.analysis {
        Analysis::Summary => None,
        Analysis::Errors => Some(rows("errors")),
        Analysis::Timeline => Some(rows("turns")),
        // All of these are counted in any case, and a page is only what fits an answer.
        Analysis::Usage => Some(Paging::new("by_session").unlimited()),
        Analysis::Aggregate => Some(Paging::new("groups").unlimited()),
    };
    Ok(Asked { arguments, paging })
}

/// An error for options of another analysis.
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
        Some((option, _)) => format!("{name} takes no {option}"),
        None if aggregates && args.field.is_none() => {
            "aggregate takes the field with the numbers: --field data.duration_ms, for example".to_owned()
        }
        None => return Ok(()),
    };
    Err(Failure::Usage { command: "sessions analyze", message })
}

fn rewind(args: &RewindSession, mut arguments: Value) -> Value {
    set(&mut arguments, "to_turn", args.to_turn);
    set(&mut arguments, "to_message", args.to_message);
    set(&mut arguments, "before_timestamp", args.before.clone());
    set(&mut arguments, "dry_run", Some(!args.apply));
    arguments
}
