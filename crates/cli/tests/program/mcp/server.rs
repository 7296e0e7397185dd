//! The server: revisions, tools, resources, and requests that are not valid.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, VERSIONS};
use crate::common::{fed, trommel};

/// Stores a payload in the home of a client, by another process.
fn put(client: &Client, payload: &str) -> String {
    let mut command = trommel(["put", "-", "--tool", "test"]);
    command.env("TROMMEL_HOME", client.home.path());
    fed(command, payload.as_bytes()).ok().trim().to_owned()
}

/// R19 and R29: all tools are listed and can be called, in every revision.
#[test]
fn r29_every_revision_is_served() {
    for version in VERSIONS {
        let mut client = Client::start(&[]);
        let opened = client.open(version, json!({}));
        let result = &opened["result"];
        if version == VERSIONS[4] {
            assert_eq!(result["supportedVersions"].as_array().unwrap().len(), 5);
        } else {
            assert_eq!(
                (&result["protocolVersion"], &result["serverInfo"]["name"]),
                (&json!(version), &json!("trommel"))
            );
        }
        assert!(result["instructions"].as_str().unwrap().contains("JSONPath"), "{opened}");
        assert_eq!(client.tools().len(), 10);
        // R19: an output of another process is there at once.
        let id = put(&client, r#"{"a": [1, 2.50]}"#);
        let answer = client.call("tool_outputs_extract", json!({"id": id, "paths": ["$.a[1]"]}));
        let result = &answer["result"];
        assert_eq!(result["content"][0]["text"], r#"{"extracted":{"$.a[1]":2.50}}"#);
        assert!(
            client.line.contains(r#""structuredContent":{"extracted":{"$.a[1]":2.50}}"#),
            "{}",
            client.line
        );
        assert_eq!(result.get("resultType").is_some(), version == VERSIONS[4]);
        assert_eq!(client.close().0, Some(0));
    }
}

#[test]
fn one_process_serves_both_eras_request_by_request() {
    let mut client = Client::start(&[]);
    client.open(VERSIONS[4], json!({}));
    assert_eq!(client.tools().len(), 10);
    let mut legacy = json!({"protocolVersion": VERSIONS[2], "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    client.send(&json!({"jsonrpc": "2.0", "id": 100, "method": "initialize", "params": legacy.take()}));
    assert_eq!(client.response(100)["result"]["protocolVersion"], VERSIONS[2]);
    client.send(&json!({"jsonrpc": "2.0", "id": 101, "method": "tools/list"}));
    assert!(client.response(101)["result"].get("resultType").is_none());
    let modern = client.request("tools/list", json!({}));
    assert_eq!(
        (&modern["result"]["resultType"], &modern["result"]["cacheScope"]),
        (&json!("complete"), &json!("private"))
    );
}

#[test]
fn requests_without_a_revision_or_with_an_unknown_one_are_refused() {
    let mut client = Client::start(&[]);
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    let refused = client.response(1);
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("initialize"), "{refused}");
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "1900-01-01", "io.modelcontextprotocol/clientCapabilities": {}});
    client.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": meta}}));
    let refused = client.response(2);
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["data"]["requested"]),
        (&json!(-32022), &json!("1900-01-01"))
    );
    client.send_line("not JSON");
    assert_eq!(client.next()["error"]["code"], -32700);
    client.send_line(&"[".repeat(1_000_000));
    assert_eq!(client.next()["error"]["code"], -32700);
    client
        .send_line(r#"[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":4,"method":"ping"}]"#);
    let mut ids = [client.next()["id"].as_u64(), client.next()["id"].as_u64()];
    ids.sort_unstable();
    assert_eq!(ids, [Some(3), Some(4)]);
    client.send(&json!({"jsonrpc": "2.0", "id": 5, "method": "no/such/method", "params": {}}));
    assert!(client.response(5)["error"]["code"].as_i64().unwrap() < 0);
}

/// What a model reads of the tools before it asks anything.
#[test]
fn descriptions_of_tools_are_within_their_budgets() {
    let folder = tempfile::tempdir().unwrap();
    for args in [&[] as &[&str], &["--allow-writes", folder.path().to_str().unwrap()]] {
        let mut client = Client::start(args);
        let opened = client.open(VERSIONS[3], json!({}));
        assert!(opened["result"]["instructions"].as_str().unwrap().len() < 1_500, "{opened}");
        let listed = client.request("tools/list", json!({}));
        let (mut all, mut outputs) = (0, 0);
        for tool in listed["result"]["tools"].as_array().unwrap() {
            let (name, description) = (tool["name"].as_str().unwrap(), tool["description"].as_str().unwrap());
            assert!(description.chars().count() <= 1_024, "{name}");
            let read = json!({"name": name, "description": description, "inputSchema": tool["inputSchema"]});
            let chars = read.to_string().chars().count();
            all += chars;
            outputs += if name.starts_with("tool_outputs_") { chars } else { 0 };
        }
        assert!(all <= 12_000 && outputs <= 8_000, "{all} {outputs}");
    }
}

#[test]
fn tools_have_schemas_and_effects_and_only_read() {
    let mut client = Client::connected(&[], VERSIONS[3]);
    let listed = client.request("tools/list", json!({}));
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let name = &tool["name"];
        assert!(
            tool["inputSchema"]["type"] == "object" && tool["outputSchema"]["type"] == "object",
            "{name}"
        );
        assert_eq!(
            (&tool["annotations"]["readOnlyHint"], &tool["annotations"]["openWorldHint"]),
            (&json!(true), &json!(false)),
            "{name}"
        );
    }
    let export =
        client.failed("buffer_ops", json!({"operation": "export", "target": "x", "destination": "y"}));
    assert!(export.contains("operation"), "{export}");
    let undo = client.failed("session", json!({"operation": "undo", "session_id": "x"}));
    assert!(undo.contains("--allow-writes"), "{undo}");
    let folder = tempfile::tempdir().unwrap();
    let mut client = Client::connected(&["--allow-writes", folder.path().to_str().unwrap()], VERSIONS[3]);
    let listed = client.request("tools/list", json!({}));
    let effects = |wanted: &str| {
        let tools = listed["result"]["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == wanted).unwrap()["annotations"].clone()
    };
    assert_eq!(
        (&effects("session")["destructiveHint"], &effects("buffer_ops")["readOnlyHint"]),
        (&json!(true), &json!(false))
    );
}

#[test]
fn errors_and_incomplete_answers_say_so() {
    let mut client = Client::connected(&[], VERSIONS[3]);
    let id = put(&client, &json!((0..5_000).collect::<Vec<u32>>()).to_string());
    let answer = client.call("tool_outputs_extract", json!({"id": id, "paths": ["$[*]"], "max_chars": 500}));
    let content = &answer["result"]["content"];
    assert!(
        content[0]["text"].as_str().unwrap().starts_with("This answer is incomplete (max_chars)"),
        "{answer}"
    );
    let structured = &answer["result"]["structuredContent"];
    assert_eq!(content[1]["text"].as_str().unwrap().parse::<Value>().unwrap(), *structured);
    let next = &structured["truncated"]["next"];
    let more = client.call("tool_outputs_extract", json!({"id": id, "cursor": next}));
    assert!(more["result"]["structuredContent"]["extracted"]["$[*]"][0].as_u64().unwrap() > 50, "{more}");
    let wrong = client.failed("tool_outputs_extract", json!({"id": id, "pathes": ["$"]}));
    assert!(wrong.contains("did you mean `paths`?"), "{wrong}");
    let unknown = client.call("tool_outputs_extrakt", json!({}));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("did you mean tool_outputs"), "{unknown}");
}

