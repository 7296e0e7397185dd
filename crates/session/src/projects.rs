//! Lookup of projects by their name in lists, by their directory, or by a part of either; and the
//! notes on lists without sessions.

use std::collections::BTreeSet;
use std::path::Path;

use trommel_base::text::display_path;

use crate::error::{RequestFault, Result};
use crate::sessions::Sessions;
use crate::text::label;

/// The maximum number of projects suggested by a note.
const MAX_SUGGESTIONS: usize = 3;

impl Sessions {
    /// Returns the names of all projects, sorted.
    pub fn projects(&self) -> Result<Vec<String>> {
        let mut names = BTreeSet::new();
        self.each_project(&mut |name| {
            names.insert(name);
        })?;
        Ok(names.into_iter().collect())
    }

    /// Returns the names of the matching projects: those with this name or directory, else those
    /// that end with it, else those that contain it.
    pub(crate) fn matching(&self, requested: &str) -> Result<Vec<String>> {
        let mut names = self.projects()?;
        let exact = project_names(requested);
        if names.iter().any(|name| exact.contains(name)) {
            names.retain(|name| exact.contains(name));
            return Ok(names);
        }
        if requested.trim().is_empty() {
            return Err(RequestFault::EmptyProject.into());
        }
        if is_directory(requested) {
            return Ok(Vec::new());
        }
        let part = normalize(requested);
        let is_end =
            |name: &String| normalize(name).strip_suffix(&part).is_some_and(|before| before.ends_with('-'));
        if names.iter().any(is_end) {
            names.retain(is_end);
        } else {
            names.retain(|name| normalize(name).contains(&part));
        }
        Ok(names)
    }

    /// Returns the note on a list or search without sessions: the projects closest to the requested
    /// one, or the searched locations.
    pub(crate) fn no_session_notes(&self, project: Option<&str>) -> Result<Vec<String>> {
        if let Some(requested) = project
            && self.matching(requested)?.is_empty()
        {
            let names = nearest(&self.projects()?, requested);
            if !names.is_empty() {
                let (verb, names) = (if names.len() == 1 { "is" } else { "are" }, names.join(", "));
                let requested = label(requested, 200);
                return Ok(vec![format!("no project matches {requested}: the nearest {verb} {names}")]);
            }
        }
        let mut count = 0_u64;
        self.each(None, &mut |_| {
            count += 1;
            Ok(())
        })?;
        let mut folders = self.roots().map(display_path).collect::<Vec<_>>();
        folders.extend(self.connected().map(|_| "the cloud".to_owned()));
        let searched = folders.join(" or ");
        Ok(vec![match count {
            0 if folders.is_empty() => "no sessions found: no folder was searched".to_owned(),
            0 => format!("no sessions found in {searched}"),
            1 => "the only session does not match".to_owned(),
            count => format!("none of {count} sessions match"),
        }])
    }
}

/// True if a text is the path of a directory, not a part of one.
fn is_directory(requested: &str) -> bool {
    requested.starts_with('/')
        || [".", ".."].contains(&requested)
        || requested.starts_with("./")
        || requested.starts_with("../")
}

/// Returns the names that programs may give a project: its directory with hyphens in place of
/// slashes, or of all characters but letters and digits.
fn project_names(requested: &str) -> Vec<String> {
    let mut names = vec![requested.to_owned()];
    if is_directory(requested) {
        let path = Path::new(requested);
        let found = path.canonicalize().or_else(|_| std::path::absolute(path));
        let path = found.map_or_else(|_| requested.to_owned(), |path| path.to_string_lossy().into_owned());
        for path in [requested, &path] {
            let path = path.trim_end_matches('/');
            names.push(path.replace('/', "-"));
            names.push(path.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        }
    }
    names
}

/// Normalizes a part of a path to its form in project names, in lower case.
fn normalize(text: &str) -> String {
    text.trim_matches('/').trim_start_matches('-').replace('/', "-").to_lowercase()
}

/// Returns the projects with the longest common substrings with the request.
fn nearest(names: &[String], requested: &str) -> Vec<String> {
    let requested = normalize(requested).chars().take(200).collect::<Vec<_>>();
    let mut ranked = names
        .iter()
        .map(|name| (common_substring_len(&normalize(name), &requested), name))
        .collect::<Vec<_>>();
    ranked.sort_by(|(one, a), (other, b)| other.cmp(one).then_with(|| a.cmp(b)));
    ranked.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| label(name, 200)).collect()
}

/// Returns the length of the longest common substring.
fn common_substring_len(name: &str, requested: &[char]) -> usize {
    // Two rows of the dynamic programming table suffice. Both inputs are bounded, so the cost is
    // too.
    let (mut before, mut longest) = (vec![0; requested.len() + 1], 0);
    for c in name.chars().take(1_000) {
        let mut now = vec![0; requested.len() + 1];
        for (at, other) in requested.iter().enumerate() {
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
    fn derives_project_names_from_directories() {
        assert!(project_names("/home/ada/my.app/").contains(&"-home-ada-my.app".to_owned()));
        assert!(project_names("/home/ada/my.app").contains(&"-home-ada-my-app".to_owned()));
        assert_eq!(project_names("app"), ["app"]);
    }

    #[test]
    fn closest_project_comes_first() {
        let names = ["-home-ada-api", "-home-ada-application", "-srv-web"].map(str::to_owned);
        assert_eq!(nearest(&names, "applikation")[0], "-home-ada-application");
        assert_eq!(nearest(&names, "webb")[0], "-srv-web");
        assert_eq!(nearest(&[], "x"), Vec::<String>::new());
    }
}
