//! Every operation of a commit fails, alone or with all later ones: afterwards all files are old or
//! all are new.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::*;
use crate::faults::{Fails, exhaust, refusing};
use crate::files::Op;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const ENOTSUP: i32 = 95;

const FORM: Form = Form { prefix: ".new-", names: &["a", "b", "c"], version: 1 };

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    reason: String,
}

/// The changes of the three files in the commits under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Changes {
    /// All are replaced, with backups, and the plan becomes a record.
    Replace,
    /// One is replaced if it was not changed, one is appended to, and one is removed. A journal is
    /// renamed with them.
    Seen,
}

struct TestSite {
    folder: tempfile::TempDir,
    state: tempfile::TempDir,
}

impl TestSite {
    fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap() };
        for name in FORM.names {
            fs::write(home.folder.path().join(name), format!("old {name}\n")).unwrap();
        }
        fs::write(home.state.path().join("journal"), "old").unwrap();
        home
    }

    fn site(&self, changes: Changes) -> Site {
        let plan = match changes {
            Changes::Replace => self.folder.path().join(".plan"),
            Changes::Seen => self.state.path().join("plan"),
        };
        Site::new(&FORM, self.folder.path(), plan)
    }

    /// The contents of the files and the journal; `None` for a missing one.
    fn state(&self) -> Vec<Option<String>> {
        let files = FORM.names.iter().map(|name| self.folder.path().join(name));
        files.chain([self.state.path().join("journal")]).map(|path| fs::read_to_string(path).ok()).collect()
    }

    fn apply(&self, changes: Changes, plan: &Plan<Note>) -> Result<bool> {
        let (record, journal) = (self.folder.path().join("record"), self.state.path().join("journal"));
        let new = self.state.path().join("journal.new");
        let seal = match changes {
            Changes::Replace => Seal::Record(&record),
            Changes::Seen => Seal::Remove(Some((&new, &journal))),
        };
        self.site(changes).apply(plan, seal)
    }

    /// Recovers as a reader does first.
    fn recover(&self, changes: Changes) -> Result<()> {
        let site = self.site(changes);
        if let Some(plan) = site.decided::<Note>()? {
            self.apply(changes, &plan)?;
        }
        site.sweep()
    }

    fn commit(&self, changes: Changes) -> Result<bool> {
        let site = self.site(changes);
        let mut draft = site.draft();
        for (name, mode) in FORM.names.iter().zip(self.modes(changes)) {
            let target = site.path(name);
            let mut staged = site.stage(name, Some(&target))?;
            if !matches!(mode, Some(Mode::Remove { .. })) {
                staged.write(b"new\n")?;
            }
            let ours = Stamp::of(&target);
            let file = match mode {
                None => PlannedFile::replace(name, staged.finish_with(content(b"new\n"))?),
                Some(Mode::ReplaceSeen { .. }) => {
                    let path = staged.path().to_owned();
                    let staged = staged.finish()?;
                    let mode =
                        Mode::ReplaceSeen { had: ours, ours: Stamp::of(&path).unwrap(), carries_late: true };
                    PlannedFile::with_mode(name, staged, mode)
                }
                Some(mode) => PlannedFile::with_mode(name, staged.finish()?, mode),
            };
            draft.add(file.backed_up_as(self.backup(name)));
        }
        if changes == Changes::Replace {
            for name in FORM.names {
                draft.back_up(name, &files::open(&site.path(name))?, &self.backup(name))?;
            }
        } else {
            fs::write(self.state.path().join("journal.new"), "new").unwrap();
        }
        let plan = draft.decide(Note { reason: "test".into() })?;
        self.apply(changes, &plan)
    }

    /// An unused name: an interrupted commit may have left a backup.
    fn backup(&self, name: &str) -> String {
        let unused = exchange::unused_name(&self.folder.path().join(format!("{name}.bak")));
        unused.file_name().unwrap().to_str().unwrap().to_owned()
    }

    fn modes(&self, changes: Changes) -> [Option<Mode>; 3] {
        if changes == Changes::Replace {
            return [None, None, None];
        }
        let had = |name: &str| Stamp::of(&self.folder.path().join(name));
        let seen = Mode::ReplaceSeen { had: had("a"), ours: had("a").unwrap(), carries_late: true };
        [
            Some(seen),
            Some(Mode::Append { at: had("b").unwrap().bytes() }),
            Some(Mode::Remove { had: had("c") }),
        ]
    }
}

