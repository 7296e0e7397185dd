//! Unpacking: one member (gzip) or frame (zstd) after the other, up to the end or to padding.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{Codec, TooMuch};

/// Decompressed bytes before the ratio is checked.
const GRACE: u64 = 64 << 20;

/// The error of compressed data that ends inside a member or frame.
#[derive(Clone, Copy, Debug)]
struct CutOff(Codec);

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} data ends early: the file was cut off", self.0.name())
    }
}

impl std::error::Error for CutOff {}

impl Codec {
    pub(crate) fn unpack<'r>(
        self,
        packed: Box<dyn Read + Send + 'r>,
        ratio: u64,
    ) -> io::Result<Box<dyn Read + Send + 'r>> {
        let taken = Arc::new(Taken::default());
        let packed = BufReader::new(Counted { reader: packed, taken: Arc::clone(&taken) });
        let members = Members { codec: self, at: At::Member(self.open(packed)?) };
        Ok(Box::new(Bounded { members, taken, given: 0, ratio }))
    }

    fn open<B: BufRead>(self, packed: B) -> io::Result<Member<B>> {
        Ok(match self {
            Self::Gzip => Member::Gzip(Box::new(flate2::bufread::GzDecoder::new(packed))),
            Self::Zstd => {
                Member::Zstd(Box::new(zstd::stream::read::Decoder::with_buffer(packed)?.single_frame()))
            }
        })
    }
}

/// What was taken from the compressed input.
#[derive(Default)]
struct Taken {
    bytes: AtomicU64,
    /// True if reading the input failed, which is then the reason for whatever the decoder reports.
    failed: AtomicBool,
}

/// Counts the bytes taken.
struct Counted<R> {
    reader: R,
    taken: Arc<Taken>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(into);
        match &read {
            Ok(count) => {
                self.taken.bytes.fetch_add(*count as u64, Ordering::Relaxed);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.taken.failed.store(true, Ordering::Relaxed),
        }
        read
    }
}

/// A decoder of one member or frame.
enum Member<B: BufRead> {
    Gzip(Box<flate2::bufread::GzDecoder<B>>),
    Zstd(Box<zstd::stream::read::Decoder<'static, B>>),
}

impl<B: BufRead> Member<B> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(into),
            Self::Zstd(decoder) => decoder.read(into),
        }
    }

    /// The input after the member, which was read to its end.
    fn into_rest(self) -> B {
        match self {
            Self::Gzip(decoder) => decoder.into_inner(),
            Self::Zstd(decoder) => decoder.finish(),
        }
    }
}

/// The place of a reader of members.
enum At<B: BufRead> {
    Member(Member<B>),
    /// After the end of a member.
    Between(B),
    End,
    Failed,
}

/// Unpacks all members. Zero bytes after one are padding, as tapes and block devices add it:
/// another member or the end may follow it.
struct Members<B: BufRead> {
    codec: Codec,
    at: At<B>,
}

impl<B: BufRead> Read for Members<B> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while !into.is_empty() {
            // What fails below stays failed, so that no later read takes it for the end.
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
    /// Goes past padding to the next member, or to the end.
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

/// Refuses to give too much for what was taken.
struct Bounded<B: BufRead> {
    members: Members<B>,
    taken: Arc<Taken>,
    given: u64,
    ratio: u64,
}

impl<B: BufRead> Read for Bounded<B> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.members.read(into).map_err(|error| self.explained(error))?;
        self.given += count as u64;
        let allowed = self.taken.bytes.load(Ordering::Relaxed).saturating_mul(self.ratio);
        if self.given > GRACE && self.given > allowed {
            return Err(io::Error::new(io::ErrorKind::InvalidData, TooMuch(self.ratio)));
        }
        Ok(count)
    }
}

impl<B: BufRead> Bounded<B> {
    /// Decoders report an early end of their input in words of their own.
    fn explained(&self, error: io::Error) -> io::Error {
        let is_cut =
            error.kind() == io::ErrorKind::UnexpectedEof && !self.taken.failed.load(Ordering::Relaxed);
        if is_cut { io::Error::new(io::ErrorKind::UnexpectedEof, CutOff(self.members.codec)) } else { error }
    }
}