#[test]
fn outputs_are_resources() {
    let mut client = Client::connected(&[], VERSIONS[4]);
    let small = put(&client, r#"{"a": [1, 2.50], "b c": "x"}"#);
    let large = put(&client, &json!((0..50_000).collect::<Vec<u32>>()).to_string());
    let listed = client.request("resources/list", json!({}));
    let resources = listed["result"]["resources"].as_array().unwrap();
    assert_eq!((resources.len(), &resources[0]["mimeType"]), (2, &json!("application/json")));
    let mut read = |uri: String| client.request("resources/read", json!({ "uri": uri }));
    let whole = read(format!("trommel://output/{small}"));
    assert_eq!(whole["result"]["contents"][0]["text"], r#"{"a": [1, 2.50], "b c": "x"}"#);
    assert!(
        whole["result"]["ttlMs"].as_u64().unwrap() > 1_000_000 && whole["result"]["cacheScope"] == "private"
    );
    let part = read(format!("trommel://output/{small}?path=$%5B'b%20c'%5D"));
    assert!(part["result"]["contents"][0]["text"].as_str().unwrap().contains(r#""content":"x""#), "{part}");
    let page = read(format!("trommel://output/{large}"));
    let page: Value = page["result"]["contents"][0]["text"].as_str().unwrap().parse().unwrap();
    let next = page["truncated"]["next"].as_str().unwrap();
    let second = read(format!("trommel://output/{large}?cursor={next}"));
    assert!(second["result"]["contents"][0]["text"].as_str().unwrap().contains("content"), "{second}");
    for uri in ["trommel://output/zzzzzzz", "trommel://nothing", "file:///etc/passwd"] {
        let refused = read(uri.to_owned());
        assert_eq!(
            (&refused["error"]["code"], &refused["error"]["data"]["uri"]),
            (&(-32602).into(), &uri.into())
        );
    }
}

/// R31 and R32: a scan reports its progress, and stops within 50 ms of its cancellation.
#[test]
fn r31_long_calls_report_progress_and_can_be_cancelled() {
    let mut client = Client::connected(&[], VERSIONS[3]);
    let row = format!("{{\"text\":\"{}\"}}\n", "x".repeat(1_000));
    let id = put(&client, &row.repeat(100_000));
    let call = json!({"name": "tool_outputs_stats", "arguments": {"id": id, "include_values": true}, "_meta": {"progressToken": 1}});
    let number = client.start_request("tools/call", call);
    std::thread::sleep(Duration::from_millis(50));
    let start = Instant::now();
    client.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}),
    );
    // The next call is served at once, by a process that is free again.
    client.text("tool_outputs_list", json!({"limit": 1}));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    let reports: Vec<&Value> =
        client.notes.iter().filter(|note| note["method"] == "notifications/progress").collect();
    let values: Vec<f64> =
        reports.iter().map(|report| report["params"]["progress"].as_f64().unwrap()).collect();
    assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
}

/// R48: signals end the server within 5 s, and leave nothing.
#[cfg(unix)]
#[test]
fn r48_signals_end_the_server() {
    use rustix::process::{Pid, Signal, kill_process};
    for (signal, status) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut client = Client::connected(&[], VERSIONS[3]);
        let id = put(&client, &"[1]\n".repeat(1_000_000));
        client.start_request(
            "tools/call",
            json!({"name": "tool_outputs_stats", "arguments": {"id": id, "include_values": true}}),
        );
        let start = Instant::now();
        kill_process(Pid::from_raw(client.id().cast_signed()).unwrap(), signal).unwrap();
        assert_eq!(client.wait(), Some(status));
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        assert_eq!(client.leftovers(), 0);
    }
}
