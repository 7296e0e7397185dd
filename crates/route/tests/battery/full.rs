//! Full disks.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use trommel_route::{Buffers, Destinations, Error, ErrorClass, Files, Origin, Result, Scope, WriteMode};

use crate::support::{destinations, put, route, variable};

const DISK: &str = "TROMMEL_ROUTE_FULL_DISK";

/// Size of the disk in bytes.
const SIZE: u64 = 8 << 20;

/// Every kind of write: target, write mode, and resulting name.
const WRITES: [(&str, WriteMode); 6] = [
    ("file:deep/there", WriteMode::Append),
    ("file:deep/there", WriteMode::Replace),
    ("file:deep/there", WriteMode::New),
    ("variable:there", WriteMode::Append),
    ("variable:there", WriteMode::Replace),
    ("variable:there", WriteMode::New),
];

/// Destinations on the disk, with the spool elsewhere, so that only the last step finds the disk
/// full.
fn on_disk(disk: &Path, spool: &Path) -> Destinations {
    let buffers = Buffers::new().session(disk.join("sessions"), "test").unwrap().spool_to(spool);
    Destinations::new(Arc::new(buffers)).files(Arc::new(Files::open(disk.join("root")).unwrap()))
}

/// Every file below a folder with its length, except locks, which are never removed.
fn files(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let length = path.metadata().unwrap().len();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension() != Some("lock".as_ref()) {
            found.push((path, length));
        }
    }
    found.sort();
    found
}

/// Incompressible bytes.
fn noise(bytes: u64) -> impl Read {
    std::io::repeat(b'x').take(bytes)
}

/// Routes a long content. Returns the error of the step that failed.
fn long(destinations: &Destinations, to: &str, mode: WriteMode, bytes: u64) -> Result<()> {
    let mut write =
        destinations.open(&route(to).write_mode(mode).scope(Scope::Session), Origin::of("test"))?;
    let copied = std::io::copy(&mut noise(bytes), &mut write);
    copied.map_err(|error| error.downcast::<Error>().unwrap())?;
    write.finish().map(drop)
}

fn check(error: &Error, bytes: u64, context: &str) {
    assert_eq!(error.class(), ErrorClass::Full, "{context}: {error:?}");
    let needed = error.bytes_needed().unwrap();
    assert!(needed > SIZE / 2 && needed <= bytes, "{context}: {error}");
    let message = error.to_string();
    assert!(
        message.contains("free some space") && message.contains("bytes were needed"),
        "{context}: {message}"
    );
    assert!(message.contains("there") || message.contains("spool"), "{context}: {message}");
}

/// Fills a disk of 8 MiB in every way and recovers.
#[test]
fn childs_work() {
    let Some(disk) = std::env::var_os(DISK) else { return };
    let disk = Path::new(&disk);
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::create_dir(disk.join("root")).unwrap();
    let spool = disk.join("spool");
    std::fs::create_dir(&spool).unwrap();
    let kept = destinations(disk);
    for to in ["file:deep/there", "variable:there"] {
        put(&kept, &route(to).scope(Scope::Session), "old").unwrap();
    }
    for (spool, bytes) in [(elsewhere.path(), SIZE + 1), (spool.as_path(), 2 * SIZE)] {
        let (destinations, before) = (on_disk(disk, spool), files(disk));
        for (to, mode) in WRITES {
            let context = format!("{to} {mode}, spooled to {}", spool.display());
            let error = long(&destinations, to, mode, bytes).unwrap_err();
            check(&error, bytes, &context);
            assert_eq!(files(disk), before, "{context}: the space was not freed");
            assert_eq!(
                variable(&destinations, "there", Some(Scope::Session)).as_deref(),
                Some("old"),
                "{context}"
            );
        }
        // A content that fits still succeeds, although its spooled copy and the old content take
        // space, too.
        for _ in 0..3 {
            long(&destinations, "file:deep/there", WriteMode::Replace, SIZE / 8).unwrap();
            long(&destinations, "variable:there", WriteMode::Replace, SIZE / 8).unwrap();
        }
        for to in ["file:deep/there", "variable:there"] {
            put(&destinations, &route(to).write_mode(WriteMode::Replace).scope(Scope::Session), "old")
                .unwrap();
        }
    }
    println!("the disk was filled in {} ways", 2 * WRITES.len());
}

/// R17: on a full disk the old state remains, space is freed, and the error has the number of bytes
/// needed.
#[test]
fn r17_full_disk_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        format!("mount -t tmpfs -o size={SIZE},mode=700 tmpfs \"$DISK\" || exit 77; exec \"$0\" \"$@\"");
    let mut shell = Command::new("unshare");
    shell.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]);
    shell.arg(std::env::current_exe().unwrap()).args(["full::childs_work", "--exact", "--nocapture"]);
    let output = shell.env("DISK", folder.path()).env(DISK, folder.path()).output();
    let could_not = output.as_ref().map_or(true, |output| {
        let errors = String::from_utf8_lossy(&output.stderr);
        matches!(output.status.code(), Some(1 | 77 | 127)) && errors.contains("unshare")
            || output.status.code() == Some(77)
    });
    if could_not {
        println!(
            "not run: no file system of 8 MiB can be mounted spool; see the tests of operations that find the disk full"
        );
        return;
    }
    let output = output.unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("the disk was filled in 12 ways"), "{stdout}");
    println!("{}", stdout.lines().find(|line| line.contains("the disk was filled")).unwrap());
}
