//! The block storage of object stores.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Error as StoreError, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use trommel_blocks::{
    AttemptError, Block, BlockDocument, BlockStorage, BlockType, Created, ErrorKind, Key, Result, Selection,
    Stored, Want,
};
use trommel_session::Watch;

use super::engine::{Attempt, MAX_CONCURRENT};
use super::failure;
use super::fault::ObjectFault;
use super::head::find_last;
use super::location::Objects;

/// The maximum size of a block. A larger object was not written by this crate.
const MAX_BLOCK_BYTES: u64 = 32 << 20;

/// The maximum number of remembered heads.
const MAX_HEADS: usize = 10_000;

/// A block storage in an object store. The [module](super) documents the layout and the cost of
/// each operation.
pub struct ObjectBlockStorage {
    objects: Objects,
    /// The last known sequence number of each session. It only grows.
    heads: Mutex<HashMap<Key, u64>>,
}

/// The result of creating an object.
enum PutResult {
    Created,
    /// The object existed with these bytes.
    Exists(Vec<u8>),
}

impl ObjectBlockStorage {
    /// Creates a block storage at this location.
    pub fn new(objects: Objects) -> Self {
        Self { objects, heads: Mutex::default() }
    }

    fn path(&self, key: &Key, sequence: u64) -> Path {
        self.folder_path("blocks", key, sequence)
    }

    fn folder_path(&self, folder: &str, key: &Key, sequence: u64) -> Path {
        self.objects.path(&[folder, key.user(), key.session(), &format!("{sequence:020}.json")])
    }

    fn known_head(&self, key: &Key) -> u64 {
        let heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        heads.get(key).copied().unwrap_or(0)
    }

    fn remember_head(&self, key: &Key, sequence: u64) {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        if heads.len() >= MAX_HEADS && !heads.contains_key(key) {
            // Forgetting a head costs only the probes to find it again.
            heads.clear();
        }
        let head = heads.entry(key.clone()).or_default();
        *head = sequence.max(*head);
    }

