//! The log of files that a document has processed. `{pending}` selects the other files.
//!
//! A buffer of the session stores the log of one document and pattern. It has a line per file, with
//! its modification time and path, so a file that changes is processed again. Lists of buffers omit
//! these logs.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{Read, Write};

use trommel_route::{
    Destinations, ErrorClass, FilePattern as Files, Origin, PENDING, Pattern, Route, Scope, Target, WriteMode,
};

use crate::error::Result;

/// A file that a document has processed, in the version that was read.
pub(super) struct ProcessedFile {
    pub(super) path: String,
    /// The modification time.
    pub(super) changed: i128,
}

/// The line of the log.
impl fmt::Display for ProcessedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.changed, self.path)
    }
}

/// The log of one document and pattern.
pub(super) struct PendingLog<'a> {
    destinations: &'a Destinations,
    /// The variable that stores the log.
    variable: String,
}

impl<'a> PendingLog<'a> {
    /// Opens the log; `None` if the pattern does not select pending files.
    pub(super) fn new(destinations: &'a Destinations, document: &str, pattern: &Pattern) -> Option<Self> {
        matches!(pattern.files(), Some(Files::Pending(_))).then(|| {
            // Documents and patterns may contain characters that variable names cannot.
            let both = blake3::hash(format!("{document}\0{pattern}").as_bytes()).to_hex();
            Self { destinations, variable: format!("{PENDING}-{}", &both[..16]) }
        })
    }

    /// Records that the document has processed these files.
    pub(super) fn remember(&self, processed: &[ProcessedFile]) -> Result<()> {
        let route = Route::to(Target::Variable(Pattern::literal(&self.variable)));
        let route = route.write_mode(WriteMode::Append).scope(Scope::Session);
        let mut writer = self.destinations.open(&route, Origin::of(PENDING))?;
        for file in processed {
            writeln!(writer, "{file}")?;
        }
        writer.finish()?;
        Ok(())
    }

    /// Returns the lines of the log.
    pub(super) fn processed(&self) -> Result<BTreeSet<String>> {
        let mut text = String::new();
        match self.destinations.buffers().find(&self.variable, Some(Scope::Session)) {
            Err(error) if error.class() == ErrorClass::NotFound => {}
            found => {
                found?.1.reader(0).read_to_string(&mut text)?;
            }
        }
        Ok(text.lines().map(str::to_owned).collect())
    }
}
