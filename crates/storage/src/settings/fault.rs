//! What is wrong with settings. No value is repeated: what is at the wrong place may be a secret.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use trommel_base::text::shown_path;
use trommel_blocks::{Error, ErrorClass, StorageFault};

/// What is wrong with settings.
#[derive(Debug)]
#[non_exhaustive]
pub enum SettingFault {
    /// A setting is missing, or contradicts another.
    Setting {
        /// The names under which it can be set.
        setting: String,
        /// What is wrong with it.
        what: &'static str,
        /// What to do.
        advice: Cow<'static, str>,
    },
    /// A value is not one of those allowed.
    Value {
        /// Where it was set.
        origin: String,
        /// The values that are allowed.
        allowed: Cow<'static, str>,
    },
    /// A secret is in a file that others may read.
    OpenFile {
        /// The secret's name, and the file.
        origin: String,
        /// The command that closes the file.
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
    /// A file that should hold a secret cannot be used.
    Secret {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: SecretProblem,
    },
    /// Something else than a small file is in the place of a file.
    NotAFile {
        /// The path.
        path: PathBuf,
        /// The most bytes.
        most: u64,
    },
    /// A storage is to be used, and none is named.
    NoStorage,
    /// A storage is named, and a folder for it is not known.
    NoHome {
        /// The variable that names the folder, with its purpose.
        variable: &'static str,
    },
    /// The credentials are of a kind that the storage does not know.
    Credentials,
    /// The storage that is named is not part of this build.
    NotBuilt {
        /// The storage.
        storage: &'static str,
        /// The feature that builds it.
        feature: &'static str,
    },
    /// The settings name a storage that cannot be used.
    Unusable(Box<Error>),
}

/// Why a file cannot be used as a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretProblem {
    /// There is no such file.
    Missing,
    /// Others may read it.
    Open,
    /// It is not one line.
    Lines,
}

/// The command that closes a file to others.
pub(super) fn closing(path: &Path) -> String {
    format!("`chmod 600 {}`", path.display())
}

impl fmt::Display for SettingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { setting, what, .. } => write!(f, "the setting {setting} {what}"),
            Self::Value { origin, .. } => write!(f, "the value of {origin} cannot be used"),
            Self::OpenFile { origin, .. } => {
                write!(f, "{origin} is a secret, and others may read that file")
            }
            Self::Section { path } => {
                write!(f, "`session_storage` in {} must be names with values", shown_path(path))
            }
            Self::Yaml { path, position } => {
                write!(f, "{} is no YAML that can be read", shown_path(path))?;
                position.map_or(Ok(()), |(line, column)| write!(f, " near line {line}, column {column}"))
            }
            Self::Secret { path, problem } => {
                let problem = match problem {
                    SecretProblem::Missing => "there is no such file",
                    SecretProblem::Open => "others may read that file",
                    SecretProblem::Lines => "it must be one line, and nothing else in that file",
                };
                write!(f, "the secret in {}: {problem}", shown_path(path))
            }
            Self::NotAFile { path, most } => {
                write!(f, "{} must be a file of at most {most} bytes", shown_path(path))
            }
            Self::NoStorage => f.write_str("sessions are to be kept in a storage, and none is named"),
            Self::NoHome { .. } => f.write_str("a storage is named, and this user has no home"),
            Self::Credentials => f.write_str("Cosmos DB knows keys, connection strings and identities"),
            Self::NotBuilt { storage, .. } => {
                write!(f, "the settings name a storage in {storage}, which this build knows nothing of")
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
            Self::Section { .. } => "write a mapping there".into(),
            Self::Yaml { .. } => "look for a tab, a missing quote, or a name that stands twice there".into(),
            Self::Secret { path, problem } => match problem {
                SecretProblem::Missing => "make it, or name another".into(),
                SecretProblem::Open => closing(path).into(),
                SecretProblem::Lines => "remove the rest".into(),
            },
            Self::NotAFile { .. } => "name another file".into(),
            Self::NoStorage => {
                "set `session_storage.cosmos.endpoint` (or COSMOS_ENDPOINT) or `session_storage.objects.url` (or TROMMEL_OBJECTS_URL), or the mode `local`".into()
            }
            Self::NoHome { variable } => format!("set {variable}").into(),
            Self::Credentials => "name one as `auth_method`".into(),
            Self::NotBuilt { feature, .. } => format!("build it with the feature `{feature}`").into(),
            // Its text ends with its own advice.
            Self::Unusable(_) => return None,
        })
    }
}
