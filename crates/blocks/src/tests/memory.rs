//! A storage in memory with planned failures.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Duration;

use trommel_session::Watch;

use crate::block::{Block, BlockType, Key};
use crate::error::{Error, ErrorKind, Result};
use crate::storage::{BlockStorage, Created, Selection, Stored, Want};

/// The failure of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The call does nothing.
    Before,
    /// The call does half of its work.
    Midway,
    /// The call does all of its work, and its response is lost.
    After,
    /// The response lacks the latest blocks, like that of a lagging server.
    Behind,
    /// Only reads lag, and the head does not.
    Hidden,
}

/// Plans the failures of calls, which are numbered from 0.
type Plan = Box<dyn FnMut(u64) -> Option<Fault> + Send>;

/// A storage in memory.
pub(crate) struct Memory {
    sessions: Mutex<BTreeMap<Key, Vec<Block>>>,
    plan: Mutex<(u64, Plan)>,
}

impl Memory {
    pub(crate) fn new() -> Self {
        Self { sessions: Mutex::default(), plan: Mutex::new((0, Box::new(|_| None))) }
    }

    /// Sets the plan, and restarts the count of calls.
    pub(crate) fn fail(&self, plan: impl FnMut(u64) -> Option<Fault> + Send + 'static) {
        *self.plan.lock().unwrap() = (0, Box::new(plan));
    }

    /// The number of calls since the plan was set.
    pub(crate) fn calls(&self) -> u64 {
        self.plan.lock().unwrap().0
    }

    pub(crate) fn blocks(&self, key: &Key) -> Vec<Block> {
        self.sessions.lock().unwrap().get(key).cloned().unwrap_or_default()
    }

    /// Stores blocks of another program verbatim.
    pub(crate) fn put(&self, key: &Key, blocks: Vec<Block>) {
        self.sessions.lock().unwrap().insert(key.clone(), blocks);
    }

    fn fault(&self) -> Option<Fault> {
        let mut plan = self.plan.lock().unwrap();
        let call = plan.0;
        plan.0 += 1;
        (plan.1)(call)
    }
}

/// The number of blocks by which a response lags.
const LATE: usize = 2;

/// True if the caller gets an error.
fn is_failure(fault: Option<Fault>) -> bool {
    matches!(fault, Some(Fault::Before | Fault::Midway | Fault::After))
}

fn failed() -> Error {
    ErrorKind::ProbeEnded.into()
}

impl BlockStorage for Memory {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn reach(&self, _: Duration) -> Result<()> {
        Ok(())
    }

    fn create(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        let before = self.blocks(key).len();
        match self.create_all(key, std::slice::from_ref(block), watch)? {
            0 => Ok(Created::Taken),
            _ if self.blocks(key).len() > before => Ok(Created::New),
            _ => Ok(Created::Same),
        }
    }

    fn create_all(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<usize> {
        watch.check()?;
        let fault = self.fault();
        if fault == Some(Fault::Before) {
            return Err(failed());
        }
        let most = if fault == Some(Fault::Midway) { blocks.len() / 2 } else { blocks.len() };
        let mut sessions = self.sessions.lock().unwrap();
        let stored = sessions.entry(key.clone()).or_default();
        let mut count = 0;
        for block in blocks.iter().take(most) {
            let at = usize::try_from(block.sequence - 1).unwrap();
            assert!(at <= stored.len(), "block {} is stored before its predecessor", block.sequence);
            match stored.get(at) {
                Some(other) if other.is_same_as(block) => {}
                Some(_) => break,
                None => stored.push(block.clone()),
            }
            count += 1;
        }
        if is_failure(fault) { Err(failed()) } else { Ok(count) }
    }

    fn read(
        &self,
        key: &Key,
        selection: &Selection,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        watch.check()?;
        let fault = self.fault();
        if fault == Some(Fault::Before) {
            return Err(failed());
        }
        let mut blocks = self.blocks(key);
        if matches!(fault, Some(Fault::Behind | Fault::Hidden)) {
            blocks.truncate(blocks.len().saturating_sub(LATE));
        }
        blocks.retain(|block| selection.takes(block));
        if is_failure(fault) {
            blocks.truncate(blocks.len() / 2);
        }
        for mut block in blocks {
            if selection.want == Want::Outline && is_record(&block) {
                if block.parent_block_id.is_some() {
                    continue;
                }
                crate::send::strip(&mut block)?;
            }
            if take(block)?.is_break() {
                return Ok(());
            }
        }
        if is_failure(fault) { Err(failed()) } else { Ok(()) }
    }

    fn head(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<Block>> {
        watch.check()?;
        let fault = self.fault();
        if is_failure(fault) {
            return Err(failed());
        }
        let mut blocks = self.blocks(key);
        if fault == Some(Fault::Behind) {
            blocks.truncate(blocks.len().saturating_sub(LATE));
        }
        Ok(blocks.pop())
    }

    fn sessions(
        &self,
        user: &str,
        _: &Watch<'_>,
        take: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let keys = self.sessions.lock().unwrap().keys().cloned().collect::<Vec<_>>();
        for key in keys.into_iter().filter(|key| key.user() == user) {
            let mut described = self.blocks(&key);
            described.retain(|block| block.block_type.describes() && block.parent_block_id.is_none());
            if take(Stored::new(key, described))?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn is_record(block: &Block) -> bool {
    matches!(block.block_type, BlockType::Message | BlockType::Event | BlockType::EventData)
}
