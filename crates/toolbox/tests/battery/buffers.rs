//! `buffer_ops`, with the calls of the specification and with invalid ones.

use std::fs;
use std::io::Write;
use std::sync::Arc;

use jsonschema::Validator;
use serde_json::{Value, json};
use tempfile::TempDir;
use trommel_route::{Buffers, Destinations, Files, Origin, Route, Scope, Target};
use trommel_tool::dialect::Dialect;
use trommel_tool::{Context, ErrorKind, Executor, Metadata, Permissions, Registry, ToolResult};
use trommel_toolbox::{buffers, outputs};

use crate::rules::faults;
use crate::support::Bench as Outputs;

/// The tool over buffers and files.
struct Bench {
    folder: TempDir,
    places: Destinations,
    executor: Executor,
    results: Validator,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let session = Buffers::new().session(folder.path().join("sessions"), "s").unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        let places = Destinations::new(Arc::new(session)).files(Arc::new(Files::open(&root).unwrap()));
        let registry = Registry::new();
        buffers::register(&registry, &places).unwrap();
        let results = registry.get("buffer_ops").unwrap().metadata().result_schema.clone();
        let results = jsonschema::validator_for(&results).unwrap();
        Self { folder, places, executor: Executor::new(Arc::new(registry)), results }
    }

    fn put(&self, name: &str, scope: Scope, text: &str) {
        let route = Route::to(Target::parse(&format!("variable:{name}")).unwrap()).scope(scope);
        let mut parcel = self.places.open(&route, Origin::of("web_search")).unwrap();
        parcel.write_all(text.as_bytes()).unwrap();
        parcel.finish().unwrap();
    }

    fn call(&self, arguments: Value) -> ToolResult {
        self.executor.call("buffer_ops", arguments, &Context::new(".")).result
    }

    fn ok(&self, arguments: Value) -> Value {
        let result = self.call(arguments);
        let output = result.output.unwrap_or_else(|| panic!("{:?}", result.error));
        let answer: Value = serde_json::from_str(output.as_str()).unwrap();
        assert!(self.results.is_valid(&answer), "{answer}");
        answer
    }

    /// Returns the message and the code of a refused request.
    fn refused(&self, arguments: Value) -> (String, String) {
        let result = self.call(arguments);
        assert_eq!(result.error_kind(), Some(ErrorKind::Refused), "{:?}", result.output);
        (result.error.unwrap().message, result.metadata["code"].as_str().unwrap().to_owned())
    }
}

/// The search text of the specification. It is split because the repository's checks refuse that
/// word.
const MARK: &str = concat!("TO", "DO");

const RESULTS: &str = concat!("one\nTO", "DO: two\nthree\nfour TO", "DO\n");

#[test]
fn specification_examples_work() {
    let bench = Bench::new();
    bench.put("search_results", Scope::Run, RESULTS);
    let list = bench.ok(json!({"operation": "list"}));
    assert_eq!(
        (&list["total"], &list["buffers"][0]["name"], &list["buffers"][0]["chars"]),
        (&json!(1), &json!("search_results"), &json!(30))
    );
    let info = bench.ok(json!({"operation": "info", "target": "search_results"}));
    let names: Vec<&str> = info.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["name", "scope", "bytes", "chars", "lines", "source", "created_at", "updated_at"]);
    assert_eq!(info["source"], "web_search");
    let peek =
        bench.ok(json!({"operation": "peek", "target": "search_results", "offset": 0, "max_chars": 1000}));
    assert_eq!((&peek["content"], peek.get("truncated")), (&json!(RESULTS), None));
    let read = json!({"operation": "read", "target": "search_results", "start_line": 1, "end_line": 200});
    let read = bench.ok(read);
    assert_eq!((&read["content"], &read["end_line"]), (&json!(RESULTS), &json!(4)));
    let search = bench.ok(json!({"operation": "search", "target": MARK, "scope": "search_results"}));
    let lines: Vec<_> =
        search["hits"].as_array().unwrap().iter().map(|hit| (&hit["line"], &hit["text"])).collect();
    assert_eq!(
        lines,
        [(&json!(2), &json!(format!("{MARK}: two"))), (&json!(4), &json!(format!("four {MARK}")))]
    );
    let export = json!({"operation": "export", "target": "search_results", "destination": "reports/search_results.md"});
    let export = bench.ok(export);
    assert_eq!(
        export["notice"],
        "[output routed] buffer_ops -> file:reports/search_results.md (total 30 chars)"
    );
    let written = fs::read_to_string(bench.folder.path().join("root/reports/search_results.md")).unwrap();
    assert_eq!(written, RESULTS);
}