    fn put(&self, path: &Path, bytes: &[u8], watch: &Watch<'_>) -> Result<PutResult> {
        let (inner, payload) = (&self.objects.0, PutPayload::from(bytes.to_vec()));
        inner.engine.run(watch, || {
            let (store, name) = (inner.store.clone(), inner.name.clone());
            let (path, payload) = (path.clone(), payload.clone());
            async move {
                let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
                match store.put_opts(&path, payload, options).await {
                    Ok(_) => return Ok(PutResult::Created),
                    Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }) => {}
                    Err(error) => return Err(failure::from_store(&name, &error)),
                }
                // When two writers create an object at the same time, a service may refuse both.
                // Then the object does not exist yet, and a retry can help.
                fetch(&*store, &name, &path).await?.map(PutResult::Exists).ok_or_else(|| {
                    AttemptError::Transient(ObjectFault::Contended { store: name }.into(), None)
                })
            }
        })
    }

    /// Fetches objects, in the order of their paths; `None` for each that does not exist.
    fn fetch(&self, paths: &[Path], watch: &Watch<'_>) -> Result<Vec<Option<Vec<u8>>>> {
        let inner = &self.objects.0;
        inner.engine.each(watch, paths, |path| {
            let (store, name, path) = (inner.store.clone(), inner.name.clone(), path.clone());
            async move { fetch(&*store, &name, &path).await }
        })
    }

    /// Reads one block; `None` if it does not exist.
    fn one(&self, key: &Key, sequence: u64, watch: &Watch<'_>) -> Result<Option<Block>> {
        let found = self.fetch(&[self.path(key, sequence)], watch)?.into_iter().flatten().next();
        found.map(|bytes| self.parse(key, sequence, &bytes)).transpose()
    }

    /// Returns, for each number, whether that block exists.
    fn probe(&self, key: &Key, numbers: &[u64], watch: &Watch<'_>) -> Result<Vec<bool>> {
        let inner = &self.objects.0;
        inner.engine.each(watch, numbers, |number| {
            let (store, name) = (inner.store.clone(), inner.name.clone());
            let path = self.path(key, *number);
            async move { Ok(failure::or_none(&name, store.head(&path).await)?.is_some()) }
        })
    }

    /// Parses a block, and checks that it is the expected one.
    fn parse(&self, key: &Key, sequence: u64, bytes: &[u8]) -> Result<Block> {
        let fault = |cause| {
            let (store, session) = (self.objects.name().to_owned(), key.session().to_owned());
            ObjectFault::NotTheBlock { store, sequence, session, cause }
        };
        let block: Block = serde_json::from_slice(bytes).map_err(|error| fault(Some(error)))?;
        if block.sequence != sequence || block.session_id != key.session() || block.user_id != key.user() {
            return Err(fault(None).into());
        }
        Ok(block)
    }

    /// Lists a user's sessions with the sequence numbers of their description copies.
    fn described(&self, user: &str, watch: &Watch<'_>) -> Result<BTreeMap<String, Vec<u64>>> {
        let inner = &self.objects.0;
        let mut sessions = inner.engine.list(watch, || {
            let (store, name) = (inner.store.clone(), inner.name.clone());
            let folder = self.objects.path(&["blocks", user]);
            async move {
                let list = store.list_with_delimiter(Some(&folder)).await;
                let list = failure::or_none(&name, list)?;
                let list = list.map_or_else(Vec::new, |list| list.common_prefixes);
                let names = list.iter().filter_map(|path| path.filename().map(str::to_owned));
                Ok(names.map(|session| (session, Vec::new())).collect::<BTreeMap<_, _>>())
            }
        })?;
        let copies = inner.engine.list(watch, || {
            let (store, name) = (inner.store.clone(), inner.name.clone());
            let folder = self.objects.path(&["described", user]);
            async move {
                let list =
                    store.list(Some(&folder)).map_ok(|found| found.location).try_collect::<Vec<_>>().await;
                Ok(failure::or_none(&name, list)?.unwrap_or_default())
            }
        })?;
        for (session, sequence) in copies.iter().filter_map(parse_copy_path) {
            if let Some(numbers) = sessions.get_mut(session) {
                numbers.push(sequence);
            }
        }
        for numbers in sessions.values_mut() {
            numbers.sort_unstable();
        }
        Ok(sessions)
    }

    /// Reads the blocks that describe a batch of sessions.
    fn stored(&self, batch: &[(Key, Vec<u64>)], watch: &Watch<'_>) -> Result<Vec<Stored>> {
        let wanted = batch.iter().flat_map(|(key, numbers)| {
            // The first block always describes its session, even if its copy was not yet created.
            let first = (numbers.first() != Some(&1)).then(|| (key, 1, self.path(key, 1)));
            let copies =
                numbers.iter().map(move |number| (key, *number, self.folder_path("described", key, *number)));
            first.into_iter().chain(copies)
        });
        let wanted = wanted.collect::<Vec<_>>();
        let mut blocks = BTreeMap::<&Key, Vec<Block>>::new();
        for part in wanted.chunks(MAX_CONCURRENT) {
            let paths = part.iter().map(|(_, _, path)| path.clone()).collect::<Vec<_>>();
            for ((key, number, _), bytes) in part.iter().zip(self.fetch(&paths, watch)?) {
                if let Some(bytes) = bytes {
                    blocks.entry(*key).or_default().push(self.parse(key, *number, &bytes)?);
                }
            }
        }
        Ok(blocks.into_iter().map(|(key, described)| Stored::new(key.clone(), described)).collect())
    }
}

/// Returns the session and the sequence number from the path of a description copy.
fn parse_copy_path(path: &Path) -> Option<(&str, u64)> {
    let (rest, file) = path.as_ref().rsplit_once('/')?;
    let (_, session) = rest.rsplit_once('/')?;
    Some((session, file.strip_suffix(".json")?.parse().ok()?))
}

