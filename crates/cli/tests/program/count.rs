//! `trommel count`: types, names, filters, limits.

use crate::common::{self, line};

#[test]
fn counts_are_named_in_argument_order() {
    assert_eq!(
        line("count users.json users=$.users[*] $..tags[*] a=b=$.meta").ok(),
        "{\"counts\":{\"users\":4,\"$..tags[*]\":4,\"a=b\":1},\"total\":9}\n"
    );
    assert_eq!(line("count users.json $.x").ok(), "{\"counts\":{\"$.x\":0},\"total\":0}\n");
    assert_eq!(line("count log.jsonl $.id --json").ok(), "{\"counts\":{\"$.id\":4},\"total\":4}\n");
}

#[test]
fn lengths_members_and_totals() {
    let total = |args: &str| {
        let counted = line(&format!("count users.json {args}")).json();
        counted.get("total").unwrap().as_u64().unwrap()
    };
    assert_eq!(total("$..tags --as array_length"), 4);
    assert_eq!(total("$.users --as array-length"), 4);
    assert_eq!(total("$.meta --as object_keys"), 3);
    assert_eq!(total("$.users[*] --as object_keys"), 15);
    assert_eq!(total("$.* --as nested_total"), 7);
    assert_eq!(total("$.users[0].name --as nested_total"), 0);
}

#[test]
fn limits_stop_each_count() {
    assert_eq!(line("count log.jsonl all=$.id tags=$.tags --limit 2").json()["counts"]["all"], 2);
    // The rest of the input is not read.
    let input = b"[1, 2, 3, tru";
    assert_eq!(common::piped(["count", "-", "$[*]", "--limit", "2"], input).json()["total"], 2);
}

#[test]
fn zero_counts_fail_only_with_exit_status() {
    let run = line("count users.json $.x --exit-status");
    assert_eq!((run.status, run.err.as_str()), (Some(1), ""));
    assert_eq!(run.out, "{\"counts\":{\"$.x\":0},\"total\":0}\n");
    assert_eq!(line("count users.json $.x $.meta --exit-status").json()["total"], 1);
}

#[test]
fn uncountable_matches_are_named() {
    let refused = line("count users.json n=$.users[*] --as array_length").failed(1);
    assert!(refused.contains("$['users'][0] is of type object"), "{refused}");
    assert!(refused.contains("use --as matches, or select only values that have elements"), "{refused}");
}

#[test]
fn names_are_unique() {
    for args in ["$.a $.a", "n=$.a n=$.b", "n=$.a '$.b' n=$.a"] {
        let refused = line(&format!("count users.json {args}")).failed(2);
        assert!(refused.contains("two counts are named"), "{refused}");
    }
    let refused = line("count users.json =$.a").failed(2);
    assert!(refused.contains("empty name before ="), "{refused}");
    let missing = line("count users.json users");
    assert_eq!(
        (missing.status, missing.out.as_str()),
        (Some(1), "{\"counts\":{\"records\":1},\"total\":1}\n")
    );
    let err = &missing.err;
    assert!(err.contains("cannot open users") && err.contains("a query is written `$.users`"), "{err}");
}
