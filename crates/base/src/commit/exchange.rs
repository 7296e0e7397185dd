//! Replaces a target by a staged file while the replaced file stays whole: another program may have
//! it open.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::{Digest, PlannedFile, Result, Stamp, exists};
use crate::files::{self, Op};

/// Replaces a target by a staged file, and makes the replaced file the backup. Steps that were
/// completed before are skipped.
pub(super) fn replace(file: &PlannedFile, staged: &Path, target: &Path, backup: Option<&Path>) -> Result<()> {
    if !exists(target)? {
        return Ok(files::rename(staged, target)?);
    }
    if is_applied(file, staged, target)? || files::exchange(staged, target)? {
        return set_aside(staged, backup);
    }
    // The disk cannot exchange names. Without hard links the old file must be moved first.
    if let Some(backup) = backup
        && !files::is_same(target, backup)
    {
        files::rename(target, &unused_name(backup))?;
    }
    Ok(files::rename(staged, target)?)
}

/// True if the staged file already has the target's name: then the staged name has the replaced
/// file.
fn is_applied(file: &PlannedFile, staged: &Path, target: &Path) -> Result<bool> {
    match file.number {
        Some(ours) if number(staged)? == ours => Ok(false),
        Some(ours) if number(target)? == ours => Ok(true),
        // The folder was copied after the decision, so inode numbers differ: compare contents.
        _ => match &file.after {
            Some(after) => Ok(Digest::of(staged)? != *after),
            None => Ok(false),
        },
    }
}

fn number(path: &Path) -> Result<u64> {
    let found = fs::symlink_metadata(path).map_err(|cause| files::Error::new(Op::Inspect, path, cause))?;
    Ok(found.ino())
}

/// Renames a replaced file to the backup. If another file is the backup, numbers the name.
fn set_aside(replaced: &Path, backup: Option<&Path>) -> Result<()> {
    match backup {
        Some(backup) if !files::is_same(replaced, backup) => {
            Ok(files::rename(replaced, &unused_name(backup))?)
        }
        _ => Ok(files::remove(replaced).map(drop)?),
    }
}

/// Returns the path, with a number appended if a file exists there.
pub(super) fn unused_name(path: &Path) -> PathBuf {
    let numbered = |number: u64| {
        let mut name = path.as_os_str().to_owned();
        if number > 0 {
            name.push(format!(".{number}"));
        }
        PathBuf::from(name)
    };
    let mut number = 0;
    while numbered(number).symlink_metadata().is_ok() {
        number += 1;
    }
    numbered(number)
}

/// Maximum attempts to exchange a file that another program keeps replacing.
const MAX_ATTEMPTS: u32 = 1_000;

/// A staged file that replaces a target only if the target is still the file that the caller saw.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) staged: &'a Path,
    pub(super) target: &'a Path,
    pub(super) had: Option<Stamp>,
    pub(super) ours: Stamp,
}

