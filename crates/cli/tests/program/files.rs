//! Arguments in any order, many files, and compressed files.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, Home, data, gzip, line, piped, run, zstd};

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
    let mut command =
        home.trommel(["extract", "$.id", &plain, &zipped, "-", &packed, "output:stored-output"]);
    command.stdin(std::process::Stdio::piped());
    let found = crate::common::fed(command, b"{\"id\":0}\n").ok();
    assert_eq!(found, "1\n2\n0\n3\n4\n4\n");
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
