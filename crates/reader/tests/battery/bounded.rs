//! Skips of containers that end before an offset.

use trommel_reader::{
    Config, Cursor, ErrorKind, Framing, Kind, Limit, Limits, Span, Syntax, Validation, View,
};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Layout, Random, Shape, document};

/// Walks a document. Tries to skip every container before a random offset, then enters it.
fn walk(cursor: &mut Cursor<'_>, whole: &[u8], random: &mut Random) {
    let mut open = Vec::new();
    assert!(cursor.next_record().unwrap());
    loop {
        let kind = cursor.peek().unwrap().unwrap();
        let name = cursor.name().map(|name| name.raw().to_vec());
        let start = cursor.offset();
        let end = start + random.below(100) as u64;
        let is_skipped = cursor.skip_container_before(end).unwrap();
        assert_eq!(is_skipped, kind.is_container() && value(whole, start).end <= end);
        if is_skipped {
            assert_eq!(cursor.offset(), value(whole, start).end);
        } else {
            assert_eq!(cursor.name().map(|name| name.raw().to_vec()), name);
            assert_eq!((cursor.peek().unwrap(), cursor.offset()), (Some(kind), start));
            cursor.begin_value().unwrap();
            if kind.is_container() {
                open.push(kind);
            }
        }
        while let Some(&kind) = open.last() {
            let more = if kind == Kind::Object { cursor.next_member() } else { cursor.next_element() };
            if more.unwrap() {
                break;
            }
            open.pop();
        }
        if open.is_empty() {
            assert!(!cursor.next_record().unwrap());
            return;
        }
    }
}

/// Returns the span of the value at an offset, from a skip without a bound.
fn value(whole: &[u8], start: u64) -> Span {
    let view = View::at(&whole[start as usize..], start);
    Cursor::from_view(view, Framing::Single, &Config::new()).skip_value().unwrap()
}

#[test]
fn containers_are_skipped_only_if_they_end_before_the_offset() {
    for seed in 0..cases(300, 30_000) {
        let mut random = Random::new(seed);
        let mut shape = Shape { values: 60, ..Shape::default() };
        shape.layout = if random.chance(50) { Layout::Compact } else { Layout::Random };
        let text = document(seed, &shape);
        for validation in [Validation::Strict, Validation::Structural] {
            let config = Config::new().validation(validation).window(16);
            walk(&mut Cursor::new(&text, &config), &text, &mut random);
            for size in [1, 7, 64, 4096] {
                let reader = Chunks::new(&text[..], &[size]);
                let mut cursor = Cursor::from_reader(reader, Framing::Auto, &config);
                walk(&mut cursor, &text, &mut random);
            }
        }
    }
}

#[test]
fn errors_before_the_offset_are_reported() {
    let config = Config::new().validation(Validation::Structural);
    let skip = |text: &[u8], end| {
        let mut limits = Limits::default();
        limits.depth = 2;
        let config = config.limits(limits);
        let mut cursor = Cursor::new(text, &config);
        cursor.skip_container_before(end).map_err(|error| (error.kind(), error.offset()))
    };
    assert_eq!(skip(b"[1, [2", 100), Err((ErrorKind::Syntax(Syntax::UnexpectedEnd), 6)));
    assert_eq!(skip(b"[1, [2", 6), Ok(false));
    assert_eq!(skip(b"[{]]", 100), Err((ErrorKind::Syntax(Syntax::MismatchedBracket), 3)));
    assert_eq!(skip(b"[[[1]]]", 100), Err((ErrorKind::Limit(Limit::Depth(2)), 2)));
    assert_eq!(skip(b"[[[1]]]", 2), Ok(false));
    assert_eq!(skip(b"12", 100), Ok(false));
    assert_eq!(skip(b"[]", 1), Ok(false));
    assert_eq!(skip(b"[]", 2), Ok(true));
}
