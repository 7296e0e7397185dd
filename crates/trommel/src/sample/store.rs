//! Where the values of candidates are until the sample is drawn: in the input, in memory, or in
//! temporary files without a name.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use trommel_reader::{ErrorKind, Limit, Span, View};

use crate::error::Error;
use crate::notes::Notes;

/// Bytes of candidates of one sample kept in memory, where they cannot be read again.
const MEMORY: usize = 16 << 20;

/// Bytes of a temporary file after which another one is begun, so that files whose candidates have
/// all lost can go.
const FILE: u64 = 64 << 20;

/// A candidate's value, filled in when its end is seen.
pub(super) type Slot = Arc<Mutex<Stored>>;

#[derive(Debug, Default)]
pub(super) enum Stored {
    #[default]
    Open,
    /// It can be read again.
    Span(Span),
    Memory(Counted),
    Spilled(Arc<File>, u64),
}

/// Bytes that are counted against a budget for as long as they live.
#[derive(Debug)]
pub(super) struct Counted {
    bytes: Vec<u8>,
    budget: Arc<AtomicUsize>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.budget.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

/// Where the values of candidates are kept that cannot be read again: in memory, then in temporary
/// files without a name.
pub(super) struct Store {
    budget: Arc<AtomicUsize>,
    /// Bytes in files whose candidates have not all lost.
    filed: Arc<AtomicU64>,
    limit: u64,
    file: Option<Arc<File>>,
}

/// A file of candidates' values; it is gone when the last of them is.
#[derive(Debug)]
pub(super) struct File {
    notes: Mutex<Notes>,
    bytes: AtomicU64,
    filed: Arc<AtomicU64>,
}

impl Drop for File {
    fn drop(&mut self) {
        self.filed.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}

impl Store {
    pub(super) fn new(limit: u64) -> Self {
        Self { budget: Arc::default(), filed: Arc::default(), limit, file: None }
    }

    pub(super) fn keep(&mut self, bytes: &[u8], span: Span) -> Result<Stored, Error> {
        if self.budget.load(Ordering::Relaxed) + bytes.len() > MEMORY {
            return self.spill(bytes, span);
        }
        self.budget.fetch_add(bytes.len(), Ordering::Relaxed);
        Ok(Stored::Memory(Counted { bytes: bytes.to_vec(), budget: Arc::clone(&self.budget) }))
    }

    fn spill(&mut self, bytes: &[u8], span: Span) -> Result<Stored, Error> {
        let length = bytes.len() as u64;
        if self.filed.load(Ordering::Relaxed).saturating_add(length) > self.limit {
            let limit = ErrorKind::Limit(Limit::SpoolBytes(self.limit));
            return Err(trommel_reader::Error::plain(limit, span.start).into());
        }
        self.file = self.file.take().filter(|file| file.bytes.load(Ordering::Relaxed) < FILE);
        let file = self.file.get_or_insert_with(|| {
            let notes = Mutex::new(Notes::in_file());
            Arc::new(File { notes, bytes: AtomicU64::new(0), filed: Arc::clone(&self.filed) })
        });
        file.bytes.fetch_add(length, Ordering::Relaxed);
        self.filed.fetch_add(length, Ordering::Relaxed);
        let place = file.notes.lock().unwrap_or_else(PoisonError::into_inner).push(bytes)?;
        Ok(Stored::Spilled(Arc::clone(file), place))
    }
}

/// Bytes that the system may map around those that are read: a large folio.
const AROUND: u64 = 2 << 20;

/// The bytes of a stored candidate.
#[expect(clippy::expect_used, reason = "spans are stored only where the input is in memory or mapped")]
pub(super) fn bytes_of(slot: &Slot, view: Option<View<'_>>) -> Result<Vec<u8>, Error> {
    let stored = slot.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(match &*stored {
        Stored::Open => unreachable!("a winner was left"),
        Stored::Span(span) => {
            let view = view.expect("the input has a view");
            let bytes = view.get(*span).expect("a candidate is in the input").to_vec();
            // Items lie far apart, and with each the system has brought in what is around it.
            view.release(Span::new(span.start.saturating_sub(AROUND), span.end + AROUND));
            bytes
        }
        Stored::Memory(counted) => counted.bytes.clone(),
        Stored::Spilled(file, place) => {
            let mut bytes = Vec::new();
            file.notes.lock().unwrap_or_else(PoisonError::into_inner).read(*place, &mut bytes)?;
            bytes
        }
    })
}
