//! Compares the search for members by names with walking from member to member.

use trommel_reader::{
    Backend, Config, Cursor, ErrorKind, Event, Framing, Kind, Limit, Limits, Names, Syntax, Validation, View,
};
use trommel_testkit::chunks::{Chunks, SIZES};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Layout, Shape, document};

use super::corpus::{own, real};
use super::seeks::spellings;

/// A member: the index of its name, the depth, and the offset of its value.
type Member = (usize, u32, u64);

type FoundMembers = trommel_reader::Result<Vec<Member>>;

/// The members with these names in a value. Some of their values and of the elements are entered,
/// some are left early, and some are skipped, by the next move or explicitly.
fn members(
    cursor: &mut Cursor<'_>,
    mut next: impl FnMut(&mut Cursor<'_>) -> trommel_reader::Result<Option<usize>>,
) -> FoundMembers {
    let (mut found, mut open) = (Vec::new(), Vec::new());
    let enter = |cursor: &mut Cursor<'_>, open: &mut Vec<Kind>| {
        if let Event::Begin(kind) = cursor.begin_value()? {
            open.push(kind);
        }
        trommel_reader::Result::Ok(())
    };
    enter(cursor, &mut open)?;
    while let Some(&kind) = open.last() {
        if kind == Kind::Object {
            let Some(number) = next(cursor)? else {
                open.pop();
                continue;
            };
            cursor.peek()?;
            found.push((number, cursor.depth(), cursor.offset()));
        } else if !cursor.next_element()? {
            open.pop();
            continue;
        }
        cursor.peek()?;
        match cursor.offset() % 7 {
            0 => {}
            1 => drop(cursor.skip_value()?),
            2 if open.len() > 1 => {
                cursor.leave()?;
                open.pop();
            }
            _ => enter(cursor, &mut open)?,
        }
    }
    Ok(found)
}

fn by_names(cursor: &mut Cursor<'_>, names: &Names) -> FoundMembers {
    members(cursor, |cursor| cursor.next_named(names))
}

fn by_tokens(cursor: &mut Cursor<'_>, names: &Names) -> FoundMembers {
    members(cursor, |cursor| {
        while cursor.next_member()? {
            let name = cursor.name().unwrap();
            if let Some(number) = names.iter().position(|wanted| name.eq_str(wanted)) {
                return Ok(Some(number));
            }
        }
        Ok(None)
    })
}

