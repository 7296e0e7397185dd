//! Events of a cursor, and the payload of the current one.
//!
//! The two are separate so that an event can be kept, compared, and passed on while its text stays
//! in the window.

use trommel_scan::Text;

use crate::number::Number;

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

/// Consecutive tokens of valid JSON, from a position between two values of a container, to another
/// such position: names, strings, numbers, literals, and brackets.
#[derive(Clone, Copy, Debug)]
pub struct Tokens<'a> {
    /// The bytes from the first token to the end of the last one, and some after it.
    bytes: &'a [u8],
    starts: &'a [u16],
    base: u64,
    end: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) const fn new(bytes: &'a [u8], starts: &'a [u16], base: u64, end: usize) -> Self {
        Self { bytes, starts, base, end }
    }

    /// The bytes that [`starts`](Self::starts) are indices of. They end after the last token.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The indices of the first bytes of all tokens. The token after a name is its value.
    pub const fn starts(&self) -> &'a [u16] {
        self.starts
    }

    /// The absolute offset of the first of the [`bytes`](Self::bytes).
    pub const fn base(&self) -> u64 {
        self.base
    }

    /// The same tokens in an input that has `by` more bytes before them.
    #[must_use]
    pub const fn moved(self, by: u64) -> Self {
        Self { base: self.base.saturating_add(by), ..self }
    }

    /// Passes the tokens to a listener one by one.
    pub fn each(&self, listener: &mut impl Listener) {
        for (number, &start) in self.starts.iter().enumerate() {
            let (start, at) = (usize::from(start), self.base.saturating_add(start.into()));
            match self.bytes[start] {
                b'"' => {
                    let (end, is_name) = string_or_name(self.bytes, self.next(number));
                    let text = Text::valid(&self.bytes[start + 1..end - 1]);
                    if is_name {
                        listener.name(text, at);
                    } else {
                        listener.scalar(Scalar::String(text), at);
                    }
                }
                b'{' => listener.begin(Kind::Object, at),
                b'}' => listener.end(Kind::Object, at),
                b'[' => listener.begin(Kind::Array, at),
                b']' => listener.end(Kind::Array, at),
                _ => {
                    if let Some(scalar) = self.scalar(number) {
                        listener.scalar(scalar, at);
                    }
                }
            }
        }
    }

    /// The names and brackets among the tokens, given where they start.
    pub const fn names<'b>(&self, starts: &'b [u16]) -> NameTokens<'b>
    where
        'a: 'b,
    {
        NameTokens::new(self.bytes, starts, self.base)
    }

    /// The name that starts at the token with this number.
    #[inline]
    pub fn name(&self, number: usize) -> Text<'a> {
        self.text(number)
    }

    /// The scalar that starts at the token with this number; `None` for a bracket.
    #[inline]
    pub fn scalar(&self, number: usize) -> Option<Scalar<'a>> {
        let start = usize::from(self.starts[number]);
        Some(match self.bytes[start] {
            b'"' => Scalar::String(self.text(number)),
            b't' => Scalar::Bool(true),
            b'f' => Scalar::Bool(false),
            b'n' => Scalar::Null,
            b'{' | b'}' | b'[' | b']' => return None,
            _ => {
                let next = self.next(number);
                Scalar::Number(Number::valid(&self.bytes[start..number_end(self.bytes, next)]))
            }
        })
    }

    #[inline]
    fn text(&self, number: usize) -> Text<'a> {
        let start = usize::from(self.starts[number]);
        Text::valid(&self.bytes[start + 1..string_end(self.bytes, self.next(number)) - 1])
    }

    /// The index of the first byte of the token after another. After the last one, the index of a
    /// comma, or of the byte after a bracket.
    #[inline]
    pub fn next(&self, number: usize) -> usize {
        self.starts.get(number + 1).map_or(self.end, |&next| usize::from(next))
    }
}

/// The names and brackets among consecutive tokens of valid JSON, from a position between two
/// values of a container, to another such position.
#[derive(Clone, Copy, Debug)]
pub struct NameTokens<'a> {
    bytes: &'a [u8],
    starts: &'a [u16],
    base: u64,
}

impl<'a> NameTokens<'a> {
    pub(crate) const fn new(bytes: &'a [u8], starts: &'a [u16], base: u64) -> Self {
        Self { bytes, starts, base }
    }

    /// Passes the names and brackets to a listener one by one.
    pub fn each(&self, listener: &mut impl Listener) {
        for (number, &start) in self.starts.iter().enumerate() {
            let at = self.base.saturating_add(start.into());
            match self.bytes[usize::from(start)] {
                b'"' => listener.name(self.name(number), at),
                b'{' => listener.begin(Kind::Object, at),
                b'}' => listener.end(Kind::Object, at),
                b'[' => listener.begin(Kind::Array, at),
                _ => listener.end(Kind::Array, at),
            }
        }
    }

    /// The bytes that [`starts`](Self::starts) are indices of.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The indices of the brackets, and of the opening quotes of the names.
    pub const fn starts(&self) -> &'a [u16] {
        self.starts
    }

    /// The name with this number.
    pub fn name(&self, number: usize) -> Text<'a> {
        let rest = &self.bytes[usize::from(self.starts[number]) + 1..];
        let mut from = 0;
        while let Some(found) = memchr::memchr2(b'"', b'\\', &rest[from..]) {
            let at = from + found;
            if rest[at] == b'"' {
                return Text::from_raw(&rest[..at], from > 0);
            }
            from = at + 2;
        }
        Text::from_raw(rest, from > 0)
    }
}

/// The index after the string before `next`, the start of the next token: only white space, a
/// comma, and a colon are between them.
#[inline]
pub(crate) fn string_end(bytes: &[u8], next: usize) -> usize {
    let mut end = next;
    while bytes[end - 1] != b'"' {
        end -= 1;
    }
    end
}

/// The index after the string before `next`, and true if the string is a name: a colon follows it.
#[inline]
pub(crate) fn string_or_name(bytes: &[u8], next: usize) -> (usize, bool) {
    let (mut end, mut is_name) = (next, false);
    loop {
        match bytes[end - 1] {
            b'"' => return (end, is_name),
            b':' => is_name = true,
            _ => {}
        }
        end -= 1;
    }
}

/// The index after the number or literal before `next`, the start of the next token.
#[inline]
pub(crate) fn number_end(bytes: &[u8], next: usize) -> usize {
    let mut end = next;
    while matches!(bytes[end - 1], b' ' | b'\t' | b'\n' | b'\r' | b',') {
        end -= 1;
    }
    end
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

    /// Receives many names and brackets at once, if it wants no scalars. Returns false to receive
    /// them one by one instead, which the default does.
    #[inline]
    fn names(&mut self, _: &NameTokens<'_>) -> bool {
        false
    }

    /// Receives many tokens at once. Returns false to receive them one by one instead, which the
    /// default does.
    #[inline]
    fn tokens(&mut self, _: &Tokens<'_>) -> bool {
        false
    }

    /// Receives an event with its payload, which must belong to the same position.
    #[inline]
    fn receive(&mut self, event: Event, payload: Payload<'_>, at: u64) {
        match (event, payload) {
            (Event::Begin(kind), _) => self.begin(kind, at),
            (Event::End(kind), _) => self.end(kind, at),
            (Event::Name, Payload::Name(name)) => self.name(name, at),
            (Event::Scalar(_), Payload::Scalar(scalar)) => self.scalar(scalar, at),
            // NameTokens and scalars have payloads of their kind.
            (Event::Name | Event::Scalar(_), _) => {}
        }
    }
}
