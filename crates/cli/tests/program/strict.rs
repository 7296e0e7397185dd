//! `--strict` validates every record to its end, for every command, framing, and kind of input.

use crate::common::{Folder, piped, run};

/// A valid record, one that is malformed after its first member, and a valid one.
fn input(framing: &str, bad: &str) -> String {
    let (good, later) = ("{\"level\":\"info\"}", "{\"level\":\"x\"}");
    match framing {
        "json" => format!("{bad}\n"),
        "json-seq" => format!("\x1E{good}\n\x1E{bad}\n\x1E{later}\n"),
        _ => format!("{good}\n{bad}\n{later}\n"),
    }
}

const BAD: [&str; 3] = [
    "{\"level\":\"warn\" GARBAGE ]]]",
    "{\"level\":\"warn\",\"a\":tru}",
    "{\"level\":\"warn\",\"a\":[1,],\"b\":{\"c\":\"\\q\"}}",
];

const COMMANDS: [&[&str]; 7] = [
    &["extract", "--strict"],
    &["extract", "--strict", "--limit", "2"],
    &["extract", "--strict", "--exit-status", "--limit", "2"],
    &["count", "--strict"],
    &["count", "--strict", "--limit", "2"],
    &["stats", "--strict"],
    &["stats"],
];

#[test]
fn decided_records_are_errors_when_they_are_malformed() {
    let folder = Folder::new("strict");
    for framing in ["auto", "json", "jsonl", "concatenated", "json-seq"] {
        for bad in BAD {
            let text = input(framing, bad);
            let file = folder.file("input", &text);
            for command in COMMANDS {
                for options in [&["--threads", "1"][..], &["--threads", "3"], &["--no-mmap"]] {
                    let (name, rest) = command.split_first().unwrap();
                    let of = |file: &str| {
                        let mut args = vec![*name, file, "$.level", "--input", framing];
                        args.extend(rest.iter().chain(options));
                        args.iter().map(|&arg| arg.to_owned()).collect::<Vec<String>>()
                    };
                    for run in [run(of(&file)), piped(of("-"), text.as_bytes())] {
                        let context = format!("{:?} {bad}: {run:?}", of(&file));
                        assert_eq!(run.status, Some(1), "{context}");
                        assert!(run.err.starts_with("error["), "{context}");
                        // Only output from before the error is printed.
                        if *name == "extract" {
                            let first = if framing == "json" { "" } else { "\"info\"\n" };
                            let printed = run.out == first || run.out == format!("{first}\"warn\"\n");
                            assert!(printed, "{context}");
                        } else {
                            assert_eq!(run.out, "", "{context}");
                        }
                    }
                }
            }
        }
    }
}

/// Without `--strict`, the rest of a decided record is skipped and not read.
#[test]
fn decided_records_are_skipped_without_strict() {
    let text = input("jsonl", BAD[0]);
    let args = ["extract", "-", "$.level", "--input", "jsonl"];
    assert_eq!(piped(args, text.as_bytes()).ok(), "\"info\"\n\"warn\"\n\"x\"\n");
}

/// A limit that is reached before a malformed record gives an answer.
#[test]
fn limits_stop_before_later_records() {
    let text = input("jsonl", BAD[0]);
    for framing in ["auto", "jsonl", "concatenated"] {
        let args = ["extract", "-", "$.level", "--strict", "--limit", "1", "--input", framing];
        assert_eq!(piped(args, text.as_bytes()).ok(), "\"info\"\n");
    }
}

/// The same records are malformed under either policy.
#[test]
fn the_same_records_are_skipped_or_reported() {
    for bad in BAD {
        let text = input("jsonl", bad);
        let args = ["extract", "-", "$.level", "--input", "jsonl", "--strict", "--on-bad-record", "skip"];
        let run = piped(args, text.as_bytes());
        assert_eq!((run.status, run.out.as_str()), (Some(0), "\"info\"\n\"x\"\n"), "{run:?}");
        assert!(run.err.contains("record 1"), "{run:?}");
    }
}