fn content(bytes: &[u8]) -> Digest {
    let mut digester = Digester::default();
    digester.add(bytes);
    digester.digest()
}

/// The names of the visible files.
fn visible(folder: &Path) -> Vec<String> {
    files::names(folder).unwrap().into_iter().filter(|name| !name.starts_with('.')).collect()
}

fn each_failure(changes: Changes) {
    let done = TestSite::new();
    let old = done.state();
    assert!(done.commit(changes).unwrap());
    let new = done.state();
    assert!(old.iter().zip(&new).take(3).all(|(old, new)| old != new), "{new:?}");
    for (fails, errno) in [(Fails::Once, EIO), (Fails::Once, ENOSPC), (Fails::FromThenOn, EIO)] {
        let count = exhaust(fails, errno, |trial| {
            let home = TestSite::new();
            let result = trial.run(|| home.commit(changes));
            let place = format!("{changes:?}, {fails:?}, {:?}", trial.failed());
            home.recover(changes).unwrap();
            let now = home.state();
            assert!(now == old || now == new, "{place}: {now:?}");
            match (&result, trial.failed()) {
                (Ok(whole), _) => assert!(*whole && now == new, "{place}"),
                (Err(Error::File(error)), Some(_)) => assert_eq!(error.is_full(), errno == ENOSPC, "{place}"),
                (Err(error), _) => panic!("{place}: {error}"),
            }
            let left = files::names(home.folder.path()).unwrap();
            assert!(
                !left.iter().any(|name| name.starts_with(".new-") || name == ".plan"),
                "{place}: {left:?}"
            );
            if now == old {
                assert!(home.commit(changes).unwrap(), "{place}");
                assert_eq!(home.state(), new, "{place}");
            }
        });
        assert!(count > 15, "{count}");
    }
}

#[test]
fn r16_files_are_replaced_all_or_none() {
    each_failure(Changes::Replace);
}

#[test]
fn r16_files_are_replaced_appended_to_and_removed_all_or_none() {
    each_failure(Changes::Seen);
}

#[test]
fn r38_an_interrupted_commit_is_applied_in_a_copy_of_the_folder() {
    let done = TestSite::new();
    done.commit(Changes::Replace).unwrap();
    let (new, old) = (done.state(), TestSite::new().state());
    exhaust(Fails::FromThenOn, EIO, |trial| {
        let home = TestSite::new();
        let _ = trial.run(|| home.commit(Changes::Replace));
        let is_decided = home.folder.path().join(".plan").exists();
        let copy = TestSite::new();
        let mut names = files::names(home.folder.path()).unwrap();
        // In another order, so that the inode numbers differ.
        names.reverse();
        for name in names {
            fs::copy(home.folder.path().join(&name), copy.folder.path().join(&name)).unwrap();
        }
        copy.recover(Changes::Replace).unwrap();
        let now = copy.state();
        assert!(now == new || !is_decided && now == old, "{:?}", trial.failed());
    });
}

#[test]
fn r38_open_writers_keep_their_lines_on_any_disk() {
    for unknown in [&[][..], &[Op::Link], &[Op::Exchange], &[Op::Link, Op::Exchange]] {
        let home = TestSite::new();
        let target = home.folder.path().join("b");
        let mut writer = fs::OpenOptions::new().append(true).open(&target).unwrap();
        assert!(refusing(unknown, ENOTSUP, || home.commit(Changes::Replace)).unwrap());
        writer.write_all(b"late\n").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new\n", "{unknown:?}");
        let backup = fs::read_to_string(home.folder.path().join("b.bak")).unwrap();
        assert_eq!(backup, "old b\nlate\n", "{unknown:?}");
        assert_eq!(visible(home.folder.path()), ["a", "a.bak", "b", "b.bak", "c", "c.bak", "record"]);
    }
}

