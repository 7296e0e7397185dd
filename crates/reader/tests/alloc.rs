//! Memory use, measured by a counting allocator: no allocation per token, and a peak that does not
//! depend on the length of the input.
//!
//! A binary of its own with one test, because the counts cover the whole process.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use std::io::Read;

use trommel_reader::{Config, Cursor, Event, Framing, Limits, Names, Payload, Scalar, Validation};
use trommel_testkit::alloc::{CountingAllocator, Usage};
use trommel_testkit::effort::cases;
use trommel_testkit::repeat::Repeat;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

const RECORD: &str =
    r#"{"id":12345,"name\n":"text with \"escapes\" and é","list":[1.5e3,true,null,{"deep":[[[]]]}],"": ""}"#;

/// Reads event by event, and calls everything that costs nothing.
fn events(cursor: &mut Cursor<'_>) -> u64 {
    let mut total = 0;
    while let Some(event) = cursor.advance().unwrap() {
        total += 1;
        match (event, cursor.payload()) {
            (Event::Name, Payload::Name(name)) => total += u64::from(name.eq_str("name\n")) + name.char_len(),
            (_, Payload::Scalar(Scalar::String(text))) => total += text.byte_len() + text.char_len(),
            (_, Payload::Scalar(Scalar::Number(number))) => total += number.as_f64() as u64,
            _ => total += cursor.span().len(),
        }
    }
    total
}

/// Reads record by record, with moves, a hold, and a rewind.
fn moves(cursor: &mut Cursor<'_>) -> u64 {
    let mut total = 0;
    let mark = cursor.hold();
    cursor.begin_value().unwrap();
    while cursor.next_member().unwrap() {
        if cursor.name().is_some_and(|name| name.eq_str("list")) {
            total += cursor.skip_value().unwrap().len();
            break;
        }
    }
    cursor.leave().unwrap();
    cursor.rewind(&mark);
    total += cursor.skip_value().unwrap().len();
    cursor.release();
    total
}

fn all(cursor: &mut Cursor<'_>, work: fn(&mut Cursor<'_>) -> u64) -> u64 {
    let mut total = 0;
    while cursor.next_record().unwrap() {
        total += work(cursor);
    }
    total
}

