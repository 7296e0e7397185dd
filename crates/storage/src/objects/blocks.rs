//! Blocks as objects.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Error as StoreError, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use trommel_blocks::{
    Block, BlockDocument, BlockStorage, BlockType, Created, ErrorKind, Failed, Key, Result, Selection,
    Stored, Want,
};
use trommel_session::Watch;

use super::engine::{AT_ONCE, Tried};
use super::failure;
use super::fault::ObjectFault;
use super::head::last_from;
use super::place::Objects;

/// No block is longer; an object that is has come from elsewhere.
const LONGEST: u64 = 32 << 20;

/// Heads that are remembered at most.
const REMEMBERED: usize = 10_000;

/// A storage of blocks in an object store. See the [module](super) for where they stand and what
/// asking costs.
pub struct ObjectBlockStorage {
    objects: Objects,
    /// The last number that was seen of each session. It only grows.
    heads: Mutex<HashMap<Key, u64>>,
}

/// What became of an object that was to be created.
enum Put {
    New,
    /// These bytes were there.
    There(Vec<u8>),
}

impl ObjectBlockStorage {
    /// Blocks in this place.
    pub fn new(objects: Objects) -> Self {
        Self { objects, heads: Mutex::default() }
    }

    fn path(&self, key: &Key, sequence: u64) -> Path {
        self.place("blocks", key, sequence)
    }

    fn place(&self, folder: &str, key: &Key, sequence: u64) -> Path {
        self.objects.path(&[folder, key.user(), key.session(), &format!("{sequence:020}.json")])
    }

    fn seen(&self, key: &Key) -> u64 {
        let heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        heads.get(key).copied().unwrap_or(0)
    }

    fn see(&self, key: &Key, sequence: u64) {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        if heads.len() >= REMEMBERED && !heads.contains_key(key) {
            heads.clear();
        }
        let seen = heads.entry(key.clone()).or_default();
        *seen = sequence.max(*seen);
    }

