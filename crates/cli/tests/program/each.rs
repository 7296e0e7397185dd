//! `--each`: nodes of a document as records.

use serde_json::Value;

use crate::common::{Folder, data, line, piped, read, run};

const SHOP: &str = "../tour/shop.json";

/// Every command gives the answers of a stream of the nodes.
#[test]
fn nodes_are_answered_like_a_stream() {
    let folder = Folder::new("each");
    let orders = run(["extract", SHOP, "$.orders[*]"]).ok();
    assert_eq!(orders.lines().count(), 200);
    let orders = folder.file("orders.jsonl", orders);
    for args in [
        &["extract", "$.id", "$.note"][..],
        &["extract", "$.items[0].sku", "--where", "@.note", "-n", "7"],
        &["extract"],
        &["extract", "--json", "$.customer"],
        &["count"],
        &["count", "gifts=$[?@ == 'gift']", "--where", "@.region == 'north'"],
        &["group", "$.region", "--sum", "$.id"],
        &["sample", "-n", "5", "--seed", "3"],
        &["sample", "-n", "5", "--seed", "3", "--strategy", "stratified", "--strata-path", "$.region"],
        &["schema"],
    ] {
        let nodes = run(args.iter().copied().chain([SHOP, "--each", "$.orders[*]"]));
        let stream = run(args.iter().copied().chain([&*orders]));
        assert_eq!((nodes.status, &nodes.out), (stream.status, &stream.out), "{args:?}: {}", nodes.err);
        let file = read(data().join(SHOP));
        let pipe = piped(args.iter().copied().chain(["--each", "$.orders[*]"]), &file);
        assert_eq!(pipe.out, stream.out, "{args:?}: {}", pipe.err);
    }
    let members = |args: &[&str]| {
        let mut stats = run(args).json();
        let stats = stats.as_object_mut().unwrap();
        (stats["structure"].take(), stats["types"].take(), stats["records"].take(), stats["values"].take())
    };
    let nodes = members(&["stats", SHOP, "--values", "--each", "$.orders[*]"]);
    assert_eq!(nodes, members(&["stats", &orders, "--values"]));
    assert_eq!(nodes.2, 200);
}

#[test]
fn locations_are_those_of_the_document() {
    let nodes = run(["extract", SHOP, "$.id", "--each", "$.orders[*]", "-o", "located", "-n", "3"]).ok();
    let path = run(["extract", SHOP, "$.orders[*].id", "-o", "located", "-n", "3"]).ok();
    assert_eq!(nodes, path);
}

/// Each line of a log may have several nodes.
#[test]
fn nodes_of_records_are_records() {
    let log = "{\"spans\":[{\"ms\":1},{\"ms\":20}]}\n{\"spans\":[]}\n{\"spans\":[{\"ms\":30}]}\n";
    let found = piped(
        ["extract", "--input", "jsonl", "$.ms", "--each", "$.spans[*]", "--where", "@.ms > 5"],
        log.as_bytes(),
    );
    assert_eq!(found.ok(), "20\n30\n");
    let located = piped(
        ["extract", "--input", "jsonl", "$.ms", "--each", "$.spans[*]", "-o", "located"],
        log.as_bytes(),
    );
    let records: Vec<u64> = located
        .ok()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["record"].as_u64().unwrap())
        .collect();
    assert_eq!(records, [0, 0, 2]);
}

#[test]
fn invalid_uses_are_refused() {
    let query = line("extract users.json --each users").failed(2);
    assert!(query.contains("in --each") && query.contains("write `$.users`"), "{query}");
    for command in ["check", "read", "put", "list"] {
        let refused = run([command, "--each", "$.a"]).failed(2);
        assert!(refused.contains("stats, and schema take --each"), "{command}: {refused}");
    }
    let nothing = line("extract users.json $.name --each $.nobody[*]");
    assert_eq!((nothing.status, nothing.out.as_str()), (Some(0), ""));
    assert!(nothing.err.contains("`--each $.nobody[*]` selects nothing"), "{}", nothing.err);
    let misspelled = line("extract users.json $.nam --each $.users[*]");
    assert!(misspelled.err.contains("the nearest path is `$.users[*].name`"), "{}", misspelled.err);
}
