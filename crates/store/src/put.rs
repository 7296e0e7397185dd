//! Writing a new output.

use std::io::{self, Read, Write};

use serde_json::{Value, json};
use trommel_base::files;

use crate::body::{Body, Sealed};
use crate::check::{CHUNK, Check};
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::examine::Examined;
use crate::glimpse::Glimpse;
use crate::output::{META_VERSION, Origin, Stored};
use crate::pending::Held;
use crate::rows::{self, Entry};
use crate::store::Store;
use crate::{clock, disk, id, meta};

/// Bytes of a name in an origin at most.
const LONGEST_NAME: usize = 1024;
/// Bytes of JSON of the arguments of a call that are kept.
const LONGEST_PARAMETERS: usize = 64 << 10;
/// Ids that are tried where we make them ourselves.
const TRIES: u32 = 3;

/// A new output that is being written.
///
/// It takes the bytes of the payload by [`Write`], checks and measures them as they pass, and holds
/// some hundred KiB of them at a time. [`finish`](Self::finish) seals it; dropped before, it leaves
/// nothing. When a write fails, what was written is removed at once; the [`io::Error`] then has an
/// [`Error`] inside.
pub struct Put<'a> {
    store: &'a Store,
    id: String,
    origin: Origin,
    /// Nothing after a write has failed.
    held: Option<Held>,
    body: Option<Body>,
    check: Check,
    chunk: Vec<u8>,
    glimpse: Glimpse,
}

impl std::fmt::Debug for Put<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Put").field("id", &self.id).field("written", &self.written()).finish_non_exhaustive()
    }
}

impl Store {
    /// Begins a new output. Write its payload to what is returned, and [`finish`](Put::finish) it.
    pub fn put(&self, origin: Origin) -> Result<Put<'_>> {
        check_origin(&origin)?;
        let mut tries = 0;
        loop {
            let id = origin.id.clone().unwrap_or_else(|| clock::next_id(&self.layout().file("clock")));
            tries += 1;
            match self.reserve(&id) {
                Ok(held) => return Ok(Put::new(self, id, origin, held)),
                Err(error)
                    if error.class() != ErrorClass::Exists || origin.id.is_some() || tries == TRIES =>
                {
                    return Err(error);
                }
                Err(_) => {}
            }
        }
    }

    /// A new output from what can be read to its end.
    pub fn put_from(&self, origin: Origin, mut reader: impl Read) -> Result<Stored> {
        let mut put = self.put(origin)?;
        let mut chunk = vec![0; CHUNK];
        loop {
            match reader.read(&mut chunk) {
                Ok(0) => return put.finish(),
                Ok(count) => put.take(&chunk[..count])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(ErrorKind::Source { bytes: put.written(), cause }.into()),
            }
        }
    }

    fn reserve(&self, id: &str) -> Result<Held> {
        let held = Held::take(self.layout(), id)?;
        if self.exists(id)? {
            return Err(ErrorKind::Exists { id: id.to_owned(), path: self.layout().meta(id) }.into());
        }
        Ok(held)
    }
}

fn check_origin(origin: &Origin) -> Result<()> {
    origin.id.as_deref().map_or(Ok(()), id::check)?;
    let names = [
        ("tool name", Some(&origin.tool_name)),
        ("conversation id", origin.conversation_id.as_ref()),
        ("message id", origin.message_id.as_ref()),
    ];
    for (what, name) in names {
        let length = name.map_or(0, String::len);
        if length > LONGEST_NAME {
            return Err(ErrorKind::LongName { what, bytes: length, limit: LONGEST_NAME }.into());
        }
    }
    Ok(())
}

