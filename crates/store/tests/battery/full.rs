//! Full disks.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use trommel::Analysis;
use trommel_store::{ErrorClass, GcOptions, Limits, Origin, Store, StoreOptions};

use crate::support::{all, bytes_of, child, childs_root, files, named, options, put_as};

/// Size of all files below a folder.
fn used(root: &Path) -> u64 {
    files(root).iter().map(|path| std::fs::metadata(root.join(path)).unwrap().len()).sum()
}

/// Fills a disk of 8 MiB in every way and recovers.
#[test]
fn childs_work() {
    let Some(root) = childs_root() else { return };
    let store = Store::open(&root, StoreOptions::default()).unwrap();
    let first = put_as(&store, named("first"), "[1]");
    for pack_over in [None, Some(100_000)] {
        let store = Store::open(&root, options(|options| options.pack_over = pack_over)).unwrap();
        // An output that is too large for the disk and cannot be compressed.
        let before = used(&root.join("payload")) + used(&root.join("pending"));
        let noise = blake3::Hasher::new().update(b"noise").finalize_xof();
        let error = store.put_from(Origin::of("tool"), noise).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Full, "{error:?}");
        assert!(error.bytes_needed().unwrap() > 4 << 20 && error.path().is_some(), "{error:?}");
        assert!(error.to_string().contains("bytes were needed"), "{error}");
        assert_eq!(
            used(&root.join("payload")) + used(&root.join("pending")),
            before,
            "the space was not freed"
        );
    }
    // Many small outputs until one does not fit. All others must exist.
    let mut stored = vec![first];
    let error = loop {
        let mut put = match store.put(Origin::of("tool")) {
            Ok(put) => put,
            Err(error) => break error,
        };
        // One of ten has a guide.
        let records = if stored.len() % 10 == 3 { "{\"a\":[1,2,3]},".repeat(6_000) } else { String::new() };
        let payload = format!("[{records}{}]", stored.len()) + &" ".repeat(20_000);
        match put.write_all(payload.as_bytes()).map(|()| put.finish()) {
            Ok(Ok(output)) => stored.push(output),
            Ok(Err(error)) => break error,
            Err(error) => break error.downcast().unwrap(),
        }
    };
    assert_eq!(error.class(), ErrorClass::Full, "{error:?}");
    assert!(stored.len() > 50);
    let history = loop {
        if let Err(error) = store.executions().append(&format!("\"{}\"", "x".repeat(10_000))) {
            break error;
        }
    };
    assert_eq!(history.class(), ErrorClass::Full, "{history:?}");
    assert!(files(&root.join("pending")).is_empty());
    let again = Store::open(&root, StoreOptions::default()).unwrap();
    let listed = again.list(&all()).unwrap();
    assert_eq!(listed.total, stored.len() as u64);
    assert!(stored.iter().filter(|output| output.guide.is_some()).count() > 3);
    assert!(stored.iter().all(|output| bytes_of(&again, output).len() as u64 == output.size_bytes));
    // Space can be freed on a full disk and then used.
    let mut sweep = GcOptions::default();
    let mut limits = Limits::default();
    limits.count = Some(10);
    sweep.limits = Some(limits);
    let swept = again.gc(&sweep).unwrap();
    assert_eq!(swept.evicted.len() as u64, listed.total - 10);
    put_as(&again, Origin::of("tool"), " ".repeat(500_000));
    assert!(again.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
    println!("the disk was filled after {} outputs", stored.len());
}

/// Runs a test of this binary with a store on a file system of its own. Returns its output, or
/// `None` if nothing can be mounted.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn on_a_disk(mebibytes: u32, test: &str, envs: &[(&str, &str)]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let command = child(test, &disk.join("store"));
    let script = "mount -t tmpfs -o size=\"$SIZE\",mode=700 tmpfs \"$DISK\" || exit 77; exec \"$0\" \"$@\"";
    let mut shell = Command::new("unshare");
    shell.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.env("DISK", &disk).env("SIZE", format!("{mebibytes}m")).envs(envs.iter().copied());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output();
    let ran = output.as_ref().is_ok_and(|output| output.status.code() == Some(0));
    let could_not = output.as_ref().map_or(true, |output| {
        matches!(output.status.code(), Some(1 | 77 | 127)) && {
            let errors = String::from_utf8_lossy(&output.stderr);
            errors.contains("unshare") || errors.contains("mount")
        }
    });
    if could_not && !ran {
        println!(
            "not run: no file system of {mebibytes} MiB can be mounted here; see the tests of operations that find the disk full"
        );
        return None;
    }
    let output = output.unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(ran, "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    Some(stdout)
}

