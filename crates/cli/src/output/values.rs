//! Validates values and writes them, either verbatim or without insignificant white space.

use std::io;

use trommel::reader::{Config, Cursor, Error, Framing, Span, View, compact};
use trommel_base::text::is_continuation;

use super::{BUFFER_SIZE, Target, escape};

/// A larger value is written in pieces, so that no copy of it is held.
const LARGE: usize = 1 << 20;

/// The form of written values.
#[derive(Debug)]
pub(crate) struct Values {
    config: Config,
    /// True if the engine skipped containers by their brackets, so that they must be validated
    /// before they are written.
    unchecked: bool,
    verbatim: bool,
    /// True if the output goes to a terminal, which needs escapes.
    escape: bool,
    scratch: Vec<u8>,
}

/// A validated value.
#[derive(Debug)]
pub(crate) struct Checked<'v> {
    value: View<'v>,
    /// Indices before and after tokens, where a large value can be split.
    cuts: Vec<usize>,
}

impl Values {
    /// Takes the configuration of the run. `unchecked` is true if it was structural only, `escape`
    /// if a terminal shows the values.
    pub(crate) fn new(config: Config, unchecked: bool, escape: bool) -> Self {
        Self { config, unchecked, verbatim: false, escape, scratch: Vec::new() }
    }

    /// True if the output goes to a terminal, which needs escapes.
    pub(crate) fn is_escaped(&self) -> bool {
        self.escape
    }

    /// Selects verbatim output, white space included.
    pub(crate) fn verbatim(mut self, verbatim: bool) -> Self {
        self.verbatim = verbatim;
        self
    }

    /// Returns the configuration of the run.
    pub(crate) fn config(&self) -> Config {
        self.config
    }

    /// True if a value can be copied without a check: it is a single token, which the engine has
    /// validated and which has no insignificant white space.
    #[inline]
    pub(crate) fn are_verbatim(&self, value: &[u8]) -> bool {
        !self.escape && value.len() <= LARGE && !matches!(value.first(), Some(b'{' | b'['))
    }

    /// Validates a value. The engine has validated scalars and the containers that a query visits,
    /// but not those that it skipped by their brackets.
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
            // Cuts are at token boundaries, so compacting each piece alone gives the same bytes.
            if large && end - last > BUFFER_SIZE {
                checked.cuts.extend([(span.start - base) as usize, end]);
                last = end;
            }
        }
        Ok(checked)
    }

    /// Writes a validated value in one piece.
    pub(crate) fn put_whole(&mut self, value: &[u8], to: &mut dyn Target) -> io::Result<()> {
        self.put(&Checked { value: View::new(value), cuts: Vec::new() }, to)
    }

    /// Writes a value.
    pub(crate) fn put(&mut self, checked: &Checked<'_>, to: &mut dyn Target) -> io::Result<()> {
        let Checked { value, cuts } = checked;
        if cuts.is_empty() && self.are_verbatim(value.bytes()) {
            to.bytes().extend_from_slice(value.bytes());
            return to.flush_if_full();
        }
        let (mut from, mut written, mut kept) = (0, 0, 0);
        for &cut in cuts.iter().chain([&value.bytes().len()]) {
            let piece = &value.bytes()[from..cut];
            from = cut;
            // A larger piece is a single token, which has no insignificant white space.
            let token = piece.len() > LARGE && !cuts.is_empty();
            for part in parts(piece, if token { BUFFER_SIZE } else { usize::MAX }) {
                self.put_piece(part, token || self.verbatim, to)?;
                written += part.len() as u64;
                if written - kept > LARGE as u64 {
                    // Written pages need not stay in memory.
                    value.release(Span::new(value.base() + kept, value.base() + written));
                    kept = written;
                }
            }
        }
        Ok(())
    }

    fn put_piece(&mut self, piece: &[u8], verbatim: bool, to: &mut dyn Target) -> io::Result<()> {
        match (verbatim, self.escape) {
            (true, false) => to.bytes().extend_from_slice(piece),
            (false, false) => compact(piece, to.bytes()),
            (true, true) => escape::json(piece, to.bytes()),
            (false, true) => {
                self.scratch.clear();
                compact(piece, &mut self.scratch);
                escape::json(&self.scratch, to.bytes());
            }
        }
        to.flush_if_full()
    }
}

/// Splits text between characters, into parts of at least `length` bytes.
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

        fn flush_if_full(&mut self) -> io::Result<()> {
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
    fn only_white_space_is_removed() {
        let value = "{ \"a b\" :\t[ 1.0e0 ,\n-0 ] , \"a b\":\"\\u0041\" }";
        assert_eq!(put(&mut values(), value), "{\"a b\":[1.0e0,-0],\"a b\":\"\\u0041\"}");
        assert_eq!(put(&mut values().verbatim(true), value), value);
    }

    #[test]
    fn large_values_are_equal_in_pieces() {
        let string = "ü ".repeat(2 << 20);
        let many = "[ 1 , \"a b\" ] ,\n".repeat(100_000);
        let value = format!("[ {many} \"{string}\" , {{ \"{string}\" : \"\u{202e}\" }} , {many} 2 ]");
        let expected = format!(
            "[{}\"{string}\",{{\"{string}\":\"\u{202e}\"}},{}2]",
            many.replace("[ 1 , \"a b\" ] ,\n", "[1,\"a b\"],"),
            many.replace("[ 1 , \"a b\" ] ,\n", "[1,\"a b\"],")
        );
        assert!(put(&mut values(), &value) == expected);
        assert!(put(&mut values().verbatim(true), &value) == value);
        assert!(put(&mut escaped(), &value) == expected.replace('\u{202e}', "\\u202e"));
    }

    #[test]
    fn skipped_containers_are_checked_at_their_offset() {
        let error = values().check(View::at(b"[1, tru]", 100)).unwrap_err();
        assert_eq!(error.offset(), 104);
        assert!(Values::new(Config::new(), false, false).check(View::at(b"[1, tru]", 100)).is_ok());
    }

    #[test]
    fn terminals_get_escapes() {
        assert_eq!(put(&mut escaped(), "[ \"\u{9b}\u{e0041}\" ]"), "[\"\\u009b\\udb40\\udc41\"]");
    }
}
