//! Arguments in any order, many files, and compressed files.

use std::fs;

use serde_json::Value;
use trommel_testkit::generate::{Random, Shape, stream};
use trommel_testkit::naive;

use crate::common::{Folder, Home, Run, data, gzip, line, piped, run, zstd};

/// Files that `run` reads by their paths.
fn files(folder: &Folder) -> [String; 3] {
    let a = folder.file("a.jsonl", "{\"id\":1,\"tag\":\"x\"}\n{\"id\":2}\n");
    let b = folder.file("b.json", "{\"id\":3,\"tag\":\"y\"}\n");
    let c = folder.file("c.jsonl", "{\"id\":4}\n{\"id\":5,\"tag\":\"x\"}\n{\"id\":6}\n");
    [a, b, c]
}

const ALL: &str = "{\"id\":1,\"tag\":\"x\"}\n{\"id\":2}\n{\"id\":3,\"tag\":\"y\"}\n{\"id\":4}\n{\"id\":5,\"tag\":\"x\"}\n{\"id\":6}\n";

#[test]
fn files_and_queries_come_in_any_order() {
    let expected = line("extract users.json $.users[0].name $.meta").ok();
    for args in ["extract $.users[0].name users.json $.meta", "extract $.users[0].name $.meta users.json"] {
        assert_eq!(line(args).ok(), expected, "{args}");
    }
    assert_eq!(line("extract a=$.users[0].name $.meta users.json").ok(), expected);
    let users = fs::read(data().join("users.json")).unwrap();
    for args in
        [&["extract", "$.users[0].name", "$.meta"][..], &["extract", "$.users[0].name", "-", "$.meta"]]
    {
        assert_eq!(piped(args, &users).ok(), expected, "{args:?}");
    }
}

#[test]
fn commands_without_queries_take_whole_records() {
    let folder = Folder::new("files-whole");
    let [a, b, c] = files(&folder);
    assert_eq!(run(["extract", &a, &b, &c]).ok(), ALL);
    assert_eq!(run(["count", &a, &b, &c]).ok(), "{\"counts\":{\"records\":6},\"total\":6}\n");
    let sample = run(["sample", &a, &b, &c, "-n", "6", "--seed", "1"]).ok();
    assert_eq!(sample, ALL);
    assert_eq!(piped(["count"], ALL.as_bytes()).ok(), "{\"counts\":{\"records\":6},\"total\":6}\n");
}

/// Several files give the answers of their concatenation.
#[test]
fn several_files_are_one_sequence_of_records() {
    let folder = Folder::new("files-many");
    let [a, b, c] = files(&folder);
    let all = folder.file("all.jsonl", ALL);
    for args in [
        &["extract", "$.id"][..],
        &["extract", "$.id", "$.tag"],
        &["extract", "$.id", "$.tag", "--order", "document"],
        &["extract", "$.id", "-n", "4"],
        &["extract", "$.id", "--where", "@.id > 2"],
        &["extract", "--json", "$.id"],
        &["count", "n=$.id", "$.tag"],
        &["count", "$.id", "--limit", "4"],
        &["sample", "-n", "3", "--seed", "7"],
        &["sample", "-n", "3", "--strategy", "stratified", "--strata-path", "$.tag", "--seed", "7", "--json"],
        &["sample", "-n", "3", "--strategy", "systematic", "--stride", "2"],
        &["schema"],
    ] {
        let several = run(args.iter().copied().chain([&*a, &*b, &*c]));
        let one = run(args.iter().copied().chain([&*all]));
        assert_eq!((several.status, &several.out), (one.status, &one.out), "{args:?}: {}", several.err);
    }
    let stats = |args: &[&str]| {
        let mut stats: Value = run(["stats", "--values", "--schema"].iter().chain(args)).json();
        stats.as_object_mut().unwrap().remove("id");
        stats
    };
    let (several, one) = (stats(&[&a, &b, &c]), stats(&[&all]));
    assert_eq!(several, one);
}

#[test]
fn lines_name_their_file() {
    let folder = Folder::new("files-names");
    let [a, b, _] = files(&folder);
    let lines = run(["extract", "-H", "$.id", &a, &b]).ok();
    assert_eq!(lines, format!("{a}\t1\n{a}\t2\n{b}\t3\n"));
    assert_eq!(run(["extract", "--with-filename", "$.tag", &b]).ok(), format!("{b}\t\"y\"\n"));
    let located = run(["extract", "-o", "located", "$.tag", &a, &b]).ok();
    let located: Vec<Value> = located.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&located[0]["file"], &located[0]["record"]), (&a.clone().into(), &0.into()));
    assert_eq!((&located[1]["file"], &located[1]["start"]), (&b.clone().into(), &14.into()));
    let one = run(["extract", "-o", "located", "$.tag", &b]).json();
    assert_eq!(one.get("file"), None);
}

