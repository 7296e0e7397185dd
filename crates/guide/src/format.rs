//! The stored form of a guide, version 1. Described byte by byte in `docs/GUIDE-FORMAT.md`.
//!
//! All integers are little-endian. A header of 64 bytes is followed by a table of sections and the
//! sections, without gaps. The header with the table and every section have a checksum, so that
//! every byte has one.

mod bytes;

use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use trommel::reader::NameOrder;

use crate::VERSION;
use crate::error::{Error, Result};
use crate::filters::{Filters, StoredWords};
use crate::identity::Identity;
use crate::index::{Container, Index, Point};
use crate::shape::StoredAnswer;

pub(crate) use bytes::{Reader, Writer, checksum};

/// The first bytes of a guide.
const MAGIC: &[u8; 8] = b"trommelG";

/// Sections at most.
const MAX_SECTIONS: u32 = 1 << 10;

/// The bit of a container's depth that says that it is an object.
const OBJECT: u32 = 1 << 31;

/// The bits of a container's depth that say in which order its names ascend.
const ORDER_BYTES: u32 = 1 << 30;
const ORDER_LENGTH: u32 = 1 << 29;

/// The position of the number of probes in the filter of a point.
const PROBES_SHIFT: u32 = 28;

/// The kinds of sections.
mod kind {
    pub(super) const IDENTITY: u32 = 1;
    pub(super) const CONTAINERS: u32 = 2;
    pub(super) const POINTS: u32 = 3;
    pub(super) const NAMES: u32 = 4;
    pub(super) const ANSWER: u32 = 5;
}

/// The parts of a guide.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) identity: Identity,
    /// The number of the framing in which the input was read.
    pub(crate) framing: u32,
    pub(crate) index: Index,
    pub(crate) answers: Vec<StoredAnswer>,
}

impl Parts {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let Self { identity, framing, index, answers } = self;
        let words = index.filters.words().unwrap_or(&[]);
        let mut sections = vec![
            (kind::IDENTITY, identity.to_bytes()),
            (kind::CONTAINERS, containers_to_bytes(&index.containers)),
            (kind::POINTS, points_to_bytes(&index.points)),
            (kind::NAMES, words.iter().flat_map(|word| word.to_le_bytes()).collect()),
        ];
        sections.extend(answers.iter().map(|answer| (kind::ANSWER, answer_to_bytes(answer))));
        let mut table = Writer::default();
        let mut offset = (bytes::HEADER + sections.len() * bytes::ENTRY) as u64;
        for (kind, section) in &sections {
            table.u32(*kind);
            table.u32(0);
            table.u64(offset);
            table.u64(section.len() as u64);
            table.u64(checksum(&[section]));
            offset += section.len() as u64;
        }
        let mut header = Writer::default();
        header.bytes(MAGIC);
        header.u32(VERSION);
        header.u32(sections.len() as u32);
        header.u64(index.length);
        header.u64(index.records);
        header.u32(index.max_depth);
        header.u32(*framing);
        header.u64(offset);
        header.u64(0);
        header.u64(checksum(&[&header.0, &table.0]));
        let mut all = header.0;
        all.append(&mut table.0);
        for (_, mut section) in sections {
            all.append(&mut section);
        }
        all
    }

    /// Reads a guide, and checks everything that does not need the input. The names by block of a
    /// guide in a file are read and checked when they are first asked for.
    pub(crate) fn read(stored: &Stored<'_>) -> Result<Self> {
        let head = stored.bytes(0, bytes::HEADER as u64)?;
        let mut header = Reader(&head);
        if header.bytes(MAGIC.len())? != MAGIC {
            return Err(Error::damaged("it does not begin like a guide"));
        }
        let (version, count) = (header.u32()?, header.u32()?);
        if version != VERSION {
            return Err(Error::version(version));
        }
        let (length, records, max_depth) = (header.u64()?, header.u64()?, header.u32()?);
        let (framing, total) = (header.u32()?, header.u64()?);
        header.u64()?;
        let known = header.u64()?;
        if total != stored.len() {
            return Err(Error::damaged("it is truncated"));
        }
        if count > MAX_SECTIONS {
            return Err(Error::damaged("it has too many sections"));
        }
        let table = stored.bytes(bytes::HEADER as u64, u64::from(count) * bytes::ENTRY as u64)?;
        if checksum(&[&head[..bytes::HEADER - 8], &table]) != known {
            return Err(Error::damaged("the checksum of the header is wrong"));
        }
        let Sections { identity, containers, points, filters, answers } = Sections::read(stored, &table)?;
        let missing = || Error::damaged("a section is missing");
        let identity = identity.ok_or_else(missing)?;
        let containers = containers.ok_or_else(missing)?;
        let (points, filters) = (points.ok_or_else(missing)?, filters.ok_or_else(missing)?);
        let index = Index { length, records, max_depth, containers, points, filters };
        match index.contradiction() {
            Some(contradiction) => Err(Error::damaged(contradiction)),
            None => Ok(Self { identity, framing, index, answers }),
        }
    }
}

/// The bytes of a stored guide.
pub(crate) enum Stored<'a> {
    Bytes(&'a [u8]),
    /// A file, and its length.
    File(Arc<File>, u64),
}

