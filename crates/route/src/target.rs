//! Where a content goes: `inline`, `discard`, `variable:NAME`, `file:PATH`.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use trommel_base::text::safe;

use crate::error::{Error, ErrorKind, PatternFault, Result};
use crate::mode::{Scope, WriteMode};
use crate::pattern::{Now, Pattern};

/// Characters of a variable's name at most.
pub const NAME_CHARS: usize = 128;

/// Where a content goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// Where it would have gone anyway: into the prompt, or to the caller.
    #[default]
    Inline,
    /// Nowhere.
    Discard,
    /// Into the buffer of this name.
    Variable(Pattern),
    /// Into the file of this path.
    File(Pattern),
}

impl Target {
    /// Reads a destination. An error tells what is missing, and what there is.
    pub fn parse(text: &str) -> Result<Self> {
        let refuse = |why: &'static str| Err(ErrorKind::Target { text: text.to_owned(), why }.into());
        let text = text.trim();
        let (form, rest) =
            text.split_once(':').map_or((text, None), |(form, rest)| (form, Some(rest.trim())));
        let pattern = |name: &str| {
            let pattern = Pattern::parse(name)?;
            if pattern.files().is_some() {
                return Err(Error::from(ErrorKind::Pattern(PatternFault::ReadOnly(name.to_owned()))));
            }
            Ok(pattern)
        };
        match (form.trim_end().to_ascii_lowercase().as_str(), rest) {
            ("inline", None) => Ok(Self::Inline),
            ("discard", None) => Ok(Self::Discard),
            ("variable", None | Some("")) => refuse("a name is missing behind `variable:`"),
            ("file", None | Some("")) => refuse("a path is missing behind `file:`"),
            ("variable", Some(name)) => {
                check_name(name)?;
                Ok(Self::Variable(pattern(name)?))
            }
            ("file", Some(path)) => {
                check_path(path)?;
                Ok(Self::File(pattern(path)?))
            }
            ("", _) => refuse("it is empty"),
            ("inline" | "discard", Some(_)) => refuse("it takes no name"),
            _ => refuse("there is no such destination"),
        }
    }

    /// Whether the content goes elsewhere than it would have gone anyway.
    pub fn is_routed(&self) -> bool {
        *self != Self::Inline
    }
}

/// The text that [`parse`](Target::parse) reads.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inline => f.write_str("inline"),
            Self::Discard => f.write_str("discard"),
            Self::Variable(name) => write!(f, "variable:{name}"),
            Self::File(path) => write!(f, "file:{path}"),
        }
    }
}

impl FromStr for Target {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// An error unless this can be the name of a variable.
pub fn check_name(name: &str) -> Result<()> {
    let chars = name.chars().count();
    let why = if name.trim().is_empty() {
        Cow::from("it is empty")
    } else if chars > NAME_CHARS {
        format!("it has {chars} characters, and may have {NAME_CHARS}").into()
    } else if safe(name) != name {
        "it holds characters that cannot be seen".into()
    } else {
        return Ok(());
    };
    Err(ErrorKind::VariableName { name: name.to_owned(), why }.into())
}

/// An error unless a path stays below the root as far as its words tell; links are the system's
/// business.
pub fn check_path(path: &str) -> Result<()> {
    let why = if path.contains('\0') {
        "it holds a zero byte"
    } else if path.starts_with(['/', '\\']) || Path::new(path).is_absolute() {
        "it begins at the root of the disk"
    } else if path.split(['/', '\\']).any(|part| part == "..") {
        "paths must stay inside the root (no `..`)"
    } else if path.ends_with('/') {
        "it names a folder"
    } else if safe(path) != path {
        "it holds characters that cannot be seen"
    } else {
        return Ok(());
    };
    Err(ErrorKind::Outside { path: path.to_owned(), why: why.into() }.into())
}

/// A path with the extension of Markdown when its name has none.
pub fn with_extension(path: &str) -> String {
    if Path::new(path).extension().is_some() { path.to_owned() } else { format!("{path}.md") }
}

/// Where a content goes, and how it is written there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Route {
    /// Where it goes.
    pub target: Target,
    /// How it is written there; [`WriteMode::Append`] unless it is said.
    pub write_mode: Option<WriteMode>,
    /// How long the variable lives; what is usual for the host unless it is said.
    pub scope: Option<Scope>,
}

