//! Documents that are run, from the first line to the last.

use std::io::Write;
use std::sync::Arc;

use serde_json::{Value, json};
use trommel_route::{WriteMode, notice};
use trommel_tool::{Call, Cancel, Context, Failure, Function, Metadata, Output, Registry};
use trommel_workflow::{Document, Message, Progress, Reply, Runner};

use crate::support::{Bench, Runs, Script, page, says};

fn registry() -> Registry {
    let registry = Registry::new();
    registry.register(says("web_search")).unwrap();
    registry.register(says("other")).unwrap();
    registry
}

const DOCUMENT: &str = "\
---
workflow_engine: step
description: A day's work
---
## Instructions
Be brief.

## Collect
@input file: notes/* (output=variable:notes)
@input variable:notes (output=file:archive/{today})
@input file: source (head=4)
@input file: gone.md
@model none

## Answer
@input variable:notes (refs-only)
@input url: https://example.com
@tools web_search(output=variable:found), other
@output file: reports/{today}
@write-mode replace
@header Report of {day-name}

What is new?

## Pass on
@model none
@input variable:found
@output context
";

fn prepared() -> Bench {
    let bench = Bench::new();
    bench.write("notes/1.md", "first");
    bench.write("notes/2.md", "second");
    bench.write("source.md", "äbcdef");
    bench
}

fn script() -> Arc<Script> {
    Script::new([
        Reply::default().call("a", "web_search", json!({"text": "result\n"})).call(
            "b",
            "other",
            json!({"text": "told"}),
        ),
        Reply::default().call("c", "web_serch", json!({})).call("d", "other", json!({"txt": 1})),
        Reply::text("Nothing is new."),
    ])
}

#[test]
fn a_document_is_run_with_a_model() {
    let bench = prepared();
    let script = script();
    let document = Document::parse(DOCUMENT).unwrap();
    let runner: Runner = bench.runner(registry()).model(script.clone()).urls(page());
    let mut told = Vec::new();
    let report = runner.run(&document, &mut |progress| match progress {
        Progress::Step(step) => told.push(format!("## {}", step.name)),
        Progress::Manifest(manifest) => told.push(notice(manifest)),
        Progress::Answer(answer) => told.push(answer.to_owned()),
        _ => {}
    });
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        told,
        [
            "## Collect",
            "[input routed] 2 files -> variable:notes (total 13 chars)\npaths: notes/1.md, notes/2.md",
            "[input routed] 1 variable -> file:archive/2026-03-04.md (total 13 chars)",
            "## Answer",
            "[output routed] web_search -> variable:found (total 7 chars)",
            "Nothing is new.",
            "[output routed] model -> file:reports/2026-03-04.md (total 15 chars)",
            "## Pass on",
        ]
    );
    assert_eq!(bench.file("archive/2026-03-04.md").as_deref(), Some("first\n\nsecond\n"));
    assert_eq!(
        bench.file("reports/2026-03-04.md").as_deref(),
        Some("# Report of Wednesday\n\nNothing is new.")
    );
    assert_eq!(
        report.context,
        "=== BEGIN INPUT_FILES ===\n--- VARIABLE: found ---\nresult\n=== END INPUT_FILES ===\n\nBe brief."
    );
    assert_eq!((report.steps[1].calls, report.steps[1].answer.as_deref()), (4, Some("Nothing is new.")));

    let asked = script.asked.lock().unwrap();
    let Message::Prompt(prompt) = &asked[0][0] else { panic!("the prompt comes first") };
    assert_eq!(
        prompt,
        "FILE PATHS (CONTENT NOT INLINED)\n- notes\n\n=== BEGIN INPUT_FILES ===\n--- URL: https://example.com ---\nfrom afar\n\
         === END INPUT_FILES ===\n\nBe brief.\n\nWhat is new?"
    );
    let said: Vec<_> = asked[2]
        .iter()
        .filter_map(|message| match message {
            Message::Tool { id, content } => Some((id.as_str(), content.as_str())),
            _ => None,
        })
        .collect();
    assert!(
        said[0]
            .1
            .starts_with("[output routed] web_search -> variable:found (total 7 chars)\nnext: buffer_ops {"),
        "{said:?}"
    );
    assert_eq!(said[1], ("b", "told"));
    assert!(said[2].1.starts_with("[unknown tool] The tool \"web_serch\" is not registered."), "{said:?}");
    assert!(said[3].1.contains("Missing required parameter: text"), "{said:?}");
    assert_eq!(script.tools.lock().unwrap()[0], ["other", "web_search"]);
}

#[test]
fn a_document_is_run_without_a_model() {
    let bench = prepared();
    let text = DOCUMENT
        .replace("What is new?", "")
        .replace("@tools web_search(output=variable:found), other\n", "@model none\n");
    let text = text.replace("@input variable:found\n", "");
    let document = Document::parse(&text).unwrap();
    let report = bench.runner(registry()).urls(page()).run(&document, &mut |_| {}).unwrap();
    assert!(report.steps.iter().all(|step| step.answer.is_none() && step.calls == 0));
    // Where no model is asked, the prompt itself is what goes on.
    let written = bench.file("reports/2026-03-04.md").unwrap();
    assert!(
        written.starts_with("# Report of Wednesday\n\nFILE PATHS") && written.ends_with("Be brief."),
        "{written}"
    );
    assert_eq!(report.context, "Be brief.");
}

#[test]
fn a_dry_run_says_what_would_happen_and_does_none_of_it() {
    let bench = prepared();
    let before = bench.files();
    let document = Document::parse(DOCUMENT).unwrap();
    let plan =
        bench.runner(registry()).urls(page()).dry_run(&document).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        plan.to_string(),
        "## Collect\n\
         [would read] 2 files (11 bytes) -> variable:notes (append)\npaths: notes/1.md, notes/2.md\n\
         [would read] variable:notes -> file:archive/2026-03-04.md (append)\n\
         [would read] 1 file (7 bytes) -> the prompt\npaths: source.md\n\
         [would read] 0 files -> the prompt\n\
         [no model]\n\
         ## Answer\n\
         [would read] variable:notes -> the prompt\n\
         [would read] url:https://example.com -> the prompt\n\
         [would ask] the default model with other, web_search -> variable:found\n\
         [would fail] this step needs a model, and none is set up; set one up, or write `@model none`\n\
         [would write] the answer -> file:reports/2026-03-04.md (replace)\n\
         ## Pass on\n\
         [would read] variable:found -> the prompt\n\
         [no model]\n\
         [would write] the answer -> the document's context\n"
    );
    assert_eq!((bench.files(), bench.variable("notes")), (before, None));
}

#[test]
fn several_files_have_places_of_their_own_with_new() {
    let bench = prepared();
    let text = "## S\n@input file:notes/* (output=file:copies/note, write-mode=new)\n@model none\n";
    let manifests = bench.run(text).unwrap();
    assert_eq!(
        notice(&manifests[1]),
        "[input routed] 1 file -> file:copies/note_001.md (total 31 chars)\npaths: notes/2.md"
    );
    assert_eq!(bench.file("copies/note_000.md").as_deref(), Some("--- FILE: notes/1.md ---\nfirst"));
}

#[test]
fn properties_names_and_beginnings_are_read_alone() {
    let bench = prepared();
    bench.write("p.md", "---\ntitle: A\ntags: [x]\n---\nbody");
    let context = |input: &str| {
        let document =
            Document::parse(&format!("## S\n@input {input}\n@model none\n@output context\n")).unwrap();
        bench.runner(registry()).run(&document, &mut |_| {}).unwrap_or_else(|error| panic!("{error}")).context
    };
    assert!(context("file:p (properties)").contains("---\ntitle: A\ntags: [x]\n==="));
    assert!(context("file:p (properties=\"tags\")").contains("---\ntags: [x]\n==="));
    assert!(context("file:source (head=3)").contains("---\näbc\n==="));
    assert!(context("file:notes/* (refs-only, head=2)").ends_with("- notes/1.md\n- notes/2.md"));
    bench.run("## S\n@input file:notes/* (refs-only, output=variable:names)\n@model none\n").unwrap();
    assert_eq!(bench.variable("names").as_deref(), Some("notes/1.md\n\nnotes/2.md"));
    // The last character that is wanted may come in two pieces, and so may the first one that is
    // not.
    for before in [65_535, 65_534, 8_191] {
        bench.write("split.md", format!("{}éü", "x".repeat(before)));
        for more in [0, 1] {
            let text = context(&format!("file:split (head={})", before + more));
            assert!(text.contains(if more == 1 { "xé\n===" } else { "x\n===" }), "{before} {more}");
        }
    }
    assert_eq!(context("file:gone"), "FILE PATHS (CONTENT NOT INLINED)\n- file:gone (missing)");
}

/// What is not there counts as empty where it is routed.
#[test]
fn an_input_that_is_not_there_is_routed_as_nothing() {
    let bench = prepared();
    bench.put("variable:had", WriteMode::Append, "before");
    for (name, mode, after) in [("made", "append", ""), ("had", "append", "before")] {
        let text =
            format!("## S\n@input file:gone (output=variable:{name}, write-mode={mode})\n@model none\n");
        let manifests = bench.run(&text).unwrap();
        let told = format!("[input routed] 0 files -> variable:{name} (total 0 chars)");
        assert_eq!((notice(&manifests[0]), bench.variable(name).as_deref()), (told, Some(after)));
    }
}

const FEW: &str = "TROMMEL_ROUTE_FEW_DESCRIPTORS";

/// More files than a process may have open: they are opened one after the other.
#[test]
fn an_input_may_be_of_many_files() {
    if std::env::var_os(FEW).is_none() {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
        shell.args(["runs::an_input_may_be_of_many_files", "--exact"]).env(FEW, "yes");
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let bench = Bench::new();
    (0..300).for_each(|number| bench.write(&format!("many/{number:03}.md"), "x"));
    for (input, mode) in [("many/*", "append"), ("many/{latest:299}", "append"), ("many/*", "new")] {
        let text =
            format!("## S\n@input file:{input} (output=variable:all, write-mode={mode})\n@model none\n");
        assert!(!bench.run(&text).unwrap().is_empty());
    }
    assert_eq!(bench.variable("all_299").as_deref(), Some("--- FILE: many/299.md ---\nx"));
    assert_eq!(bench.variable("all").unwrap().matches('x').count(), 599);
}

#[test]
fn a_dry_run_says_what_is_required_and_not_there() {
    let bench = prepared();
    let text =
        "## S\n@input file:gone (required)\n@input variable:v (required, output=discard)\n@model none\n";
    let plan = bench.runner(registry()).dry_run(&Document::parse(text).unwrap()).unwrap().to_string();
    let ends = "; the run fails here unless an earlier step creates it\n";
    assert_eq!(
        plan,
        format!(
            "## S\n[would read] 0 files -> the prompt{ends}[would read] variable:v -> discard{ends}[no model]\n"
        )
    );
}

/// R45: what goes wrong ends the run, with its place in the document.
#[test]
fn r45_a_run_that_fails_names_the_place() {
    let bench = prepared();
    let wrong = |line: &str, said: &str| {
        let text = format!("## S\n\n{line}\n@model none\n");
        let error = bench.run(&text).unwrap_err();
        assert!(error.starts_with("line 3, column ") && error.contains(said), "{error}");
        assert!(error.contains(&format!("\n  {line}\n")), "{error}");
    };
    wrong("@input file:notes/3 (required)", "there is no file `notes/3`, and it is required");
    wrong("@input file:notes/11.md (required)", "did you mean `notes/1.md`?");
    wrong("@input variable:gone (required)", "there is no variable `gone`, and it is required");
    wrong("@input url:https://missing (output=variable:x)", "there is no page");
    wrong("@input query:x", "nothing here fetches `query:`");
    wrong("@input file:notes/1 (output=file:own/x)", "belongs to the program itself");
    wrong("@input file:notes/1 (output=variable:x, scope=ever)", "run or session");
    assert_eq!(bench.variable("x"), None, "nothing of what failed is left");

    let with_model = |text: &str, said: &str| {
        let document = Document::parse(text).unwrap();
        let runner = bench.runner(registry());
        let runner = if text.contains("asked") { runner.model(Script::new([])) } else { runner };
        let error = runner.run(&document, &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        (error.error.line, error.step)
    };
    assert_eq!(with_model("## S\n\nGo.", "none is set up"), (1, "S".to_owned()));
    assert_eq!(
        with_model("## A\n@model none\n## asked\n@model m\n", "nothing more to say"),
        (4, "asked".to_owned())
    );
    assert_eq!(with_model("## asked\n@tools web_serch\n", "did you mean web_search?").0, 2);
    assert_eq!(with_model("## asked\n@tools web_search(output=file:own/x)\n", "the program itself").0, 2);
    // Also where no model will call it, and before anything is written.
    let unasked = "## S\n@input file:notes/1 (output=variable:y)\n@model none\n@tools web_serch\n";
    assert_eq!(with_model(unasked, "did you mean web_search?").0, 4);
    assert_eq!(bench.variable("y"), None);
}

#[test]
fn a_run_ends_when_it_is_asked_to() {
    let bench = prepared();
    let flag = Cancel::new();
    let raised = flag.clone();
    let fetch = move |_: &str, to: &mut dyn Write| -> Result<(), Failure> {
        raised.cancel();
        to.write_all(b"x").map_err(|error| Failure::raised(&error))
    };
    let document =
        Document::parse("## S\n@input url:x\n@input file:notes/1 (output=variable:x)\n@model none\n")
            .unwrap();
    let runner = bench.runner(registry()).urls(Arc::new(fetch)).context(Context::new(".").cancelled_by(flag));
    let error = runner.run(&document, &mut |_| {}).unwrap_err();
    assert!(error.is_cancelled && bench.variable("x").is_none());
}

#[test]
fn a_model_may_choose_where_it_is_allowed_to() {
    let bench = prepared();
    let chosen: Value = json!({"text": "kept", "output": "variable:mine", "write_mode": "replace"});
    let script = Script::new([Reply::default().call("a", "other", chosen), Reply::text("Done.")]);
    let document = Document::parse("## S\n@tools other\nGo.").unwrap();
    bench.runner(registry()).model(script.clone()).choosing("other").run(&document, &mut |_| {}).unwrap();
    assert_eq!(bench.variable("mine").as_deref(), Some("kept"));
    // A tool whose own argument has this name keeps it, and nobody chooses.
    let own = Registry::new();
    let schema = json!({"type": "object", "properties": {"output": {"type": "string"}}});
    let metadata = Metadata::new("other", "Has an output of its own", schema);
    let tool = |call: &mut Call<'_>| Ok(Output::text(call.arguments["output"].as_str().unwrap().to_owned()));
    own.register(Function::new(metadata, tool)).unwrap();
    let asks = json!({"output": "variable:taken"});
    let script = Script::new([Reply::default().call("a", "other", asks), Reply::text("Done.")]);
    bench.runner(own).model(script.clone()).choosing("other").run(&document, &mut |_| {}).unwrap();
    assert_eq!(bench.variable("taken"), None);
    let told = Message::Tool { id: "a".into(), content: "variable:taken".into() };
    assert_eq!(script.asked.lock().unwrap()[1].last(), Some(&told));
    let endless = Script::new((0..5).map(|_| Reply::default().call("a", "other", json!({"text": "x"}))));
    let error = bench.runner(registry()).model(endless).rounds(3).run(&document, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("after 3 rounds of tool calls"), "{error}");
}

#[test]
fn pending_files_are_had_once_and_the_latest_always() {
    let bench = Bench::new();
    for number in 1..=4 {
        bench.write(&format!("in/{number}.md"), number.to_string());
        std::thread::sleep(std::time::Duration::from_millis(15));
    }
    let read = |pattern: &str| -> Vec<String> {
        let text = format!("## S\n@input file:in/{pattern} (output=discard)\n@model none\n");
        let document = Document::parse(&text).unwrap().named("daily");
        let report =
            bench.runner(registry()).run(&document, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"));
        report.steps[0].manifests[0].paths.clone()
    };
    assert_eq!(read("{latest:2}"), ["in/4.md", "in/3.md"]);
    assert_eq!(read("{pending:3}"), ["in/1.md", "in/2.md", "in/3.md"]);
    assert_eq!(read("{pending:3}"), ["in/4.md"]);
    assert_eq!(read("{pending:3}"), Vec::<String>::new());
    bench.write("in/2.md", "changed");
    assert_eq!(read("{pending:3}"), ["in/2.md"]);
    assert_eq!(read("{pending}"), ["in/1.md", "in/3.md", "in/4.md", "in/2.md"], "another pattern is another");
    // What is changed after it was read is had again.
    let root = bench.root();
    let text =
        "## S\n@input file:in/{pending:5} (output=variable:y)\n@input url:x (output=discard)\n@model none\n";
    let document = Document::parse(text).unwrap();
    let changes = move |_: &str, _: &mut dyn Write| -> Result<(), Failure> {
        std::fs::write(root.join("in/3.md"), "changed meanwhile").map_err(|error| Failure::raised(&error))
    };
    let runner = bench.runner(registry()).urls(Arc::new(changes));
    let had = || runner.run(&document, &mut |_| {}).unwrap().steps[0].manifests[0].paths.clone();
    assert_eq!(had(), ["in/1.md", "in/3.md", "in/4.md", "in/2.md"]);
    assert_eq!(had(), ["in/3.md"]);
    // A step that fails has them again.
    let text =
        "## S\n@input file:in/{pending:4} (output=variable:x)\n@input file:gone (required)\n@model none\n";
    let document = Document::parse(text).unwrap();
    bench.runner(registry()).run(&document, &mut |_| {}).unwrap_err();
    let again = Document::parse("## S\n@input file:in/{pending:4} (output=discard)\n@model none\n").unwrap();
    let report = bench.runner(registry()).run(&again, &mut |_| {}).unwrap();
    assert_eq!(report.steps[0].manifests[0].items, Some(4));
}

/// Every line of the page about directives is one.
#[test]
fn the_lines_of_the_page_are_read() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/DIRECTIVES.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> =
        page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 5);
    for block in blocks {
        let (directives, body) =
            trommel_workflow::Directives::parse(block).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(body, "", "{block}");
        assert!(!directives.to_string().is_empty());
    }
}
