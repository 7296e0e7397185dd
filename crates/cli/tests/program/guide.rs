//! `trommel guide`, and the answers of other commands with guides.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Folder, Run, trommel};

/// A folder with a home of its own.
struct Home(Folder);

impl Home {
    fn new(name: &str) -> Self {
        Self(Folder::new(name))
    }

    fn run(&self, args: &[&str]) -> Run {
        Run::of(trommel(args).env("TROMMEL_HOME", Path::new(&self.0.path("home"))).output().unwrap())
    }

    fn home(&self) -> std::path::PathBuf {
        Path::new(&self.0.path("home")).to_owned()
    }
}

fn document(records: usize) -> String {
    let record = |id: usize| {
        format!(r#"{{"id":{id},"name":"name {id}","tags":["a",{id}],"ok":{}}}"#, id.is_multiple_of(3))
    };
    let records: Vec<String> = (0..records).map(record).collect();
    format!(r#"{{"head":{{"n":1}},"data":{{"records":[{}]}},"end":{{"ok":true}}}}"#, records.join(","))
}

const QUESTIONS: [&[&str]; 15] = [
    &["count", "$.data.records[*]"],
    &["count", "$.data.records[*].name", "$.end.ok"],
    &["count", "$.data.records[?@.ok]"],
    &["count"],
    &["extract", "$.data.records[-2].id"],
    &["extract", "$.data.records[4000:4005].name"],
    &["extract", "-o", "located", "$.data.records[-3:].tags[*]"],
    &["extract", "$..n"],
    &["extract", "--strict", "$.end"],
    &["extract", "--strict", "--order", "document", "$..ok", "--limit", "3"],
    &["stats"],
    &["stats", "--schema", "--fields"],
    &["schema"],
    &["sample", "$.data.records", "-n", "1", "--seed", "7", "--output", "located"],
    &["group", "--each", "$.data.records[*]", "$.ok"],
];

/// Every command prints the same bytes with a guide and without one.
#[test]
fn answers_do_not_depend_on_guides() {
    let home = Home::new("guide-answers");
    let file = home.0.file("big.json", document(20_000));
    let ask = |args: &[&str], more: &str| {
        let mut all = vec![args[0], file.as_str()];
        all.extend(&args[1..]);
        all.extend((!more.is_empty()).then_some(more));
        home.run(&all)
    };
    let before: Vec<Run> = QUESTIONS.iter().map(|args| ask(args, "")).collect();
    let built = home.run(&["guide", "build", &file]).json();
    assert_eq!(
        (&built[0]["file"], &built[0]["records"], &built[0]["shape"]),
        (&json!(file), &json!(1), &json!(true))
    );
    let size = fs::metadata(&file).unwrap().len();
    assert_eq!(built[0]["input_bytes"], json!(size));
    assert!(built[0]["guide_bytes"].as_u64().unwrap() <= size / 200 + 4096);
    for (args, before) in QUESTIONS.iter().zip(&before) {
        assert_eq!(before.status, Some(0), "{args:?}: {before:?}");
        assert_eq!(&ask(args, ""), before, "{args:?}");
        assert_eq!(&ask(args, "--no-guide"), before, "{args:?}");
        assert_eq!(&ask(args, "--no-mmap"), before, "{args:?}");
    }
}

fn short(records: usize) -> String {
    let record = |id: usize| format!("{{\"id\":{id},\"text\":\"{}\"}}\n", "x".repeat(id % 40));
    (0..records).map(record).collect::<Vec<_>>().concat()
}

/// Records of a stream, and errors of requests for one, do not depend on guides.
#[test]
fn records_do_not_depend_on_guides() {
    let home = Home::new("guide-records");
    let lines = home.0.file("lines.jsonl", short(20_000));
    let auto = home.0.file("auto.json", short(20_000));
    let single = home.0.file("single.json", document(3_000));
    let deep = home.0.file("deep.jsonl", format!("[[[1]]]\n{}", short(5_000)));
    let mut asks: Vec<Vec<&str>> = Vec::new();
    for limit in ["2", "3"] {
        asks.push(vec!["read", &deep, "--record", "4999", "--limit-depth", limit]);
        asks.push(vec!["read", &deep, "--max-chars", "2000", "--limit-depth", limit]);
    }
    for file in [&lines, &auto, &single] {
        for path in ["$", "$.id", "$[0]", "$[19999].text", "$[20000]", "$[7].none", "$[-1]", "$[12345]['id']"]
        {
            asks.push(vec!["read", file, path]);
        }
        for record in ["0", "17", "19999", "20000"] {
            asks.push(vec!["read", file, "--record", record]);
            asks.push(vec!["read", file, "$.text", "--record", record]);
        }
    }
    let answers = || asks.iter().map(|args| home.run(args)).collect::<Vec<_>>();
    let plain = answers();
    let failed = |run: &Run| run.status != Some(0);
    assert!(failed(&plain[0]) && failed(&plain[1]) && !failed(&plain[2]) && !failed(&plain[3]));
    for file in [&deep, &lines, &auto, &single] {
        home.run(&["guide", "build", file]).json();
    }
    for ((args, plain), guided) in asks.iter().zip(plain).zip(answers()) {
        assert_eq!(guided, plain, "{args:?}");
    }
}

/// Every page of a long value is the same with a guide, which passes the children on other pages.
#[test]
fn pages_do_not_depend_on_guides() {
    let home = Home::new("guide-pages");
    let members: Vec<String> = (0..20_000).map(|id| format!("\"k{id}\":[{id},{{}}]")).collect();
    let object = format!("{{\"a\":{{{}}},\"b\":\"{}\"}}", members.join(","), "x".repeat(300_000));
    let lines = [document(9_000), object.clone(), document(10)].map(|line| line + "\n").concat();
    let inputs = [
        (home.0.file("array.json", document(20_000)), vec!["$.data.records"]),
        (home.0.file("object.json", &object), vec!["$.a"]),
        (home.0.file("string.json", &object), vec!["$.b"]),
        (home.0.file("lines.jsonl", &lines), vec!["$.a", "--record", "1"]),
        (home.0.file("nth.jsonl", &lines), vec!["$[0].data.records"]),
        (home.0.file("auto.json", &lines), vec!["$[1].a"]),
        (home.0.file("short.jsonl", short(20_000)), vec![]),
        (home.0.file("short.json", short(20_000)), vec![]),
    ];
    for (file, args) in inputs {
        let pages = |more: &[&str]| {
            let (mut all, mut cursor): (Vec<Value>, Option<String>) = (Vec::new(), None);
            loop {
                let mut run = vec!["read", file.as_str(), "--max-chars", "90000"];
                run.extend(args.iter().chain(more));
                run.extend(cursor.iter().flat_map(|next| ["--cursor", next.as_str()]));
                let page = home.run(&run).json();
                cursor = page["truncated"]["next"].as_str().map(str::to_owned);
                all.push(page);
                if cursor.is_none() {
                    return all;
                }
            }
        };
        let plain = pages(&["--no-guide"]);
        assert!(plain.len() > 3, "{args:?}: {}", plain.len());
        home.run(&["guide", "build", &file]).json();
        assert_eq!(pages(&[]), plain, "{args:?}");
        assert_eq!(pages(&["--no-mmap"]), plain, "{args:?}");
    }
}

/// The folder and the guides are private, `info` and `verify` show them, and `rm` removes them.
#[test]
fn guides_are_built_shown_verified_and_removed() {
    let home = Home::new("guide-life");
    let file = home.0.file("a.json", document(2_000));
    assert!(home.run(&["guide", "info", &file]).failed(1).contains("the input has no guide"));
    let built = home.run(&["guide", "build", &file, "--json"]).json();
    let path = built[0]["guide"].as_str().unwrap();
    assert!(path.starts_with(home.home().join("guides").to_str().unwrap()), "{path}");
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&home.home().join("guides")), mode(Path::new(path))), (0o700, 0o600));
    assert_eq!(home.run(&["guide", "info", &file]).json(), built[0]);
    assert_eq!(home.run(&["guide", "verify", &file]).ok(), "");
    let beside = home.run(&["guide", "build", &file, "--beside"]).json();
    assert_eq!(beside[0]["guide"], json!(format!("{file}.guide")));
    let removed = home.run(&["guide", "rm", &file]).ok();
    assert_eq!(removed, format!("removed {file}.guide\nremoved {path}\n"));
    assert!(home.run(&["guide", "rm", &file]).failed(1).contains("the input has no guide"));
}