#[test]
fn answers_by_file_are_those_of_single_runs() {
    let folder = Folder::new("files-by-file");
    let [a, b, c] = files(&folder);
    for (command, args) in [("count", &["$.id", "t=$.tag"][..]), ("stats", &["--values"]), ("schema", &[])] {
        let by_file = run([command, "--by-file", &a, &b, &c].iter().chain(args)).json();
        let total = run([command, &a, &b, &c].iter().chain(args)).json();
        assert_eq!(by_file["total"], total, "{command}");
        for (number, file) in [&a, &b, &c].into_iter().enumerate() {
            let mut own =
                run([command, file].iter().copied().map(AsRef::as_ref).chain(args.iter().copied())).json();
            let mut part = by_file["files"][number].clone();
            assert_eq!(part.as_object_mut().unwrap().remove("file"), Some(file.clone().into()), "{command}");
            if command == "schema" {
                part = part["schema"].take();
            }
            own.as_object_mut().unwrap().remove("id");
            assert_eq!(part, own, "{command} {file}");
        }
    }
}

/// A file that cannot be opened is reported, and the others are read.
#[test]
fn a_missing_file_does_not_stop_the_others() {
    let folder = Folder::new("files-missing");
    let [a, b, c] = files(&folder);
    let missing = folder.path("missing.json").display().to_string();
    for order in [[&missing, &a, &b, &c], [&a, &missing, &b, &c], [&a, &b, &c, &missing]] {
        let found = run(["extract", "$.id"].iter().copied().chain(order.iter().map(|file| file.as_str())));
        assert_eq!((found.status, found.out.as_str()), (Some(1), "1\n2\n3\n4\n5\n6\n"), "{}", found.err);
        assert_eq!(found.err.matches("cannot open").count(), 1, "{}", found.err);
    }
    let none = run(["count", &missing, &missing]);
    assert_eq!((none.status, none.out.as_str()), (Some(1), ""));
    assert_eq!(none.err.matches("cannot open").count(), 2, "{}", none.err);
    // A malformed file stops the run, and is named.
    let bad = folder.file("bad.json", "{\"id\":");
    let stopped = run(["extract", "$.id", &a, &bad, &c]);
    assert_eq!((stopped.status, stopped.out.as_str()), (Some(1), "1\n2\n"));
    assert!(stopped.err.contains("bad.json:1:"), "{}", stopped.err);
    // `check` reports every file.
    let checked = run(["check", &bad, &a, &missing, &bad]);
    assert_eq!((checked.status, checked.out.as_str()), (Some(1), ""));
    assert_eq!(checked.err.matches("bad.json:1:").count(), 2, "{}", checked.err);
    assert!(checked.err.contains("cannot open"), "{}", checked.err);
    assert_eq!(run(["check", &a, &b, &c]).ok(), "");
}

/// One of ten files is missing: every command answers for the others, and fails at the end.
#[test]
fn ten_files_of_which_one_is_missing_are_read() {
    let folder = Folder::new("files-ten");
    let file = |n: usize| folder.file(&format!("{n}.jsonl"), format!("{{\"id\":{n}}}\n"));
    let mut files: Vec<String> = (0..10).map(file).collect();
    fs::remove_file(&files[6]).unwrap();
    let without: Vec<String> = files.iter().filter(|file| !file.ends_with("/6.jsonl")).cloned().collect();
    for args in [
        &["extract", "$.id"][..],
        &["extract", "--json", "$.id"],
        &["extract", "-o", "located", "$.id"],
        &["extract", "-H", "$.id"],
        &["count", "$.id"],
        &["count", "--by-file", "$.id"],
        &["group", "$.id"],
        &["sample", "-n", "3", "--seed", "5"],
        &["sample", "-n", "3", "--seed", "5", "--json"],
        &["stats", "--values"],
        &["stats", "--by-file"],
        &["schema"],
        &["schema", "--by-file"],
        &["check"],
    ] {
        let expected = run(args.iter().copied().chain(without.iter().map(String::as_str))).ok();
        let found = run(args.iter().copied().chain(files.iter().map(String::as_str)));
        assert_eq!((found.status, &found.out), (Some(1), &expected), "{args:?}: {}", found.err);
        assert_eq!(found.err.matches("error[").count(), 1, "{args:?}: {}", found.err);
        assert!(found.err.contains("6.jsonl: No such file"), "{args:?}: {}", found.err);
    }
    // The first and the last one are no exceptions.
    for at in [0, 9] {
        let missing = std::mem::replace(&mut files[at], folder.path("none.json").display().to_string());
        let found = run(["count"].iter().copied().chain(files.iter().map(String::as_str)));
        assert_eq!(found.out, "{\"counts\":{\"records\":8},\"total\":8}\n", "{}", found.err);
        assert_eq!((found.status, found.err.matches("cannot open").count()), (Some(1), 2), "{}", found.err);
        files[at] = missing;
    }
}

