//! Stored outputs: put, list, read, queries, and maintenance.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{self, Home, data, gzip, read, run, wait, zstd};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

fn shop() -> Vec<u8> {
    read(data().join("../tour/shop.json"))
}

/// Stores a payload and reads its pages, as in the README's second tour.
#[test]
fn payloads_are_stored_listed_and_queried() {
    let home = Home::new("newcomer");
    let id = home.fed(["put", "--tool", "shop.export"], &shop()).ok();
    let id = id.trim_end();
    assert_eq!(id.len(), 26, "{id}");

    let listed = home.line("list").json();
    assert_eq!((&listed["total"], &listed["has_more"]), (&json!(1), &json!(false)));
    let row = &listed["outputs"][0];
    assert_eq!((&row["id"], &row["tool_name"]), (&json!(id), &json!("shop.export")));
    assert_eq!(row["summary"], json!({"type": "object", "keys": 2, "items": 200}));

    let output = format!("output:{id}");
    let stats = home.run(["stats", &output]).json();
    assert_eq!((&stats["id"], &stats["tool_name"]), (&json!(id), &json!("shop.export")));
    assert_eq!(stats["created_at"], row["created_at"]);
    let arrays = stats["arrays"].as_array().unwrap();
    assert_eq!(arrays[0], json!({"path": "$.orders", "length": 200, "item_type": "object"}));

    let notes = home.run(["extract", &output, "$.orders[?@.note].customer"]).ok();
    assert_eq!(notes.lines().count(), 23);
    let dear = home.run(["count", &output, "dear=$..items[?@.price > 200]"]).json();
    assert_eq!(dear, json!({"counts": {"dear": 94}, "total": 94}));
    let sample = home.run(["sample", &output, "$.orders", "-n", "2", "--seed", "7"]).ok();
    let from_file = run(["sample", "../tour/shop.json", "$.orders", "-n", "2", "--seed", "7"]).ok();
    assert_eq!(sample, from_file);

    let page = home.run(["read", &output, "$.orders", "--max-chars", "500"]).json();
    assert_eq!((&page["kind"], &page["size"]["items"]), (&json!("array"), &json!(200)));
    let next = page["truncated"]["next"].as_str().unwrap();
    let second = home.run(["read", &output, "$.orders", "--max-chars", "500", "--cursor", next]).json();
    let returned = page["truncated"]["returned"].as_u64().unwrap();
    assert_eq!(second["content"][0]["id"], json!(1000 + returned));
}

/// A stored output gives the same answers as its file, for every command of the engine.
#[test]
fn outputs_answer_as_their_files() {
    let home = Home::new("engine");
    home.put("shop-export", shop());
    home.fed(["put", "log.jsonl", "--tool", "log", "--id", "log-lines"], b"").ok();
    for (file, id) in [("../tour/shop.json", "shop-e"), ("log.jsonl", "log-lines")] {
        for question in [
            "extract FILE $..id",
            "extract FILE $..id --output located --no-mmap",
            "extract FILE $..id $..name --json",
            "count FILE $..*",
            "sample FILE $..id -n 3 --seed 1 --json --threads 2",
            "sample FILE $..id -n 3 --strategy systematic --no-mmap",
            "schema FILE",
            "check FILE",
        ] {
            let of_file = common::line(&question.replace("FILE", file));
            let of_output = home.line(&question.replace("FILE", &format!("output:{id}")));
            assert_eq!(of_output, of_file, "{question}");
        }
        let figures = |mut stats: Value| {
            let members = stats.as_object_mut().unwrap();
            for name in ["id", "tool_name", "created_at"] {
                members.remove(name);
            }
            stats
        };
        let of_output = figures(home.line(&format!("stats output:{id} --values")).json());
        assert_eq!(of_output, figures(common::line(&format!("stats {file} --values")).json()));
    }
}