/// A guide that does not fit is not used, and `info` says why.
#[test]
fn unfit_guides_are_not_used() {
    let home = Home::new("guide-unfit");
    let file = home.0.file("a.json", document(3_000));
    let count = || home.run(&["count", &file, "$.data.records[*]"]).json()["total"].clone();
    let built = home.run(&["guide", "build", &file]).json();
    assert_eq!(count(), json!(3_000));
    fs::write(&file, document(2_999)).unwrap();
    assert_eq!(count(), json!(2_999));
    let info = home.run(&["guide", "info", &file]).failed(1);
    assert!(info.contains("the file has changed") && info.contains("trommel guide build"), "{info}");
    home.run(&["guide", "build", &file]).json();
    let path = Path::new(built[0]["guide"].as_str().unwrap());
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
    assert_eq!(count(), json!(2_999));
    assert!(home.run(&["guide", "verify", &file]).failed(1).contains("the guide is damaged"));
    fs::write(path, b"").unwrap();
    assert_eq!(count(), json!(2_999));
}

/// The variable prevents the use of guides; a framing that is not that of the guide, too.
#[test]
fn guides_can_be_refused() {
    let home = Home::new("guide-refused");
    let file = home.0.file("a.json", "{\"a\":[1,2,3]}\n{\"a\":[4]}\n");
    home.run(&["guide", "build", &file]).json();
    // The guide says 4 elements; without it, the same is counted in two records.
    let count = |args: &[&str]| home.run(args).json()["total"].clone();
    assert_eq!(count(&["count", &file, "$.a[*]"]), json!(4));
    assert_eq!(count(&["count", &file, "$.a[*]", "--input", "jsonl"]), json!(4));
    let mut off = trommel(["count", &file, "$.a[*]"]);
    off.env("TROMMEL_HOME", home.home()).env("TROMMEL_GUIDE", "off");
    assert_eq!(Run::of(off.output().unwrap()).json()["total"], json!(4));
}

