//! Wrapped servers: names, results that pass, results that are stored, and what servers ask.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, VERSIONS, odd};

fn wrapped(environment: &[(&str, &str)], version: &'static str) -> Client {
    let wrap = format!("odd={}", odd(environment));
    Client::connected(&["--wrap", &wrap], version)
}

/// The ID of the output in a manifest.
#[track_caller]
fn stored(manifest: &str) -> String {
    let after = manifest.split("as output ").nth(1).unwrap_or_else(|| panic!("{manifest}"));
    after[..26].to_owned()
}

/// R29.
#[test]
fn each_era_of_client_reaches_each_era_of_server() {
    for version in VERSIONS {
        for server in ["legacy", "modern"] {
            let mut client = wrapped(&[("SERVER", server)], version);
            assert!(client.tools().contains(&"odd_echo".to_owned()));
            assert_eq!(client.text("odd_noise", json!({})), "after the noise", "{version} {server}");
            let manifest = client.text("odd_big", json!({"items": 2_000}));
            let id = stored(&manifest);
            let count =
                json!({"id": id, "counts": [{"name": "n", "path": "$.users", "count_type": "array_length"}]});
            assert!(client.text("tool_outputs_count", count).contains("2000"));
            let prompts = client.request("prompts/list", json!({}));
            assert_eq!(prompts["result"]["prompts"][0]["name"], "odd_greet");
            let prompt =
                client.request("prompts/get", json!({"name": "odd_greet", "arguments": {"who": "me"}}));
            let said = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
            assert!(said.contains(r#""name":"greet","arguments":{"who":"me"}"#), "{said}");
            let read = client.request("resources/read", json!({"uri": "odd://a"}));
            assert_eq!(read["result"]["contents"][0]["text"], "xxx");
            let templates = client.request("resources/templates/list", json!({}));
            assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 2);
            assert_eq!(client.close().0, Some(0));
        }
    }
}

/// R30.
#[test]
fn r30_short_results_pass_byte_for_byte() {
    for version in [VERSIONS[2], VERSIONS[4]] {
        let mut client = wrapped(&[], version);
        for members in [
            r#""content":[{"type":"text","text":"\u00e9 \/ 😀"}],"structuredContent":{"n":1.0,"big":12345678901234567890123,"e":1e300}"#,
            r#""content":[{"type":"text","text":"a","annotations":{"x":[ 1 , 2 ]}},{"type":"new kind","z":0.10}],"isError":false,"_meta":{"a/b":1.50}"#,
            r#""content":[],"unknown":null"#,
        ] {
            client.call("odd_echo", json!({ "result": members }));
            assert!(client.line.contains(&format!(r#""result":{{{members}"#)), "{}", client.line);
        }
        // The arguments reach the server verbatim, too.
        let arguments = r#"{"n":1.0,"big":12345678901234567890123, "e":1e300}"#;
        let meta = if version == VERSIONS[4] {
            r#","_meta":{"traceparent":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#
        } else {
            r#","_meta":{"traceparent":"t"}"#
        };
        client.send_line(&format!(
            r#"{{"jsonrpc":"2.0","id":900,"method":"tools/call","params":{{"name":"odd_params","arguments":{arguments}{meta}}}}}"#
        ));
        let answer = client.response(900);
        let params = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(params.contains(r#""traceparent":"t""#) && params.contains(r#""name":"params""#), "{params}");
    }
}

/// R30.
#[test]
fn long_results_are_stored_once() {
    let mut client = wrapped(&[], VERSIONS[3]);
    for (shape, items) in [
        ("text", 1_000),
        ("both", 1_000),
        ("pretty", 1_000),
        ("structured", 1_000),
        ("nested", 1_000),
        // Longer than what is read into memory at once.
        ("text", 60_000),
        ("both", 60_000),
        ("pretty", 60_000),
        ("structured", 60_000),
        ("nested", 60_000),
    ] {
        let manifest = client.text("odd_big", json!({"shape": shape, "items": items}));
        assert!(manifest.chars().count() <= 2_000, "{manifest}");
        let id = stored(&manifest);
        let extract = json!({"id": id, "paths": [format!("$.users[{}]", items - 1)]});
        let extracted = client.text("tool_outputs_extract", extract);
        let last = items - 1;
        let expected = format!(r#"{{"id":{last},"name":"user {last} é","score":{last}.50}}"#);
        assert!(extracted.contains(&expected), "{shape}: {extracted}");
        let is_double = matches!(shape, "both" | "pretty" | "nested");
        assert_eq!(manifest.contains("identical"), is_double, "{shape}: {manifest}");
        let listed = client.answer("tool_outputs_list", json!({"limit": 1}));
        assert_eq!(listed["outputs"][0]["id"], id.as_str());
        assert_eq!(listed["outputs"][0]["tool_name"], "odd_big");
    }
    let listed = client.answer("tool_outputs_list", json!({"limit": 1}));
    assert_eq!((&listed["total"], client.leftovers()), (&json!(10), 0));
}

#[test]
fn manifests_name_the_next_calls_and_have_a_link() {
    let mut client = wrapped(&[], VERSIONS[3]);
    let answer = client.call("odd_big", json!({"items": 3_000}));
    let content = &answer["result"]["content"];
    let manifest = content[0]["text"].as_str().unwrap();
    assert!(manifest.contains("JSON, ") && manifest.contains("users") && manifest.contains("Next calls:"));
    assert_eq!(content[1]["type"], "resource_link");
    let read = client.request("resources/read", json!({"uri": content[1]["uri"]}));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("truncated"), "{read}");
    // Each suggested call can be made as it is written.
    let calls: Vec<&str> = manifest.lines().filter(|line| line.starts_with("tool_outputs_")).collect();
    assert!(calls.len() >= 3, "{manifest}");
    for call in calls {
        let (name, arguments) = call.split_once(' ').unwrap();
        client.text(name, serde_json::from_str(arguments).unwrap());
    }
}

#[test]
fn long_resources_are_stored() {
    let mut client = wrapped(&[("RESOURCE", "100000")], VERSIONS[3]);
    client.tools();
    let read = client.request("resources/read", json!({"uri": "odd://a"}));
    let contents = read["result"]["contents"].as_array().unwrap();
    let text = contents[0]["text"].as_str().unwrap();
    assert!(contents.len() == 1 && text.contains("as output") && text.len() < 2_000, "{read}");
    let list = client.answer("tool_outputs_list", json!({}));
    assert_eq!((&list["total"], &list["outputs"][0]["size_bytes"]), (&1.into(), &100_000.into()), "{list}");
}

#[test]
fn the_limit_is_that_of_the_tool_the_server_or_the_option() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("mcp.json");
    let words: Vec<String> = odd(&[]).split(' ').map(str::to_owned).collect();
    let entry = |own: Value| json!({"command": words[0], "args": words[1..], "trommel": own});
    let servers = json!({"mcpServers": {
        "small": entry(json!({"maxChars": 3_000, "tools": {"params": {"maxChars": 8_000}}})),
        "plain": entry(json!({"only": ["echo", "raised", "big"]})),
    }});
    std::fs::write(&config, servers.to_string()).unwrap();
    let mut client = Client::connected(&["--config", config.to_str().unwrap()], VERSIONS[3]);
    let tools = client.tools();
    assert!(
        tools.iter().any(|name| name == "plain_raised") && !tools.iter().any(|name| name == "plain_params"),
        "{tools:?}"
    );
    assert!(client.text("small_big", json!({"items": 100})).contains("as output"));
    assert!(client.text("small_params", json!({"a": "x".repeat(5_000)})).contains("xxx"));
    // 1,000 items are about 50,000 characters, and the tool asks for 100,000.
    assert!(client.text("plain_raised", json!({"items": 1_000})).starts_with(r#"{"users""#));
    assert!(client.text("plain_big", json!({"items": 1_000})).contains("as output"));
}

#[test]
fn blocks_pass_or_are_stored_by_their_kind() {
    let mut client = wrapped(&[], VERSIONS[3]);
    let image = client.call("odd_image", json!({"chars": 900_000}));
    assert_eq!(image["result"]["content"][0]["type"], "image");
    let image = client.call("odd_image", json!({"chars": 3_000_000}));
    let content = image["result"]["content"].as_array().unwrap();
    assert!(content[0]["text"].as_str().unwrap().starts_with("A block of the result"), "{content:?}");
    assert_eq!((&content[1]["text"], &content[2]["type"]), (&json!("a picture"), &json!("resource_link")));
    assert_eq!(client.failed("odd_fail", json!({"chars": 900_000})).len(), 900_000);
    let long = client.call("odd_fail", json!({"chars": 3_000_000}));
    assert_eq!(long["result"]["isError"], true);
    assert!(long["result"]["content"][0]["text"].as_str().unwrap().contains("as output"), "{long}");
    // Many texts: some with an output each, the rest as records of one.
    let many = client.call("odd_many", json!({"items": 40, "chars": 3_000}));
    let content = many["result"]["content"].as_array().unwrap();
    let manifest = content[0]["text"].as_str().unwrap();
    assert!(manifest.chars().count() <= 2_000, "{manifest}");
    let records = manifest.lines().find(|line| line.contains("32 more texts of the result")).unwrap();
    assert!(records.contains("32 records"), "{manifest}");
    let count = json!({"id": &records["- output ".len()..][..26], "counts": [{"name": "n", "path": "$", "count_type": "matches"}]});
    assert!(client.text("tool_outputs_count", count).contains("\"n\":32"));
    assert!(many.to_string().len() < 8_000, "{many}");
    // The number of the call may come last.
    assert!(client.text("odd_last", json!({"items": 1_000_000})).contains("as output"));
}

#[test]
fn our_own_answers_are_never_stored_and_our_names_are_ours() {
    let mut client = wrapped(&[("MORE_TOOLS", "5000")], VERSIONS[3]);
    let tools = client.tools();
    assert_eq!(tools.len(), 10 + 30 + 2 + 5_000);
    let mut distinct = tools.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), tools.len());
    for name in &tools {
        let legal = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && name.len() <= 63;
        assert!(legal, "{name}");
    }
    // A server's tool that takes one of our names gets another.
    assert!(tools.iter().any(|name| name == "odd_tool_outputs_list"), "{tools:?}");
    assert!(tools.contains(&"odd_rm__rf".to_owned()));
    // Names that differ in case alone would be the same for some clients.
    assert_eq!(tools.iter().filter(|name| name.to_lowercase().starts_with("odd_noise")).count(), 2);
    assert!(!tools.iter().any(|name| name.eq_ignore_ascii_case("odd_noise")), "{tools:?}");
    let id = stored(&client.text("odd_big", json!({"items": 5_000})));
    let page = client.text("tool_outputs_read", json!({"id": id, "max_chars": 60_000}));
    assert!(page.contains("This answer is incomplete"), "{page}");
    let unknown = client.call("odd_ecko", json!({}));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("did you mean odd_echo"), "{unknown}");
}

#[test]
fn errors_of_a_server_pass() {
    let mut client = wrapped(&[], VERSIONS[3]);
    let refused = client.call("odd_refuse", json!({}));
    assert_eq!(refused["error"], json!({"code": -32050, "message": "refused", "data": {"a": [1]}}));
}

#[test]
fn questions_are_passed_on_and_answers_back() {
    for version in [VERSIONS[3], VERSIONS[4]] {
        for server in ["legacy", "modern"] {
            let wrap = format!("odd={}", odd(&[("SERVER", server)]));
            let mut client = Client::start(&["--wrap", &wrap]);
            client.open(version, json!({"elicitation": {}}));
            let call = json!({"name": "odd_ask", "arguments": {}});
            let answer = json!({"action": "accept", "content": {"name": "Ada"}});
            let text = if version == VERSIONS[4] {
                let first = client.request("tools/call", call.clone());
                let result = &first["result"];
                assert_eq!(result["resultType"], "input_required", "{first}");
                let (key, question) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
                assert_eq!(question["params"]["message"], "Your name?", "{first}");
                if server == "modern" {
                    assert_eq!(result["requestState"], "opaque 1.0 é");
                }
                let mut again = call;
                again["inputResponses"] = json!({ key: answer });
                again["requestState"] = result["requestState"].clone();
                client.request("tools/call", again)
            } else {
                let id = client.start_request("tools/call", call);
                let question = client.next();
                assert_eq!(
                    (&question["method"], &question["params"]["message"]),
                    (&json!("elicitation/create"), &json!("Your name?"))
                );
                client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
                client.response(id)
            };
            let text = text["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{text}"));
            assert!(text.contains(r#"{"name":"Ada"}"#), "{version} {server}: {text}");
            if server == "modern" {
                assert!(text.contains("opaque 1.0 é"), "{text}");
            }
        }
    }
}

/// The time without progress does not run while a user thinks about a question.
#[test]
fn answers_to_questions_take_any_time() {
    let wrap = format!("odd={}", odd(&[]));
    let mut client = Client::start(&["--wrap", &wrap, "--timeout", "1"]);
    client.open(VERSIONS[3], json!({"elicitation": {}}));
    let id = client.start_request("tools/call", json!({"name": "odd_ask", "arguments": {}}));
    let question = client.next();
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
    let response = client.response(id);
    let text = response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{response}"));
    assert!(text.contains(r#"{"name":"Ada"}"#), "{text}");
}

/// A newer server sees what the client itself declares.
#[test]
fn servers_see_the_capabilities_of_the_client() {
    for capabilities in [json!({}), json!({"elicitation": {"form": {}}})] {
        let wrap = format!("odd={}", odd(&[("SERVER", "modern")]));
        let mut client = Client::start(&["--wrap", &wrap]);
        client.open(VERSIONS[4], capabilities.clone());
        let params: Value = serde_json::from_str(&client.text("odd_params", json!({}))).unwrap();
        assert_eq!(params["_meta"]["io.modelcontextprotocol/clientCapabilities"], capabilities, "{params}");
    }
}

#[test]
fn what_is_deprecated_is_refused_by_name() {
    for capabilities in [json!({}), json!({"elicitation": {}, "sampling": {}, "roots": {}})] {
        let wrap = format!("odd={}", odd(&[]));
        let mut client = Client::start(&["--wrap", &wrap]);
        client.open(VERSIONS[3], capabilities.clone());
        assert!(client.text("odd_sample", json!({})).contains("sampling is deprecated"));
        if capabilities.as_object().unwrap().is_empty() {
            assert!(client.text("odd_ask", json!({})).contains("cannot ask its user"));
        }
        let level = client.request("logging/setLevel", json!({"level": "info"}));
        assert_eq!(level["error"]["code"], -32601);
    }
}

#[test]
fn r32_progress_is_passed_on() {
    let mut client = wrapped(&[], VERSIONS[3]);
    let call = json!({"name": "odd_progress", "arguments": {"items": 4, "ms": 600}, "_meta": {"progressToken": "t"}});
    client.request("tools/call", call);
    let reports: Vec<&Value> =
        client.notes.iter().filter(|note| note["method"] == "notifications/progress").collect();
    assert!(reports.len() >= 4, "{reports:?}");
    let values: Vec<f64> =
        reports.iter().map(|report| report["params"]["progress"].as_f64().unwrap()).collect();
    assert!(values.is_sorted_by(|a, b| a < b), "{values:?}");
    assert_eq!((values.last(), &reports[0]["params"]["progressToken"]), (Some(&4.0), &json!("t")));
    assert!(reports.iter().any(|report| report["params"]["message"].as_str().unwrap().contains("step 2")));
    // A silent server: the time that has passed.
    client.notes.clear();
    let call = json!({"name": "odd_sleep", "arguments": {"ms": 2_200}, "_meta": {"progressToken": 5}});
    client.request("tools/call", call);
    assert!(client.notes.len() >= 3, "{:?}", client.notes);
}

#[test]
fn r31_cancelled_calls_are_cancelled_at_the_server() {
    let mut client = wrapped(&[], VERSIONS[3]);
    client.tools();
    let id = client.start_request("tools/call", json!({"name": "odd_silent", "arguments": {}}));
    std::thread::sleep(Duration::from_millis(200));
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    // The server is free for the next call.
    assert_eq!(client.text("odd_noise", json!({})), "after the noise");
}

#[test]
fn changed_tools_are_withheld() {
    let mut client = wrapped(&[], VERSIONS[3]);
    assert!(client.tools().contains(&"odd_change".to_owned()));
    assert_eq!(client.text("odd_change", json!({})), "changed");
    client.noted("notifications/tools/list_changed");
    let tools = client.tools();
    assert!(!tools.contains(&"odd_change".to_owned()) && !tools.contains(&"odd_new".to_owned()), "{tools:?}");
    let refused = client.call("odd_change", json!({}));
    assert!(refused["error"]["message"].as_str().unwrap().contains("trommel mcp approve"), "{refused}");
    // They stay withheld in the next run, in which the old description is back.
    let (_, home) = client.close();
    let wrap = format!("odd={}", odd(&[]));
    let mut client = Client::start_in(home, &["--wrap", &wrap]);
    client.open(VERSIONS[3], json!({}));
    assert!(client.tools().contains(&"odd_change".to_owned()));
}

#[test]
fn servers_get_a_clean_environment() {
    let mut client = wrapped(&[("OWN", "1")], VERSIONS[3]);
    let names = client.text("odd_environment", json!({}));
    for name in names.split(' ') {
        assert!(
            ["PATH", "HOME", "LANG", "OWN", "SERVER"].contains(&name) || name.contains("LLVM_"),
            "{names}"
        );
    }
}

#[test]
fn a_slow_server_is_waited_for_once() {
    let slow = format!("slow={}", odd(&[("START_MS", "7000")]));
    let quick = format!("quick={}", odd(&[]));
    let mut client = Client::connected(&["--wrap", &slow, "--wrap", &quick], VERSIONS[3]);
    let start = Instant::now();
    let tools = client.tools();
    assert!(tools.contains(&"quick_echo".to_owned()) && !tools.contains(&"slow_echo".to_owned()));
    assert!((4..=6).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    let start = Instant::now();
    client.tools();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    client.noted("notifications/tools/list_changed");
    assert!(client.tools().contains(&"slow_echo".to_owned()));
}

/// Writes a configuration with the odd server, whose callers may choose destinations.
fn routing_config(folder: &std::path::Path) -> String {
    let words: Vec<String> = odd(&[]).split(' ').map(str::to_owned).collect();
    let server = json!({"command": words[0], "args": words[1..], "trommel": {"routes": true}});
    let file = folder.join("mcp.json");
    std::fs::write(&file, json!({"mcpServers": {"odd": server}}).to_string()).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn callers_choose_where_results_go() {
    let folder = tempfile::tempdir().unwrap();
    let config = routing_config(folder.path());
    let mut client = Client::connected(&["--config", &config], VERSIONS[3]);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let described =
        |name: &str| tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone();
    assert!(described("odd_big")["inputSchema"]["properties"]["output"].is_object(), "{tools}");
    let call = json!({"shape": "text", "items": 20_000, "output": "variable:found"});
    let notice = client.text("odd_big", call);
    assert!(notice.starts_with("[output routed] odd_big -> variable:found (total "), "{notice}");
    // The variable is complete, and no output is stored besides.
    let found = client
        .answer("buffer_ops", json!({"operation": "search", "target": "user 19999 ", "scope": "found"}));
    assert_eq!(found["hits"][0]["line"], 1, "{found}");
    assert_eq!(client.answer("tool_outputs_list", json!({}))["total"], 0);
    // Without a choice, all is as usual.
    let manifest = client.text("odd_big", json!({"shape": "text", "items": 20_000, "output": "inline"}));
    assert!(manifest.contains("tool_outputs_stats"), "{manifest}");
    assert_eq!(
        client.text("odd_noise", json!({"output": "discard"})),
        "[output routed] odd_noise -> discard (total 15 chars)"
    );
    // The server gets only the arguments that it knows, as they are.
    let params = client.text("odd_params", json!({"a": 1.50, "output": "inline", "write_mode": "new"}));
    let params: Value = serde_json::from_str(&params).unwrap();
    assert_eq!(params["arguments"], json!({"a": 1.50}), "{params}");
    // Files need the permission to write.
    let failed = client.failed("odd_noise", json!({"output": "file:a.txt"}));
    assert!(failed.contains("file"), "{failed}");
    let failed = client.failed("odd_noise", json!({"output": "nowhere"}));
    assert!(failed.contains("variable:"), "{failed}");
    let failed = client.failed("odd_fail", json!({"chars": 5, "output": "variable:other"}));
    assert_eq!(failed, "zzzzz");
}

#[test]
fn files_of_results_are_below_the_folder_for_writes() {
    let folder = tempfile::tempdir().unwrap();
    let config = routing_config(folder.path());
    let writes = folder.path().join("writes");
    std::fs::create_dir(&writes).unwrap();
    let args = ["--config", &config, "--allow-writes", writes.to_str().unwrap()];
    let mut client = Client::connected(&args, VERSIONS[4]);
    let notice = client.text("odd_noise", json!({"output": "file:a.txt"}));
    assert!(notice.contains("file:a.txt"), "{notice}");
    assert_eq!(std::fs::read_to_string(writes.join("a.txt")).unwrap(), "after the noise\n");
    client.failed("odd_noise", json!({"output": "file:../b.txt"}));
    assert!(!folder.path().join("b.txt").exists());
}

#[test]
fn calls_of_wrapped_tools_are_in_the_history() {
    let mut client = wrapped(&[], VERSIONS[3]);
    client.text("odd_noise", json!({"password": "hunter2-secret"}));
    client.failed("odd_fail", json!({"chars": 3}));
    let (_, home) = client.close();
    let mut command = crate::common::trommel(["history", "--json"]);
    let output = command.env("TROMMEL_HOME", home.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("odd_noise") && text.contains("odd_fail") && text.contains("zzz"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}
