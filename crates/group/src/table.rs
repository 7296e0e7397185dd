//! The table of groups: keys, counts, and figures.
//!
//! Keys are stored one after another in one buffer, and found by a hash with a random key, so that
//! collisions cannot be crafted. Groups are in the order in which they first appeared.

use std::cmp::Reverse;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use trommel_reader::Kind;
use trommel_stats::{Accumulator, Distinct};

use crate::columns::Columns;
#[cfg(feature = "serde")]
use crate::columns::Figure;
use crate::error::{GroupError, Unusable};
use crate::measure::{AggregateKind, Group};
use crate::record::{RecordBuffer, RecordKey};
use crate::total::Total;

/// Bytes of a group besides its key and figures: its entry and its share of the index.
const ENTRY_BYTES: usize = size_of::<Entry>() + 8;

/// A group's key and counts.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The offset of its key.
    start: usize,
    /// The length of the identity. The values as written follow it.
    identity: u32,
    /// The length of the values as written; 0 if they are the identity.
    written: u32,
    counts: Counts,
}

/// The number of records of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    /// It is never too low.
    pub(crate) count: u64,
    /// The maximum number by which it is too high.
    pub(crate) error: u64,
}

/// The limits of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableLimits {
    pub(crate) groups: usize,
    pub(crate) bytes: usize,
    /// Beyond the limits, keeps the most frequent groups.
    pub(crate) approximate: bool,
}

/// Groups with their figures.
#[derive(Clone, Debug)]
pub(crate) struct GroupTable {
    pub(crate) limits: TableLimits,
    /// The number of values of a key.
    pub(crate) width: usize,
    entries: Vec<Entry>,
    keys: Vec<u8>,
    index: HashTable<u32>,
    hasher: RandomState,
    pub(crate) columns: Columns,
    /// The type of the values of each aggregate that compares, once known.
    pub(crate) kinds: Vec<Option<Kind>>,
    /// For each key, and then for each aggregate, true if its query has selected anything.
    pub(crate) matched: Vec<bool>,
    /// Memory of all groups, in bytes. It depends on the records, not on their order.
    pub(crate) bytes: usize,
    /// The number of records.
    pub(crate) total: u64,
    /// The maximum number of records of a group that is not in the table.
    pub(crate) floor: u64,
    /// Counts all groups that were ever in the table, if some may be removed.
    pub(crate) seen: Option<Distinct>,
    /// The number of the block of records that was added last.
    pub(crate) block: u64,
}

/// A group in a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'t> {
    pub(crate) key: RecordKey<'t>,
    pub(crate) counts: Counts,
}

impl Counts {
    fn add(&mut self, Self { count, error }: Self) {
        self.count = self.count.saturating_add(count);
        self.error = self.error.saturating_add(error);
    }
}

impl TableLimits {
    pub(crate) fn of(group: &Group) -> Self {
        // The index numbers groups with 32 bits.
        let groups = group.max_groups.min(u32::MAX as usize);
        Self { groups, bytes: group.max_bytes, approximate: group.approximate }
    }
}

impl GroupTable {
    pub(crate) fn new(width: usize, kinds: &[AggregateKind], limits: TableLimits) -> Self {
        Self {
            limits,
            width,
            entries: Vec::new(),
            keys: Vec::new(),
            index: HashTable::new(),
            hasher: RandomState::default(),
            columns: Columns::new(kinds),
            kinds: vec![None; kinds.len()],
            matched: vec![false; width + kinds.len()],
            bytes: 0,
            total: 0,
            floor: 0,
            seen: limits.approximate.then(Distinct::default),
            block: 0,
        }
    }

    /// An empty table for the block of a part that follows this one. It may take the memory that
    /// this one leaves.
    pub(crate) fn next_block(&self, block: u64) -> Self {
        let limits = TableLimits { bytes: self.limits.bytes.saturating_sub(self.bytes), ..self.limits };
        let kinds = self.kinds.clone();
        Self { kinds, block, ..Self::new(self.width, &self.columns.kinds(), limits) }
    }

    /// True if both tables belong to equal requests, and their values compare.
    pub(crate) fn is_like(&self, later: &Self) -> bool {
        let mut kinds = self.kinds.iter().zip(&later.kinds);
        let is_mixed = kinds.any(|(kind, later)| kind.zip(*later).is_some_and(|(kind, later)| kind != later));
        !is_mixed && self.width == later.width && self.columns.kinds() == later.columns.kinds()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn row(&self, row: usize) -> Row<'_> {
        let Entry { start, identity, written, counts } = self.entries[row];
        let middle = start + identity as usize;
        let identity = &self.keys[start..middle];
        let written = (written > 0).then(|| &self.keys[middle..middle + written as usize]);
        Row { key: RecordKey { identity, written }, counts }
    }

