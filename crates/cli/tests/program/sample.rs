//! `trommel sample`: strategies, seeds, forms.

use crate::common::{self, Folder, line, piped, run};
use serde_json::{Value, json};

fn numbers(count: u32) -> Vec<u8> {
    let numbers: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    format!("{{\"list\": [{}]}}", numbers.join(", ")).into_bytes()
}

/// Samples the numbers from 0 to 99.
fn of_hundred(options: &str) -> Vec<u64> {
    let args = common::words(&format!("sample - $.list {options}"));
    piped(args, &numbers(100)).ok().lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn strategies_draw_as_documented() {
    assert_eq!(of_hundred("-n 3 --strategy first"), [0, 1, 2]);
    assert_eq!(of_hundred("-n 3 --strategy last"), [97, 98, 99]);
    assert_eq!(of_hundred("-n 4 --strategy systematic"), [0, 25, 50, 75]);
    assert_eq!(of_hundred("--size 4 --strategy systematic --stride 10"), [0, 10, 20, 30]);
    let random = of_hundred("-n 10 --seed 7");
    assert!(random.len() == 10 && random.is_sorted_by(|a, b| a < b), "{random:?}");
    assert_eq!(random, of_hundred("-n 10 --seed 7 --strategy random"));
    assert_ne!(random, of_hundred("-n 10 --seed 8"));
    assert_eq!(of_hundred("-n 10 --seed -1"), of_hundred("-n 10 --seed 18446744073709551615"));
}

/// Gives the same sample from a file, mapped or not, compressed, or from a pipe, on any number of
/// threads.
#[test]
fn equal_seeds_draw_equal_samples() {
    let folder = Folder::new("seed");
    let (plain, packed) = (numbers(5_000), common::gzip(&numbers(5_000)));
    let files = [folder.file("list.json", &plain), folder.file("list.json.gz", &packed)];
    let expected = piped(["sample", "-", "$.list", "-n", "20", "--seed", "42"], &plain).ok();
    for file in files {
        for extra in [&[][..], &["--no-mmap"], &["--threads", "3"], &["--strict"]] {
            let args = ["sample", &file, "$.list", "-n", "20", "--seed", "42"];
            assert_eq!(run(args.iter().chain(extra)).ok(), expected, "{file} {extra:?}");
        }
    }
}

#[test]
fn random_seeds_are_noted() {
    let unseeded = line("sample users.json $.users -n 2");
    assert_eq!(unseeded.status, Some(0));
    let seed = unseeded.err.strip_prefix("note: drawn with --seed ").unwrap().trim();
    assert_eq!(run(["sample", "users.json", "$.users", "-n", "2", "--seed", seed]).ok(), unseeded.out);
    assert_eq!(line("sample users.json $.users -n 2 --strategy first").err, "");
}

#[test]
fn strata_are_sampled_in_proportion() {
    let args = "sample users.json $.users -n 2 --strategy stratified --strata-path $.country --seed 1";
    let document = line(&format!("{args} --json")).json();
    assert_eq!(
        document["strata"],
        json!([
            {"value": "UK", "total": 2, "sampled": 1},
            {"value": "FR", "total": 1, "sampled": 1},
            {"value": null, "total": 1, "sampled": 0, "missing": true},
        ])
    );
    assert_eq!(document["sample"].as_array().map(Vec::len), Some(2));
    assert_eq!(line(args).ok().lines().count(), 2);
}

#[test]
fn json_has_the_members_of_the_tool() {
    let document = line("sample log.jsonl $ -n 2 --strategy last --json").ok();
    assert_eq!(
        document,
        "{\"sample\":[{\"id\":3,\"level\":\"info\",\"ms\":7},{\"id\":4,\"level\":\"error\",\"ms\":1e3}],\
         \"total_items\":4,\"sample_size\":2,\"indices\":[2,3]}\n"
    );
    let document = line("sample users.json $.users[*].age -n 9 --strategy first --json").json();
    assert_eq!(document["sample_size"], 3);
    assert!(document["warning"].as_str().unwrap().starts_with("only 3 of 9 drawn"), "{document}");
    let empty: Value = line("sample users.json $.nothing[*] -n 2 --strategy first --json").json();
    assert_eq!((&empty["sample"], &empty["total_items"]), (&json!([]), &json!(0)));
}

#[test]
fn lines_can_show_indices() {
    assert_eq!(
        line("sample users.json $.users[*].age -n 2 --strategy last --indices").ok(),
        "{\"index\":1,\"value\":24.50}\n{\"index\":2,\"value\":-0}\n"
    );
    let few = line("sample users.json $.users[*].age -n 9 --strategy first");
    assert_eq!(
        (few.out.as_str(), few.err.as_str()),
        ("36\n24.50\n-0\n", "note: only 3 of 9 drawn: there are no more\n")
    );
}

#[test]
fn incompatible_options_are_refused() {
    for (args, said) in [
        ("-n 0", "'--size <N>'"),
        ("-n 2 --stride 3", "--stride needs --strategy systematic"),
        ("-n 2 --strategy systematic --stride 0", "'--stride <K>'"),
        ("-n 2 --strategy stratified", "needs --strata-path"),
        ("-n 2 --strata-path $.a", "--strata-path needs"),
        ("-n 2 --strategy stratified --strata-path .a", "in --strata-path: "),
        ("-n 2 --seed x", "a 64-bit integer"),
        ("-n 2 --indices --json", "cannot be used with"),
        ("", "--size <N>"),
    ] {
        let refused = line(&format!("sample users.json $.users {args}")).failed(2);
        assert!(refused.contains(said), "{args}: {refused}");
    }
}

#[test]
fn unsampleable_queries_fail() {
    let refused = line("sample users.json $.meta -n 2 --seed 1").failed(1);
    assert!(refused.contains("$.meta selects an object") && refused.contains("$.meta[*]"), "{refused}");
    let refused = line("sample skipped.json $.later -n 2 --seed 1").failed(1);
    assert!(refused.contains("not a JSON literal"), "{refused}");
    let refused = run(["sample", "skipped.json", "$['later','x']", "-n", "2", "--seed", "1"]).failed(1);
    assert!(refused.contains("byte 4 of item 0"), "{refused}");
    assert_eq!(line("sample users.json $.x[*] -n 2 --strategy first --exit-status").status, Some(1));
}
