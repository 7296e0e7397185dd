//! The payload storage of object stores.

use std::io::Read;
use std::sync::Arc;

use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path;
use object_store::{
    Error as StoreError, MultipartId, ObjectStoreExt, PutMode, PutOptions, PutPayload, WriteMultipart,
};
use trommel_blocks::{ErrorClass, ErrorKind, Key, PayloadStorage, Result};
use trommel_session::Watch;

use super::failure;
use super::fault::ObjectFault;
use super::location::Objects;

/// The bytes of a part. One part at a time is held in memory and sent.
const PART_BYTES: u64 = 8 << 20;

/// The maximum number of parts in S3.
const MAX_PARTS: u64 = 10_000;

/// A payload storage in an object store. A payload is visible under its name only when it is
/// complete.
#[derive(Debug)]
pub struct ObjectPayloads(Objects);

impl ObjectPayloads {
    /// Creates a payload storage at this location.
    pub fn new(objects: Objects) -> Self {
        Self(objects)
    }

    /// Returns the object path. The name becomes part of a path, so it must be valid like a session
    /// id.
    fn path(&self, name: &str) -> Result<Path> {
        if Key::new("any", name).is_err() {
            return Err(ErrorKind::InvalidName { role: "payload", name: name.to_owned() }.into());
        }
        Ok(self.0.path(&["payloads", name]))
    }

    /// Returns the length of the payload in bytes; `None` if it does not exist.
    fn length(&self, path: &Path, watch: &Watch<'_>) -> Result<Option<u64>> {
        let inner = &self.0.0;
        inner.engine.run(watch, || {
            let (store, name, path) = (inner.store.clone(), inner.name.clone(), path.clone());
            async move { Ok(failure::or_none(&name, store.head(&path).await)?.map(|found| found.size)) }
        })
    }

    fn put_whole(&self, path: &Path, bytes: Vec<u8>, watch: &Watch<'_>) -> Result<()> {
        let (inner, payload) = (&self.0.0, PutPayload::from(bytes));
        inner.engine.run(watch, || {
            let (store, name) = (inner.store.clone(), inner.name.clone());
            let (path, payload) = (path.clone(), payload.clone());
            async move {
                let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
                match store.put_opts(&path, payload, options).await {
                    // Names are derived from contents, so an existing object is this payload.
                    Ok(_) | Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }) => Ok(()),
                    Err(error) => Err(failure::from_store(&name, &error)),
                }
            }
        })
    }

    /// Uploads to a store whose multipart uploads cannot retry single parts; a failure is final.
    fn put_stream(&self, path: &Path, from: &mut Source<'_>, watch: &Watch<'_>) -> Result<()> {
        let inner = &self.0.0;
        let upload = inner.engine.run(watch, || {
            let (store, name, path) = (inner.store.clone(), inner.name.clone(), path.clone());
            async move { store.put_multipart(&path).await.map_err(|error| failure::from_store(&name, &error)) }
        })?;
        let mut writing = WriteMultipart::new_with_chunk_size(upload, PART_BYTES as usize);
        loop {
            let part = from.next(watch);
            let name = inner.name.clone();
            match part {
                Ok(Some(part)) => {
                    writing = inner.engine.once(watch, async move {
                        writing.put(part.into());
                        writing
                            .wait_for_capacity(0)
                            .await
                            .map_err(|error| failure::from_store(&name, &error))?;
                        Ok(writing)
                    })?;
                }
                Ok(None) => {
                    return inner.engine.once(watch, async move {
                        writing.finish().await.map(drop).map_err(|error| failure::from_store(&name, &error))
                    });
                }
                Err(error) => {
                    let unwatched = Watch::new();
                    let _ = inner.engine.once(&unwatched, async move {
                        writing.abort().await.map_err(|error| failure::from_store(&name, &error))
                    });
                    return Err(error);
                }
            }
        }
    }
}

/// A multipart upload, with retries of single parts.
struct Upload<'a, 'w> {
    to: &'a ObjectPayloads,
    store: Arc<dyn MultipartStore>,
    path: Path,
    watch: &'a Watch<'w>,
}

impl Upload<'_, '_> {
    fn run(&self, from: &mut Source<'_>) -> Result<()> {
        let (inner, bytes) = (&self.to.0.0, from.left);
        let id: MultipartId =
            inner.engine.run(self.watch, || {
                let (store, name, path) = (self.store.clone(), inner.name.clone(), self.path.clone());
                async move {
                    store.create_multipart(&path).await.map_err(|error| failure::from_store(&name, &error))
                }
            })?;
        let done = self.send(&id, from).and_then(|sent| self.complete(&id, &sent, bytes));
        if done.is_err() {
            // Removes the parts that were sent. If that fails, the service removes them after a
            // while.
            let (store, name, path) = (self.store.clone(), inner.name.clone(), self.path.clone());
            let _ = inner.engine.once(&Watch::new(), async move {
                store.abort_multipart(&path, &id).await.map_err(|error| failure::from_store(&name, &error))
            });
        }
        done
    }