/// The framing from the file name or from `--input` is stored: a log of one line or none stays a
/// log.
#[test]
fn one_line_logs_stay_streams() {
    let home = Home::new("one-line");
    let file = |name: &str, bytes: &[u8]| home.folder().file(name, bytes);
    let line = b"{\"level\": \"info\"}\n";
    for (args, kind, framing, records) in [
        (vec![file("a.json", line)], "json", "json", Value::Null),
        (vec![file("a.jsonl", line)], "json_lines", "jsonl", json!(1)),
        (vec![file("a.ndjson.gz", &gzip(line))], "json_lines", "jsonl", json!(1)),
        (vec![file("empty.jsonl", b"")], "json_lines", "jsonl", json!(0)),
        (vec![file("b.json", line), "--input".into(), "jsonl".into()], "json_lines", "jsonl", json!(1)),
        (vec![file("b.jsonl", line), "--input".into(), "json".into()], "json", "json", Value::Null),
        (
            vec![file("c.json", b"[1][2]"), "--input".into(), "concatenated".into()],
            "json_lines",
            "concatenated",
            json!(2),
        ),
    ] {
        let put = ["put", "--tool", "log", "--json"].map(str::to_owned).into_iter().chain(args.clone());
        let stored = home.run(put).json();
        assert_eq!((&stored["kind"], &stored["framing"]), (&json!(kind), &json!(framing)), "{args:?}");
        assert_eq!(stored["records"], records, "{args:?}");
        // Storing an output again keeps its framing.
        let again = format!("output:{}", stored["id"].as_str().unwrap());
        let again = home.run(["put", &again, "--tool", "again", "--json"]).json();
        assert_eq!((&again["kind"], &again["framing"]), (&stored["kind"], &stored["framing"]));
    }
    let id = home.run(["put", &file("d.jsonl", line), "--tool", "log", "--id", "one-line"]).ok();
    assert_eq!(id, "one-line\n");
    let asked = json!({"id": "one-line", "paths": ["$.level"]});
    assert_eq!(home.call("extract", &asked).json(), json!({"extracted": {"$.level": ["info"]}}));
}