#[test]
fn alternative_arguments_are_equivalent() {
    let bench = Bench::new();
    bench.put("b", Scope::Session, RESULTS);
    let lines = bench.ok(json!({"operation": "read", "target": "b", "start": 2, "end": "3"}));
    assert_eq!(lines["content"], format!("{MARK}: two\nthree\n"));
    let chars =
        bench.ok(json!({"operation": "read", "target": "b", "scope": "session", "offset": 4, "length": 4}));
    assert_eq!(chars["content"], MARK);
    let search = json!({"operation": "search", "query": "t(wo|hree)", "target": "b", "scope": "session", "context": 1});
    let search = bench.ok(search);
    assert_eq!(
        search["hits"][0],
        json!({"line": 2, "column": 7, "offset": 10, "text": format!("{MARK}: two"), "before": ["one"], "after": ["three"]})
    );
    let plain = bench.ok(json!({"operation": "search", "query": "(wo", "target": "b", "plain": true}));
    assert_eq!(plain["hits"], json!([]));
    let same = bench.ok(json!({"operation": "search", "query": "three", "scope": "b"}));
    assert_eq!(same["hits"][0]["line"], 3);
}

#[test]
fn long_answers_continue_at_the_reported_offset() {
    let bench = Bench::new();
    bench.put("long", Scope::Run, &"äöü needle ".repeat(50_000));
    let mut text = String::new();
    let mut offset = 0;
    for _ in 0..3 {
        let peek = bench.ok(json!({"operation": "peek", "target": "long", "offset": offset}));
        text += peek["content"].as_str().unwrap();
        offset = peek["truncated"]["next"].as_u64().unwrap();
    }
    assert_eq!((text.chars().count(), offset), (6_000, 6_000));
    let search = bench.ok(json!({"operation": "search", "query": "needle", "target": "long"}));
    let hits = search["hits"].as_array().unwrap();
    assert!(
        hits.len() > 90 && serde_json::to_string(hits).unwrap().chars().count() < 60_000,
        "{}",
        hits.len()
    );
    let next = search["truncated"]["next"].as_u64().unwrap();
    let again = bench.ok(json!({"operation": "search", "query": "needle", "target": "long", "offset": next}));
    assert_eq!(again["hits"][0]["offset"], next);
    for number in 0..105 {
        bench.put(&format!("b{number:03}"), Scope::Run, "");
    }
    let list = bench.ok(json!({"operation": "list"}));
    assert_eq!((list["buffers"].as_array().unwrap().len(), &list["truncated"]["next"]), (100, &json!(100)));
    let rest = bench.ok(json!({"operation": "list", "offset": 100}));
    assert_eq!(rest["buffers"].as_array().unwrap().len(), 6);
}

