//! Standard output: gathered in pieces, and passed on soon even when the next line is long in
//! coming.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use trommel::Cancel;

use super::{PIECE, Target};
use crate::progress::Progress;
use crate::stdio;

/// How long a finished line waits at most.
const DELAY: Duration = Duration::from_millis(50);

/// Standard output, shared with a thread that passes on what waits.
///
/// What is written while the [page](Self::page) is held goes out in one piece or not at all, pieces
/// of [`PIECE`] bytes and more excepted.
#[derive(Clone, Debug)]
pub(crate) struct Out(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    page: Mutex<Page>,
    filled: Condvar,
}

/// What was gathered.
#[derive(Debug)]
pub(crate) struct Page {
    bytes: Vec<u8>,
    progress: Arc<Progress>,
    /// What went wrong while nobody looked.
    failed: Option<io::Error>,
    /// Raised when something went wrong, so that the work ends even when no other line is found.
    cancel: Cancel,
}

impl Out {
    /// Standard output; `cancel` is raised when it fails.
    pub(crate) fn new(progress: Arc<Progress>, cancel: Cancel) -> io::Result<Self> {
        let page = Page { bytes: Vec::with_capacity(2 * PIECE), progress, failed: None, cancel };
        let shared = Arc::new(Shared { page: Mutex::new(page), filled: Condvar::new() });
        let waiting = Arc::clone(&shared);
        thread::Builder::new().name("output".into()).spawn(move || waiting.pass_on_soon())?;
        Ok(Self(shared))
    }

    /// The page to write on. Nothing is passed on meanwhile.
    pub(crate) fn page(&self) -> OutPage<'_> {
        let page = self.0.lock();
        OutPage { was_empty: page.bytes.is_empty(), page, filled: &self.0.filled }
    }

    /// Writes bytes.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut page = self.page();
        page.bytes().extend_from_slice(bytes);
        page.settle()
    }

    /// Passes on everything, and tells whether all went well.
    pub(crate) fn finish(&self) -> io::Result<()> {
        self.0.lock().pass_on()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Page> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes on what has waited for a while, for ever.
    fn pass_on_soon(&self) {
        loop {
            let page = self.lock();
            let waiting = self.filled.wait_while(page, |page| page.bytes.is_empty());
            drop(waiting.unwrap_or_else(PoisonError::into_inner));
            thread::sleep(DELAY);
            let mut page = self.lock();
            if let Err(error) = page.pass_on() {
                page.failed = Some(error);
                page.cancel.cancel();
            }
        }
    }
}

impl Page {
    fn pass_on(&mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.bytes.is_empty() {
            return Ok(());
        }
        let written = self.progress.suspend(|| {
            let mut stdout = stdio::stdout();
            stdout.write_all(&self.bytes)?;
            stdout.flush()
        });
        // What could not be written is not tried again.
        self.bytes.clear();
        written
    }
}

/// The page, held for writing.
pub(crate) struct OutPage<'a> {
    page: MutexGuard<'a, Page>,
    was_empty: bool,
    filled: &'a Condvar,
}

impl Target for OutPage<'_> {
    fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.page.bytes
    }

    fn settle(&mut self) -> io::Result<()> {
        if self.page.bytes.len() >= PIECE || self.page.failed.is_some() {
            self.page.pass_on()
        } else {
            Ok(())
        }
    }
}

impl Drop for OutPage<'_> {
    fn drop(&mut self) {
        if self.was_empty && !self.page.bytes.is_empty() {
            self.filled.notify_one();
        }
    }
}