/// R17: on a full disk the old state remains, space is freed, and the error has the number of bytes
/// needed.
#[test]
fn r17_full_disk_loses_nothing() {
    let Some(stdout) = on_a_disk(8, "full::childs_work", &[]) else { return };
    assert!(stdout.contains("the disk was filled after"), "{stdout}");
    println!("{}", stdout.lines().find(|line| line.contains("the disk was filled")).unwrap());
}

/// Passes the bytes of each output and the first command to a child.
const LENGTH: &str = "TROMMEL_LENGTH_OF_A_CHILD";
const FIRST: &str = "TROMMEL_FIRST_OF_A_CHILD";

/// R17: several processes fill a disk to the last byte with small outputs. Then everything but a
/// put works, whichever command is first.
#[test]
fn r17_full_disk_can_be_freed() {
    for (mebibytes, length) in [(2, "300"), (8, "3000"), (8, "40000")] {
        for first in ["list", "delete", "gc", "verify", "read"] {
            let envs = [(LENGTH, length), (FIRST, first)];
            let Some(stdout) = on_a_disk(mebibytes, "full::childs_small_outputs", &envs) else { return };
            assert!(stdout.contains("the disk is free again"), "{stdout}");
        }
    }
}

#[test]
fn childs_small_outputs() {
    let Some(root) = childs_root() else { return };
    let length = std::env::var_os(LENGTH).unwrap().into_string().unwrap().parse::<usize>().unwrap();
    let open = || Store::open(&root, StoreOptions::default()).unwrap();
    let payload = format!("[{}1]", " ".repeat(length - 3));
    let mut ids = Vec::new();
    loop {
        let id = format!("output-{:05}", ids.len());
        match open().put_from(named(&id), payload.as_bytes()) {
            Ok(_) => ids.push(id),
            Err(error) => {
                assert_eq!(error.class(), ErrorClass::Full, "{error}");
                break;
            }
        }
    }
    // Not one byte is free.
    let mut ballast = std::fs::File::create(root.parent().unwrap().join("ballast")).unwrap();
    while ballast.write(&[1; 4096]).is_ok_and(|count| count > 0) {}
    let first = std::env::var_os(FIRST).unwrap().into_string().unwrap();
    for command in
        [first.as_str(), "list", "read", "verify", "delete", "list", "delete", "gc", "list", "verify"]
    {
        match command {
            "list" => assert_eq!(open().list(&all()).unwrap().total, ids.len() as u64),
            "read" => {
                let store = open();
                let mut document = store.document(&store.get(&ids[ids.len() - 1]).unwrap()).unwrap();
                Analysis::new().count("$[*]".parse().unwrap()).run(&mut document).unwrap();
            }
            "verify" => assert!(open().verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole()),
            "delete" => drop(open().delete(&ids.pop().unwrap()).unwrap()),
            _ => {
                let mut limits = Limits::default();
                let going = ids.len() as u64 / 4;
                limits.count = Some(ids.len() as u64 - going);
                let mut options = GcOptions::default();
                options.limits = Some(limits);
                assert_eq!(open().gc(&options).unwrap().evicted.len() as u64, going);
                let left = open().list(&all()).unwrap().rows;
                ids.retain(|id| left.iter().any(|row| row.id == *id));
            }
        }
    }
    // The freed space can be used.
    ids.push("another".into());
    put_as(&open(), named("another"), payload.as_bytes());
    assert_eq!(open().list(&all()).unwrap().total, ids.len() as u64);
    assert!(files(&root.join("pending")).is_empty());
    println!("the disk is free again");
}

/// R17: a file size limit is handled like a full disk.
#[test]
fn r17_file_size_limit_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let command = child("full::childs_file_is_too_long", &folder.path().join("store"));
    let mut shell = Command::new("sh");
    // In blocks of 512 bytes: 2 MiB. The signal SIGXFSZ is ignored, as servers do.
    shell.args(["-c", "ulimit -f 4096; trap '' XFSZ; exec \"$0\" \"$@\""]);
    shell.arg(command.get_program()).args(command.get_args());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn childs_file_is_too_long() {
    let Some(root) = childs_root() else { return };
    let store = Store::open(&root, StoreOptions::default()).unwrap();
    put_as(&store, named("first"), "[1]");
    let noise = blake3::Hasher::new().update(b"noise").finalize_xof();
    let error = store.put_from(Origin::of("tool"), noise).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Full, "{error:?}");
    assert!(error.to_string().contains("raise the file size limit"), "{error}");
    assert_eq!(files(&root.join("pending")).len() + files(&root.join("payload")).len(), 2);
    put_as(&store, named("second"), "[2]");
    assert_eq!(store.list(&all()).unwrap().total, 2);
}
