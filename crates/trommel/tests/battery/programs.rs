//! The programs in `examples` work as documented.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::Scratch;

/// The path of a program that was built along with the tests.
fn program(name: &str) -> Option<PathBuf> {
    let tests = std::env::current_exe().unwrap();
    let path =
        tests.parent()?.parent()?.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    if path.exists() {
        return Some(path);
    }
    // `cargo test --test battery` builds the examples only on request.
    let notice = format!("SKIPPED: {} was not built (cargo test -p trommel builds it)\n", path.display());
    std::io::stderr().write_all(notice.as_bytes()).unwrap();
    None
}

fn run(name: &str, arguments: &[&str], input: &str) -> Option<(String, String)> {
    let mut command = Command::new(program(name)?);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Some((text(output.stdout), text(output.stderr)))
}

#[test]
fn tails_a_log() {
    let log = "{\"message\": \"up\"}\n{\"message\": oops}\n{\"level\": 3}\n{\"message\": \"down\"}\n";
    let Some((out, reported)) = run("tail_log", &[], log) else { return };
    assert_eq!(out, "0: \"up\"\n3: \"down\"\n");
    assert!(
        reported.starts_with("line 2 skipped: not a JSON literal") && reported.ends_with("3 lines, 1 bad\n"),
        "{reported}"
    );
}

#[test]
fn answers_an_upload() {
    let Some((out, _)) = run("upload", &[], "") else { return };
    assert!(out.starts_with("3 nodes\n#0: \"Ada\"\n#1: \"Grace\"\n#2: \"Joan\"\n"), "{out}");
}

#[test]
fn merges_a_folder() {
    let file = Scratch::new("a.json", b"{\"user\": 1, \"x\": [{\"user\": 2}]}");
    let folder = file.path().parent().unwrap();
    std::fs::write(folder.join("b.json"), "{\"user\": 3}\n{\"user\": 4}\n").unwrap();
    std::fs::write(folder.join("c.json"), "{\"user\": ").unwrap();
    let Some((out, _)) = run("folder", &[folder.to_str().unwrap(), "$..user"], "") else { return };
    assert!(out.contains("c.json skipped: ") && out.contains("\n4 nodes\n55 bytes, 9 values\n"), "{out}");
}
