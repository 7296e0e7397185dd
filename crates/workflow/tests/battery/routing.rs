//! Routing from every source to every destination in every mode.

use std::fs::{self, File};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::json;
use trommel_route::{Router, WriteMode, notice};
use trommel_tool::{Context, Executor, Registry};
use trommel_workflow::Document;

use crate::support::{Bench, RunDocuments, route, says};

const TEXT: &str = "fresh";
const OLD: &str = "old";

/// The text that a source yields.
fn source_text(source: &str) -> &'static str {
    if source == "url" { "remote page" } else { TEXT }
}

/// Routes from a source to a target. Returns the notice, or the inlined text as the error.
fn route_source(bench: &Bench, source: &str, target: &str, mode: WriteMode) -> Result<String, String> {
    let line = match source {
        "file" => "file:source.md",
        "variable" => "variable:source",
        "url" => "url:https://example.com",
        _ => return route_tool_result(bench, target, mode),
    };
    let text = format!(
        "## Step\n@input {line} (output={target}, write-mode={mode})\n@model none\n@output context\n"
    );
    let document = Document::parse(&text).unwrap();
    let report = bench
        .runner(Registry::new())
        .urls(crate::support::page_fetcher())
        .run(&document, &mut |_| {})
        .unwrap();
    match report.steps[0].manifests.as_slice() {
        [manifest] => Ok(notice(manifest)),
        _ => Err(report.context),
    }
}

/// Routes the result of a tool. Returns the same as `route_source`.
fn route_tool_result(bench: &Bench, target: &str, mode: WriteMode) -> Result<String, String> {
    let registry = Registry::new();
    registry.register(says("web_search")).unwrap();
    let router = Router::new(bench.destinations.clone()).rule("web_search", route(target).write_mode(mode));
    let executor = Executor::new(Arc::new(registry)).delivery(Arc::new(router));
    let execution = executor.call("web_search", json!({"text": TEXT}), &Context::new("."));
    match execution.result.manifest() {
        Some(manifest) => Ok(notice(manifest)),
        None => Err(execution.result.output.unwrap().as_str().to_owned()),
    }
}

/// The contents of a target that held `OLD` after a write, and those of the new numbered target.
fn expected_contents(text: &str, is_file: bool, mode: WriteMode) -> (String, Option<String>) {
    match mode {
        WriteMode::Append if is_file => (format!("{OLD}\n{text}\n"), None),
        WriteMode::Append => (format!("{OLD}{text}"), None),
        WriteMode::Replace => (text.to_owned(), None),
        _ => (OLD.to_owned(), Some(text.to_owned())),
    }
}

/// R27: 4 sources x 4 destinations x 3 modes.
#[test]
fn r27_every_source_goes_everywhere_in_every_mode() {
    let mut rows = 0;
    for source in ["file", "variable", "url", "tool"] {
        for target in ["inline", "discard", "variable:target", "file:target"] {
            for mode in WriteMode::ALL {
                let bench = Bench::new();
                bench.write("source.md", TEXT);
                bench.write("target.md", OLD);
                bench.put("variable:source", WriteMode::Replace, TEXT);
                bench.put("variable:target", WriteMode::Replace, OLD);
                let text = source_text(source);
                let row = format!("{source} -> {target} ({mode})");
                let outcome = route_source(&bench, source, target, mode);
                let prefix = match source {
                    "tool" => "[output routed] web_search".to_owned(),
                    source => format!("[input routed] 1 {source}"),
                };
                let (destination, is_file) = match target {
                    "variable:target" => {
                        (if mode == WriteMode::New { "variable:target_000" } else { target }, false)
                    }
                    "file:target" => {
                        (if mode == WriteMode::New { "file:target_000.md" } else { "file:target.md" }, true)
                    }
                    other => (other, false),
                };
                if target == "inline" {
                    assert!(outcome.unwrap_err().contains(text), "{row}");
                } else {
                    let chars = text.chars().count();
                    let notice_text = outcome.unwrap();
                    assert!(
                        notice_text.starts_with(&format!("{prefix} -> {destination} (total {chars} chars)")),
                        "{row}: {notice_text}"
                    );
                    assert_eq!(
                        notice_text.contains("paths: source.md"),
                        source == "file",
                        "{row}: {notice_text}"
                    );
                }
                let (contents, numbered) = expected_contents(text, is_file, mode);
                let untouched = Some(OLD.to_owned());
                let (file, variable) = match target {
                    "file:target" => (Some(contents), untouched),
                    "variable:target" => (untouched, Some(contents)),
                    _ => (untouched.clone(), untouched),
                };
                assert_eq!((bench.file("target.md"), bench.variable("target")), (file, variable), "{row}");
                let is_numbered = target.ends_with("target") && mode == WriteMode::New;
                let actual = if is_file { bench.file("target_000.md") } else { bench.variable("target_000") };
                assert_eq!(actual, numbered.filter(|_| is_numbered), "{row}");
                rows += 1;
            }
        }
    }
    assert_eq!(rows, 48);
}