    fn send(&self, id: &MultipartId, from: &mut Source<'_>) -> Result<Vec<PartId>> {
        let inner = &self.to.0.0;
        let mut sent = Vec::new();
        while let Some(part) = from.next(self.watch)? {
            let (index, payload) = (sent.len(), PutPayload::from(part));
            sent.push(inner.engine.run(self.watch, || {
                let (store, name, path) = (self.store.clone(), inner.name.clone(), self.path.clone());
                let (id, payload) = (id.clone(), payload.clone());
                async move {
                    let part = store.put_part(&path, &id, index, payload).await;
                    part.map_err(|error| failure::from_store(&name, &error))
                }
            })?);
        }
        Ok(sent)
    }

    fn complete(&self, id: &MultipartId, sent: &[PartId], bytes: u64) -> Result<()> {
        let inner = &self.to.0.0;
        let completed = inner.engine.run(self.watch, || {
            let (store, name, path) = (self.store.clone(), inner.name.clone(), self.path.clone());
            let (id, sent) = (id.clone(), sent.to_vec());
            async move {
                let done = store.complete_multipart(&path, &id, sent).await;
                done.map(drop).map_err(|error| failure::from_store(&name, &error))
            }
        });
        match completed {
            // If the answer to an earlier attempt was lost, the parts are gone, but the payload
            // exists.
            Err(error) if error.class() != ErrorClass::Cancelled => {
                match self.to.length(&self.path, self.watch) {
                    Ok(Some(stored)) if stored == bytes => Ok(()),
                    _ => Err(error),
                }
            }
            done => done,
        }
    }
}

/// A reader that must yield exactly `left` more bytes, in parts.
struct Source<'a> {
    from: &'a mut (dyn Read + Send),
    left: u64,
}

impl Source<'_> {
    /// Returns the next part; `None` at the end.
    fn next(&mut self, watch: &Watch<'_>) -> Result<Option<Vec<u8>>> {
        watch.check()?;
        let wanted = self.left.min(PART_BYTES);
        if wanted == 0 {
            return Ok(None);
        }
        let mut part = Vec::with_capacity(wanted as usize);
        (&mut *self.from).take(wanted).read_to_end(&mut part).map_err(ObjectFault::PayloadSource)?;
        if (part.len() as u64) < wanted {
            return Err(ObjectFault::PayloadEnds.into());
        }
        self.left -= wanted;
        Ok(Some(part))
    }
}

impl PayloadStorage for ObjectPayloads {
    fn name(&self) -> String {
        self.0.name().to_owned()
    }

    fn put(&self, name: &str, bytes: u64, from: &mut (dyn Read + Send), watch: &Watch<'_>) -> Result<()> {
        let path = self.path(name)?;
        if bytes > PART_BYTES * MAX_PARTS {
            return Err(ObjectFault::PayloadTooLarge {
                store: self.name(),
                bytes,
                limit: PART_BYTES * MAX_PARTS,
            }
            .into());
        }
        match self.length(&path, watch)? {
            Some(stored) if stored == bytes => return Ok(()),
            Some(stored) => {
                let (store, name) = (self.name(), name.to_owned());
                return Err(ObjectFault::PayloadDiffers { store, name, stored, bytes }.into());
            }
            None => {}
        }
        let mut from = Source { from, left: bytes };
        if bytes <= PART_BYTES {
            // An empty payload has no part.
            let whole = from.next(watch)?.unwrap_or_default();
            return self.put_whole(&path, whole, watch);
        }
        match &self.0.0.parts {
            Some(store) => Upload { to: self, store: Arc::clone(store), path, watch }.run(&mut from),
            None => self.put_stream(&path, &mut from, watch),
        }
    }

    fn get(&self, name: &str, watch: &Watch<'_>, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let path = self.path(name)?;
        let bytes = self
            .length(&path, watch)?
            .ok_or_else(|| ObjectFault::NoPayload { store: self.name(), name: name.to_owned() })?;
        let inner = &self.0.0;
        let mut from = 0;
        while from < bytes {
            let range = from..bytes.min(from + PART_BYTES);
            let piece = inner.engine.run(watch, || {
                let (store, name) = (inner.store.clone(), inner.name.clone());
                let (path, range) = (path.clone(), range.clone());
                async move {
                    store.get_range(&path, range).await.map_err(|error| failure::from_store(&name, &error))
                }
            })?;
            if piece.len() as u64 != range.end - range.start {
                let (store, name) = (self.name(), name.to_owned());
                return Err(ObjectFault::PayloadChanged { store, name }.into());
            }
            take(&piece)?;
            from = range.end;
        }
        Ok(())
    }
}