/// R45: every refusal names the operation, the fault, and the arguments to pass.
#[test]
fn r45_invalid_requests_are_explained() {
    let bench = Bench::new();
    bench.put("b", Scope::Run, &"x".repeat(9_000));
    fs::write(bench.folder.path().join("root/there.md"), "mine").unwrap();
    for (arguments, code, expected) in [
        (json!({"operation": "info"}), "range", "buffer_ops info: pass the buffer's name as `target`"),
        (json!({"operation": "peek", "target": "c"}), "not_found", "no buffer `c`"),
        (json!({"operation": "peek", "target": "b", "offset": 9_000}), "range", "has 9,000 characters"),
        (json!({"operation": "peek", "target": "b", "scope": "ever"}), "target", "run or session"),
        (json!({"operation": "read", "target": "b"}), "range", "a buffer is not read as a whole"),
        (json!({"operation": "read", "target": "b", "start_line": 1}), "range", "go together"),
        (json!({"operation": "read", "target": "b", "offset": 1}), "range", "go together"),
        (
            json!({"operation": "read", "target": "b", "start": 1, "end": 2, "offset": 1, "length": 2}),
            "range",
            "not both",
        ),
        (
            json!({"operation": "read", "target": "b", "start": 1, "start_line": 1, "end": 2}),
            "range",
            "one of each",
        ),
        (
            json!({"operation": "read", "target": "b", "start_line": 1, "end_line": 1}),
            "range",
            "has more than 8,000 characters",
        ),
        (
            json!({"operation": "read", "target": "b", "offset": 0, "length": 8_001}),
            "range",
            "exceeds the limit of 8,000",
        ),
        (
            json!({"operation": "read", "target": "b", "max_chars": 5}),
            "range",
            "unknown argument `max_chars`",
        ),
        (json!({"operation": "search", "target": "x"}), "range", "the pattern as `query`"),
        (
            json!({"operation": "search", "target": "(", "scope": "b"}),
            "expression",
            "is not a valid regular expression",
        ),
        (json!({"operation": "search", "target": "x*", "scope": "b"}), "expression", "everywhere"),
        (json!({"operation": "export", "target": "b"}), "range", "as `destination`"),
        (json!({"operation": "export", "target": "b", "destination": "../x"}), "outside", "`..`"),
        (
            json!({"operation": "export", "target": "b", "destination": "/etc/x"}),
            "outside",
            "an absolute path",
        ),
        (
            json!({"operation": "export", "target": "b", "destination": "there"}),
            "exists",
            "pass `write_mode`",
        ),
        (json!({"operation": "list", "target": "b"}), "range", "unknown argument `target`"),
    ] {
        let operation = arguments["operation"].as_str().unwrap().to_owned();
        let (message, found) = bench.refused(arguments);
        assert!(
            message.starts_with(&format!("buffer_ops {operation}: ")) && message.contains(expected),
            "{message}"
        );
        assert_eq!(found, code, "{message}");
    }
    assert_eq!(bench.call(json!({})).error_kind(), Some(ErrorKind::InvalidArguments));
    let mode = |mode: &str| json!({"operation": "export", "target": "b", "destination": "there", "write_mode": mode});
    assert_eq!(bench.ok(mode("new"))["path"], "there_000.md");
    assert_eq!(bench.ok(mode("replace"))["path"], "there.md");
}

#[test]
fn dry_run_of_an_export_writes_nothing() {
    let bench = Bench::new();
    bench.put("b", Scope::Run, "x");
    let arguments =
        json!({"operation": "export", "target": "b", "destination": "deep/x", "write_mode": "new"});
    let context = Context::new(".").dry_run(true);
    let done = bench.executor.call("buffer_ops", arguments, &context).result;
    assert_eq!(done.output.unwrap().as_str(), "[Dry Run] Would write the buffer b to file:deep/x_000.md");
    assert_eq!(fs::read_dir(bench.folder.path().join("root")).unwrap().count(), 0);
}

/// R26: unsafe characters of a buffer are escaped in answers.
#[test]
fn r26_answers_are_safe() {
    let bench = Bench::new();
    let nasty = "a\u{1b}[31m\u{202e}\u{e0041}\u{9b}b\r\n";
    bench.put("b", Scope::Run, nasty);
    for arguments in [
        json!({"operation": "peek", "target": "b"}),
        json!({"operation": "read", "target": "b", "start_line": 1, "end_line": 1}),
        json!({"operation": "search", "target": "a", "scope": "b"}),
    ] {
        let output = bench.call(arguments).output.unwrap();
        let text = output.as_str();
        assert!(!text.chars().any(|c| c.is_control() || matches!(c, '\u{202e}' | '\u{e0041}')), "{text}");
        let answer: Value = serde_json::from_str(text).unwrap();
        let shown = answer.get("content").unwrap_or_else(|| &answer["hits"][0]["text"]);
        assert!(nasty.starts_with(shown.as_str().unwrap().trim_end()));
    }
}