/// The memory that reading everything takes, including the cursor.
fn usage(
    reader: impl Read + Send,
    framing: Framing,
    config: &Config,
    work: fn(&mut Cursor<'_>) -> u64,
) -> Usage {
    let (total, usage) = ALLOCATOR.measure(|| all(&mut Cursor::from_reader(reader, framing, config), work));
    assert!(total > 0);
    usage
}

/// The number of items in a million bytes, and in `large` bytes.
fn counts(item: &str, large: u64) -> [u64; 2] {
    [1 << 20, cases(large, 256 << 20)].map(|bytes| bytes / item.len() as u64)
}

/// R7: the peak of a stream is that of its window, and the number of allocations is that of
/// starting, not that of tokens.
fn streams_take_their_window() {
    let [small, large] = counts(RECORD, 12 << 20);
    for (framing, validation, work) in [
        (Framing::Lines, Validation::Strict, events as fn(&mut Cursor<'_>) -> u64),
        (Framing::Lines, Validation::Structural, moves),
        (Framing::Auto, Validation::Structural, moves),
        (Framing::Concatenated, Validation::Strict, moves),
    ] {
        let config = Config::new().validation(validation);
        let few = usage(Repeat::lines(RECORD, small), framing, &config, work);
        let many = usage(Repeat::lines(RECORD, large), framing, &config, work);
        assert_eq!((few.peak, few.allocations), (many.peak, many.allocations), "{framing:?} {validation:?}");
        assert!(many.allocations < 20 && many.peak < 112 << 10, "{framing:?} {many:?}");
    }
    let [small, large] = counts(RECORD, 64 << 20);
    let few = usage(Repeat::records(RECORD, small), Framing::Single, &Config::new(), events);
    let many = usage(Repeat::records(RECORD, large), Framing::Single, &Config::new(), events);
    assert_eq!((few.peak, few.allocations), (many.peak, many.allocations));
    assert!(many.allocations < 20 && many.peak < 112 << 10, "{many:?}");
}

/// A slice takes one bit per level, and the offsets of buffered tokens.
fn slices_take_nothing() {
    let mut text = Vec::new();
    Repeat::records(RECORD, 1_000).read_to_end(&mut text).unwrap();
    let (total, usage) = ALLOCATOR.measure(|| events(&mut Cursor::new(&text, &Config::new())));
    assert!(total > 0 && usage.allocations <= 12 && usage.peak <= 48 << 10, "{usage:?}");
    let deep = [vec![b'['; 1 << 20], vec![b']'; 1 << 20]].concat();
    let mut limits = Limits::default();
    limits.depth = Limits::MAX_DEPTH;
    let config = Config::new().limits(limits);
    let (_, usage) = ALLOCATOR.measure(|| Cursor::new(&deep, &config).skip_value().unwrap());
    // One bit per level is 128 KiB, twice for the copy to restore; a growing vector also holds its
    // old half for a moment.
    assert!(usage.peak <= 320 << 10, "{usage:?}");
}

/// R10: strings beyond the token limit take as much memory as the limit, regardless of their
/// length; shorter ones no more than that.
fn long_strings_take_the_limit() {
    let mut limits = Limits::default();
    limits.token_bytes = 1 << 20;
    let config = Config::new().limits(limits);
    let piece = r"abcé and some more\n\\";
    let [small, large] = counts(piece, 32 << 20).map(|count| count * 3);
    let few = usage(Repeat::string(piece, small), Framing::Single, &config, events);
    let many = usage(Repeat::string(piece, large), Framing::Single, &config, events);
    assert_eq!((few.peak, few.allocations), (many.peak, many.allocations));
    assert!(many.peak < 4 << 20, "{many:?}");
}

/// Strings that are read piece by piece take the window and a small buffer.
fn pieces_take_the_window() {
    let piece = r"abcé and some more\n\\";
    let [small, large] = counts(piece, 32 << 20);
    let texts = |cursor: &mut Cursor<'_>| {
        cursor.begin_value().unwrap();
        cursor.next_member().unwrap();
        let mut pieces = cursor.text_pieces().unwrap().unwrap();
        let mut chars = 0;
        while let Some(piece) = pieces.next_piece().unwrap() {
            chars += piece.chars().count() as u64;
        }
        drop(pieces);
        assert!(cursor.next_member().unwrap() && cursor.name().unwrap().eq_str("after"));
        chars
    };
    let of = |count| {
        let reader = Repeat::string(piece, count);
        let mut cursor = Cursor::from_reader(reader, Framing::Single, &Config::new());
        ALLOCATOR.measure(|| texts(&mut cursor))
    };
    let ((few, _), (many, usage)) = (of(small), of(large));
    assert_eq!((few, many), (small * 20, large * 20));
    assert!(usage.peak < 112 << 10 && usage.allocations < 20, "{usage:?}");
}

/// R8: refused tokens are not read into memory first.
fn refusals_take_nothing() {
    let (error, usage) = ALLOCATOR.measure(|| {
        let mut cursor = Cursor::from_reader(Repeat::depth("[", 1 << 40), Framing::Auto, &Config::new());
        cursor.skip_value().unwrap_err()
    });
    assert!(error.is_limit() && usage.peak < 112 << 10, "{usage:?}");
}

/// White space after a string that is not a searched name is dropped, regardless of its length.
fn white_space_takes_nothing() {
    let space = " ".repeat(4 << 20);
    let text = format!(r#"{{"x":"y"{space},"z"{space}:1{space},"a":2}}"#);
    let names = Names::new(["a", "b"]);
    let config = Config::new().validation(Validation::Structural);
    let (found, usage) = ALLOCATOR.measure(|| {
        let mut cursor = Cursor::from_reader(text.as_bytes(), Framing::Single, &config);
        cursor.begin_value().unwrap();
        (cursor.next_named(&names).unwrap(), cursor.offset())
    });
    assert_eq!(found, (Some(0), text.len() as u64 - 2));
    assert!(usage.peak < 112 << 10, "{usage:?}");
}

/// A large held record goes to the file; memory stays at its limit.
fn holds_take_their_limit() {
    let mut limits = Limits::default();
    limits.held_bytes = 1 << 20;
    let config = Config::new().limits(limits).validation(Validation::Structural);
    let record = Repeat::records(RECORD, (16 << 20) / RECORD.len() as u64);
    let held = |cursor: &mut Cursor<'_>| {
        let mark = cursor.hold();
        cursor.skip_value().unwrap();
        cursor.rewind(&mark);
        cursor.skip_value().unwrap().len()
    };
    let usage = usage(record, Framing::Single, &config, held);
    assert!(usage.peak < 3 << 20, "{usage:?}");
}

#[test]
fn memory() {
    // A warm-up: the counts below must not include one-time initialization of the process, or
    // allocations of the test harness on its own thread.
    usage(Repeat::lines(RECORD, 20_000), Framing::Lines, &Config::new(), events);
    streams_take_their_window();
    slices_take_nothing();
    long_strings_take_the_limit();
    pieces_take_the_window();
    refusals_take_nothing();
    white_space_takes_nothing();
    holds_take_their_limit();
}
