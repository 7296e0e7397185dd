//! Reads the settings file, and secret files.

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

/// Maximum size of the settings file.
const MAX_FILE: u64 = 4 << 20;

/// Maximum size of a secret file.
const MAX_SECRET: u64 = 64 << 10;

/// The section `session_storage` of the settings file.
#[derive(Default)]
pub(super) struct Section {
    path: PathBuf,
    /// True if other users may read the file.
    is_open: bool,
    values: Map<String, Value>,
}

/// The section of the file that is ours; sections of other programs are ignored.
#[derive(Deserialize)]
struct SettingsFile {
    #[serde(default)]
    session_storage: Option<Value>,
}

pub(super) fn read(path: &Path) -> Result<Section> {
    let Some((text, is_open)) = contents(path, MAX_FILE)? else { return Ok(Section::default()) };
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

/// The message of the parser is dropped, because it may show the line, which may contain a key.
/// Only its position is kept.
fn parse(path: &Path, text: &str) -> Result<SettingsFile> {
    serde_saphyr::from_str(text).map_err(|error| {
        let position = error.location().map(|at| (at.line(), at.column()));
        SettingFault::Yaml { path: path.to_owned(), position }.into()
    })
}

/// Reads a secret file. It must contain only the secret, except for white space around it.
pub(super) fn secret(path: &Path) -> Result<Secret> {
    let fault = |problem| SettingFault::Secret { path: path.to_owned(), problem }.into();
    let Some((text, is_open)) = contents(path, MAX_SECRET)? else {
        return Err(fault(SecretProblem::Missing));
    };
    if is_open {
        return Err(fault(SecretProblem::Open));
    }
    let text = text.trim();
    if text.is_empty() || text.contains(['\n', '\r', '\0']) {
        return Err(fault(SecretProblem::Lines));
    }
    Ok(Secret::new(text))
}

/// Returns the content of a file, and true if other users may read it; `None` if it does not exist.
/// Both come from the same open file, even if it is renamed meanwhile.
fn contents(path: &Path, max: u64) -> Result<Option<(String, bool)>> {
    let file = match files::open(path) {
        Ok(file) => file,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) if error.is_irregular() => return Err(not_a_file(path, max)),
        Err(error) => return Err(error.into()),
    };
    let facts = files::attempt(Op::Inspect, path, || file.metadata())?;
    if facts.len() > max {
        return Err(not_a_file(path, max));
    }
    let mut text = String::new();
    files::attempt(Op::Read, path, || file.take(max).read_to_string(&mut text))?;
    Ok(Some((text, is_open(&facts))))
}

fn not_a_file(path: &Path, max: u64) -> Error {
    SettingFault::NotAFile { path: path.to_owned(), most: max }.into()
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

    /// The command that makes the file private.
    pub(super) fn closing(&self) -> String {
        closing(&self.path)
    }

    /// Resolves a path relative to the file's folder.
    pub(super) fn beside(&self, path: PathBuf) -> PathBuf {
        self.path.parent().map(|folder| folder.join(&path)).unwrap_or(path)
    }

    /// The values of a setting under all its names, in order of precedence. Null values are
    /// ignored.
    pub(super) fn find(&self, setting: Setting) -> Vec<(String, Value)> {
        let names = setting.paths.iter().flat_map(|path| {
            let other = path.strip_prefix("cosmos.").map(|rest| format!("cloud.{rest}"));
            std::iter::once((*path).to_owned()).chain(other)
        });
        let found = names.filter_map(|path| {
            let (section, name) = path.split_once('.').unwrap_or(("", &path));
            let values =
                if section.is_empty() { Some(&self.values) } else { self.values.get(section)?.as_object() };
            let value = values?.get(name).filter(|value| !value.is_null())?.clone();
            Some((format!("session_storage.{path}"), value))
        });
        found.collect()
    }

    /// Warnings about unknown names.
    pub(super) fn unknown_names(&self) -> Vec<String> {
        let known = Setting::ALL.iter().flat_map(|setting| setting.paths.iter().copied());
        let known = known.map(|path| path.split_once('.').unwrap_or(("", path))).collect::<Vec<_>>();
        let mut warnings = Vec::new();
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
                    warnings.extend(inner.keys().filter_map(|key| self.unknown_name(name, key, &names)));
                }
                None if is_section && !value.is_null() => {
                    warnings.push(format!(
                        "`session_storage.{name}` in {} is ignored: it must be a mapping",
                        self.name()
                    ));
                }
                _ if is_section => {}
                _ => {
                    let top =
                        known.iter().map(|(section, name)| if section.is_empty() { *name } else { *section });
                    let top = top.chain(["cloud"]).collect::<Vec<_>>();
                    warnings.extend(self.unknown_name("", name, &top));
                }
            }
        }
        warnings
    }

    /// A warning about an unknown name. Text that does not look like a name is not repeated, as it
    /// may be a misplaced value.
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
            "{shown} in `session_storage{dot}{section}` in {} is unknown and ignored{near}",
            self.name()
        ))
    }
}
