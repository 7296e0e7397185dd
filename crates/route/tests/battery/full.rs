//! Disks that are full.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use trommel_route::{Buffers, Destinations, Error, ErrorClass, Files, Origin, Result, Scope, WriteMode};

use crate::support::{places, put, route, variable};

const DISK: &str = "TROMMEL_ROUTE_FULL_DISK";

/// Bytes of the disk.
const SIZE: u64 = 8 << 20;

/// Every way to write: where, how, and what it is called then.
const WAYS: [(&str, WriteMode); 6] = [
    ("file:deep/there", WriteMode::Append),
    ("file:deep/there", WriteMode::Replace),
    ("file:deep/there", WriteMode::New),
    ("variable:there", WriteMode::Append),
    ("variable:there", WriteMode::Replace),
    ("variable:there", WriteMode::New),
];

/// Places on the disk, whose spool is elsewhere, so that only the last step finds no room.
fn on_disk(disk: &Path, spool: &Path) -> Destinations {
    let buffers = Buffers::new().session(disk.join("sessions"), "test").unwrap().spool_to(spool);
    Destinations::new(Arc::new(buffers)).files(Arc::new(Files::open(disk.join("root")).unwrap()))
}

/// Every file below a folder, with its length; locks aside, which stay.
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

/// What nobody can hold in less, so many bytes of it.
fn noise(bytes: u64) -> impl Read {
    std::io::repeat(b'x').take(bytes)
}

/// Routes something long; the error of whichever step it is.
fn long(places: &Destinations, to: &str, mode: WriteMode, bytes: u64) -> Result<()> {
    let mut parcel = places.open(&route(to).write_mode(mode).scope(Scope::Session), Origin::of("test"))?;
    let copied = std::io::copy(&mut noise(bytes), &mut parcel);
    copied.map_err(|error| error.downcast::<Error>().unwrap())?;
    parcel.finish().map(drop)
}

fn check(error: &Error, bytes: u64, context: &str) {
    assert_eq!(error.class(), ErrorClass::Full, "{context}: {error:?}");
    let needed = error.bytes_needed().unwrap();
    assert!(needed > SIZE / 2 && needed <= bytes, "{context}: {error}");
    let told = error.to_string();
    assert!(told.contains("free some space") && told.contains("bytes were needed"), "{context}: {told}");
    assert!(told.contains("there") || told.contains("spool"), "{context}: {told}");
}

/// Fills a disk of 8 MiB in all ways, and gets along.
#[test]
fn childs_work() {
    let Some(disk) = std::env::var_os(DISK) else { return };
    let disk = Path::new(&disk);
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::create_dir(disk.join("root")).unwrap();
    let here = disk.join("spool");
    std::fs::create_dir(&here).unwrap();
    let kept = places(disk);
    for to in ["file:deep/there", "variable:there"] {
        put(&kept, &route(to).scope(Scope::Session), "old").unwrap();
    }
    for (spool, bytes) in [(elsewhere.path(), SIZE + 1), (here.as_path(), 2 * SIZE)] {
        let (places, before) = (on_disk(disk, spool), files(disk));
        for (to, mode) in WAYS {
            let context = format!("{to} {mode}, spooled to {}", spool.display());
            let error = long(&places, to, mode, bytes).unwrap_err();
            check(&error, bytes, &context);
            assert_eq!(files(disk), before, "{context}: space is free again");
            assert_eq!(variable(&places, "there", Some(Scope::Session)).as_deref(), Some("old"), "{context}");
        }
        // What fits is still taken, with a copy on its way and the old one beside it.
        for _ in 0..3 {
            long(&places, "file:deep/there", WriteMode::Replace, SIZE / 8).unwrap();
            long(&places, "variable:there", WriteMode::Replace, SIZE / 8).unwrap();
        }
        for to in ["file:deep/there", "variable:there"] {
            put(&places, &route(to).write_mode(WriteMode::Replace).scope(Scope::Session), "old").unwrap();
        }
    }
    println!("the disk was filled in {} ways", 2 * WAYS.len());
}

/// R17: on a disk that is full the old state is there, space is freed, and the error says what was
/// needed.
#[test]
fn r17_a_full_disk_takes_nothing_away() {
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
            "not run: no file system of 8 MiB can be mounted here; see the tests of operations that find the disk full"
        );
        return;
    }
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("the disk was filled in 12 ways"), "{said}");
    println!("{}", said.lines().find(|line| line.contains("the disk was filled")).unwrap());
}
