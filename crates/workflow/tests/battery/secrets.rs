//! Secrets in contents, addresses, and names.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::json;
use trommel_route::{Router, full_notice};
use trommel_tool::{Context, Executor, Registry};
use trommel_workflow::Document;

use crate::support::{Bench, RunDocuments, page_fetcher, route, says};

/// A secret that may occur only in stored contents.
const CANARY: &str = "sk-canary0123456789abcdef0123456789";

/// R25: manifests, notices, errors, the history, and the source of a buffer contain no secret of a
/// content, an address, or an argument.
#[test]
fn r25_manifests_and_errors_hold_no_secrets() {
    let bench = Bench::new();
    bench.write("a.md", CANARY);
    let text = format!(
        "## S\n@input file:a (output=variable:v)\n@input url:https://user:{CANARY}@example.com (output=variable:w)\n@model none\n"
    );
    let document = Document::parse(&text).unwrap();
    let report = bench.runner(Registry::new()).urls(page_fetcher()).run(&document, &mut |_| {}).unwrap();
    let mut texts = format!("{report:?}");
    for manifest in &report.steps[0].manifests {
        texts += &full_notice(manifest);
        texts += &serde_json::to_string(manifest).unwrap();
    }
    write!(texts, "{:?}", bench.destinations.buffers().list(None).unwrap()).unwrap();

    let text =
        format!("## S\n@input url:https://user:{CANARY}@missing.example (output=variable:w)\n@model none\n");
    let result =
        bench.runner(Registry::new()).urls(page_fetcher()).run(&Document::parse(&text).unwrap(), &mut |_| {});
    write!(texts, "{0} {0:?}", result.unwrap_err()).unwrap();
    let error = Document::parse(&format!("## S\n@input file:a (output=token={CANARY})\n")).unwrap_err();
    write!(texts, "{error} {error:?}").unwrap();

    let registry = Registry::new();
    registry.register(says("web_search")).unwrap();
    let target = format!("file:token={CANARY}");
    let router = Router::new(bench.destinations.clone()).rule("web_search", route(&target));
    let executor = Executor::new(Arc::new(registry)).delivery(Arc::new(router));
    let execution = executor.call(
        "web_search",
        json!({"text": CANARY, "times": 40_000, "stream": true}),
        &Context::new("."),
    );
    texts += &serde_json::to_string(&execution.result).unwrap();
    texts += &serde_json::to_string(&executor.history(10).unwrap()[0].result).unwrap();
    assert!(!texts.contains(CANARY), "{texts}");
    assert_eq!(bench.variable("v").as_deref(), Some(CANARY), "contents are stored verbatim");
}
