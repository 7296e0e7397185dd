//! Pages of one value, from files, pipes, and stored outputs.

use crate::common::{self, Home, data, gzip, line, piped, read, run};
use serde_json::{Value, json};

/// Reads all pages of a value in order.
fn pages(file: &str, path: &str, max_chars: &str) -> Vec<Value> {
    let mut args = vec!["read".to_owned(), file.into(), path.into(), "--max-chars".into(), max_chars.into()];
    let mut pages = Vec::new();
    loop {
        let text = run(&args).ok();
        let page: Value = serde_json::from_str(&text).unwrap();
        assert!(text.trim_end().chars().count() <= max_chars.parse().unwrap(), "{text}");
        let next = page["truncated"]["next"].as_str().map(str::to_owned);
        pages.push(page);
        let Some(next) = next else { return pages };
        args.truncate(5);
        args.extend(["--cursor".to_owned(), next]);
        assert!(pages.len() < 10_000, "{file} {path} does not end");
    }
}

/// The joined pages equal the value.
#[test]
fn pages_joined_are_the_value() {
    let folder = common::Folder::new("pages");
    let long = "ü\\n\\ud83d\\ude00\\\\ plain 日本 ".repeat(200);
    let members: Vec<String> = (0..300).map(|n| format!("\"name {n}\": [{n}, {{}}]")).collect();
    let text = format!("{{ \"long\" : \"{long}\",\n \"many\": {{ {} }}, \"n\": 1.50 }}", members.join(", "));
    let file = folder.file("a.json", &text);
    let whole: Value = serde_json::from_str(&text).unwrap();
    for most in ["200", "333", "8000", "100000"] {
        let mut many = serde_json::Map::new();
        let parts = pages(&file, "$.many", most);
        for (number, page) in parts.iter().enumerate() {
            let mut content = page["content"].as_object().unwrap().clone();
            let more = content.remove("$more");
            assert_eq!(more.is_some(), number + 1 < parts.len());
            assert_eq!(page["size"], json!({"bytes": page["size"]["bytes"], "items": 300}));
            many.extend(content);
        }
        assert_eq!(Value::Object(many), whole["many"], "{most}");

        let mut long = String::new();
        let parts = pages(&file, "$.long", most);
        for (number, page) in parts.iter().enumerate() {
            let content = page["content"].as_str().unwrap();
            let content = content.strip_suffix('…').filter(|_| number + 1 < parts.len()).unwrap_or(content);
            long.push_str(content);
        }
        assert_eq!(Value::String(long), whole["long"], "{most}");
    }
    let page = run(["read", &file, "$.n"]).ok();
    assert_eq!(page, "{\"path\":\"$.n\",\"kind\":\"number\",\"size\":{\"bytes\":4},\"content\":1.50}\n");
}

/// A file, a pipe, a compressed file, and a stored output give the same page except for the cursor.
#[test]
fn pages_of_files_pipes_and_outputs_are_equal() {
    let home = Home::new("same");
    let folder = home.folder();
    let shop = read(data().join("../tour/shop.json"));
    let file = folder.file("shop.json", &shop);
    let packed = folder.file("shop.json.gz", gzip(&shop));
    home.put("shop-1", &shop);
    let bare = |mut page: Value| {
        if let Some(truncated) = page["truncated"].as_object_mut() {
            truncated.remove("next");
        }
        page
    };
    for (path, most) in [
        ("$", "8000"),
        ("$.orders", "400"),
        ("$.shop", "8000"),
        ("$.shop.name", "8000"),
        ("$['orders'][-1]", "400"),
    ] {
        let asked = |source: &str| {
            let args = ["read", source, path, "--max-chars", most];
            args.map(str::to_owned)
        };
        let of_file = bare(run(asked(&file)).json());
        assert_eq!(of_file["path"], path);
        assert_eq!(bare(piped(asked("-"), &shop).json()), of_file, "{path}");
        assert_eq!(bare(run(asked(&packed)).json()), of_file, "{path}");
        assert_eq!(bare(home.run(asked("output:shop-1")).json()), of_file, "{path}");
    }
}

