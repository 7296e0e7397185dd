//! The tree of a document.

use std::ops::{Index, Range};

/// A half-open range of absolute byte offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u64,
    /// The offset one past the last byte.
    pub end: u64,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start: start as u64, end: end as u64 }
    }

    /// Returns the span as a range to slice the whole input with.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One of the six types of a JSON value, in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// `[…]`
    Array,
    /// `true` or `false`
    Boolean,
    /// `null`
    Null,
    /// A number
    Number,
    /// `{…}`
    Object,
    /// A string
    String,
}

impl Kind {
    /// All types, in the order of their names.
    pub const ALL: [Self; 6] =
        [Self::Array, Self::Boolean, Self::Null, Self::Number, Self::Object, Self::String];

    /// Returns the name of the type in JSON Schema.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Null => "null",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }
}

/// Identifies a value of one [`Document`]. Ids are ordered by the start of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub(super) usize);

/// A document: all its values, ordered by their start.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub(super) values: Vec<Value>,
}

/// A value and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The bytes of the value, without white space around it.
    pub span: Span,
    /// The value itself.
    pub data: Data,
    /// The number of values from the root to this one, both included.
    pub depth: u32,
    pub(super) parent: Option<Parent>,
    /// One past the last value inside this one.
    pub(super) end: usize,
}

/// The container of a value, and the value's index in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parent {
    pub(super) value: ValueId,
    pub(super) position: usize,
}

/// The content of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// The lexeme of the number.
    Number(String),
    /// The string with its escapes decoded.
    String(String),
    /// The elements.
    Array(Vec<ValueId>),
    /// The members in the order of the text, repeated names included.
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The name with its escapes decoded.
    pub name: String,
    /// The bytes of the name, quotes included.
    pub name_span: Span,
    /// The value.
    pub value: ValueId,
}

impl Data {
    /// Returns the type of the value.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Boolean,
            Self::Number(_) => Kind::Number,
            Self::String(_) => Kind::String,
            Self::Array(_) => Kind::Array,
            Self::Object(_) => Kind::Object,
        }
    }
}

impl Document {
    /// Returns the root value.
    pub fn root(&self) -> ValueId {
        ValueId(0)
    }

    /// Iterates over all values, ordered by their start.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator + use<> {
        (0..self.values.len()).map(ValueId)
    }

    /// Iterates over the value and everything inside it, in pre-order.
    pub fn subtree(&self, id: ValueId) -> impl Iterator<Item = ValueId> + use<> {
        (id.0..self[id].end).map(ValueId)
    }

    /// Returns the elements or the members' values, in the order of the text; empty for a scalar.
    pub fn children(&self, id: ValueId) -> Vec<ValueId> {
        match &self[id].data {
            Data::Array(items) => items.clone(),
            Data::Object(members) => members.iter().map(|member| member.value).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the members of an object; empty for other values.
    pub fn members(&self, id: ValueId) -> &[Member] {
        match &self[id].data {
            Data::Object(members) => members,
            _ => &[],
        }
    }

    /// Returns the value of the first member with a name.
    pub fn member(&self, id: ValueId, name: &str) -> Option<ValueId> {
        self.members(id).iter().find(|member| member.name == name).map(|member| member.value)
    }

    /// Returns the container of the value; `None` for the root.
    pub fn parent(&self, id: ValueId) -> Option<ValueId> {
        self[id].parent.map(|parent| parent.value)
    }

    /// Returns the value's index among its siblings, from 0.
    pub fn position(&self, id: ValueId) -> Option<usize> {
        self[id].parent.map(|parent| parent.position)
    }
}

impl Index<ValueId> for Document {
    type Output = Value;

    fn index(&self, id: ValueId) -> &Value {
        &self.values[id.0]
    }
}
