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

/// Errors and answers of any length, and answers that were not asked for.
#[test]
fn long_errors_and_stray_answers_do_no_harm() {
    let mut client = wrapped(&[], &["--timeout", "30"]);
    client.tools();
    for chars in [0, 100_000, 1_500_000, 5_000_000] {
        let answer = client.call("odd_refuse", json!({ "chars": chars }));
        // An error that is too long to be passed on is the result of the call.
        let (passed, text) = (&answer["error"]["message"], &answer["result"]["content"][0]["text"]);
        let message = passed.as_str().or(text.as_str()).unwrap_or_else(|| panic!("{chars}: {answer}"));
        assert!(message.contains("refused"), "{chars}: {message:.200}");
        assert_eq!(passed.is_null(), chars > 1_000_000, "{chars}");
        assert!(chars < 1_000_000 || message.len() < 2_000, "{chars}: {}", message.len());
    }
    for items in [1, 1_000, 600_000] {
        assert_eq!(client.text("odd_stray", json!({ "items": items })), "after the stray", "{items}");
    }
    for result in [r#""content":7"#, r#""content":[],"structuredContent":{"a":1},"isError":0"#] {
        let answer = client.call("odd_echo", json!({ "result": result }));
        let is_answered = answer.get("result").is_some() || answer.get("error").is_some();
        assert!(is_answered, "{answer}");
    }
    assert!(client.failed("odd_echo", json!({"result": r#""content":7"#})).contains("not an array"));
    assert_eq!(client.leftovers(), 0);
}

/// A list that is too long to be read into memory at once.
#[test]
fn long_lists_of_tools_are_read() {
    let mut client = wrapped(&[("MORE_TOOLS", "40000")], &["--timeout", "60"]);
    let tools = client.tools();
    assert!(tools.contains(&"odd_more5".to_owned()), "{}", tools.len());
}