/// Values too large for any page are replaced by a mark with a path that selects them.
#[test]
fn large_values_are_marked() {
    let folder = common::Folder::new("large");
    let file = folder.file("a.json", format!("{{\"a b\": \"{}\", \"c\": [1]}}", "x\u{202e}".repeat(400_000)));
    let page = run(["read", &file, "$", "--max-chars", "500"]).json();
    let mark = &page["content"]["a b"];
    assert_eq!(
        (&mark["$truncated"], &mark["kind"], &mark["path"]),
        (&json!(true), &json!("string"), &json!("$['a b']"))
    );
    assert_eq!(mark["bytes"], 1_600_002);
    assert_eq!(page["content"]["c"], json!([1]));
    assert_eq!(page["truncated"], json!({"reason": "max_chars", "returned": 2}));
    let within = run(["read", &file, "$['a b']", "--max-chars", "300"]).json();
    assert_eq!(within["kind"], "string");
    let tight = run(["read", &file, "$", "--max-chars", "200"]).json();
    assert_eq!(tight["content"], json!({"a b": {"$truncated": true}, "$more": 1}));
    // A name too long for any page is truncated.
    let name = "n".repeat(200_000);
    let file = folder.file("b.json", format!("{{\"{name}\": 1}}"));
    let page = run(["read", &file, "$", "--max-chars", "200"]).json();
    assert_eq!(page["content"], json!({format!("{}…", "n".repeat(40)): 1}));
    assert_eq!(page["truncated"], json!({"reason": "max_chars", "returned": 1}));
    let path = format!("$['{}']", "n".repeat(200));
    let said = run(["read", "users.json", &path, "--max-chars", "200"]).failed(2);
    assert!(said.contains("selects nothing"), "{said}");
    let file = folder.file("c.json", format!("{{\"{}\": 1}}", "n".repeat(200)));
    let said = run(["read", &file, &path, "--max-chars", "200"]).failed(2);
    assert!(said.contains("needs a page of"), "{said}");
}

#[test]
fn records_are_read_as_one_array() {
    let page = line("read log.jsonl --max-chars 200").json();
    assert_eq!(page["kind"], "records");
    let records = page["size"]["items"].as_u64().unwrap();
    assert!(records > 2, "{page}");
    let third = line("read log.jsonl $[2]").json();
    assert_eq!(third["kind"], "object");
    let id = line("read log.jsonl $[2].id").json();
    assert_eq!(id["content"], third["content"]["id"]);
    // The stream is recognized only at its second value.
    let stream = b"{\"a\": 1}\n{\"a\": 2}\n";
    assert_eq!(piped(["read", "-", "$[1].a"], stream).json()["content"], 2);
    assert_eq!(piped(["read", "-"], stream).json()["content"], json!([{"a": 1}, {"a": 2}]));
    let said = piped(["read", "-", "$.a"], stream).failed(2);
    assert!(said.contains("stream of 2 records"), "{said}");
    assert_eq!(piped(["read", "-", "$[1].a"], b"[0, {\"a\": 5}]").json()["content"], 5);
}

#[test]
fn unreadable_values_are_reported() {
    let folder = common::Folder::new("refused");
    let file = folder.file("a.json", format!("[{}1]", "1, ".repeat(1000)));
    let cursor = run(["read", &file, "$", "--max-chars", "300"]).json();
    let cursor = cursor["truncated"]["next"].as_str().unwrap().to_owned();
    for (args, status, said) in [
        (vec!["read", "users.json", "$.users[*]"], 2, "can select several values"),
        (vec!["read", "users.json", "$.nothing"], 2, "selects nothing"),
        (vec!["read", "users.json", "$."], 2, "error[query-"),
        (vec!["read", "users.json", "$", "--cursor", &cursor], 2, "does not match"),
        (vec!["read", &file, "$", "--cursor", "nonsense"], 2, "does not match"),
        (vec!["read", "users.json", "--max-chars", "10"], 2, "200"),
        (vec!["read", "missing.json"], 1, "cannot open"),
        (vec!["read", "bad.json"], 1, "error["),
    ] {
        let text = run(&args).failed(status);
        assert!(text.contains(said), "{args:?}: {text}");
    }
    // A file that has changed since the previous page contains another value.
    folder.file("a.json", "[1, 2, 3]");
    let text = run(["read", &file, "$", "--cursor", &cursor]).failed(2);
    assert!(text.contains("does not match"), "{text}");
    let text = piped(["read", "-", "$.a", "--duplicates", "all"], b"{\"a\": 1, \"a\": 2}").failed(2);
    assert!(text.contains("selects 2 values"), "{text}");
}