#[test]
fn a_target_that_another_program_changed_stays() {
    for (name, changed) in [("a", "theirs"), ("b", "old b\ntheirs\n"), ("c", "theirs")] {
        let home = TestSite::new();
        let site = home.site(Changes::Seen);
        let mut plan = None;
        // Decided, then interrupted.
        crate::faults::exhaust(Fails::FromThenOn, EIO, |trial| {
            if plan.is_none() {
                let _ = trial.run(|| home.commit(Changes::Seen));
                plan = site.decided::<Note>().unwrap();
            }
            if plan.is_none() {
                home.recover(Changes::Seen).unwrap();
            }
        });
        let path = home.folder.path().join("other");
        fs::write(&path, changed).unwrap();
        fs::rename(&path, site.path(name)).unwrap();
        home.recover(Changes::Seen).unwrap();
        assert_eq!(fs::read_to_string(site.path(name)).unwrap(), changed, "{name}");
        let is_journal_new = home.state()[3].as_deref() == Some("new");
        assert_eq!(is_journal_new, name == "c", "{name}");
        assert!(site.decided::<Note>().unwrap().is_none());
    }
}

#[test]
fn a_target_that_is_replaced_while_it_is_read_refuses_the_commit() {
    let home = TestSite::new();
    let site = home.site(Changes::Replace);
    let opened = files::open(&site.path("a")).unwrap();
    fs::write(site.path("other"), "theirs").unwrap();
    fs::rename(site.path("other"), site.path("a")).unwrap();
    let mut draft = site.draft();
    let error = draft.back_up("a", &opened, "a.bak").unwrap_err();
    assert!(matches!(&error, Error::Replaced { path } if *path == site.path("a")), "{error}");
    drop(draft);
    assert_eq!(visible(home.folder.path()), ["a", "b", "c"]);
}

#[test]
fn r47_damaged_foreign_and_later_plans_are_refused() {
    let home = TestSite::new();
    let site = home.site(Changes::Replace);
    let refused = |text: &str| {
        fs::write(home.folder.path().join(".plan"), text).unwrap();
        site.decided::<Note>().unwrap_err()
    };
    assert!(matches!(refused(r#"{"version": 2}"#), Error::Version { found: 2, known: 1, .. }));
    assert!(matches!(refused("{"), Error::Damaged { .. }));
    for (name, backup) in [("../a", "x"), ("d", "x"), ("a", "../x"), ("a", ".x"), ("a", "")] {
        let file = format!(r#"{{"name": "{name}", "backup": "{backup}"}}"#);
        let text = format!(r#"{{"version": 1, "reason": "", "files": [{file}]}}"#);
        assert!(matches!(refused(&text), Error::Foreign { .. }), "{text}");
    }
    assert!(home.state().iter().take(3).all(Option::is_some));
}

#[test]
fn errors_of_commits_name_the_file_and_their_cause() {
    let path = || std::path::PathBuf::from("/home/.plan");
    let cause = serde_json::from_str::<u8>("{").unwrap_err();
    let refused = files::Error::new(Op::Write, &path(), std::io::ErrorKind::StorageFull.into());
    let errors = [
        (Error::from(refused), "cannot write /home/.plan: no storage space", true),
        (Error::Damaged { path: path(), cause }, "/home/.plan is damaged, ", true),
        (
            Error::Version { path: path(), found: 9, known: 1 },
            "/home/.plan has version 9, and this release knows 1",
            false,
        ),
        (Error::Foreign { path: path() }, "/home/.plan names a file outside the commit", false),
        (Error::Replaced { path: path() }, "/home/.plan was replaced while it was read", false),
    ];
    for (error, message, has_source) in errors {
        assert!(error.to_string().starts_with(message), "{error}");
        assert_eq!(std::error::Error::source(&error).is_some(), has_source, "{error}");
    }
}
