//! Calls that are stopped (R31), run out of time, and tell how far they are (R32).

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trommel_store::Origin;
use trommel_testkit::effort::cases;
use trommel_testkit::repeat::Repeat;
use trommel_tool::{Cancel, Context, ErrorKind, Event};

use crate::support::Bench;

/// Large outputs are made one after the other.
static ONE: Mutex<()> = Mutex::new(());

/// An output that takes some time to go through, of so many MiB.
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
    ]
}

/// R31: a call at work is stopped within 50 ms of its flag: in one of some attempts, as a busy
/// machine may be late itself.
#[test]
fn a_cancelled_call_stops_at_once() {
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
fn what_was_found_in_time_is_given_and_the_rest_can_be_asked_for() {
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
    // Without anything found in time there is nothing to give.
    let error = call(&rest, Duration::from_millis(100)).error.unwrap();
    assert_eq!(error.kind, ErrorKind::TimedOut, "{}", error.message);
    let result = call(&rest, Duration::from_mins(2));
    let answer: Value = serde_json::from_str(result.output.unwrap().as_str()).unwrap();
    assert_eq!(answer, json!({ "extracted": {} }));
}

/// R32: progress only grows, is told at least each second, and ends at the total.
#[test]
fn progress_only_grows_and_ends_at_the_total() {
    let _one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let bench = Bench::new();
    large(&bench, cases(24, 1024));
    let size = bench.store.get("large").unwrap().size_bytes;
    for (tool, mut arguments) in slow() {
        if tool == "sample" {
            arguments["strategy"] = json!("systematic");
            // Of these, nobody knows yet how many there are.
            arguments["path"] = json!("$..[?@.tags[5] == 7]");
        }
        let mut told = Vec::new();
        let events = &mut |event: Event<'_>| {
            if let Event::Progress(trommel_tool::Progress { bytes: done, total, .. }) = event {
                told.push((done, total, Instant::now()));
            }
        };
        let name = format!("tool_outputs.{tool}");
        let execution = bench.executor.call_with(&name, arguments, &Context::new("/"), events);
        assert!(execution.result.success, "{tool}: {:?}", execution.result.error);
        assert!(told.iter().is_sorted_by_key(|(done, ..)| *done), "{tool}");
        // An even spread needs the size of the population first.
        let all = if tool == "sample" { 2 * size } else { size };
        assert_eq!(told.last().map(|(done, total, _)| (*done, *total)), Some((all, Some(all))), "{tool}");
        assert!(told.iter().all(|(done, total, _)| *total == Some(all) && *done <= all), "{tool}");
        let pauses = told.windows(2).map(|pair| pair[1].2 - pair[0].2);
        assert!(pauses.max().unwrap_or_default() < Duration::from_secs(1), "{tool}");
    }
}
