//! Memory by an allocator that counts: nothing a token, and a peak that does not know how long the
//! input is.
//!
//! A binary of its own with one test, since the counts are those of the whole process.

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

/// Event by event, with a look at everything that is free.
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

/// Record by record, with moves and a look back.
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

/// What reading all of it takes, the cursor included.
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

/// How many items are a million bytes, and how many are many more.
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

/// A slice takes a bit a level, and for the places of tokens that are read ahead.
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
    // A bit a level is 128 KiB, once more for the way back; a vector doubles, and holds the old
    // half while it does.
    assert!(usage.peak <= 320 << 10, "{usage:?}");
}

/// R10: strings beyond the token limit take the limit, however long they are; so do those within
/// it, and no more.
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

/// R8: what is refused is not first taken in.
fn refusals_take_nothing() {
    let (error, usage) = ALLOCATOR.measure(|| {
        let mut cursor = Cursor::from_reader(Repeat::depth("[", 1 << 40), Framing::Auto, &Config::new());
        cursor.skip_value().unwrap_err()
    });
    assert!(error.is_limit() && usage.peak < 112 << 10, "{usage:?}");
}

/// White space behind a string that is no name that is looked for is let go, however much of it
/// there is.
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

/// A large record that is held goes to the file; memory stays at its limit.
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
    // What is found out once a process is not part of it, nor what the harness still does on its
    // own thread.
    usage(Repeat::lines(RECORD, 20_000), Framing::Lines, &Config::new(), events);
    streams_take_their_window();
    slices_take_nothing();
    long_strings_take_the_limit();
    refusals_take_nothing();
    white_space_takes_nothing();
    holds_take_their_limit();
}
