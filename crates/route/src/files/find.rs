//! The files that a path with wildcards stands for.

use std::path::Path;

use glob::{MatchOptions, Pattern as Glob};

use super::{Files, changed, refused};
use crate::error::{Error, ErrorKind, Result, shown};
use crate::pattern::Files as Wanted;
use crate::target::check_path;

/// Files that a path may stand for.
const MOST: usize = 10_000;

/// Whether a path stands for several files.
fn has_wildcard(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

impl Files {
    /// The files that a path stands for, sorted by name: itself if it is there, else with the extension of Markdown, else those that fit
    /// its last part.
    ///
    /// An error tells that wildcards stand in the path's folders, or that there are more than 10,000 files.
    pub fn find(&self, path: &str) -> Result<Vec<String>> {
        check_path(path)?;
        if self.root.is_file(path) {
            return Ok(vec![path.to_owned()]);
        }
        if !has_wildcard(path) {
            let named = format!("{path}.md");
            let is_named = Path::new(path).extension().is_none() && self.root.is_file(&named);
            // What is there and no file is an error to whoever reads it.
            let found = if is_named { Some(named) } else { self.is_there(path).then(|| path.to_owned()) };
            return Ok(found.into_iter().collect());
        }
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        if has_wildcard(folder) {
            let message = format!(
                "`{}` has wildcards in a folder's name: only the last part may have some",
                shown(path)
            );
            return Err(Error::new(ErrorKind::Pattern, message));
        }
        let glob = Glob::new(name).map_err(|error| {
            Error::new(ErrorKind::Pattern, format!("`{}` is no pattern of files: {error}", shown(name)))
        })?;
        self.check_open(folder)?;
        self.names_in(folder, &glob, path)
    }

    fn names_in(&self, folder: &str, glob: &Glob, path: &str) -> Result<Vec<String>> {
        let entries = match self.root.read_dir(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|cause| refused("list the folder of", path, cause))?,
        };
        let options = MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|cause| refused("list the folder of", path, cause))?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let whole = if folder == "." { name.clone() } else { format!("{folder}/{name}") };
            if glob.matches_with(&name, options) && check_path(&whole).is_ok() && self.root.is_file(&whole) {
                found.push(whole);
            }
            if found.len() > MOST {
                let message = format!("`{}` stands for more than {MOST} files: name fewer", shown(path));
                return Err(Error::new(ErrorKind::Range, message));
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Of these files the newest, or the oldest, so many.
    pub(crate) fn choose(&self, found: Vec<String>, wanted: Wanted) -> Result<Vec<String>> {
        let mut dated = Vec::with_capacity(found.len());
        for path in found {
            let file = self.read(&path)?;
            dated.push((changed(&file).map_err(|cause| Error::io("look at", &path, cause))?, path));
        }
        dated.sort();
        let count = match wanted {
            Wanted::Latest(count) => {
                dated.reverse();
                count
            }
            Wanted::Pending(count) => count,
        };
        Ok(dated.into_iter().take(count).map(|(_, path)| path).collect())
    }
}
