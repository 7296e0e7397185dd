//! What a cursor yields: events, and the payload of the current one.
//!
//! The two are apart so that an event can be kept, compared and passed on while the text it came
//! with stays where it is.

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

    /// The name JSON Schema gives the type.
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

    /// Whether values of this type hold other values.
    pub const fn is_container(self) -> bool {
        matches!(self, Self::Array | Self::Object)
    }
}

/// One step of a cursor. Small and `Copy`; the text stands in [`Payload`] and is looked at only
/// when asked for.
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
    /// A value that is no container.
    Scalar(Kind),
}

/// What the current event carries, borrowed from the window until the cursor moves.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "follows Event")]
pub enum Payload<'a> {
    /// Nothing: a container begins or ends.
    None,
    /// The name of a member.
    Name(Text<'a>),
    /// A value that is no container.
    Scalar(Scalar<'a>),
}

/// A value that is no container.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "follows Kind")]
pub enum Scalar<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is spelt.
    Number(Number<'a>),
    /// A string, as it is spelt.
    String(Text<'a>),
}

impl Scalar<'_> {
    /// The type.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Bool,
            Self::Number(_) => Kind::Number,
            Self::String(_) => Kind::String,
        }
    }
}

/// Who is [told](crate::Cursor::listen) of events, each with the absolute offset where its token
/// begins.
pub trait Listener {
    /// Whether it wants to be told of values that have no parts. Where not, everything else is told
    /// for less; it is asked when it begins to listen.
    fn wants_scalars(&self) -> bool {
        true
    }

    /// A container begins.
    fn begin(&mut self, kind: Kind, at: u64);

    /// A container ends.
    fn end(&mut self, kind: Kind, at: u64);

    /// A member's name.
    fn name(&mut self, name: Text<'_>, at: u64);

    /// A value that has no parts.
    fn scalar(&mut self, scalar: Scalar<'_>, at: u64);

    /// An event with its payload, which are those of one place.
    #[inline]
    fn hear(&mut self, event: Event, payload: Payload<'_>, at: u64) {
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
