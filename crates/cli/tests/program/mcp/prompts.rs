//! Prompts, resources, and completions of wrapped servers, and subscriptions to their lists.

use serde_json::json;

use super::client::{Client, VERSIONS, odd};

fn wrapped(version: &'static str, more: &[&str]) -> Client {
    let wrap = format!("odd={}", odd(&[]));
    Client::connected(&[&["--wrap", &wrap], more].concat(), version)
}

#[test]
fn arguments_of_prompts_and_templates_are_completed() {
    for version in [VERSIONS[3], VERSIONS[4]] {
        let mut client = wrapped(version, &[]);
        client.tools();
        let argument = json!({"name": "who", "value": "m"});
        let prompt = json!({"type": "ref/prompt", "name": "odd_greet"});
        let params = json!({"ref": prompt, "argument": argument});
        let answer = client.request("completion/complete", params);
        assert_eq!(answer["result"]["completion"]["values"], json!(["greet"]), "{answer}");
        let template = json!({"type": "ref/resource", "uri": "odd://{x}"});
        let params = json!({"ref": template, "argument": argument});
        let answer = client.request("completion/complete", params);
        assert_eq!(answer["result"]["completion"]["values"], json!([null]), "{answer}");
        let absent = json!({"type": "ref/prompt", "name": "odd_absent"});
        let params = json!({"ref": absent, "argument": argument});
        let answer = client.request("completion/complete", params);
        assert!(answer["error"]["message"].as_str().unwrap().contains("no server completes"), "{answer}");
    }
}

#[test]
fn unknown_prompts_and_resources_are_refused() {
    let mut client = wrapped(VERSIONS[3], &["--wrap", "gone=/no/such/program"]);
    client.tools();
    let answer = client.request("prompts/get", json!({"name": "odd_absent"}));
    assert!(answer["error"]["message"].as_str().unwrap().contains("unknown prompt odd_absent"), "{answer}");
    let answer = client.request("resources/read", json!({"uri": "odd://absent"}));
    assert!(answer["error"].is_object(), "{answer}");
    let listed = client.request("prompts/list", json!({}));
    assert_eq!(listed["result"]["prompts"].as_array().unwrap().len(), 1, "{listed}");
    let listed = client.request("resources/list", json!({}));
    assert!(listed.to_string().contains("odd://a"), "{listed}");
}

/// Without wrapped servers, methods of prompts are unknown.
#[test]
fn our_own_server_has_no_prompts() {
    for version in [VERSIONS[3], VERSIONS[4]] {
        let mut client = Client::connected(&[], version);
        for (method, params) in [
            ("prompts/list", json!({})),
            ("prompts/get", json!({"name": "odd_greet"})),
            (
                "completion/complete",
                json!({"ref": {"type": "ref/prompt", "name": "a"}, "argument": {"name": "b", "value": ""}}),
            ),
        ] {
            let answer = client.request(method, params);
            assert_eq!(answer["error"]["code"], -32601, "{answer}");
        }
    }
}

/// The modern revision has a subscription instead of notifications without one.
#[test]
fn subscribers_learn_of_changed_tools() {
    let mut client = wrapped(VERSIONS[4], &[]);
    client.tools();
    let listening =
        client.start_request("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let accepted = client.noted("notifications/subscriptions/acknowledged");
    assert_eq!(accepted["params"]["notifications"]["toolsListChanged"], true, "{accepted}");
    assert_eq!(client.text("odd_change", json!({})), "changed");
    client.noted("notifications/tools/list_changed");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": listening}}));
    assert_eq!(client.text("odd_noise", json!({})), "after the noise");
}
