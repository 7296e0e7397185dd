//! Values on their way out: checked, then written without their insignificant white space or as
//! they stand.

use std::io;

use trommel::reader::{Config, Cursor, Error, Framing, Span, View, compact};
use trommel_base::text::is_continuation;

use super::{PIECE, Target, escape};

/// A longer value is written in pieces, so that it need not be held twice.
const LARGE: usize = 1 << 20;

/// How values are written.
#[derive(Debug)]
pub(crate) struct Values {
    config: Config,
    /// Whether containers were only passed over, and are to be checked in full before they are
    /// handed out.
    unchecked: bool,
    raw: bool,
    /// Whether a terminal is to be kept safe.
    escape: bool,
    scratch: Vec<u8>,
}

/// A value that may be written.
#[derive(Debug)]
pub(crate) struct Checked<'v> {
    value: View<'v>,
    /// Indices where a large value can be cut: before and after tokens.
    cuts: Vec<usize>,
}

impl Values {
    /// `config` is that of the run; `unchecked` is true if it was structural only, `escape` if a
    /// terminal shows the values.
    pub(crate) fn new(config: Config, unchecked: bool, escape: bool) -> Self {
        Self { config, unchecked, raw: false, escape, scratch: Vec::new() }
    }

    /// True if a terminal is to be kept safe.
    pub(crate) fn is_escaped(&self) -> bool {
        self.escape
    }

    /// As they stand, white space and all.
    pub(crate) fn raw(mut self, raw: bool) -> Self {
        self.raw = raw;
        self
    }

    /// Whether a value needs no check and is written as it stands: a token, in which there is no
    /// insignificant white space.
    #[inline]
    pub(crate) fn are_verbatim(&self, value: &[u8]) -> bool {
        !self.escape && value.len() <= LARGE && !matches!(value.first(), Some(b'{' | b'['))
    }

    /// Checks a value. What a query visits was checked by the engine, and so were scalars; a
    /// container that was passed over by its brackets was not.
    pub(crate) fn check<'v>(&self, value: View<'v>) -> Result<Checked<'v>, Error> {
        let (bytes, base) = (value.bytes(), value.base());
        let large = bytes.len() > LARGE;
        let container = matches!(bytes.first(), Some(b'{' | b'['));
        let mut checked = Checked { value, cuts: Vec::new() };
        if !(large || container && self.unchecked) {
            return Ok(checked);
        }
        let mut cursor = Cursor::from_view(value, Framing::Single, &self.config);
        let mut last = 0;
        while cursor.advance()?.is_some() {
            let span = cursor.span();
            let end = (span.end - base) as usize;
            if large && end - last > PIECE {
                checked.cuts.extend([(span.start - base) as usize, end]);
                last = end;
            }
        }
        Ok(checked)
    }

    /// Writes a value that was checked, as a whole.
    pub(crate) fn put_whole(&mut self, value: &[u8], to: &mut dyn Target) -> io::Result<()> {
        self.put(&Checked { value: View::new(value), cuts: Vec::new() }, to)
    }

    /// Writes a value.
    pub(crate) fn put(&mut self, checked: &Checked<'_>, to: &mut dyn Target) -> io::Result<()> {
        let Checked { value, cuts } = checked;
        if cuts.is_empty() && self.are_verbatim(value.bytes()) {
            to.bytes().extend_from_slice(value.bytes());
            return to.settle();
        }
        let (mut from, mut written, mut kept) = (0, 0, 0);
        for &cut in cuts.iter().chain([&value.bytes().len()]) {
            let piece = &value.bytes()[from..cut];
            from = cut;
            // A large one is one token, which has no insignificant white space.
            let token = piece.len() > LARGE && !cuts.is_empty();
            for part in parts(piece, if token { PIECE } else { usize::MAX }) {
                self.put_piece(part, token || self.raw, to)?;
                written += part.len() as u64;
                if written - kept > LARGE as u64 {
                    // What is out need not stay in memory.
                    value.release(Span::new(value.base() + kept, value.base() + written));
                    kept = written;
                }
            }
        }
        Ok(())
    }

    fn put_piece(&mut self, piece: &[u8], raw: bool, to: &mut dyn Target) -> io::Result<()> {
        match (raw, self.escape) {
            (true, false) => to.bytes().extend_from_slice(piece),
            (false, false) => compact(piece, to.bytes()),
            (true, true) => escape::json(piece, to.bytes()),
            (false, true) => {
                self.scratch.clear();
                compact(piece, &mut self.scratch);
                escape::json(&self.scratch, to.bytes());
            }
        }
        to.settle()
    }
}

/// Cuts text between characters, into parts of this length or a little more.
fn parts(mut text: &[u8], length: usize) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let mut end = text.len().min(length);
        while text.get(end).copied().is_some_and(is_continuation) {
            end += 1;
        }
        let (part, rest) = text.split_at(end);
        text = rest;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Memory(Vec<u8>);

    impl Target for Memory {
        fn bytes(&mut self) -> &mut Vec<u8> {
            &mut self.0
        }

        fn settle(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn put(values: &mut Values, value: &str) -> String {
        let checked = values.check(View::at(value.as_bytes(), 7)).unwrap();
        let mut memory = Memory::default();
        values.put(&checked, &mut memory).unwrap();
        String::from_utf8(memory.0).unwrap()
    }

    fn values() -> Values {
        Values::new(Config::new(), true, false)
    }

    fn escaped() -> Values {
        Values::new(Config::new(), true, true)
    }

    #[test]
    fn white_space_goes_and_nothing_else() {
        let value = "{ \"a b\" :\t[ 1.0e0 ,\n-0 ] , \"a b\":\"\\u0041\" }";
        assert_eq!(put(&mut values(), value), "{\"a b\":[1.0e0,-0],\"a b\":\"\\u0041\"}");
        assert_eq!(put(&mut values().raw(true), value), value);
    }

    #[test]
    fn large_values_are_the_same_in_pieces() {
        let string = "ü ".repeat(2 << 20);
        let many = "[ 1 , \"a b\" ] ,\n".repeat(100_000);
        let value = format!("[ {many} \"{string}\" , {{ \"{string}\" : \"\u{202e}\" }} , {many} 2 ]");
        let expected = format!(
            "[{}\"{string}\",{{\"{string}\":\"\u{202e}\"}},{}2]",
            many.replace("[ 1 , \"a b\" ] ,\n", "[1,\"a b\"],"),
            many.replace("[ 1 , \"a b\" ] ,\n", "[1,\"a b\"],")
        );
        assert!(put(&mut values(), &value) == expected);
        assert!(put(&mut values().raw(true), &value) == value);
        assert!(put(&mut escaped(), &value) == expected.replace('\u{202e}', "\\u202e"));
    }

    #[test]
    fn a_container_that_was_passed_over_is_checked_at_its_offset() {
        let error = values().check(View::at(b"[1, tru]", 100)).unwrap_err();
        assert_eq!(error.offset(), 104);
        assert!(Values::new(Config::new(), false, false).check(View::at(b"[1, tru]", 100)).is_ok());
    }

    #[test]
    fn terminals_get_escapes() {
        assert_eq!(put(&mut escaped(), "[ \"\u{9b}\u{e0041}\" ]"), "[\"\\u009b\\udb40\\udc41\"]");
    }
}
