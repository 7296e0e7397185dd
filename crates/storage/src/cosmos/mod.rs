//! A block storage in a container of Azure Cosmos DB.
//!
//! Terms: an *account* has *databases*, which have *containers*, which have *documents* (JSON of at
//! most 2 MiB). The value at one path of each document is its *partition key*. Documents of one
//! partition are stored together, can be created all or none (a *batch*), and can be queried
//! without contacting other partitions. Requests cost *request units*; a client that exceeds the
//! container's units per second is throttled (status 429, with the time to wait).
//!
//! Here each session is a partition: its key, at `/partitionKey`, is `<user>_<session>`. A block is
//! a document with the id `<session>_<20 digits>`. Blocks are only ever created. If two devices
//! write the same number, the second gets a conflict (status 409), and nothing is overwritten. A
//! lost answer does no harm: the retry finds the block, and it is the same.
//!
//! The cost in requests: one for a block, one for a batch of up to 100 blocks, one for a page of a
//! session, one for the head of a session, and one for each page of a user's sessions in each
//! physical partition. Queries for outlines do not transfer bodies. The service rounds numbers
//! beyond 2⁵³, so blocks must store such numbers as text.
//!
//! [`Retry`](trommel_blocks::Retry) limits the attempts of each request, by default 9 within 60 s.
//! The SDK's own retries are disabled, with two exceptions: one retry if a region does not have the
//! session's latest writes yet, and retries of status 449 (concurrent writes of one document, rare
//! when documents are only created), which cannot be disabled. The latter have pauses of at most a
//! second and stay within the timeout of one attempt. All these requests count as attempts.
//!
//! Containers of the [line layout](Layout::Lines), which stores messages and events, are read as if
//! they contained blocks, and are never written.
//!
//! Some behavior needs a real account and is not tested: the cost in request units, throttling
//! under load, several regions with failover, Entra tokens, and firewalls. The tests use two
//! emulators (`tests/cosmos`).

mod create;
mod failure;
mod fault;
mod identity;
mod lines;
mod link;
mod options;
mod pages;
mod prepare;
mod rows;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use azure_data_cosmos::CosmosRuntimeBuilder;
use trommel_blocks::{Block, BlockStorage, Created, Key, Result, Selection, Stored};
use trommel_session::Watch;

pub use fault::{CosmosFault, Denial, OptionFault, ServiceFailure};
pub use options::{CosmosOptions, Credential, Layout};

use create::Creator;
use lines::LineContainer;
use link::Link;
use pages::PageQuery;

/// A block storage in a container of Cosmos DB. The [module](self) documents terms and costs.
///
/// Calls block, and may come from any thread. A cancelled call returns within 50 ms.
pub struct CosmosBlockStorage {
    link: Link,
    /// True once the service was found not to support batches, as some emulators do not.
    has_no_batches: AtomicBool,
}

impl CosmosBlockStorage {
    /// Creates a storage without connecting. Fails if the options are invalid.
    pub fn new(options: CosmosOptions) -> Result<Self> {
        Self::with_sdk(options, CosmosRuntimeBuilder::new())
    }

    /// Creates a storage with a custom SDK runtime, for tests.
    #[doc(hidden)]
    pub fn with_sdk(options: CosmosOptions, sdk: CosmosRuntimeBuilder) -> Result<Self> {
        Ok(Self { link: Link::new(options, sdk)?, has_no_batches: AtomicBool::new(false) })
    }

    /// Creates the database and the container, unless they exist. This needs the account's key; an
    /// identity may not do it.
    ///
    /// The container is partitioned by `/partitionKey`. The data of blocks is not indexed, because
    /// it is large, costs units for each write, and is never searched.
    pub fn prepare(&self, watch: &Watch<'_>) -> Result<()> {
        prepare::prepare(&self.link, watch)
    }

    fn creator(&self) -> Creator<'_> {
        Creator { link: &self.link, has_no_batches: &self.has_no_batches }
    }

    /// Returns the layout of the container; requests it if it is not yet known.
    fn layout(&self, watch: &Watch<'_>) -> Result<Layout> {
        self.link.ask(watch, |open| async move { Ok(open.layout) })
    }
}

impl fmt::Debug for CosmosBlockStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CosmosBlockStorage").field(&self.link.name).finish()
    }
}

impl BlockStorage for CosmosBlockStorage {
    fn name(&self) -> String {
        self.link.name.clone()
    }

    /// Answers without a request: from the container's properties if they were read before, else
    /// from the options or the container's name.
    fn is_writable(&self) -> bool {
        self.link.layout() == Layout::Blocks
    }

    fn reach(&self, timeout: Duration) -> Result<()> {
        self.link.reach(timeout)
    }

    fn create(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        self.creator().create_one(key, block, watch)
    }

    fn create_all(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<usize> {
        self.creator().create_many(key, blocks, watch)
    }

    fn read(
        &self,
        key: &Key,
        selection: &Selection,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        if self.layout(watch)? == Layout::Lines {
            return LineContainer(&self.link).read(key, selection, watch, take);
        }
        let asked =
            PageQuery { query: rows::select_blocks(key, selection)?, partition: Some(key.partition()) };
        let is_whole = !rows::is_outline(selection);
        self.link.pages(&asked, watch, &mut |documents| {
            for document in documents {
                if take(rows::block(&document, is_whole)?)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    fn head(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<Block>> {
        if self.layout(watch)? == Layout::Lines {
            return LineContainer(&self.link).head(key, watch);
        }
        let asked = PageQuery { query: rows::last_block(key)?, partition: Some(key.partition()) };
        let mut head = None;
        self.link.pages(&asked, watch, &mut |documents| {
            let Some(document) = documents.first() else { return Ok(ControlFlow::Continue(())) };
            head = Some(rows::block(document, false)?);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(head)
    }

    fn sessions(
        &self,
        user: &str,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        if self.layout(watch)? == Layout::Lines {
            return LineContainer(&self.link).sessions(user, watch, take);
        }
        let asked = PageQuery { query: rows::session_descriptions(user)?, partition: None };
        let mut sessions: BTreeMap<String, Result<Vec<Block>>> = BTreeMap::new();
        self.link.pages(&asked, watch, &mut |documents| {
            for document in documents {
                let (session, block) = (rows::session(&document), rows::block(&document, false));
                let described = sessions.entry(session).or_insert_with(|| Ok(Vec::new()));
                match (&mut *described, block) {
                    (Ok(blocks), Ok(block)) => blocks.push(block),
                    (Ok(_), Err(problem)) => *described = Err(problem),
                    (Err(_), _) => {}
                }
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for (session, described) in sessions {
            // Names that are not valid session ids are skipped.
            let Ok(key) = Key::new(user, &session) else { continue };
            let stored = match described {
                Ok(mut described) => {
                    described.sort_by_key(|block| block.sequence);
                    Stored::new(key, described)
                }
                Err(problem) => Stored::unreadable(key, problem),
            };
            if take(stored)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