/// Reading stops at a limit, so a later file is neither opened nor read.
#[test]
fn limits_end_the_sequence() {
    let folder = Folder::new("files-limit");
    let [a, b, _] = files(&folder);
    let bad = folder.file("bad.json", "{\"id\":");
    let missing = folder.path("missing.json").display().to_string();
    for later in [&bad, &missing] {
        assert_eq!(run(["extract", "$.id", "-n", "3", &a, &b, later]).ok(), "1\n2\n3\n");
        let counted = run(["count", "n=$.id", "--limit", "3", &a, &b, later]).ok();
        assert_eq!(counted, "{\"counts\":{\"n\":3},\"total\":3}\n");
    }
    // The whole has one limit, too.
    let by_file = run(["count", "n=$.id", "--limit", "2", "--by-file", &a, &b, &a]).json();
    let counts: Vec<_> = by_file["files"].as_array().unwrap().iter().map(|file| &file["total"]).collect();
    assert_eq!((counts, &by_file["total"]["total"]), (vec![&2.into(), &1.into(), &2.into()], &2.into()));
}

/// A file that is given twice is read twice.
#[test]
fn a_file_may_be_given_twice() {
    let folder = Folder::new("files-twice");
    let [a, _, c] = files(&folder);
    assert_eq!(run(["extract", "$.id", &a, &c, &a]).ok(), "1\n2\n4\n5\n6\n1\n2\n");
    assert_eq!(run(["count", "$.id", &a, &a]).json()["total"], 4);
    let by_file = run(["count", "--by-file", "$.id", &a, &a]).json();
    assert_eq!(by_file["files"][0], by_file["files"][1]);
    assert_eq!(run(["sample", "-n", "9", "--seed", "1", &a, &a]).out.lines().count(), 4);
}

/// The report of `check` names the file in each line, for people and for programs.
#[test]
fn reports_of_damage_name_their_file() {
    let folder = Folder::new("files-damage");
    let [a, b, _] = files(&folder);
    let damaged = folder.file("damaged.jsonl", "{\"id\":7}\n{\"id\":tru}\n{\"a\":1,\"a\":2}\n");
    let twice = folder.file("twice.json", "{\"a\":1,\"a\":2}");
    let args = ["check", &a, &damaged, &b, &twice, "--on-bad-record", "skip"];
    let report = run(args);
    assert_eq!(report.status, Some(1));
    let line: Value = serde_json::from_str(&report.out).unwrap();
    assert_eq!(
        (&line["file"], &line["record"], &line["line"]),
        (&damaged.clone().into(), &1.into(), &2.into())
    );
    assert!(report.err.contains("damaged.jsonl: 1 malformed record"), "{}", report.err);
    assert!(report.err.contains("damaged.jsonl: 1 repeated name"), "{}", report.err);
    // One document among several files has no record number of its own.
    assert!(
        report.err.contains("twice.json:1:8: $['a'] repeats a name in its object (byte 7)"),
        "{}",
        report.err
    );
    let lines = run(["check", &a, &twice, &damaged, "--json", "--duplicates-as-errors"]);
    let lines: Vec<Value> = lines.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found: Vec<_> = lines.iter().map(|line| (&line["file"], &line["kind"])).collect();
    assert_eq!(
        found,
        [(&twice.into(), &"repeated_name".into()), (&damaged.clone().into(), &"literal".into())]
    );
    // The report about a single file is as before.
    let one: Value = serde_json::from_str(&run(["check", &damaged, "--on-bad-record", "skip"]).out).unwrap();
    assert_eq!(one.get("file"), None);
}

