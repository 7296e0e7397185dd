//! Strict validation by masks. It checks every rule of RFC 8259 except the encoding, and can record
//! the offsets of the tokens.
//!
//! The validator does not loop over tokens. Instead, one addition finds the first byte after each X
//! that is not white space. It adds the mask of X, shifted by one, to the mask of white space, and
//! the carries move each bit past the white space. The results are masks of the bytes that must be
//! the start of a name, the start of a value, a colon, or a comma or closing bracket. Any other
//! byte there is an error.
//!
//! The same addition with the mask of strings moves from a name's opening quote to its closing
//! quote. Only brackets are visited one by one, because only they determine if a comma belongs to
//! an object or to an array.
//!
//! The validator does not explain errors. It returns the last position, after a bracket or at a
//! comma, before which all bytes are valid. A reader that continues there token by token finds
//! either the error, or that the input is valid so far but incomplete.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

mod brackets;
mod follow;
mod group;
mod scalars;
mod tape;

use crate::backend::{BLOCK, Lanes};
use crate::blocks::{BlockAt, escaped, padded};
use crate::escapes::Surrogates;
use crate::stack::Stack;
use brackets::Brackets;
use follow::Expected;
use group::{Group, LastGroup, validate_group};
use scalars::Scalars;
use tape::RecordedTokens;
pub use tape::Tape;
pub(crate) use tape::{Names, NoTokens, Tokens};

/// The position at which validation starts: in a container, either right after an opening bracket
/// or after a value. Validation updates the stack.
#[derive(Debug)]
pub struct Validator<'s> {
    /// The open containers.
    pub stack: &'s mut Stack,
    /// Validation ends after the closing bracket that leaves this number of containers open. Must
    /// be less than the current number.
    pub floor: u32,
    /// The maximum number of open containers.
    pub limit: u32,
    /// True right after an opening bracket; false after a value.
    pub first: bool,
}

/// The end of the valid bytes. The validator's stack then has the containers that are open there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Validated {
    /// All bytes before this index are valid. It is the index right after a bracket, the index of a
    /// comma, or the start index.
    pub at: usize,
    /// True if the byte before `at` is an opening bracket.
    pub first: bool,
    /// True if validation ended because only [`floor`](Validator::floor) containers are open.
    pub left: bool,
    /// True if any inspected byte is not ASCII, before or after `at`.
    pub high: bool,
}

/// The state that one block passes to the next.
#[derive(Clone, Copy)]
struct Carry {
    /// All ones while inside a string.
    in_string: u64,
    /// 1 if a backslash escapes the next byte.
    escaped: u64,
    surrogates: Surrogates,
    /// True if the innermost open container is an object.
    in_object: bool,
    expected: Expected,
    scalars: Scalars,
    /// Not zero if any byte so far is not ASCII.
    high: u64,
}

/// The bytes of a block by kind. Except for `inside`, `quotes`, and `curly`, the
/// masks contain only bytes outside of strings.
#[derive(Clone, Copy)]
struct Masks {
    /// Strings, including the opening quote but not the closing one.
    inside: u64,
    /// Quotes that start or end a string.
    quotes: u64,
    /// White space.
    blank: u64,
    /// Opening braces and brackets.
    open: u64,
    /// Closing braces and brackets.
    close: u64,
    /// Distinguishes braces (1) from brackets (0). Other bytes have arbitrary bits.
    curly: u64,
    comma: u64,
    colon: u64,
    /// Bytes of numbers and literals, and all bytes that are not valid outside strings.
    scalar: u64,
}

impl Masks {
    /// The opening quotes.
    fn openings(&self) -> u64 {
        self.quotes & self.inside
    }

    /// The closing quotes.
    fn closings(&self) -> u64 {
        self.quotes & !self.inside
    }
}

/// Validates without recording tokens.
#[inline(always)]
pub(crate) fn validate<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut Validator<'_>,
) -> Validated {
    pass::<L, _, true>(proof, bytes, from, state, &mut NoTokens)
}

/// Validates, and records all tokens.
#[inline(always)]
pub(crate) fn index<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut Validator<'_>,
    tape: &mut Tape,
) -> Validated {
    pass::<L, _, true>(proof, bytes, from, state, tape)
}

/// Validates, and records only names and brackets.
#[inline(always)]
pub(crate) fn names<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut Validator<'_>,
    tape: &mut Tape,
) -> Validated {
    pass::<L, _, true>(proof, bytes, from, state, &mut Names(tape))
}

/// Validates `bytes` from the index `from`: in groups of blocks, which `GROUPS` permits, as long as
/// they are valid, and then block by block.
#[inline(always)]
pub(crate) fn pass<L: Lanes, T: Tokens, const GROUPS: bool>(
    proof: L::Proof,
    bytes: &[u8],
    from: usize,
    state: &mut Validator<'_>,
    tokens: &mut T,
) -> Validated {
    let (mut blocks, rest) = bytes[from..].as_chunks::<BLOCK>();
    let mut carry = Carry::at(state);
    let validated = Validated { at: from, first: state.first, left: false, high: false };
    let mut progress = Progress { validated, tokens, last_group: None };
    let mut position = BlockAt { bytes, at: from, length: BLOCK };
    while GROUPS && let Some((group, more)) = blocks.split_first_chunk() {
        let here = Group::<L> { proof, blocks: group, position };
        if !validate_group(here, &mut carry, state, &mut progress) {
            break;
        }
        (blocks, position.at) = (more, position.at + size_of_val(group));
    }
    if let Some(last) = progress.last_group {
        last.finish(&mut progress);
    }
    let mut continues = true;
    for block in blocks {
        continues = validate_block(L::load(proof, block), position, &mut carry, state, &mut progress);
        if !continues {
            break;
        }
        position.at += BLOCK;
    }
    if continues && !rest.is_empty() {
        position.length = rest.len();
        validate_block(L::load(proof, &padded(rest)), position, &mut carry, state, &mut progress);
    }
    progress.tokens.finish(progress.validated.at);
    Validated { high: carry.high != 0, ..progress.validated }
}

