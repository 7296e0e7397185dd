//! The settings file, and files that hold a secret.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use trommel_session::open_regular;

use super::layers::Setting;
use super::names;
use crate::error::{Error, ErrorKind, Result};
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
            let message = format!("`session_storage` in {} must be names with values", path.display());
            return Err(Error::new(ErrorKind::Request, message));
        }
    };
    Ok(Section { path: path.to_owned(), is_open, values })
}

/// What the reader says is not told, as it may show the line, and that may hold a key; where it stands is.
fn parse(path: &Path, text: &str) -> Result<Whole> {
    serde_saphyr::from_str(text).map_err(|error| {
        let place = error.location().map(|at| format!(" near line {}, column {}", at.line(), at.column()));
        let message = format!(
            "{} is no YAML that can be read{}: look for a tab, a missing quote, or a name that stands twice there",
            path.display(),
            place.unwrap_or_default()
        );
        Error::new(ErrorKind::Request, message)
    })
}

/// A secret in a file of its own. It is the only thing there, but for white space around it.
pub(super) fn secret(path: &Path) -> Result<Secret> {
    let wrong = |kind, why: &str| Error::new(kind, format!("the secret in {}: {why}", path.display()));
    let Some((text, is_open)) = contents(path, LONGEST_SECRET)? else {
        return Err(wrong(ErrorKind::NotFound, "there is no such file; make it, or name another"));
    };
    if is_open {
        return Err(wrong(ErrorKind::Denied, &format!("others may read that file: {}", closing(path))));
    }
    let text = text.trim();
    if text.is_empty() || text.contains(['\n', '\r', '\0']) {
        return Err(wrong(ErrorKind::Request, "it must be one line, and nothing else in that file"));
    }
    Ok(Secret::new(text))
}

/// What a file holds, and whether others may read it; none where there is none. Both are of the same file, whatever happens to its
/// name meanwhile.
fn contents(path: &Path, most: u64) -> Result<Option<(String, bool)>> {
    let failed = |error| Error::io("read", path, error);
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::IsADirectory) => {
            return Err(not_a_file(path, most));
        }
        Err(error) => return Err(failed(error)),
    };
    let facts = file.metadata().map_err(failed)?;
    if facts.len() > most {
        return Err(not_a_file(path, most));
    }
    let mut text = String::new();
    file.take(most).read_to_string(&mut text).map_err(failed)?;
    Ok(Some((text, is_open(&facts))))
}

fn not_a_file(path: &Path, most: u64) -> Error {
    Error::new(ErrorKind::Request, format!("{} must be a file of at most {most} bytes", path.display()))
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

fn closing(path: &Path) -> String {
    format!("`chmod 600 {}`", path.display())
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

    /// The values of a setting, by the names it stands under, the one that wins first. One that is null is none.
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
    pub(super) fn strangers(&self) -> Vec<String> {
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
                    notes.extend(inner.keys().filter_map(|key| self.stranger(name, key, &names)));
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
                    notes.extend(self.stranger("", name, &top));
                }
            }
        }
        notes
    }

    /// A note on a name that is none of those known. What does not look like a name is not repeated: it may be a value that slipped.
    fn stranger(&self, section: &str, name: &str, known: &[&str]) -> Option<String> {
        if known.contains(&name) {
            return None;
        }
        let is_plain = name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let shown = if is_plain { format!("`{name}`") } else { "a name".to_owned() };
        let near =
            names::nearest(name, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
        let dot = if section.is_empty() { "" } else { "." };
        Some(format!(
            "{shown} in `session_storage{dot}{section}` in {} is not known, and is passed over{}",
            self.name(),
            near.unwrap_or_default()
        ))
    }
}