/// `stats` and `schema` of a large file leave their answers.
#[test]
fn large_files_leave_answers() {
    let home = Home::new("guide-left");
    let spaces = " ".repeat(64 << 20);
    let text = format!("{{\"a\":[1,2,{spaces}{{\"b\":null}}]}}");
    let file = home.0.file("large.json", &text);
    let packed =
        home.0.file("large.json.gz", crate::common::gzip(&[text.as_bytes(), b"\n".as_slice()].concat()));
    let left = |name: &str| fs::read_dir(home.home().join(name)).map_or(0, Iterator::count);
    let plain = |args: &[&str]| home.run(&[args, &["--no-guide"]].concat()).ok();
    let (stats, schema) = (plain(&["stats", &file]), plain(&["schema", &file]));
    home.run(&["check", &file]).ok();
    home.run(&["stats", &file, "$.a"]).ok();
    home.run(&["stats", &file, "--limit-depth", "9"]).ok();
    assert_eq!(left("guides"), 0);
    assert_eq!(home.run(&["stats", &file]).ok(), stats);
    let info = home.run(&["guide", "info", &file]).json();
    assert_eq!((&info["points"], &info["shape"]), (&json!(1), &json!(true)));
    assert_eq!(home.run(&["schema", &file]).ok(), schema);
    let bytes = |path: &str| fs::read(path).unwrap();
    let kept = bytes(info["guide"].as_str().unwrap());
    assert_eq!(home.run(&["stats", &file]).ok(), stats);
    assert_eq!(home.run(&["schema", &file]).ok(), schema);
    assert_eq!(bytes(info["guide"].as_str().unwrap()), kept);
    home.run(&["guide", "verify", &file]).ok();
    let parts = home.run(&["guide", "parts", &file, "-n", "2"]).failed(2);
    assert!(parts.contains("trommel guide build"), "{parts}");
    fs::write(&file, text.replace("null", "true")).unwrap();
    assert_ne!(home.run(&["schema", &file]).ok(), schema);
    // A compressed file has no points, but answers.
    let unpacked = plain(&["stats", &packed]);
    assert_eq!(left("guides"), 1);
    assert_eq!(home.run(&["stats", &packed]).ok(), unpacked);
    assert_eq!(left("guides"), 2);
    assert_eq!(home.run(&["stats", &packed]).ok(), unpacked);
    home.run(&["stats", &packed, "--values", "--top", "3"]).ok();
    home.run(&["guide", "verify", &packed]).ok();
    assert_eq!(home.run(&["extract", &packed, "$.a[2]"]).ok(), "{\"b\":null}\n");
    // Without a place for guides, the answer comes all the same, with a note.
    fs::remove_dir_all(home.home()).unwrap();
    fs::write(home.home(), "not a folder").unwrap();
    let run = home.run(&["stats", &packed]);
    assert!(run.err.contains("note: the answer is not kept for the next time"), "{}", run.err);
    assert_eq!((run.status, run.out), (Some(0), unpacked));
}

