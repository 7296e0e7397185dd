//! Compressed input: recognised by its first bytes, unpacked while it is read, within a ratio.

use std::fmt;
use std::io::{self, Read};

/// A compressed format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    Gzip,
    Zstd,
}

/// What a reader reports that would give more than so many times what it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooMuch(pub(crate) u64);

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the compressed input unpacks to more than {} times its size", self.0)
    }
}

impl std::error::Error for TooMuch {}

impl Codec {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// The format that begins with these bytes.
pub(crate) fn codec(start: &[u8]) -> Option<Codec> {
    match start {
        [0x1F, 0x8B, ..] => Some(Codec::Gzip),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Codec::Zstd),
        _ => None,
    }
}

/// Reads the first bytes, as few as it takes to tell the format: whoever waits for a line wants it
/// at once.
pub(crate) fn read_start(reader: &mut dyn Read, start: &mut [u8; 4]) -> io::Result<usize> {
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

/// How many bytes it takes to tell the format of what begins with these.
fn needed(start: &[u8]) -> usize {
    match start {
        [] => 1,
        [0x1F, ..] => 2,
        [0x28, ..] => 4,
        _ => 0,
    }
}

/// What a reader gives, unpacked if it is gzip or zstd, as a [`Document`](crate::Document) unpacks
/// it. For whoever wants the bytes themselves: a document does this by itself.
///
/// Whether it is packed is told by the first four bytes at most, which are read at once. Reading
/// fails when it gives more than `ratio` times the bytes that it takes, after the first 64 MiB; as
/// a [reader's error](crate::reader::Error::io) that becomes an [`Error`](crate::Error), it is a
/// limit like any other.
///
/// ```
/// use std::io::Read;
///
/// # fn main() -> std::io::Result<()> {
/// let mut text = String::new();
/// trommel::unpacked(Box::new(&b"[1, 2]"[..]), 1_000)?.read_to_string(&mut text)?;
/// assert_eq!(text, "[1, 2]");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When the first bytes cannot be read, or what they promise is not there.
pub fn unpacked(mut reader: Box<dyn Read + Send>, ratio: u64) -> io::Result<Box<dyn Read + Send>> {
    let mut start = [0; 4];
    let length = read_start(&mut *reader, &mut start)?;
    let codec = codec(&start[..length]);
    let whole = io::Cursor::new(start).take(length as u64).chain(reader);
    match codec {
        Some(codec) => codec.unpack(Box::new(whole), ratio),
        None => Ok(Box::new(whole)),
    }
}

#[cfg(not(feature = "compression"))]
impl Codec {
    pub(crate) fn unpack<'r>(
        self,
        _: Box<dyn Read + Send + 'r>,
        _: u64,
    ) -> io::Result<Box<dyn Read + Send + 'r>> {
        let what =
            format!("the input is compressed ({}), which needs the feature `compression`", self.name());
        Err(io::Error::new(io::ErrorKind::Unsupported, what))
    }
}

#[cfg(feature = "compression")]
mod unpack;
