//! The algorithms over masks, written once for all backends.
//!
//! All of them read forward in blocks of 64 bytes from wherever they are asked to begin; the last block is filled up with
//! spaces, which mean nothing to any of them. They take any bytes, JSON or not.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use super::lanes::{BLOCK, Lanes};
use super::seek::{Seeking, Sought};
use super::tally::Tallying;

/// What lies between blocks while brackets are counted: whether a string is open, and how deep we are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Skip {
    /// All ones while inside a string.
    pub(super) in_string: u64,
    /// 1 when the next byte is escaped by a backslash before it.
    pub(super) escaped: u64,
    /// Containers open, counted from the one to be left.
    pub(crate) depth: u64,
    /// Objects opened less objects closed; zero at the end of a balanced container.
    pub(crate) objects: i64,
    /// Greatest depth allowed.
    pub(crate) limit: u64,
}

impl Skip {
    /// At a place outside of strings, `depth` containers deep, of which `objects` are objects.
    pub(crate) const fn new(depth: u64, objects: i64, limit: u64) -> Self {
        Self { in_string: 0, escaped: 0, depth, objects, limit }
    }

    /// Whether the bytes seen so far end inside a string.
    pub(crate) const fn in_string(&self) -> bool {
        self.in_string != 0
    }
}

/// How a skip went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skipped {
    /// The container ended; the index is one past its closing bracket.
    Done(usize),
    /// All bytes were used up.
    More,
    /// The bracket at this index opens one container too many.
    TooDeep(usize),
}

/// Where the plain part of a string ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    /// Index of the first quote, backslash or control character, or the number of bytes when there is none.
    pub(crate) end: usize,
    /// Whether a byte before it is not ASCII.
    pub(crate) high: bool,
}

