//! The examples in the page about directives, each run on data that it reads.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::common::{Home, Run};
use crate::routes::{asks, server};

/// Extracts the page's blocks of directives.
fn blocks() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/DIRECTIVES.md");
    let page = fs::read_to_string(page).unwrap();
    page.split("```text\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// Splits a block into directives, including their continuation lines.
fn directives(block: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in block.lines() {
        match found.last_mut() {
            Some(last) if !line.starts_with('@') => {
                last.push('\n');
                last.push_str(line);
            }
            _ => found.push(line.to_owned()),
        }
    }
    found
}

fn prepared() -> Home {
    let home = Home::new("page-of-directives");
    home.put("page-1", r#"{"items": [{"name": "one"}]}"#);
    for (path, text) in [
        ("notes/today.md", "today\n"),
        ("notes/a.md", "a\n"),
        ("note (1).md", "copy\n"),
        ("minutes (draft).md", "minutes\n"),
        ("note, with (parentheses).md", "note\n"),
        ("inbox/1.md", "letter\n"),
        ("reports/last.md", "report\n"),
        ("people/ada.md", "---\nname: Ada\nrole: author\n---\n"),
        ("app.json", r#"{"events": [{"level": "error", "user": "ada"}, {"level": "info", "user": "bob"}]}"#),
        ("log.jsonl", "{\"user\": {\"name\": \"ada\"}}\n{\"user\": {\"name\": \"bob\"}}\n"),
    ] {
        let file = home.folder().path("docs").join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    home
}

/// Runs a step with a model that first calls a tool, if the step has one.
fn run(home: &Home, directives: &str) -> Run {
    let file = home.folder().file("docs/page.md", format!("## S\n{directives}\n\nGo.\n"));
    let mut command = home.trommel(["run", &file]);
    if directives.contains("@model none") {
        return Run::of(command.output().unwrap());
    }
    let has_tool = directives.contains("tool_outputs.list") || directives.contains("@tools all");
    let call = json!({"content": null, "tool_calls": [asks("1", "tool_outputs_list", &json!({}))]});
    let answer = json!({"content": "Done."});
    let (address, serving) = server(if has_tool { vec![call, answer] } else { vec![answer] });
    command.env("TROMMEL_MODEL_URL", address).env("TROMMEL_MODEL", "m");
    let run = Run::of(command.output().unwrap());
    serving.join().unwrap();
    run
}

#[test]
fn every_example_of_the_page_works() {
    let home = prepared();
    let (mut inputs, mut tools, mut others) = (0, 0, 0);
    for directive in blocks().iter().flat_map(|block| directives(block)) {
        if directive.contains("@input url:") {
            let run = run(&home, &format!("{directive}\n@model none"));
            assert!(run.status == Some(1) && run.err.contains("does not fetch `url:`"), "{}", run.err);
        } else if directive.starts_with("@input") {
            inputs += 1;
            // Writes the variable of the run first.
            let first = if directive.contains("variable: notes") {
                "@input file: notes/* (output=variable:notes)\n"
            } else {
                ""
            };
            let printed = run(&home, &format!("{first}{directive}\n@model none\n@output context")).ok();
            let is_read = !printed.contains("(total 0 chars)") && !printed.contains("(missing)");
            let reads = if directive.contains("output=") { "[input routed] " } else { "INPUT_FILES" };
            let reads = if directive.contains("refs-only") { "CONTENT NOT INLINED" } else { reads };
            assert!(is_read && printed.contains(reads), "{directive}: {printed}");
        } else if directive.starts_with("@tools") {
            tools += 1;
            let printed = run(&home, &directive).ok();
            let is_called = printed.contains("[tool call] tool_outputs.list {}: ok");
            assert_eq!(is_called, !directive.contains("none"), "{directive}: {printed}");
        } else {
            others += 1;
            let output = if directive.starts_with("@output") { "" } else { "\n@output file: out" };
            let printed = run(&home, &format!("{directive}{output}")).ok();
            assert!(
                printed.contains("Done.") || printed.contains("-> file:out.md (total "),
                "{directive}: {printed}"
            );
        }
    }
    assert_eq!((inputs, tools, others), (15, 5, 7));
}