impl Stored<'_> {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File(_, length) => *length,
        }
    }

    fn bytes(&self, start: u64, length: u64) -> Result<Cow<'_, [u8]>> {
        let end = start.checked_add(length).filter(|end| *end <= self.len());
        let end = end.ok_or_else(|| Error::damaged("it is truncated"))?;
        match self {
            Self::Bytes(bytes) => Ok(bytes[start as usize..end as usize].into()),
            Self::File(file, _) => {
                let mut bytes = vec![0; length as usize];
                file.read_exact_at(&mut bytes, start).map_err(trommel::Error::from)?;
                Ok(bytes.into())
            }
        }
    }
}

/// An entry of the table of sections.
struct Entry {
    kind: u32,
    start: u64,
    length: u64,
    checksum: u64,
}

/// The sections of a guide.
#[derive(Default)]
struct Sections {
    identity: Option<Identity>,
    containers: Option<Vec<Container>>,
    points: Option<Vec<Point>>,
    filters: Option<Filters>,
    answers: Vec<StoredAnswer>,
}

impl Sections {
    fn read(stored: &Stored<'_>, table: &[u8]) -> Result<Self> {
        let (mut sections, mut table) = (Self::default(), Reader(table));
        let mut start = (bytes::HEADER + table.0.len()) as u64;
        while !table.0.is_empty() {
            let (kind, _, _) = (table.u32()?, table.u32()?, table.u64()?);
            let entry = Entry { kind, start, length: table.u64()?, checksum: table.u64()? };
            sections.add(stored, &entry)?;
            start += entry.length;
        }
        Ok(sections)
    }

    fn add(&mut self, stored: &Stored<'_>, entry: &Entry) -> Result<()> {
        let Entry { kind, start, length, checksum: known } = *entry;
        if let (kind::NAMES, Stored::File(file, total)) = (kind, stored) {
            let fits = start.checked_add(length).is_some_and(|end| end <= *total) && length % 8 == 0;
            let (file, length) = (Arc::clone(file), length as usize);
            let words = StoredWords { file, offset: start, length, checksum: known };
            self.filters = fits.then(|| Filters::in_file(words));
            return if fits { Ok(()) } else { Err(Error::damaged("it is truncated")) };
        }
        let section = stored.bytes(start, length)?;
        if checksum(&[&section]) != known {
            return Err(Error::damaged("the checksum of a section is wrong"));
        }
        let mut section = Reader(&section);
        match kind {
            kind::IDENTITY => self.identity = Some(Identity::from_bytes(&mut section)?),
            kind::CONTAINERS => self.containers = Some(section.all(read_container)?),
            kind::POINTS => self.points = Some(section.all(read_point)?),
            kind::NAMES => self.filters = Some(Filters::from_bytes(section.0)?),
            kind::ANSWER => self.answers.push(read_answer(&mut section)?),
            // A later release of this version may add facts.
            _ => {}
        }
        Ok(())
    }
}

fn containers_to_bytes(containers: &[Container]) -> Vec<u8> {
    let mut out = Writer::default();
    for container in containers {
        out.u64(container.start);
        out.u64(container.end);
        out.u64(container.child_start);
        out.u64(container.index);
        out.u64(container.children);
        out.u32(container.parent);
        let order = match container.order {
            None => 0,
            Some(NameOrder::Bytes) => ORDER_BYTES,
            Some(NameOrder::Length) => ORDER_LENGTH,
        };
        out.u32(container.depth | order | if container.object { OBJECT } else { 0 });
    }
    out.0
}

fn read_container(section: &mut Reader<'_>) -> Result<Container> {
    let (start, end, child_start) = (section.u64()?, section.u64()?, section.u64()?);
    let (index, children, parent) = (section.u64()?, section.u64()?, section.u32()?);
    let depth = section.u32()?;
    let (object, depth) = (depth & OBJECT != 0, depth & !OBJECT);
    let order = match depth & (ORDER_BYTES | ORDER_LENGTH) {
        0 => None,
        ORDER_BYTES => Some(NameOrder::Bytes),
        ORDER_LENGTH => Some(NameOrder::Length),
        _ => return Err(Error::damaged("a container has two orders of names")),
    };
    let depth = depth & !(ORDER_BYTES | ORDER_LENGTH);
    Ok(Container { start, end, child_start, index, children, parent, depth, object, order })
}

fn points_to_bytes(points: &[Point]) -> Vec<u8> {
    let mut out = Writer::default();
    for point in points {
        out.u64(point.offset);
        out.u64(point.index);
        out.u32(point.container);
        out.u32(point.filter | point.probes << PROBES_SHIFT);
    }
    out.0
}

fn read_point(section: &mut Reader<'_>) -> Result<Point> {
    let (offset, index, container, filter) = (section.u64()?, section.u64()?, section.u32()?, section.u32()?);
    let (probes, filter) = (filter >> PROBES_SHIFT, filter & ((1 << PROBES_SHIFT) - 1));
    Ok(Point { offset, container, index, filter, probes })
}

fn answer_to_bytes(answer: &StoredAnswer) -> Vec<u8> {
    let mut out = Writer::default();
    out.u32(answer.questions.len() as u32);
    out.bytes(answer.questions.as_bytes());
    out.bytes(&answer.partial);
    out.0
}

fn read_answer(section: &mut Reader<'_>) -> Result<StoredAnswer> {
    let length = section.u32()?;
    let questions = str::from_utf8(section.bytes(length as usize)?).ok();
    let questions = questions.ok_or_else(|| Error::damaged("a question is not text"))?.to_owned();
    Ok(StoredAnswer { questions, partial: section.0.to_vec() })
}
