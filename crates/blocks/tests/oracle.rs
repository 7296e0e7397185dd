//! Compares checksums with Python's.

use std::io::Write;
use std::process::{Command, Stdio};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use trommel_blocks::checksum;

/// The number of compared texts.
const CASES: usize = 2_000;

/// A Python program that reads a line of JSON each, and prints the digest and the length of its
/// canonical text.
const PROGRAM: &str = "
import hashlib, json, sys
for line in sys.stdin.buffer:
    text = json.dumps(json.loads(line), sort_keys=True)
    print(hashlib.sha256(text.encode()).hexdigest(), len(text))
";

fn text() -> impl Strategy<Value = String> {
    r#""([ -!#-\[\]-~\u{a0}-\u{d7ff}\u{e000}-\u{1ffff}]|\\["\\/bfnrt]|\\u[0-9a-cA-C][0-9a-f]{3}|\\ud83d\\ude0[0-9a-f]){0,12}""#
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?(0|[1-9][0-9]{0,25})",
        "-?(0|[1-9][0-9]{0,18})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        "-?[1-9]\\.[0-9]{1,17}[eE]-?[0-3]?[0-9]?[0-9]",
        text(),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(" ,"))),
            vec((text(), inner), 0..6).prop_map(|members| {
                let members = members.into_iter().map(|(name, value)| format!("{name} : {value}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

#[test]
fn checksums_match_python() {
    let python =
        Command::new("python3").args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut python) = python else {
        eprintln!("skipped: there is no python3 to compare with");
        return;
    };
    let mut runner = TestRunner::deterministic();
    let strategy = json();
    let texts = (0..CASES).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect::<Vec<_>>();
    let mut to = python.stdin.take().unwrap();
    let all = texts.join("\n");
    let writer = std::thread::spawn(move || to.write_all(all.as_bytes()).unwrap());
    let told = python.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(told.status.success());
    let told = String::from_utf8(told.stdout).unwrap();
    assert_eq!(told.lines().count(), CASES);
    for (json, told) in texts.iter().zip(told.lines()) {
        let found = checksum::of(json).unwrap();
        assert_eq!(
            format!("{} {}", found.hex, found.bytes),
            told,
            "{json} as {:?}",
            checksum::canonical(json)
        );
    }
}
