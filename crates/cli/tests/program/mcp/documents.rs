//! `trommel run --wrap`: the tools of other servers in the steps of a document.

use serde_json::{Value, json};

use super::client::odd;
use crate::common::{Home, Run};
use crate::routes::{asks, prepared, server};

/// Runs a document with the odd server and a model that gives these answers.
fn run(document: &str, flags: &[&str], calls: &[Value]) -> (Home, Run, Vec<Value>) {
    let (home, file) = prepared("wrapped", document);
    let answers = vec![json!({"content": null, "tool_calls": calls}), json!({"content": "Done."})];
    let (address, serving) = server(answers);
    let wrap = format!("odd={}", odd(&[]));
    let mut command = home.trommel([&["run", file.as_str(), "--wrap", &wrap], flags].concat());
    command.env("TROMMEL_MODEL_URL", address).env("TROMMEL_MODEL", "m");
    let run = Run::of(command.output().unwrap());
    (home, run, serving.join().unwrap())
}

/// The texts of a request's messages.
fn messages(request: &Value) -> String {
    request["messages"].to_string()
}

#[test]
fn results_are_routed_whole() {
    let items = json!({"shape": "text", "items": 20_000});
    let (home, run, asked) = run(
        "## S\n@tools odd_big(output=variable:found, scope=session), odd_echo\n\nSearch.\n",
        &[],
        &[
            asks("1", "odd_big", &items),
            asks("2", "odd_echo", &json!({"result": r#""content":[{"type":"text","text":"short"}]"#})),
        ],
    );
    let printed = run.ok();
    assert!(printed.contains("[output routed] odd_big -> variable:found (total "), "{printed}");
    // The variable holds the JSON; no stored output is left over from its way there.
    let found = home.run(["buffers", "search", "found", "user 19999 "]).ok();
    assert!(found.contains(r#""line":1,"#), "{found}");
    let list: Value = serde_json::from_str(&home.run(["list", "--json"]).ok()).unwrap();
    assert_eq!((&list["total"], &list["outputs"][0]["tool_name"]), (&1.into(), &"odd_echo".into()), "{list}");
    // The model got the short result, and a notice of the long one.
    let second = messages(&asked[1]);
    assert!(second.contains("short") && !second.contains("user 19999"), "{second}");
    let history = home.run(["history"]).ok();
    assert!(history.contains("odd_big") && history.contains("odd_echo"), "{history}");
}

#[test]
fn long_results_without_a_destination_are_stored() {
    let items = json!({"shape": "both", "items": 20_000});
    let (home, run, asked) = run("## S\n@tools odd_big\n\nGo.\n", &[], &[asks("1", "odd_big", &items)]);
    run.ok();
    let second = messages(&asked[1]);
    assert!(second.contains("tool_outputs"), "{second}");
    let list: Value = serde_json::from_str(&home.run(["list", "--json"]).ok()).unwrap();
    assert_eq!((&list["total"], &list["outputs"][0]["tool_name"]), (&1.into(), &"odd_big".into()), "{list}");
}

#[test]
fn failures_are_told_to_the_model() {
    let (_, run, asked) = run(
        "## S\n@tools odd_refuse, odd_fail, odd_ask, odd_die\n\nGo.\n",
        &[],
        &[
            asks("1", "odd_refuse", &json!({})),
            asks("2", "odd_fail", &json!({"chars": 9})),
            asks("3", "odd_ask", &json!({})),
            asks("4", "odd_die", &json!({})),
        ],
    );
    let printed = run.ok();
    assert_eq!(printed.matches(": failed: ").count(), 3, "{printed}");
    let second = messages(&asked[1]);
    for text in [
        "refused",
        "zzzzzzzzz",
        "no request is in progress that could be asked about",
        "ended before it answered",
    ] {
        assert!(second.contains(text), "{text}: {second}");
    }
}

/// An error of any length is passed on from its start.
#[test]
fn long_errors_are_cut() {
    let (home, run, asked) = run(
        "## S\n@tools odd_fail, odd_refuse\n\nGo.\n",
        &[],
        &[
            asks("1", "odd_fail", &json!({"chars": 500_000})),
            asks("2", "odd_fail", &json!({"chars": 3_000_000})),
            asks("3", "odd_refuse", &json!({"chars": 3_000_000})),
        ],
    );
    let printed = run.ok();
    assert_eq!(printed.matches(": failed: ").count(), 3, "{printed:.2000}");
    let answers = asked[1]["messages"].as_array().unwrap().iter().filter(|one| one["role"] == "tool");
    let answers: Vec<_> = answers.map(|one| one["content"].as_str().unwrap()).collect();
    for (answer, text) in answers.iter().zip(["zzzzzzzzz", "zzzzzzzzz", "refused"]) {
        assert!(answer.contains(text) && answer.len() < 20_000, "{}: {answer:.200}", answer.len());
    }
    assert_eq!(answers.len(), 3);
    let list: Value = serde_json::from_str(&home.run(["list", "--json"]).ok()).unwrap();
    assert_eq!(list["total"], 0, "{list}");
}

#[test]
fn all_tools_need_approval_unless_they_only_read() {
    for (tools, flags, is_called) in
        [("all", &[] as &[&str], false), ("all", &["--approve"], true), ("odd_noise", &[], true)]
    {
        let document = format!("## S\n@tools {tools}\n\nGo.\n");
        let (_, run, asked) = run(&document, flags, &[asks("1", "odd_noise", &json!({}))]);
        run.ok();
        let second = messages(&asked[1]);
        assert_eq!(second.contains("after the noise"), is_called, "{tools} {flags:?}: {second}");
        assert_eq!(second.contains("run the document with --approve"), !is_called, "{second}");
    }
}

#[test]
fn servers_that_fail_are_reported() {
    let (home, file) = prepared("wrapped-missing", "## S\n@tools web_find\n@model m\n\nGo.\n");
    let run = home.run(["run", &file, "--wrap", "web=/no/such/program"]);
    assert!(
        run.err.contains("the tools of web are missing: ") && run.err.contains("web_find"),
        "{}",
        run.err
    );
    let run = home.run(["run", &file, "--wrap", "web="]);
    assert!(run.status == Some(2) && run.err.contains("no command"), "{}", run.err);
}

#[test]
fn dry_runs_know_the_tools() {
    let (home, file) = prepared("wrapped-plan", "## S\n@tools odd_noise\n@model m\n\nGo.\n");
    let wrap = format!("odd={}", odd(&[]));
    let plan = home.run(["run", &file, "--dry-run", "--wrap", &wrap]).ok();
    assert!(plan.contains("odd_noise"), "{plan}");
}
