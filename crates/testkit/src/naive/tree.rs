//! The tree of a document.

use std::ops::{Index, Range};

/// A half-open range of absolute byte offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset one past the last byte.
    pub end: u64,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start: start as u64, end: end as u64 }
    }

    /// The span as a range to slice the whole input with.
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

    /// The name JSON Schema gives the type.
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

/// Names a value of one [`Document`]; ordered as the values begin in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub(super) usize);

/// A document: all its values in the order in which they begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    pub(super) values: Vec<Value>,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The bytes of the value, without white space around it.
    pub span: Span,
    /// The value itself.
    pub data: Data,
    /// Number of values from the root to this one, both counted.
    pub depth: u32,
    pub(super) parent: Option<Parent>,
    /// One past the last value inside this one.
    pub(super) end: usize,
}

/// The container of a value, and the value's place in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parent {
    pub(super) value: ValueId,
    pub(super) position: usize,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// The number as it is spelt.
    Number(String),
    /// The string, escapes undone.
    String(String),
    /// The elements.
    Array(Vec<ValueId>),
    /// The members in the order of the text, repeated names included.
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The name, escapes undone.
    pub name: String,
    /// The bytes of the name, quotes included.
    pub name_span: Span,
    /// The value.
    pub value: ValueId,
}

impl Data {
    /// The type of the value.
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
    /// The value that the text is.
    pub fn root(&self) -> ValueId {
        ValueId(0)
    }

    /// All values in the order in which they begin.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ValueId> + ExactSizeIterator + use<> {
        (0..self.values.len()).map(ValueId)
    }

    /// The value and everything inside it, in pre-order.
    pub fn subtree(&self, id: ValueId) -> impl Iterator<Item = ValueId> + use<> {
        (id.0..self[id].end).map(ValueId)
    }

    /// The elements or the members' values, in the order of the text; none for a scalar.
    pub fn children(&self, id: ValueId) -> Vec<ValueId> {
        match &self[id].data {
            Data::Array(items) => items.clone(),
            Data::Object(members) => members.iter().map(|member| member.value).collect(),
            _ => Vec::new(),
        }
    }

    /// The members of an object; none for anything else.
    pub fn members(&self, id: ValueId) -> &[Member] {
        match &self[id].data {
            Data::Object(members) => members,
            _ => &[],
        }
    }

    /// The value of the first member of that name.
    pub fn member(&self, id: ValueId, name: &str) -> Option<ValueId> {
        self.members(id).iter().find(|member| member.name == name).map(|member| member.value)
    }

    /// The container that the value stands in; none for the root.
    pub fn parent(&self, id: ValueId) -> Option<ValueId> {
        self[id].parent.map(|parent| parent.value)
    }

    /// The value's place among its siblings, from 0.
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
