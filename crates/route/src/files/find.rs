//! The files that a path with wildcards matches.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use cap_std::fs::MetadataExt;
use glob::{MatchOptions, Pattern as Glob};
use trommel_base::files::Op;
use trommel_base::text::shown_name;

use super::{Files, refused};
use crate::error::{ErrorKind, PatternFault, Result};
use crate::pattern::Files as Wanted;
use crate::target::check_path;

/// Files that one input may read.
const MOST: usize = 100_000;

/// Names that are listed of those that were left out.
const LEFT_OUT: usize = 5;

/// The files that a path matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matched {
    /// Their paths, sorted by name, or by time where the newest or the oldest were asked for.
    pub paths: Vec<String>,
    /// True if the folder is there.
    pub has_folder: bool,
    /// Files that no path can name: not UTF-8, or with control characters. The first ones, as they
    /// may be shown.
    pub left_out: Vec<String>,
    /// How many those are.
    pub left_out_count: u64,
}

/// True if a path may match several files.
pub fn has_wildcard(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// A file and when it was changed last.
type Dated = (i128, String);

/// Gathers matches: all of them, or the newest or oldest few, which is all that is held then.
enum Gather<'a> {
    All(Vec<String>),
    Newest(usize, BinaryHeap<Reverse<Dated>>),
    Oldest(usize, BinaryHeap<Dated>, &'a dyn Fn(&str, i128) -> bool),
}

impl Gather<'_> {
    /// Adds a match. Returns an error if there are too many.
    fn add(&mut self, path: String, changed: i128, wanted: &str) -> Result<()> {
        match self {
            Self::All(paths) if paths.len() == MOST => {
                return Err(ErrorKind::TooManyFiles { path: wanted.to_owned(), limit: MOST }.into());
            }
            Self::All(paths) => paths.push(path),
            Self::Newest(count, heap) => {
                heap.push(Reverse((changed, path)));
                if heap.len() > *count {
                    heap.pop();
                }
            }
            Self::Oldest(count, heap, is_new) => {
                if is_new(&path, changed) {
                    heap.push((changed, path));
                }
                if heap.len() > *count {
                    heap.pop();
                }
            }
        }
        Ok(())
    }

    fn paths(self) -> Vec<String> {
        match self {
            Self::All(mut paths) => {
                paths.sort_unstable();
                paths
            }
            // Reversed, the sorted order is the newest first.
            Self::Newest(_, heap) => {
                heap.into_sorted_vec().into_iter().map(|Reverse((_, path))| path).collect()
            }
            Self::Oldest(_, heap, _) => heap.into_sorted_vec().into_iter().map(|(_, path)| path).collect(),
        }
    }
}

impl Files {
    /// The files that a path matches, sorted by name: itself if it is there, else with the
    /// extension of Markdown, else those that match its last part. A pattern without an extension
    /// that matches nothing is tried with that of Markdown, too.
    ///
    /// It is an error if the path's folders have wildcards, or if there are more than 100,000
    /// files.
    pub fn find(&self, path: &str) -> Result<Vec<String>> {
        self.matched(path, None, &|_, _| true).map(|matched| matched.paths)
    }

    /// The same, or of the matches the newest, or the oldest that are new: of any number of files,
    /// only those are held.
    pub fn matched(
        &self,
        path: &str,
        wanted: Option<Wanted>,
        is_new: &dyn Fn(&str, i128) -> bool,
    ) -> Result<Matched> {
        check_path(path)?;
        if wanted.is_none() && !has_wildcard(path) || self.root.is_file(path) && wanted.is_none() {
            return self.literal(path);
        }
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        if has_wildcard(folder) {
            return Err(ErrorKind::Pattern(PatternFault::Folder(path.to_owned())).into());
        }
        self.check_open(folder)?;
        let gather = || match wanted {
            None => Gather::All(Vec::new()),
            Some(Wanted::Latest(count)) => Gather::Newest(count, BinaryHeap::new()),
            Some(Wanted::Pending(count)) => Gather::Oldest(count, BinaryHeap::new(), is_new),
        };
        let matched = self.names_in(folder, name, path, gather())?;
        if matched.paths.is_empty() && matched.has_folder && Path::new(name).extension().is_none() {
            return self.names_in(folder, &format!("{name}.md"), path, gather());
        }
        Ok(matched)
    }

    /// The one file that a path without wildcards names.
    fn literal(&self, path: &str) -> Result<Matched> {
        let found = |path: &str| {
            let paths = vec![path.to_owned()];
            Ok(Matched { paths, has_folder: true, ..Matched::default() })
        };
        match self.root.metadata(path) {
            Ok(there) if there.is_file() => return found(path),
            Ok(_) => {}
            Err(cause) if is_missing(&cause) => {}
            // What leads outside the root is there, but is not a missing file.
            Err(cause) => return Err(refused(Op::Open, path, cause)),
        }
        let named = format!("{path}.md");
        if Path::new(path).extension().is_none() && self.root.is_file(&named) {
            return found(&named);
        }
        // What is there but is not a file is an error when it is read.
        if self.is_there(path) {
            return found(path);
        }
        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        Ok(Matched { has_folder: self.root.is_dir(folder), ..Matched::default() })
    }

    fn names_in(&self, folder: &str, name: &str, path: &str, mut gather: Gather<'_>) -> Result<Matched> {
        let glob = Glob::new(name).map_err(|error| {
            ErrorKind::Pattern(PatternFault::Glob { name: name.to_owned(), why: error.to_string() })
        })?;
        let entries = match self.root.read_dir(folder) {
            Err(error) if is_missing(&error) => return Ok(Matched::default()),
            entries => entries.map_err(|cause| refused(Op::List, path, cause))?,
        };
        let options = MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        let mut matched = Matched { has_folder: true, ..Matched::default() };
        for entry in entries {
            let entry = entry.map_err(|cause| refused(Op::List, path, cause))?;
            let name = entry.file_name();
            // As it can be shown, so that what cannot be read is reported where it was meant.
            let name_shown = name.to_string_lossy();
            if !glob.matches_with(&name_shown, options) {
                continue;
            }
            let whole = if folder == "." { name_shown.to_string() } else { format!("{folder}/{name_shown}") };
            if name.to_str().is_none() || check_path(&whole).is_err() {
                matched.left_out_count += 1;
                if matched.left_out.len() < LEFT_OUT {
                    matched.left_out.push(shown_name(&name_shown));
                }
                continue;
            }
            let Ok(there) = self.root.metadata(&whole) else { continue };
            if there.is_file() {
                let changed = i128::from(there.mtime()) * 1_000_000_000 + i128::from(there.mtime_nsec());
                gather.add(whole, changed, path)?;
            }
        }
        matched.paths = gather.paths();
        Ok(matched)
    }
}

/// True if nothing is there.
fn is_missing(cause: &std::io::Error) -> bool {
    matches!(cause.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}
