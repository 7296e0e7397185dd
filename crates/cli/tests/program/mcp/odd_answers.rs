//! Answers that are not valid, servers that fail, and stores that are full: each is an error of its
//! call.

use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Client, VERSIONS, odd};

fn wrapped(environment: &[(&str, &str)], args: &[&str]) -> Client {
    let wrap = format!("odd={}", odd(environment));
    let mut all = vec!["--wrap", wrap.as_str()];
    all.extend(args);
    Client::connected(&all, VERSIONS[3])
}

#[test]
fn invalid_answers_fail_their_call_alone() {
    let mut client = wrapped(&[], &["--timeout", "20"]);
    client.tools();
    for (tool, why) in [
        ("odd_surrogate", "invalid text"),
        ("odd_deep", "10000"),
        ("odd_digits", "65536"),
        ("odd_odd_type", "unknown type surprise"),
    ] {
        let start = Instant::now();
        let message = client.failed(tool, json!({}));
        assert!(message.contains(why), "{tool}: {message}");
        assert!(start.elapsed() < Duration::from_secs(10), "{tool}");
        assert_eq!(client.text("odd_noise", json!({})), "after the noise", "after {tool}");
    }
    assert!(client.failed("odd_broken", json!({"items": 600_000})).contains("invalid message"));
    assert_eq!(client.text("odd_twice", json!({})), "first");
    assert_eq!(client.text("odd_slow", json!({"ms": 10})), "slow");
    assert_eq!(client.leftovers(), 0);
}

/// R30.
#[test]
fn r30_calls_without_an_answer_end_at_their_timeout() {
    let mut client = wrapped(&[], &["--timeout", "1"]);
    client.tools();
    for tool in ["odd_silent", "odd_utf8"] {
        let start = Instant::now();
        assert!(client.failed(tool, json!({})).contains("no answer within 1 s"));
        assert!(start.elapsed() < Duration::from_secs(3), "{tool} {:?}", start.elapsed());
    }
    // Progress renews the time, but not beyond the total.
    assert_eq!(client.text("odd_progress", json!({"items": 4, "ms": 600})), "done");
    let mut client = wrapped(&[], &["--timeout", "1", "--timeout-total", "2"]);
    let start = Instant::now();
    client.failed("odd_progress", json!({"items": 50, "ms": 600}));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// R30.
#[test]
fn r30_a_server_that_ends_fails_its_calls_and_starts_again() {
    let mut client = wrapped(&[], &[]);
    client.tools();
    let waiting = client.start_request("tools/call", json!({"name": "odd_die", "arguments": {}}));
    let start = Instant::now();
    let answer = client.response(waiting);
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    let message = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(message.contains("exit status: 7") && message.contains("odd server: dying"), "{message}");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(client.text("odd_noise", json!({})), "after the noise");
    // Again and again: with longer pauses.
    client.failed("odd_die", json!({}));
    let message = client.failed("odd_noise", json!({}));
    assert!(message.contains("started again in"), "{message}");
}

#[test]
fn an_endless_line_stops_its_server() {
    let mut client = wrapped(&[], &["--max-result", "20MB"]);
    let message = client.failed("odd_endless", json!({}));
    assert!(message.contains("longer than") || message.contains("invalid message"), "{message}");
    assert_eq!(client.leftovers(), 0);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(client.text("odd_noise", json!({})), "after the noise");
}

#[test]
fn a_store_that_cannot_be_written_keeps_the_start() {
    let mut client = wrapped(&[], &[]);
    client.tools();
    let outputs = client.home.path().join("outputs");
    std::fs::remove_dir_all(outputs.join("pending")).unwrap();
    std::fs::write(outputs.join("pending"), "a file").unwrap();
    let answer = client.call("odd_big", json!({"items": 2_000}));
    let content = &answer["result"]["content"];
    assert!(content[0]["text"].as_str().unwrap().starts_with("This result is incomplete"), "{answer}");
    let head = content[1]["text"].as_str().unwrap();
    assert!(head.starts_with(r#"{"users":[{"id":0"#) && head.chars().count() <= 30_000);
}

#[test]
fn servers_that_cannot_be_started_are_named() {
    let mut client = Client::connected(&["--wrap", "gone=/no/such/program x"], VERSIONS[3]);
    assert_eq!(client.tools().len(), 10);
    let answer = client.call("gone_echo", json!({}));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("/no/such/program"), "{message}");
}

#[test]
fn older_servers_may_ignore_the_probe() {
    let mut client = wrapped(&[("SILENT_PROBE", "1")], &[]);
    let start = Instant::now();
    assert!(client.tools().contains(&"odd_echo".to_owned()));
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    // Or answer it with nothing.
    let mut client = wrapped(&[("EMPTY_PROBE", "1")], &[]);
    assert!(client.tools().contains(&"odd_echo".to_owned()));
}