/// The entry points of a backend, chosen once.
#[derive(Debug)]
pub(crate) struct Kernels {
    /// Past the bracket that brings [`Skip::depth`] to zero.
    pub(crate) skip: fn(&[u8], usize, &mut Skip) -> Skipped,
    /// The same, counting what is passed.
    pub(crate) tally: fn(&[u8], usize, &mut Tallying) -> Skipped,
    /// To the next member of a name, or past a bracket.
    pub(crate) seek: fn(&[u8], usize, &mut Seeking<'_>) -> Sought,
    /// To the end of the plain part of a string.
    pub(crate) plain: fn(&[u8], usize) -> Plain,
    /// To the first byte that is special in a string, or is not ASCII.
    pub(crate) ascii: fn(&[u8], usize) -> usize,
    /// How many bytes begin a character.
    pub(crate) chars: fn(&[u8]) -> u64,
    /// To the first byte that is no white space.
    pub(crate) space: fn(&[u8], usize) -> usize,
    /// Appends all but insignificant white space.
    pub(crate) compact: fn(&[u8], &mut Vec<u8>),
}

/// Makes the table of entry points for a backend, each compiled with the backend's features.
macro_rules! instantiate {
    ($lanes:ident, $proof:ident, $features:literal) => {
        pub(crate) static KERNELS: kernels::Kernels = {
            #[target_feature(enable = $features)]
            fn skip(bytes: &[u8], from: usize, state: &mut kernels::Skip) -> kernels::Skipped {
                kernels::skip::<$lanes>($proof(()), bytes, from, state)
            }
            #[target_feature(enable = $features)]
            fn tally(bytes: &[u8], from: usize, state: &mut tally::Tallying) -> kernels::Skipped {
                tally::tally::<$lanes>($proof(()), bytes, from, state)
            }
            #[target_feature(enable = $features)]
            fn seek(bytes: &[u8], from: usize, state: &mut seek::Seeking<'_>) -> seek::Sought {
                seek::seek::<$lanes>($proof(()), bytes, from, state)
            }
            #[target_feature(enable = $features)]
            fn plain(bytes: &[u8], from: usize) -> kernels::Plain {
                kernels::plain::<$lanes>($proof(()), bytes, from)
            }
            #[target_feature(enable = $features)]
            fn ascii(bytes: &[u8], from: usize) -> usize {
                kernels::ascii::<$lanes>($proof(()), bytes, from)
            }
            #[target_feature(enable = $features)]
            fn chars(bytes: &[u8]) -> u64 {
                kernels::chars::<$lanes>($proof(()), bytes)
            }
            #[target_feature(enable = $features)]
            fn space(bytes: &[u8], from: usize) -> usize {
                kernels::space::<$lanes>($proof(()), bytes, from)
            }
            #[target_feature(enable = $features)]
            fn compact(bytes: &[u8], out: &mut Vec<u8>) {
                kernels::compact::<$lanes>($proof(()), bytes, out)
            }
            kernels::Kernels {
                // SAFETY: the table is handed out only after the features were detected.
                skip: |bytes, from, state| unsafe { skip(bytes, from, state) },
                // SAFETY: as above.
                tally: |bytes, from, state| unsafe { tally(bytes, from, state) },
                // SAFETY: as above.
                seek: |bytes, from, state| unsafe { seek(bytes, from, state) },
                // SAFETY: as above.
                plain: |bytes, from| unsafe { plain(bytes, from) },
                // SAFETY: as above.
                ascii: |bytes, from| unsafe { ascii(bytes, from) },
                // SAFETY: as above.
                chars: |bytes| unsafe { chars(bytes) },
                // SAFETY: as above.
                space: |bytes, from| unsafe { space(bytes, from) },
                // SAFETY: as above.
                compact: |bytes, out| unsafe { compact(bytes, out) },
            }
        };
    };
    ($lanes:ident, ()) => {
        pub(crate) static KERNELS: kernels::Kernels = kernels::Kernels {
            skip: |bytes, from, state| kernels::skip::<$lanes>((), bytes, from, state),
            tally: |bytes, from, state| tally::tally::<$lanes>((), bytes, from, state),
            seek: |bytes, from, state| seek::seek::<$lanes>((), bytes, from, state),
            plain: |bytes, from| kernels::plain::<$lanes>((), bytes, from),
            ascii: |bytes, from| kernels::ascii::<$lanes>((), bytes, from),
            chars: |bytes| kernels::chars::<$lanes>((), bytes),
            space: |bytes, from| kernels::space::<$lanes>((), bytes, from),
            compact: |bytes, out| kernels::compact::<$lanes>((), bytes, out),
        };
    };
}
pub(super) use instantiate;

/// The last bytes, filled up with spaces.
#[inline(always)]
pub(super) fn padded(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [b' '; BLOCK];
    for (to, &byte) in block.iter_mut().zip(rest) {
        *to = byte;
    }
    block
}

/// Every second bit.
const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;

/// The bytes that a backslash before them escapes, and whether the first byte of the next block is one.
#[inline(always)]
fn escaped(backslashes: u64, carry: u64) -> (u64, u64) {
    if backslashes == 0 {
        return (carry, 0);
    }
    // A run of backslashes escapes every second of its bytes: find the runs that start on an odd bit, and flip
    // (G. Langdale, D. Lemire, Parsing Gigabytes of JSON per Second, 2019, section 3.1.1; here in simdjson's later form).
    let starters = backslashes & !carry;
    let follows = starters << 1;
    let maybe = follows | ODD;
    let codes = maybe.wrapping_sub(starters);
    let flipped = codes ^ ODD;
    let escaped = flipped ^ (backslashes | carry);
    (escaped, (flipped & backslashes) >> 63)
}

/// Inside-string bits of a block (from opening quote to before the closing one), carrying over to the next, and the quotes.
///
/// Of a block that is filled up only `length` bytes are real. The filling holds no quote, so that the string state
/// after it is the one before it; what the last real byte escapes is the first byte of the filling.
#[inline(always)]
pub(super) fn strings<L: Lanes>(
    lanes: L,
    length: usize,
    in_string: &mut u64,
    escape: &mut u64,
) -> (u64, u64) {
    let (escaped, next) = escaped(lanes.eq(b'\\'), *escape);
    let quotes = lanes.eq(b'"') & !escaped;
    let inside = lanes.prefix_xor(quotes) ^ *in_string;
    *escape = if length < BLOCK { escaped >> length & 1 } else { next };
    *in_string = (inside.cast_signed() >> 63).cast_unsigned();
    (inside, quotes)
}

#[inline(always)]
pub(super) fn skip<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize, state: &mut Skip) -> Skipped {
    let (blocks, rest) = bytes.get(from..).unwrap_or_default().as_chunks::<BLOCK>();
    let mut carry = *state;
    let mut at = from;
    for block in blocks {
        if let Some(stop) = skip_block(L::load(proof, block), BLOCK, &mut carry) {
            *state = carry;
            return stop.at(at);
        }
        at += BLOCK;
    }
    let stop = if rest.is_empty() {
        None
    } else {
        skip_block(L::load(proof, &padded(rest)), rest.len(), &mut carry)
    };
    *state = carry;
    stop.map_or(Skipped::More, |stop| stop.at(at))
}

