//! A machine's connection to a storage, which can be cut, fail, or lag.

use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use trommel_blocks::{
    Block, BlockStorage, Created, Error, ErrorClass, Key, Result, Selection, StorageFault, Stored,
};
use trommel_session::Watch;

/// The failure of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The request is lost.
    Before,
    /// The response is lost.
    After,
    /// A lagging server without the latest blocks responds.
    Behind,
}

/// The number of blocks by which it lags.
const LATE: u64 = 2;

/// Plans the failures of calls, which are numbered from 0.
type Plan = Box<dyn FnMut(u64) -> Option<Fault> + Send>;

/// A machine's connection to a storage.
pub(crate) struct Net {
    inner: Arc<dyn BlockStorage>,
    /// True if every call waits for its timeout.
    pub(crate) is_cut: AtomicBool,
    /// The number of calls that reached it.
    pub(crate) asked: AtomicU64,
    plan: Mutex<(u64, Plan)>,
    /// The storage's folder, if it has one of its own.
    _home: Option<TempDir>,
}

impl Net {
    /// A connection to a storage that other machines reach as well.
    pub(crate) fn over(inner: Arc<dyn BlockStorage>) -> Arc<Self> {
        Arc::new(Self::to(inner, None))
    }

    /// Also keeps the storage's folder alive.
    pub(crate) fn to(inner: Arc<dyn BlockStorage>, home: Option<TempDir>) -> Self {
        let plan: Plan = Box::new(|_| None);
        let (is_cut, asked) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { inner, is_cut, asked, plan: Mutex::new((0, plan)), _home: home }
    }

    /// Sets the plan, and restarts the count of calls.
    pub(crate) fn fail(&self, plan: impl FnMut(u64) -> Option<Fault> + Send + 'static) {
        *self.plan.lock().unwrap() = (0, Box::new(plan));
    }

    /// Passes a call to the storage.
    fn pass(&self) -> Result<Option<Fault>> {
        let fault = {
            let mut plan = self.plan.lock().unwrap();
            let call = plan.0;
            plan.0 += 1;
            (plan.1)(call)
        };
        if self.is_cut.load(Ordering::SeqCst) || fault == Some(Fault::Before) {
            return Err(failed());
        }
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(fault)
    }

    /// The last block that a lagging response has.
    fn shown(&self, key: &Key, fault: Option<Fault>, watch: &Watch<'_>) -> Result<Option<u64>> {
        if fault != Some(Fault::Behind) {
            return Ok(None);
        }
        let last = self.inner.head(key, watch)?.map_or(0, |block| block.sequence);
        Ok(Some(last.saturating_sub(LATE)))
    }
}

/// The fault of a cut connection.
#[derive(Debug)]
struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the net is cut")
    }
}

impl StorageFault for Cut {
    fn class(&self) -> ErrorClass {
        ErrorClass::Offline
    }

    fn help(&self) -> Option<Cow<'_, str>> {
        Some("wait for it".into())
    }
}

fn failed() -> Error {
    Cut.into()
}

/// Passes a response to the caller.
fn back<T>(fault: Option<Fault>, answer: T) -> Result<T> {
    if fault == Some(Fault::After) { Err(failed()) } else { Ok(answer) }
}

impl BlockStorage for Net {
    fn name(&self) -> String {
        "the net".to_owned()
    }

    /// A silent connection counts as unreachable only after its timeout.
    fn reach(&self, patience: Duration) -> Result<()> {
        if self.is_cut.load(Ordering::SeqCst) {
            thread::sleep(patience);
        }
        self.pass().map(drop)
    }

    fn create(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        let fault = self.pass()?;
        back(fault, self.inner.create(key, block, watch)?)
    }

    fn create_all(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<usize> {
        let fault = self.pass()?;
        back(fault, self.inner.create_all(key, blocks, watch)?)
    }

    fn read(
        &self,
        key: &Key,
        selection: &Selection,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let fault = self.pass()?;
        let mut selection = selection.clone();
        if let Some(shown) = self.shown(key, fault, watch)? {
            selection.until = Some(selection.until.map_or(shown, |until| until.min(shown)));
        }
        self.inner.read(key, &selection, watch, take)?;
        back(fault, ())
    }

    fn head(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<Block>> {
        let fault = self.pass()?;
        let Some(shown) = self.shown(key, fault, watch)? else {
            return back(fault, self.inner.head(key, watch)?);
        };
        let (mut head, mut selection) = (None, Selection::default());
        (selection.after, selection.until) = (shown.saturating_sub(1), Some(shown));
        self.inner.read(key, &selection, watch, &mut |block| {
            head = Some(block);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(head)
    }

    fn sessions(
        &self,
        user: &str,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let fault = self.pass()?;
        self.inner.sessions(user, watch, take)?;
        back(fault, ())
    }
}