/// Answers by file name inputs as in their arguments; their sum has no name.
#[test]
fn answers_by_file_name_every_kind_of_input() {
    let folder = Folder::new("files-by-kind");
    let home = Home::new("files-by-kind");
    home.put("stored-output", "{\"id\":4}\n{\"id\":4}\n");
    let [a, _, _] = files(&folder);
    for command in [&["count"][..], &["stats"], &["schema"], &["group", "$.id"]] {
        let mut program = home.trommel(command.iter().chain(&["--by-file", &a, "-", "output:stored-output"]));
        program.stdin(std::process::Stdio::piped());
        let by_file = crate::common::fed(program, b"{\"id\":1}\n").json();
        let names: Vec<_> = by_file["files"].as_array().unwrap().iter().map(|part| &part["file"]).collect();
        assert_eq!(names, [&a, "<stdin>", "output:stored-output"], "{command:?}");
        assert_eq!((by_file["total"].get("id"), by_file["total"].get("file")), (None, None), "{command:?}");
    }
    assert_eq!(run(["stats", &a, &a]).json().get("id"), None);
    assert_eq!(run(["stats", &a]).json()["id"], a);
}

/// A query that selects nothing in any file gets the hint of the first file that can be read again.
#[test]
fn hints_look_into_a_file_that_can_be_read_again() {
    let folder = Folder::new("files-hints");
    let [a, b, _] = files(&folder);
    let unlike = folder.file("unlike.json", "[1,2]");
    for inputs in [[&*a, &*b, &*unlike], ["-", &*a, &*unlike], [&*a, &*b, "-"]] {
        for command in [&["count"][..], &["extract"], &["sample", "-n", "1", "--seed", "1"], &["stats"]] {
            let found = piped(command.iter().chain(&["$.tga"]).chain(&inputs), b"{\"x\":0}\n");
            assert!(
                found.err.contains("the nearest path is `$.tag`"),
                "{command:?} {inputs:?}: {}",
                found.err
            );
        }
    }
    // A pipe alone is remembered.
    let found = piped(["count", "$.tga", "-"], b"{\"tag\":0}\n");
    assert!(found.err.contains("the nearest path is `$.tag`"), "{}", found.err);
}

/// Any number of files, compressed or not, give the answers of their concatenation.
#[test]
fn files_answer_like_their_concatenation() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let folder = Folder::new("files-random");
        let (mut all, mut names) = (Vec::new(), Vec::new());
        for number in 0..=random.below(6) {
            let shape = Shape { duplicates: true, ..Shape::plain() };
            let lines = stream(seed * 10 + number as u64, &shape, naive::Framing::Lines, 12);
            all.extend_from_slice(&lines);
            // Only the last line of all files may lack its end.
            if !lines.ends_with(b"\n") {
                all.push(b'\n');
            }
            let (suffix, packed) = match random.below(3) {
                0 => (".gz", gzip(&lines)),
                1 => (".zst", zstd(&lines)),
                _ => ("", lines),
            };
            names.push(folder.file(&format!("{number}.jsonl{suffix}"), packed));
        }
        let whole = folder.file("whole.jsonl", &all);
        for args in [
            &["extract"][..],
            &["extract", "$..a", "$.b", "--strict"],
            &["extract", "$..a", "$.b", "--order", "document", "-j", "1"],
            &["extract", "-n", "5", "$..*"],
            &["extract", "--json", "$..a", "$.b"],
            &["count", "$..a", "$[*]", "--as", "nested-total"],
            &["count", "--where", "@.a"],
            &["count", "--limit", "7", "$..*"],
            &["group", "$.a"],
            &["sample", "-n", "4", "--seed", "3", "$..a"],
            &["sample", "-n", "4", "--strategy", "last", "--json"],
            &["sample", "-n", "4", "--strategy", "systematic", "--stride", "2", "--indices"],
            &[
                "sample",
                "-n",
                "4",
                "--strategy",
                "stratified",
                "--strata-path",
                "$.a",
                "--seed",
                "3",
                "--json",
            ],
            &["schema"],
            &["stats", "--values", "--schema", "$..a", "$.b"],
        ] {
            let files = names.iter().map(String::as_str);
            let several = run(args.iter().copied().chain(files));
            let one = run(args.iter().copied().chain([&*whole]));
            // Statistics of a single file have its name.
            let without_id = |run: &Run| run.out.replacen(&format!("\"id\":\"{whole}\","), "", 1);
            let without_name =
                |run: &Run| without_id(run).replacen(&format!("\"id\":\"{}\",", names[0]), "", 1);
            assert_eq!(several.status, one.status, "seed {seed} {args:?}: {}{}", several.err, one.err);
            assert_eq!(without_name(&several), without_id(&one), "seed {seed} {args:?}");
        }
    }
}

