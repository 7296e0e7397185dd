//! Faults of settings. Messages never repeat a value, because it may be a misplaced secret.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use trommel_base::text::display_path;
use trommel_blocks::{Error, ErrorClass, StorageFault};

/// A fault of a setting.
#[derive(Debug)]
#[non_exhaustive]
pub enum SettingFault {
    /// A setting is missing, or contradicts another.
    Setting {
        /// The names under which it can be set.
        setting: String,
        /// The fact about it.
        what: &'static str,
        /// The advice.
        advice: Cow<'static, str>,
    },
    /// A value is not allowed.
    Value {
        /// The location of the value.
        origin: String,
        /// The allowed values.
        allowed: Cow<'static, str>,
    },
    /// A secret is in a file that other users may read.
    OpenFile {
        /// The secret's name, and the file.
        origin: String,
        /// The command that makes the file private.
        closing: String,
    },
    /// The section of the settings file is not a mapping.
    Section {
        /// The file.
        path: PathBuf,
    },
    /// The settings file is not YAML.
    Yaml {
        /// The file.
        path: PathBuf,
        /// The line and the column.
        position: Option<(u64, u64)>,
    },
    /// A secret file cannot be used.
    Secret {
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: SecretProblem,
    },
    /// The path is not a regular file, or the file is too large.
    NotAFile {
        /// The path.
        path: PathBuf,
        /// The maximum size in bytes.
        most: u64,
    },
    /// A storage is needed, but none is configured.
    NoStorage,
    /// A storage is configured, but no folder for it is known.
    NoHome {
        /// The variable for that folder, with its purpose.
        variable: &'static str,
    },
    /// The storage does not support this kind of credentials.
    Credentials,
    /// The configured storage is not part of this build.
    NotBuilt {
        /// The storage.
        storage: &'static str,
        /// The feature that builds it.
        feature: &'static str,
    },
    /// The configured storage cannot be used.
    Unusable(Box<Error>),
}

/// The reason why a secret file cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretProblem {
    /// The file does not exist.
    Missing,
    /// Other users may read it.
    Open,
    /// It has more or less than one line.
    Lines,
}

/// The command that makes a file private.
pub(super) fn closing(path: &Path) -> String {
    format!("`chmod 600 {}`", path.display())
}

impl fmt::Display for SettingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { setting, what, .. } => write!(f, "the setting {setting} {what}"),
            Self::Value { origin, .. } => write!(f, "invalid value of {origin}"),
            Self::OpenFile { origin, .. } => {
                write!(f, "{origin} is a secret in a file that other users may read")
            }
            Self::Section { path } => {
                write!(f, "`session_storage` in {} must be a mapping", display_path(path))
            }
            Self::Yaml { path, position } => {
                write!(f, "{} is not valid YAML", display_path(path))?;
                position.map_or(Ok(()), |(line, column)| write!(f, " near line {line}, column {column}"))
            }
            Self::Secret { path, problem } => {
                let problem = match problem {
                    SecretProblem::Missing => "the file does not exist",
                    SecretProblem::Open => "other users may read the file",
                    SecretProblem::Lines => "the file must contain exactly one line",
                };
                write!(f, "the secret in {}: {problem}", display_path(path))
            }
            Self::NotAFile { path, most } => {
                write!(f, "{} must be a file of at most {most} bytes", display_path(path))
            }
            Self::NoStorage => f.write_str("no session storage is configured"),
            Self::NoHome { .. } => f.write_str("a storage is configured, but no home directory was found"),
            Self::Credentials => {
                f.write_str("Cosmos DB supports keys, connection strings, and identities only")
            }
            Self::NotBuilt { storage, .. } => {
                write!(f, "a storage in {storage} is configured, which this build does not support")
            }
            Self::Unusable(error) => write!(f, "{error}"),
        }
    }
}

impl StorageFault for SettingFault {
    fn class(&self) -> ErrorClass {
        match self {
            Self::OpenFile { .. } | Self::Secret { problem: SecretProblem::Open, .. } => ErrorClass::Denied,
            Self::Secret { problem: SecretProblem::Missing, .. } => ErrorClass::NotFound,
            Self::NotBuilt { .. } => ErrorClass::Unsupported,
            _ => ErrorClass::Request,
        }
    }

    fn help(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Setting { advice, .. } => Cow::Borrowed(&**advice),
            Self::Value { allowed, .. } => format!("it must be {allowed}").into(),
            Self::OpenFile { closing, .. } => Cow::Borrowed(&**closing),
            Self::Section { .. } => "write names with values".into(),
            Self::Yaml { .. } => "check for tabs, missing quotes, and duplicate names".into(),
            Self::Secret { path, problem } => match problem {
                SecretProblem::Missing => "create it, or set another path".into(),
                SecretProblem::Open => closing(path).into(),
                SecretProblem::Lines => "remove the other lines".into(),
            },
            Self::NotAFile { .. } => "choose another file".into(),
            Self::NoStorage => {
                "set `session_storage.cosmos.endpoint` (or COSMOS_ENDPOINT) or `session_storage.objects.url` (or TROMMEL_OBJECTS_URL), or the mode `local`".into()
            }
            Self::NoHome { variable } => format!("set {variable}").into(),
            Self::Credentials => "set `auth_method` to one of them".into(),
            Self::NotBuilt { feature, .. } => format!("build with the feature `{feature}`").into(),
            // Its text ends with its own advice.
            Self::Unusable(_) => return None,
        })
    }
}
