//! Tables: `extract -o parquet` and `-o arrow` (feature `table`). What the files hold is tested in
//! the crate of tables.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Folder, line, piped, run, trommel, words};
use crate::terminal::shown_with_status;

/// True for a whole Parquet file.
fn is_parquet(bytes: &[u8]) -> bool {
    bytes.len() > 12 && bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1")
}

/// The bytes on standard output, and the text on standard error.
fn table(arguments: &str) -> (Vec<u8>, String) {
    let output = trommel(words(arguments)).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (output.stdout, String::from_utf8(output.stderr).unwrap())
}

/// The exit status and the text on standard error. Standard output is not text.
fn fed(arguments: &[&str], input: &[u8]) -> (Option<i32>, String) {
    let mut command = trommel(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn rows_are_written_as_files_of_both_formats() {
    let (parquet, notes) = table("extract log.jsonl $.id $.level -o parquet");
    assert!(is_parquet(&parquet) && notes.is_empty(), "{notes}");
    let (all, _) = table("extract users.json --each $.users[*] -o parquet");
    assert!(is_parquet(&all));
    let (arrow, _) = table("extract log.jsonl -o arrow");
    // Each message begins with this mark, and the last one is empty.
    assert!(arrow.starts_with(b"\xff\xff\xff\xff") && arrow.ends_with(b"\xff\xff\xff\xff\0\0\0\0"));
    let (none, _) = table("extract log.jsonl -o arrow $.id -n 0");
    assert!(none.len() < arrow.len() && none.ends_with(b"\xff\xff\xff\xff\0\0\0\0"));
}

#[test]
fn requests_that_tables_cannot_answer_are_refused() {
    let refused = |arguments: &str, why: &str| {
        let error = line(arguments).failed(2);
        assert!(error.contains(why), "{arguments}: {error}");
    };
    refused("extract log.jsonl users.json -o parquet", "a table takes one file; concatenate lines with cat");
    refused("extract log.jsonl -o parquet -H", "-H does not apply to tables");
    refused("extract log.jsonl -o arrow --default 1", "--default does not apply to tables");
    refused("extract log.jsonl -o arrow -r", "-o arrow writes a table, so -r does not apply");
    refused("extract log.jsonl $.id $.a.id -o parquet", "two columns are named id");
    refused("extract log.jsonl -o parquet --on-bad-row skip", "--schema <FILE>");
    refused("extract log.jsonl -o parquet --schema users.json", "does not describe objects with properties");
    let (shown, status) = shown_with_status(80, trommel(words("extract log.jsonl -o parquet")));
    assert!(shown.contains("a table is not text") && status.code() == Some(2), "{shown}");
}

#[test]
fn changes_are_noted() {
    let noted = |options: &[&str], input: &str, note: &str| {
        let (status, notes) = fed(&[&["extract", "-o", "arrow"], options].concat(), input.as_bytes());
        assert!(status == Some(0) && notes.contains(note), "{notes}");
    };
    noted(&[], "{\"a\":1,\"A\":2}\n", "names must differ regardless of case: \"A\" is A_2");
    noted(&["--numbers", "float"], "{\"a\":0.10000000000000000001}\n", "1 numbers were rounded to doubles");
    let damaged = "{\"a\":1}\n{\"a\":}\n";
    noted(&["--input", "jsonl", "--on-bad-record", "skip"], damaged, "1 malformed records were skipped");
}

#[test]
fn rows_that_do_not_fit_a_schema_are_errors_or_noted() {
    let folder = Folder::new("tables");
    let schema = folder.file("schema.json", r#"{"properties":{"id":{"type":"integer"}}}"#);
    let request = |policy: &[&str]| {
        let fixed = ["extract", "-o", "arrow", "--schema", &schema];
        fed(&[&fixed, policy].concat(), b"{\"id\":1}\n{\"id\":\"x\"}\n")
    };
    let (status, error) = request(&[]);
    let why = "row 1, $.id, at byte 15: the schema wants an integer of 64 bits, not \"x\"";
    assert!(status == Some(1) && error.contains(why), "{error}");
    for policy in ["null", "skip"] {
        let (status, notes) = request(&["--on-bad-row", policy]);
        assert_eq!(status, Some(0));
        assert!(notes.contains("1 values did not fit the schema; the first: row 1"), "{notes}");
    }
    let missing = run(["extract", "log.jsonl", "$.ms", "-o", "arrow", "--schema", &schema]).failed(2);
    assert!(missing.contains("the schema has no property ms"), "{missing}");
}

#[test]
fn malformed_values_are_errors_of_the_input() {
    let error = piped(["extract", "$.a", "-o", "parquet"], b"{\"a\":{\"b\":01}}\n").failed(1);
    assert!(error.contains("byte 11"), "{error}");
    let nothing = piped(["extract", "$.a", "-o", "parquet", "-e"], b"");
    assert_eq!(nothing.status, Some(1));
}

/// Every command of the page on tables writes a file.
#[test]
fn the_commands_of_the_page_write_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let folder = Folder::new("tables-page");
    std::os::unix::fs::symlink(root.join("testdata"), folder.path("testdata")).unwrap();
    let page = fs::read_to_string(root.join("docs/TABLES.md")).unwrap();
    let commands: Vec<_> =
        page.lines().filter(|line| line.starts_with("trommel ") && line.contains(" > ")).collect();
    assert_eq!(commands.len(), 4);
    let programs = Path::new(env!("CARGO_BIN_EXE_trommel")).parent().unwrap();
    for command in commands {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("PATH=$0:$PATH; {command}"), &programs.display().to_string()]);
        let output = shell.current_dir(folder.path(".")).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        let (_, name) = command.rsplit_once(" > ").unwrap();
        let written = fs::read(folder.path(name)).unwrap();
        assert!(is_parquet(&written) || name.ends_with(".arrows") && written.len() > 100, "{command}");
    }
}
