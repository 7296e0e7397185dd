//! Errors of guides.

use std::fmt;

use trommel_base::files;

use crate::VERSION;

/// The result of an operation on guides.
pub type Result<T> = std::result::Result<T, Error>;

/// The error of an operation on guides.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A guide cannot be read, written, or removed.
    File(files::Error),
    /// The bytes of a guide are damaged.
    Damaged(&'static str),
    /// The guide has a format of another release.
    Version(u32),
    /// The guide is one of another input, or the input has changed since.
    Changed(&'static str),
    /// The input has no guide.
    Missing,
    /// The input cannot have a guide.
    Unsuitable(&'static str),
    /// The input cannot be read, or is malformed.
    Input(Box<trommel::Error>),
}

impl Error {
    pub(crate) fn damaged(what: &'static str) -> Self {
        Self::Damaged(what)
    }

    pub(crate) fn version(version: u32) -> Self {
        Self::Version(version)
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::File(error) => Some(error.help()),
            Self::Damaged(_) | Self::Version(_) | Self::Changed(_) => {
                Some("build the guide again with `trommel guide build`")
            }
            Self::Missing => Some("build one with `trommel guide build`"),
            Self::Unsuitable(_) | Self::Input(_) => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Damaged(what) => write!(f, "the guide is damaged: {what}"),
            Self::Version(version) => {
                write!(f, "the guide has version {version}, and this release reads version {VERSION}")
            }
            Self::Changed(what) => write!(f, "the guide does not fit the input: {what}"),
            Self::Missing => f.write_str("the input has no guide"),
            Self::Unsuitable(why) => write!(f, "the input cannot have a guide: {why}"),
            Self::Input(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File(error) => error.source(),
            Self::Input(error) => error.source(),
            _ => None,
        }
    }
}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        Self::File(error)
    }
}

impl From<trommel::Error> for Error {
    fn from(error: trommel::Error) -> Self {
        Self::Input(Box::new(error))
    }
}