/// Of a log that grows, `stats` reads the appended lines.
#[test]
fn growing_logs_keep_their_answers() {
    let home = Home::new("guide-grown");
    let line = format!("{{\"a\":1}}{}\n", " ".repeat(64 << 20));
    let file = home.0.file("log.jsonl", &line);
    let plain = || home.run(&["stats", &file, "--no-guide"]).ok();
    assert_eq!(home.run(&["stats", &file]).ok(), plain());
    let guide = || home.run(&["guide", "info", &file]);
    assert_eq!(guide().json()["records"], json!(1));
    let append = |text: &str| {
        let mut log = fs::OpenOptions::new().append(true).open(&file).unwrap();
        std::io::Write::write_all(&mut log, text.as_bytes()).unwrap();
    };
    for records in 2..5 {
        append("{\"a\":2,\"b\":[]}\n");
        assert!(guide().failed(1).contains("has changed"));
        assert_eq!(home.run(&["stats", &file]).ok(), plain());
        assert_eq!(guide().json()["records"], json!(records));
    }
    // A fault in the appended lines is reported as by a run over all of them.
    append("{\n");
    let broken = home.run(&["stats", &file]).failed(1);
    assert_eq!(broken, home.run(&["stats", &file, "--no-guide"]).failed(1));
    assert!(broken.contains("log.jsonl:5:"), "{broken}");
}

