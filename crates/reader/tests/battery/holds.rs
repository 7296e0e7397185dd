//! Tests of holds and rewinds, in memory, in the window, and in a temporary file.

use trommel_reader::{
    Config, Cursor, Error, ErrorKind, Event, Framing, Kind, Limit, Limits, Mark, Result, Span, Validation,
    View,
};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Layout, Random, Shape, document, stream};
use trommel_testkit::naive;
use trommel_testkit::repeat::Repeat;

use super::trace::payload;

/// One step of a walk, with everything that is visible after it.
#[derive(Debug, PartialEq)]
struct Step {
    what: &'static str,
    span: Span,
    offset: u64,
    depth: u32,
    payload: Vec<u8>,
    held: Option<Vec<u8>>,
}

/// A walk by random moves with random rewinds.
struct Walker<'c, 'a> {
    cursor: &'c mut Cursor<'a>,
    random: Random,
    open: Vec<Kind>,
    /// Marks with the containers that were open at each.
    marks: Vec<(Mark, Vec<Kind>, bool)>,
    /// True if a value comes next.
    before_value: bool,
    steps: Vec<Step>,
}

impl Walker<'_, '_> {
    fn walk(&mut self) -> Result<()> {
        while self.cursor.next_record()? {
            self.open.clear();
            self.marks.clear();
            self.before_value = true;
            self.look("record");
            while self.before_value || !self.open.is_empty() {
                self.step()?;
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<()> {
        // A mark is valid while its container is open and has not been replaced by another.
        let depth = self.open.len();
        match self.random.weighted(&[60, 12, 8, 8, 6]) {
            1 if self.marks.len() < 6 => {
                let mark = self.cursor.hold();
                self.marks.push((mark, self.open.clone(), self.before_value));
                self.look("hold");
            }
            2 => {
                if let Some((mark, open, before_value)) = self.marks.last() {
                    self.cursor.rewind(mark);
                    self.open.clone_from(open);
                    self.before_value = *before_value;
                    self.look("rewind");
                }
            }
            3 if !self.marks.is_empty() => {
                self.cursor.release();
                self.marks.pop();
                self.look("release");
            }
            4 if depth > 1 && self.marks.iter().all(|(_, open, _)| open.len() < depth) => {
                self.cursor.leave()?;
                self.open.pop();
                self.before_value = false;
                self.look("leave");
            }
            _ => self.move_randomly()?,
        }
        Ok(())
    }

    fn move_randomly(&mut self) -> Result<()> {
        if self.before_value {
            self.before_value = false;
            if self.random.chance(25) {
                self.cursor.skip_value()?;
                self.look("skip");
            } else {
                if let Event::Begin(kind) = self.cursor.begin_value()? {
                    self.open.push(kind);
                }
                self.look("value");
            }
            return Ok(());
        }
        let Some(kind) = self.open.last() else { return Ok(()) };
        let in_object = *kind == Kind::Object;
        let more = if in_object { self.cursor.next_member()? } else { self.cursor.next_element()? };
        if more {
            self.before_value = true;
        } else {
            self.open.pop();
            // Marks inside it are invalid once another container is entered.
            let depth = self.open.len();
            while self.marks.last().is_some_and(|(_, open, _)| open.len() > depth) {
                self.cursor.release();
                self.marks.pop();
            }
        }
        self.look(if more { "child" } else { "end" });
        Ok(())
    }

    fn look(&mut self, what: &'static str) {
        let held = self.marks.first().map(|(mark, ..)| {
            let span = Span::new(mark.offset(), self.cursor.offset().max(mark.offset()));
            self.cursor.bytes(span).unwrap().to_vec()
        });
        let cursor = &self.cursor;
        let (span, offset, depth) = (cursor.span(), cursor.offset(), cursor.depth());
        self.steps.push(Step { what, span, offset, depth, payload: payload(cursor), held });
    }
}

fn walk(mut cursor: Cursor<'_>, seed: u64) -> (Vec<Step>, Option<(ErrorKind, u64)>) {
    let random = Random::new(seed);
    let (open, marks, steps) = (Vec::new(), Vec::new(), Vec::new());
    let mut walker = Walker { cursor: &mut cursor, random, open, marks, before_value: false, steps };
    let outcome = walker.walk();
    (walker.steps, outcome.err().map(|error| (error.kind(), error.offset())))
}

fn config(change: impl FnOnce(&mut Limits)) -> Config {
    let mut limits = Limits::default();
    change(&mut limits);
    Config::new().limits(limits)
}

/// R1: random walks with rewinds see the same on a stream as on a slice, whether the held bytes fit
/// in memory or go to the temporary file.
#[test]
fn random_walks_with_rewinds() {
    let framings = [
        (naive::Framing::Lines, Framing::Lines),
        (naive::Framing::JsonSeq, Framing::JsonSeq),
        (naive::Framing::Concatenated, Framing::Concatenated),
    ];
    let mut back = 0;
    for seed in 0..cases(500, 20_000) {
        let (written, framing) = framings[seed as usize % 3];
        let shape = Shape { values: 60, layout: Layout::Random, ..Shape::default() };
        let text = stream(seed, &shape, written, 3);
        let expected = walk(Cursor::from_view(View::new(&text), framing, &Config::new()), seed);
        back += expected.0.iter().filter(|step| step.what == "rewind").count();
        assert_eq!(expected.1, None, "seed {seed}");
        for held in [0, 1 << 20] {
            let config = config(|limits| limits.held_bytes = held);
            let size = 1 + (seed as usize * 31) % 200;
            let reader = Chunks::new(text.as_slice(), &[size, 7]);
            let got = walk(Cursor::from_reader(reader, framing, &config.window(size)), seed);
            let differs = got.0.iter().zip(&expected.0).position(|(got, expected)| got != expected);
            if let Some(at) = differs {
                panic!("seed {seed} held {held}: {:?} {:?}", got.0[at], expected.0[at]);
            }
            assert_eq!(got, expected, "seed {seed} held {held}");
        }
    }
    assert!(back > 1_500, "{back}");
}

/// A large record is held, read a second and a third time, and its bytes are readable, far beyond
/// the memory limit.
#[test]
fn a_large_record_is_held_in_a_file() {
    let count = 40_000;
    let text = Repeat::records(r#"{"id":1,"name":"é\n"}"#, count);
    let length = text.len();
    let config = config(|limits| limits.held_bytes = 1 << 16);
    let mut cursor = Cursor::from_reader(text.clone(), Framing::Auto, &config);
    assert!(cursor.next_record().unwrap());
    let mark = cursor.hold();
    for _ in 0..3 {
        assert_eq!(cursor.skip_value().unwrap(), Span::new(0, length));
        let item = text.item(count - 1);
        assert_eq!(
            cursor.bytes(Span::new(item.start, item.end)),
            Some(r#"{"id":1,"name":"é\n"}"#.as_bytes())
        );
        assert_eq!(cursor.bytes(Span::new(0, 9)), Some(&b"{\"data\":{"[..]));
        assert_eq!(cursor.bytes(Span::new(0, length + 1)), None);
        cursor.forget(Span::new(0, length));
        cursor.rewind(&mark);
    }
    cursor.release();
    cursor.skip_value().unwrap();
    assert!(!cursor.next_record().unwrap());
}

/// After the hold, the file is dropped for the window again; offsets, lines, and columns continue.
#[test]
fn the_file_is_dropped_after_the_hold() {
    let line = format!("[{}]\n", "1,\n".repeat(30_000).trim_end_matches(",\n"));
    let text = line.repeat(4);
    let config = config(|limits| limits.held_bytes = 1 << 16);
    let text = format!("{text}[1,]");
    let mut cursor = Cursor::from_reader(text.as_bytes(), Framing::Concatenated, &config);
    for record in 0..4 {
        assert!(cursor.next_record().unwrap());
        let start = cursor.record_start();
        assert_eq!(start, record * line.len() as u64);
        let mark = cursor.hold();
        cursor.skip_value().unwrap();
        cursor.rewind(&mark);
        assert_eq!(cursor.skip_value().unwrap().start, start);
        cursor.release();
    }
    let error = cursor.next_record().and_then(|_| cursor.skip_value()).unwrap_err();
    let place = error.line_column().unwrap();
    assert_eq!((place.line, place.column), (4 * 30_000 + 1, 4));
}

/// Held bytes are bounded: beyond the spool limit an error names it, and nothing more is read.
#[test]
fn the_spool_has_a_limit() {
    let config = config(|limits| {
        limits.held_bytes = 1 << 16;
        limits.spool_bytes = 1 << 20;
    });
    let mut cursor = Cursor::from_reader(Repeat::new("[", "[1],", "", "", 1 << 40), Framing::Lines, &config);
    assert!(cursor.next_record().unwrap());
    let mark = cursor.hold();
    let error = cursor.skip_value().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit(Limit::SpoolBytes(1 << 20)));
    assert!(error.is_limit() && !error.is_syntax());
    assert!((1 << 20..(1 << 20) + (1 << 17)).contains(&error.offset()), "{error}");
    // The error is final, even with a line end after it.
    cursor.rewind(&mark);
    assert_eq!(cursor.next_record().unwrap_err().kind(), error.kind());
}

/// Without a hold, no bytes go to the file: a string as long as the token limit stays in memory.
#[test]
fn tokens_need_no_file() {
    let config = config(|limits| {
        limits.held_bytes = 0;
        limits.spool_bytes = 0;
        limits.token_bytes = 1 << 20;
    });
    for (bytes, cut) in [(1 << 20, false), ((1 << 20) + 1, true), (1 << 22, true)] {
        let text = Repeat::new("[\"", "x", "", "\"]", bytes);
        let mut cursor = Cursor::from_reader(text, Framing::Single, &config);
        cursor.begin_value().unwrap();
        assert!(cursor.next_element().unwrap());
        cursor.begin_value().unwrap();
        let trommel_reader::Payload::Scalar(trommel_reader::Scalar::String(text)) = cursor.payload() else {
            panic!("no string")
        };
        assert_eq!((text.is_cut(), text.byte_len(), text.char_len()), (cut, bytes, bytes));
        assert!(!cursor.next_element().unwrap());
    }
    // During a hold strings are not cut; this one does not fit.
    let mut cursor =
        Cursor::from_reader(Repeat::new("[\"", "x", "", "\"]", 1 << 22), Framing::Single, &config);
    cursor.next_record().unwrap();
    cursor.hold();
    assert_eq!(cursor.skip_value().unwrap_err().kind(), ErrorKind::Limit(Limit::SpoolBytes(0)));
}

/// Going far back and forward again, to bytes that were shown before. Going back to dropped bytes
/// is an error, and does not undo an error.
#[test]
fn rewinds_go_back_and_forth() {
    let text = format!("[{}0]", "\"]]]]]]]]]]\",".repeat(200_000));
    let config = Config::new().validation(Validation::Structural);
    let mut cursor = Cursor::new(text.as_bytes(), &config);
    cursor.begin_value().unwrap();
    assert!(cursor.next_element().unwrap());
    let first = cursor.hold();
    for _ in 0..180_000 {
        assert!(cursor.next_element().unwrap());
    }
    let late = cursor.hold();
    for _ in 0..3 {
        cursor.rewind(&first);
        assert_eq!(cursor.skip_value().unwrap().start, 1);
        cursor.rewind(&late);
        assert_eq!(cursor.skip_value().unwrap().start, 1 + 180_000 * 13);
    }
    cursor.rewind(&first);
    cursor.skip_value().unwrap();
    cursor.rewind(&late);
    cursor.leave().unwrap();
    assert_eq!(cursor.offset(), text.len() as u64);
}

#[test]
fn misuse_is_an_error() {
    let mut cursor = Cursor::from_reader(Repeat::records("[1,2,3]", 50_000), Framing::Single, &Config::new());
    let mark = cursor.hold();
    cursor.release();
    cursor.skip_value().unwrap();
    cursor.rewind(&mark);
    let gone = cursor.advance().unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Io(std::io::ErrorKind::InvalidInput));

    let mut cursor = Cursor::new(b"[1,}", &Config::new());
    let mark = cursor.hold();
    let error = cursor.skip_value().unwrap_err();
    cursor.rewind(&mark);
    let again: Vec<Error> = vec![
        cursor.advance().unwrap_err(),
        cursor.begin_value().unwrap_err(),
        cursor.skip_value().unwrap_err(),
        cursor.next_element().unwrap_err(),
        cursor.next_member().unwrap_err(),
        cursor.leave().unwrap_err(),
        cursor.peek().unwrap_err(),
        cursor.next_record().unwrap_err(),
    ];
    assert!(again.iter().all(|again| (again.kind(), again.offset()) == (error.kind(), error.offset())));
}

/// A move that is not possible is an error.
#[test]
fn impossible_moves_are_errors() {
    let at = |text: &'static [u8], steps: usize| {
        let mut cursor = Cursor::new(text, &Config::new());
        for _ in 0..steps {
            cursor.advance().unwrap();
        }
        cursor
    };
    let wrong = |result: Result<()>| {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Io(std::io::ErrorKind::InvalidInput));
    };
    wrong(at(b"[1]", 1).next_member().map(|_| ()));
    wrong(at(b"{\"a\":1}", 1).next_element().map(|_| ()));
    wrong(at(b"[1]", 1).begin_value().map(|_| ()));
    wrong(at(b"[1]", 1).skip_value().map(|_| ()));
    wrong(at(b"[1]", 3).begin_value().map(|_| ()));
    wrong(at(b"[1]", 3).next_element().map(|_| ()));
    wrong(at(b"1", 1).next_member().map(|_| ()));
    wrong(at(b"[1]", 0).next_element().map(|_| ()));
    assert!(at(b"[1]", 0).leave().is_ok() && at(b"[1]", 3).leave().is_ok());
}

/// R1: character counts are the same on streams and slices, across windows, holds, and rewinds.
#[test]
fn characters_are_counted() {
    for seed in 0..50 {
        let text = document(seed, &Shape::default());
        let expected = String::from_utf8(text.clone()).unwrap();
        let config = config(|limits| limits.held_bytes = 0).window(64);
        let mut cursor = Cursor::from_reader(Chunks::new(text.as_slice(), &[5]), Framing::Single, &config);
        cursor.count_chars();
        let mark = cursor.hold();
        cursor.skip_value().unwrap();
        cursor.rewind(&mark);
        cursor.release();
        while cursor.advance().unwrap().is_some() {
            let offset = cursor.offset();
            assert_eq!(
                cursor.chars(offset),
                expected[..offset as usize].chars().count() as u64,
                "seed {seed}"
            );
        }
    }
}
