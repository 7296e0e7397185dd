//! Each operation, successful and failing.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, symlink};
use std::time::Duration;

use super::*;
use crate::faults::{Fails, exhaust, failing, refusing, watched};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const ENOTSUP: i32 = 95;

/// A reader that fails.
struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::from_raw_os_error(EIO))
    }
}

/// Replaces a file as programs should: write a new one, sync, rename, sync the folder.
fn replace(folder: &Path, bytes: &[u8]) -> Result<()> {
    let (new, path) = (folder.join("new"), folder.join("file"));
    remove(&new)?;
    let mut file = create(&new)?;
    write(&mut file, &new, bytes)?;
    sync(&file, &new)?;
    rename(&new, &path)?;
    sync_folder(folder)
}

#[test]
fn r16_files_are_replaced_atomically() {
    for (fails, errno) in [(Fails::Once, EIO), (Fails::FromThenOn, EIO), (Fails::Once, ENOSPC)] {
        let count = exhaust(fails, errno, |trial| {
            let folder = tempfile::tempdir().unwrap();
            replace(folder.path(), b"old").unwrap();
            let done = trial.run(|| replace(folder.path(), b"new contents"));
            let found = fs::read(folder.path().join("file")).unwrap();
            assert!(found == b"old" || found == b"new contents", "{:?}: {found:?}", trial.failed());
            match (&done, trial.failed()) {
                (Ok(()), failed) => assert!(failed.is_none() && found == b"new contents"),
                (Err(error), failed) => {
                    assert_eq!(Some(error.op()), failed.map(|(op, _)| *op));
                    assert_eq!(error.is_full(), errno == ENOSPC);
                }
            }
            replace(folder.path(), b"again").unwrap();
        });
        assert_eq!(count, 6);
    }
}

#[test]
fn files_are_private_and_new() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    assert_eq!(create(&path).unwrap().metadata().unwrap().mode() & 0o777, 0o600);
    let error = create(&path).unwrap_err();
    assert_eq!((error.op(), error.cause().kind()), (Op::Create, io::ErrorKind::AlreadyExists));
    let deep = folder.path().join("b/c");
    assert!(make_folder(&deep).unwrap() && !make_folder(&deep).unwrap());
    assert_eq!(fs::metadata(&deep).unwrap().mode() & 0o777, 0o700);
    assert_eq!(names(folder.path()).unwrap(), ["a", "b"]);
    assert!(names(&folder.path().join("none")).unwrap().is_empty());
}

#[test]
fn opens_only_regular_files() {
    let folder = tempfile::tempdir().unwrap();
    assert!(open(folder.path()).unwrap_err().is_irregular());
    let pipe = folder.path().join("pipe");
    rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    assert!(open(&pipe).unwrap_err().is_irregular());
    assert!(open(&folder.path().join("none")).unwrap_err().is_missing());
    let opened = Folder::open(folder.path()).unwrap();
    assert!(opened.open_file("pipe").is_err());
}

#[test]
fn writes_follow_no_links() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    symlink("elsewhere", &link).unwrap();
    assert!(create(&link).is_err());
    let opened = Folder::open(folder.path()).unwrap();
    assert!(opened.create("link").is_err() && opened.open_or_create("link").is_err());
    let of_folder = tempfile::tempdir().unwrap().path().join("f");
    fs::create_dir_all(of_folder.parent().unwrap()).unwrap();
    symlink(folder.path(), &of_folder).unwrap();
    assert!(Folder::open(&of_folder).is_err());
    fs::remove_dir_all(of_folder.parent().unwrap()).unwrap();
}

#[test]
fn a_folder_creates_renames_and_removes() {
    let folder = tempfile::tempdir().unwrap();
    let opened = Folder::open(folder.path()).unwrap();
    let (mut file, is_new) = opened.open_or_create("a").unwrap();
    assert!(is_new && !opened.open_or_create("a").unwrap().1);
    write(&mut file, &folder.path().join("a"), b"abc").unwrap();
    truncate(&file, &folder.path().join("a"), 2).unwrap();
    opened.rename("a", &opened, "b").unwrap();
    opened.sync().unwrap();
    let mut text = String::new();
    opened.open_file("b").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "ab");
    assert!(opened.remove("b").unwrap() && !opened.remove("b").unwrap());
}

