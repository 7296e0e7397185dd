//! Writes a new output and publishes it atomically.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use trommel::reader::Framing;
use trommel_base::files::{self, Op};
use trommel_guide::{Guide, Identity, Index, Shape};

use crate::analysis::{Analysis, analyze_lines};
use crate::body::{Body, Sealed};
use crate::check::{CHUNK, Check};
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::guide;
use crate::line_index::LineCounter;
use crate::output::{Kind, META_VERSION, Origin, Stored, StoredGuide, Summary};
use crate::payload::Payload;
use crate::payload_stats::PayloadStats;
use crate::pending::OutputLock;
use crate::rows::{self, Entry};
use crate::store::Store;
use crate::{clock, disk, id, meta};

/// Maximum length in bytes of each name in an origin.
const MAX_NAME_BYTES: usize = 1024;
/// Maximum length in bytes of the call's arguments as JSON.
const MAX_PARAMETER_BYTES: usize = 64 << 10;
/// Number of generated IDs that are tried before giving up.
const MAX_ID_ATTEMPTS: u32 = 3;

/// A new output that is being written.
///
/// The payload is written through [`Write`] and is checked and measured on the way. At most a few
/// hundred KiB of it are in memory at a time.
///
/// [`finish`](Self::finish) seals the output. Dropping the `Put` before that removes everything. A
/// failed write removes everything at once; its [`io::Error`] wraps an [`Error`].
pub struct Put<'a> {
    store: &'a Store,
    id: String,
    origin: Origin,
    /// `None` after a failed write.
    output_lock: Option<OutputLock>,
    body: Option<Body>,
    check: Check,
    chunk: Vec<u8>,
    stats: PayloadStats,
    lines: LineCounter,
}

impl std::fmt::Debug for Put<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Put").field("id", &self.id).field("written", &self.written()).finish_non_exhaustive()
    }
}

impl Store {
    /// Starts a new output. Write the payload to the returned [`Put`], then call
    /// [`finish`](Put::finish).
    pub fn put(&self, origin: Origin) -> Result<Put<'_>> {
        check_origin(&origin)?;
        let mut tries = 0;
        loop {
            let id = origin.id.clone().unwrap_or_else(|| clock::next_id(&self.layout().file("clock")));
            tries += 1;
            match self.reserve(&id) {
                Ok(output_lock) => return Ok(Put::new(self, id, origin, output_lock)),
                Err(error)
                    if error.class() != ErrorClass::Exists
                        || origin.id.is_some()
                        || tries == MAX_ID_ATTEMPTS =>
                {
                    return Err(error);
                }
                Err(_) => {}
            }
        }
    }

    /// Stores everything that `reader` returns as a new output.
    pub fn put_from(&self, origin: Origin, mut reader: impl Read) -> Result<Stored> {
        let mut put = self.put(origin)?;
        let mut chunk = vec![0; CHUNK];
        loop {
            match reader.read(&mut chunk) {
                Ok(0) => return put.finish(),
                Ok(count) => put.append(&chunk[..count])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(ErrorKind::Source { bytes: put.written(), cause }.into()),
            }
        }
    }

    fn reserve(&self, id: &str) -> Result<OutputLock> {
        let output_lock = OutputLock::acquire(self.layout(), id)?;
        if self.exists(id)? {
            return Err(ErrorKind::Exists { id: id.to_owned(), path: self.layout().meta(id) }.into());
        }
        Ok(output_lock)
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
        if length > MAX_NAME_BYTES {
            return Err(ErrorKind::NameTooLong { what, bytes: length, limit: MAX_NAME_BYTES }.into());
        }
    }
    Ok(())
}

/// Returns the arguments, or an object with their size if they are too large.
fn limit_parameters(parameters: Value) -> Value {
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
        Ok(()) if length.0 <= MAX_PARAMETER_BYTES => parameters,
        _ => json!({"$truncated": true, "bytes": length.0}),
    }
}

impl<'a> Put<'a> {
    fn new(store: &'a Store, id: String, mut origin: Origin, output_lock: OutputLock) -> Self {
        origin.parameters = limit_parameters(std::mem::take(&mut origin.parameters));
        Self {
            store,
            id,
            check: Check::NotStarted(origin.framing),
            origin,
            output_lock: Some(output_lock),
            body: None,
            chunk: Vec::new(),
            stats: PayloadStats::new(),
            lines: LineCounter::new(),
        }
    }

    /// The ID of the new output.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The number of bytes written so far.
    pub fn written(&self) -> u64 {
        self.stats.bytes() + self.chunk.len() as u64
    }

    /// Sets the success flag, for callers that learn the result while writing.
    pub fn success(&mut self, success: bool) {
        self.origin.success = success;
    }

    /// Sets the tool and the arguments of the call, for callers that learn them while writing.
    ///
    /// # Errors
    /// Returns an error if the name is too long. The output can still be written.
    pub fn set_call(&mut self, tool_name: impl Into<String>, parameters: Value) -> Result<()> {
        let named = Origin { tool_name: tool_name.into(), ..Origin::of("") };
        check_origin(&named)?;
        self.origin.tool_name = named.tool_name;
        self.origin.parameters = limit_parameters(parameters);
        Ok(())
    }

