//! The values of the current record, until its end decides the group.

use std::ops::Range;

use trommel_reader::{Kind, Number, View, compact};

use crate::columns::Columns;
use crate::error::{Unusable, ValueFault};
use crate::extreme::text;
use crate::measure::{AggregateKind, Group};
use crate::total::can_add;
use crate::value::{is_plain, kind_of, write_identity};

/// Ends each value of a key.
pub(crate) const END: u8 = 0;

/// Maximum number of values, and of bytes of their texts, that wait for the end of the record.
const MAX_PENDING: usize = 1024;
const MAX_PENDING_BYTES: usize = 64 << 10;

/// The key and the values of the current record. Its memory is reused for the next one.
#[derive(Clone, Debug)]
pub(crate) struct RecordBuffer {
    parts: Vec<KeyPart>,
    /// The identities of the parts, each followed by [`END`].
    identities: Vec<u8>,
    /// The parts that differ from their identity, as written.
    written: Vec<u8>,
    /// The sort keys of the parts.
    orders: Vec<u64>,
    /// Bytes of each key's parts, as written.
    sizes: Vec<usize>,
    last: bool,
    values: Vec<PendingValue>,
    texts: Vec<u8>,
    /// A row with the values that did not fit.
    spilled: Columns,
    has_spilled: bool,
    /// The assembled key, if its parts did not come in order.
    key: Vec<u8>,
    written_key: Vec<u8>,
}

/// A node of the query of a key.
#[derive(Clone, Debug)]
struct KeyPart {
    key: usize,
    identity: Range<usize>,
    written: Option<Range<usize>>,
    order: Range<usize>,
}

/// A value that waits for the end of the record.
#[derive(Clone, Debug)]
pub(crate) struct PendingValue {
    pub(crate) aggregate: usize,
    pub(crate) times: u64,
    /// The value, if it is an integer of few digits.
    pub(crate) integer: Option<i64>,
    /// The range of its text. For distinct values, the text is the identity.
    pub(crate) text: Range<usize>,
}

/// The key of a record: the texts of all values, each followed by [`END`]. A missing value has an
/// empty text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordKey<'a> {
    /// Equal keys have equal identities.
    pub(crate) identity: &'a [u8],
    /// The values as written, if they differ from the identity.
    pub(crate) written: Option<&'a [u8]>,
}

impl RecordBuffer {
    /// A buffer for the keys and values of a request. Of repeated names in a value the first
    /// counts, or with `last` the last one.
    pub(crate) fn new(group: &Group, last: bool) -> Self {
        let mut spilled = Columns::new(&group.kinds());
        spilled.push_row();
        Self {
            parts: Vec::new(),
            identities: Vec::new(),
            written: Vec::new(),
            orders: Vec::new(),
            sizes: vec![0; group.keys.len()],
            last,
            values: Vec::new(),
            texts: Vec::new(),
            spilled,
            has_spilled: false,
            key: Vec::new(),
            written_key: Vec::new(),
        }
    }

    /// Adds a node of a key.
    pub(crate) fn add_key(
        &mut self,
        key: usize,
        value: View<'_>,
        Occurrence { times, order }: Occurrence<'_>,
    ) -> Result<(), ValueFault> {
        let bytes = value.bytes();
        let size = bytes.len().saturating_add(1).saturating_mul(times as usize);
        self.sizes[key] = self.sizes[key].saturating_add(size);
        if self.sizes[key] > Group::VALUE_BYTES {
            return Err(ValueFault::Bytes);
        }
        let order = append(&mut self.orders, order);
        for _ in 0..times {
            let start = self.identities.len();
            let written = if is_plain(bytes) {
                self.identities.extend_from_slice(bytes);
                None
            } else {
                self.add_unusual(value)?
            };
            let identity = start..self.identities.len();
            self.identities.push(END);
            self.parts.push(KeyPart { key, identity, written, order: order.clone() });
        }
        Ok(())
    }

    /// Adds a value whose bytes may differ from its identity. Returns the range of its compact text
    /// if they do.
    fn add_unusual(&mut self, value: View<'_>) -> Result<Option<Range<usize>>, ValueFault> {
        let (identity, written) = (self.identities.len(), self.written.len());
        write_identity(value, self.last, &mut self.identities)?;
        compact(value.bytes(), &mut self.written);
        if self.written[written..] == self.identities[identity..] {
            self.written.truncate(written);
            return Ok(None);
        }
        Ok(Some(written..self.written.len()))
    }

