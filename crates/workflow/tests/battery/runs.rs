//! Complete runs of documents, with and without a model.

use std::io::Write;
use std::sync::Arc;

use serde_json::{Value, json};
use trommel_route::{WriteMode, notice};
use trommel_tool::{Call, Cancel, Context, Failure, Function, Metadata, Output, Registry};
use trommel_workflow::{Document, Message, Progress, Reply, Runner};

use crate::support::{Bench, RunDocuments, Script, page_fetcher, says};

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

List the news.

## Pass on
@model none
@input variable:found
@output context
";

fn bench_with_notes() -> Bench {
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
            json!({"text": "echoed"}),
        ),
        Reply::default().call("c", "web_serch", json!({})).call("d", "other", json!({"txt": 1})),
        Reply::text("Nothing is new."),
    ])
}

#[test]
fn runs_a_document_with_a_model() {
    let bench = bench_with_notes();
    let script = script();
    let document = Document::parse(DOCUMENT).unwrap();
    let runner: Runner = bench.runner(registry()).model(script.clone()).urls(page_fetcher());
    let mut events = Vec::new();
    let report = runner.run(&document, &mut |progress| match progress {
        Progress::Step(step) => events.push(format!("## {}", step.name)),
        Progress::Manifest(manifest) => events.push(notice(manifest)),
        Progress::Answer(answer) => events.push(answer.to_owned()),
        _ => {}
    });
    let report = report.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        events,
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

    let requests = script.requests.lock().unwrap();
    let Message::Prompt(prompt) = &requests[0][0] else { panic!("the first message must be the prompt") };
    assert_eq!(
        prompt,
        "FILE PATHS (CONTENT NOT INLINED)\n- notes\n\n=== BEGIN INPUT_FILES ===\n--- URL: https://example.com ---\nremote page\n\
         === END INPUT_FILES ===\n\nBe brief.\n\nList the news."
    );
    let results: Vec<_> = requests[2]
        .iter()
        .filter_map(|message| match message {
            Message::Tool { id, content } => Some((id.as_str(), content.as_str())),
            _ => None,
        })
        .collect();
    assert!(
        results[0]
            .1
            .starts_with("[output routed] web_search -> variable:found (total 7 chars)\nnext: buffer_ops {"),
        "{results:?}"
    );
    assert_eq!(results[1], ("b", "echoed"));
    assert!(
        results[2].1.starts_with("[unknown tool] The tool \"web_serch\" is not registered."),
        "{results:?}"
    );
    assert!(results[3].1.contains("Missing required parameter: text"), "{results:?}");
    assert_eq!(script.tools.lock().unwrap()[0], ["other", "web_search"]);
}

#[test]
fn runs_a_document_without_a_model() {
    let bench = bench_with_notes();
    let text = DOCUMENT
        .replace("List the news.", "")
        .replace("@tools web_search(output=variable:found), other\n", "@model none\n");
    let text = text.replace("@input variable:found\n", "");
    let document = Document::parse(&text).unwrap();
    let report = bench.runner(registry()).urls(page_fetcher()).run(&document, &mut |_| {}).unwrap();
    assert!(report.steps.iter().all(|step| step.answer.is_none() && step.calls == 0));
    // Without a model, the prompt itself is the answer that is routed.
    let written = bench.file("reports/2026-03-04.md").unwrap();
    assert!(
        written.starts_with("# Report of Wednesday\n\nFILE PATHS") && written.ends_with("Be brief."),
        "{written}"
    );
    assert_eq!(report.context, "Be brief.");
}

#[test]
fn dry_run_prints_the_plan_without_side_effects() {
    let bench = bench_with_notes();
    let before = bench.files();
    let document = Document::parse(DOCUMENT).unwrap();
    let plan = bench
        .runner(registry())
        .urls(page_fetcher())
        .dry_run(&document)
        .unwrap_or_else(|error| panic!("{error}"));
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
         [would fail] the step needs a model, but none is configured; configure one, or write `@model none`\n\
         [would write] the answer -> file:reports/2026-03-04.md (replace)\n\
         ## Pass on\n\
         [would read] variable:found -> the prompt\n\
         [no model]\n\
         [would write] the answer -> the document's context\n"
    );
    assert_eq!((bench.files(), bench.variable("notes")), (before, None));
}

#[test]
fn write_mode_new_numbers_each_file() {
    let bench = bench_with_notes();
    let text = "## S\n@input file:notes/* (output=file:copies/note, write-mode=new)\n@model none\n";
    let manifests = bench.run(text).unwrap();
    assert_eq!(
        notice(&manifests[1]),
        "[input routed] 1 file -> file:copies/note_001.md (total 31 chars)\npaths: notes/2.md"
    );
    assert_eq!(bench.file("copies/note_000.md").as_deref(), Some("--- FILE: notes/1.md ---\nfirst"));
}

