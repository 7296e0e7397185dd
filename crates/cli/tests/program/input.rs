//! Inputs: framings, pipes, compressed files, and unreadable inputs.

use std::fs::{self, File};
use std::process::Stdio;

use crate::common::{Folder, Run, data, gzip, line, piped, read, run, trommel, zstd};

#[test]
fn framings_divide_as_documented() {
    let ids = |framing: &str, input: &[u8]| piped(["extract", "-", "$", "--input", framing], input);
    assert_eq!(ids("auto", b"[1]\n").ok(), "[1]\n");
    assert_eq!(ids("auto", b"1\n2\n\n3").ok(), "1\n2\n3\n");
    assert_eq!(ids("auto", b"\x1e1\n\x1e2\n").ok(), "1\n2\n");
    assert_eq!(ids("auto", b"{\n\"a\":\n1}\n{}\n").ok(), "{\"a\":1}\n{}\n");
    assert_eq!(ids("jsonl", b"1\n\n2\n").ok(), "1\n2\n");
    assert_eq!(ids("jsonl", b"").ok(), "");
    assert_eq!(ids("concatenated", b"{}{} true false").ok(), "{}\n{}\ntrue\nfalse\n");
    assert_eq!(ids("concatenated", b"").ok(), "");
    assert_eq!(ids("json", b" 1 ").ok(), "1\n");
    assert_eq!(ids("json-seq", b"\x1e{\"a\":\n1}\n").ok(), "{\"a\":1}\n");
    assert_eq!(ids("auto", b"\xEF\xBB\xBF[1]").ok(), "[1]\n");
}

#[test]
fn errors_name_the_fitting_framing() {
    for (framing, input, printed, said) in [
        ("auto", "{}{}", "{}\n", "--input concatenated"),
        ("auto", "true false", "true\n", "--input concatenated"),
        ("auto", "", "", "--input jsonl"),
        ("auto", "01", "", "leading zeros"),
        ("json", "1\n2\n", "1\n", "--input jsonl"),
        ("json", "", "", "--input jsonl"),
        ("jsonl", "1 2\n", "1\n", "--input concatenated"),
        ("json-seq", "1\n", "", "record separator"),
    ] {
        let run = piped(["extract", "-", "$", "--input", framing], input.as_bytes());
        assert_eq!((run.status, run.out.as_str()), (Some(1), printed), "{framing} {input}");
        assert!(run.err.contains(said), "{framing} {input}: {}", run.err);
    }
    let run = piped(["check", "-"], b"\xFF\xFE[\x001\x00]\x00");
    assert!(run.failed(1).contains("UTF-16"));
}

#[test]
fn file_names_select_jsonl() {
    let folder = Folder::new("names");
    let lines = b"{\"id\": 1}\n{\"id\": 2}\n";
    for (name, bytes) in [
        ("a.jsonl", lines.to_vec()),
        ("a.NDJSON", lines.to_vec()),
        ("a.jsonl.gz", gzip(lines)),
        ("a.ndjson.zst", zstd(lines)),
    ] {
        let file = folder.file(name, &bytes);
        assert_eq!(run(["stats", &file, "--only", "types"]).json()["records"], 2, "{name}");
        // An empty file of lines has no records, which is valid.
        let empty = folder.file(&format!("empty-{name}"), b"");
        assert_eq!(run(["check", &empty]).ok(), "", "{name}");
    }
    assert_eq!(run(["check", &folder.file("empty.json", b"")]).status, Some(1));
}

/// Files give the same answer mapped, read, redirected, or through a pipe.
#[test]
fn all_kinds_of_input_give_the_same_answer() {
    let expected = line("extract users.json $..tags $.users[-1].name").ok();
    let args = ["extract", "-", "$..tags", "$.users[-1].name"];
    assert_eq!(line("extract users.json $..tags $.users[-1].name --no-mmap").ok(), expected);
    assert_eq!(piped(args, &read(data().join("users.json"))).ok(), expected);
    let redirected = trommel(args).stdin(File::open(data().join("users.json")).unwrap()).output().unwrap();
    assert_eq!(Run::of(redirected).ok(), expected);
}

