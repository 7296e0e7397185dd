//! Blocks in a container of Azure Cosmos DB.
//!
//! Terms: an *account* has *databases*, these have *containers*, and these have *documents*, which
//! are JSON of 2 MiB at most. The value at one path of each document is its *partition*: documents
//! of one partition lie together, can be created all or none (a *batch*), and are asked for without
//! going elsewhere. What is asked costs *units*; who asks for more of them in a second than the
//! container was given is put off (status 429, with the time to wait).
//!
//! A session is a partition here: the value at `/partitionKey` is `<user>_<session>`, and a block
//! is a document whose id is `<session>_<20 digits>`. A block is only ever created. Where two
//! devices write the same number, the second one is told so (status 409), and nothing is written
//! over. An answer that was lost does no harm either: the next try finds the block there, and the
//! same.
//!
//! What it costs, in requests: a block one, up to 100 blocks one as well; a page of a session one;
//! the head of a session one; the list of a user's sessions one a page, in each of the container's
//! physical partitions. Where the questions name types of blocks and no bodies, bodies do not
//! travel. Numbers beyond 2⁵³ are rounded by the service, so that whoever makes blocks keeps them
//! as text.
//!
//! Tries: [`Retry`](trommel_blocks::Retry) says how often and how long, 9 times within 60 s, for
//! each request. The official crate is told not to try again by itself, with two exceptions: once
//! where a region has not yet what another has; and what the service answers when several write one
//! document (status 449, which creating alone hardly meets): that it tries again with pauses of a
//! second at most, within the time of one try, which cannot be turned off. Its tries count as ours,
//! so that a row of them is the last one.
//!
//! Containers of the [other layout](Layout::Lines), which keeps messages and events, are read as if
//! they held blocks, and not written.
//!
//! Not shown by any test here, as it takes a real account: what anything costs in units, being put
//! off under real load, several regions and the change from one to another, tokens of Entra,
//! firewalls. Tests speak to two emulators (`tests/cosmos`).

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
use pages::Asked;

/// Blocks in a container of Cosmos DB. See the [module](self) for terms, and for what anything
/// costs.
///
/// Calls wait, and may come from any thread. A flag that is raised meanwhile ends them within 50
/// ms.
pub struct CosmosBlockStorage {
    link: Link,
    /// Whether the service was found not to know batches, as emulators may not.
    has_no_batches: AtomicBool,
}

impl CosmosBlockStorage {
    /// A storage in a container. An error when the options cannot be right; nothing is asked yet.
    pub fn new(options: CosmosOptions) -> Result<Self> {
        Self::through(options, CosmosRuntimeBuilder::new())
    }

    /// The same, through something else than the network: for tests.
    #[doc(hidden)]
    pub fn through(options: CosmosOptions, sdk: CosmosRuntimeBuilder) -> Result<Self> {
        Ok(Self { link: Link::new(options, sdk)?, has_no_batches: AtomicBool::new(false) })
    }

    /// Creates the database and the container, unless they exist. Only the account's key may do
    /// that, not an identity.
    ///
    /// The container is partitioned by `/partitionKey`. The data of blocks is not indexed: it is
    /// large, costs units with each write, and is never searched.
    pub fn prepare(&self, watch: &Watch<'_>) -> Result<()> {
        prepare::prepare(&self.link, watch)
    }

    fn creator(&self) -> Creator<'_> {
        Creator { link: &self.link, has_no_batches: &self.has_no_batches }
    }

    /// The layout of the container. Asks for it when it is not known yet.
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

    /// As far as it is known without asking: by what the container said of itself before, by the
    /// options, or by its usual name.
    fn is_writable(&self) -> bool {
        self.link.layout() == Layout::Blocks
    }

    fn reach(&self, patience: Duration) -> Result<()> {
        self.link.reach(patience)
    }

    fn create(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        self.creator().one(key, block, watch)
    }

    fn create_all(&self, key: &Key, blocks: &[Block], watch: &Watch<'_>) -> Result<usize> {
        self.creator().many(key, blocks, watch)
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
        let asked = Asked { query: rows::selected(key, selection)?, partition: Some(key.partition()) };
        let is_whole = !rows::is_outlined(selection);
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
        let asked = Asked { query: rows::last(key)?, partition: Some(key.partition()) };
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
        let asked = Asked { query: rows::described(user)?, partition: None };
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
            // What cannot be a session's name is none.
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
