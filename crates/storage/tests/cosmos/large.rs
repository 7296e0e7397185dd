//! Pushes a session larger than the memory limit, pulls it into another folder, and compares all
//! bytes.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trommel_blocks::{Folders, Owner, Retry, SyncedOptions, SyncedSessions};
use trommel_session::{Sessions, Watch};

use crate::node::Node;

/// The size of the events in bytes, without and with `TROMMEL_DEEP`.
const BYTES: [u64; 2] = [8 << 20, 1 << 30];

/// The maximum peak memory of push and pull, in bytes.
const PEAK: u64 = 128 << 20;

/// Writes events as agents do: small ones, and requests that repeat the whole conversation.
fn write(folder: &Path, bytes: u64) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("metadata.json"), "{\n  \"name\": \"large\"\n}").unwrap();
    let mut out = BufWriter::new(File::create(folder.join("events.jsonl")).unwrap());
    let mut transcript = BufWriter::new(File::create(folder.join("transcript.jsonl")).unwrap());
    let (mut written, mut turn, mut line) = (0, 0_u64, String::new());
    while written < bytes {
        turn += 1;
        line.clear();
        let ts = format!("2026-03-01T{:02}:{:02}:{:02}.000Z", turn / 3600 % 24, turn / 60 % 60, turn % 60);
        // Writing to a string cannot fail.
        let _ = write!(
            line,
            "{{\"ts\":\"{ts}\",\"lvl\":\"INFO\",\"event\":\"llm:request\",\"data\":{{\"model\":\"m\",\"messages\":["
        );
        for message in 0..turn * 9_700 % 40_000 {
            let _ = write!(
                line,
                "{{\"role\":\"user\",\"content\":\"message {message} of {turn}: \\u00e9 \u{1f600} \\\"quoted\\\"\"}},"
            );
        }
        line.push_str("null]}}\n");
        let _ = writeln!(
            line,
            "{{\"ts\":\"{ts}\",\"event\":\"tool:pre\",\"data\":{{\"tool_name\":\"grep\",\"n\":{turn}}}}}"
        );
        out.write_all(line.as_bytes()).unwrap();
        writeln!(transcript, "{{\"role\":\"user\",\"content\":\"question {turn}\"}}").unwrap();
        written += line.len() as u64;
    }
}

/// True if both files have the same bytes.
fn have_equal_bytes(one: &Path, other: &Path) -> bool {
    let (mut one, mut other) = (File::open(one).unwrap(), File::open(other).unwrap());
    let (mut a, mut b) = (vec![0; 1 << 20], vec![0; 1 << 20]);
    loop {
        let count = one.read(&mut a).unwrap();
        if count == 0 {
            return other.read(&mut b).unwrap() == 0;
        }
        if other.read_exact(&mut b[..count]).is_err() || a[..count] != b[..count] {
            return false;
        }
    }
}

/// Returns the peak memory of this process, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
#[cfg(target_os = "linux")]
fn syncs_a_large_session_in_bounded_memory() {
    let Some(node) = Node::start() else { return };
    let home = tempfile::tempdir().unwrap();
    let bytes = BYTES[usize::from(std::env::var_os("TROMMEL_DEEP").is_some())];
    let folder = |name: &str| home.path().join(name).join("projects/-app/sessions/5d1c");
    write(&folder("one"), bytes);
    let storage = Arc::new(node.prepared(|options| {
        // Uses the default retries: with this much data, the emulator sometimes pauses for garbage
        // collection.
        (options.container, options.retry) = ("large".to_owned(), Retry::default());
        // The service returns at most 4 MB per page; the emulator returns as many documents as
        // requested.
        (options.page, options.attempt_timeout) = (12, Duration::from_mins(2));
    }));
    for name in ["one", "two"] {
        let folders = Folders::new(home.path().join(name), home.path().join("state").join(name));
        let sessions = Sessions::new().amplifier(&folders.local);
        let mut options = SyncedOptions::new(sessions, folders, Owner::new("ada", name), storage.clone());
        options.rest = Duration::ZERO;
        let (hybrid, since) = (SyncedSessions::new(options).unwrap(), Instant::now());
        assert!(hybrid.sync(Some("5d1c"), None, &Watch::new()).unwrap().is_synced());
        let (seconds, mib) = (since.elapsed().as_secs_f64(), bytes >> 20);
        eprintln!("{name}: {mib} MiB in {seconds:.1} s, {} MiB at the peak", peak() >> 20);
    }
    for file in ["metadata.json", "transcript.jsonl", "events.jsonl"] {
        assert!(have_equal_bytes(&folder("one").join(file), &folder("two").join(file)), "{file}");
    }
    assert!(peak() < PEAK, "{}", peak());
}