/// R41: compressed input gives the same answer, and damaged compressed input is an error.
#[test]
fn r41_compressed_input() {
    let folder = Folder::new("packed");
    let plain = (0..20_000).map(|id| format!("{{\"id\": {id}}}\n")).collect::<Vec<_>>().concat();
    let (first, second) = plain.split_at(plain.len() / 3);
    let expected = "{\"counts\":{\"$[?@>=0]\":20000},\"total\":20000}\n";
    let count = |file: &str| run(["count", file, "$[?@>=0]"]);
    for (name, bytes) in [
        ("plain.jsonl", plain.clone().into_bytes()),
        ("one.jsonl.gz", gzip(plain.as_bytes())),
        ("members.jsonl.gz", [gzip(first.as_bytes()), gzip(second.as_bytes())].concat()),
        ("one.jsonl.zst", zstd(plain.as_bytes())),
        ("frames.jsonl.zst", [zstd(first.as_bytes()), zstd(second.as_bytes())].concat()),
        ("no-extension", gzip(plain.as_bytes())),
    ] {
        assert_eq!(count(&folder.file(name, &bytes)).ok(), expected, "{name}");
        assert_eq!(piped(["count", "-", "$[?@>=0]"], &bytes).ok(), expected, "{name}");
    }
    for (name, mut bytes) in
        [("cut.jsonl.gz", gzip(plain.as_bytes())), ("cut.jsonl.zst", zstd(plain.as_bytes()))]
    {
        bytes.truncate(bytes.len() / 2);
        let refused = count(&folder.file(name, &bytes)).failed(1);
        assert!(refused.contains("cannot read") && refused.contains("byte "), "{name}: {refused}");
    }
    let mut bytes = gzip(plain.as_bytes());
    let checksum = bytes.len() - 8;
    bytes[checksum] ^= 1;
    assert!(count(&folder.file("checksum.jsonl.gz", &bytes)).failed(1).contains("cannot read"));
}

/// R41: decompression bombs are refused at the ratio, which can be raised.
#[test]
fn r41_bombs_are_refused() {
    let folder = Folder::new("bomb");
    let spaces = " ".repeat(1 << 20).into_bytes();
    let mut bomb = zstd(b"[1");
    for _ in 0..80 {
        bomb.extend(zstd(&spaces));
    }
    bomb.extend(zstd(b"]"));
    let file = folder.file("bomb.json.zst", &bomb);
    let refused = run(["count", &file, "$[*]"]).failed(1);
    assert!(refused.contains("1000 times its size") && refused.contains("--limit-ratio"), "{refused}");
    assert_eq!(run(["count", &file, "$[*]", "--limit-ratio", "1000000"]).json()["total"], 1);
}

#[test]
fn unopenable_inputs_are_reported() {
    let folder = Folder::new("unopened");
    let missing = folder.path("missing.json");
    for (file, said) in
        [(missing.to_str().unwrap(), "No such file"), (folder.path("").to_str().unwrap(), "directory")]
    {
        for command in [&["extract", file, "$"][..], &["stats", file], &["check", file], &["schema", file]] {
            let refused = run(command).failed(1);
            assert!(refused.contains("cannot open") && refused.contains(said), "{command:?}: {refused}");
        }
    }
    // The same for a folder as standard input.
    let output = trommel(["check", "-"]).stdin(File::open(folder.path("")).unwrap()).output().unwrap();
    assert!(Run::of(output).failed(1).contains("directory"));
}

