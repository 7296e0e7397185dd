//! A staged file put in the place of a target, so that the replaced file stays whole: a program may
//! have it open.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::{Digest, PlannedFile, Result, Stamp, exists};
use crate::files::{self, Op};

/// Puts a staged file in the place of a target, unless it is there, and makes the replaced file the
/// backup, unless it is.
pub(super) fn replace(file: &PlannedFile, staged: &Path, target: &Path, backup: Option<&Path>) -> Result<()> {
    if !exists(target)? {
        return Ok(files::rename(staged, target)?);
    }
    if is_placed(file, staged, target)? || files::exchange(staged, target)? {
        return set_aside(staged, backup);
    }
    // The disk cannot exchange names. Without hard links the old file has to move first.
    if let Some(backup) = backup
        && !files::is_same(target, backup)
    {
        files::rename(target, &free(backup))?;
    }
    Ok(files::rename(staged, target)?)
}

/// True if the staged file has the target's name already, so that the file under the staged name is
/// the replaced one.
fn is_placed(file: &PlannedFile, staged: &Path, target: &Path) -> Result<bool> {
    match file.number {
        Some(ours) if number(staged)? == ours => Ok(false),
        Some(ours) if number(target)? == ours => Ok(true),
        // The folder was copied since the commit was decided, so its files have other numbers:
        // compare their contents.
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

/// Makes a replaced file the backup. Where another file is the backup, it is kept under a name
/// beside that one.
fn set_aside(replaced: &Path, backup: Option<&Path>) -> Result<()> {
    match backup {
        Some(backup) if !files::is_same(replaced, backup) => Ok(files::rename(replaced, &free(backup))?),
        _ => Ok(files::remove(replaced).map(drop)?),
    }
}

/// The first name like this one that no file has.
pub(super) fn free(path: &Path) -> PathBuf {
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

/// Attempts to exchange a file that another program keeps replacing.
const ATTEMPTS: u32 = 1_000;

/// A staged file that replaces a target only if that is still the file that was seen.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) staged: &'a Path,
    pub(super) target: &'a Path,
    pub(super) had: Option<Stamp>,
    pub(super) ours: Stamp,
}

impl Pair<'_> {
    /// Puts the staged file in its place. Afterwards the replaced file is under the staged name; or
    /// the staged file still is, where another program had put a file in the place. May be called
    /// again after it was interrupted anywhere.
    ///
    /// On a disk that cannot exchange names, the replaced file gets the backup's name, if there is
    /// to be a backup.
    pub(super) fn replace(&self, backup: Option<&Path>) -> Result<()> {
        Ok(files::attempt(Op::Exchange, self.target, || self.try_replace(backup))?)
    }

    fn try_replace(&self, backup: Option<&Path>) -> io::Result<()> {
        let (staged, target) = (self.staged, self.target);
        let found = Stamp::of(staged);
        if found == self.had {
            return Ok(());
        }
        // What is to be found in the place: the seen file; or the staged one, which then was put
        // there before.
        let mut expected = if found == Some(self.ours) { self.had } else { Some(self.ours) };
        for _ in 0..ATTEMPTS {
            let placed = Stamp::of(staged);
            let flags = if expected.is_some() { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
            match renameat_with(CWD, staged, CWD, target, flags) {
                Ok(()) if expected.is_none() || Stamp::of(staged) == expected => return Ok(()),
                Ok(()) => expected = placed,
                // Another program removed it.
                Err(Errno::NOENT) => expected = None,
                // A disk that supports neither: the target is inspected right before it is
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

    /// Renames the staged file over the target, which gets the backup's name first.
    fn rename_over(&self, backup: Option<&Path>) -> io::Result<()> {
        if let Some(backup) = backup
            && self.target.exists()
            && !backup.exists()
        {
            // Without hard links the old file has to move first.
            fs::hard_link(self.target, backup).or_else(|_| fs::rename(self.target, backup))?;
        }
        fs::rename(self.staged, self.target)
    }

    /// Appends to the new file what was appended to the replaced one since it was seen. Returns
    /// true if the staged file is in its place and nothing had to be appended.
    pub(super) fn carry_late(&self, backup: Option<&Path>) -> Result<bool> {
        let number = |stamp: Option<Stamp>| stamp.map(Stamp::number);
        if number(Stamp::of(self.target)) != Some(self.ours.number()) {
            return Ok(false);
        }
        let Some(had) = self.had else { return Ok(true) };
        // Where names cannot be exchanged, the replaced file is the backup already.
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

    struct Place {
        home: tempfile::TempDir,
        staged: PathBuf,
        target: PathBuf,
    }

    impl Place {
        fn with(new: &str, old: Option<&str>) -> Self {
            let home = tempfile::tempdir().unwrap();
            let place = Self { staged: home.path().join("new"), target: home.path().join("to"), home };
            fs::write(&place.staged, new).unwrap();
            if let Some(old) = old {
                fs::write(&place.target, old).unwrap();
            }
            place
        }

        fn pair(&self) -> Pair<'_> {
            let (had, ours) = (Stamp::of(&self.target), Stamp::of(&self.staged).unwrap());
            Pair { staged: &self.staged, target: &self.target, had, ours }
        }

        /// Replaces the target as another program does.
        fn replaced(&self, text: &str) {
            let path = self.home.path().join("other");
            fs::write(&path, text).unwrap();
            fs::rename(&path, &self.target).unwrap();
        }

        fn content(&self) -> String {
            fs::read_to_string(&self.target).unwrap()
        }
    }

    #[test]
    fn takes_the_place_of_the_seen_file() {
        for old in [None, Some("old")] {
            let place = Place::with("ours", old);
            let pair = place.pair();
            pair.replace(None).unwrap();
            assert_eq!(place.content(), "ours");
            if old.is_some() {
                pair.replace(None).unwrap();
                assert_eq!(place.content(), "ours", "repeated, it changes nothing");
            }
        }
    }

    #[test]
    fn a_file_of_another_program_stays() {
        for old in [None, Some("old")] {
            let place = Place::with("ours", old);
            let pair = place.pair();
            place.replaced("theirs");
            pair.replace(None).unwrap();
            assert_eq!(place.content(), "theirs");
            pair.replace(None).unwrap();
            assert_eq!(place.content(), "theirs", "repeated, it changes nothing");
        }
    }

    /// Interrupted right after the first exchange, when the file that was taken away is another
    /// program's.
    #[test]
    fn continues_where_it_was_interrupted() {
        for later in [None, Some("later")] {
            let place = Place::with("ours", Some("old"));
            let pair = place.pair();
            place.replaced("theirs");
            renameat_with(CWD, &place.staged, CWD, &place.target, RenameFlags::EXCHANGE).unwrap();
            if let Some(later) = later {
                place.replaced(later);
            }
            pair.replace(None).unwrap();
            assert_eq!(place.content(), later.unwrap_or("theirs"));
        }
    }

    /// A program replaces the file all the time: its last version is there in the end, or ours,
    /// where it had finished before.
    #[test]
    fn another_program_may_replace_it_all_the_time() {
        let place = Place::with("", Some("0"));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                for at in 1..=2_000 {
                    place.replaced(&at.to_string());
                    std::thread::sleep(std::time::Duration::from_micros(20));
                }
            });
            let mut rounds = 0_u32;
            while !other.is_finished() {
                rounds += 1;
                fs::write(&place.staged, format!("ours {rounds}")).unwrap();
                let pair = place.pair();
                let before = place.content();
                pair.replace(None).unwrap();
                let after = place.content();
                let number = |text: &str| text.parse::<u64>().ok();
                if let (Some(before), Some(after)) = (number(&before), number(&after)) {
                    assert!(before <= after, "{before} came back over {after}");
                }
                fs::remove_file(&place.staged).unwrap();
            }
        });
        assert!(place.content() == "2000" || place.content().starts_with("ours"));
    }

    #[test]
    fn late_bytes_are_carried_over() {
        let place = Place::with("ours\n", Some("old\n"));
        let pair = place.pair();
        fs::OpenOptions::new().append(true).open(&place.target).unwrap();
        pair.replace(None).unwrap();
        assert!(pair.carry_late(None).unwrap());
        fs::write(&place.staged, "old\nlate\n").unwrap();
        assert!(!pair.carry_late(None).unwrap());
        assert_eq!(place.content(), "ours\nlate\n");
    }
}
