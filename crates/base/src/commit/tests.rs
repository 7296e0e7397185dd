//! Every operation of a commit fails, once or with all that follow: afterwards all files are old,
//! or all are new.

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

/// How the commits under test change their three files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// All are replaced, with backups, and the plan becomes a record.
    Replace,
    /// One is replaced if it was not touched, one is appended to, and one is removed. A journal
    /// takes its place with them.
    Seen,
}

struct Home {
    folder: tempfile::TempDir,
    state: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap(), state: tempfile::tempdir().unwrap() };
        for name in FORM.names {
            fs::write(home.folder.path().join(name), format!("old {name}\n")).unwrap();
        }
        fs::write(home.state.path().join("journal"), "old").unwrap();
        home
    }

    fn site(&self, way: Way) -> Site {
        let plan = match way {
            Way::Replace => self.folder.path().join(".plan"),
            Way::Seen => self.state.path().join("plan"),
        };
        Site::new(&FORM, self.folder.path(), plan)
    }

    /// The files and the journal; none for a missing one.
    fn state(&self) -> Vec<Option<String>> {
        let files = FORM.names.iter().map(|name| self.folder.path().join(name));
        files.chain([self.state.path().join("journal")]).map(|path| fs::read_to_string(path).ok()).collect()
    }

    fn apply(&self, way: Way, plan: &Plan<Note>) -> Result<bool> {
        let (record, journal) = (self.folder.path().join("record"), self.state.path().join("journal"));
        let new = self.state.path().join("journal.new");
        let seal = match way {
            Way::Replace => Seal::Record(&record),
            Way::Seen => Seal::Remove(Some((&new, &journal))),
        };
        self.site(way).apply(plan, seal)
    }

    /// What a reader does first.
    fn recover(&self, way: Way) -> Result<()> {
        let site = self.site(way);
        if let Some(plan) = site.decided::<Note>()? {
            self.apply(way, &plan)?;
        }
        site.sweep()
    }

    fn commit(&self, way: Way) -> Result<bool> {
        let site = self.site(way);
        let mut draft = site.draft();
        for (name, mode) in FORM.names.iter().zip(self.modes(way)) {
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
        if way == Way::Replace {
            for name in FORM.names {
                draft.back_up(name, &files::open(&site.path(name))?, &self.backup(name))?;
            }
        } else {
            fs::write(self.state.path().join("journal.new"), "new").unwrap();
        }
        let plan = draft.decide(Note { reason: "test".into() })?;
        self.apply(way, &plan)
    }

    /// A name that no file has: an interrupted commit may have left a backup.
    fn backup(&self, name: &str) -> String {
        let free = exchange::free(&self.folder.path().join(format!("{name}.bak")));
        free.file_name().unwrap().to_str().unwrap().to_owned()
    }

    fn modes(&self, way: Way) -> [Option<Mode>; 3] {
        if way == Way::Replace {
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

/// Visible files, by name.
fn visible(folder: &Path) -> Vec<String> {
    files::names(folder).unwrap().into_iter().filter(|name| !name.starts_with('.')).collect()
}

fn each_failure(way: Way) {
    let done = Home::new();
    let old = done.state();
    assert!(done.commit(way).unwrap());
    let new = done.state();
    assert!(old.iter().zip(&new).take(3).all(|(old, new)| old != new), "{new:?}");
    for (fails, errno) in [(Fails::Once, EIO), (Fails::Once, ENOSPC), (Fails::FromThenOn, EIO)] {
        let count = exhaust(fails, errno, |trial| {
            let home = Home::new();
            let result = trial.run(|| home.commit(way));
            let place = format!("{way:?}, {fails:?}, {:?}", trial.failed());
            home.recover(way).unwrap();
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
                assert!(home.commit(way).unwrap(), "{place}");
                assert_eq!(home.state(), new, "{place}");
            }
        });
        assert!(count > 15, "{count}");
    }
}

#[test]
fn r16_files_are_replaced_all_or_none() {
    each_failure(Way::Replace);
}

#[test]
fn r16_files_are_replaced_appended_to_and_removed_all_or_none() {
    each_failure(Way::Seen);
}

#[test]
fn r38_an_interrupted_commit_is_applied_in_a_copy_of_the_folder() {
    let done = Home::new();
    done.commit(Way::Replace).unwrap();
    let (new, old) = (done.state(), Home::new().state());
    exhaust(Fails::FromThenOn, EIO, |trial| {
        let home = Home::new();
        let _ = trial.run(|| home.commit(Way::Replace));
        let is_decided = home.folder.path().join(".plan").exists();
        let copy = Home::new();
        let mut names = files::names(home.folder.path()).unwrap();
        // In another order, so that the numbers differ.
        names.reverse();
        for name in names {
            fs::copy(home.folder.path().join(&name), copy.folder.path().join(&name)).unwrap();
        }
        copy.recover(Way::Replace).unwrap();
        let now = copy.state();
        assert!(now == new || !is_decided && now == old, "{:?}", trial.failed());
    });
}

#[test]
fn r38_open_writers_keep_their_lines_on_any_disk() {
    for unknown in [&[][..], &[Op::Link], &[Op::Exchange], &[Op::Link, Op::Exchange]] {
        let home = Home::new();
        let target = home.folder.path().join("b");
        let mut writer = fs::OpenOptions::new().append(true).open(&target).unwrap();
        assert!(refusing(unknown, ENOTSUP, || home.commit(Way::Replace)).unwrap());
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
        let home = Home::new();
        let site = home.site(Way::Seen);
        let mut plan = None;
        // Decided, then interrupted.
        crate::faults::exhaust(Fails::FromThenOn, EIO, |trial| {
            if plan.is_none() {
                let _ = trial.run(|| home.commit(Way::Seen));
                plan = site.decided::<Note>().unwrap();
            }
            if plan.is_none() {
                home.recover(Way::Seen).unwrap();
            }
        });
        let path = home.folder.path().join("other");
        fs::write(&path, changed).unwrap();
        fs::rename(&path, site.path(name)).unwrap();
        home.recover(Way::Seen).unwrap();
        assert_eq!(fs::read_to_string(site.path(name)).unwrap(), changed, "{name}");
        let is_journal_new = home.state()[3].as_deref() == Some("new");
        assert_eq!(is_journal_new, name == "c", "{name}");
        assert!(site.decided::<Note>().unwrap().is_none());
    }
}

#[test]
fn a_target_that_is_replaced_while_it_is_read_refuses_the_commit() {
    let home = Home::new();
    let site = home.site(Way::Replace);
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
    let home = Home::new();
    let site = home.site(Way::Replace);
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
