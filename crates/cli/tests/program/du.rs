//! `trommel du` and `trommel stats --bytes`: the bytes of every path.

use serde_json::{Value, json};

use crate::common::{Folder, gzip, line, piped, run};

/// A row: its path, and the bytes of its values, names, and white space.
fn rows(answer: &Value) -> Vec<(&str, u64, u64, u64)> {
    let number = |row: &Value, name: &str| row[name].as_u64().unwrap();
    let rows = answer["bytes"].as_array().unwrap().iter();
    rows.map(|row| {
        (row["path"].as_str().unwrap(), number(row, "values"), number(row, "names"), number(row, "space"))
    })
    .collect()
}

const TEXT: &str = "{ \"a\": [1, \"xyz\" ,true],\n  \"b\" :{\"c\":null, \"\\u0063\":-2.5}}\n";

/// Every byte is in one row, and the values and names of children are in those of their parents.
#[test]
fn bytes_of_a_document() {
    let folder = Folder::new("du");
    let file = folder.file("text.json", TEXT);
    let answer = run(["du", &file]).json();
    let expected =
        [("$", 58, 0, 6), ("$.a", 16, 4, 2), ("$.b", 25, 4, 1), ("$.b.c", 8, 13, 0), ("$.a[*]", 10, 0, 0)];
    let mut found = rows(&answer);
    found.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!((&answer["size"]["bytes"], &answer["arrays"]), (&json!(TEXT.len()), &Value::Null));
    let stats = run(["stats", &file, "--bytes"]).json();
    assert_eq!((&stats["bytes"], stats["arrays"].is_array()), (&answer["bytes"], true));
    let level = run(["du", &file, "--depth", "2", "--top", "2"]).json();
    assert_eq!(rows(&level).iter().map(|row| row.0).collect::<Vec<_>>(), ["$", "$.b"]);
    assert_eq!(level["capped"]["bytes"], json!({"shown": 2, "total": 3}));
}

/// The same bytes for a pipe, a compressed file, several threads, and several files.
#[test]
fn bytes_of_any_input() {
    let record = |n: usize| format!("{{\"id\":{n},\"tags\":[\"a\", {{\"k{}\":{n}}}]}}", n % 3);
    let records: Vec<String> = (0..40_000).map(record).collect();
    let (lines, document) = (records.join("\n") + "\n", format!("{{\"log\": [{}]}}", records.join(",")));
    let folder = Folder::new("du-inputs");
    for (name, text) in [("log.jsonl", &lines), ("log.json", &document)] {
        let file = folder.file(name, text);
        let answer = run(["du", &file, "--threads", "1"]).json();
        let roots = rows(&answer)[0];
        assert_eq!(roots.0, "$");
        let between = if name == "log.jsonl" { records.len() } else { 0 };
        assert_eq!(roots.1 as usize + between, text.len());
        assert_eq!(run(["du", &file, "--threads", "2"]).json(), answer);
        assert_eq!(piped(["du", "-"], text.as_bytes()).json()["bytes"], answer["bytes"]);
        let packed = folder.file(&format!("{name}.gz"), gzip(text.as_bytes()));
        assert_eq!(run(["du", &packed]).json()["bytes"], answer["bytes"]);
        let twice = run(["du", &file, &file]).json();
        for (one, both) in rows(&answer).iter().zip(rows(&twice)) {
            assert_eq!((one.0, 2 * one.1, 2 * one.2, 2 * one.3), both);
        }
    }
    let each = run(["du", &folder.file("log.json", &document), "--each", "$.log[*]"]).json();
    let lines = run(["du", &folder.file("log.jsonl", &lines)]).json();
    assert_eq!(each["bytes"], lines["bytes"]);
}

#[test]
fn bytes_of_queries() {
    let answer = line("du users.json $.users[*].name $.meta").json();
    let found = rows(&answer);
    assert_eq!(found[0].0, "$.users[*].name");
    assert!(found.iter().any(|row| row.0 == "$.meta") && answer["by_path"][1]["bytes"].is_array());
    let nothing = line("du users.json $.user");
    assert!(nothing.err.contains("the nearest path is `$.users`"), "{nothing:?}");
    assert!(nothing.out.contains(r#""bytes":[]"#), "{nothing:?}");
    assert!(line("du users.json --depth 0").failed(2).contains("at least 1"));
    assert!(line("stats users.json --bytes --only types").failed(2).contains("cannot be used with"));
}