    /// Notes the type of a value of an aggregate that compares values.
    pub(crate) fn check_kind(&mut self, aggregate: usize, kind: Kind) -> Result<(), Unusable> {
        if *self.kinds[aggregate].get_or_insert(kind) == kind { Ok(()) } else { Err(Unusable::Mixed(kind)) }
    }

    /// Adds a record to its group.
    pub(crate) fn observe(&mut self, record: &mut RecordBuffer) -> Result<(), GroupError> {
        let row = self.find_or_insert(record.key());
        self.entries[row].counts.count += 1;
        self.total += 1;
        self.bytes += record.add_values_to(&mut self.columns, row);
        self.check_limits()
    }

    /// Returns an error if the table is beyond its limits, and must not shrink.
    fn check_limits(&self) -> Result<(), GroupError> {
        let TableLimits { groups, bytes, approximate } = self.limits;
        match approximate {
            false if self.entries.len() > groups => Err(GroupError::Groups { limit: groups }),
            false if self.bytes > bytes => Err(GroupError::Bytes { limit: bytes }),
            _ => Ok(()),
        }
    }

    fn find(&self, identity: &[u8]) -> Option<usize> {
        let is_same = |&row: &u32| self.row(row as usize).key.identity == identity;
        self.index.find(self.hasher.hash_one(identity), is_same).map(|row| *row as usize)
    }

    /// Returns the row of a key. A new row has as many records as it may have had before it was
    /// removed.
    fn find_or_insert(&mut self, key: RecordKey<'_>) -> usize {
        let Self { entries, keys, index, hasher, .. } = self;
        let identity_of = |row: &u32| {
            let Entry { start, identity, .. } = entries[*row as usize];
            &keys[start..start + identity as usize]
        };
        let hash = hasher.hash_one(key.identity);
        let is_same = |row: &u32| identity_of(row) == key.identity;
        match index.entry(hash, is_same, |row| hasher.hash_one(identity_of(row))) {
            Slot::Occupied(found) => *found.get() as usize,
            Slot::Vacant(slot) => {
                slot.insert(entries.len() as u32);
                self.push(key)
            }
        }
    }

    fn push(&mut self, RecordKey { identity, written }: RecordKey<'_>) -> usize {
        let (start, row) = (self.keys.len(), self.entries.len());
        self.keys.extend_from_slice(identity);
        self.keys.extend_from_slice(written.unwrap_or(&[]));
        let (identity, written) = (identity.len() as u32, written.map_or(0, <[u8]>::len) as u32);
        let counts = Counts { count: self.floor, error: self.floor };
        self.entries.push(Entry { start, identity, written, counts });
        self.columns.push_row();
        self.bytes += self.charge(row);
        if let Some(seen) = &mut self.seen {
            seen.observe_text(&self.keys[start..start + identity as usize]);
        }
        row
    }

    /// Adds a stored group without figures. Returns false if there is one with the same key.
    #[cfg(feature = "serde")]
    pub(crate) fn restore(&mut self, key: RecordKey<'_>, counts: Counts) -> bool {
        let rows = self.len();
        let row = self.find_or_insert(key);
        self.entries[row].counts = counts;
        row == rows
    }

    /// Sets a stored figure. Returns false if it is of another kind.
    #[cfg(feature = "serde")]
    pub(crate) fn restore_figure(&mut self, column: usize, row: usize, figure: Figure) -> bool {
        self.bytes -= self.columns.charge(row);
        let is_set = self.columns.set_figure(column, row, figure);
        self.bytes += self.columns.charge(row);
        is_set
    }

    /// The memory of a group, in bytes.
    fn charge(&self, row: usize) -> usize {
        let Entry { identity, written, .. } = self.entries[row];
        ENTRY_BYTES + identity as usize + written as usize + self.columns.charge(row)
    }