#[test]
fn r27_writes_append_by_default() {
    let bench = Bench::new();
    bench.write("a.md", "one");
    bench.write("b.md", "two");
    bench
        .run("## S\n@input file:a (output=variable:foo)\n@input file:b (output=variable:foo)\n@model none\n")
        .unwrap();
    assert_eq!(bench.variable("foo").as_deref(), Some("onetwo"));
    bench.run("## S\n@input file:b (output=variable:foo, write-mode=replace)\n@model none\n").unwrap();
    assert_eq!(bench.variable("foo").as_deref(), Some("two"));
}

#[test]
fn notices_match_the_specification() {
    let bench = Bench::new();
    for (day, length) in [("01", 4_000), ("02", 4_000), ("03", 4_336)] {
        bench.write(&format!("notes/2026-01-{day}"), "x".repeat(length));
    }
    let manifests =
        bench.run("## S\n@input file:notes/2026-01-* (output=variable:foo)\n@model none\n").unwrap();
    assert_eq!(
        notice(&manifests[0]),
        "[input routed] 3 files -> variable:foo (total 12,340 chars)\n\
         paths: notes/2026-01-01, notes/2026-01-02, notes/2026-01-03"
    );
    let manifest = &manifests[0];
    assert_eq!((manifest.items, manifest.size_bytes, manifest.id.as_str()), (Some(3), 12_340, "foo"));
}

#[test]
fn contents_can_be_routed_to_their_own_source() {
    let bench = Bench::new();
    bench.write("a.md", "one\n");
    bench.put("variable:v", WriteMode::Replace, "two");
    let run = |line: &str| bench.run(&format!("## S\n@input {line}\n@model none\n")).unwrap();
    run("file:a (output=file:a)");
    run("variable:v (output=variable:v)");
    assert_eq!(
        (bench.file("a.md").as_deref(), bench.variable("v").as_deref()),
        (Some("one\none\n"), Some("twotwo"))
    );
    run("variable:v (output=variable:v, scope=session, write-mode=replace)");
    let scopes: Vec<_> = bench
        .destinations
        .buffers()
        .list(None)
        .unwrap()
        .buffers
        .iter()
        .map(|info| info.scope.name())
        .collect();
    assert_eq!(scopes, ["run", "session"]);
}

#[test]
fn large_contents_are_copied_completely() {
    let bench = Bench::new();
    let line = "0123456789abcde\n";
    bench.write("long.txt", line.repeat(1 << 17));
    let run = |line: &str| bench.run(&format!("## S\n@input {line}\n@model none\n")).unwrap();
    for target in ["variable:v", "file:copy.txt"] {
        let manifest = &run(&format!("file:long.txt (output={target}, write-mode=replace)"))[0];
        assert_eq!(manifest.size_chars, 2 << 20);
    }
    run("variable:v (output=variable:v)");
    run("variable:v (output=variable:s, scope=session)");
    run("variable:s (output=file:back.txt)");
    assert_eq!(bench.file("back.txt").unwrap(), line.repeat(1 << 18));
    assert_eq!(bench.file("copy.txt").unwrap().len(), 2 << 20);
}

/// The patterns `{latest:N}` and `{pending:N}` select from any number of files. A wildcard matches
/// up to 100,000 files.
#[test]
fn reads_folders_of_more_than_ten_thousand_files() {
    let bench = Bench::new();
    fs::create_dir(bench.root().join("bulk")).unwrap();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for number in 0..10_050_u64 {
        let file = File::create(bench.root().join(format!("bulk/{number:05}.md"))).unwrap();
        // Later names have later times, except that the last file is the oldest.
        let age = if number == 10_049 { 90_000 } else { 80_000 - number };
        file.set_modified(now - Duration::from_secs(age)).unwrap();
    }
    let paths = |pattern: &str| {
        let text = format!("## S\n@input file:bulk/{pattern} (refs-only, output=discard)\n@model none\n");
        bench.run(&text).unwrap().remove(0).paths
    };
    assert_eq!(paths("{latest:3}"), ["bulk/10048.md", "bulk/10047.md", "bulk/10046.md"]);
    assert_eq!(paths("{pending:2}"), ["bulk/10049.md", "bulk/00000.md"]);
    assert_eq!(paths("{pending:2}"), ["bulk/00001.md", "bulk/00002.md"]);
    assert_eq!(paths("*").len(), 10_050);
}