/// Malformed records are reported with their file, and counted over all files.
#[test]
fn skipped_records_name_their_file() {
    let folder = Folder::new("files-skip");
    let [a, _, _] = files(&folder);
    let damaged = folder.file("damaged.jsonl", "{\"id\":7}\n{\"id\":tru}\n{\"id\":8}\n");
    let found = run(["extract", "$.id", &a, &damaged, &damaged, "--on-bad-record", "skip"]);
    assert_eq!((found.status, found.out.as_str()), (Some(0), "1\n2\n7\n8\n7\n8\n"));
    assert_eq!(found.err.matches("damaged.jsonl:2:").count(), 2, "{}", found.err);
    assert!(found.err.contains("skipped 2 malformed records"), "{}", found.err);
}

#[test]
fn inputs_of_every_kind_can_be_mixed() {
    let folder = Folder::new("files-mixed");
    let home = Home::new("files-mixed");
    home.put("stored-output", "{\"id\":4}\n{\"id\":4}\n");
    let plain = folder.file("a.jsonl", "{\"id\":1}\n");
    let zipped = folder.file("b.jsonl.gz", gzip(b"{\"id\":2}\n"));
    let packed = folder.file("c", zstd(b"{\"id\":3}\n"));
    let (bzip2, xz) = (folder.file("d.jsonl.bz2", BZIP2), folder.file("e.jsonl.xz", XZ));
    let inputs = [&plain, &zipped, "-", &packed, &bzip2, "output:stored-output", &xz];
    let mut command = home.trommel(["extract", "$.id"].iter().chain(&inputs));
    command.stdin(std::process::Stdio::piped());
    let found = crate::common::fed(command, b"{\"id\":0}\n").ok();
    assert_eq!(found, "1\n2\n0\n3\n1\n2\n4\n4\n1\n2\n");
    let twice = line("count - -").failed(2);
    assert!(twice.contains("- is given twice"), "{twice}");
    assert_eq!(line("count users.json users.json").ok(), "{\"counts\":{\"records\":2},\"total\":2}\n");
}

/// bzip2 and xz, written by the programs of these names.
#[test]
fn bzip2_and_xz_are_read() {
    for (suffix, packed) in [
        // `printf '{"id":1}\n{"id":2}\n' | bzip2`, and the same with `xz`.
        ("bz2", &BZIP2[..]),
        ("xz", &XZ[..]),
    ] {
        let folder = Folder::new(&format!("files-{suffix}"));
        let file = folder.file(&format!("log.jsonl.{suffix}"), packed);
        assert_eq!(run(["extract", &file, "$.id"]).ok(), "1\n2\n", "{suffix}");
        assert_eq!(piped(["extract", "$.id"], packed).ok(), "1\n2\n", "{suffix}");
        let cut = folder.file(&format!("cut.jsonl.{suffix}"), &packed[..packed.len() - 9]);
        let failed = run(["extract", &cut, "$.id"]);
        assert_eq!(failed.status, Some(1), "{suffix}");
        assert!(failed.err.contains("data ends early: the file is truncated"), "{suffix}: {}", failed.err);
    }
}

const BZIP2: [u8; 56] = [
    0x42, 0x5A, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x32, 0x98, 0x4D, 0xDA, 0x00, 0x00, 0x07,
    0x59, 0x80, 0x00, 0x10, 0x10, 0x00, 0x30, 0x10, 0x04, 0x20, 0x00, 0x0A, 0x20, 0x00, 0x21, 0x28, 0x04,
    0xFD, 0x50, 0x83, 0x26, 0x21, 0x38, 0x4F, 0x1A, 0x24, 0x9C, 0x2F, 0xC5, 0xDC, 0x91, 0x4E, 0x14, 0x24,
    0x0C, 0xA6, 0x13, 0x76, 0x80,
];

const XZ: [u8; 76] = [
    0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00, 0x00, 0x04, 0xE6, 0xD6, 0xB4, 0x46, 0x02, 0x00, 0x21, 0x01, 0x16,
    0x00, 0x00, 0x00, 0x74, 0x2F, 0xE5, 0xA3, 0x01, 0x00, 0x11, 0x7B, 0x22, 0x69, 0x64, 0x22, 0x3A, 0x31,
    0x7D, 0x0A, 0x7B, 0x22, 0x69, 0x64, 0x22, 0x3A, 0x32, 0x7D, 0x0A, 0x00, 0x00, 0x00, 0xFD, 0xD7, 0xB0,
    0x10, 0x4E, 0x16, 0x1B, 0xC5, 0x00, 0x01, 0x2A, 0x12, 0x4B, 0x08, 0x54, 0xBC, 0x1F, 0xB6, 0xF3, 0x7D,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5A,
];