    /// True if the groups of later records can be merged, and one pass over all records would
    /// certainly have stayed within the limits too.
    pub(crate) fn admits(&self, later: &Self) -> bool {
        if !self.is_like(later) || self.limits.approximate {
            return self.is_like(later);
        }
        let (mut groups, mut bytes) = (self.entries.len(), self.bytes);
        // Merged figures take at most as much more as the digits between those of two sums.
        let most = bytes + later.bytes + later.len() * self.kinds.len() * Total::MAX_CHARGE;
        if groups + later.len() <= self.limits.groups && most <= self.limits.bytes {
            return true;
        }
        for later_row in 0..later.len() {
            if let Some(row) = self.find(later.row(later_row).key.identity) {
                bytes += self.columns.merged_charge(row, &later.columns, later_row);
                bytes -= self.columns.charge(row);
            } else {
                groups += 1;
                bytes += later.charge(later_row);
            }
        }
        groups <= self.limits.groups && bytes <= self.limits.bytes
    }

    /// Merges the groups of later records.
    pub(crate) fn merge(&mut self, mut later: Self) -> Result<(), GroupError> {
        if !self.is_like(&later) {
            return Err(GroupError::Different);
        }
        let mut is_later = vec![later.floor == 0; self.entries.len()];
        for later_row in 0..later.len() {
            let Row { key, counts } = later.row(later_row);
            let row = self.find_or_insert(key);
            self.entries[row].counts.add(counts);
            self.bytes += self.columns.merge_row(row, &mut later.columns, later_row);
            if let Some(is_later) = is_later.get_mut(row) {
                *is_later = true;
            }
        }
        // A group that later records do not have may have been removed there.
        for (entry, _) in self.entries.iter_mut().zip(&is_later).filter(|(_, is_later)| !**is_later) {
            entry.counts.add(Counts { count: later.floor, error: later.floor });
        }
        for (kind, later) in self.kinds.iter_mut().zip(later.kinds) {
            *kind = kind.or(later);
        }
        for (matched, later) in self.matched.iter_mut().zip(later.matched) {
            *matched |= later;
        }
        if let (Some(seen), Some(later)) = (&mut self.seen, later.seen) {
            seen.merge(later);
        }
        self.total = self.total.saturating_add(later.total);
        self.floor = self.floor.saturating_add(later.floor);
        self.check_limits()
    }

    /// Begins the next block of records. The table shrinks between blocks only, so the groups that
    /// it keeps do not depend on how the blocks were processed.
    pub(crate) fn begin_block(&mut self, block: u64) {
        if self.block != block {
            self.block = block;
            // Half of the limits leaves room for many blocks before the next sort.
            self.shrink(2);
        }
    }

    /// If the table is beyond its limits, keeps the most frequent groups, within the limits divided
    /// by `divisor`.
    ///
    /// This is the merge of Misra-Gries summaries (Agarwal et al., "Mergeable Summaries", 2012),
    /// with upper bounds instead of lower ones: of `n` records, no group with more than
    /// `n / (m + 1)` is lost if the table has room for at least `m` groups.
    pub(crate) fn shrink(&mut self, divisor: usize) {
        let TableLimits { groups, bytes, approximate } = self.limits;
        if !approximate || self.entries.len() <= groups && self.bytes <= bytes {
            return;
        }
        let mut rows: Vec<(Reverse<u64>, usize)> =
            (0..self.len()).map(|row| (Reverse(self.entries[row].counts.count), row)).collect();
        // Of groups with equal counts, those that appeared first are kept.
        rows.sort_unstable();
        let (mut kept, mut kept_bytes) = (vec![false; rows.len()], 0);
        for (number, &(Reverse(count), row)) in rows.iter().enumerate() {
            kept_bytes += self.charge(row);
            if number >= groups.div_ceil(divisor) || kept_bytes > bytes / divisor {
                self.floor = count;
                break;
            }
            kept[row] = true;
        }
        self.retain(&kept);
    }

    fn retain(&mut self, kept: &[bool]) {
        self.columns.retain(kept);
        let (entries, keys) = (std::mem::take(&mut self.entries), std::mem::take(&mut self.keys));
        self.index.clear();
        self.bytes = 0;
        for (entry, _) in entries.iter().zip(kept).filter(|(_, kept)| **kept) {
            let row = self.entries.len();
            let start = self.keys.len();
            let length = entry.identity as usize + entry.written as usize;
            self.keys.extend_from_slice(&keys[entry.start..entry.start + length]);
            self.entries.push(Entry { start, ..*entry });
            self.bytes += self.charge(row);
            let Self { entries, keys, index, hasher, .. } = self;
            let hash = |row: &u32| {
                let Entry { start, identity, .. } = entries[*row as usize];
                hasher.hash_one(&keys[start..start + identity as usize])
            };
            index.insert_unique(hash(&(row as u32)), row as u32, hash);
        }
    }
}