#[test]
fn lock_waits_end_at_the_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let opened = Folder::open(folder.path()).unwrap();
    let (one, other) = (opened.as_file().unwrap(), opened.as_file().unwrap());
    assert!(lock(&one, folder.path(), Duration::ZERO).unwrap());
    assert!(!lock(&other, folder.path(), Duration::from_millis(20)).unwrap());
    assert!(!try_lock(&other, folder.path()).unwrap());
    assert!(!lock_shared(&other, folder.path(), Duration::ZERO).unwrap());
    let mut rounds = 0..3;
    assert!(!lock_while(&other, folder.path(), Duration::from_hours(1), || rounds.next().is_some()).unwrap());
    assert_eq!(rounds.next(), None, "called until it returned false");
    drop(one);
    assert!(lock(&other, folder.path(), Duration::from_secs(5)).unwrap());
    drop(other);
    let (one, other) = (opened.as_file().unwrap(), opened.as_file().unwrap());
    assert!([&one, &other].iter().all(|file| lock_shared(file, folder.path(), Duration::ZERO).unwrap()));
}

#[test]
fn recognizes_disks_without_links_or_exchange() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    fs::write(&a, "a").unwrap();
    assert!(link(&a, &b).unwrap() && is_same(&a, &b));
    fs::remove_file(&b).unwrap();
    fs::write(&b, "b").unwrap();
    assert!(!is_same(&a, &b));
    assert!(exchange(&a, &b).unwrap());
    assert_eq!(fs::read(&a).unwrap(), b"b");
    let refused = refusing(&[Op::Link, Op::Exchange], ENOTSUP, || {
        (link(&a, &folder.path().join("c")).unwrap(), exchange(&a, &b).unwrap())
    });
    assert_eq!(refused, (false, false));
    let (failed, _) = failing(0, Fails::Once, EIO, || exchange(&a, &b));
    assert!(failed.is_err());
}

#[test]
fn records_operations_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let (done, operations) = watched(|| replace(folder.path(), b"x"));
    done.unwrap();
    let operations: Vec<_> = operations.into_iter().map(|(op, _)| op).collect();
    assert_eq!(operations, [Op::Remove, Op::Create, Op::Write, Op::Sync, Op::Rename, Op::SyncFolder]);
}

#[test]
fn passes_blocks_on_until_an_error() {
    let mut seen = Vec::new();
    each_block::<Error>(&mut &b"abcdefg"[..], Path::new("x"), 3, |block| {
        seen.push(block.to_vec());
        Ok(())
    })
    .unwrap();
    assert_eq!(seen, [&b"abc"[..], b"def", b"g"]);
    let error = each_block::<Error>(&mut Failing, Path::new("x"), 3, |_| Ok(())).unwrap_err();
    assert_eq!(error.to_string(), "cannot read x: Input/output error (os error 5)");
}

#[test]
fn errors_name_the_operation_the_path_and_a_remedy() {
    for (kind, remedy) in [
        (io::ErrorKind::StorageFull, "free some space"),
        (io::ErrorKind::QuotaExceeded, "disk quota"),
        (io::ErrorKind::FileTooLarge, "file size limit"),
        (io::ErrorKind::NotFound, "still exists"),
        (io::ErrorKind::PermissionDenied, "permission"),
        (io::ErrorKind::ReadOnlyFilesystem, "can be written to"),
        (io::ErrorKind::Unsupported, "regular file"),
        (io::ErrorKind::TimedOut, "check the disk"),
    ] {
        let error = Error::new(Op::Read, Path::new("/a/b"), kind.into());
        assert!(error.help().contains(remedy), "{kind}: {}", error.help());
        assert_eq!(error.to_string(), format!("cannot read /a/b: {kind}"));
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), kind.to_string());
        let wrapped = io::Error::from(error);
        assert_eq!(wrapped.kind(), kind);
        assert_eq!(wrapped.downcast::<Error>().unwrap().into_cause().kind(), kind);
    }
}