/// Past a block, or to a bracket in it.
#[inline(always)]
fn skip_block<L: Lanes>(lanes: L, length: usize, state: &mut Skip) -> Option<Stop> {
    let (inside, _) = strings(lanes, length, &mut state.in_string, &mut state.escaped);
    let folded = lanes.with_bit5();
    let open = folded.eq(b'{') & !inside;
    let close = folded.eq(b'}') & !inside;
    if open | close == 0 {
        return None;
    }
    let curly = lanes.bit5();
    let opens = u64::from(open.count_ones());
    let closes = u64::from(close.count_ones());
    if closes >= state.depth || state.depth + opens > state.limit {
        return walk(state, open, close, curly);
    }
    state.depth = state.depth + opens - closes;
    state.objects += i64::from((open & curly).count_ones()) - i64::from((close & curly).count_ones());
    None
}

/// A place within a block where a skip stops.
#[derive(Clone, Copy)]
pub(super) enum Stop {
    Done(u32),
    TooDeep(u32),
}

impl Stop {
    pub(super) fn at(self, block: usize) -> Skipped {
        match self {
            Self::Done(bit) => Skipped::Done(block + bit as usize + 1),
            Self::TooDeep(bit) => Skipped::TooDeep(block + bit as usize),
        }
    }

    /// The number of the bit, from 0.
    pub(super) const fn bit(self) -> u32 {
        match self {
            Self::Done(bit) | Self::TooDeep(bit) => bit,
        }
    }
}

/// One bracket after the other, where the container may end or become too deep within the block.
fn walk(state: &mut Skip, open: u64, close: u64, curly: u64) -> Option<Stop> {
    let mut brackets = open | close;
    while brackets != 0 {
        let bit = brackets.trailing_zeros();
        let one = 1 << bit;
        let object = i64::from(curly & one != 0);
        if open & one != 0 {
            state.depth += 1;
            state.objects += object;
            if state.depth > state.limit {
                return Some(Stop::TooDeep(bit));
            }
        } else {
            state.depth -= 1;
            state.objects -= object;
            if state.depth == 0 {
                return Some(Stop::Done(bit));
            }
        }
        brackets &= brackets - 1;
    }
    None
}

#[inline(always)]
pub(super) fn plain<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize) -> Plain {
    let (blocks, rest) = bytes.get(from..).unwrap_or_default().as_chunks::<BLOCK>();
    let mut at = from;
    let mut high = 0;
    for block in blocks {
        if let Some(bit) = plain_block(L::load(proof, block), &mut high) {
            return Plain { end: at + bit, high: high != 0 };
        }
        at += BLOCK;
    }
    if !rest.is_empty()
        && let Some(bit) = plain_block(L::load(proof, &padded(rest)), &mut high)
    {
        return Plain { end: at + bit, high: high != 0 };
    }
    Plain { end: bytes.len(), high: high != 0 }
}