    /// Adds a value of an aggregate, which occurs `times` times.
    pub(crate) fn add_value(
        &mut self,
        aggregate: usize,
        kind: AggregateKind,
        value: View<'_>,
        times: u64,
    ) -> Result<(), ValueFault> {
        let bytes = value.bytes();
        let start = self.texts.len();
        let mut integer = None;
        match kind_of(bytes) {
            Kind::Null => {
                check_literal(value)?;
                return Ok(());
            }
            _ if kind == AggregateKind::Distinct => {
                check_size(value)?;
                write_identity(value, self.last, &mut self.texts)?;
            }
            Kind::Number => {
                integer = is_plain(bytes).then(|| text(bytes).parse().ok()).flatten();
                if integer.is_none() {
                    check_size(value)?;
                    let text = text(bytes);
                    let number = parse(value, &text)?;
                    if matches!(kind, AggregateKind::Sum | AggregateKind::Mean) && !can_add(number) {
                        return Err(Unusable::Magnitude.into());
                    }
                }
                if integer.is_none() || matches!(kind, AggregateKind::Min | AggregateKind::Max) {
                    self.texts.extend_from_slice(bytes);
                }
            }
            Kind::String if matches!(kind, AggregateKind::Min | AggregateKind::Max) => {
                check_size(value)?;
                check_literal(value)?;
                self.texts.extend_from_slice(bytes);
            }
            kind => return Err(Unusable::Kind(kind).into()),
        }
        let text = start..self.texts.len();
        self.values.push(PendingValue { aggregate, times, integer, text });
        if self.values.len() >= MAX_PENDING || self.texts.len() >= MAX_PENDING_BYTES {
            self.spill();
        }
        Ok(())
    }

    /// Moves the pending values to the row of spilled ones.
    fn spill(&mut self) {
        self.has_spilled = true;
        for value in self.values.drain(..) {
            self.spilled.observe(0, &value, &self.texts);
        }
        self.texts.clear();
    }

    /// Assembles the key from its parts.
    pub(crate) fn key(&mut self) -> RecordKey<'_> {
        let in_order = self.parts.iter().enumerate().all(|(number, part)| number == part.key);
        let is_assembled = in_order && self.parts.len() == self.sizes.len();
        if is_assembled && self.parts.iter().all(|part| part.written.is_none()) {
            return RecordKey { identity: &self.identities, written: None };
        }
        if !is_assembled {
            let orders = &self.orders;
            let position = |part: &KeyPart| (part.key, &orders[part.order.clone()]);
            self.parts.sort_by(|left, right| position(left).cmp(&position(right)));
        }
        self.assemble();
        let written = (self.written_key != self.key).then_some(self.written_key.as_slice());
        RecordKey { identity: &self.key, written }
    }

    fn assemble(&mut self) {
        let Self { parts, identities, written, key, written_key, .. } = self;
        key.clear();
        written_key.clear();
        let mut rest = parts.as_slice();
        for number in 0..self.sizes.len() {
            let count = rest.iter().take_while(|part| part.key == number).count();
            let (nodes, others) = rest.split_at(count);
            rest = others;
            let identity = |part: &KeyPart| &identities[part.identity.clone()];
            let as_written = |part: &KeyPart| match &part.written {
                Some(range) => &written[range.clone()],
                None => &identities[part.identity.clone()],
            };
            join(nodes.iter().map(identity), key);
            join(nodes.iter().map(as_written), written_key);
        }
    }

    /// Adds the values to a row. Returns the memory that the row takes in addition.
    pub(crate) fn add_values_to(&mut self, columns: &mut Columns, row: usize) -> usize {
        let mut more = 0;
        if self.has_spilled {
            more += columns.merge_row(row, &mut self.spilled, 0);
            self.spilled.retain(&[false]);
            self.spilled.push_row();
            self.has_spilled = false;
        }
        for value in &self.values {
            more += columns.observe(row, value, &self.texts);
        }
        more
    }

    /// Forgets the record.
    pub(crate) fn clear(&mut self) {
        self.parts.clear();
        self.identities.clear();
        self.written.clear();
        self.orders.clear();
        self.sizes.fill(0);
        self.values.clear();
        self.texts.clear();
        if self.has_spilled {
            self.spilled.retain(&[false]);
            self.spilled.push_row();
            self.has_spilled = false;
        }
    }
}

/// The occurrences of a node in the node list of its query.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence<'a> {
    /// Their number.
    pub times: u64,
    /// A key that sorts the node among those of its query. Nodes with equal keys are in the order
    /// in which they are added.
    pub order: &'a [u64],
}

/// Writes the value of a key: nothing without nodes, and an array of several nodes.
fn join<'a>(nodes: impl ExactSizeIterator<Item = &'a [u8]>, key: &mut Vec<u8>) {
    let is_array = nodes.len() > 1;
    if is_array {
        key.push(b'[');
    }
    for (number, node) in nodes.enumerate() {
        if number > 0 {
            key.push(b',');
        }
        key.extend_from_slice(node);
    }
    if is_array {
        key.push(b']');
    }
    key.push(END);
}

/// Appends items and returns their range.
fn append(list: &mut Vec<u64>, items: &[u64]) -> Range<usize> {
    let start = list.len();
    list.extend_from_slice(items);
    start..list.len()
}

fn check_size(value: View<'_>) -> Result<(), ValueFault> {
    if value.bytes().len() > Group::VALUE_BYTES {
        return Err(ValueFault::Bytes);
    }
    Ok(())
}

/// Checks a value that may not have been validated.
fn check_literal(value: View<'_>) -> Result<(), ValueFault> {
    if is_plain(value.bytes()) { Ok(()) } else { Ok(write_identity(value, false, &mut Vec::new())?) }
}

/// Parses a number that may not have been validated.
fn parse<'t>(value: View<'_>, text: &'t str) -> Result<Number<'t>, ValueFault> {
    if let Some(number) = Number::parse(text) {
        return Ok(number);
    }
    write_identity(value, false, &mut Vec::new())?;
    Err(Unusable::Kind(kind_of(value.bytes())).into())
}
