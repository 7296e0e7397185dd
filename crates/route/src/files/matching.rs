//! Files that match a path with wildcards.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use cap_std::fs::MetadataExt;
use glob::{MatchOptions, Pattern as Glob};
use trommel_base::files::Op;
use trommel_base::text::display_name;

use super::{Files, refused};
use crate::error::{ErrorKind, PatternFault, Result};
use crate::pattern::Files as FilePattern;
use crate::target::check_path;

/// Maximum number of files of one input.
const MAX_FILES: usize = 100_000;

/// Maximum number of names in the report of unreadable names.
const MAX_SKIPPED_NAMES: usize = 5;

/// The files that match a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatchedFiles {
    /// The paths, sorted by name, or by time if the newest or oldest were requested.
    pub paths: Vec<String>,
    /// True if the folder exists.
    pub has_folder: bool,
    /// Escaped names of files that no path can refer to, because they are not UTF-8 or have control
    /// characters. Only the first few.
    pub left_out: Vec<String>,
    /// The number of such files.
    pub left_out_count: u64,
}

/// True if a path may match several files.
pub fn has_wildcard(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// The modification time and path of a file.
type FileTime = (i128, String);

/// Collects matches: all of them, or only the newest or oldest `n`.
enum Collector<'a> {
    All(Vec<String>),
    Newest(usize, BinaryHeap<Reverse<FileTime>>),
    Oldest(usize, BinaryHeap<FileTime>, &'a dyn Fn(&str, i128) -> bool),
}

impl Collector<'_> {
    /// Adds a match. Fails if there are too many.
    fn add(&mut self, path: String, changed: i128, wanted: &str) -> Result<()> {
        match self {
            Self::All(paths) if paths.len() == MAX_FILES => {
                return Err(ErrorKind::TooManyFiles { path: wanted.to_owned(), limit: MAX_FILES }.into());
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
            // The heap is reversed, so its sorted order has the newest first.
            Self::Newest(_, heap) => {
                heap.into_sorted_vec().into_iter().map(|Reverse((_, path))| path).collect()
            }
            Self::Oldest(_, heap, _) => heap.into_sorted_vec().into_iter().map(|(_, path)| path).collect(),
        }
    }
}

impl Files {
    /// Returns the files that match a path, sorted by name.
    ///
    /// An existing file matches itself. Otherwise the path with the extension `.md` is tried. A
    /// path with wildcards in its last part matches files in that folder. If it matches nothing and
    /// has no extension, it is tried again with `.md`.
    ///
    /// Wildcards in folders and more than 100,000 files are errors.
    pub fn find(&self, path: &str) -> Result<Vec<String>> {
        self.matched(path, None, &|_, _| true).map(|matched| matched.paths)
    }

    /// Like [`find`](Self::find), or only the newest, or the oldest that `is_new` accepts. Memory
    /// is proportional to the number of returned paths.
    pub fn matched(
        &self,
        path: &str,
        wanted: Option<FilePattern>,
        is_new: &dyn Fn(&str, i128) -> bool,
    ) -> Result<MatchedFiles> {
        check_path(path)?;
        if wanted.is_none() && !has_wildcard(path) || self.root.is_file(path) && wanted.is_none() {
            return self.literal(path);
        }
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        if has_wildcard(folder) {
            return Err(ErrorKind::Pattern(PatternFault::Folder(path.to_owned())).into());
        }
        self.check_not_excluded(folder)?;
        let collector = || match wanted {
            None => Collector::All(Vec::new()),
            Some(FilePattern::Latest(count)) => Collector::Newest(count, BinaryHeap::new()),
            Some(FilePattern::Pending(count)) => Collector::Oldest(count, BinaryHeap::new(), is_new),
        };
        let matched = self.names_in(folder, name, path, collector())?;
        if matched.paths.is_empty() && matched.has_folder && Path::new(name).extension().is_none() {
            return self.names_in(folder, &format!("{name}.md"), path, collector());
        }
        Ok(matched)
    }

    /// Finds the single file of a path without wildcards.
    fn literal(&self, path: &str) -> Result<MatchedFiles> {
        let found = |path: &str| {
            let paths = vec![path.to_owned()];
            Ok(MatchedFiles { paths, has_folder: true, ..MatchedFiles::default() })
        };
        match self.root.metadata(path) {
            Ok(there) if there.is_file() => return found(path),
            Ok(_) => {}
            Err(cause) if is_missing(&cause) => {}
            // A path out of the root exists, so it must not be reported as missing.
            Err(cause) => return Err(refused(Op::Open, path, cause)),
        }
        let named = format!("{path}.md");
        if Path::new(path).extension().is_none() && self.root.is_file(&named) {
            return found(&named);
        }
        // A folder or device is returned, so that reading it yields a specific error.
        if self.exists(path) {
            return found(path);
        }
        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        Ok(MatchedFiles { has_folder: self.root.is_dir(folder), ..MatchedFiles::default() })
    }

    fn names_in(
        &self,
        folder: &str,
        name: &str,
        path: &str,
        mut collector: Collector<'_>,
    ) -> Result<MatchedFiles> {
        let glob = Glob::new(name).map_err(|error| {
            ErrorKind::Pattern(PatternFault::Glob { name: name.to_owned(), why: error.to_string() })
        })?;
        let entries = match self.root.read_dir(folder) {
            Err(error) if is_missing(&error) => return Ok(MatchedFiles::default()),
            entries => entries.map_err(|cause| refused(Op::List, path, cause))?,
        };
        let options = MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        let mut matched = MatchedFiles { has_folder: true, ..MatchedFiles::default() };
        for entry in entries {
            let entry = entry.map_err(|cause| refused(Op::List, path, cause))?;
            let name = entry.file_name();
            // Match the lossy name, so that unreadable names are reported if they match.
            let name_shown = name.to_string_lossy();
            if !glob.matches_with(&name_shown, options) {
                continue;
            }
            let whole = if folder == "." { name_shown.to_string() } else { format!("{folder}/{name_shown}") };
            if name.to_str().is_none() || check_path(&whole).is_err() {
                matched.left_out_count += 1;
                if matched.left_out.len() < MAX_SKIPPED_NAMES {
                    matched.left_out.push(display_name(&name_shown));
                }
                continue;
            }
            let Ok(there) = self.root.metadata(&whole) else { continue };
            if there.is_file() {
                let changed = i128::from(there.mtime()) * 1_000_000_000 + i128::from(there.mtime_nsec());
                collector.add(whole, changed, path)?;
            }
        }
        matched.paths = collector.paths();
        Ok(matched)
    }
}

/// True if the file does not exist.
fn is_missing(cause: &std::io::Error) -> bool {
    matches!(cause.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}
