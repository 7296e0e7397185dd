//! Reading of stored payloads.

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
    /// Opens the payload as a document with its framing set, which can be queried repeatedly. Text
    /// is an error of the kind [`NotJson`](ErrorKind::NotJson). While the document is open, the
    /// output is not evicted.
    ///
    /// A plain payload is read through a window, or mapped if
    /// [`StoreOptions::mapping`](crate::StoreOptions::mapping) allows it. A compressed one is
    /// decompressed while it is read.
    pub fn document(&self, stored: &Stored) -> Result<Document<'static>> {
        let Some(records) = stored.framing else {
            return Err(not_json(stored));
        };
        let (file, path) = self.open_payload(stored)?;
        let policy = if stored.packed { MapPolicy::never() } else { self.options().mapping };
        let unreadable = |cause| Error::file(Op::Read, &path, cause);
        let document = Input::from_file(file, policy).and_then(Document::from_input).map_err(unreadable)?;
        // Compressed payloads come from this store, so a high compression ratio is not suspicious.
        let document = document.framing(records.framing()).ratio_limit(u64::MAX);
        // Without a usable guide, the payload is read. `verify` reports what is wrong with it.
        Ok(match self.guide(stored) {
            Ok(Some(guide)) => guide.guide(document),
            _ => document,
        })
    }

    /// Opens the payload as uncompressed bytes, for every kind of payload. While it is open, the
    /// output is not evicted.
    pub fn payload(&self, stored: &Stored) -> Result<Payload> {
        let (file, path) = self.open_payload(stored)?;
        Payload::open(file, stored, &path)
    }

    /// Opens the file of a payload and locks it against eviction.
    fn open_payload(&self, stored: &Stored) -> Result<(File, std::path::PathBuf)> {
        crate::id::check(&stored.id)?;
        let path = self.layout().payload(&stored.id, stored.packed);
        let file = disk::open(&path)
            .map_err(|error| if error.is_missing() { self.missing(stored, &path) } else { error.into() })?;
        // Evictions lock the file before they remove it. A file without links was removed while
        // this process waited for the lock.
        if !files::lock_shared(&file, &path, self.options().lock_timeout)? {
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

    /// The error for a missing payload: either the output does not exist, or it is damaged.
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

/// The uncompressed bytes of a payload. Seeking is supported.
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

/// Length of the footer of a compressed file, which contains the number of frames.
const FOOTER_BYTES: u64 = 9;
/// The magic number at the end of the footer.
const FOOTER_MAGIC: [u8; 4] = 0x8F92_EAB1_u32.to_le_bytes();
/// Minimum size of a frame's entry in the seek table, and size of the table's header and footer.
const MIN_ENTRY_BYTES: u64 = 8;
const TABLE_OVERHEAD: u64 = 17;

impl Payload {
    pub(crate) fn open(file: File, stored: &Stored, path: &Path) -> Result<Self> {
        let damaged = || damaged(stored, path, PayloadFault::Packed);
        let bytes = if stored.packed {
            check_footer(&file, stored.disk_bytes).map_err(|cause| damaged().because(cause))?;
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

    /// The length in bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// True if the payload is empty.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

/// Checks that the seek table fits into the file, because the decoder allocates memory for it
/// unchecked.
fn check_footer(file: &File, length: u64) -> io::Result<()> {
    let broken = || io::Error::new(io::ErrorKind::InvalidData, "there is no seek table");
    let mut footer = [0; FOOTER_BYTES as usize];
    file.read_exact_at(&mut footer, length.checked_sub(FOOTER_BYTES).ok_or_else(broken)?)?;
    let [a, b, c, d, _, magic @ ..] = footer;
    let frames = u64::from(u32::from_le_bytes([a, b, c, d]));
    if magic != FOOTER_MAGIC || frames * MIN_ENTRY_BYTES + TABLE_OVERHEAD > length {
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
                "the payload is shorter than when it was sealed",
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
        let before =
            || io::Error::new(io::ErrorKind::InvalidInput, "cannot seek before the start of the payload");
        let at = at.ok_or_else(before)?;
        if let Bytes::Packed(decoder) = &mut self.bytes {
            decoder.set_offset(at.min(self.length)).map_err(io::Error::other)?;
        }
        self.at = at;
        Ok(at)
    }
}

/// A compressed file as input of the decoder. At the end of a truncated file the decoder would wait
/// for more bytes forever, so the end is an error here.
struct Packed(File);

impl Read for Packed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.0.read(into)? {
            0 if !into.is_empty() => {
                Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the compressed payload is truncated"))
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
