//! Writes the file of a payload, either plain or, above a size threshold, as seekable zstd.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use trommel_base::files::{self, Op};
use zeekstd::{EncodeOptions, FrameSizePolicy, RawEncoder};

use crate::error::{Error, ErrorKind, Result};
use crate::pending::OutputLock;

/// Uncompressed bytes per frame. Reading a single byte decompresses one frame.
pub(crate) const FRAME_BYTES: u32 = 1 << 20;
/// The compression level. It takes half the time of the default level for a few percent more space.
const LEVEL: i32 = 1;
/// Size of the compression buffer.
const CHUNK: usize = 128 << 10;

/// The file of a payload that is being written.
pub(crate) struct Body {
    file: File,
    path: PathBuf,
    /// Bytes written to the file.
    disk_bytes: u64,
    packing: Option<Packing>,
    /// Payloads larger than this are compressed.
    pack_over: Option<u64>,
}

struct Packing {
    encoder: RawEncoder<'static>,
    out: Vec<u8>,
}

/// A payload's file, written and synced.
pub(crate) struct Sealed {
    pub(crate) path: PathBuf,
    pub(crate) disk_bytes: u64,
    pub(crate) packed: bool,
}

impl Body {
    pub(crate) fn new(output_lock: &mut OutputLock, pack_over: Option<u64>) -> Result<Self> {
        let (file, path) = output_lock.create_file("payload")?;
        Ok(Self { file, path, disk_bytes: 0, packing: None, pack_over })
    }

    pub(crate) fn disk_bytes(&self) -> u64 {
        self.disk_bytes
    }

    pub(crate) fn write(&mut self, output_lock: &mut OutputLock, bytes: &[u8]) -> Result<()> {
        let is_long = self.pack_over.is_some_and(|over| self.disk_bytes + bytes.len() as u64 > over);
        if is_long && self.packing.is_none() {
            self.start_packing(output_lock)?;
        }
        if self.packing.is_some() { self.pack(bytes) } else { self.put(bytes) }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        files::write(&mut self.file, &self.path, bytes)?;
        self.disk_bytes += bytes.len() as u64;
        Ok(())
    }

    /// Switches to a compressed file and copies the plain bytes written so far into it.
    fn start_packing(&mut self, output_lock: &mut OutputLock) -> Result<()> {
        let options = EncodeOptions::new()
            .frame_size_policy(FrameSizePolicy::Uncompressed(FRAME_BYTES))
            .checksum_flag(true)
            .compression_level(LEVEL);
        let encoder = options.into_raw_encoder().map_err(|error| self.compression_error(error))?;
        // Seekable zstd has no notion of a plain prefix, so the bytes written so far are compressed
        // into the new file first.
        let (file, path) = output_lock.create_file("packed")?;
        let mut plain = std::mem::replace(&mut self.file, file);
        let plain_path = std::mem::replace(&mut self.path, path);
        self.disk_bytes = 0;
        self.packing = Some(Packing { encoder, out: vec![0; CHUNK] });
        let failed = |cause| Error::file(Op::Read, &plain_path, cause);
        plain.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut chunk = vec![0; CHUNK];
        loop {
            let count = plain.read(&mut chunk).map_err(failed)?;
            if count == 0 {
                return output_lock.discard(&plain_path);
            }
            self.pack(&chunk[..count])?;
        }
    }

    fn pack(&mut self, mut bytes: &[u8]) -> Result<()> {
        let Some(mut packing) = self.packing.take() else { return Ok(()) };
        while !bytes.is_empty() {
            let progress = packing.encoder.compress(bytes, &mut packing.out);
            let progress = progress.map_err(|error| self.compression_error(error))?;
            self.put(&packing.out[..progress.out_progress()])?;
            bytes = &bytes[progress.in_progress()..];
        }
        self.packing = Some(packing);
        Ok(())
    }

    /// Ends the last frame and writes the seek table.
    fn end_packing(&mut self, mut packing: Packing) -> Result<()> {
        loop {
            let progress = packing.encoder.end_frame(&mut packing.out);
            let progress = progress.map_err(|error| self.compression_error(error))?;
            self.put(&packing.out[..progress.out_progress()])?;
            if progress.data_left() == 0 {
                break;
            }
        }
        let mut table = packing.encoder.into_seek_table().into_serializer();
        loop {
            let count = table.write_into(&mut packing.out);
            if count == 0 {
                return Ok(());
            }
            self.put(&packing.out[..count])?;
        }
    }

    /// Flushes everything and syncs the file.
    pub(crate) fn seal(mut self) -> Result<Sealed> {
        let packing = self.packing.take();
        let packed = packing.is_some();
        if let Some(packing) = packing {
            self.end_packing(packing)?;
        }
        files::sync(&self.file, &self.path)?;
        Ok(Sealed { path: self.path, disk_bytes: self.disk_bytes, packed })
    }

    fn compression_error(&self, error: zeekstd::Error) -> Error {
        Error::from(ErrorKind::Compression(self.path.clone())).because(error)
    }
}
