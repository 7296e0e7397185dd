//! Memory use while large payloads are stored and read.

use std::io::Read;
use std::process::Stdio;

use trommel::Analysis;
use trommel_store::{Kind, Origin, Store};
use trommel_testkit::repeat::Repeat;

use crate::support::{cases, child, childs_root, options};

const RECORD: &str = r#"{"id": 1234567, "user": {"login": "someone", "name": "Some \u00FCne"}, "tags": ["a", "b"], "ok": true}"#;

/// Size of a payload: a GiB in a full run.
fn length() -> u64 {
    cases(20 << 20, 1 << 30)
}

/// The peak memory of the process in KiB, including that of C libraries.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Payloads that are analyzed in different ways.
fn payloads() -> Vec<(&'static str, Box<dyn Read>, Kind)> {
    let count = length() / RECORD.len() as u64;
    vec![
        ("a document", Box::new(Repeat::records(RECORD, count)), Kind::Json),
        ("lines", Box::new(Repeat::lines(RECORD, count)), Kind::JsonLines),
        ("a string", Box::new(Repeat::string("a long text, ", length() / 13)), Kind::Json),
        ("text", Box::new(Repeat::lines("a line of a log", length() / 16)), Kind::Text),
    ]
}

#[test]
fn childs_work() {
    let Some(root) = childs_root() else { return };
    println!();
    for pack_over in [None, Some(8 << 20)] {
        let store = Store::open(&root, options(|options| options.pack_over = pack_over)).unwrap();
        for (name, payload, kind) in payloads() {
            let stored = store.put_from(Origin::of("tool"), payload).unwrap();
            assert_eq!((stored.kind, stored.packed), (kind, pack_over.is_some()));
            assert!(stored.size_bytes >= length() - (1 << 10));
            println!("peak {} put {name}, packed {}", peak(), stored.packed);
            if kind == Kind::JsonLines {
                let mut document = store.document(&stored).unwrap();
                let report =
                    Analysis::new().count("$.user.login".parse().unwrap()).run(&mut document).unwrap();
                assert_eq!(report.answers[0].count(), stored.records);
                println!("peak {} count in {name}, packed {}", peak(), stored.packed);
            }
            store.delete(&stored.id).unwrap();
        }
    }
}

/// R7: payloads are never completely in memory. Storing a GiB, plain or compressed, and querying it
/// takes less than 64 MiB.
#[test]
fn r7_payloads_stream_through() {
    if !std::path::Path::new("/proc/self/status").exists() {
        println!("not run: this system does not say what a process takes");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut child = child("memory::childs_work", &folder.path().join("store"));
    let output = child.stderr(Stdio::piped()).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    let peaks = stdout.lines().filter_map(|line| line.strip_prefix("peak ")).collect::<Vec<_>>();
    assert_eq!(peaks.len(), 10, "{stdout}");
    for peak in peaks {
        println!("{} MiB each, KiB: {peak}", length() >> 20);
        let kib = peak.split(' ').next().unwrap().parse::<u64>().unwrap();
        assert!(kib < 64 << 10, "{peak}");
    }
}