#[test]
fn inputs_can_be_limited_to_properties_paths_or_a_prefix() {
    let bench = bench_with_notes();
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
    // A read boundary may split the last character of the prefix, or the first one after it.
    for length in [65_535, 65_534, 8_191] {
        bench.write("split.md", format!("{}éü", "x".repeat(length)));
        for extra in [0, 1] {
            let text = context(&format!("file:split (head={})", length + extra));
            assert!(text.contains(if extra == 1 { "xé\n===" } else { "x\n===" }), "{length} {extra}");
        }
    }
    assert_eq!(context("file:gone"), "FILE PATHS (CONTENT NOT INLINED)\n- file:gone (missing)");
}

/// Routing a missing input writes empty text.
#[test]
fn a_missing_input_is_routed_as_empty_text() {
    let bench = bench_with_notes();
    bench.put("variable:existing", WriteMode::Append, "before");
    for (name, mode, expected_text) in [("created", "append", ""), ("existing", "append", "before")] {
        let text =
            format!("## S\n@input file:gone (output=variable:{name}, write-mode={mode})\n@model none\n");
        let manifests = bench.run(&text).unwrap();
        let expected = format!("[input routed] 0 files -> variable:{name} (total 0 chars)");
        assert_eq!((notice(&manifests[0]), bench.variable(name).as_deref()), (expected, Some(expected_text)));
    }
}

const DESCRIPTOR_LIMIT_ENV: &str = "TROMMEL_ROUTE_FEW_DESCRIPTORS";

