//! The workspace as described by cargo, and the files that belong to it.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::process;

/// Folders of generated or measured files, which people do not write.
const NOT_WRITTEN: &[&str] = &[
    ".git",
    "target",
    "testdata",
    "fuzz/target",
    "fuzz/corpus",
    "fuzz/seeds",
    "fuzz/artifacts",
    "fuzz/coverage",
];

/// The workspace as `cargo metadata --no-deps` describes it.
#[derive(Deserialize)]
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    #[serde(rename = "target_directory")]
    pub(crate) target: PathBuf,
}

#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    pub(crate) targets: Vec<Target>,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) repository: Option<String>,
    pub(crate) rust_version: Option<String>,
    pub(crate) metadata: Option<serde_json::Value>,
    /// The registries it may be published to: `None` means all, an empty list means none.
    publish: Option<Vec<String>>,
}

#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `None` for `[dependencies]`, otherwise `dev` or `build`.
    pub(crate) kind: Option<String>,
    pub(crate) path: Option<PathBuf>,
}

#[derive(Deserialize)]
pub(crate) struct Target {
    pub(crate) kind: Vec<String>,
    pub(crate) src_path: PathBuf,
}

impl Workspace {
    pub(crate) fn load() -> Result<Self, Box<dyn Error>> {
        let mut command = process::cargo(Path::new("."), "metadata --no-deps --offline --format-version 1");
        Ok(serde_json::from_str(&process::output(&mut command)?)?)
    }

    /// Returns a path as shown in messages: relative to the root, with `/`.
    pub(crate) fn relative(&self, path: &Path) -> String {
        let inner = path.strip_prefix(&self.root).unwrap_or(path);
        inner.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
    }

    /// Returns every file written by people, as sorted relative paths.
    pub(crate) fn files(&self) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                let relative = self.relative(&path);
                if path.is_symlink() || NOT_WRITTEN.contains(&relative.as_str()) || path == self.target {
                    continue;
                }
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(relative);
                }
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

impl Package {
    pub(crate) fn is_published(&self) -> bool {
        self.publish.is_none()
    }

    /// The package's folder.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }
}

impl Target {
    /// True if the target has one of these kinds, in cargo's terms: `lib`, `bin`, `example`,
    /// `test`, `bench`.
    pub(crate) fn is(&self, kinds: &[&str]) -> bool {
        self.kind.iter().any(|kind| kinds.contains(&kind.as_str()))
    }
}