impl Pair<'_> {
    /// Replaces the target. Afterwards the staged name has the replaced file; or still the staged
    /// file, if another program had replaced the target. Can be called again after any
    /// interruption.
    ///
    /// On a disk that cannot exchange names, the replaced file is renamed to the backup, if there
    /// is one.
    pub(super) fn replace(&self, backup: Option<&Path>) -> Result<()> {
        Ok(files::attempt(Op::Exchange, self.target, || self.try_replace(backup))?)
    }

    fn try_replace(&self, backup: Option<&Path>) -> io::Result<()> {
        let (staged, target) = (self.staged, self.target);
        let found = Stamp::of(staged);
        if found == self.had {
            return Ok(());
        }
        // The file that the target is expected to be: the one the caller saw, or the staged one if
        // an earlier call put it there.
        let mut expected = if found == Some(self.ours) { self.had } else { Some(self.ours) };
        // An exchange is the only way to replace a file and learn which file was replaced. If it
        // was not the expected one, the next round exchanges them back.
        for _ in 0..MAX_ATTEMPTS {
            let placed = Stamp::of(staged);
            let flags = if expected.is_some() { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
            match renameat_with(CWD, staged, CWD, target, flags) {
                Ok(()) if expected.is_none() || Stamp::of(staged) == expected => return Ok(()),
                Ok(()) => expected = placed,
                // Another program removed the target.
                Err(Errno::NOENT) => expected = None,
                // The disk supports neither operation: the target is inspected right before it is
                // replaced.
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if Stamp::of(target) == expected => {
                    return self.rename_over(backup);
                }
                Err(Errno::EXIST | Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process keeps replacing the file"))
    }

    /// Renames the staged file over the target, after renaming the target to the backup.
    fn rename_over(&self, backup: Option<&Path>) -> io::Result<()> {
        if let Some(backup) = backup
            && self.target.exists()
            && !backup.exists()
        {
            // Without hard links the old file must be moved first.
            fs::hard_link(self.target, backup).or_else(|_| fs::rename(self.target, backup))?;
        }
        fs::rename(self.staged, self.target)
    }

    /// Appends to the new file the bytes that were appended to the replaced one since the caller
    /// saw it. Returns true if the staged file is in place and nothing had to be appended.
    pub(super) fn carry_late(&self, backup: Option<&Path>) -> Result<bool> {
        let number = |stamp: Option<Stamp>| stamp.map(Stamp::number);
        if number(Stamp::of(self.target)) != Some(self.ours.number()) {
            return Ok(false);
        }
        let Some(had) = self.had else { return Ok(true) };
        // On a disk that cannot exchange names, the replaced file is already the backup.
        let Some(replaced) = [Some(self.staged), backup].into_iter().flatten().find(|path| path.exists())
        else {
            return Ok(true);
        };
        let late = files::attempt(Op::Write, self.target, || {
            let mut replaced = File::open(replaced)?;
            replaced.seek(SeekFrom::Start(had.bytes()))?;
            io::copy(&mut replaced, &mut OpenOptions::new().append(true).open(self.target)?)
        })?;
        Ok(late == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture {
        home: tempfile::TempDir,
        staged: PathBuf,
        target: PathBuf,
    }

    impl Fixture {
        fn with(new: &str, old: Option<&str>) -> Self {
            let home = tempfile::tempdir().unwrap();
            let fixture = Self { staged: home.path().join("new"), target: home.path().join("to"), home };
            fs::write(&fixture.staged, new).unwrap();
            if let Some(old) = old {
                fs::write(&fixture.target, old).unwrap();
            }
            fixture
        }

        fn pair(&self) -> Pair<'_> {
            let (had, ours) = (Stamp::of(&self.target), Stamp::of(&self.staged).unwrap());
            Pair { staged: &self.staged, target: &self.target, had, ours }
        }

        /// Replaces the target like another program.
        fn replace_externally(&self, text: &str) {
            let path = self.home.path().join("other");
            fs::write(&path, text).unwrap();
            fs::rename(&path, &self.target).unwrap();
        }

        fn content(&self) -> String {
            fs::read_to_string(&self.target).unwrap()
        }
    }

    #[test]
    fn replaces_the_seen_file() {
        for old in [None, Some("old")] {
            let fixture = Fixture::with("ours", old);
            let pair = fixture.pair();
            pair.replace(None).unwrap();
            assert_eq!(fixture.content(), "ours");
            if old.is_some() {
                pair.replace(None).unwrap();
                assert_eq!(fixture.content(), "ours", "repeated, it changes nothing");
            }
        }
    }

    #[test]
    fn keeps_a_file_of_another_program() {
        for old in [None, Some("old")] {
            let fixture = Fixture::with("ours", old);
            let pair = fixture.pair();
            fixture.replace_externally("theirs");
            pair.replace(None).unwrap();
            assert_eq!(fixture.content(), "theirs");
            pair.replace(None).unwrap();
            assert_eq!(fixture.content(), "theirs", "repeated, it changes nothing");
        }
    }

    /// Interrupted right after the first exchange, which removed another program's file.
    #[test]
    fn continues_where_it_was_interrupted() {
        for later in [None, Some("later")] {
            let fixture = Fixture::with("ours", Some("old"));
            let pair = fixture.pair();
            fixture.replace_externally("theirs");
            renameat_with(CWD, &fixture.staged, CWD, &fixture.target, RenameFlags::EXCHANGE).unwrap();
            if let Some(later) = later {
                fixture.replace_externally(later);
            }
            pair.replace(None).unwrap();
            assert_eq!(fixture.content(), later.unwrap_or("theirs"));
        }
    }

    /// A program replaces the file all the time. In the end its last version is there, or the
    /// staged file if the program had finished before.
    #[test]
    fn survives_constant_replacement() {
        let fixture = Fixture::with("", Some("0"));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                for at in 1..=2_000 {
                    fixture.replace_externally(&at.to_string());
                    std::thread::sleep(std::time::Duration::from_micros(20));
                }
            });
            let mut rounds = 0_u32;
            while !other.is_finished() {
                rounds += 1;
                fs::write(&fixture.staged, format!("ours {rounds}")).unwrap();
                let pair = fixture.pair();
                let before = fixture.content();
                pair.replace(None).unwrap();
                let after = fixture.content();
                let number = |text: &str| text.parse::<u64>().ok();
                if let (Some(before), Some(after)) = (number(&before), number(&after)) {
                    assert!(before <= after, "{before} came back over {after}");
                }
                fs::remove_file(&fixture.staged).unwrap();
            }
        });
        assert!(fixture.content() == "2000" || fixture.content().starts_with("ours"));
    }

    #[test]
    fn carries_late_bytes_over() {
        let fixture = Fixture::with("ours\n", Some("old\n"));
        let pair = fixture.pair();
        fs::OpenOptions::new().append(true).open(&fixture.target).unwrap();
        pair.replace(None).unwrap();
        assert!(pair.carry_late(None).unwrap());
        fs::write(&fixture.staged, "old\nlate\n").unwrap();
        assert!(!pair.carry_late(None).unwrap());
        assert_eq!(fixture.content(), "ours\nlate\n");
    }
}