/// The input has more files than a process may open, so they must be opened one at a time.
#[test]
fn inputs_can_exceed_the_descriptor_limit() {
    if std::env::var_os(DESCRIPTOR_LIMIT_ENV).is_none() {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
        shell
            .args(["runs::inputs_can_exceed_the_descriptor_limit", "--exact"])
            .env(DESCRIPTOR_LIMIT_ENV, "yes");
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let bench = Bench::new();
    (0..300).for_each(|number| bench.write(&format!("bulk/{number:03}.md"), "x"));
    for (input, mode) in [("bulk/*", "append"), ("bulk/{latest:299}", "append"), ("bulk/*", "new")] {
        let text =
            format!("## S\n@input file:{input} (output=variable:all, write-mode={mode})\n@model none\n");
        assert!(!bench.run(&text).unwrap().is_empty());
    }
    assert_eq!(bench.variable("all_299").as_deref(), Some("--- FILE: bulk/299.md ---\nx"));
    assert_eq!(bench.variable("all").unwrap().matches('x').count(), 599);
}

#[test]
fn dry_run_reports_missing_required_inputs() {
    let bench = bench_with_notes();
    let text =
        "## S\n@input file:gone (required)\n@input variable:v (required, output=discard)\n@model none\n";
    let plan = bench.runner(registry()).dry_run(&Document::parse(text).unwrap()).unwrap().to_string();
    let suffix = "; the run fails here unless an earlier step creates it\n";
    assert_eq!(
        plan,
        format!(
            "## S\n[would read] 0 files -> the prompt{suffix}[would read] variable:v -> discard{suffix}[no model]\n"
        )
    );
}

/// R45: an error ends the run and names its position in the document.
#[test]
fn r45_a_failed_run_names_the_position() {
    let bench = bench_with_notes();
    let assert_fails = |line: &str, expected: &str| {
        let text = format!("## S\n\n{line}\n@model none\n");
        let error = bench.run(&text).unwrap_err();
        assert!(error.starts_with("line 3, column ") && error.contains(expected), "{error}");
        assert!(error.contains(&format!("\n  {line}\n")), "{error}");
    };
    assert_fails("@input file:notes/3 (required)", "there is no file `notes/3`, and it is required");
    assert_fails("@input file:notes/11.md (required)", "did you mean `notes/1.md`?");
    assert_fails("@input variable:gone (required)", "there is no variable `gone`, and it is required");
    assert_fails("@input url:https://missing (output=variable:x)", "found no page");
    assert_fails("@input query:x", "does not fetch `query:`");
    assert_fails("@input file:notes/1 (output=file:own/x)", "reserved for the program");
    assert_fails("@input file:notes/1 (output=variable:x, scope=ever)", "run or session");
    assert_eq!(bench.variable("x"), None, "a failed run leaves no variable");

    let with_model = |text: &str, expected: &str| {
        let document = Document::parse(text).unwrap();
        let runner = bench.runner(registry());
        let runner = if text.contains("scripted") { runner.model(Script::new([])) } else { runner };
        let error = runner.run(&document, &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        (error.error.line, error.step)
    };
    assert_eq!(with_model("## S\n\nGo.", "none is configured"), (1, "S".to_owned()));
    assert_eq!(
        with_model("## A\n@model none\n## scripted\n@model m\n", "no more replies"),
        (4, "scripted".to_owned())
    );
    assert_eq!(with_model("## scripted\n@tools web_serch\n", "did you mean web_search?").0, 2);
    assert_eq!(
        with_model("## scripted\n@tools web_search(output=file:own/x)\n", "reserved for the program").0,
        2
    );
    // The tools of a step without a model are also checked before anything is written.
    let without_model = "## S\n@input file:notes/1 (output=variable:y)\n@model none\n@tools web_serch\n";
    assert_eq!(with_model(without_model, "did you mean web_search?").0, 4);
    assert_eq!(bench.variable("y"), None);
}

#[test]
fn cancellation_ends_a_run() {
    let bench = bench_with_notes();
    let cancel = Cancel::new();
    let canceller = cancel.clone();
    let fetch = move |_: &str, to: &mut dyn Write| -> Result<(), Failure> {
        canceller.cancel();
        to.write_all(b"x").map_err(|error| Failure::raised(&error))
    };
    let document =
        Document::parse("## S\n@input url:x\n@input file:notes/1 (output=variable:x)\n@model none\n")
            .unwrap();
    let runner =
        bench.runner(registry()).urls(Arc::new(fetch)).context(Context::new(".").cancelled_by(cancel));
    let error = runner.run(&document, &mut |_| {}).unwrap_err();
    assert!(error.is_cancelled && bench.variable("x").is_none());
}

#[test]
fn a_model_chooses_a_destination_only_if_allowed() {
    let bench = bench_with_notes();
    let arguments: Value = json!({"text": "kept", "output": "variable:mine", "write_mode": "replace"});
    let script = Script::new([Reply::default().call("a", "other", arguments), Reply::text("Done.")]);
    let document = Document::parse("## S\n@tools other\nGo.").unwrap();
    bench.runner(registry()).model(script.clone()).allow_choice("other").run(&document, &mut |_| {}).unwrap();
    assert_eq!(bench.variable("mine").as_deref(), Some("kept"));
    // A tool that declares an `output` argument keeps it, so the model cannot choose a destination.
    let custom_registry = Registry::new();
    let schema = json!({"type": "object", "properties": {"output": {"type": "string"}}});
    let metadata = Metadata::new("other", "Declares its own output", schema);
    let tool = |call: &mut Call<'_>| Ok(Output::text(call.arguments["output"].as_str().unwrap().to_owned()));
    custom_registry.register(Function::new(metadata, tool)).unwrap();
    let arguments = json!({"output": "variable:argument"});
    let script = Script::new([Reply::default().call("a", "other", arguments), Reply::text("Done.")]);
    bench
        .runner(custom_registry)
        .model(script.clone())
        .allow_choice("other")
        .run(&document, &mut |_| {})
        .unwrap();
    assert_eq!(bench.variable("argument"), None);
    let expected = Message::Tool { id: "a".into(), content: "variable:argument".into() };
    assert_eq!(script.requests.lock().unwrap()[1].last(), Some(&expected));
    let endless = Script::new((0..5).map(|_| Reply::default().call("a", "other", json!({"text": "x"}))));
    let error = bench.runner(registry()).model(endless).rounds(3).run(&document, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("after 3 rounds of tool calls"), "{error}");
}

#[test]
fn pending_files_are_read_once_and_latest_files_every_time() {
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
    assert_eq!(
        read("{pending}"),
        ["in/1.md", "in/3.md", "in/4.md", "in/2.md"],
        "each pattern has its own pending files"
    );
    // A file that changes after it was read becomes pending again.
    let root = bench.root();
    let text =
        "## S\n@input file:in/{pending:5} (output=variable:y)\n@input url:x (output=discard)\n@model none\n";
    let document = Document::parse(text).unwrap();
    let changes = move |_: &str, _: &mut dyn Write| -> Result<(), Failure> {
        std::fs::write(root.join("in/3.md"), "changed meanwhile").map_err(|error| Failure::raised(&error))
    };
    let runner = bench.runner(registry()).urls(Arc::new(changes));
    let read_paths = || runner.run(&document, &mut |_| {}).unwrap().steps[0].manifests[0].paths.clone();
    assert_eq!(read_paths(), ["in/1.md", "in/3.md", "in/4.md", "in/2.md"]);
    assert_eq!(read_paths(), ["in/3.md"]);
    // The files that a failed step has read stay pending.
    let text =
        "## S\n@input file:in/{pending:4} (output=variable:x)\n@input file:gone (required)\n@model none\n";
    let document = Document::parse(text).unwrap();
    bench.runner(registry()).run(&document, &mut |_| {}).unwrap_err();
    let again = Document::parse("## S\n@input file:in/{pending:4} (output=discard)\n@model none\n").unwrap();
    let report = bench.runner(registry()).run(&again, &mut |_| {}).unwrap();
    assert_eq!(report.steps[0].manifests[0].items, Some(4));
}

/// Every line of the examples in `docs/DIRECTIVES.md` is a directive.
#[test]
fn examples_in_the_directives_page_parse() {
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
