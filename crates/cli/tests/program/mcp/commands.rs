//! Commands for wrapped servers and for clients: `doctor`, `approve`, `install`, and `uninstall`.

use std::fs;

use super::client::odd;
use crate::common::{Folder, Home, Run};
use crate::terminal::shown_with_status;

fn wrap(environment: &[(&str, &str)]) -> String {
    format!("odd={}", odd(environment))
}

/// Runs a command for the odd server.
fn mcp(home: &Home, args: &[&str], environment: &[(&str, &str)]) -> Run {
    home.run(["mcp"].iter().chain(args).chain(&["--wrap", &wrap(environment)]))
}

#[test]
fn servers_are_started_listed_and_called() {
    let home = Home::new("mcp-doctor");
    let report = mcp(&home, &["doctor"], &[("PEEK", "answers")]).json();
    let odd = &report[0];
    assert_eq!((odd["server"].as_str(), odd["version"].as_str()), (Some("odd"), Some("2025-11-25")));
    let tools = odd["tools"].as_array().unwrap();
    assert!(tools.contains(&"odd_echo".into()) || tools.contains(&"echo".into()), "{odd}");
    assert!(odd["started_ms"].is_u64() && odd["call"]["ms"].is_u64(), "{odd}");
    assert_eq!(
        (odd["call"]["tool"].as_str(), &odd["call"]["error"]),
        (Some("peek"), &serde_json::Value::Null)
    );
    assert!(odd["log"].as_array().unwrap().iter().any(|line| line == "odd server: started"), "{odd}");
    for (peek, why) in [("fails", "nothing to see"), ("refuses", "not now")] {
        let run = mcp(&home, &["doctor", "--json"], &[("PEEK", peek)]);
        assert_eq!(run.status, Some(1), "{run:?}");
        let report: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert!(report[0]["call"]["error"].as_str().unwrap().contains(why), "{report}");
    }
}

#[test]
fn reports_for_people_name_errors_and_calls() {
    let home = Home::new("mcp-doctor-terminal");
    let shown = |environment: &[(&str, &str)], more: &[&str]| {
        let wrap = wrap(environment);
        let args = ["mcp", "doctor", "--wrap", &wrap];
        let (text, status) = shown_with_status(200, home.trommel(args.iter().chain(more)));
        (text, status.code())
    };
    let (text, status) = shown(&[], &[]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("odd: 30 tools in ") && text.contains(" ms, revision 2025-11-25"), "{text}");
    assert!(text.contains("no call: no tool declares that it reads and needs no arguments"), "{text}");
    assert!(text.contains("log: odd server: started"), "{text}");
    // A tool that is withheld is not called.
    let (text, status) = shown(&[("PEEK", "fails")], &[]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("withheld: peek (new): run trommel mcp approve"), "{text}");
    mcp(&home, &["approve"], &[("PEEK", "fails")]).ok();
    let (text, status) = shown(&[("PEEK", "fails")], &[]);
    assert!(status == Some(1) && text.contains("peek: error: nothing to see"), "{text}");
    let (text, status) = shown(&[("PEEK", "answers")], &["--wrap", "gone=/no/such/program"]);
    assert!(status == Some(1) && text.contains("peek: answered in "), "{text}");
    assert!(text.contains("gone: error: ") && text.contains("/no/such/program"), "{text}");
}

#[test]
fn tools_are_approved_one_by_one_or_all() {
    let home = Home::new("mcp-approve");
    let newer = [("NEWER", "1"), ("PEEK", "answers")];
    let withheld = |environment: &[(&str, &str)]| {
        let report = mcp(&home, &["doctor"], environment).json();
        let withheld = report[0]["withheld"].as_array().unwrap().clone();
        withheld.iter().map(|one| one["tool"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(withheld(&[]).is_empty());
    assert_eq!(withheld(&newer), ["new", "peek"]);
    assert_eq!(mcp(&home, &["approve", "odd", "new"], &newer).ok(), "odd: approved 1 tool\n");
    assert_eq!(withheld(&newer), ["peek"]);
    assert_eq!(mcp(&home, &["approve"], &newer).ok(), "odd: approved 32 tools\n");
    assert!(withheld(&newer).is_empty());
    let unknown = mcp(&home, &["approve", "even"], &newer).failed(2);
    assert!(unknown.contains("no wrapped server is named even"), "{unknown}");
    let unknown = mcp(&home, &["approve", "odd", "absent"], &newer).failed(1);
    assert!(unknown.contains("the server odd has no tool absent"), "{unknown}");
    let none = home.run(["mcp", "approve"]).failed(2);
    assert!(none.contains("no server is wrapped: name one with --wrap NAME=COMMAND"), "{none}");
}

#[test]
fn clients_are_changed_and_changed_back() {
    let (home, user) = (Home::new("mcp-install"), Folder::new("mcp-install-user"));
    let file = user.path(".cursor/mcp.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = r#"{"mcpServers": {"other": {"command": "other"}}}"#;
    fs::write(&file, before).unwrap();
    let run = |args: &[&str]| {
        let mut command = home.trommel(["mcp"].iter().chain(args));
        Run::of(command.env("HOME", user.path("")).output().unwrap())
    };
    let planned = run(&["install", "cursor"]);
    assert!(planned.out.contains("mcp.json") && planned.err.contains("--apply"), "{planned:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    run(&["install", "cursor", "--apply"]).ok();
    assert!(fs::read_to_string(&file).unwrap().contains("trommel"));
    assert_eq!(run(&["install", "cursor", "--apply"]).ok(), "nothing to do\n");
    run(&["uninstall", "cursor", "--apply"]).ok();
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    let unknown = run(&["uninstall", "emacs"]).failed(2);
    assert!(unknown.contains("emacs"), "{unknown}");
    fs::write(&file, "{").unwrap();
    let damaged = run(&["install", "cursor"]).failed(1);
    assert!(damaged.contains("mcp.json"), "{damaged}");
}
