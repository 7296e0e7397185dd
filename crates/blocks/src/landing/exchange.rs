//! A file put in its place in one step with taking away what was there: what somebody else put there meanwhile stays.

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::journal::{Seen, seen};

/// Times that somebody else may put another file there in between.
const ROUNDS: u32 = 1_000;

/// Gives a new file its place, where `had` was when it was made. What was there is at the new file's path then, or the new one is
/// still, where somebody else had put another one there. May be called again after it was cut off anywhere.
///
/// On a disk that cannot exchange names, what was there gets the name of the backup, where there is to be one.
pub(super) fn exchange(
    (new, to): (&Path, &Path),
    had: Option<Seen>,
    ours: Option<Seen>,
    backup: Option<&Path>,
) -> io::Result<()> {
    let at_new = seen(new);
    if at_new == had {
        return Ok(());
    }
    // What is to be found where the file goes: what was there, or the new one, which then was put there before.
    let mut expected = if at_new == ours { had } else { ours };
    for _ in 0..ROUNDS {
        let placed = seen(new);
        let exchanged = match expected {
            Some(_) => renameat_with(CWD, new, CWD, to, RenameFlags::EXCHANGE),
            None => renameat_with(CWD, new, CWD, to, RenameFlags::NOREPLACE),
        };
        match exchanged {
            Ok(()) if expected.is_none() || seen(new) == expected => return Ok(()),
            Ok(()) => expected = placed,
            // Gone meanwhile, or there meanwhile.
            Err(Errno::NOENT) => expected = None,
            Err(Errno::EXIST) => return Ok(()),
            // A disk that can do neither: it is looked at right before.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                return if seen(to) == expected { replace((new, to), backup) } else { Ok(()) };
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "somebody else puts another file there all the time"))
}

/// Puts a file in the place of another, which gets the name of the backup first.
fn replace((new, to): (&Path, &Path), backup: Option<&Path>) -> io::Result<()> {
    if let Some(backup) = backup.filter(|backup| to.exists() && !backup.exists()) {
        // Without hard links the old file has to be moved before.
        fs::hard_link(to, backup).or_else(|_| fs::rename(to, backup))?;
    }
    fs::rename(new, to)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    struct Place {
        home: tempfile::TempDir,
        new: PathBuf,
        to: PathBuf,
    }

    impl Place {
        fn with(new: &str, to: Option<&str>) -> Self {
            let home = tempfile::tempdir().unwrap();
            let place = Self { new: home.path().join("new"), to: home.path().join("to"), home };
            fs::write(&place.new, new).unwrap();
            if let Some(to) = to {
                fs::write(&place.to, to).unwrap();
            }
            place
        }

        /// What a program does that replaces a file.
        fn replaced(&self, text: &str) {
            let path = self.home.path().join("other");
            fs::write(&path, text).unwrap();
            fs::rename(&path, &self.to).unwrap();
        }

        fn is(&self) -> String {
            fs::read_to_string(&self.to).unwrap()
        }
    }

    #[test]
    fn it_takes_the_place_of_what_was_there() {
        for old in [None, Some("old")] {
            let place = Place::with("ours", old);
            let (had, ours) = (seen(&place.to), seen(&place.new));
            exchange((&place.new, &place.to), had, ours, None).unwrap();
            assert_eq!(place.is(), "ours");
            if old.is_some() {
                exchange((&place.new, &place.to), had, ours, None).unwrap();
                assert_eq!(place.is(), "ours", "done again, it changes nothing");
            }
        }
    }

    #[test]
    fn what_somebody_else_put_there_stays() {
        for old in [None, Some("old")] {
            let place = Place::with("ours", old);
            let (had, ours) = (seen(&place.to), seen(&place.new));
            place.replaced("theirs");
            exchange((&place.new, &place.to), had, ours, None).unwrap();
            assert_eq!(place.is(), "theirs");
            exchange((&place.new, &place.to), had, ours, None).unwrap();
            assert_eq!(place.is(), "theirs", "done again, it changes nothing");
        }
    }

    /// Cut off right after the first step, when what was taken away is somebody else's.
    #[test]
    fn it_goes_on_where_it_was_cut_off() {
        for later in [None, Some("later")] {
            let place = Place::with("ours", Some("old"));
            let (had, ours) = (seen(&place.to), seen(&place.new));
            place.replaced("theirs");
            renameat_with(CWD, &place.new, CWD, &place.to, RenameFlags::EXCHANGE).unwrap();
            if let Some(later) = later {
                place.replaced(later);
            }
            exchange((&place.new, &place.to), had, ours, None).unwrap();
            assert_eq!(place.is(), later.unwrap_or("theirs"));
        }
    }

    /// A program replaces the file all the time: its last version is there in the end, or ours, where it had come to its end before.
    #[test]
    fn somebody_else_may_replace_it_all_the_time() {
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
                let had = seen(&place.to);
                fs::write(&place.new, format!("ours {rounds}")).unwrap();
                let ours = seen(&place.new);
                let before = place.is();
                exchange((&place.new, &place.to), had, ours, None).unwrap();
                let after = place.is();
                let number = |text: &str| text.parse::<u64>().ok();
                if let (Some(before), Some(after)) = (number(&before), number(&after)) {
                    assert!(before <= after, "{before} came back over {after}");
                }
                fs::remove_file(&place.new).unwrap();
            }
        });
        assert!(place.is() == "2000" || place.is().starts_with("ours"));
    }
}
