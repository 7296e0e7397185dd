//! A storage as a machine reaches it: it may be cut off, fail, or answer as it was a moment ago.

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

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It does not get there.
    Before,
    /// Its answer is lost.
    After,
    /// It is answered by a server that does not have the last blocks yet.
    Behind,
}

/// Blocks that such a server is behind.
const LATE: u64 = 2;

/// Which calls fail, from 0.
type Plan = Box<dyn FnMut(u64) -> Option<Fault> + Send>;

/// A machine's way to a storage.
pub(crate) struct Net {
    inner: Arc<dyn BlockStorage>,
    /// Whether nothing is answered, and whoever asks waits in vain.
    pub(crate) is_cut: AtomicBool,
    /// Questions that reached it.
    pub(crate) asked: AtomicU64,
    plan: Mutex<(u64, Plan)>,
    /// The storage's folder, where it has one of its own.
    _home: Option<TempDir>,
}

impl Net {
    /// To a storage that others reach, too.
    pub(crate) fn over(inner: Arc<dyn BlockStorage>) -> Arc<Self> {
        Arc::new(Self::to(inner, None))
    }

    /// And keeps the folder that it is in.
    pub(crate) fn to(inner: Arc<dyn BlockStorage>, home: Option<TempDir>) -> Self {
        let plan: Plan = Box::new(|_| None);
        let (is_cut, asked) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { inner, is_cut, asked, plan: Mutex::new((0, plan)), _home: home }
    }

    /// Lets calls fail from now on; they are counted afresh.
    pub(crate) fn fail(&self, plan: impl FnMut(u64) -> Option<Fault> + Send + 'static) {
        *self.plan.lock().unwrap() = (0, Box::new(plan));
    }

    /// A call on its way there.
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

    /// The last block that is shown.
    fn shown(&self, key: &Key, fault: Option<Fault>, watch: &Watch<'_>) -> Result<Option<u64>> {
        if fault != Some(Fault::Behind) {
            return Ok(None);
        }
        let last = self.inner.head(key, watch)?.map_or(0, |block| block.sequence);
        Ok(Some(last.saturating_sub(LATE)))
    }
}

/// The fault of a net that is cut.
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

/// An answer on its way back.
fn back<T>(fault: Option<Fault>, answer: T) -> Result<T> {
    if fault == Some(Fault::After) { Err(failed()) } else { Ok(answer) }
}

impl BlockStorage for Net {
    fn name(&self) -> String {
        "the net".to_owned()
    }

    /// What swallows everything is known to be out of reach only after the time is over.
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
