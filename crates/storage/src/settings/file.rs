//! The settings file, and files that hold a secret.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use trommel_base::files::{self, Op};
use trommel_base::nearest_one;
use trommel_blocks::{Error, Result};

use super::fault::{SecretProblem, SettingFault, closing};
use super::table::Setting;
use crate::secret::Secret;

/// A settings file is no longer.
const LONGEST: u64 = 4 << 20;

/// A secret is no longer.
const LONGEST_SECRET: u64 = 64 << 10;

/// What the settings file says of sessions.
#[derive(Default)]
pub(super) struct Section {
    path: PathBuf,
    /// Whether others than its owner may read it.
    is_open: bool,
    values: Map<String, Value>,
}

/// The one part of the file that is ours. What other programs write besides is passed over.
#[derive(Deserialize)]
struct Whole {
    #[serde(default)]
    session_storage: Option<Value>,
}

pub(super) fn read(path: &Path) -> Result<Section> {
    let Some((text, is_open)) = contents(path, LONGEST)? else { return Ok(Section::default()) };
    let values = if text.trim().is_empty() { None } else { parse(path, &text)?.session_storage };
    let values = match values {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(values)) => values,
        Some(_) => {
            return Err(SettingFault::Section { path: path.to_owned() }.into());
        }
    };
    Ok(Section { path: path.to_owned(), is_open, values })
}

/// What the reader says is not told, as it may show the line, and that may hold a key; where it
/// stands is.
fn parse(path: &Path, text: &str) -> Result<Whole> {
    serde_saphyr::from_str(text).map_err(|error| {
        let position = error.location().map(|at| (at.line(), at.column()));
        SettingFault::Yaml { path: path.to_owned(), position }.into()
    })
}

/// A secret in a file of its own. It is the only thing there, but for white space around it.
pub(super) fn secret(path: &Path) -> Result<Secret> {
    let wrong = |problem| SettingFault::Secret { path: path.to_owned(), problem }.into();
    let Some((text, is_open)) = contents(path, LONGEST_SECRET)? else {
        return Err(wrong(SecretProblem::Missing));
    };
    if is_open {
        return Err(wrong(SecretProblem::Open));
    }
    let text = text.trim();
    if text.is_empty() || text.contains(['\n', '\r', '\0']) {
        return Err(wrong(SecretProblem::Lines));
    }
    Ok(Secret::new(text))
}

/// What a file holds, and whether others may read it; none where there is none. Both are of the
/// same file, whatever happens to its name meanwhile.
fn contents(path: &Path, most: u64) -> Result<Option<(String, bool)>> {
    let file = match files::open(path) {
        Ok(file) => file,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) if error.is_irregular() => return Err(not_a_file(path, most)),
        Err(error) => return Err(error.into()),
    };
    let facts = files::attempt(Op::Inspect, path, || file.metadata())?;
    if facts.len() > most {
        return Err(not_a_file(path, most));
    }
    let mut text = String::new();
    files::attempt(Op::Read, path, || file.take(most).read_to_string(&mut text))?;
    Ok(Some((text, is_open(&facts))))
}

fn not_a_file(path: &Path, most: u64) -> Error {
    SettingFault::NotAFile { path: path.to_owned(), most }.into()
}

#[cfg(unix)]
fn is_open(facts: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    facts.permissions().mode() & 0o077 != 0
}

#[cfg(not(unix))]
fn is_open(_: &std::fs::Metadata) -> bool {
    false
}

impl Section {
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// How to close it to others.
    pub(super) fn closing(&self) -> String {
        closing(&self.path)
    }

    /// A path that begins at the file's own folder.
    pub(super) fn beside(&self, path: PathBuf) -> PathBuf {
        self.path.parent().map(|folder| folder.join(&path)).unwrap_or(path)
    }

    /// The values of a setting, by the names it stands under, the one that wins first. One that is
    /// null is none.
    pub(super) fn find(&self, setting: Setting) -> Vec<(String, Value)> {
        let spellings = setting.paths.iter().flat_map(|path| {
            let other = path.strip_prefix("cosmos.").map(|rest| format!("cloud.{rest}"));
            std::iter::once((*path).to_owned()).chain(other)
        });
        let found = spellings.filter_map(|path| {
            let (section, name) = path.split_once('.').unwrap_or(("", &path));
            let values =
                if section.is_empty() { Some(&self.values) } else { self.values.get(section)?.as_object() };
            let value = values?.get(name).filter(|value| !value.is_null())?.clone();
            Some((format!("session_storage.{path}"), value))
        });
        found.collect()
    }

    /// Notes on names that nobody knows.
    pub(super) fn unknown_names(&self) -> Vec<String> {
        let known = Setting::ALL.iter().flat_map(|setting| setting.paths.iter().copied());
        let known = known.map(|path| path.split_once('.').unwrap_or(("", path))).collect::<Vec<_>>();
        let mut notes = Vec::new();
        for (name, value) in &self.values {
            let (of, inner) = match (name.as_str(), value.as_object()) {
                ("cloud" | "cosmos", inner) => ("cosmos", inner),
                (name, inner) => (name, inner),
            };
            let is_section = known.iter().any(|(section, _)| *section == of);
            match inner {
                Some(inner) if is_section => {
                    let names = known.iter().filter(|(section, _)| *section == of).map(|(_, name)| *name);
                    let names = names.collect::<Vec<_>>();
                    notes.extend(inner.keys().filter_map(|key| self.unknown_name(name, key, &names)));
                }
                None if is_section && !value.is_null() => {
                    notes.push(format!(
                        "`session_storage.{name}` in {} is passed over: it must be names with values",
                        self.name()
                    ));
                }
                _ if is_section => {}
                _ => {
                    let top =
                        known.iter().map(|(section, name)| if section.is_empty() { *name } else { *section });
                    let top = top.chain(["cloud"]).collect::<Vec<_>>();
                    notes.extend(self.unknown_name("", name, &top));
                }
            }
        }
        notes
    }

    /// A note on a name that is none of those known. What does not look like a name is not
    /// repeated: it may be a value that slipped.
    fn unknown_name(&self, section: &str, name: &str, known: &[&str]) -> Option<String> {
        if known.contains(&name) {
            return None;
        }
        let is_plain = name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let shown = if is_plain { format!("`{name}`") } else { "a name".to_owned() };
        let near = nearest_one(name, known.iter().copied());
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let dot = if section.is_empty() { "" } else { "." };
        Some(format!(
            "{shown} in `session_storage{dot}{section}` in {} is not known, and is passed over{near}",
            self.name()
        ))
    }
}