    /// Consumes all bytes. After an error nothing remains of the output, and every further write
    /// fails.
    fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (part, rest) = bytes.split_at(bytes.len().min(CHUNK - self.chunk.len()));
            self.chunk.extend_from_slice(part);
            bytes = rest;
            if self.chunk.len() == CHUNK {
                self.flush_chunk()?;
            }
        }
        Ok(())
    }

    /// Writes a full chunk to the disk and passes it to the checker.
    fn flush_chunk(&mut self) -> Result<()> {
        let passed = self.write_chunk().and_then(|()| {
            let path = self.store.layout().marker(&self.id);
            self.check.feed(&mut self.chunk, &path)
        });
        passed.inspect_err(|_| self.abandon())
    }

    fn write_chunk(&mut self) -> Result<()> {
        let output_lock = self.output_lock.as_mut().ok_or_else(|| abandoned(&self.id))?;
        self.stats.update(&self.chunk);
        self.lines.update(&self.chunk);
        let pack_over = self.store.options().pack_over;
        let body = match &mut self.body {
            Some(body) => body,
            body => body.insert(Body::new(output_lock, pack_over)?),
        };
        body.write(output_lock, &self.chunk).map_err(|error| error.needs(self.stats.bytes()))?;
        let size = body.disk_bytes();
        // Refuse a payload that can never fit before all of it has been written.
        match self.store.options().limits.bytes {
            Some(limit) if size > limit => Err(too_long(size, limit)),
            _ => Ok(()),
        }
    }

    /// Removes everything written so far.
    fn abandon(&mut self) {
        self.body = None;
        self.output_lock = None;
        self.chunk = Vec::new();
        self.check = Check::default();
    }

    /// Seals the output. On success it is durable on disk and listed. After an error nothing of it
    /// remains.
    pub fn finish(mut self) -> Result<Stored> {
        self.write_chunk()?;
        let store = self.store;
        let mut output_lock = self.output_lock.take().ok_or_else(|| abandoned(&self.id))?;
        let marker = store.layout().marker(&self.id);
        let analysis = std::mem::take(&mut self.check).finish(std::mem::take(&mut self.chunk), &marker)?;
        let body = self.body.take().ok_or_else(|| abandoned(&self.id))?;
        let bytes = self.stats.bytes();
        // The payload is synced before its description exists. A description on disk therefore
        // always refers to a complete payload.
        let sealed = body.seal().map_err(|error| error.needs(bytes))?;
        let line_ends = self.stats.line_ends();
        let is_lines = matches!(self.origin.framing, Framing::Auto | Framing::Lines);
        let mut analysis = analysis;
        let index = if sealed.packed { None } else { analysis.index.take() };
        let mut stored = self.describe(analysis, &sealed);
        if stored.kind == Kind::Text && is_lines {
            read_as_log(&mut stored, &sealed, line_ends)?;
        }
        let guide = index.and_then(|index| write_guide(&mut output_lock, index, &mut stored));
        let files = NewFiles { payload: &sealed, guide: guide.as_deref() };
        store.publish(&mut output_lock, files, &stored).map_err(|error| error.needs(bytes))?;
        Ok(stored)
    }

    fn describe(self, analysis: Analysis, sealed: &Sealed) -> Stored {
        let Self { id, origin, stats, lines, .. } = self;
        let mut stored = Stored {
            version: META_VERSION,
            id,
            tool_name: origin.tool_name,
            conversation_id: origin.conversation_id,
            message_id: origin.message_id,
            created_at: origin.created_at.unwrap_or_else(clock::now_ms),
            success: origin.success,
            parameters: origin.parameters,
            kind: Kind::Text,
            framing: None,
            size_bytes: stats.bytes(),
            characters: stats.characters(),
            records: None,
            damaged_records: 0,
            first_damaged: None,
            preview: stats.preview(),
            summary: Summary::default(),
            duplicate_names: 0,
            not_json: None,
            digest: stats.digest(),
            line_index: (analysis.kind == Kind::Text).then(|| lines.finish()),
            packed: sealed.packed,
            disk_bytes: sealed.disk_bytes,
            guide: None,
            pinned: false,
        };
        analysis.describe(&mut stored);
        stored
    }
}

/// Describes a payload that is not JSON as a stream of lines with damaged records, if at least nine
/// of ten lines are JSON.
///
/// The payload is read again from its file, because a log is recognized only at its end: until then
/// a document of many lines could go on anywhere.
fn read_as_log(stored: &mut Stored, sealed: &Sealed, line_ends: u64) -> Result<()> {
    let payload = Payload::open(disk::open(&sealed.path)?, stored, &sealed.path)?;
    let lines = analyze_lines(payload, line_ends);
    let lines = lines.map_err(|error| Error::file(Op::Read, &sealed.path, io::Error::other(error)))?;
    if let Some(analysis) = lines {
        analysis.describe(stored);
        // Only texts are read by lines.
        stored.line_index = None;
    }
    Ok(())
}