/// The members of every record; `None` if one is malformed.
fn all(
    mut cursor: Cursor<'_>,
    members: impl Fn(&mut Cursor<'_>) -> FoundMembers,
) -> Option<Vec<Vec<Member>>> {
    let mut found = Vec::new();
    while cursor.next_record().ok()? {
        found.push(members(&mut cursor).ok()?);
    }
    Some(found)
}

fn compare(bytes: &[u8], framing: Framing, names: &[&str], sizes: &[usize]) -> usize {
    let names = Names::new(names.iter().copied());
    let strict = Config::new().validation(Validation::Strict);
    let slice = |config: &Config| Cursor::from_view(View::new(bytes), framing, config);
    // Reading stops before errors.
    if all(slice(&strict), |cursor| cursor.skip_value().map(|_| Vec::new())).is_none() {
        return 0;
    }
    let Some(expected) = all(slice(&strict), |cursor| by_tokens(cursor, &names)) else { return 0 };
    let note = |how: &str| format!("{names:?} {how} in {}", bytes[..bytes.len().min(2000)].escape_ascii());
    for config in
        Backend::available().map(|backend| Config::new().validation(Validation::Structural).backend(backend))
    {
        let found = all(slice(&config), |cursor| by_names(cursor, &names));
        assert_eq!(found.as_ref(), Some(&expected), "{}", note(&format!("{config:?}")));
        for &size in sizes {
            let cursor = Cursor::from_reader(Chunks::new(bytes, &[size]), framing, &config.window(size));
            let found = all(cursor, |cursor| by_names(cursor, &names));
            assert_eq!(found.as_ref(), Some(&expected), "{}", note(&format!("by {size}")));
        }
    }
    let found = all(slice(&strict), |cursor| by_names(cursor, &names));
    assert_eq!(found.as_ref(), Some(&expected), "{}", note("strictly"));
    expected.iter().map(Vec::len).sum()
}

#[test]
fn of_documents() {
    for text in own() {
        for names in [&["a", "id", ""][..], &["name", "é", "\""], &["\\"], &[]] {
            compare(&text.bytes, text.framing, names, &SIZES);
        }
    }
    let mut found = 0;
    for text in real(cases(2_000_000, 40_000_000) as usize) {
        for names in [&["id", "type", "url"][..], &["coordinates", "user", "statuses", "entities"]] {
            found += compare(&text.bytes, text.framing, names, &[4096]);
        }
    }
    println!("{found} members of the documents at hand");
}

#[test]
fn of_random_documents() {
    let mut found = 0;
    let many: Vec<String> = (0..20).map(|number| format!("{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).chain(["a", "b", "key"]).collect();
    for seed in 0..cases(2_000, 100_000) {
        let layout = [Layout::Random, Layout::Compact, Layout::Pretty][seed as usize % 3];
        let bytes = document(seed, &Shape { layout, ..Shape::default() });
        for names in [&["a", "b"][..], &["value", "key", "id", ""], &many] {
            found += compare(&bytes, Framing::Single, names, &[1, 63]);
        }
    }
    assert!(found > 1_000, "{found}");
}

/// Names with and without escapes, at every offset around a block edge, among similar strings.
#[test]
fn of_every_form_and_offset() {
    for (name, spelling, pad) in spellings() {
        let space = " ".repeat(pad);
        let text = format!(
            r#"{{"x\"{spelling}":1,"{spelling}x":[2,"{spelling}"],"y{spelling}":{{"\\":"{spelling}"}},{space}"{spelling}"{space}:"{spelling}\\","other":{{"a:":":","{spelling}":3}},"{spelling}":[":"]}}"#
        );
        let found = compare(text.as_bytes(), Framing::Single, &["other", name, "none"], &[1, 7, 64]);
        assert!(found >= 3, "{text}");
    }
}

/// Other members are skipped, and errors in them are the same for every source.
#[test]
fn skipped_members_are_checked_as_promised() {
    let names = Names::new(["a", "b"]);
    let long = format!(r#"{{"x":"{}","a":1"#, "x".repeat(500));
    for (text, syntax, offset) in [
        (r#"{"x":[1},"a":2}"#, Syntax::MismatchedBracket, 7),
        (r#"{"x":[{]}]]"#, Syntax::MismatchedBracket, 9),
        (r#"{"x":{"a":[1]}"#, Syntax::UnexpectedEnd, 14),
        (r#"{"x":{"a":[1]"#, Syntax::UnexpectedEnd, 13),
        (r#"{"x":1,"y":"a"#, Syntax::UnterminatedString, 13),
        (r#"{"x":1,"a"#, Syntax::UnterminatedString, 9),
        (r#"{"x":1,"a""#, Syntax::UnexpectedEnd, 10),
        (r#"{"x":1]"#, Syntax::MismatchedBracket, 6),
        (r#"{"a":tru,"x":1}"#, Syntax::Literal, 5),
        (&long, Syntax::UnexpectedEnd, long.len() as u64),
    ] {
        for backend in Backend::available() {
            let config = Config::new().validation(Validation::Structural).backend(backend);
            let enter = |cursor: &mut Cursor<'_>| {
                cursor.begin_value()?;
                while cursor.next_named(&names)?.is_some() {
                    cursor.skip_value()?;
                }
                trommel_reader::Result::Ok(())
            };
            let mut errors = vec![enter(&mut Cursor::new(text.as_bytes(), &config)).unwrap_err()];
            for size in [1, 7, 64, 4096] {
                let reader = Chunks::new(text.as_bytes(), &[size]);
                let mut cursor = Cursor::from_reader(reader, Framing::Single, &config.window(64));
                errors.push(enter(&mut cursor).unwrap_err());
            }
            for error in errors {
                let found = (error.kind(), error.offset());
                assert_eq!(found, (ErrorKind::Syntax(syntax), offset), "{text} {backend:?}");
            }
        }
    }
}

#[test]
fn depth_is_limited() {
    let text = format!(r#"{{"b":{}{},"a":1}}"#, "[".repeat(98), "]".repeat(98));
    for (depth, fits) in [(99, true), (98, false), (1, false)] {
        let mut limits = Limits::default();
        limits.depth = depth;
        let config = Config::new().validation(Validation::Structural).limits(limits);
        let found = by_names(&mut Cursor::new(text.as_bytes(), &config), &Names::new(["a"]));
        assert_eq!(found.is_ok(), fits, "{depth}: {found:?}");
        if let Err(error) = found {
            assert_eq!(error.kind(), ErrorKind::Limit(Limit::Depth(u64::from(depth))));
            assert_eq!(error.offset(), 5 + u64::from(depth) - 1, "{error}");
        }
    }
}

#[test]
fn only_in_objects() {
    let names = Names::new(["a"]);
    for text in ["[1]", "1"] {
        let mut cursor = Cursor::new(text.as_bytes(), &Config::new().validation(Validation::Structural));
        cursor.begin_value().unwrap();
        assert!(cursor.next_named(&names).is_err(), "{text}");
    }
}

/// In malformed input, other bytes may be between a string and a colon. The result does not depend
/// on block edges.
#[test]
fn a_string_that_no_colon_follows_is_not_a_name() {
    let names = Names::new(["a", ""]);
    let found = |bytes: &[u8], backend: Backend, window: Option<usize>| {
        let config = Config::new().backend(backend).validation(Validation::Structural);
        let mut cursor = match window {
            Some(size) => Cursor::from_reader(bytes, Framing::Single, &config.window(size)),
            None => Cursor::from_view(View::new(bytes), Framing::Single, &config),
        };
        let mut found = Vec::new();
        let mut step = || {
            cursor.next_record()?;
            cursor.begin_value()?;
            while let Some(number) = cursor.next_named(&names)? {
                found.push((number, cursor.span().start));
            }
            Ok(())
        };
        let error: Option<trommel_reader::Error> = step().err();
        (found, error.map(|error| (error.kind(), error.offset())))
    };
    for padding in 0..200 {
        let between = " ".repeat(padding);
        // The string before the colon is in another object, or followed by something else.
        let inner = format!("{{\"a\":0,{between}\"x\":{{\"y\":[1],\"\"}} : 1, \"\" x : 2, \"a\"\n\t : 3}}");
        let expected = (vec![(0, 1), (0, inner.rfind("\"a\"").unwrap() as u64)], None);
        for backend in Backend::available() {
            for window in [None, Some(64), Some(96), Some(4096)] {
                let found = found(inner.as_bytes(), backend, window);
                assert_eq!(found, expected, "{backend:?} {window:?} {padding}");
            }
        }
    }
}
