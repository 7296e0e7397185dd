//! Reading what was stored.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use trommel::Document;
use trommel::reader::{Input, MapPolicy};
use trommel_base::files::{self, Op};
use zeekstd::Decoder;

use crate::disk;
use crate::error::{Error, ErrorKind, PayloadFault, Result};
use crate::output::Stored;
use crate::store::Store;

impl Store {
    /// The payload as a document whose framing is set, which can be queried any number of times. An
    /// error of the kind [`NotJson`](ErrorKind::NotJson) for text. While it is open, the output is
    /// not evicted.
    ///
    /// A plain payload is read through a window, or mapped if
    /// [`StoreOptions::mapping`](crate::StoreOptions::mapping) allows it; a packed one is unpacked
    /// while it is read.
    pub fn document(&self, stored: &Stored) -> Result<Document> {
        let Some(records) = stored.framing else {
            return Err(not_json(stored));
        };
        let (file, path) = self.open_payload(stored)?;
        let policy = if stored.packed { MapPolicy::never() } else { self.options().mapping };
        let unreadable = |cause| Error::file(Op::Read, &path, cause);
        let document = Input::from_file(file, policy).and_then(Document::from_input).map_err(unreadable)?;
        // What we packed ourselves may be as repetitive as it likes.
        Ok(document.framing(records.framing()).ratio_limit(u64::MAX))
    }

    /// The payload as bytes, uncompressed, whatever it is. As long as it lives, the output is not
    /// evicted.
    pub fn payload(&self, stored: &Stored) -> Result<Payload> {
        let (file, path) = self.open_payload(stored)?;
        Payload::open(file, stored, &path)
    }

    /// Opens the file of a payload, locked against eviction.
    fn open_payload(&self, stored: &Stored) -> Result<(File, std::path::PathBuf)> {
        crate::id::check(&stored.id)?;
        let path = self.layout().payload(&stored.id, stored.packed);
        let file = disk::open(&path)
            .map_err(|error| if error.is_missing() { self.missing(stored, &path) } else { error.into() })?;
        if !files::lock_shared(&file, &path, self.options().patience)? {
            return Err(self.missing(stored, &path));
        }
        let metadata = file.metadata().map_err(|cause| Error::file(Op::Inspect, &path, cause))?;
        if metadata.nlink() == 0 {
            return Err(self.missing(stored, &path));
        }
        if metadata.len() != stored.disk_bytes {
            let why = PayloadFault::Length { found: metadata.len(), written: stored.disk_bytes };
            return Err(damaged(stored, &path, why));
        }
        Ok((file, path))
    }

    /// Why there is no payload: there is no output any more, or it is damaged.
    fn missing(&self, stored: &Stored, path: &Path) -> Error {
        if !self.exists(&stored.id).unwrap_or(true) {
            return self.not_found(&stored.id);
        }
        damaged(stored, path, PayloadFault::Missing)
    }
}

fn damaged(stored: &Stored, path: &Path, why: PayloadFault) -> Error {
    ErrorKind::Payload { id: stored.id.clone(), path: path.to_owned(), why }.into()
}

fn not_json(stored: &Stored) -> Error {
    let why = stored.not_json.as_ref().map(|why| why.message.clone());
    ErrorKind::NotJson { id: stored.id.clone(), why }.into()
}

/// The bytes of a payload, uncompressed, from wherever one seeks to.
pub struct Payload {
    bytes: Bytes,
    at: u64,
    length: u64,
}

impl std::fmt::Debug for Payload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Payload").field("at", &self.at).field("length", &self.length).finish_non_exhaustive()
    }
}

enum Bytes {
    Plain(File),
    Packed(Box<Decoder<'static, Packed>>),
}

/// Bytes at the end of a packed file that say how long the table before them is.
const FOOT: u64 = 9;
/// What they end with.
const FOOT_MAGIC: [u8; 4] = 0x8F92_EAB1_u32.to_le_bytes();
/// Bytes of a frame's entry in the table at least, and of all around the table.
const ENTRY: u64 = 8;
const AROUND: u64 = 17;

impl Payload {
    pub(crate) fn open(file: File, stored: &Stored, path: &Path) -> Result<Self> {
        let damaged = || damaged(stored, path, PayloadFault::Packed);
        let bytes = if stored.packed {
            check_foot(&file, stored.disk_bytes).map_err(|cause| damaged().because(cause))?;
            let decoder = Decoder::new(Packed(file)).map_err(|cause| damaged().because(cause))?;
            if decoder.seek_table().size_decomp() != stored.size_bytes {
                return Err(damaged());
            }
            Bytes::Packed(Box::new(decoder))
        } else {
            Bytes::Plain(file)
        };
        Ok(Self { bytes, at: 0, length: stored.size_bytes })
    }

    /// Bytes in all.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

/// The table of frames must fit into the file before anybody makes room for it.
fn check_foot(file: &File, length: u64) -> io::Result<()> {
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "there is no table of frames");
    let mut foot = [0; FOOT as usize];
    file.read_exact_at(&mut foot, length.checked_sub(FOOT).ok_or_else(broken)?)?;
    let [a, b, c, d, _, magic @ ..] = foot;
    let frames = u64::from(u32::from_le_bytes([a, b, c, d]));
    if magic != FOOT_MAGIC || frames * ENTRY + AROUND > length {
        return Err(broken());
    }
    Ok(())
}

impl Read for Payload {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = into.len().min(left);
        let into = &mut into[..wanted];
        if into.is_empty() {
            return Ok(0);
        }
        let count = match &mut self.bytes {
            Bytes::Plain(file) => file.read_at(into, self.at)?,
            Bytes::Packed(decoder) => decoder.read(into)?,
        };
        if count == 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the payload is shorter than it was when it was sealed",
            ));
        }
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Payload {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        let before = || {
            io::Error::new(io::ErrorKind::InvalidInput, "there is nothing before the first byte of a payload")
        };
        let at = at.ok_or_else(before)?;
        if let Bytes::Packed(decoder) = &mut self.bytes {
            decoder.set_offset(at.min(self.length)).map_err(io::Error::other)?;
        }
        self.at = at;
        Ok(at)
    }
}

/// A packed file as the decoder reads it. The decoder waits for more at the end of a file that is
/// cut short, so that the end is an error here.
struct Packed(File);

impl Read for Packed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 if !into.is_empty() => {
                Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the packed payload is cut short"))
            }
            count => Ok(count),
        }
    }
}

impl Seek for Packed {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}
