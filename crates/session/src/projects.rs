//! Projects as they are asked for: by their name in lists, by their directory, or by a part of
//! either; and what is said of a list without any session.

use std::collections::BTreeSet;
use std::path::Path;

use trommel_base::text::shown_path;

use crate::error::{RequestFault, Result};
use crate::sessions::Sessions;
use crate::text::label;

/// Projects that a note names.
const NEAREST: usize = 3;

impl Sessions {
    /// The names of all projects, in order.
    pub fn projects(&self) -> Result<Vec<String>> {
        let mut names = BTreeSet::new();
        self.each_project(&mut |name| {
            names.insert(name);
        })?;
        Ok(names.into_iter().collect())
    }

    /// The names of the projects that are meant: those of this name or directory; where there are
    /// none, those that end in this part of a path; and where there are none either, those that
    /// contain it.
    pub(crate) fn matching(&self, asked: &str) -> Result<Vec<String>> {
        let mut names = self.projects()?;
        let exact = spellings(asked);
        if names.iter().any(|name| exact.contains(name)) {
            names.retain(|name| exact.contains(name));
            return Ok(names);
        }
        if asked.trim().is_empty() {
            return Err(RequestFault::EmptyProject.into());
        }
        if is_directory(asked) {
            return Ok(Vec::new());
        }
        let part = lower(asked);
        let is_end =
            |name: &String| lower(name).strip_suffix(&part).is_some_and(|before| before.ends_with('-'));
        if names.iter().any(is_end) {
            names.retain(is_end);
        } else {
            names.retain(|name| lower(name).contains(&part));
        }
        Ok(names)
    }

    /// What is said of a list or a search that has no session: which projects are near the one that
    /// was asked for, or where sessions were looked for.
    pub(crate) fn nothing_found(&self, project: Option<&str>) -> Result<Vec<String>> {
        if let Some(asked) = project
            && self.matching(asked)?.is_empty()
        {
            let names = nearest(&self.projects()?, asked);
            if !names.is_empty() {
                let (verb, names) = (if names.len() == 1 { "is" } else { "are" }, names.join(", "));
                let asked = label(asked, 200);
                return Ok(vec![format!("no project matches {asked}: the nearest {verb} {names}")]);
            }
        }
        let mut count = 0_u64;
        self.each(None, &mut |_| {
            count += 1;
            Ok(())
        })?;
        let mut places = self.roots().map(shown_path).collect::<Vec<_>>();
        places.extend(self.connected().map(|_| "the cloud".to_owned()));
        let places = places.join(" or ");
        Ok(vec![match count {
            0 if places.is_empty() => "no sessions found: no folder was searched".to_owned(),
            0 => format!("no sessions found in {places}"),
            1 => "the only session there is does not match".to_owned(),
            count => format!("none of {count} sessions matches"),
        }])
    }
}

/// True if a text is the path of a directory, and not a part of one.
fn is_directory(asked: &str) -> bool {
    asked.starts_with('/')
        || [".", ".."].contains(&asked)
        || asked.starts_with("./")
        || asked.starts_with("../")
}

/// The names that programs give a project: its directory, with hyphens for slashes, or for all but
/// letters and digits.
fn spellings(asked: &str) -> Vec<String> {
    let mut names = vec![asked.to_owned()];
    if is_directory(asked) {
        let path = Path::new(asked);
        let found = path.canonicalize().or_else(|_| std::path::absolute(path));
        let path = found.map_or_else(|_| asked.to_owned(), |path| path.to_string_lossy().into_owned());
        for path in [asked, &path] {
            let path = path.trim_end_matches('/');
            names.push(path.replace('/', "-"));
            names.push(path.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        }
    }
    names
}

/// A part of a path as it is part of names, in lower case.
fn lower(text: &str) -> String {
    text.trim_matches('/').trim_start_matches('-').replace('/', "-").to_lowercase()
}

/// The projects that have the most in common with what was asked for.
fn nearest(names: &[String], asked: &str) -> Vec<String> {
    let asked = lower(asked).chars().take(200).collect::<Vec<_>>();
    let mut ranked = names.iter().map(|name| (in_common(&lower(name), &asked), name)).collect::<Vec<_>>();
    ranked.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.cmp(b)));
    ranked.into_iter().take(NEAREST).map(|(_, name)| label(name, 200)).collect()
}

/// The length of the longest text that is in both.
fn in_common(name: &str, asked: &[char]) -> usize {
    let (mut before, mut longest) = (vec![0; asked.len() + 1], 0);
    for c in name.chars().take(1_000) {
        let mut now = vec![0; asked.len() + 1];
        for (at, other) in asked.iter().enumerate() {
            if let (true, Some(so_far), Some(here)) = (*other == c, before.get(at), now.get_mut(at + 1)) {
                *here = so_far + 1;
                longest = longest.max(*here);
            }
        }
        before = now;
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_spelt_as_programs_spell_them() {
        assert!(spellings("/home/ada/my.app/").contains(&"-home-ada-my.app".to_owned()));
        assert!(spellings("/home/ada/my.app").contains(&"-home-ada-my-app".to_owned()));
        assert_eq!(spellings("app"), ["app"]);
    }

    #[test]
    fn the_nearest_project_comes_first() {
        let names = ["-home-ada-api", "-home-ada-application", "-srv-web"].map(str::to_owned);
        assert_eq!(nearest(&names, "applikation")[0], "-home-ada-application");
        assert_eq!(nearest(&names, "webb")[0], "-srv-web");
        assert_eq!(nearest(&[], "x"), Vec::<String>::new());
    }
}
