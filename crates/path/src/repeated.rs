//! Lists repeated names with their locations.
//!
//! Statistics count repeated names by fingerprints and record no locations.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use trommel_reader::{Cursor, Event, Kind, LineColumn, Result};

use crate::location::Location;

/// The maximum number of names of open objects to remember, at 16 bytes each. Repetitions of other
/// names are not listed.
const MAX_OPEN_NAMES: usize = 4 << 20;

/// A member whose name occurs earlier in the same object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepeatedName {
    /// The record, from 0.
    pub record: u64,
    /// Normalized path of the member, which is also that of the first member with the name.
    pub location: String,
    /// Byte offset of the repeated name's opening quote.
    pub offset: u64,
    /// Line and column of the offset, if known.
    pub line_column: Option<LineColumn>,
}

/// Lists repeated names with their locations. Memory depends on the depth and on the number of
/// names of the open objects, of which 4 million are remembered.
///
/// ```
/// use trommel_path::RepeatedNames;
/// use trommel_reader::{Config, Cursor};
///
/// let mut names = RepeatedNames::new(10);
/// names.record(&mut Cursor::new(br#"[{"a":1,"b":2,"a":3}]"#, &Config::new()))?;
/// let found = names.finish();
/// assert_eq!((found[0].location.as_str(), found[0].offset), ("$[0]['a']", 14));
/// # Ok::<(), trommel_reader::Error>(())
/// ```
#[derive(Debug)]
pub struct RepeatedNames {
    max: usize,
    found: Vec<RepeatedName>,
    open: Vec<Open>,
    /// The number of entries of `open` in use. The others keep their memory for later containers.
    depth: usize,
    location: Location,
    keys: RandomState,
    remembered: usize,
}

/// An open container.
#[derive(Debug, Default)]
struct Open {
    is_object: bool,
    /// Index of the next element.
    index: u64,
    /// Fingerprints of the names, with a random key.
    names: HashSet<u64>,
}

impl RepeatedNames {
    /// Lists the first `max` repeated names.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            found: Vec::new(),
            open: Vec::new(),
            depth: 0,
            location: Location::new(),
            keys: RandomState::new(),
            remembered: 0,
        }
    }

    /// Lists the repeated names of the current record, until there are as many as wanted.
    ///
    /// # Errors
    /// Those of the cursor. The names of the record before the error are not listed.
    pub fn record(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let before = self.found.len();
        let walked = self.walk(cursor);
        if walked.is_err() {
            self.found.truncate(before);
        }
        walked
    }

    /// True if there are as many as wanted.
    pub fn is_full(&self) -> bool {
        self.found.len() >= self.max
    }

    /// The repeated names, in the order of the input.
    pub fn finish(self) -> Vec<RepeatedName> {
        self.found
    }

    fn walk(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        while self.depth > 0 {
            self.leave();
        }
        while !self.is_full()
            && let Some(event) = cursor.advance()?
        {
            match event {
                Event::Begin(kind) => self.enter(kind),
                Event::End(_) => self.leave(),
                Event::Name => self.name(cursor),
                Event::Scalar(_) => self.child(),
            }
        }
        Ok(())
    }

    /// Moves to the next element, if the innermost container is an array.
    fn child(&mut self) {
        let Some(around) = self.depth.checked_sub(1) else { return };
        let open = &mut self.open[around];
        if !open.is_object {
            self.location.truncate(around);
            self.location.push_index(open.index);
            open.index += 1;
        }
    }

    fn enter(&mut self, kind: Kind) {
        self.child();
        if self.depth == self.open.len() {
            self.open.push(Open::default());
        }
        let open = &mut self.open[self.depth];
        (open.is_object, open.index) = (kind == Kind::Object, 0);
        self.depth += 1;
    }

    fn leave(&mut self) {
        self.depth -= 1;
        let open = &mut self.open[self.depth];
        self.remembered -= open.names.len();
        // Clearing a set takes time in proportion to its capacity, so one large object would slow
        // down all later ones at its depth.
        if open.names.capacity() > 1 << 10 {
            open.names = HashSet::new();
        }
        open.names.clear();
        self.location.truncate(self.depth);
    }

    #[expect(clippy::expect_used, reason = "the event was a name")]
    fn name(&mut self, cursor: &mut Cursor<'_>) {
        let around = self.depth - 1;
        let open = &mut self.open[around];
        let name = cursor.name().expect("the current token is a name").decode();
        self.location.truncate(around);
        self.location.push_name(&name);
        // The hash is keyed, so that a hostile input cannot construct colliding names.
        let fingerprint = self.keys.hash_one(name.as_bytes());
        if self.remembered >= MAX_OPEN_NAMES && !open.names.contains(&fingerprint) {
            return;
        }
        if open.names.insert(fingerprint) {
            self.remembered += 1;
            return;
        }
        let offset = cursor.span().start;
        let (record, line_column, location) =
            (cursor.record(), cursor.line_column(offset), self.location.to_string());
        self.found.push(RepeatedName { record, location, offset, line_column });
    }
}