/// The arguments of a call, or a note of their size.
fn kept(parameters: Value) -> Value {
    struct Length(usize);
    impl Write for Length {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut length = Length(0);
    match serde_json::to_writer(&mut length, &parameters) {
        Ok(()) if length.0 <= LONGEST_PARAMETERS => parameters,
        _ => json!({"$truncated": true, "bytes": length.0}),
    }
}

impl<'a> Put<'a> {
    fn new(store: &'a Store, id: String, mut origin: Origin, held: Held) -> Self {
        origin.parameters = kept(std::mem::take(&mut origin.parameters));
        Self {
            store,
            id,
            check: Check::None(origin.framing),
            origin,
            held: Some(held),
            body: None,
            chunk: Vec::new(),
            glimpse: Glimpse::new(),
        }
    }

    /// The id that it will have.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.glimpse.bytes() + self.chunk.len() as u64
    }

    /// Says whether the tool succeeded, where that is known only now.
    pub fn success(&mut self, success: bool) {
        self.origin.success = success;
    }

    /// Takes all bytes. After an error nothing of the output is left, and all that follows fails.
    fn take(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (taken, rest) = bytes.split_at(bytes.len().min(CHUNK - self.chunk.len()));
            self.chunk.extend_from_slice(taken);
            bytes = rest;
            if self.chunk.len() == CHUNK {
                self.pass_on()?;
            }
        }
        Ok(())
    }

    /// Writes a full chunk and hands it over to be checked.
    fn pass_on(&mut self) -> Result<()> {
        let passed = self.write_chunk().and_then(|()| {
            let path = self.store.layout().marker(&self.id);
            self.check.pass(&mut self.chunk, &path)
        });
        passed.inspect_err(|_| self.give_up())
    }

    fn write_chunk(&mut self) -> Result<()> {
        let held = self.held.as_mut().ok_or_else(|| given_up(&self.id))?;
        self.glimpse.pass(&self.chunk);
        let pack_over = self.store.options().pack_over;
        let body = match &mut self.body {
            Some(body) => body,
            body => body.insert(Body::new(held, pack_over)?),
        };
        body.write(held, &self.chunk).map_err(|error| error.needs(self.glimpse.bytes()))?;
        let size = body.disk_bytes();
        match self.store.options().limits.bytes {
            Some(limit) if size > limit => Err(too_long(size, limit)),
            _ => Ok(()),
        }
    }

    /// Removes what was written.
    fn give_up(&mut self) {
        self.body = None;
        self.held = None;
        self.chunk = Vec::new();
        self.check = Check::default();
    }

    /// Seals the output. When this returns it is on the disk and in the list; after an error there
    /// is nothing of it.
    pub fn finish(mut self) -> Result<Stored> {
        self.write_chunk()?;
        let store = self.store;
        let mut held = self.held.take().ok_or_else(|| given_up(&self.id))?;
        let marker = store.layout().marker(&self.id);
        let examined = std::mem::take(&mut self.check).finish(std::mem::take(&mut self.chunk), &marker)?;
        let body = self.body.take().ok_or_else(|| given_up(&self.id))?;
        let bytes = self.glimpse.bytes();
        let sealed = body.seal().map_err(|error| error.needs(bytes))?;
        let stored = self.describe(examined, &sealed);
        store.publish(&mut held, &sealed, &stored).map_err(|error| error.needs(bytes))?;
        Ok(stored)
    }

    fn describe(self, examined: Examined, sealed: &Sealed) -> Stored {
        let Self { id, origin, glimpse, .. } = self;
        Stored {
            version: META_VERSION,
            id,
            tool_name: origin.tool_name,
            conversation_id: origin.conversation_id,
            message_id: origin.message_id,
            created_at: origin.created_at.unwrap_or_else(clock::now_ms),
            success: origin.success,
            parameters: origin.parameters,
            kind: examined.kind,
            framing: examined.framing,
            size_bytes: glimpse.bytes(),
            characters: glimpse.characters(),
            records: examined.records,
            preview: glimpse.preview(),
            summary: examined.summary,
            duplicate_names: examined.duplicate_names,
            not_json: examined.not_json,
            digest: glimpse.digest(),
            packed: sealed.packed,
            disk_bytes: sealed.disk_bytes,
            pinned: false,
        }
    }
}

fn given_up(id: &str) -> Error {
    ErrorKind::GivenUp(id.to_owned()).into()
}

pub(crate) fn too_long(bytes: u64, limit: u64) -> Error {
    ErrorKind::LongPayload { bytes, limit }.into()
}

impl Write for Put<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.held.is_none() {
            return Err(given_up(&self.id).into());
        }
        self.take(bytes)?;
        Ok(bytes.len())
    }

    /// Does nothing: the bytes are for nobody to see before they are sealed.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Store {
    /// Gives a payload and its description their names, and lists them; or takes everything back.
    fn publish(&self, held: &mut Held, sealed: &Sealed, stored: &Stored) -> Result<()> {
        let text = meta::seal(stored)?;
        let (mut file, path) = held.create("meta")?;
        files::write(&mut file, &path, &text)?;
        files::sync(&file, &path)?;
        drop(file);
        let layout = self.layout();
        let folder = layout.make_folder(&stored.id)?;
        let published = held
            .publish(&sealed.path, &layout.payload(&stored.id, sealed.packed))
            .and_then(|()| held.publish(&path, &layout.meta(&stored.id)))
            .and_then(|()| Ok(files::sync_folder(&folder)?))
            .and_then(|()| self.enlist(stored));
        published.inspect(|()| held.settle()).inspect_err(|error| {
            // A rebuild in between may have found the files. Where the index cannot be locked or
            // changed, the next process that opens the store brings it in line.
            let is_undone = self.withdraw(&stored.id).is_ok()
                && error.class() != ErrorClass::Busy
                && self.sync(std::slice::from_ref(&stored.id)).is_ok();
            if !is_undone {
                held.leave();
            }
        })
    }

    /// Lists a published output, and makes room for it.
    fn enlist(&self, stored: &Stored) -> Result<()> {
        // Without a description any more, the row is compared with the files at the next look.
        let stamp = rows::current_stamp(self.layout(), &stored.id);
        let stamp = stamp.unwrap_or_else(|| rows::UNSETTLED.to_owned());
        let entry = Entry::of(stored.clone(), stamp);
        let mut locked = self.index().lock()?;
        locked.transaction(|transaction| rows::upsert(transaction, &entry))?;
        let limits = &self.options().limits;
        if *limits == crate::Limits::default() {
            return Ok(());
        }
        self.make_room(&mut locked, limits, &stored.id).or_else(|error| {
            // Before anybody else has the index: what it counts others would have to make room for.
            self.withdraw(&stored.id)?;
            locked.transaction(|transaction| rows::remove(transaction, &stored.id))?;
            Err(error)
        })
    }

    /// Removes the files of an output: first what makes it one.
    pub(crate) fn withdraw(&self, id: &str) -> Result<()> {
        let layout = self.layout();
        disk::remove(&layout.meta(id))?;
        disk::remove(&layout.payload(id, false))?;
        disk::remove(&layout.payload(id, true))?;
        Ok(())
    }
}