/// Queries select every repeated member of a stored output.
#[test]
fn queries_match_all_repeated_names() {
    let home = Home::new("repeated");
    home.put("repeated", r#"{"a": 1, "a": 2, "b": {"c": 3, "c": 4}}"#);
    assert_eq!(home.line("extract output:repeated $.a $.b.c").ok(), "1\n2\n3\n4\n");
    assert_eq!(home.line("count output:repeated $.a --duplicates first").json()["total"], 2);
}

/// A text is stored, listed, and read. A query of it fails with help.
#[test]
fn texts_can_be_read_but_not_queried() {
    let home = Home::new("texts");
    home.put("build-log", "line one\nline two\n");
    assert_eq!(home.line("list").json()["outputs"][0]["summary"], json!({"type": "text"}));
    assert_eq!(home.line("read output:build-log").json()["content"], json!("line one\nline two\n"));
    for question in
        ["extract output:build-log $", "stats output:build-log", "check output:build-log --no-mmap"]
    {
        let said = home.line(question).failed(2);
        assert!(said.contains("error[not_json]") && said.contains("trommel read output:ID"), "{said}");
    }
    // Text that was meant to be JSON gets a note.
    let cut = home.fed(["put", "--tool", "t", "--id", "cut-short"], b"{\"a\": [1,");
    assert_eq!((cut.status, cut.out.as_str()), (Some(0), "cut-short\n"));
    assert!(
        cut.err.starts_with("note: not valid JSON (") && cut.err.ends_with("; stored as text\n"),
        "{}",
        cut.err
    );
}

/// A log with a few lines that are not JSON is a stream. Queries skip these lines and report them.
#[test]
fn logs_with_damaged_lines_can_be_queried() {
    let home = Home::new("mixed");
    let line = |n: u32| if n == 7 { "Killed\n".to_owned() } else { format!("{{\"n\":{n}}}\n") };
    let log: String = (0..40).map(line).collect();
    let put = home.fed(["put", "--tool", "t", "--id", "mixed-log"], log.as_bytes());
    assert_eq!((put.status, put.out.as_str()), (Some(0), "mixed-log\n"));
    let note = "note: not valid JSON and skipped by queries: 1 of 40 records, the first is record 7 (";
    assert!(put.err.starts_with(note) && put.err.contains("line 8"), "{}", put.err);
    let summary = json!({"type": "records", "records": 40, "damaged_records": 1});
    assert_eq!(home.line("list").json()["outputs"][0]["summary"], summary);
    let counted = home.line("count output:mixed-log all=$.n");
    assert_eq!(counted.out, "{\"counts\":{\"all\":39},\"total\":39}\n");
    assert!(counted.err.contains("record 7"), "{}", counted.err);
    assert_eq!(counted.status, Some(0));
    let checked = home.line("check output:mixed-log");
    assert_eq!(checked.status, Some(1));
    assert!(checked.out.contains("record 7"), "{}", checked.out);
    // A document must be valid as a whole.
    let text = home.fed(["put", "--tool", "t", "--id", "document", "--input", "json"], log.as_bytes());
    assert!(text.status == Some(0) && text.err.contains("stored as text"), "{}", text.err);
    assert_eq!(home.line("list").json()["outputs"][0]["summary"], json!({"type": "text"}));
}

#[test]
fn put_stores_the_origin() {
    let home = Home::new("origin");
    let stored = home.fed(
        [
            "put",
            "-",
            "--tool",
            "web.fetch",
            "--id",
            "origin-1",
            "--conversation",
            "conv-1",
            "--message",
            "msg-1",
            "--failed",
            "--param",
            "{\"url\": \"https://example.org\", \"api_key\": \"sk-CANARY-param\"}",
            "--json",
        ],
        b"[1, 2]",
    );
    let stored = stored.json();
    assert_eq!(stored["id"], "origin-1");
    assert_eq!((&stored["conversation_id"], &stored["message_id"]), (&json!("conv-1"), &json!("msg-1")));
    assert_eq!(stored["parameters"], json!({"url": "https://example.org", "api_key": "[redacted]"}));
    assert_eq!(
        (&stored["success"], &stored["kind"], &stored["size_bytes"]),
        (&json!(false), &json!("json"), &json!(6))
    );
    // A stored output can be stored again.
    let copy = home.line("put output:origin-1 --tool copy --id origin-2 --json").json();
    assert_eq!((&copy["digest"], &copy["tool_name"]), (&stored["digest"], &json!("copy")));
}

/// gzip and zstd are decompressed when they are stored, within the ratio.
#[test]
fn compressed_inputs_are_decompressed() {
    let home = Home::new("packed");
    for (name, bytes) in [("a.json.gz", gzip(&shop())), ("a.json.zst", zstd(&shop()))] {
        let file = home.folder().file(name, bytes);
        let stored = home.run(["put", &file, "--tool", "t", "--json"]).json();
        assert_eq!(
            (&stored["size_bytes"], &stored["kind"]),
            (&json!(shop().len()), &json!("json")),
            "{name}"
        );
    }
    let torn = gzip(&shop());
    let torn = home.folder().file("torn.gz", &torn[..torn.len() / 2]);
    let said = home.run(["put", &torn, "--tool", "t"]).failed(1);
    assert!(said.contains("error[io]") && said.contains("cannot read"), "{said}");
    let bomb = home.folder().file("bomb.gz", gzip(&vec![b'0'; (64 << 20) + 1000]));
    let said = home.run(["put", &bomb, "--tool", "t", "--limit-ratio", "10"]).failed(1);
    assert!(said.contains("--limit-ratio"), "{said}");
    assert_eq!(home.line("list").json()["total"], 2);
    assert_eq!(home.left(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn list_filters_sorts_and_pages() {
    let home = Home::new("list");
    for number in 0..250_u32 {
        let tool = if number % 2 == 0 { "even" } else { "odd" };
        let id = format!("number-{number:03}");
        let mut args = vec!["put", "--tool", tool, "--id", &id];
        if number % 10 == 0 {
            args.push("--failed");
        }
        home.fed(args, format!("[{}]", "1,".repeat(number as usize) + "1").as_bytes()).ok();
    }
    let list = |line: &str| home.line(line).json();
    let ids = |listed: &Value| {
        let rows = listed["outputs"].as_array().unwrap().iter();
        rows.map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // Lists all outputs, over several pages of the tool.
    let all = list("list --sort-by size --sort-order asc --no-preview");
    let expected: Vec<String> = (0..250).map(|number| format!("number-{number:03}")).collect();
    assert_eq!((ids(&all), &all["total"], &all["has_more"]), (expected.clone(), &json!(250), &json!(false)));
    assert!(all.get("truncated").is_none() && all["outputs"][0].get("preview").is_none());

    let some = list("list --sort-by size --sort-order asc --limit 120 --offset 5 --preview-length 4");
    assert_eq!((ids(&some).as_slice(), &some["has_more"]), (&expected[5..125], &json!(true)));
    assert_eq!(some["truncated"], json!({"reason": "limit", "returned": 120, "next": 125}));
    assert_eq!(some["outputs"][0]["preview"], "[1,1");
    let rest = list("list --sort-by size --sort-order asc --offset 125");
    assert_eq!(ids(&rest), &expected[125..]);

    assert_eq!(list("list --tool odd --limit 3")["total"], 125);
    assert_eq!(list("list --success false --limit 3")["total"], 25);
    assert_eq!(
        list("list --tool odd --success false"),
        json!({"outputs": [], "total": 0, "has_more": false})
    );
    assert_eq!(list("list --conversation none")["total"], 0);
    assert_eq!(list("list --after 2001-01-01 --limit 1")["total"], 250);
    assert_eq!(list("list --before 1000000000 --limit 1")["total"], 0);
    assert_eq!(list("list --after -5 --before 2001-01-01T00:00:00Z")["total"], 0);
    let said = home.line("list --after 2002-01-01 --before 2001-01-01").failed(2);
    assert!(said.contains("after"), "{said}");
}

/// Invalid IDs end with status 2 and suggestions.
#[test]
fn invalid_ids_are_usage_errors() {
    let home = Home::new("ids");
    home.put("conv-export-1", "[1]");
    home.put("conv-export-2", "[2]");
    for (line, code, said) in [
        ("extract output:conv-exprot-1 $", "not_found", "did you mean conv-export-1"),
        ("stats output:conv-export", "ambiguous", "conv-export-2"),
        ("read output:conv-export", "ambiguous", "conv-export-1"),
        ("count output:../../etc/passwd $", "invalid_id", "is not a valid ID"),
        ("rm conv", "not_found", "at least 6 characters"),
        ("pin nothing-like-it", "not_found", "trommel list"),
        ("put users.json --tool t --id conv-export-1", "exists", "use another ID"),
        ("put users.json --tool t --id 'a b'", "invalid_id", "is not a valid ID"),
    ] {
        let text = home.line(line).failed(2);
        assert!(text.contains(&format!("error[{code}]")) && text.contains(said), "{line}: {text}");
    }
    // Accepts the whole ID or a unique prefix.
    assert_eq!(home.line("extract output:conv-export-1 $").ok(), "[1]\n");
    home.line("rm conv-export-2").ok();
    assert_eq!(home.line("extract output:conv-e $").ok(), "[1]\n");
}

#[test]
fn outputs_are_pinned_deleted_and_collected() {
    let home = Home::new("upkeep");
    for number in 1..=5 {
        home.put(&format!("output-{number}"), format!("[{number}]"));
    }
    assert_eq!(home.line("pin output-1 output:output-2").json(), json!({"pinned": ["output-1", "output-2"]}));
    let said = home.line("rm output-1").failed(2);
    assert!(said.contains("error[pinned]") && said.contains("pin --undo"), "{said}");
    assert_eq!(home.line("pin --undo output-2").json(), json!({"unpinned": ["output-2"]}));
    // If one ID does not exist, none is deleted.
    home.line("rm output-3 output-9").failed(2);
    assert_eq!(home.line("list").json()["total"], 5);
    assert_eq!(
        home.line("rm output-3 output:output-3 output-4").json(),
        json!({"deleted": ["output-3", "output-4"]})
    );

    let would = home.line("gc --dry-run --max-count 0").json();
    assert_eq!((&would["dry_run"], &would["evicted"][0]["id"]), (&json!(true), &json!("output-2")));
    assert_eq!(home.line("list").json()["total"], 3);
    let swept = home.line("gc --max-count 0").json();
    assert_eq!((&swept["evicted"], &swept["left_count"]), (&would["evicted"], &json!(1)));
    assert_eq!((&swept["spared_pinned"], &swept["freed_bytes"]), (&json!(1), &json!(6)));
    assert_eq!(home.line("list --limit 5").json()["outputs"][0]["id"], "output-1");
    assert_eq!(home.line("gc --max-size 1MB --max-age 30").json()["evicted"], json!([]));
}

/// Changes to the files are detected, reported, and repaired where possible.
#[test]
fn damage_is_found() {
    let home = Home::new("damage");
    for id in ["whole-1", "torn-1", "lost-1"] {
        home.put(id, shop());
    }
    let verified = home.line("verify").json();
    assert_eq!(verified, json!({"outputs": 3, "bytes": 3 * shop().len(), "damaged": 0, "damages": []}));
    let payload = |id: &str| {
        let name = format!("{id}.json");
        home.files().into_iter().find(|path| path.ends_with(&name)).unwrap()
    };
    let mut bytes = fs::read(payload("torn-1")).unwrap();
    bytes[5000] ^= 1;
    fs::write(payload("torn-1"), bytes).unwrap();
    fs::remove_file(payload("lost-1")).unwrap();
    let found = home.line("verify");
    assert_eq!((found.status, found.err.as_str()), (Some(1), ""));
    let found: Value = serde_json::from_str(&found.out).unwrap();
    assert_eq!(found["damaged"].as_u64(), found["damages"].as_array().map(|all| all.len() as u64));
    let damaged: Vec<_> = found["damages"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert!(damaged.contains(&&json!("torn-1")) && damaged.contains(&&json!("lost-1")), "{found}");
    let said = home.line("extract output:lost-1 $").failed(1);
    assert!(said.contains("error[corrupt]") && said.contains("trommel verify"), "{said}");

    // A lost output can be deleted, and the index can be rebuilt.
    home.line("rm lost-1").ok();
    let before = home.line("list --sort-by size").ok();
    for file in home.files() {
        if file.to_string_lossy().contains("index.sqlite") {
            fs::remove_file(file).unwrap();
        }
    }
    assert_eq!(home.line("rebuild").json()["outputs"], 2);
    assert_eq!(home.line("list --sort-by size").ok(), before);
}

/// Leftovers of killed writers are notes, not failures.
#[test]
fn verify_notes_leftovers() {
    let home = Home::new("leftovers");
    home.put("whole-1", "[1]");
    fs::write(home.path().join("outputs/pending/left-1.payload"), "[2").unwrap();
    let verified = home.line("verify").json();
    assert_eq!((&verified["damaged"], &verified["strays"]), (&json!(0), &json!(1)));
    assert_eq!((&verified["damages"], &verified["leftovers"][0]["id"]), (&json!([]), &json!("left-1")));
}

/// A hangup ignored by `nohup` stays ignored.
#[test]
fn hangups_are_ignored_under_nohup() {
    let home = Home::new("nohup");
    let script =
        "trap '' HUP; (sleep 0.5; kill -HUP $$; sleep 0.5; echo '[1]') | exec $0 put --tool t --id output-1";
    let output = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_trommel")])
        .env("TROMMEL_HOME", home.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "output-1\n", "{output:?}");
}

/// R24: all created files are private, under any umask.
#[test]
fn r24_files_are_private() {
    for umask in ["000", "077", "027", "777"] {
        let home = Home::new(&format!("umask-{umask}"));
        let script = "umask $0; echo '{\"a\": [1]}' | $1 put --tool t --id output-1 && $1 call tool_outputs.list \
            && $1 pin output-1 && $1 stats output:output-1 && $1 gc && $1 rebuild && $1 verify && $1 history";
        let output = std::process::Command::new("sh")
            .args(["-c", script, umask, env!("CARGO_BIN_EXE_trommel")])
            .env("TROMMEL_HOME", home.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let files = home.files();
        assert!(files.len() >= 5, "{files:?}");
        for file in files {
            assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o600, "{umask}: {}", file.display());
            for folder in file.ancestors().skip(1).take_while(|folder| folder.starts_with(home.path())) {
                assert_eq!(
                    folder.metadata().unwrap().mode() & 0o7777,
                    0o700,
                    "{umask}: {}",
                    folder.display()
                );
            }
        }
    }
}

/// A folder that others may write to is refused.
#[test]
fn shared_folders_are_refused() {
    let home = Home::new("foreign");
    home.put("output-1", "1");
    fs::set_permissions(home.path().join("outputs"), fs::Permissions::from_mode(0o777)).unwrap();
    for line in ["list", "extract output:output-1 $", "put users.json --tool t", "tools"] {
        let said = home.line(line).failed(1);
        assert!(said.contains("error[foreign]") && said.contains("TROMMEL_HOME"), "{line}: {said}");
    }
}

/// R48: an interrupted put leaves nothing, with or without input in the pipe.
#[test]
fn r48_interrupted_puts_leave_nothing() {
    for (signal, status) in [(Signal::HUP, 129), (Signal::INT, 130), (Signal::TERM, 143)] {
        if signal == Signal::HUP && ignores_hangups() {
            eprintln!("skipped: the tests run under nohup, so that hangups end nothing");
            continue;
        }
        for stuck in [true, false] {
            let home = Home::new(&format!("signal-{status}-{stuck}"));
            let mut child = home
                .trommel(["put", "--tool", "t"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut stdin = child.stdin.take().unwrap();
            let writing = thread::spawn(move || {
                let piece = b"[1, 2, 3],\n".repeat(100_000);
                for _ in 0..4 {
                    stdin.write_all(&piece).ok()?;
                }
                if stuck {
                    // No more input arrives, and the pipe stays open.
                    thread::sleep(Duration::from_secs(5));
                } else {
                    while stdin.write_all(&piece).is_ok() {}
                }
                Some(())
            });
            let started = Instant::now();
            while home.left().iter().all(|file| file.metadata().is_ok_and(|found| found.len() == 0)) {
                assert!(started.elapsed() < Duration::from_secs(10), "nothing is being written");
                thread::sleep(Duration::from_millis(5));
            }
            kill_process(Pid::from_child(&child), signal).unwrap();
            assert_eq!(wait(&mut child), Some(status), "stuck: {stuck}");
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
            assert_eq!(said, "");
            assert_eq!(home.left(), Vec::<std::path::PathBuf>::new());
            assert_eq!(home.line("list").json()["total"], 0);
            drop(writing);
        }
    }
}

/// R48: a closed pipe ends put silently, but too late: the output stays stored.
#[test]
fn r48_closed_pipes_end_put_silently() {
    let home = Home::new("pipe");
    for line in [
        "put users.json --tool t",
        "list",
        "read users.json",
        "tools",
        "call tool_outputs.list",
        "history",
        "gc",
    ] {
        // The pipe is closed from the start, so that the program cannot write before that.
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut child =
            home.trommel(common::words(line)).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        assert_eq!(wait(&mut child), Some(141), "{line}");
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "", "{line}");
    }
    assert_eq!(home.left(), Vec::<std::path::PathBuf>::new());
}

/// A full disk is an error and leaves nothing.
#[test]
fn full_disks_and_unreadable_inputs_are_reported() {
    let home = Home::new("unreadable");
    for (file, said) in [("missing.json", "cannot open missing.json"), (".", "cannot open .")] {
        let text = home.run(["put", file, "--tool", "t"]).failed(1);
        assert!(text.contains("error[open]") && text.contains(said), "{text}");
    }
    for line in ["put users.json --tool t", "list", "read users.json", "rebuild", "tools --schema mcp"] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = home.trommel(common::words(line)).stdout(full).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(said.contains("cannot write the output: No space left"), "{line}: {said}");
    }
}

/// True if this process ignores SIGHUP, which its children inherit.
fn ignores_hangups() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 == 1
}

/// Maintenance answers in tables on a terminal.
#[test]
fn maintenance_prints_tables_on_a_terminal() {
    let home = Home::new("upkeep-tables");
    for id in ["output-1", "output-2", "output-3"] {
        home.put(id, "[1]");
    }
    home.line("pin output-3").ok();
    // A payload without metadata, beside those of the outputs.
    let folders = fs::read_dir(home.path().join("outputs/payload")).unwrap();
    let leftover = folders.map(|entry| entry.unwrap().path()).max().unwrap().join("left-1.json");
    fs::write(&leftover, "[1").unwrap();
    let two_hours_ago = fs::metadata(&leftover).unwrap().modified().unwrap() - Duration::from_hours(2);
    fs::File::options().write(true).open(&leftover).unwrap().set_modified(two_hours_ago).unwrap();
    for (line, parts) in [
        ("verify", &["note: left-1: ", "outputs", "leftovers    1"][..]),
        ("gc --dry-run --max-count 0", &["Outputs to evict", "number", "Leftovers to remove", "to free"]),
        (
            "gc --max-count 0",
            &["Evicted outputs", "Removed leftovers", "left-1.json", "freed", "kept because"],
        ),
        ("rebuild", &["outputs", "damaged", "leftovers"]),
        ("list", &["output-3", "web.fetch"]),
    ] {
        let shown = crate::terminal::shown_plainly(home.trommel(common::words(line)));
        for part in parts {
            assert!(shown.contains(part), "{line}: no `{part}` in {shown}");
        }
    }
}
