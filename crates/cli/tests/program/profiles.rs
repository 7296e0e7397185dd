//! `trommel stats` on terminals of different widths, and its options for fields and values.

use std::fmt::Write;

use crate::common::{Folder, data, line, read, run, snapshot, trommel};
use crate::terminal::{dangers, shown_within};
use anstyle::{Color, RgbColor};
use anstyle_svg::Term;
use serde_json::{Value, json};
use trommel_testkit::golden::assert_golden;

/// A log with long paths, numbers of many digits, optional members, and a map.
fn log() -> String {
    let mut text = String::new();
    for n in 0..240_u64 {
        let agent = ["aws-cli/2.15.0 Python/3.11 Linux", "aws-cli/2.15.0 Python/3.12", "curl \\\"é\\\""]
            [n as usize % 3];
        let error = if n % 7 == 0 { r#","errorCode":"AccessDenied""# } else { "" };
        let users = (n..n + 3).map(|id| format!(r#""{}":{{"calls":{}}}"#, 10_000 + id, id % 5));
        let users = users.collect::<Vec<_>>().join(",");
        let _ = writeln!(
            text,
            r#"{{"eventID":"{:08x}-0000-4000-8000-000000000000","requestParameters":{{"bucketName":"b{}","additionalEventData":{{"bytesTransferredOut":{}}}}},"ratio":{}.069783334,"at":{},"userAgent":"{agent}"{error},"tags":[{}],"users":{{{users}}}}}"#,
            n * 2_654_435_761 % (1 << 32),
            n % 4,
            n * n * 12_345,
            4_977_472 + n * 1000,
            1_700_000_000_000_u64 + n * 86_400_000,
            ["", "null", "1,\"x\""][n as usize % 3],
        );
    }
    text
}

fn shown(columns: u16, folder: &Folder, args: &[&str]) -> String {
    let mut command = trommel(args.iter().copied());
    command.current_dir(folder.path("")).envs([("NO_COLOR", "1"), ("TERM", "dumb")]);
    shown_within(columns, command)
}

/// Fields come first. Wide terminals show more columns; narrow ones omit columns or move numbers to
/// a table of their own.
#[test]
fn tables_fit_the_terminal() {
    let folder = Folder::new("profiles");
    folder.file("trail.jsonl", log());
    folder.file("trail.json", format!("{{\"log\":[{}]}}", log().trim_end().replace('\n', ",")));
    let mut transcript = String::new();
    for (columns, args) in [
        (80, &["stats", "trail.jsonl"][..]),
        (80, &["stats", "trail.jsonl", "--values"]),
        (80, &["du", "trail.json", "--top", "8"]),
        (200, &["stats", "trail.jsonl", "--values"]),
        (80, &["stats", "trail.jsonl", "$.userAgent", "$.tags", "--top", "2"]),
        (80, &["stats", "trail.jsonl", "--where", "@.errorCode", "--only", "structure"]),
        (120, &["stats", "trail.jsonl", "$.requestParameters", "--values"]),
        (80, &["stats", "trail.json", "--each", "$.log[*]", "--where", "@.errorCode", "$.tags"]),
    ] {
        let text = shown(columns, &folder, args);
        for row in text.lines() {
            assert!(row.chars().count() <= usize::from(columns), "{columns}: {row}");
        }
        let _ = write!(transcript, "$ trommel {}    # {columns} columns\n{text}\n", args.join(" "));
    }
    snapshot("profiles.txt", &transcript);
}

/// No number is broken or cut, whatever the width.
#[test]
fn numbers_are_never_broken() {
    let folder = Folder::new("widths");
    folder.file("trail.jsonl", log());
    for columns in (60..200).step_by(7) {
        let text = shown(columns, &folder, &["stats", "trail.jsonl", "--values"]);
        for figure in ["705,158,745", "5,216,472", "1.7e12"] {
            assert!(text.contains(figure), "{columns} {figure}: {text}");
        }
        assert!(text.lines().all(|row| row.chars().count() <= usize::from(columns)), "{columns}: {text}");
    }
}

/// Names of maps, with dots and control characters, are folded; other paths are shown safely.
#[test]
fn maps_take_one_row() {
    let folder = Folder::new("maps");
    let member = |id: u32| format!(r#""10.{id}\u001b[2J":{{"name.first":"x","\u0007":{id}}}"#);
    let members: Vec<String> = (0..300).map(member).collect();
    folder.file("users.json", format!(r#"{{"api":{{{}}}}}"#, members.join(",")));
    let text = shown(80, &folder, &["stats", "users.json", "--values"]);
    assert!(text.lines().count() < 40 && text.contains(" $.api.*['name.first'] "), "{text}");
    assert_eq!(dangers(&text), [], "{text:?}");
    let file = folder.path("users.json").display().to_string();
    let paths = |run: Value, rows: &str| -> Vec<String> {
        run[rows].as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap().into()).collect()
    };
    let stats = run(["stats", &file, "--fields"]).json();
    let expected = ["$", "$.api", "$.api.*", "$.api.*['name.first']", r"$.api.*['\u0007']"];
    assert_eq!(paths(stats.clone(), "fields"), expected);
    assert_eq!(paths(stats, "objects"), expected[..3]);
    let schema = run(["schema", &file]).json();
    let user = &schema["properties"]["api"]["additionalProperties"];
    assert_eq!(user["required"], json!(["name.first", "\u{7}"]));
}

/// The pictures in the documents show what the commands print. With `UPDATE_SNAPSHOTS` set, they
/// are drawn again.
#[test]
fn the_pictures_of_the_documents() {
    let root = data().join("../..").canonicalize().unwrap();
    let documents = ["README.md", "docs/COOKBOOK.md"].map(|name| {
        let text = String::from_utf8(read(root.join(name))).unwrap();
        if name.starts_with("docs/") { text.replace("](", "](docs/") } else { text }
    });
    let shows = |picture: &str| documents.iter().any(|document| document.contains(picture));
    let stats = colored(&["stats", "testdata/tour/shop.json", "--values"]);
    assert!(stats.contains("\u{1b}[1mFields\u{1b}[0m"), "{stats}");
    let fields = stats.split_inclusive("\n\n").nth(1).unwrap().trim_end();
    let picture = drawn("stats testdata/tour/shop.json --values", fields);
    assert_golden(root.join("docs/stats.svg"), &picture);
    let sizes = colored(&["du", "testdata/tour/shop.json"]);
    let picture = drawn("du testdata/tour/shop.json", sizes.trim_end());
    assert_golden(root.join("docs/du.svg"), &picture);
    // Drawn by `cargo xtask browser --update`.
    assert!(read(root.join("docs/report.png")).starts_with(b"\x89PNG"));
    for picture in ["(docs/stats.svg)", "(docs/du.svg)", "(docs/report.png)"] {
        assert!(shows(picture), "{picture}");
    }
}

/// The output of a command on a colored terminal, run in the root of the workspace.
fn colored(args: &[&str]) -> String {
    let root = data().join("../..").canonicalize().unwrap();
    let mut command = trommel(args);
    command.current_dir(root).envs([("CLICOLOR_FORCE", "1"), ("TERM", "xterm-256color")]);
    shown_within(100, command)
}

/// A picture of a command and its output.
fn drawn(command: &str, output: &str) -> String {
    let text = format!("\u{1b}[2m$\u{1b}[0m trommel {command}\n{output}");
    let color = |gray| Color::Rgb(RgbColor(gray, gray, gray));
    let term = Term::new().min_width_px(0).fg_color(color(0xE8)).bg_color(color(0x18));
    term.render_svg(&text)
}

#[test]
fn fields_are_json_only_on_request() {
    assert_eq!(line("stats users.json").json().get("fields"), None);
    assert_eq!(line("stats users.json --values").json().get("fields"), None);
    let fields = &line("stats users.json --fields").json()["fields"];
    assert_eq!(fields[0], json!({"path": "$", "types": {"object": 1}, "count": 1, "missing": 0}));
    let tag =
        json!({"path": "$.users[*].tags[*]", "types": {"object": 1, "string": 3}, "count": 4, "missing": 0});
    assert!(fields.as_array().unwrap().contains(&tag), "{fields}");
    let by_path = line("stats users.json $.meta $.users --fields").json();
    assert_eq!(by_path["fields"][0]["path"], "$.meta");
    assert_eq!(by_path["by_path"][1]["fields"][0]["path"], "$.users");
    let shallow = line("stats users.json --fields --max-depth 2").json();
    assert_eq!(shallow["fields"].as_array().map(Vec::len), Some(3));
}

#[test]
fn top_values() {
    let values = |args: &str| line(args).json()["values"].clone();
    let count = |values: &Value| values[0]["frequent"]["values"].as_array().map(Vec::len);
    let (all, two) = (values("stats log.jsonl --values"), values("stats log.jsonl --top 2"));
    assert_eq!((count(&all), count(&two)), (Some(4), Some(2)));
    assert!(line("stats log.jsonl --top 0").failed(2).contains("at least 1"));
    assert!(line("stats log.jsonl --top 3 --only types").failed(2).contains("--only"));
}