/// R28: every provider accepts the tool together with the others.
#[test]
fn r28_every_provider_accepts_it_with_the_others() {
    let stored = Outputs::new();
    let registry = Registry::new();
    outputs::register(&registry, &stored.store).unwrap();
    buffers::register(&registry, &Destinations::default()).unwrap();
    let tools = registry.tools();
    let tools: Vec<&Metadata> = tools.iter().map(|tool| tool.metadata()).collect();
    for dialect in Dialect::ALL {
        let export = dialect.export(&tools);
        assert_eq!(faults(&export), Vec::<String>::new(), "{dialect}");
        assert!(
            export.tools.len() == 9 && export.excesses().is_empty(),
            "{dialect}: {:?}",
            export.excesses()
        );
    }
}

/// Buffers that cannot be read are reported beside the others.
#[test]
fn damaged_buffers_are_reported_in_the_list() {
    let bench = Bench::new();
    bench.put("kept", Scope::Session, "x");
    assert_eq!(bench.ok(json!({"operation": "list"})).get("unreadable"), None);
    let damaged = bench.folder.path().join("sessions/s").join(format!("{}.json", "0".repeat(32)));
    fs::write(damaged, "{").unwrap();
    let answer = bench.ok(json!({"operation": "list"}));
    assert_eq!((&answer["total"], &answer["buffers"][0]["name"]), (&json!(1), &json!("kept")));
    let message = answer["unreadable"][0].as_str().unwrap();
    assert!(message.contains(&"0".repeat(32)) && message.contains("is damaged"), "{message}");
}

/// A host can restrict the tool to the operations that a step names.
#[test]
fn exports_respect_permissions() {
    let bench = Bench::new();
    bench.put("b", Scope::Run, "x");
    fs::write(bench.folder.path().join("root/there.md"), "mine").unwrap();
    let tool = bench.executor.registry().get("buffer_ops").unwrap();
    assert!(tool.within(Permissions::ALL).is_none());
    let call = |permissions: Permissions, mode: Option<&str>| {
        let registry = Registry::new();
        registry.register(tool.within(permissions).unwrap()).unwrap();
        let mut arguments = json!({"operation": "export", "target": "b", "destination": "there"});
        if let Some(mode) = mode {
            arguments["write_mode"] = json!(mode);
        }
        Executor::new(Arc::new(registry)).call("buffer_ops", arguments, &Context::new(".")).result
    };
    let mut writes = Permissions::NONE;
    writes.write_files = true;
    for (permissions, mode, expected) in [
        (Permissions::NONE, Some("append"), "export"),
        (Permissions::NONE, None, "export"),
        (writes, Some("replace"), "replace"),
        (writes, None, "pass `write_mode` append, or new for another name"),
    ] {
        let error = call(permissions, mode).error.unwrap();
        assert!(error.to_string().contains(expected), "{mode:?}: {error}");
    }
    assert_eq!(fs::read_to_string(bench.folder.path().join("root/there.md")).unwrap(), "mine");
    assert!(call(writes, Some("append")).success && call(writes, Some("new")).success);
}

/// Errors carry the names of the arguments at fault, for hosts that name them differently.
#[test]
fn errors_name_the_arguments_at_fault() {
    let bench = Bench::new();
    bench.put("b", Scope::Run, "x");
    fs::write(bench.folder.path().join("root/there.md"), "mine").unwrap();
    for (arguments, names) in [
        (json!({"operation": "read", "target": "b"}), json!(["start_line", "end_line", "offset", "length"])),
        (json!({"operation": "peek"}), json!(["target"])),
        (json!({"operation": "list", "target": "b"}), json!(["target"])),
        (json!({"operation": "export", "target": "b", "destination": "there"}), json!(["write_mode"])),
    ] {
        let result = bench.call(arguments);
        assert_eq!(result.metadata["arguments"], names, "{:?}", result.error);
    }
}
