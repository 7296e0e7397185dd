//! Secrets: in contents, in addresses, in names.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::json;
use trommel_route::{Router, full_notice};
use trommel_tool::{Context, Executor, Registry};
use trommel_workflow::Document;

use crate::support::{Bench, Runs, page, route, says};

/// What must not be found anywhere but where contents are.
const CANARY: &str = "sk-canary0123456789abcdef0123456789";

/// R25: no secret of a content, an address or an argument stands in manifests, notices, errors, the
/// history or a buffer's source.
#[test]
fn r25_manifests_and_errors_hold_no_secrets() {
    let bench = Bench::new();
    bench.write("a.md", CANARY);
    let text = format!(
        "## S\n@input file:a (output=variable:v)\n@input url:https://user:{CANARY}@example.com (output=variable:w)\n@model none\n"
    );
    let document = Document::parse(&text).unwrap();
    let report = bench.runner(Registry::new()).urls(page()).run(&document, &mut |_| {}).unwrap();
    let mut told = format!("{report:?}");
    for manifest in &report.steps[0].manifests {
        told += &full_notice(manifest);
        told += &serde_json::to_string(manifest).unwrap();
    }
    write!(told, "{:?}", bench.places.buffers().list(None).unwrap()).unwrap();

    let text =
        format!("## S\n@input url:https://user:{CANARY}@missing.example (output=variable:w)\n@model none\n");
    let failing =
        bench.runner(Registry::new()).urls(page()).run(&Document::parse(&text).unwrap(), &mut |_| {});
    write!(told, "{0} {0:?}", failing.unwrap_err()).unwrap();
    let wrong = Document::parse(&format!("## S\n@input file:a (output=token={CANARY})\n")).unwrap_err();
    write!(told, "{wrong} {wrong:?}").unwrap();

    let registry = Registry::new();
    registry.register(says("web_search")).unwrap();
    let target = format!("file:token={CANARY}");
    let router = Router::new(bench.places.clone()).rule("web_search", route(&target));
    let executor = Executor::new(Arc::new(registry)).delivery(Arc::new(router));
    let done = executor.call(
        "web_search",
        json!({"text": CANARY, "times": 40_000, "stream": true}),
        &Context::new("."),
    );
    told += &serde_json::to_string(&done.result).unwrap();
    told += &serde_json::to_string(&executor.history(10).unwrap()[0].result).unwrap();
    assert!(!told.contains(CANARY), "{told}");
    assert_eq!(bench.variable("v").as_deref(), Some(CANARY), "contents stay as they are");
}
