//! Decompression of all members (gzip), frames (zstd), or streams (bzip2, xz), up to the end of the
//! input or to padding.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{Codec, RatioExceeded};

/// The maximum memory for the dictionary of an xz stream, in KiB. `xz -9` needs 65 MiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// Decompressed bytes before the ratio is checked.
const UNCHECKED_BYTES: u64 = 64 << 20;

/// The error of compressed data that ends inside a member or frame.
#[derive(Clone, Copy, Debug)]
struct Truncated(Codec);

impl fmt::Display for Truncated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} data ends early: the file is truncated", self.0.name())
    }
}

impl std::error::Error for Truncated {}

impl Codec {
    /// Decompresses a reader of this format, to its end. Reading fails with [`RatioExceeded`] when
    /// the output exceeds `ratio` times the bytes of the input, after the first 64 MiB.
    ///
    /// # Errors
    /// If the decoder cannot start.
    pub fn unpack<'r>(
        self,
        packed: Box<dyn Read + Send + 'r>,
        ratio: u64,
    ) -> io::Result<Box<dyn Read + Send + 'r>> {
        let input_use = Arc::new(InputUse::default());
        let packed = BufReader::new(Counted { reader: packed, input_use: Arc::clone(&input_use) });
        let members = Members { codec: self, at: At::Member(self.open(packed)?) };
        Ok(Box::new(Bounded { members, input_use, produced: 0, ratio }))
    }

    fn open<B: BufRead>(self, packed: B) -> io::Result<Member<B>> {
        Ok(match self {
            Self::Gzip => Member::Gzip(Box::new(flate2::bufread::GzDecoder::new(packed))),
            Self::Zstd => {
                Member::Zstd(Box::new(zstd::stream::read::Decoder::with_buffer(packed)?.single_frame()))
            }
            Self::Bzip2 => Member::Bzip2(Box::new(bzip2::bufread::BzDecoder::new(packed))),
            Self::Xz => {
                Member::Xz(Box::new(lzma_rust2::XzReader::new_mem_limit(packed, false, XZ_MEMORY_KIB)))
            }
        })
    }
}

/// Bytes read from the compressed input.
#[derive(Default)]
struct InputUse {
    bytes: AtomicU64,
    /// True if reading the input failed. Then any error of the decoder is a consequence.
    failed: AtomicBool,
}

/// A reader that counts its bytes.
struct Counted<R> {
    reader: R,
    input_use: Arc<InputUse>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = loop {
            match self.reader.read(into) {
                // Not every decoder can continue after an interruption.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        match &read {
            Ok(count) => {
                self.input_use.bytes.fetch_add(*count as u64, Ordering::Relaxed);
            }
            Err(_) => self.input_use.failed.store(true, Ordering::Relaxed),
        }
        read
    }
}

/// A decoder of one member, frame, or stream.
enum Member<B: BufRead> {
    Gzip(Box<flate2::bufread::GzDecoder<B>>),
    Zstd(Box<zstd::stream::read::Decoder<'static, B>>),
    Bzip2(Box<bzip2::bufread::BzDecoder<B>>),
    Xz(Box<lzma_rust2::XzReader<B>>),
}

impl<B: BufRead> Member<B> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(into),
            Self::Zstd(decoder) => decoder.read(into),
            Self::Bzip2(decoder) => decoder.read(into),
            Self::Xz(decoder) => decoder.read(into),
        }
    }

    /// The input after the member, which was read to its end.
    fn into_rest(self) -> B {
        match self {
            Self::Gzip(decoder) => decoder.into_inner(),
            Self::Zstd(decoder) => decoder.finish(),
            Self::Bzip2(decoder) => decoder.into_inner(),
            Self::Xz(decoder) => decoder.into_inner(),
        }
    }
}

/// The state of a reader of members.
enum At<B: BufRead> {
    Member(Member<B>),
    /// After the end of a member.
    Between(B),
    End,
    Failed,
}

/// Decompresses all members. Zero bytes after a member are padding, which tapes and block devices
/// add; another member or the end may follow.
struct Members<B: BufRead> {
    codec: Codec,
    at: At<B>,
}

impl<B: BufRead> Read for Members<B> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while !into.is_empty() {
            // An error leaves `Failed` in place, so that no later read mistakes it for the end.
            match std::mem::replace(&mut self.at, At::Failed) {
                At::End => {
                    self.at = At::End;
                    break;
                }
                At::Failed => return Err(io::Error::other("reading the compressed data has failed")),
                At::Member(mut member) => match member.read(into) {
                    Ok(0) => self.at = At::Between(member.into_rest()),
                    Ok(count) => {
                        self.at = At::Member(member);
                        return Ok(count);
                    }
                    Err(error) => {
                        if error.kind() == io::ErrorKind::Interrupted {
                            self.at = At::Member(member);
                        }
                        return Err(error);
                    }
                },
                At::Between(packed) => self.at = self.after_member(packed)?,
            }
        }
        Ok(0)
    }
}

impl<B: BufRead> Members<B> {
    /// Skips padding. Returns the next member or the end.
    fn after_member(&self, mut packed: B) -> io::Result<At<B>> {
        loop {
            let bytes = match packed.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if bytes.is_empty() {
                return Ok(At::End);
            }
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            let is_padding = zeros == bytes.len();
            packed.consume(zeros);
            if !is_padding {
                return Ok(At::Member(self.codec.open(packed)?));
            }
        }
    }
}

/// A reader that fails when its output exceeds the ratio.
struct Bounded<B: BufRead> {
    members: Members<B>,
    input_use: Arc<InputUse>,
    produced: u64,
    ratio: u64,
}

impl<B: BufRead> Read for Bounded<B> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.members.read(into).map_err(|error| self.explained(error))?;
        self.produced += count as u64;
        // Small inputs are exempt: repeated bytes compress beyond any reasonable ratio.
        let allowed = self.input_use.bytes.load(Ordering::Relaxed).saturating_mul(self.ratio);
        if self.produced > UNCHECKED_BYTES && self.produced > allowed {
            return Err(io::Error::new(io::ErrorKind::InvalidData, RatioExceeded(self.ratio)));
        }
        Ok(count)
    }
}

impl<B: BufRead> Bounded<B> {
    /// Replaces a decoder's error for truncated input, whose text differs from decoder to decoder,
    /// and for a dictionary that is too large.
    fn explained(&self, error: io::Error) -> io::Error {
        if error.kind() == io::ErrorKind::OutOfMemory && self.members.codec == Codec::Xz {
            let text = format!("the xz data needs more than {} MiB of memory", XZ_MEMORY_KIB >> 10);
            return io::Error::new(io::ErrorKind::OutOfMemory, text);
        }
        let is_cut =
            error.kind() == io::ErrorKind::UnexpectedEof && !self.input_use.failed.load(Ordering::Relaxed);
        if is_cut {
            io::Error::new(io::ErrorKind::UnexpectedEof, Truncated(self.members.codec))
        } else {
            error
        }
    }
}