/// To the first special byte of a block, noting whether one before it is not ASCII.
#[inline(always)]
fn plain_block<L: Lanes>(lanes: L, high: &mut u64) -> Option<usize> {
    let special = lanes.eq(b'"') | lanes.eq(b'\\') | lanes.below(0x20);
    let not_ascii = lanes.high();
    if special == 0 {
        *high |= not_ascii;
        return None;
    }
    let bit = special.trailing_zeros();
    *high |= not_ascii & ((1 << bit) - 1);
    Some(bit as usize)
}

#[inline(always)]
pub(super) fn ascii<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize) -> usize {
    let (blocks, rest) = bytes.get(from..).unwrap_or_default().as_chunks::<BLOCK>();
    let mut at = from;
    for block in blocks {
        let special = L::load(proof, block).special();
        if special != 0 {
            return at + special.trailing_zeros() as usize;
        }
        at += BLOCK;
    }
    let special = L::load(proof, &padded(rest)).special();
    if special == 0 { bytes.len() } else { at + special.trailing_zeros() as usize }
}

#[inline(always)]
pub(super) fn chars<L: Lanes>(proof: L::Proof, bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut count = 0;
    for block in blocks {
        count += u64::from(L::load(proof, block).leads().count_ones());
    }
    // What the rest is filled up with is characters.
    let filling = (BLOCK - rest.len()) as u64;
    count + u64::from(L::load(proof, &padded(rest)).leads().count_ones()) - filling
}

/// White space of RFC 8259.
#[inline(always)]
pub(super) fn spaces<L: Lanes>(lanes: L) -> u64 {
    lanes.eq(b' ') | lanes.eq(b'\n') | lanes.eq(b'\r') | lanes.eq(b'\t')
}

#[inline(always)]
pub(super) fn space<L: Lanes>(proof: L::Proof, bytes: &[u8], from: usize) -> usize {
    let (blocks, rest) = bytes.get(from..).unwrap_or_default().as_chunks::<BLOCK>();
    let mut at = from;
    for block in blocks {
        let other = !spaces(L::load(proof, block));
        if other != 0 {
            return at + other.trailing_zeros() as usize;
        }
        at += BLOCK;
    }
    // What the rest is filled up with is space.
    let other = !spaces(L::load(proof, &padded(rest)));
    if other == 0 { bytes.len() } else { at + other.trailing_zeros() as usize }
}

#[inline(always)]
pub(super) fn compact<L: Lanes>(proof: L::Proof, bytes: &[u8], out: &mut Vec<u8>) {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let (mut in_string, mut escape) = (0, 0);
    for block in blocks {
        let lanes = L::load(proof, block);
        let (inside, _) = strings(lanes, BLOCK, &mut in_string, &mut escape);
        let dropped = spaces(lanes) & !inside;
        if dropped == 0 {
            out.extend_from_slice(block);
        } else {
            keep(block, !dropped, out);
        }
    }
    if !rest.is_empty() {
        let lanes = L::load(proof, &padded(rest));
        let (inside, _) = strings(lanes, rest.len(), &mut in_string, &mut escape);
        keep(rest, !(spaces(lanes) & !inside), out);
    }
}

/// Appends the bytes whose bit is set, run by run.
fn keep(block: &[u8], mut kept: u64, out: &mut Vec<u8>) {
    while kept != 0 {
        let start = kept.trailing_zeros();
        let run = (kept >> start).trailing_ones();
        let (from, to) = (start as usize, (start + run) as usize);
        out.extend_from_slice(block.get(from..to.min(block.len())).unwrap_or_default());
        if to >= BLOCK {
            return;
        }
        kept = kept >> to << to;
    }
}
