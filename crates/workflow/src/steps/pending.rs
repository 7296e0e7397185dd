//! The files that a document has processed: `{pending}` selects those that it has not.
//!
//! They are remembered in a buffer of the session, one for each document and pattern, one line for
//! each file: its path, and when it was changed last, so that a file that has changed since is
//! processed again. Lists of buffers leave these out.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{Read, Write};

use trommel_route::{
    Destinations, ErrorClass, FilePattern as Files, Origin, PENDING, Pattern, Route, Scope, Target, WriteMode,
};

use crate::error::Result;

/// A file that a document has had, as it was when it was read.
pub(super) struct Had {
    pub(super) path: String,
    /// When it was changed last.
    pub(super) changed: i128,
}

/// The line that remembers it.
impl fmt::Display for Had {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.changed, self.path)
    }
}

/// Files of one pattern of one document.
pub(super) struct Pending<'a> {
    places: &'a Destinations,
    /// The variable that remembers them.
    variable: String,
}

impl<'a> Pending<'a> {
    /// Nothing where the pattern does not ask for pending files.
    pub(super) fn of(places: &'a Destinations, document: &str, pattern: &Pattern) -> Option<Self> {
        matches!(pattern.files(), Some(Files::Pending(_))).then(|| {
            let both = blake3::hash(format!("{document}\0{pattern}").as_bytes()).to_hex();
            Self { places, variable: format!("{PENDING}-{}", &both[..16]) }
        })
    }

    /// Remembers that the document has processed these files.
    pub(super) fn remember(&self, had: &[Had]) -> Result<()> {
        let route = Route::to(Target::Variable(Pattern::literal(&self.variable)));
        let route = route.write_mode(WriteMode::Append).scope(Scope::Session);
        let mut parcel = self.places.open(&route, Origin::of(PENDING))?;
        for file in had {
            writeln!(parcel, "{file}")?;
        }
        parcel.finish()?;
        Ok(())
    }

    /// The lines of the files that the document has processed.
    pub(super) fn had(&self) -> Result<BTreeSet<String>> {
        let mut text = String::new();
        match self.places.buffers().find(&self.variable, Some(Scope::Session)) {
            Err(error) if error.class() == ErrorClass::NotFound => {}
            found => {
                found?.1.reader(0).read_to_string(&mut text)?;
            }
        }
        Ok(text.lines().map(str::to_owned).collect())
    }
}
