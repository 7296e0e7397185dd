//! Targets of contents: `inline`, `discard`, `variable:NAME`, and `file:PATH`.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use trommel_base::text::safe;

use crate::error::{Error, ErrorKind, PatternFault, Result};
use crate::mode::{Scope, WriteMode};
use crate::pattern::{Now, Pattern};

/// Maximum length of a variable's name in characters.
pub const MAX_NAME_CHARS: usize = 128;

/// The target of a content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// Not routed: the content stays in the prompt, or is returned to the caller.
    #[default]
    Inline,
    /// Discarded.
    Discard,
    /// The buffer of this name.
    Variable(Pattern),
    /// The file with this path.
    File(Pattern),
}

impl Target {
    /// Parses a target. The error lists the valid forms.
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
            ("variable", None | Some("")) => refuse("a name is missing after `variable:`"),
            ("file", None | Some("")) => refuse("a path is missing after `file:`"),
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
            _ => refuse("unknown target"),
        }
    }

    /// True if the content is routed, and not left where it is.
    pub fn is_routed(&self) -> bool {
        *self != Self::Inline
    }
}

/// Formats the text that [`parse`](Target::parse) accepts.
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

/// Fails unless the text is valid as the name of a variable.
pub fn check_name(name: &str) -> Result<()> {
    let chars = name.chars().count();
    let why = if name.trim().is_empty() {
        Cow::from("it is empty")
    } else if chars > MAX_NAME_CHARS {
        format!("it has {chars} characters; the limit is {MAX_NAME_CHARS}").into()
    } else if safe(name) != name {
        "it contains invisible characters".into()
    } else {
        return Ok(());
    };
    Err(ErrorKind::VariableName { name: name.to_owned(), why }.into())
}

/// Fails unless the components of a path stay below the root. Links are checked by the system when
/// the path is opened.
pub fn check_path(path: &str) -> Result<()> {
    let why = if path.contains('\0') {
        "it contains a zero byte"
    } else if path.starts_with(['/', '\\']) || Path::new(path).is_absolute() {
        "it is an absolute path"
    } else if path.split(['/', '\\']).any(|part| part == "..") {
        "paths must stay inside the root (no `..`)"
    } else if path.ends_with('/') {
        "it refers to a folder"
    } else if safe(path) != path {
        "it contains invisible characters"
    } else {
        return Ok(());
    };
    Err(ErrorKind::Outside { path: path.to_owned(), why: why.into() }.into())
}

/// Appends the extension `.md` to a path without an extension.
pub fn with_extension(path: &str) -> String {
    if Path::new(path).extension().is_some() { path.to_owned() } else { format!("{path}.md") }
}

/// The target of a content, and the options for writing to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Route {
    /// The target.
    pub target: Target,
    /// The write mode. `None` is [`WriteMode::Append`].
    pub write_mode: Option<WriteMode>,
    /// The scope of the variable. `None` is the default of the host.
    pub scope: Option<Scope>,
}

impl Route {
    /// A route with default options.
    pub fn to(target: Target) -> Self {
        Self { target, write_mode: None, scope: None }
    }

    /// Sets the write mode.
    #[must_use]
    pub fn write_mode(mut self, mode: WriteMode) -> Self {
        self.write_mode = Some(mode);
        self
    }

    /// Sets the scope of the variable.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// The effective write mode.
    pub fn mode(&self) -> WriteMode {
        self.write_mode.unwrap_or_default()
    }

    /// Resolves the patterns of the target at a point in time.
    pub fn resolve(&self, now: &Now) -> Result<ResolvedTarget> {
        match &self.target {
            Target::Inline | Target::Discard => Ok(ResolvedTarget::Nowhere),
            Target::Variable(name) => {
                let name = name.resolve(now);
                check_name(&name)?;
                Ok(ResolvedTarget::Variable(name))
            }
            Target::File(path) => {
                let path = with_extension(&path.resolve(now));
                check_path(&path)?;
                Ok(ResolvedTarget::File(path))
            }
        }
    }
}

/// A target without patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResolvedTarget {
    /// Neither a buffer nor a file.
    Nowhere,
    /// The buffer of this name.
    Variable(String),
    /// The file with this path.
    File(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorClass;

    #[test]
    fn targets_round_trip() {
        for text in
            ["inline", "discard", "variable:foo", "file:results/{today}", "variable:a b", "file:a (1), b.md"]
        {
            assert_eq!(Target::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Target::parse(" Variable : foo ").unwrap(), Target::parse("variable:foo").unwrap());
    }

    #[test]
    fn r45_invalid_targets_are_explained() {
        for (text, class, message) in [
            ("", ErrorClass::Target, "it is empty"),
            ("variable:", ErrorClass::Target, "a name is missing"),
            ("variable", ErrorClass::Target, "a name is missing"),
            ("file: ", ErrorClass::Target, "a path is missing"),
            ("inline:x", ErrorClass::Target, "takes no name"),
            ("s3:bucket", ErrorClass::Target, "inline, discard, variable:NAME, or file:PATH"),
            ("file:/etc/passwd", ErrorClass::Outside, "absolute path"),
            ("file:a/../../b", ErrorClass::Outside, "`..`"),
            ("file:a\0b", ErrorClass::Outside, "zero byte"),
            ("file:a/", ErrorClass::Outside, "a folder"),
            ("file:{pending}", ErrorClass::Pattern, "cannot be written to"),
            ("file:{someday}", ErrorClass::Pattern, "unknown pattern"),
            ("variable:a\u{202e}b", ErrorClass::Name, "invisible"),
        ] {
            let error = Target::parse(text).unwrap_err();
            assert_eq!(error.class(), class, "{text}: {error}");
            assert!(error.to_string().contains(message), "{text}: {error}");
        }
        assert_eq!(
            Target::parse(&format!("variable:{}", "x".repeat(129))).unwrap_err().class(),
            ErrorClass::Name
        );
    }

    #[test]
    fn adds_an_extension_only_if_there_is_none() {
        let now = Now::at("2026-03-04T00:00[UTC]".parse().unwrap());
        for (target, path) in [
            ("file:results/{today}", "results/2026-03-04.md"),
            ("file:a.txt", "a.txt"),
            ("file:a.b/c", "a.b/c.md"),
            ("file:.hidden", ".hidden.md"),
        ] {
            let resolved = Route::to(Target::parse(target).unwrap()).resolve(&now).unwrap();
            assert_eq!(resolved, ResolvedTarget::File(path.into()));
        }
    }
}