/// The end of the valid bytes so far, and the tokens before it.
struct Progress<'t, T> {
    validated: Validated,
    tokens: &'t mut T,
    /// The last group with a bracket or comma, until its end is entered.
    last_group: Option<LastGroup>,
}

impl Carry {
    fn at(state: &Validator<'_>) -> Self {
        Self {
            in_string: 0,
            escaped: 0,
            surrogates: Surrogates::default(),
            in_object: state.stack.in_object(),
            expected: Expected::at(state.first, state.stack.in_object()),
            scalars: Scalars::default(),
            high: 0,
        }
    }
}

/// Validates a block. Returns true if validation continues after it.
#[inline(always)]
fn validate_block<L: Lanes, T: Tokens>(
    lanes: L,
    position: BlockAt<'_>,
    carry: &mut Carry,
    state: &mut Validator<'_>,
    Progress { validated, tokens, .. }: &mut Progress<'_, T>,
) -> bool {
    carry.high |= lanes.high();
    let (masks, mut bad) = classify(lanes, position, carry);
    let brackets = Brackets::pass(&masks, carry.in_object, state);
    carry.in_object = brackets.ends_within;
    let scalars = carry.scalars.within(masks.scalar);
    let checked = carry.expected.check(&masks, brackets.in_object, scalars);
    bad |= checked.bad;
    if scalars.any != 0 {
        bad |= carry.scalars.check(lanes, position, scalars);
    }
    // `until` ends with the bracket at which validation ends. Later errors are ignored, because the
    // bytes there are not part of the container.
    if bad & brackets.until != 0 || brackets.is_invalid {
        brackets.undo(masks.open, masks.curly, state.stack);
        return false;
    }
    let strings_and_scalars = match T::WANTED {
        RecordedTokens::Names => checked.names,
        RecordedTokens::All | RecordedTokens::None => masks.openings() | scalars.starts,
    };
    let started = (strings_and_scalars | masks.open | masks.close) & brackets.until;
    tokens.add(position.at, started);
    let stops = (masks.open | masks.close | masks.comma) & brackets.until;
    if stops != 0 {
        let last = stops.ilog2();
        validated.first = masks.open >> last & 1 == 1;
        validated.at = position.at + last as usize + usize::from(masks.comma >> last & 1 == 0);
        // Tokens that start after the last stop are dropped: the next call reads them again. None
        // of them is a bracket. They may be incomplete, or names without their values.
        tokens.keep_all_but((started & (u64::MAX << last << 1)).count_ones());
    }
    validated.left = brackets.has_left;
    !brackets.has_left
}

/// Classifies the bytes of a block. The second result has the bytes that are invalid within
/// strings: control characters and invalid escapes.
#[inline(always)]
fn classify<L: Lanes>(lanes: L, position: BlockAt<'_>, carry: &mut Carry) -> (Masks, u64) {
    let backslashes = lanes.eq(b'\\');
    let (escapes, next) = escaped(backslashes, carry.escaped);
    carry.escaped = next;
    let quotes = lanes.eq(b'"') & !escapes;
    let inside = lanes.prefix_xor(quotes) ^ carry.in_string;
    carry.in_string = (inside.cast_signed() >> 63).cast_unsigned();
    let outside = !(inside | quotes);
    let control = lanes.below(0x20);
    let blank = lanes.spaces() & outside;
    let mut bad = control & inside;
    if escapes & inside != 0 {
        bad |= bad_escapes(lanes, position, escapes & inside, &mut carry.surrogates);
    }
    let folded = lanes.with_bit5();
    let open = folded.eq(b'{') & outside;
    let close = folded.eq(b'}') & outside;
    let comma = lanes.eq(b',') & outside;
    let colon = lanes.eq(b':') & outside;
    let scalar = outside & !(blank | open | close | comma | colon);
    let curly = lanes.bit5();
    (Masks { inside, quotes, blank, open, close, curly, comma, colon, scalar }, bad)
}

/// Returns the invalid bytes among `escapes`, the bytes after backslashes that start an escape.
#[inline(always)]
fn bad_escapes<L: Lanes>(lanes: L, position: BlockAt<'_>, escapes: u64, surrogates: &mut Surrogates) -> u64 {
    let mut unicode = lanes.eq(b'u') & escapes;
    let single = lanes.eq(b'"')
        | lanes.eq(b'\\')
        | lanes.eq(b'/')
        | lanes.eq(b'b')
        | lanes.eq(b'f')
        | lanes.eq(b'n')
        | lanes.eq(b'r')
        | lanes.eq(b't');
    let mut bad = escapes & !(unicode | single);
    while unicode != 0 {
        let bit = unicode.trailing_zeros();
        if !surrogates.accept(position.bytes, position.at + bit as usize) {
            bad |= 1 << bit;
        }
        unicode &= unicode - 1;
    }
    bad
}
