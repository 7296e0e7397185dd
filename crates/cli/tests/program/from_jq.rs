//! The table of `docs/FROM-JQ.md`: each command runs and prints something, and where both programs
//! print the same lines, they are compared.

use std::path::Path;
use std::process::Command;

use crate::common::{Folder, Run};

const DATA: &str = r#"{"name":"a \"quoted\" name","meta":{"id":7,"ok":true},"items":[
    {"id":1,"n":1,"s":"x1","note":"gift"},{"id":2,"n":2,"s":"y"},{"id":3,"n":3,"s":"ax2"}]}"#;

const LOG: &str = r#"{"level":"info","ms":5,"user":{"id":1}}
{"level":"error","ms":700,"user":{"id":2}}
{"level":"error","ms":90}
{"level":"info","ms":120,"user":{"id":1}}
"#;

/// The rows of the table: the program of jq and the command of trommel.
fn rows() -> Vec<(String, String)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/FROM-JQ.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `jq"));
    let cell = |text: &str| text.trim().trim_matches('`').replace("\\|", "|");
    let split = |line: &str| {
        // A cell ends at a bar that is not escaped.
        let cells: Vec<&str> = line.split(" | ").collect();
        (cell(cells[0].trim_start_matches("| ")), cell(cells[1]))
    };
    rows.map(split).collect()
}

fn shell(folder: &Folder, line: &str) -> Run {
    let binary = Path::new(env!("CARGO_BIN_EXE_trommel")).parent().unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("PATH=$0:$PATH; {line}")]).arg(binary).current_dir(folder.path(""));
    Run::of(command.output().unwrap())
}

/// Programs whose output is compared line by line. The others print other forms of the answer.
fn prints_the_same(jq: &str) -> bool {
    const OTHER: [&str; 12] = [
        "length", "keys", "@csv", "uniq", "add", "shuf", "paths", "entries", "stream", "jq . ", "empty",
        "note?",
    ];
    !OTHER.iter().any(|part| jq.contains(part))
}

#[test]
fn every_row_of_the_table_works() {
    let folder = Folder::new("from-jq");
    folder.file("data.json", DATA);
    folder.file("log.jsonl", LOG);
    let rows = rows();
    assert!(rows.len() >= 30, "{} rows", rows.len());
    let has_jq = Command::new("jq").arg("--version").output().is_ok();
    if !has_jq {
        eprintln!("NOT COMPARED: jq is not installed");
    }
    let mut compared = 0;
    for (jq, trommel) in &rows {
        let ours = shell(&folder, trommel);
        assert_eq!(ours.status, Some(0), "{trommel}: {}", ours.err);
        assert!(!ours.err.contains("error"), "{trommel}: {}", ours.err);
        assert_eq!(ours.out.is_empty(), trommel.contains(" check "), "{trommel}: {}", ours.out);
        if has_jq && prints_the_same(jq) {
            let theirs = shell(&folder, jq);
            assert_eq!(theirs.status, Some(0), "{jq}: {}", theirs.err);
            assert_eq!(ours.out, theirs.out, "{jq} and {trommel}");
            compared += 1;
        }
    }
    assert!(!has_jq || compared >= 15, "{compared} rows were compared");
}