    fn put(&self, path: &Path, bytes: &[u8], watch: &Watch<'_>) -> Result<Put> {
        let (inner, payload) = (&self.objects.0, PutPayload::from(bytes.to_vec()));
        inner.engine.run(watch, || {
            let (store, name) = (inner.store.clone(), inner.name.clone());
            let (path, payload) = (path.clone(), payload.clone());
            async move {
                let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
                match store.put_opts(&path, payload, options).await {
                    Ok(_) => return Ok(Put::New),
                    Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }) => {}
                    Err(error) => return Err(failure::of(&name, &error)),
                }
                // Where two create at once, a service may refuse both for now: then nothing is
                // there.
                fetch(&*store, &name, &path)
                    .await?
                    .map(Put::There)
                    .ok_or_else(|| Failed::ForNow(ObjectFault::Contended { place: name }.into(), None))
            }
        })
    }

    /// Objects by their paths, in the order of those, and none where there is no such object.
    fn fetch(&self, paths: &[Path], watch: &Watch<'_>) -> Result<Vec<Option<Vec<u8>>>> {
        let inner = &self.objects.0;
        inner.engine.each(watch, paths, |path| {
            let (store, name, path) = (inner.store.clone(), inner.name.clone(), path.clone());
            async move { fetch(&*store, &name, &path).await }
        })
    }

    /// The block of a number, if there is one.
    fn one(&self, key: &Key, sequence: u64, watch: &Watch<'_>) -> Result<Option<Block>> {
        let found = self.fetch(&[self.path(key, sequence)], watch)?.into_iter().flatten().next();
        found.map(|bytes| self.parse(key, sequence, &bytes)).transpose()
    }

    /// For each number, true if there is such a block.
    fn probe(&self, key: &Key, numbers: &[u64], watch: &Watch<'_>) -> Result<Vec<bool>> {
        let inner = &self.objects.0;
        inner.engine.each(watch, numbers, |number| {
            let (store, name) = (inner.store.clone(), inner.name.clone());
            let path = self.path(key, *number);
            async move { Ok(failure::or_none(&name, store.head(&path).await)?.is_some()) }
        })
    }

    /// The block of a number in an object.
    fn parse(&self, key: &Key, sequence: u64, bytes: &[u8]) -> Result<Block> {
        let wrong = |cause| {
            let (place, session) = (self.objects.name().to_owned(), key.session().to_owned());
            ObjectFault::NotTheBlock { place, sequence, session, cause }
        };
        let block: Block = serde_json::from_slice(bytes).map_err(|error| wrong(Some(error)))?;
        if block.sequence != sequence || block.session_id != key.session() || block.user_id != key.user() {
            return Err(wrong(None).into());
        }
        Ok(block)
    }

    /// The numbers of the copies that describe a user's sessions, by session. Sessions without one
    /// have none.
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
        for (session, sequence) in copies.iter().filter_map(numbered) {
            if let Some(numbers) = sessions.get_mut(session) {
                numbers.push(sequence);
            }
        }
        for numbers in sessions.values_mut() {
            numbers.sort_unstable();
        }
        Ok(sessions)
    }

    /// The blocks that describe a few sessions.
    fn stored(&self, few: &[(Key, Vec<u64>)], watch: &Watch<'_>) -> Result<Vec<Stored>> {
        let wanted = few.iter().flat_map(|(key, numbers)| {
            // The first block describes in any case; its copy may not have come about.
            let first = (numbers.first() != Some(&1)).then(|| (key, 1, self.path(key, 1)));
            let copies =
                numbers.iter().map(move |number| (key, *number, self.place("described", key, *number)));
            first.into_iter().chain(copies)
        });
        let wanted = wanted.collect::<Vec<_>>();
        let mut blocks = BTreeMap::<&Key, Vec<Block>>::new();
        for part in wanted.chunks(AT_ONCE) {
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

/// The session and the number in the path of a copy.
fn numbered(path: &Path) -> Option<(&str, u64)> {
    let (rest, file) = path.as_ref().rsplit_once('/')?;
    let (_, session) = rest.rsplit_once('/')?;
    Some((session, file.strip_suffix(".json")?.parse().ok()?))
}

/// What an object holds; none where there is no such object.
async fn fetch(store: &dyn ObjectStore, name: &str, path: &Path) -> Tried<Option<Vec<u8>>> {
    let Some(found) = failure::or_none(name, store.get(path).await)? else {
        return Ok(None);
    };
    if found.meta.size > LONGEST {
        let (place, bytes) = (name.to_owned(), found.meta.size);
        return Err(Failed::Finally(ObjectFault::BlockTooLarge { place, bytes, limit: LONGEST }.into()));
    }
    let bytes = found.bytes().await.map_err(|error| failure::of(name, &error))?;
    Ok(Some(bytes.into()))
}

impl BlockStorage for ObjectBlockStorage {
    fn name(&self) -> String {
        self.objects.name().to_owned()
    }

    fn reach(&self, patience: Duration) -> Result<()> {
        self.objects.reach(patience)
    }

    fn create(&self, key: &Key, block: &Block, watch: &Watch<'_>) -> Result<Created> {
        let bytes = serde_json::to_vec(&BlockDocument::new(key, block)).map_err(ErrorKind::Unwritable)?;
        let created = match self.put(&self.path(key, block.sequence), &bytes, watch)? {
            Put::New => Created::New,
            Put::There(there) if self.parse(key, block.sequence, &there)?.is_same_as(block) => Created::Same,
            Put::There(_) => return Ok(Created::Taken),
        };
        self.see(key, block.sequence);
        if block.block_type.describes() {
            self.put(&self.place("described", key, block.sequence), &bytes, watch)?;
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
        // Few at first: whoever asks for news mostly finds none.
        while after < last {
            let numbers =
                (1..=width).map_while(|step| after.checked_add(step)).filter(|number| *number <= last);
            let numbers = numbers.collect::<Vec<_>>();
            let paths = numbers.iter().map(|number| self.path(key, *number)).collect::<Vec<_>>();
            for (number, bytes) in numbers.iter().zip(self.fetch(&paths, watch)?) {
                let Some(bytes) = bytes else { return Ok(()) };
                let block = self.parse(key, *number, &bytes)?;
                after = *number;
                self.see(key, after);
                let is_piece = selection.want == Want::Outline && block.block_type == BlockType::EventData;
                if selection.takes(&block) && !is_piece && take(block)?.is_break() {
                    return Ok(());
                }
            }
            width = (width * 2).min(AT_ONCE as u64);
        }
        Ok(())
    }

    fn head(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<Block>> {
        let seen = self.seen(key);
        let mut last = match self.one(key, seen + 1, watch)? {
            Some(block) => block,
            None if seen == 0 => return Ok(None),
            // A block that was written or read before is there.
            None => return self.one(key, seen, watch),
        };
        let number = last_from(last.sequence, |numbers| self.probe(key, numbers, watch))?;
        if number > last.sequence {
            let Some(block) = self.one(key, number, watch)? else { return Ok(Some(last)) };
            last = block;
        }
        self.see(key, last.sequence);
        Ok(Some(last))
    }

    fn sessions(
        &self,
        user: &str,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        Key::new(user, "any")?;
        // A folder whose name cannot be a session's is none.
        let sessions = self.described(user, watch)?.into_iter();
        let sessions =
            sessions.filter_map(|(session, numbers)| Some((Key::new(user, &session).ok()?, numbers)));
        for few in sessions.collect::<Vec<_>>().chunks(AT_ONCE) {
            for stored in self.stored(few, watch)? {
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
