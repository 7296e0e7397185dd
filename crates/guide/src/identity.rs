//! The identity of the input that a guide describes.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use crate::error::{Error, Result};
use crate::format::{Reader, Writer};

/// Bytes at each end of a file that its identity includes.
const END: u64 = 64 << 10;

/// The input that a guide describes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Identity {
    /// A stored output, by the BLAKE3 hash of its payload.
    Output([u8; 32]),
    /// A file.
    File(FileIdentity),
}

/// The identity of a file: its inode, size, and times, and the BLAKE3 hashes of its ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    /// Nanoseconds since 1970.
    modified: i128,
    /// The last change of the inode, in nanoseconds since 1970.
    changed: i128,
    head: [u8; 32],
    tail: [u8; 32],
}

fn times(metadata: &Metadata) -> (i128, i128) {
    let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    let modified = nanoseconds(metadata.mtime(), metadata.mtime_nsec());
    (modified, nanoseconds(metadata.ctime(), metadata.ctime_nsec()))
}

/// The hashes of both ends of the first `size` bytes of a file.
fn ends(file: &File, size: u64) -> io::Result<([u8; 32], [u8; 32])> {
    let hash = |from: u64, to: u64| {
        let mut bytes = vec![0; (to - from) as usize];
        file.read_exact_at(&mut bytes, from)?;
        io::Result::Ok(*blake3::hash(&bytes).as_bytes())
    };
    Ok((hash(0, size.min(END))?, hash(size.saturating_sub(END), size)?))
}

impl FileIdentity {
    /// The identity of an open file.
    pub fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let (modified, changed) = times(&metadata);
        let size = metadata.len();
        let (head, tail) = ends(file, size)?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino(), size, modified, changed, head, tail })
    }

    /// The length of the file, in bytes.
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// True if the file has only grown since: it is the same one, is longer, and has the same ends
    /// up to its former length, which was the end of a line.
    pub(crate) fn has_grown(&self, file: &File) -> io::Result<bool> {
        let metadata = file.metadata()?;
        let is_longer = (metadata.dev(), metadata.ino()) == (self.device, self.inode)
            && metadata.len() > self.size
            && self.size > 0;
        if !is_longer {
            return Ok(false);
        }
        let mut last = [0];
        file.read_exact_at(&mut last, self.size - 1)?;
        Ok(last == *b"\n" && ends(file, self.size)? == (self.head, self.tail))
    }

    /// The name of the guide of this file in a folder of guides: its device and inode.
    pub(crate) fn name(metadata: &Metadata) -> String {
        format!("{:x}-{:x}.guide", metadata.dev(), metadata.ino())
    }

    /// The difference to the file as it is now, if there is one.
    pub(crate) fn difference(&self, file: &File) -> io::Result<Option<&'static str>> {
        let metadata = file.metadata()?;
        // The cheap comparisons come first.
        if (metadata.dev(), metadata.ino()) != (self.device, self.inode) {
            return Ok(Some("it describes another file"));
        }
        if metadata.len() != self.size || times(&metadata) != (self.modified, self.changed) {
            return Ok(Some("the file has changed"));
        }
        Ok((Self::of(file)? != *self).then_some("the file has changed"))
    }
}

impl Identity {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        match self {
            Self::Output(hash) => {
                out.u32(1);
                out.bytes(hash);
            }
            Self::File(FileIdentity { device, inode, size, modified, changed, head, tail }) => {
                out.u32(2);
                for number in [device, inode, size] {
                    out.u64(*number);
                }
                for time in [modified, changed] {
                    out.bytes(&time.to_le_bytes());
                }
                out.bytes(head);
                out.bytes(tail);
            }
        }
        out.0
    }

    pub(crate) fn from_bytes(section: &mut Reader<'_>) -> Result<Self> {
        match section.u32()? {
            1 => Ok(Self::Output(section.array()?)),
            2 => {
                let (device, inode, size) = (section.u64()?, section.u64()?, section.u64()?);
                let modified = i128::from_le_bytes(section.array()?);
                let changed = i128::from_le_bytes(section.array()?);
                let (head, tail) = (section.array()?, section.array()?);
                Ok(Self::File(FileIdentity { device, inode, size, modified, changed, head, tail }))
            }
            _ => Err(Error::damaged("its input is of an unknown kind")),
        }
    }
}