/// Once a log has grown, its guide still describes the lines before.
#[test]
fn growing_logs_keep_their_points() {
    let home = Home::new("guide-grown-points");
    let line = |id: usize| {
        let rest: Vec<_> = (0..20_000).map(|number| format!(r#"{{"n":{number}}}"#)).collect();
        let name = if id == 7 { "rare" } else { "usual" };
        format!(r#"{{"id":{id},"rest":[{}],"{name}":{{"x":1}}}}"#, rest.join(",")) + "\n"
    };
    let file = home.0.file("log.jsonl", (0..10).map(line).collect::<String>());
    home.run(&["guide", "build", &file]).ok();
    let questions: [&[&str]; 4] = [
        &["extract", &file, "$..rare.x", "--output", "located"],
        &["count", &file, "$.rest[*]", "$..x"],
        &["extract", &file, "$.rest[-1].n"],
        &["stats", &file],
    ];
    for appended in ["{\"id\":10,\"rare\":{\"x\":2}}\n", "{\"rest\":[{\"rare\":1}", "]}\n[]\n", "{\n"] {
        let mut log = fs::OpenOptions::new().append(true).open(&file).unwrap();
        std::io::Write::write_all(&mut log, appended.as_bytes()).unwrap();
        for args in questions {
            let (guided, plain) = (home.run(args), home.run(&[args, &["--no-guide"]].concat()));
            assert_eq!((&guided.out, &guided.err, guided.status), (&plain.out, &plain.err, plain.status));
        }
    }
}

/// Lines that the guide of a log passes are not read again, also once the log has grown.
#[test]
fn lines_before_are_passed() {
    let home = Home::new("guide-grown-reads");
    let line = format!("{{\"rest\":[{}1]}}\n", "1,".repeat(200_000));
    let file = home.0.file("log.jsonl", line.repeat(3));
    home.run(&["guide", "build", &file]).ok();
    let mut log = fs::OpenOptions::new().read(true).write(true).open(&file).unwrap();
    // Faults far from both ends, which say whether the log has only grown.
    for at in [line.len() / 2, line.len() * 3 / 2] {
        std::os::unix::fs::FileExt::write_all_at(&log, b"]", at as u64).unwrap();
    }
    std::io::Seek::seek(&mut log, std::io::SeekFrom::End(0)).unwrap();
    std::io::Write::write_all(&mut log, b"{\"rare\":1}\n").unwrap();
    assert_eq!(home.run(&["count", &file, "$..rare"]).json()["total"], json!(1));
    home.run(&["count", &file, "$..rare", "--no-guide"]).failed(1);
}

/// Inputs that cannot have a guide, and places that cannot be written.
#[test]
fn refusals_say_why() {
    let home = Home::new("guide-errors");
    let broken = home.0.file("broken.json", "{\"a\": [1, 2");
    let said = home.run(&["guide", "build", &broken]).failed(1);
    assert!(said.contains("broken.json") && said.contains("the input ends inside a value"), "{said}");
    let missing = home.run(&["guide", "build", "missing.json"]).failed(1);
    assert!(missing.contains("missing.json"), "{missing}");
    let packed = home.0.file("a.json.gz", crate::common::gzip(b"[1,2,3]"));
    assert!(home.run(&["guide", "build", &packed]).failed(1).contains("compressed"));
    let file = home.0.file("a.json", "[1,2,3]");
    fs::create_dir_all(home.home()).unwrap();
    fs::write(home.home().join("guides"), "not a folder").unwrap();
    let refused = home.run(&["guide", "build", &file]).failed(1);
    assert!(refused.contains("guides"), "{refused}");
    // The answer comes all the same.
    assert_eq!(home.run(&["count", &file, "$[*]"]).json()["total"], json!(3));
    let folder = Folder::new("guide-read-only");
    let inside = folder.file("b.json", "[1,2]");
    let parent = Path::new(&inside).parent().unwrap();
    fs::set_permissions(parent, fs::Permissions::from_mode(0o500)).unwrap();
    let refused = home.run(&["guide", "build", "--beside", &inside]);
    fs::set_permissions(parent, fs::Permissions::from_mode(0o700)).unwrap();
    // The administrator may write anywhere.
    assert!(refused.status == Some(0) || refused.failed(1).contains("denied"));
}

/// Lines have guides, too.
#[test]
fn lines_have_guides() {
    let home = Home::new("guide-lines");
    let lines: Vec<_> = (0..5_000).map(|id| format!("{{\"id\":{id},\"v\":[{id},2]}}")).collect();
    let file = home.0.file("log.jsonl", lines.join("\n") + "\n");
    let ask = |args: &[&str]| -> Value { home.run(args).json() };
    let questions: [&[&str]; 3] = [
        &["count", &file, "$.v[*]", "$.id"],
        &["stats", &file],
        &["count", &file, "$", "--where", "@.id > 4990"],
    ];
    let before: Vec<Value> = questions.iter().map(|args| ask(args)).collect();
    assert_eq!(ask(&["guide", "build", &file])[0]["records"], json!(5_000));
    let after: Vec<Value> = questions.iter().map(|args| ask(args)).collect();
    assert_eq!(before, after);
}

/// Each part is a query for `--each`. Their counts add up to that of all elements.
#[test]
fn parts_share_the_elements() {
    let home = Home::new("guide-parts");
    let file = home.0.file("a.json", document(9_000));
    assert!(home.run(&["guide", "parts", &file, "-n", "4"]).failed(1).contains("the input has no guide"));
    home.run(&["guide", "build", &file]).json();
    let divided = home.run(&["guide", "parts", &file, "-n", "4"]).json();
    assert_eq!(divided["each"], "$['data']['records'][*]");
    let parts = divided["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 4);
    let mut counted = 0;
    for part in parts {
        let each = part["each"].as_str().unwrap();
        let count = home.run(&["count", &file, "--each", each, "$.tags[*]"]).json();
        counted += count["total"].as_u64().unwrap();
        let elements = part["elements"].as_u64().unwrap();
        assert!((1_800..2_600).contains(&elements), "{part}");
    }
    assert_eq!(counted, 18_000);
    let named = home.run(&["guide", "parts", &file, "-n", "2", "--each", "$.data.records[7].tags[*]"]).json();
    assert_eq!(named["parts"][1]["each"], "$['data']['records'][7]['tags'][1:2:1]");
    let wrong = home.run(&["guide", "parts", &file, "-n", "2", "--each", "$.data"]).failed(2);
    assert!(wrong.contains("does not end in [*]"), "{wrong}");
}

/// An output has its guide since it was stored.
#[test]
fn guides_of_outputs_are_shown() {
    let home = Home::new("guide-outputs");
    let file = home.0.file("a.json", document(2_000));
    let id = home.run(&["put", &file, "--tool", "x"]).ok();
    let name = format!("output:{}", id.trim());
    let info = home.run(&["guide", "info", &name]).json();
    assert_eq!((&info["guide"], &info["records"]), (&json!("stored with the output"), &json!(1)));
    assert!(info["guide_bytes"].as_u64().unwrap() > 0);
    let small = home.run(&["put", &home.0.file("b.json", "[1]"), "--tool", "x"]).ok();
    let name = format!("output:{}", small.trim());
    assert!(home.run(&["guide", "info", &name]).failed(1).contains("no guide"));
}