/// Reads an object; `None` if it does not exist.
async fn fetch(store: &dyn ObjectStore, name: &str, path: &Path) -> Attempt<Option<Vec<u8>>> {
    let Some(found) = failure::or_none(name, store.get(path).await)? else {
        return Ok(None);
    };
    if found.meta.size > MAX_BLOCK_BYTES {
        let (store, bytes) = (name.to_owned(), found.meta.size);
        return Err(AttemptError::Permanent(
            ObjectFault::BlockTooLarge { store, bytes, limit: MAX_BLOCK_BYTES }.into(),
        ));
    }
    let bytes = found.bytes().await.map_err(|error| failure::from_store(name, &error))?;
    Ok(Some(bytes.into()))
}

impl BlockStorage for ObjectBlockStorage {
    fn name(&self) -> String {
        self.objects.name().to_owned()
    }

    fn reach(&self, timeout: Duration) -> Result<()> {
        self.objects.reach(timeout)
    }

    fn create(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        let bytes = serde_json::to_vec(&BlockDocument::new(key, block)).map_err(ErrorKind::Unwritable)?;
        let created = match self.put(&self.path(key, block.sequence), &bytes, watch)? {
            PutResult::Created => Created::New,
            PutResult::Exists(stored) if self.parse(key, block.sequence, &stored)?.is_same_as(block) => {
                Created::Same
            }
            PutResult::Exists(_) => return Ok(Created::Taken),
        };
        self.remember_head(key, block.sequence);
        // The copy comes second. An interrupted writer that creates the same block again
        // (`Created::Same`) creates the missing copy then.
        if block.block_type.describes() {
            self.put(&self.folder_path("described", key, block.sequence), &bytes, watch)?;
        }
        Ok(created)
    }

    fn read(
        &self,
        key: &Key,
        selection: &Selection,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let last = selection.until.unwrap_or(u64::MAX);
        let (mut after, mut width) = (selection.after, 1);
        // The first batch has one block, because a caller that polls for new blocks mostly finds
        // none.
        while after < last {
            let numbers =
                (1..=width).map_while(|step| after.checked_add(step)).filter(|number| *number <= last);
            let numbers = numbers.collect::<Vec<_>>();
            let paths = numbers.iter().map(|number| self.path(key, *number)).collect::<Vec<_>>();
            for (number, bytes) in numbers.iter().zip(self.fetch(&paths, watch)?) {
                let Some(bytes) = bytes else { return Ok(()) };
                let block = self.parse(key, *number, &bytes)?;
                after = *number;
                self.remember_head(key, after);
                let is_piece = selection.want == Want::Outline && block.block_type == BlockType::EventData;
                if selection.takes(&block) && !is_piece && take(block)?.is_break() {
                    return Ok(());
                }
            }
            width = (width * 2).min(MAX_CONCURRENT as u64);
        }
        Ok(())
    }

    fn head(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<Block>> {
        let known = self.known_head(key);
        let mut last = match self.one(key, known + 1, watch)? {
            Some(block) => block,
            None if known == 0 => return Ok(None),
            // Blocks are never removed, so the block that was written or read before still exists.
            None => return self.one(key, known, watch),
        };
        let number = find_last(last.sequence, |numbers| self.probe(key, numbers, watch))?;
        if number > last.sequence {
            let Some(block) = self.one(key, number, watch)? else { return Ok(Some(last)) };
            last = block;
        }
        self.remember_head(key, last.sequence);
        Ok(Some(last))
    }

    fn sessions(
        &self,
        user: &str,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        Key::new(user, "any")?;
        // Folders with a name that is not a valid session id are skipped.
        let sessions = self.described(user, watch)?.into_iter();
        let sessions =
            sessions.filter_map(|(session, numbers)| Some((Key::new(user, &session).ok()?, numbers)));
        for batch in sessions.collect::<Vec<_>>().chunks(MAX_CONCURRENT) {
            for stored in self.stored(batch, watch)? {
                if take(stored)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

impl std::fmt::Debug for ObjectBlockStorage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObjectBlockStorage").field("objects", &self.objects).finish_non_exhaustive()
    }
}
