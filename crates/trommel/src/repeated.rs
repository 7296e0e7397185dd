//! Listing repeated names with their places.
//!
//! The statistics count repeated names by fingerprints, and know neither paths nor places. This is
//! a pass of its own, for the first few of them.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use trommel_path::Location;
use trommel_reader::{Cursor, Event, Kind, Place};

use crate::analysis::{Analysis, OnBadRecord};
use crate::control::check;
use crate::document::Document;
use crate::error::Error;

/// Names of open objects that are remembered, 16 bytes each. Repetitions of further ones are not
/// listed.
const OPEN_NAMES: usize = 4 << 20;

/// A member whose name occurs before it in the same object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepeatedName {
    /// The record, from 0.
    pub record: u64,
    /// Normalized path of the member. The first member of the name has the same.
    pub location: String,
    /// Byte offset of the repeated name, at its opening quote.
    pub offset: u64,
    /// Line and column of the same, where they are known.
    pub place: Option<Place>,
}

impl Analysis {
    /// Lists the first `most` members whose name occurs before them in the same object, in the
    /// order of the document, with the limits, the validation and the flag of this analysis.
    /// Records that are skipped as malformed are left out.
    ///
    /// Memory follows the depth and the number of names of the open objects, of which 4 million are
    /// remembered.
    ///
    /// # Errors
    /// If the input cannot be read, is malformed and bad records are not skipped, or was read
    /// before and [cannot be read again](Document::is_repeatable).
    pub fn repeated_names(&self, document: &Document, most: usize) -> Result<Vec<RepeatedName>, Error> {
        let cancel = self.options.control.cancel.clone();
        let monitor = Box::new(move |offset| check(&cancel, offset));
        let mut cursor = document.cursor(&self.options.config())?.monitored(monitor);
        let skips = matches!(self.options.on_bad_record, OnBadRecord::Skip { .. });
        let mut walk = Walk::new(most);
        while walk.found.len() < most {
            let before = walk.found.len();
            let went = match cursor.next_record() {
                Ok(false) => break,
                Ok(true) => walk.record(&mut cursor),
                Err(error) => Err(error),
            };
            if let Err(error) = went {
                if !(skips && error.is_syntax() && cursor.can_recover()) {
                    return Err(error.into());
                }
                walk.found.truncate(before);
            }
        }
        Ok(walk.found)
    }
}

/// The open containers, and what was found.
struct Walk {
    most: usize,
    found: Vec<RepeatedName>,
    open: Vec<Open>,
    /// Containers of `open` that are in use; the others keep their memory for the next ones.
    depth: usize,
    location: Location,
    keys: RandomState,
    remembered: usize,
}

/// An open container.
#[derive(Default)]
struct Open {
    is_object: bool,
    /// Index of the next element.
    index: u64,
    /// Fingerprints of the names, keyed at random.
    names: HashSet<u64>,
}

impl Walk {
    fn new(most: usize) -> Self {
        Self {
            most,
            found: Vec::new(),
            open: Vec::new(),
            depth: 0,
            location: Location::new(),
            keys: RandomState::new(),
            remembered: 0,
        }
    }

    /// Goes through one record.
    fn record(&mut self, cursor: &mut Cursor<'_>) -> trommel_reader::Result<()> {
        while self.depth > 0 {
            self.leave();
        }
        while self.found.len() < self.most
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

    /// Goes to the next element, if the innermost container is an array.
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
        // A set keeps its room, and clearing it takes time in proportion to that.
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
        let fingerprint = self.keys.hash_one(name.as_bytes());
        if self.remembered >= OPEN_NAMES && !open.names.contains(&fingerprint) {
            return;
        }
        if open.names.insert(fingerprint) {
            self.remembered += 1;
            return;
        }
        let offset = cursor.span().start;
        let (record, place, location) = (cursor.record(), cursor.place(offset), self.location.to_string());
        self.found.push(RepeatedName { record, location, offset, place });
    }
}