#[test]
fn limits_are_named_when_they_are_reached() {
    let deep = "[".repeat(20_000) + &"]".repeat(20_000);
    let refused = piped(["check", "-"], deep.as_bytes()).failed(1);
    assert!(refused.contains("10000 levels") && refused.contains("--limit-depth"), "{refused}");
    assert_eq!(piped(["check", "-", "--limit-depth", "20000"], deep.as_bytes()).ok(), "");
    assert!(piped(["count", "-", "$", "--limit-depth", "3"], b"[[[[]]]]").failed(1).contains("3 levels"));
    // A query that goes back in a pipe needs a temporary file.
    let long = format!("[{}]", vec!["1234567"; 4 << 20].join(","));
    let args = ["extract", "-", "$[-1]", "--spool-limit", "20MB"];
    let refused = piped(args, long.as_bytes()).failed(1);
    assert!(refused.contains("--spool-limit"), "{refused}");
    let args = ["extract", "-", "$[-1]"];
    assert_eq!(piped(args, long.as_bytes()).ok(), "1234567\n");
    for (option, value) in [
        ("--limit-depth", "0"),
        ("--limit-depth", "1048577"),
        ("--spool-limit", "lots"),
        ("--limit-ratio", "0"),
        ("--threads", "0"),
    ] {
        assert!(run(["check", "-", option, value]).failed(2).contains(option), "{option} {value}");
    }
}

#[cfg(unix)]
#[test]
fn named_pipes_are_read_once() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let folder = Folder::new("fifo");
    let fifo = folder.path("pipe.jsonl");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let child = trommel(["extract", fifo.to_str().unwrap(), "$.id"]).stdout(Stdio::piped()).spawn().unwrap();
    fs::write(&fifo, "{\"id\": 1}\n{\"id\": 2}\n").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"1\n2\n");
}

/// An explicit `--input auto` overrides the file name.
#[test]
fn an_explicit_framing_overrides_the_name() {
    let folder = Folder::new("framing");
    let file = folder.file("array.jsonl", "[1,\n2]\n");
    let count = |options: &[&str]| run(["count", &file, "$[*]"].iter().chain(options));
    assert_eq!(count(&[]).status, Some(1));
    for framing in ["auto", "json", "concatenated"] {
        assert_eq!(count(&["--input", framing]).ok(), "{\"counts\":{\"$[*]\":2},\"total\":2}\n", "{framing}");
    }
}

/// Kernel files report no length or an incorrect one, and cannot be mapped.
#[cfg(target_os = "linux")]
#[test]
fn files_of_the_kernel_are_read() {
    for path in ["/proc/sys/kernel/pid_max", "/sys/class/net/lo/mtu"] {
        let Ok(expected) = fs::read_to_string(path) else {
            println!("SKIPPED: {path} cannot be read here");
            continue;
        };
        for options in [&[][..], &["--no-mmap"], &["--strict"], &["--input", "jsonl"]] {
            let run = run(["extract", path, "$"].iter().chain(options));
            assert_eq!(run.ok(), expected, "{path} {options:?}");
        }
        let mut redirected = trommel(["extract", "-", "$"]);
        redirected.stdin(File::open(path).unwrap());
        assert_eq!(Run::of(redirected.output().unwrap()).ok(), expected, "{path}");
    }
    for path in ["/proc/self/status", "/proc/mounts"] {
        if fs::metadata(path).is_err() {
            println!("SKIPPED: there is no {path}");
            continue;
        }
        for args in
            [["count", path, "--input", "jsonl", "$"], ["check", path, "--input", "jsonl", "--strict"]]
        {
            let said = run(args).failed(1);
            assert!(said.contains(&format!("{path}:1:1")), "{said}");
        }
    }
}

#[test]
fn gzip_padding_and_truncation_are_distinguished() {
    let folder = Folder::new("padding");
    let mut packed = gzip(b"[1,2]\n");
    let cut = folder.file("cut.gz", &packed[..packed.len() - 9]);
    packed.resize(packed.len() + 1000, 0);
    let padded = folder.file("padded.gz", &packed);
    assert_eq!(run(["extract", &padded, "$"]).ok(), "[1,2]\n");
    let cut = run(["extract", &cut, "$"]);
    assert_eq!(cut.status, Some(1));
    assert!(cut.err.contains("the gzip data ends early: the file is truncated"), "{}", cut.err);
}
