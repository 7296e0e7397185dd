//! Cancellation (R31), deadlines, and progress (R32).

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trommel_store::Origin;
use trommel_testkit::effort::cases;
use trommel_testkit::repeat::Repeat;
use trommel_tool::{Cancel, Context, ErrorKind, Event};

use crate::support::Bench;

/// Creates large outputs one at a time.
static ONE: Mutex<()> = Mutex::new(());

/// Stores an output of `mib` MiB, which takes some time to scan.
fn large(bench: &Bench, mib: u64) {
    let mut origin = Origin::of("large");
    origin.id = Some("large".into());
    let item = r#"{"id": 12345, "name": "a name that is some letters long", "tags": ["x", 1, null]}"#;
    let payload =
        Repeat::new(r#"{"data":[{"id":0,"name":"first"},"#, item, ",", "]}", (mib << 20) / item.len() as u64);
    bench.store.put_from(origin, payload).unwrap();
}

fn slow() -> Vec<(&'static str, Value)> {
    let slow = "$..[?@.name == 'first' || @.tags[5] == 7]";
    vec![
        ("extract", json!({ "id": "large", "paths": [slow] })),
        (
            "count",
            json!({ "id": "large", "counts": [{ "name": "n", "path": slow, "count_type": "matches" }] }),
        ),
        ("sample", json!({ "id": "large", "path": slow, "size": 5 })),
        ("stats", json!({ "id": "large", "include_values": true })),
        ("read", json!({ "id": "large", "path": "$.data" })),
        ("search", json!({ "id": "large", "pattern": "first.*absent", "regex": true })),
    ]
}

/// R31: a running call stops within 50 ms of its cancellation. One of several attempts must
/// succeed, because a busy machine may be late itself.
#[test]
fn r31_cancelled_calls_stop_at_once() {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let bench = Bench::packed();
    large(&bench, cases(24, 1024));
    for (tool, arguments) in slow() {
        let name = format!("tool_outputs.{tool}");
        let late = (0..10).find_map(|_| {
            let flag = Cancel::new();
            let context = Context::new("/").cancelled_by(flag.clone());
            let mut raised = None;
            let events = &mut |event: Event<'_>| {
                if matches!(event, Event::Progress(_)) && raised.is_none() {
                    flag.cancel();
                    raised = Some(Instant::now());
                }
            };
            let result = bench.executor.call_with(&name, arguments.clone(), &context, events).result;
            let late = raised.unwrap().elapsed();
            assert_eq!(result.error_kind(), Some(ErrorKind::Cancelled), "{tool}: {:?}", result.output);
            assert_eq!(result.metadata.get("abandoned"), None, "{tool}");
            (late < Duration::from_millis(50)).then_some(late)
        });
        assert!(late.is_some(), "{tool}: never within 50 ms");
    }
}

#[test]
fn partial_answers_before_the_deadline_can_be_continued() {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let bench = Bench::packed();
    large(&bench, 48);
    let tool = "extract";
    let path = "$.data[?@.name == 'first' || @.tags[5] == 7 || @.tags[6] == 8]";
    let arguments = json!({ "id": "large", "paths": [path] });
    let call = |arguments: &Value, timeout| {
        let context = Context::new("/").timeout(timeout);
        bench.executor.call(&format!("tool_outputs.{tool}"), arguments.clone(), &context).result
    };
    let result = call(&arguments, Duration::from_millis(100));
    let answer: Value = serde_json::from_str(result.output.unwrap().as_str()).unwrap();
    assert_eq!(
        (&answer["truncated"]["reason"], &answer["truncated"]["returned"]),
        (&json!("time"), &json!(1))
    );
    let mut rest = arguments;
    rest["cursor"] = answer["truncated"]["next"].clone();
    // Without a result before the deadline, there is nothing to return.
    let error = call(&rest, Duration::from_millis(100)).error.unwrap();
    assert_eq!(error.kind, ErrorKind::TimedOut, "{}", error.message);
    let result = call(&rest, Duration::from_mins(2));
    let answer: Value = serde_json::from_str(result.output.unwrap().as_str()).unwrap();
    assert_eq!(answer, json!({ "extracted": {} }));
}

/// R32: progress is monotone, is reported at least once per second, and ends at the total.
#[test]
fn r32_progress_is_monotone_and_ends_at_the_total() {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let bench = Bench::new();
    large(&bench, cases(24, 1024));
    let size = bench.store.get("large").unwrap().size_bytes;
    for (tool, mut arguments) in slow() {
        if tool == "sample" {
            arguments["strategy"] = json!("systematic");
            // The length of these outputs is not cached yet.
            arguments["path"] = json!("$..[?@.tags[5] == 7]");
        }
        let mut reports = Vec::new();
        let events = &mut |event: Event<'_>| {
            if let Event::Progress(trommel_tool::Progress { bytes: done, total, .. }) = event {
                reports.push((done, total, Instant::now()));
            }
        };
        let name = format!("tool_outputs.{tool}");
        let execution = bench.executor.call_with(&name, arguments, &Context::new("/"), events);
        assert!(execution.result.success, "{tool}: {:?}", execution.result.error);
        assert!(reports.iter().is_sorted_by_key(|(done, ..)| *done), "{tool}");
        // An even spread counts the population in a pass of its own.
        let all = if tool == "sample" { 2 * size } else { size };
        assert_eq!(reports.last().map(|(done, total, _)| (*done, *total)), Some((all, Some(all))), "{tool}");
        assert!(reports.iter().all(|(done, total, _)| *total == Some(all) && *done <= all), "{tool}");
        let pauses = reports.windows(2).map(|pair| pair[1].2 - pair[0].2);
        assert!(pauses.max().unwrap_or_default() < Duration::from_secs(1), "{tool}");
    }
}
