//! The offsets in JSON text at which a search has to read strings.

use std::io::Read;

use trommel::path::{Matcher, Step};
use trommel::reader::{self, Span};

use crate::error::Halt;
use crate::prefilter::{BlockCandidates, Prefilter};

/// The number of bytes to read at a time.
const BLOCK_BYTES: usize = 256 << 10;

/// The longest part at the end of a block that is searched again together with the next one. If a
/// longer part may begin a match, its start is a candidate.
const MAX_KEPT_BYTES: usize = 64 << 10;

/// Offsets of candidates. A string without one has no match.
pub(crate) trait Targets {
    /// Returns the first offset at or after `from`, which must not decrease. `None` if no string
    /// after `from` has a match.
    fn next(&mut self, from: u64) -> Result<Option<u64>, Halt>;
}

/// The candidates in a part of an input that is in memory, within regions of it.
pub(crate) struct SliceTargets<'s> {
    pub(crate) candidates: BlockCandidates<'s>,
    pub(crate) bytes: &'s [u8],
    pub(crate) base: u64,
    /// The regions in ascending order; `None` for the whole part.
    pub(crate) regions: Option<&'s [Span]>,
}

impl Targets for SliceTargets<'_> {
    fn next(&mut self, mut from: u64) -> Result<Option<u64>, Halt> {
        loop {
            let at = (from - self.base) as usize;
            let found = self.candidates.find(self.bytes, at).filter(|at| *at < self.bytes.len());
            let Some(found) = found.map(|at| self.base + at as u64) else { return Ok(None) };
            let Some(regions) = self.regions else { return Ok(Some(found)) };
            let after = regions.partition_point(|region| region.end <= found);
            match regions.get(after) {
                Some(region) if region.start <= found => return Ok(Some(found)),
                Some(region) => from = region.start,
                None => return Ok(None),
            }
        }
    }
}

/// The candidates in an input that is read, within the regions of a query.
pub(crate) struct StreamTargets<'s, 'r> {
    pub(crate) candidates: StreamCandidates<'s>,
    pub(crate) regions: Option<&'r mut dyn Regions>,
}

impl Targets for StreamTargets<'_, '_> {
    fn next(&mut self, mut from: u64) -> Result<Option<u64>, Halt> {
        loop {
            let Some(found) = self.candidates.next(from)? else { return Ok(None) };
            let Some(regions) = &mut self.regions else { return Ok(Some(found)) };
            match regions.ending_after(found)? {
                Some(region) if region.start <= found => return Ok(Some(found)),
                Some(region) => from = region.start,
                None => return Ok(None),
            }
        }
    }
}

/// Reads an input ahead, and finds the candidates in it.
pub(crate) struct StreamCandidates<'s> {
    prefilter: &'s Prefilter,
    block: BlockCandidates<'s>,
    reader: Box<dyn Read + 's>,
    bytes: Vec<u8>,
    /// The offset of the block.
    base: u64,
    has_ended: bool,
}

impl<'s> StreamCandidates<'s> {
    /// Finds the candidates in a reader whose first byte is at `offset`.
    pub(crate) fn new(prefilter: &'s Prefilter, reader: Box<dyn Read + 's>, offset: u64) -> Self {
        let block = BlockCandidates::new(prefilter);
        Self { prefilter, block, reader, bytes: Vec::new(), base: offset, has_ended: false }
    }

    /// Returns the first candidate at or after `from`.
    pub(crate) fn next(&mut self, from: u64) -> Result<Option<u64>, Halt> {
        if self.prefilter.accepts_all {
            return Ok(Some(from));
        }
        loop {
            let end = self.base + self.bytes.len() as u64;
            if from < end || self.has_ended {
                let at = usize::try_from(from.saturating_sub(self.base)).unwrap_or(usize::MAX);
                let found = self.block.find(&self.bytes, at.min(self.bytes.len()));
                if let Some(found) = found.filter(|at| *at < self.bytes.len()) {
                    return Ok(Some(self.base + found as u64));
                }
            }
            if self.has_ended {
                return Ok(None);
            }
            let kept = self.prefilter.unfinished(&self.bytes);
            self.advance(kept.min(MAX_KEPT_BYTES))?;
            if kept > MAX_KEPT_BYTES && from <= end {
                // The bytes may begin a match that is not in memory as a whole.
                return Ok(Some(from.max(end - kept as u64)));
            }
        }
    }

    /// Reads the next block, and keeps the last bytes of this one.
    fn advance(&mut self, kept: usize) -> Result<(), Halt> {
        let passed = self.bytes.len() - kept;
        self.bytes.drain(..passed);
        self.base += passed as u64;
        let read = (&mut self.reader).take(BLOCK_BYTES as u64).read_to_end(&mut self.bytes)?;
        self.has_ended = read < BLOCK_BYTES;
        self.block = BlockCandidates::new(self.prefilter);
        Ok(())
    }
}

/// The nodes of a query, without those inside others.
pub(crate) trait Regions {
    /// Returns the first region that ends after `offset`, which must not decrease.
    fn ending_after(&mut self, offset: u64) -> Result<Option<Span>, Halt>;
}

/// The regions of a query in an input that is read.
pub(crate) struct QueryRegions<'a, 'm, 'c> {
    matcher: &'a mut Matcher<'m, 'c>,
    /// The number of nodes that are entered and not left.
    open: u64,
    current: Option<Span>,
    state: RegionState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RegionState {
    BetweenRecords,
    InRecord,
    Ended,
}

impl<'a, 'm, 'c> QueryRegions<'a, 'm, 'c> {
    pub(crate) fn new(matcher: &'a mut Matcher<'m, 'c>) -> Self {
        Self { matcher, open: 0, current: None, state: RegionState::BetweenRecords }
    }

    /// Returns the next region.
    pub(crate) fn next(&mut self) -> reader::Result<Option<Span>> {
        loop {
            match self.state {
                RegionState::Ended => return Ok(None),
                RegionState::BetweenRecords => {
                    let more = self.matcher.next_record()?;
                    self.state = if more { RegionState::InRecord } else { RegionState::Ended };
                }
                RegionState::InRecord => match self.matcher.advance()? {
                    None => self.state = RegionState::BetweenRecords,
                    Some(Step::Enter { .. }) => self.open += 1,
                    Some(Step::Leave { span, .. }) => {
                        self.open = self.open.saturating_sub(1);
                        if self.open == 0 {
                            return Ok(Some(span));
                        }
                    }
                    Some(Step::Event(_) | Step::Settled(_)) => {}
                },
            }
        }
    }
}

impl Regions for QueryRegions<'_, '_, '_> {
    fn ending_after(&mut self, offset: u64) -> Result<Option<Span>, Halt> {
        while self.current.is_none_or(|region| region.end <= offset) {
            self.current = self.next()?;
            if self.current.is_none() {
                return Ok(None);
            }
        }
        Ok(self.current)
    }
}