impl Route {
    /// A route with everything as usual.
    pub fn to(target: Target) -> Self {
        Self { target, write_mode: None, scope: None }
    }

    /// Sets how it is written.
    #[must_use]
    pub fn write_mode(mut self, mode: WriteMode) -> Self {
        self.write_mode = Some(mode);
        self
    }

    /// Sets how long the variable lives.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// How it is written.
    pub fn mode(&self) -> WriteMode {
        self.write_mode.unwrap_or_default()
    }

    /// Where it leads at some time.
    pub fn resolve(&self, now: &Now) -> Result<Place> {
        match &self.target {
            Target::Inline | Target::Discard => Ok(Place::Nowhere),
            Target::Variable(name) => {
                let name = name.resolve(now);
                check_name(&name)?;
                Ok(Place::Variable(name))
            }
            Target::File(path) => {
                let path = with_extension(&path.resolve(now));
                check_path(&path)?;
                Ok(Place::File(path))
            }
        }
    }
}

/// A destination without patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// Neither a buffer nor a file.
    Nowhere,
    /// The buffer of this name.
    Variable(String),
    /// The file of this path.
    File(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorClass;

    #[test]
    fn destinations_are_read_and_written() {
        for text in
            ["inline", "discard", "variable:foo", "file:results/{today}", "variable:a b", "file:a (1), b.md"]
        {
            assert_eq!(Target::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Target::parse(" Variable : foo ").unwrap(), Target::parse("variable:foo").unwrap());
    }

    #[test]
    fn r45_what_is_no_destination_is_explained() {
        for (text, class, said) in [
            ("", ErrorClass::Target, "it is empty"),
            ("variable:", ErrorClass::Target, "a name is missing"),
            ("variable", ErrorClass::Target, "a name is missing"),
            ("file: ", ErrorClass::Target, "a path is missing"),
            ("inline:x", ErrorClass::Target, "takes no name"),
            ("s3:bucket", ErrorClass::Target, "inline, discard, variable:NAME or file:PATH"),
            ("file:/etc/passwd", ErrorClass::Outside, "root of the disk"),
            ("file:a/../../b", ErrorClass::Outside, "`..`"),
            ("file:a\0b", ErrorClass::Outside, "zero byte"),
            ("file:a/", ErrorClass::Outside, "a folder"),
            ("file:{pending}", ErrorClass::Pattern, "cannot be written to"),
            ("file:{someday}", ErrorClass::Pattern, "there is no pattern"),
            ("variable:a\u{202e}b", ErrorClass::Name, "cannot be seen"),
        ] {
            let error = Target::parse(text).unwrap_err();
            assert_eq!(error.class(), class, "{text}: {error}");
            assert!(error.to_string().contains(said), "{text}: {error}");
        }
        assert_eq!(
            Target::parse(&format!("variable:{}", "x".repeat(129))).unwrap_err().class(),
            ErrorClass::Name
        );
    }

    #[test]
    fn only_names_without_an_extension_get_one() {
        let now = Now::at("2026-03-04T00:00[UTC]".parse().unwrap());
        for (target, path) in [
            ("file:results/{today}", "results/2026-03-04.md"),
            ("file:a.txt", "a.txt"),
            ("file:a.b/c", "a.b/c.md"),
            ("file:.hidden", ".hidden.md"),
        ] {
            let place = Route::to(Target::parse(target).unwrap()).resolve(&now).unwrap();
            assert_eq!(place, Place::File(path.into()));
        }
    }
}
