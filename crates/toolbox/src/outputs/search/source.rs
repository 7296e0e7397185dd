//! Stored outputs as inputs of a search.

use std::io::{self, Read, Seek, SeekFrom};

use trommel_search::{SearchContent, SearchSource};
use trommel_store::{Kind, Store, Stored};

use crate::outputs::source::framing;

/// A stored output that is searched.
#[derive(Clone, Copy, Debug)]
pub struct OutputSource<'s> {
    store: &'s Store,
    stored: &'s Stored,
}

impl<'s> OutputSource<'s> {
    /// Creates the source of an output.
    pub fn new(store: &'s Store, stored: &'s Stored) -> Self {
        Self { store, stored }
    }

    /// Returns the kind of the output, according to its description.
    pub fn content(&self) -> SearchContent {
        if self.stored.kind == Kind::Text {
            SearchContent::Text
        } else {
            SearchContent::Json(framing(self.stored))
        }
    }
}

impl SearchSource for OutputSource<'_> {
    fn reader_at(&self, offset: u64) -> io::Result<Box<dyn Read + Send + '_>> {
        let mut payload = self.store.payload(self.stored).map_err(io::Error::from)?;
        payload.seek(SeekFrom::Start(offset))?;
        Ok(Box::new(payload))
    }

    fn known_len(&self) -> Option<u64> {
        Some(self.stored.size_bytes)
    }
}
