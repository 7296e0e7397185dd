//! Comparison of figures with an independent Python script, written from the descriptions of the
//! formats.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use trommel_session::{Format, ListQuery, Page, Session, Sessions, TranscriptQuery};
use trommel_testkit::{conformance, effort};

use crate::support::watch;

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle").join(name)
}

/// Returns the output of a script. None if Python is not installed.
fn python(name: &str, arguments: &[&Path]) -> Option<String> {
    let Ok(output) = Command::new("python3").arg(script(name)).args(arguments).output() else {
        // Written directly, as the test runner captures `eprintln!`.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {name} was not run, as there is no python3");
        return None;
    };
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Returns the figures of a session in the script's form.
fn figures(sessions: &Sessions, session: &Session) -> Value {
    let watch = watch();
    let page = Page::new(0, 10_000);
    let summary = session.summary(&watch).unwrap();
    let timeline = session.timeline(page, &watch).unwrap();
    let errors = session.errors(page, &watch).unwrap();
    assert_eq!(errors.total_count, summary.errors, "one definition of an error");
    let transcript = session.messages(&TranscriptQuery::default(), &watch);
    let turns = timeline.turns.iter().map(|turn| {
        json!({
            "duration_ms": turn.duration_ms,
            "clock_skew": turn.clock_skew,
            "tool_calls": turn.tool_calls,
            "llm_responses": turn.llm_responses,
            "errors": turn.errors,
        })
    });
    let children = sessions.children(session).unwrap();
    json!({
        "events": summary.total_events,
        "damaged": summary.damage.count,
        "errors": summary.errors,
        "duration_ms": summary.duration_ms,
        "messages": transcript.map_or(0, |page| page.total_count),
        "turns": turns.collect::<Vec<_>>(),
        "usage": usage(&serde_json::to_value(sessions.usage(session, &watch).unwrap()).unwrap()),
        "own_usage": usage(&serde_json::to_value(session.usage(&watch).unwrap()).unwrap()),
        "children": children.iter().map(Session::id).collect::<Vec<_>>(),
    })
}

fn usage(report: &Value) -> Value {
    let mut models = BTreeMap::<String, [u64; 5]>::new();
    for row in report["by_model"].as_array().unwrap() {
        let figures = ["requests", "input", "output", "cache_read", "cache_write"];
        let figures = figures.map(|name| row[name].as_u64().unwrap());
        assert_eq!(row["total"].as_u64().unwrap(), figures.iter().skip(1).sum::<u64>());
        // The script does not distinguish providers.
        let sums = models.entry(row["model"].as_str().unwrap().to_owned()).or_default();
        sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
    }
    let totals = [
        "llm_requests",
        "tool_calls",
        "total_input_tokens",
        "total_output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "total_tokens",
    ];
    let mut usage = totals
        .iter()
        .map(|name| ((*name).to_owned(), report[name].clone()))
        .collect::<serde_json::Map<_, _>>();
    usage.insert("by_model".to_owned(), json!(models));
    Value::Object(usage)
}

/// Compares all sessions below a folder written by `generate.py`.
fn compare(root: &Path, seed: u64) {
    let sessions = Sessions::new().amplifier(root.join("amplifier")).claude_code(root.join("claude"));
    let mut query = ListQuery::default();
    (query.top_level_only, query.limit) = (false, 1_000);
    let listed = sessions.list(&query, &watch()).unwrap().sessions;
    assert!(listed.len() > 12);
    let found = listed.iter().map(|row| sessions.find(&row.session_id).unwrap()).collect::<Vec<_>>();
    let paths = found.iter().map(Session::path).collect::<Vec<_>>();
    let Some(expected) = python("figures.py", &paths) else { return };
    assert_eq!(expected.lines().count(), listed.len());
    for ((row, session), expected) in listed.iter().zip(&found).zip(expected.lines()) {
        let mut expected = serde_json::from_str::<Value>(expected).unwrap();
        let at = format!("seed {seed}: {}", session.path().display());
        let (title, modified) = (expected["title"].take(), expected["modified_ms"].take());
        let figures = figures(&sessions, session);
        for (name, figure) in figures.as_object().unwrap() {
            assert_eq!(*figure, expected[name], "{name} of {at}");
        }
        let milliseconds =
            row.modified.as_ref().map(|time| time.parse::<jiff::Timestamp>().unwrap().as_millisecond());
        assert_eq!(json!(milliseconds), modified, "modified of {at}");
        if !title.is_null() {
            assert_eq!(json!(row.name), title, "name of {at}");
        }
        if session.format() == Format::ClaudeCode {
            let turns = figures["turns"].as_array().unwrap().len() as u64;
            assert_eq!(row.turn_count, Some(turns), "turn_count of {at}");
        }
    }
}

#[test]
fn r4_figures_match_an_independent_script() {
    for seed in 0..effort::cases(3, 60) {
        let root = tempfile::tempdir().unwrap();
        let number = PathBuf::from(seed.to_string());
        if python("generate.py", &[root.path(), &number]).is_none() {
            return;
        }
        compare(root.path(), seed);
    }
}

#[test]
fn r4_figures_of_samples_match_an_independent_script() {
    let Some(root) = conformance::root() else { return };
    let logs = root.join("agent-logs");
    let mut paths = fs::read_dir(logs.join("claude-code"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .chain([logs.join("amplifier-synthetic")])
        .collect::<Vec<_>>();
    paths.sort();
    assert!(paths.len() > 6);
    let Some(expected) = python("figures.py", &paths.iter().map(PathBuf::as_path).collect::<Vec<_>>()) else {
        return;
    };
    for (path, expected) in paths.iter().zip(expected.lines()) {
        let expected = serde_json::from_str::<Value>(expected).unwrap();
        let (sessions, session) = Sessions::open(path).unwrap();
        for (name, figure) in figures(&sessions, &session).as_object().unwrap() {
            assert_eq!(*figure, expected[name], "{name} of {}", path.display());
        }
    }
}