/// The files of an output that were written in `pending/`.
#[derive(Clone, Copy)]
struct NewFiles<'f> {
    payload: &'f Sealed,
    guide: Option<&'f Path>,
}

/// Writes the guide of a payload, and describes it. Returns its path. Without space for it, or
/// permission, the output has no guide, and queries read the payload.
fn write_guide(output_lock: &mut OutputLock, index: Index, stored: &mut Stored) -> Option<PathBuf> {
    let framing = stored.framing?.framing();
    let hash = guide::payload_hash(stored)?;
    let bytes = Guide::new(Identity::Output(hash), framing, index, Shape::default()).to_bytes();
    let (mut file, path) = output_lock.create_file("guide").ok()?;
    let written = files::write(&mut file, &path, &bytes).and_then(|()| files::sync(&file, &path));
    if written.is_err() {
        // Dropping the lock tries to remove the file again.
        let _ = output_lock.discard(&path);
        return None;
    }
    stored.guide = Some(StoredGuide { bytes: bytes.len() as u64, digest: guide::digest(&bytes) });
    Some(path)
}

fn abandoned(id: &str) -> Error {
    ErrorKind::PutFailed(id.to_owned()).into()
}

pub(crate) fn too_long(bytes: u64, limit: u64) -> Error {
    ErrorKind::PayloadTooLarge { bytes, limit }.into()
}

impl Write for Put<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.output_lock.is_none() {
            return Err(abandoned(&self.id).into());
        }
        self.append(bytes)?;
        Ok(bytes.len())
    }

    /// Does nothing, because the payload is invisible until it is sealed.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Store {
    /// Renames the payload and its description into place and adds the output to the index. Removes
    /// everything again on failure.
    fn publish(&self, output_lock: &mut OutputLock, files: NewFiles<'_>, stored: &Stored) -> Result<()> {
        // Commit protocol: all files are written and synced in `pending/`, then renamed, and
        // finally their folder is synced. The description is renamed last, because its rename
        // is the commit point: an output exists exactly if its description does. A crash before
        // that leaves an orphaned payload and guide, which `gc` removes. A crash after that
        // leaves the marker, which makes the next `Store::open` add the missing row.
        let text = meta::seal(stored)?;
        let (mut file, path) = output_lock.create_file("meta")?;
        files::write(&mut file, &path, &text)?;
        files::sync(&file, &path)?;
        drop(file);
        let layout = self.layout();
        let folder = layout.make_folder(&stored.id)?;
        let NewFiles { payload, guide } = files;
        let published = output_lock
            .publish(&payload.path, &layout.payload(&stored.id, payload.packed))
            .and_then(|()| {
                guide.map_or(Ok(()), |guide| output_lock.publish(guide, &layout.guide(&stored.id)))
            })
            .and_then(|()| output_lock.publish(&path, &layout.meta(&stored.id)))
            .and_then(|()| Ok(files::sync_folder(&folder)?))
            .and_then(|()| self.add_to_index(stored));
        published.inspect(|()| output_lock.mark_synced()).inspect_err(|error| {
            // A concurrent rebuild may have indexed the published files. If the index cannot be
            // locked or changed, the marker stays behind, and the next process that opens the store
            // synchronizes the row.
            let is_rolled_back = self.remove_files(&stored.id).is_ok()
                && error.class() != ErrorClass::Busy
                && self.sync(std::slice::from_ref(&stored.id)).is_ok();
            if !is_rolled_back {
                output_lock.mark_unsynced();
            }
        })
    }

    /// Adds a published output to the index and evicts others if the limits require it.
    fn add_to_index(&self, stored: &Stored) -> Result<()> {
        // If the description was removed in the meantime, this stamp forces a comparison with the
        // files at the next read.
        let stamp = rows::current_stamp(self.layout(), &stored.id);
        let stamp = stamp.unwrap_or_else(|| rows::NO_STAMP.to_owned());
        let entry = Entry::new(stored.clone(), stamp);
        let mut locked = self.index().lock()?;
        locked.transaction(|transaction| rows::upsert(transaction, &entry))?;
        let limits = &self.options().limits;
        if *limits == crate::Limits::default() {
            return Ok(());
        }
        self.make_room(&mut locked, limits, &stored.id).or_else(|error| {
            // Undo this before the lock is released. Otherwise another process would evict outputs
            // because of a rejected one.
            self.remove_files(&stored.id)?;
            locked.transaction(|transaction| rows::remove(transaction, &stored.id))?;
            Err(error)
        })
    }

    /// Removes the files of an output. The description goes first, because it defines whether the
    /// output exists: a crash in between leaves an orphaned payload rather than a damaged output.
    pub(crate) fn remove_files(&self, id: &str) -> Result<()> {
        let layout = self.layout();
        disk::remove(&layout.meta(id))?;
        disk::remove(&layout.guide(id))?;
        disk::remove(&layout.payload(id, false))?;
        disk::remove(&layout.payload(id, true))?;
        Ok(())
    }
}
