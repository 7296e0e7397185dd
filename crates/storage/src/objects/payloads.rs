//! Payloads as objects.

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
use super::place::Objects;

/// What is held of a payload, and sent at once.
const PART: u64 = 8 << 20;

/// S3 takes no more parts.
const PARTS: u64 = 10_000;

/// A storage of payloads in an object store. A payload has its name only when it is there whole.
#[derive(Debug)]
pub struct ObjectPayloads(Objects);

impl ObjectPayloads {
    /// Payloads in this place.
    pub fn new(objects: Objects) -> Self {
        Self(objects)
    }

    /// A payload's name ends up in a path, as those of sessions do.
    fn path(&self, name: &str) -> Result<Path> {
        if Key::new("any", name).is_err() {
            return Err(ErrorKind::InvalidName { role: "payload", name: name.to_owned() }.into());
        }
        Ok(self.0.path(&["payloads", name]))
    }

    /// How long the payload is, where there is one.
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
                    // By that name there is nothing else.
                    Ok(_) | Err(StoreError::AlreadyExists { .. } | StoreError::Precondition { .. }) => Ok(()),
                    Err(error) => Err(failure::of(&name, &error)),
                }
            }
        })
    }

    /// For stores that take parts in one go only; a failure is final.
    fn put_stream(&self, path: &Path, from: &mut Source<'_>, watch: &Watch<'_>) -> Result<()> {
        let inner = &self.0.0;
        let upload = inner.engine.run(watch, || {
            let (store, name, path) = (inner.store.clone(), inner.name.clone(), path.clone());
            async move { store.put_multipart(&path).await.map_err(|error| failure::of(&name, &error)) }
        })?;
        let mut writing = WriteMultipart::new_with_chunk_size(upload, PART as usize);
        loop {
            let part = from.next(watch);
            let name = inner.name.clone();
            match part {
                Ok(Some(part)) => {
                    writing = inner.engine.once(watch, async move {
                        writing.put(part.into());
                        writing.wait_for_capacity(0).await.map_err(|error| failure::of(&name, &error))?;
                        Ok(writing)
                    })?;
                }
                Ok(None) => {
                    return inner.engine.once(watch, async move {
                        writing.finish().await.map(drop).map_err(|error| failure::of(&name, &error))
                    });
                }
                Err(error) => {
                    let unwatched = Watch::new();
                    let _ = inner.engine.once(&unwatched, async move {
                        writing.abort().await.map_err(|error| failure::of(&name, &error))
                    });
                    return Err(error);
                }
            }
        }
    }
}

/// A payload on its way in parts, each of which is sent again where that can help.
struct Upload<'a, 'w> {
    to: &'a ObjectPayloads,
    store: Arc<dyn MultipartStore>,
    path: Path,
    watch: &'a Watch<'w>,
}

impl Upload<'_, '_> {
    fn run(&self, from: &mut Source<'_>) -> Result<()> {
        let (inner, bytes) = (&self.to.0.0, from.left);
        let id: MultipartId = inner.engine.run(self.watch, || {
            let (store, name, path) = (self.store.clone(), inner.name.clone(), self.path.clone());
            async move { store.create_multipart(&path).await.map_err(|error| failure::of(&name, &error)) }
        })?;
        let done = self.send(&id, from).and_then(|sent| self.complete(&id, &sent, bytes));
        if done.is_err() {
            // What was sent goes, as far as it can; services remove what is left of it after a
            // while.
            let (store, name, path) = (self.store.clone(), inner.name.clone(), self.path.clone());
            let _ = inner.engine.once(&Watch::new(), async move {
                store.abort_multipart(&path, &id).await.map_err(|error| failure::of(&name, &error))
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
                    part.map_err(|error| failure::of(&name, &error))
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
                done.map(drop).map_err(|error| failure::of(&name, &error))
            }
        });
        match completed {
            // Its parts are gone when an answer was lost: the payload is there then.
            Err(error) if error.class() != ErrorClass::Cancelled => {
                match self.to.length(&self.path, self.watch) {
                    Ok(Some(there)) if there == bytes => Ok(()),
                    _ => Err(error),
                }
            }
            done => done,
        }
    }
}

/// Bytes that come in parts, so many in all.
struct Source<'a> {
    from: &'a mut (dyn Read + Send),
    left: u64,
}

impl Source<'_> {
    /// The next part, or none at the end.
    fn next(&mut self, watch: &Watch<'_>) -> Result<Option<Vec<u8>>> {
        watch.check()?;
        let wanted = self.left.min(PART);
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
        if bytes > PART * PARTS {
            return Err(
                ObjectFault::PayloadTooLarge { place: self.name(), bytes, limit: PART * PARTS }.into()
            );
        }
        match self.length(&path, watch)? {
            Some(there) if there == bytes => return Ok(()),
            Some(stored) => {
                let (place, name) = (self.name(), name.to_owned());
                return Err(ObjectFault::PayloadDiffers { place, name, stored, bytes }.into());
            }
            None => {}
        }
        let mut from = Source { from, left: bytes };
        if bytes <= PART {
            // A payload without bytes has no part.
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
            .ok_or_else(|| ObjectFault::NoPayload { place: self.name(), name: name.to_owned() })?;
        let inner = &self.0.0;
        let mut from = 0;
        while from < bytes {
            let range = from..bytes.min(from + PART);
            let piece = inner.engine.run(watch, || {
                let (store, name) = (inner.store.clone(), inner.name.clone());
                let (path, range) = (path.clone(), range.clone());
                async move { store.get_range(&path, range).await.map_err(|error| failure::of(&name, &error)) }
            })?;
            if piece.len() as u64 != range.end - range.start {
                let (place, name) = (self.name(), name.to_owned());
                return Err(ObjectFault::PayloadChanged { place, name }.into());
            }
            take(&piece)?;
            from = range.end;
        }
        Ok(())
    }
}
