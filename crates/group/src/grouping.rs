//! Groups while the records are read.

use std::sync::Arc;

use trommel_reader::{Kind, View};

use crate::answer::Groups;
use crate::error::{GroupError, UnusableValue, ValueFault};
use crate::measure::{AggregateKind, Group};
use crate::record::{Occurrence, RecordBuffer};
use crate::table::{GroupTable, TableLimits};
use crate::value::kind_of;

/// Size of a block, in bytes of the input. An approximate table shrinks only between blocks.
const BLOCK_BYTES: u64 = 1 << 20;

/// Groups while the records are read.
///
/// The caller adds the nodes of each record, in any order, and then ends the record. Parts of an
/// input can be grouped on their own and merged in the order of the input: the groups are then
/// those of one pass, in the same order.
#[derive(Clone, Debug)]
pub struct Grouping {
    group: Arc<Group>,
    record: RecordBuffer,
    table: GroupTable,
    /// The tables of earlier blocks of a part.
    earlier: Vec<GroupTable>,
    /// True for a part of an input.
    is_part: bool,
    /// The number of blocks of the inputs before this one.
    earlier_blocks: u64,
}

impl Grouping {
    /// No records. Of repeated names in a key the first member counts, or with `last` the last one.
    pub fn new(group: &Group, last: bool) -> Self {
        Self::with_limits(group, last, TableLimits::of(group), false)
    }

    /// No records of a part. If the groups of the part take more than `max_bytes`, an error says
    /// so; the caller then adds the records of the part to the grouping of the records before it.
    pub fn for_part(group: &Group, last: bool, max_bytes: usize) -> Self {
        let limits = TableLimits::of(group);
        let bytes = limits.bytes.min(max_bytes);
        Self::with_limits(group, last, TableLimits { bytes, approximate: false, ..limits }, true)
    }

    fn with_limits(group: &Group, last: bool, limits: TableLimits, is_part: bool) -> Self {
        let table = GroupTable::new(group.keys.len(), &group.kinds(), limits);
        let record = RecordBuffer::new(group, last);
        let (group, earlier) = (Arc::new(group.clone()), Vec::new());
        Self { group, record, table, earlier, is_part, earlier_blocks: 0 }
    }

    /// Begins another input, whose offsets count from 0 again. It follows the inputs before it.
    pub fn begin_document(&mut self) {
        self.earlier_blocks = self.table.block + 1;
    }

    /// Adds a node of the query of a key to the record.
    ///
    /// # Errors
    /// If the nodes of the query have more than [`Group::VALUE_BYTES`], or are not valid JSON.
    pub fn key(&mut self, key: usize, value: View<'_>, occurrence: Occurrence<'_>) -> Result<(), GroupError> {
        self.table.matched[key] = true;
        let added = self.record.add_key(key, value, occurrence);
        added.map_err(|fault| error(fault, value, &self.group.keys[key].name))
    }

    /// Adds a node of the query of an aggregate to the record, which occurs `times` times in it.
    ///
    /// # Errors
    /// If the aggregate cannot take the value, or the value is not valid JSON.
    pub fn value(&mut self, aggregate: usize, value: View<'_>, times: u64) -> Result<(), GroupError> {
        let kind = self.group.aggregates[aggregate].kind;
        self.table.matched[self.group.keys.len() + aggregate] = true;
        let mut added = self.record.add_value(aggregate, kind, value, times);
        if added.is_ok() && matches!(kind, AggregateKind::Min | AggregateKind::Max) {
            let kind = kind_of(value.bytes());
            if kind != Kind::Null {
                added = self.table.check_kind(aggregate, kind).map_err(ValueFault::from);
            }
        }
        added.map_err(|fault| match fault {
            ValueFault::Unusable(reason) => {
                let aggregate = &self.group.aggregates[aggregate];
                GroupError::Unusable(Box::new(UnusableValue {
                    aggregate: aggregate.kind,
                    name: aggregate.name.clone(),
                    location: aggregate.query.to_string(),
                    offset: value.base(),
                    reason,
                }))
            }
            fault => error(fault, value, &self.group.aggregates[aggregate].name),
        })
    }

    /// Ends the record, which started at `offset` of the input, and adds it to its group.
    ///
    /// # Errors
    /// If a limit is exceeded.
    pub fn end_record(&mut self, offset: u64) -> Result<(), GroupError> {
        if self.group.approximate {
            self.begin_block(offset / BLOCK_BYTES);
        }
        let added = self.table.observe(&mut self.record);
        self.record.clear();
        added
    }

    fn begin_block(&mut self, block: u64) {
        // Records that contain others end after them, but blocks never go back.
        let block = (self.earlier_blocks + block).max(self.table.block);
        if !self.is_part {
            self.table.begin_block(block);
        } else if block != self.table.block {
            let table = self.table.next_block(block);
            self.earlier.push(std::mem::replace(&mut self.table, table));
        }
    }

    /// Forgets the values of a record that does not count.
    pub fn abandon_record(&mut self) {
        self.record.clear();
    }

    /// True if the groups of the part that follows can be merged. Otherwise, a limit or a value
    /// may be an error within the part: its records must be added one by one.
    pub fn admits(&self, later: &Self) -> bool {
        let mut tables = later.earlier.iter().chain([&later.table]);
        tables.all(|table| self.table.admits(table))
    }

    /// Merges the groups of the part that follows.
    ///
    /// # Errors
    /// If a limit is exceeded, or values do not compare. Never, if the part was
    /// [admitted](Self::admits).
    pub fn merge(&mut self, later: Self) -> Result<(), GroupError> {
        for table in later.earlier.into_iter().chain([later.table]) {
            if table.len() > 0 {
                self.begin_block(table.block);
                self.table.merge(table)?;
            }
        }
        Ok(())
    }

    /// Returns the groups.
    pub fn finish(mut self) -> Groups {
        self.table.shrink(1);
        Groups::new(self.table)
    }
}

fn error(fault: ValueFault, value: View<'_>, name: &str) -> GroupError {
    match fault {
        ValueFault::Read(error) => GroupError::Read(error),
        _ => GroupError::ValueBytes { name: name.into(), offset: value.base() },
    }
}
