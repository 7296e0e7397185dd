//! `trommel check`: silence, positions, damage reports, conformance.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Folder, line, piped, run};

#[test]
fn silent_when_valid() {
    assert_eq!(line("check log.jsonl").ok(), "");
    assert_eq!(line("check log.jsonl --json").ok(), "");
    assert_eq!(line("check log.jsonl --on-bad-record skip").ok(), "");
    assert_eq!(piped(["check", "-"], b" [1, 2]\n").ok(), "");
}

#[test]
fn repeated_names_are_noted() {
    let run = line("check users.json");
    assert_eq!((run.status, run.out.as_str()), (Some(0), ""));
    assert!(run.err.ends_with("note: 1 repeated name\n"), "{run:?}");
}

#[test]
fn repeated_names_are_listed_with_positions() {
    let text = "{\"a\":1,\n \"b\":[{\"c d\":1,\"\\u0063 d\":2}],\"a\":3}";
    let expected = "\
note: <stdin>:2:16: $['b'][0]['c d'] repeats a name in its object (byte 23)
note: <stdin>:2:31: $['a'] repeats a name in its object (byte 38)
note: 2 repeated names
";
    let listed = piped(["check", "-"], text.as_bytes());
    assert_eq!((listed.status, listed.out.as_str(), listed.err.as_str()), (Some(0), "", expected));
    // Lists the first ten of many, with their records.
    let many = "{\"x\":{},\"x\":[]}\n".repeat(12);
    for options in [&[][..], &["--no-mmap"], &["--threads", "2"]] {
        let folder = Folder::new("repeated");
        let file = folder.file("many.jsonl", &many);
        let listed = run(["check", &file].iter().chain(options));
        let lines: Vec<&str> = listed.err.lines().collect();
        assert_eq!((listed.status, lines.len()), (Some(0), 11), "{listed:?}");
        assert!(
            lines[9].ends_with("many.jsonl:10:9: $['x'] repeats a name in its object (byte 152, record 9)")
        );
        assert_eq!(lines[10], "note: 12 repeated names; the first 10 are listed");
    }
    // Names in skipped records do not count.
    let args = ["check", "-", "--input", "jsonl", "--on-bad-record", "skip"];
    let listed = piped(args, b"{\"a\":1,\"a\":tru}\n{\"b\":1,\"b\":2}\n");
    assert_eq!(listed.status, Some(1));
    assert!(listed.err.contains("$['b'] repeats") && !listed.err.contains("$['a'] repeats"), "{listed:?}");
}

#[test]
fn repeated_names_can_be_failures() {
    let args = ["check", "-", "--duplicates-as-errors"];
    let failed = piped(args, b"{\"a\":1,\"a\":2}");
    assert_eq!((failed.status, failed.out.as_str()), (Some(1), ""));
    assert!(failed.err.contains("$['a'] repeats a name in its object (byte 7)"), "{failed:?}");
    let failed = piped(["check", "-", "--duplicates-as-errors", "--json"], b"{\"a\":1,\"a\":2}");
    assert_eq!(failed.status, Some(1));
    assert_eq!(
        failed.out,
        "{\"record\":0,\"line\":1,\"column\":8,\"offset\":7,\"kind\":\"repeated_name\",\
         \"message\":\"$['a'] repeats a name in its object\"}\n"
    );
    assert_eq!(piped(args, b"{\"a\":1,\"b\":{\"a\":2}}").ok(), "");
}

#[test]
fn errors_have_a_position() {
    let said = line("check bad.json").failed(1);
    assert!(said.contains("bad.json:1:13: expected a comma or the closing bracket"), "{said}");
    assert!(said.contains("byte 12"), "{said}");
    assert!(said.contains("1 | {\"a\": [1, 2 3]}\n  |             ^\n"), "{said}");
    let run = line("check bad.json --json");
    assert_eq!(run.status, Some(1));
    assert_eq!(
        run.out,
        "{\"record\":0,\"line\":1,\"column\":13,\"offset\":12,\"kind\":\"expected_comma_or_end\",\
         \"message\":\"expected a comma or the closing bracket\"}\n"
    );
}

#[test]
fn damage_reports_list_every_record() {
    let expected = "\
{\"record\":1,\"line\":2,\"column\":9,\"offset\":18,\"kind\":\"unexpected_end\",\"message\":\"the input ends inside a value\"}
{\"record\":2,\"line\":3,\"column\":8,\"offset\":26,\"kind\":\"literal\",\"message\":\"not a JSON literal\"}
{\"record\":3,\"line\":4,\"column\":11,\"offset\":41,\"kind\":\"values_touch\",\"message\":\"another value follows without a line break\"}
";
    for args in
        ["check damaged.jsonl --on-bad-record skip --json", "check damaged.jsonl --on-bad-record skip"]
    {
        let run = line(args);
        assert_eq!((run.status, run.err.as_str()), (Some(1), "note: 3 malformed records\n"));
        assert_eq!(run.out, expected);
    }
    let run = line("check damaged.json-seq --on-bad-record skip");
    assert_eq!((run.status, run.out.lines().count()), (Some(1), 1));
    assert!(run.out.starts_with("{\"record\":1,\"line\":3,\"column\":"), "{}", run.out);
    // An error that ends the stream also ends the report.
    let args = ["check", "-", "--input", "concatenated", "--on-bad-record", "skip"];
    let run = piped(args, b"1 2 x 3");
    assert_eq!((run.status, run.out.lines().count()), (Some(1), 1));
    assert!(run.out.contains("\"record\":2") && run.out.contains("\"offset\":4"), "{}", run.out);
}

/// The folder of the `JSONTestSuite`, if it is installed.
fn suite() -> Option<PathBuf> {
    let named = std::env::var_os("TROMMEL_CONFORMANCE").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance");
    let suite = named.unwrap_or_else(beside).join("JSONTestSuite/test_parsing");
    if suite.is_dir() {
        return Some(suite);
    }
    println!("NOT RUN: no JSONTestSuite in {}; set TROMMEL_CONFORMANCE", suite.display());
    None
}

/// R2: accepts what the standard accepts, rejects what it rejects, and never ends otherwise.
#[test]
fn the_json_test_suite_passes() {
    let Some(suite) = suite() else { return };
    let mut files = 0;
    for entry in fs::read_dir(suite).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let file = path.to_str().unwrap();
        let statuses = [run(["check", file]).status, run(["check", file, "--input", "json"]).status];
        match name.get(..2).unwrap() {
            "y_" => assert_eq!(statuses, [Some(0); 2], "{name}"),
            "n_" => assert_eq!(statuses, [Some(1); 2], "{name}"),
            _ => assert!(statuses.iter().all(|status| matches!(status, Some(0 | 1))), "{name}: {statuses:?}"),
        }
        files += 1;
    }
    assert!(files > 300, "only {files} files");
}
