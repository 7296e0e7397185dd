//! Decompression of gzip, zstd, bzip2, and xz while reading.
//!
//! The format is detected by the first bytes of the input. All members (gzip), frames (zstd), or
//! streams (bzip2, xz) are decompressed, one after the other; data that ends early is an error. The
//! output is limited to a ratio of the input, so that a small file cannot occupy a reader forever.
//! Memory is limited by the formats' dictionaries: 256 MiB for xz.
//!
//! ```
//! use std::io::Read;
//! use trommel_packed::unpacked;
//!
//! // An empty member of gzip.
//! let packed = [31, 139, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
//! let mut text = String::from("nothing: ");
//! unpacked(Box::new(&packed[..]), 1_000)?.read_to_string(&mut text)?;
//! assert_eq!(text, "nothing: ");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Without the feature `compression`, compressed input is an error that names its format.

use std::fmt;
use std::io::{self, Read};

/// A compressed format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Codec {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
    /// bzip2.
    Bzip2,
    /// The .xz file format 1.2.
    Xz,
}

/// The error of a reader that would produce more than this many times the bytes of its input.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the limit is all there is to say")]
pub struct RatioExceeded(pub u64);

impl fmt::Display for RatioExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the compressed input decompresses to more than {} times its size", self.0)
    }
}

impl std::error::Error for RatioExceeded {}

impl Codec {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }
}

/// The format that these bytes begin.
pub fn codec(start: &[u8]) -> Option<Codec> {
    match start {
        [0x1F, 0x8B, ..] => Some(Codec::Gzip),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Codec::Zstd),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Codec::Bzip2),
        [0xFD, b'7', b'z', b'X', ..] => Some(Codec::Xz),
        _ => None,
    }
}

/// Reads just enough bytes to detect the format. Reading more could block, although a first line is
/// already available.
pub fn read_start(reader: &mut dyn Read, start: &mut [u8; 4]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < needed(&start[..filled]) {
        match reader.read(&mut start[filled..=filled]) {
            Ok(0) => break,
            Ok(_) => filled += 1,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The number of bytes needed to detect the format of an input that begins with these.
fn needed(start: &[u8]) -> usize {
    match start {
        [] => 1,
        [0x1F, ..] => 2,
        [0x28 | b'B' | 0xFD, ..] => 4,
        _ => 0,
    }
}

/// True if these first bytes of an input, at least four, begin a format that is decompressed.
pub fn is_packed(start: &[u8]) -> bool {
    codec(start).is_some()
}

/// Decompresses a reader if it is gzip, zstd, bzip2, or xz, like a document of the crate `trommel`.
/// Only callers that need the decompressed bytes need this function.
///
/// The format is detected from at most the first four bytes, which are read at once. Reading fails
/// with [`RatioExceeded`] when the output exceeds `ratio` times the bytes of the input, after the
/// first 64 MiB. The crate `trommel` converts this error to a limit like any other.
///
/// ```
/// use std::io::Read;
///
/// # fn main() -> std::io::Result<()> {
/// let mut text = String::new();
/// trommel_packed::unpacked(Box::new(&b"[1, 2]"[..]), 1_000)?.read_to_string(&mut text)?;
/// assert_eq!(text, "[1, 2]");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the first bytes cannot be read, or the decoder cannot start.
pub fn unpacked<'r>(mut raw: Box<dyn Read + Send + 'r>, ratio: u64) -> io::Result<Box<dyn Read + Send + 'r>> {
    let mut start = [0; 4];
    let length = read_start(&mut *raw, &mut start)?;
    let codec = codec(&start[..length]);
    let whole = io::Cursor::new(start).take(length as u64).chain(raw);
    match codec {
        Some(codec) => codec.unpack(Box::new(whole), ratio),
        None => Ok(Box::new(whole)),
    }
}

#[cfg(not(feature = "compression"))]
impl Codec {
    /// Fails: this build does not decompress.
    ///
    /// # Errors
    /// Always.
    pub fn unpack<'r>(self, _: Box<dyn Read + Send + 'r>, _: u64) -> io::Result<Box<dyn Read + Send + 'r>> {
        let what =
            format!("the input is compressed ({}), which needs the feature `compression`", self.name());
        Err(io::Error::new(io::ErrorKind::Unsupported, what))
    }
}

#[cfg(feature = "compression")]
mod unpack;
