//! Calls that take long become tasks for clients that can follow one.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, VERSIONS, odd};

/// A client that can follow tasks, and answer questions.
fn follower(server: &[(&str, &str)], after: &str) -> Client {
    let mut client = Client::start(&["--wrap", &format!("odd={}", odd(server)), "--task-after", after]);
    let discovered = client.open(
        VERSIONS[4],
        json!({"elicitation": {"form": {}}, "extensions": {"io.modelcontextprotocol/tasks": {}}}),
    );
    let extensions = &discovered["result"]["capabilities"]["extensions"];
    assert!(extensions["io.modelcontextprotocol/tasks"].is_object(), "{discovered}");
    client.tools();
    client
}

/// Starts a task.
fn start(client: &mut Client, name: &str, arguments: Value) -> String {
    let started = client.call(name, arguments)["result"].clone();
    assert_eq!(
        (&started["resultType"], &started["status"]),
        (&"task".into(), &"working".into()),
        "{started}"
    );
    assert!(started["createdAt"].as_str().unwrap().ends_with('Z') && started["ttlMs"].is_null(), "{started}");
    started["taskId"].as_str().unwrap().to_owned()
}

/// Waits until a task has left a status.
fn after(client: &mut Client, id: &str, status: &str) -> Value {
    let start = Instant::now();
    loop {
        let state = client.request("tasks/get", json!({ "taskId": id }))["result"].clone();
        assert_eq!((&state["resultType"], &state["taskId"]), (&"complete".into(), &id.into()), "{state}");
        if state["status"] != status {
            return state;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{state}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn long_calls_become_tasks() {
    let mut client = follower(&[], "1");
    let id = start(&mut client, "odd_progress", json!({"items": 3, "ms": 800}));
    let state = client.request("tasks/get", json!({ "taskId": id }))["result"].clone();
    assert_eq!((&state["status"], &state["statusMessage"]), (&"working".into(), &"step 1".into()), "{state}");
    let done = after(&mut client, &id, "working");
    assert_eq!(done["status"], "completed", "{done}");
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done}");
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    assert!(done["ttlMs"].as_u64().unwrap() > 1_000_000, "{done}");
    // A quick call stays a call.
    assert_eq!(client.text("odd_noise", json!({})), "after the noise");
}

#[test]
fn results_of_tasks_are_stored_as_others() {
    let mut client = follower(&[], "1");
    let words = json!({"items": 20_000, "ms": 1});
    // Slow, and then long.
    let id = start(&mut client, "odd_sleep", json!({"ms": 1_500}));
    assert_eq!(after(&mut client, &id, "working")["result"]["content"][0]["text"], "slept");
    let manifest = client.text("odd_big", words);
    assert!(manifest.contains("as output"), "{manifest}");
}

#[test]
fn clients_that_cannot_follow_wait() {
    for version in [VERSIONS[3], VERSIONS[4]] {
        let wrap = format!("odd={}", odd(&[]));
        let mut client = Client::connected(&["--wrap", &wrap, "--task-after", "1"], version);
        client.tools();
        assert_eq!(client.text("odd_sleep", json!({"ms": 1_800})), "slept");
        let refused = client.request("tasks/get", json!({"taskId": "x"}));
        assert!(refused["error"]["code"].is_i64(), "{refused}");
    }
}

#[test]
fn errors_and_failures_end_a_task() {
    let mut client = follower(&[], "1");
    // A server that ends: a failed result that a model can read.
    let id = start(&mut client, "odd_silent", json!({}));
    let other = client.start_request("tools/call", json!({"name": "odd_die", "arguments": {}}));
    let done = after(&mut client, &id, "working");
    assert_eq!((&done["status"], &done["result"]["isError"]), (&"completed".into(), &true.into()), "{done}");
    let answered = client.notes.iter().find(|note| note["id"] == other).expect("it ended at once");
    assert_eq!(answered["result"]["isError"], true, "{answered}");
    let unknown = client.request("tasks/get", json!({"taskId": "trommel-task-0"}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[test]
fn r31_cancelled_tasks_are_cancelled_at_the_server() {
    let mut client = follower(&[], "1");
    let id = start(&mut client, "odd_silent", json!({}));
    let acknowledged = client.request("tasks/cancel", json!({ "taskId": id }));
    assert_eq!(acknowledged["result"]["resultType"], "complete", "{acknowledged}");
    assert_eq!(after(&mut client, &id, "working")["status"], "cancelled");
    // The server is free for the next call.
    assert_eq!(client.text("odd_noise", json!({})), "after the noise");
}

#[test]
fn tasks_ask_for_input() {
    for era in ["legacy", "modern"] {
        let mut client = follower(&[("SERVER", era), ("ASK_MS", "1500")], "1");
        let id = start(&mut client, "odd_ask", json!({}));
        let asking = after(&mut client, &id, "working");
        assert_eq!(asking["status"], "input_required", "{asking}");
        let questions = asking["inputRequests"].as_object().unwrap();
        let (key, question) = questions.iter().next().unwrap();
        assert_eq!((questions.len(), &question["method"]), (1, &"elicitation/create".into()), "{asking}");
        // Answers to other questions are ignored.
        let answer = json!({"action": "accept", "content": {"name": "Ada"}});
        for key in ["other", key] {
            let responses = json!({ key: answer });
            let updated = client.request("tasks/update", json!({"taskId": id, "inputResponses": responses}));
            assert_eq!(updated["result"]["resultType"], "complete", "{updated}");
        }
        let mut done = after(&mut client, &id, "input_required");
        if done["status"] == "working" {
            done = after(&mut client, &id, "working");
        }
        let text = done["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{done}"));
        assert!(text.contains("Ada"), "{era}: {text}");
    }
}
