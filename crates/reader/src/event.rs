//! Events of a cursor, and the payload of the current one.
//!
//! The two are separate so that an event can be kept, compared, and passed on while its text stays
//! in the window.

use crate::number::Number;
use crate::text::Text;

/// The six types of a JSON value (RFC 8259, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "JSON has six types and will not get a seventh")]
pub enum Kind {
    /// `[…]`
    Array,
    /// `true` or `false`
    Bool,
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
        [Self::Array, Self::Bool, Self::Null, Self::Number, Self::Object, Self::String];

    /// The name of the kind in JSON Schema.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Bool => "boolean",
            Self::Null => "null",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }

    /// True if values of this kind contain other values.
    pub const fn is_container(self) -> bool {
        matches!(self, Self::Array | Self::Object)
    }
}

/// One step of a cursor. Small and `Copy`; the text is in [`Payload`], and is decoded on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the grammar of JSON is closed, and consumers match on all of it"
)]
pub enum Event {
    /// An array or object begins.
    Begin(Kind),
    /// The innermost open array or object ends.
    End(Kind),
    /// The name of a member; its value is the next event.
    Name,
    /// A value that is not a container.
    Scalar(Kind),
}

/// The text or value of the current event, borrowed from the window until the cursor moves.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "follows Event")]
pub enum Payload<'a> {
    /// None: a container begins or ends.
    None,
    /// The name of a member.
    Name(Text<'a>),
    /// A value that is not a container.
    Scalar(Scalar<'a>),
}

/// A value that is not a container.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "follows Kind")]
pub enum Scalar<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as written.
    Number(Number<'a>),
    /// A string, as written.
    String(Text<'a>),
}

impl Scalar<'_> {
    /// The kind.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Bool,
            Self::Number(_) => Kind::Number,
            Self::String(_) => Kind::String,
        }
    }
}

/// Receives [events](crate::Cursor::listen), each with the absolute offset of its token.
pub trait Listener {
    /// True if it needs scalars. Without them, all other events cost less. Called once, when
    /// listening starts.
    fn wants_scalars(&self) -> bool {
        true
    }

    /// A container begins.
    fn begin(&mut self, kind: Kind, at: u64);

    /// A container ends.
    fn end(&mut self, kind: Kind, at: u64);

    /// A member's name.
    fn name(&mut self, name: Text<'_>, at: u64);

    /// A scalar.
    fn scalar(&mut self, scalar: Scalar<'_>, at: u64);

    /// Receives an event with its payload, which must belong to the same position.
    #[inline]
    fn receive(&mut self, event: Event, payload: Payload<'_>, at: u64) {
        match (event, payload) {
            (Event::Begin(kind), _) => self.begin(kind, at),
            (Event::End(kind), _) => self.end(kind, at),
            (Event::Name, Payload::Name(name)) => self.name(name, at),
            (Event::Scalar(_), Payload::Scalar(scalar)) => self.scalar(scalar, at),
            // Names and scalars have payloads of their kind.
            (Event::Name | Event::Scalar(_), _) => {}
        }
    }
}
