//! Stores the values of drawn candidates until the sample is complete.
//!
//! If the input is in memory or mapped, only the span of each value is stored. Otherwise the input
//! cannot be read again, so the bytes are copied: into memory up to a limit, then into unnamed
//! temporary files.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use trommel_path::TextSpool;
use trommel_reader::{ErrorKind, Limit, Span, View};

use crate::error::Error;
use crate::report::ItemOrigin;

/// The maximum number of copied bytes that one sample holds in memory.
const MAX_MEMORY: usize = 16 << 20;

/// The size at which a temporary file is full, so that the next value starts another one. A full
/// file is deleted once later candidates have replaced all of its candidates. Many small files
/// therefore free disk space earlier than one large file.
const MAX_FILE: u64 = 64 << 20;

/// A candidate, shared by its places in the sample. It is filled in when the matcher leaves the
/// candidate.
pub(super) type Slot = Arc<Mutex<Drawn>>;

/// The value of a candidate, and its origin if the sample records origins.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub(super) stored: Stored,
    pub(super) origin: Option<ItemOrigin>,
}

impl From<Stored> for Drawn {
    fn from(stored: Stored) -> Self {
        Self { stored, origin: None }
    }
}

/// The location of a candidate's value.
#[derive(Debug, Default)]
pub(super) enum Stored {
    /// Unknown, because the matcher is still inside the candidate.
    #[default]
    Open,
    /// In the input, which is in memory or mapped.
    Span(Span),
    Memory(MemoryValue),
    /// In a temporary file, at this offset.
    Spilled(Arc<SpillFile>, u64),
}

/// A value in memory. Its bytes count toward [`MAX_MEMORY`] until it is dropped.
#[derive(Debug)]
pub(super) struct MemoryValue {
    bytes: Vec<u8>,
    memory_used: Arc<AtomicUsize>,
}

impl Drop for MemoryValue {
    fn drop(&mut self) {
        self.memory_used.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

/// Copies the values of candidates from an input that cannot be read again.
pub(super) struct Store {
    /// The number of bytes in memory.
    memory_used: Arc<AtomicUsize>,
    /// The number of bytes in temporary files that are not deleted yet.
    disk_used: Arc<AtomicU64>,
    /// The maximum of `disk_used`.
    disk_limit: u64,
    /// The file that the next spilled value is appended to, unless it is full.
    file: Option<Arc<SpillFile>>,
}

/// A temporary file of values. It is deleted when the last reference to it is dropped: those of its
/// candidates, and that of the store while the file is not full.
#[derive(Debug)]
pub(super) struct SpillFile {
    spool: Mutex<TextSpool>,
    bytes: AtomicU64,
    disk_used: Arc<AtomicU64>,
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        self.disk_used.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}

impl Store {
    /// Creates an empty store that uses at most `disk_limit` bytes of temporary files.
    pub(super) fn new(disk_limit: u64) -> Self {
        Self { memory_used: Arc::default(), disk_used: Arc::default(), disk_limit, file: None }
    }

    /// Copies a value. `span` is its position in the input, for errors.
    pub(super) fn keep(&mut self, bytes: &[u8], span: Span) -> Result<Stored, Error> {
        if self.memory_used.load(Ordering::Relaxed) + bytes.len() > MAX_MEMORY {
            return self.spill(bytes, span);
        }
        self.memory_used.fetch_add(bytes.len(), Ordering::Relaxed);
        let memory_used = Arc::clone(&self.memory_used);
        Ok(Stored::Memory(MemoryValue { bytes: bytes.to_vec(), memory_used }))
    }

    /// Copies the value of a candidate that is in the input.
    #[expect(clippy::expect_used, reason = "a stored span is in the input")]
    pub(super) fn detach(&mut self, slot: &Slot, view: View<'_>) -> Result<(), Error> {
        let mut drawn = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Stored::Span(span) = drawn.stored {
            drawn.stored = self.keep(view.get(span).expect("a candidate is in the input"), span)?;
        }
        Ok(())
    }

    /// Appends a value to a temporary file.
    fn spill(&mut self, bytes: &[u8], span: Span) -> Result<Stored, Error> {
        let length = bytes.len() as u64;
        if self.disk_used.load(Ordering::Relaxed).saturating_add(length) > self.disk_limit {
            let limit = ErrorKind::Limit(Limit::SpoolBytes(self.disk_limit));
            return Err(trommel_reader::Error::plain(limit, span.start).into());
        }
        self.file = self.file.take().filter(|file| file.bytes.load(Ordering::Relaxed) < MAX_FILE);
        let file = self.file.get_or_insert_with(|| {
            let spool = Mutex::new(TextSpool::in_file());
            Arc::new(SpillFile { spool, bytes: AtomicU64::new(0), disk_used: Arc::clone(&self.disk_used) })
        });
        file.bytes.fetch_add(length, Ordering::Relaxed);
        self.disk_used.fetch_add(length, Ordering::Relaxed);
        let offset = file.spool.lock().unwrap_or_else(PoisonError::into_inner).push(bytes)?;
        Ok(Stored::Spilled(Arc::clone(file), offset))
    }
}

/// The number of bytes that the kernel may map on each side of a page that is read: the size of a
/// large folio.
const MAPPED_AROUND: u64 = 2 << 20;

/// Returns the bytes of a candidate's value. `view` is the input if it is in memory or mapped.
#[expect(clippy::expect_used, reason = "spans are stored only if the input is in memory or mapped")]
pub(super) fn bytes_of(slot: &Slot, view: Option<View<'_>>) -> Result<Vec<u8>, Error> {
    let drawn = slot.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(match &drawn.stored {
        Stored::Open => unreachable!("the matcher has left every candidate of the sample"),
        Stored::Span(span) => {
            let view = view.expect("an input with stored spans has a view");
            let bytes = view.get(*span).expect("a candidate is in the input").to_vec();
            // Reading a value maps the pages around it. Values of a sample are usually far apart,
            // so these pages are not needed again.
            view.release(Span::new(span.start.saturating_sub(MAPPED_AROUND), span.end + MAPPED_AROUND));
            bytes
        }
        Stored::Memory(value) => value.bytes.clone(),
        Stored::Spilled(file, offset) => {
            let mut bytes = Vec::new();
            file.spool.lock().unwrap_or_else(PoisonError::into_inner).read(*offset, &mut bytes)?;
            bytes
        }
    })
}

/// Returns the origin of a candidate, if the sample records origins.
pub(super) fn origin_of(slot: &Slot) -> Option<ItemOrigin> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).origin.clone()
}
