//! Which files a document has had: `{pending}` stands for those that it has not.
//!
//! It is remembered in a variable of the session, one for each document and pattern, a line for each file: its path, and when it was
//! changed last, so that a file that has changed since is had again.

use std::collections::BTreeSet;
use std::io::{Read, Write};

use crate::destinations::{Destinations, Origin};
use crate::error::{Error, ErrorKind, Result};
use crate::files::changed;
use crate::mode::{Scope, WriteMode};
use crate::pattern::{Files, Pattern};
use crate::target::{Route, Target};

/// Files of one pattern of one document.
pub(super) struct Pending<'a> {
    places: &'a Destinations,
    /// The variable that remembers them.
    variable: String,
}

impl<'a> Pending<'a> {
    /// Nothing where the pattern asks for no pending files.
    pub(super) fn of(places: &'a Destinations, document: &str, pattern: &Pattern) -> Option<Self> {
        matches!(pattern.files(), Some(Files::Pending(_))).then(|| {
            let both = blake3::hash(format!("{document}\0{pattern}").as_bytes()).to_hex();
            Self { places, variable: format!("pending-{}", both.get(..16).unwrap_or_default()) }
        })
    }

    /// The files that it has not had.
    pub(super) fn new_ones(&self, paths: Vec<String>) -> Result<Vec<String>> {
        let had = self.had()?;
        let mut new = Vec::new();
        for path in paths {
            if !had.contains(&self.line(&path)?) {
                new.push(path);
            }
        }
        Ok(new)
    }

    /// Remembers that it has had them.
    pub(super) fn remember(&self, paths: &[String]) -> Result<()> {
        let route = Route::to(Target::Variable(Pattern::literal(&self.variable)));
        let route = route.write_mode(WriteMode::Append).scope(Scope::Session);
        let mut parcel = self.places.open(&route, Origin::of("pending"))?;
        for path in paths {
            let line = self.line(path)? + "\n";
            parcel.write_all(line.as_bytes()).map_err(|cause| Error::io("remember", path, cause))?;
        }
        parcel.finish().map(drop)
    }

    fn had(&self) -> Result<BTreeSet<String>> {
        let mut text = String::new();
        match self.places.buffers().find(&self.variable, Some(Scope::Session)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            found => {
                let read = found?.1.reader(0).read_to_string(&mut text);
                read.map_err(|cause| Error::io("read", &self.variable, cause))?;
            }
        }
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// A file as it is remembered.
    fn line(&self, path: &str) -> Result<String> {
        let file = self.places.root()?.read(path)?;
        let time = changed(&file).map_err(|cause| Error::io("look at", path, cause))?;
        Ok(format!("{time} {path}"))
    }
}
