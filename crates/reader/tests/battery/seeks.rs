//! Compares the search for a name with walking from token to token.

use trommel_reader::{
    Backend, Config, Cursor, ErrorKind, Event, Framing, Limits, PlainMembers, Seek, SeekStep, Span, Syntax,
    Validation, View,
};
use trommel_testkit::chunks::{Chunks, SIZES};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Layout, Shape, document};

use super::corpus::{own, real};

/// A member: its depth, the offset of the innermost container, and the offset of its value.
type Member = (u32, u64, u64);

fn config() -> Config {
    Config::new().validation(Validation::Structural)
}

/// The members of a name in the record's value, by tokens.
fn walked(cursor: &mut Cursor<'_>, name: &str) -> trommel_reader::Result<Vec<Member>> {
    let (mut members, mut starts) = (Vec::new(), Vec::new());
    while let Some(event) = cursor.advance()? {
        match event {
            Event::Begin(_) => starts.push(cursor.span().start),
            Event::End(_) => drop(starts.pop()),
            Event::Name if cursor.name().unwrap().eq_str(name) => {
                cursor.peek()?;
                members.push((starts.len() as u32, *starts.last().unwrap(), cursor.offset()));
            }
            Event::Name | Event::Scalar(_) => {}
        }
    }
    Ok(members)
}

/// The same members found by the search, values included.
fn searched(cursor: &mut Cursor<'_>, name: &str) -> trommel_reader::Result<Vec<Member>> {
    let (mut members, mut seek) = (Vec::new(), Seek::new(name));
    if !matches!(cursor.begin_value()?, Event::Begin(_)) {
        return Ok(members);
    }
    seek.enter(1, cursor.span().start);
    // Pauses on the way change nothing.
    let turn = (cursor.span().start % 3) as u32 + name.len() as u32 % 3;
    seek.pause_between(turn, 0);
    loop {
        match cursor.seek_name(&mut seek, 0)? {
            SeekStep::Member => {}
            SeekStep::Left => break,
            SeekStep::Collected => panic!("nothing was to be kept"),
            SeekStep::Between => {
                assert_eq!(cursor.depth(), turn);
                seek.pause_between(turn, cursor.offset() + u64::from(turn));
                continue;
            }
        }
        assert!(cursor.name().unwrap().eq_str(name));
        let depth = cursor.depth();
        assert_eq!(cursor.kind_at(depth), Some(trommel_reader::Kind::Object));
        cursor.peek()?;
        members.push((depth, seek.start_of(depth), cursor.offset()));
    }
    assert_eq!(cursor.depth(), 0);
    Ok(members)
}

/// The number of members, and of objects with one: those counted on the way, and those returned.
fn counted(cursor: &mut Cursor<'_>, name: &str) -> trommel_reader::Result<[u64; 2]> {
    let start = cursor.hold();
    let mut counts = [0; 2];
    for (unique, count) in [false, true].into_iter().zip(&mut counts) {
        cursor.rewind(&start);
        let mut seek = Seek::new(name);
        if !matches!(cursor.begin_value()?, Event::Begin(_)) {
            break;
        }
        seek.begin(1, cursor.span().start);
        seek.handle_plain(PlainMembers::Count, unique);
        seek.pause_between((name.len() as u64 + cursor.span().start) as u32 % 3, 0);
        loop {
            match cursor.seek_name(&mut seek, 0)? {
                SeekStep::Member if seek.record(cursor.depth()) || !unique => *count += 1,
                SeekStep::Member | SeekStep::Between | SeekStep::Collected => {}
                SeekStep::Left => break,
            }
        }
        *count += seek.take_counted();
    }
    cursor.release();
    Ok(counts)
}

/// Members: the offset of the object of each, and its value.
type KeptSpans = Vec<(u64, u64)>;

/// All members, and the first of each object, in order: those collected on the way, and those
/// returned. Collected values are scalars.
fn collected(cursor: &mut Cursor<'_>, name: &str) -> trommel_reader::Result<[KeptSpans; 2]> {
    let start = cursor.hold();
    let mut found = [Vec::new(), Vec::new()];
    for (unique, found) in [false, true].into_iter().zip(&mut found) {
        cursor.rewind(&start);
        let mut seek = Seek::new(name);
        if !matches!(cursor.begin_value()?, Event::Begin(_)) {
            break;
        }
        seek.begin(1, cursor.span().start);
        seek.handle_plain(PlainMembers::Collect, unique);
        seek.pause_between((name.len() as u64 + cursor.span().start) as u32 % 3, 0);
        seek.flush_at(name.len() as u32 % 4, unique);
        loop {
            match cursor.seek_name(&mut seek, 0)? {
                SeekStep::Member => {
                    let (depth, is_first) = (cursor.depth(), seek.record(cursor.depth()));
                    cursor.peek()?;
                    if is_first || !unique {
                        found.push((seek.start_of(depth), cursor.offset()));
                    }
                }
                SeekStep::Collected => {
                    for kept in (0..).map_while(|number| seek.collected(number)) {
                        let value = cursor.part(Span::new(kept.start, kept.end)).unwrap();
                        let value = serde_json::from_slice::<serde_json::Value>(value.bytes()).unwrap();
                        assert!(!value.is_object() && !value.is_array());
                        found.push((kept.object, kept.start));
                    }
                }
                SeekStep::Between => {}
                SeekStep::Left => break,
            }
        }
    }
    cursor.release();
    Ok(found)
}

/// The expected result of [`collected`].
fn collected_of(members: &[Member]) -> [KeptSpans; 2] {
    let all: KeptSpans = members.iter().map(|&(_, object, value)| (object, value)).collect();
    let mut objects = std::collections::BTreeSet::new();
    let first = all.iter().copied().filter(|&(object, _)| objects.insert(object)).collect();
    [all, first]
}

/// The members of every record; `None` if one is malformed.
fn all<T>(
    mut cursor: Cursor<'_>,
    members: impl Fn(&mut Cursor<'_>) -> trommel_reader::Result<T>,
) -> Option<Vec<T>> {
    let mut found = Vec::new();
    while cursor.next_record().ok()? {
        found.push(members(&mut cursor).ok()?);
    }
    Some(found)
}

/// The number of members, and of objects with one.
fn numbers_of(members: &[Member]) -> [u64; 2] {
    let mut objects: Vec<_> = members.iter().map(|(depth, start, _)| (depth, start)).collect();
    objects.sort_unstable();
    objects.dedup();
    [members.len() as u64, objects.len() as u64]
}

fn compare(bytes: &[u8], framing: Framing, name: &str, sizes: &[usize]) -> usize {
    let strict = Config::new().validation(Validation::Strict);
    let slice = |config: &Config| Cursor::from_view(View::new(bytes), framing, config);
    let Some(expected) = all(slice(&strict), |cursor| walked(cursor, name)) else { return 0 };
    let numbers: Vec<[u64; 2]> = expected.iter().map(|members| numbers_of(members)).collect();
    let firsts: Vec<[KeptSpans; 2]> = expected.iter().map(|members| collected_of(members)).collect();
    let note = |how: &str| format!("{name:?} {how} in {}", bytes[..bytes.len().min(2000)].escape_ascii());
    for backend in Backend::available() {
        let config = config().backend(backend);
        let found = all(slice(&config), |cursor| searched(cursor, name));
        assert_eq!(found.as_ref(), Some(&expected), "{}", note(&format!("{backend:?}")));
        let counts = all(slice(&config), |cursor| counted(cursor, name));
        assert_eq!(counts.as_ref(), Some(&numbers), "{}", note(&format!("counted, {backend:?}")));
        let found = all(slice(&config), |cursor| collected(cursor, name));
        assert_eq!(found.as_ref(), Some(&firsts), "{}", note(&format!("kept, {backend:?}")));
        for &size in sizes {
            let reader = Chunks::new(bytes, &[size]);
            let cursor = Cursor::from_reader(reader, framing, &config.window(size));
            let found = all(cursor, |cursor| searched(cursor, name));
            assert_eq!(found.as_ref(), Some(&expected), "{}", note(&format!("{backend:?} by {size}")));
            let reader = Chunks::new(bytes, &[size]);
            let cursor = Cursor::from_reader(reader, framing, &config.window(size));
            let counts = all(cursor, |cursor| counted(cursor, name));
            assert_eq!(
                counts.as_ref(),
                Some(&numbers),
                "{}",
                note(&format!("counted, {backend:?} by {size}"))
            );
            let reader = Chunks::new(bytes, &[size]);
            let cursor = Cursor::from_reader(reader, framing, &config.window(size));
            let found = all(cursor, |cursor| collected(cursor, name));
            assert_eq!(found.as_ref(), Some(&firsts), "{}", note(&format!("kept, {backend:?} by {size}")));
        }
    }
    expected.iter().map(Vec::len).sum()
}

#[test]
fn of_documents() {
    for text in own() {
        for name in ["a", "id", "", "name", "é", "\"", "\\"] {
            compare(&text.bytes, text.framing, name, &SIZES);
        }
    }
    let mut found = 0;
    for text in real(cases(2_000_000, 40_000_000) as usize) {
        for name in ["id", "type", "url", "coordinates", ""] {
            found += compare(&text.bytes, text.framing, name, &[4096]);
        }
    }
    println!("{found} members of the documents at hand");
}

#[test]
fn of_random_documents() {
    let mut found = 0;
    for seed in 0..cases(2_000, 100_000) {
        let layout = if seed % 2 == 0 { Layout::Random } else { Layout::Compact };
        let bytes = document(seed, &Shape { layout, ..Shape::default() });
        for name in ["a", "b", "value", "key", ""] {
            found += compare(&bytes, Framing::Single, name, &[1, 63]);
        }
    }
    assert!(found > 1_000, "{found}");
}

/// Names, each with several forms, and with spaces.
pub(super) fn spellings() -> impl Iterator<Item = (&'static str, &'static str, usize)> {
    let names = [
        ("login", &["login", r"log\u0069n", r"\u006c\u006f\u0067\u0069\u006e"][..]),
        ("n", &["n", r"\u006e"]),
        ("a\"b\\", &[r#"a\"b\\"#, r"a\u0022b\u005c"]),
        ("", &[""]),
        ("é\n", &[r"é\n", r"\u00e9\u000a"]),
    ];
    let spelt =
        names.into_iter().flat_map(|(name, spellings)| spellings.iter().map(move |spelt| (name, *spelt)));
    spelt.flat_map(|(name, spelling)| (0..70).map(move |pad| (name, spelling, pad)))
}

/// Names with and without escapes, at every offset around a block edge, among similar strings.
#[test]
fn of_every_form_and_offset() {
    for (name, spelling, pad) in spellings() {
        let space = " ".repeat(pad);
        let text = format!(
            r#"{{"x\"{spelling}":1,"{spelling}x":[2,"{spelling}"],"y{spelling}":{{"\\":"{spelling}"}},{space}"{spelling}"{space}:{{"a\\":"\\\"{spelling}","{spelling}":[{{"{spelling}" :3}}]}},"z":"{spelling}"}}"#
        );
        assert!(compare(text.as_bytes(), Framing::Single, name, &[1, 64]) >= 3, "{text}");
    }
}

/// A quote after an odd number of backslashes is part of the string.
#[test]
fn backslashes_before_a_name() {
    for backslashes in (1..80).step_by(2) {
        let text = format!(r#"{{"x{}"a":1,"y":{{"b":2}}}}"#, "\\".repeat(backslashes));
        assert_eq!(compare(text.as_bytes(), Framing::Single, "a", &[1, 7]), 0, "{text}");
        assert_eq!(compare(text.as_bytes(), Framing::Single, "b", &[1, 7]), 1, "{text}");
    }
}

/// The error and its offset, which are the same for every source.
fn refusal(bytes: &[u8], config: &Config, size: Option<usize>) -> (ErrorKind, u64) {
    let error = match size {
        None => searched(&mut Cursor::new(bytes, config), "a").unwrap_err(),
        Some(size) => {
            let reader = Chunks::new(bytes, &[size]);
            let mut cursor = Cursor::from_reader(reader, Framing::Single, &config.window(64));
            searched(&mut cursor, "a").unwrap_err()
        }
    };
    (error.kind(), error.offset())
}

#[test]
fn brackets_and_ends_are_checked() {
    let deep = "[".repeat(300);
    for (text, syntax, offset) in [
        (r#"{"b":[1}}"#, Syntax::MismatchedBracket, 8),
        (r#"{"b":[1}"#, Syntax::UnexpectedEnd, 8),
        (r#"{"b":[[1}]}"#, Syntax::MismatchedBracket, 10),
        (r#"{"b":[{"x":1],"c":{"a":1}}]}"#, Syntax::MismatchedBracket, 26),
        (r#"{"b":[1},"c":{"a":1},"a":[2],"d":3}"#, Syntax::MismatchedBracket, 34),
        (r#"{"b":["a" :1]}"#, Syntax::ExpectedCommaOrEnd, 10),
        (r#"{"b":[{"x":["c","a":1]}]}"#, Syntax::ExpectedCommaOrEnd, 19),
        (r#"{"b":[{"x":1],"a":1}]}"#, Syntax::MismatchedBracket, 17),
        (r#"{"b":["#, Syntax::UnexpectedEnd, 6),
        (r#"{"b":"a"#, Syntax::UnterminatedString, 7),
        (r#"{"b":"\"#, Syntax::UnterminatedString, 7),
        (r#"{"a""#, Syntax::UnexpectedEnd, 4),
        (r#"{"a"  "#, Syntax::UnexpectedEnd, 6),
        (&deep, Syntax::UnexpectedEnd, 300),
    ] {
        for backend in Backend::available() {
            let config = config().backend(backend);
            for size in [None, Some(1), Some(7), Some(4096)] {
                let found = refusal(text.as_bytes(), &config, size);
                assert_eq!(found, (ErrorKind::Syntax(syntax), offset), "{text} {backend:?} {size:?}");
            }
        }
    }
}

#[test]
fn depth_is_limited() {
    let text = format!(r#"{{"b":{}{{"a":1}}{}}}"#, "[".repeat(98), "]".repeat(98));
    for (depth, fits) in [(100, true), (99, false), (50, false)] {
        let mut limits = Limits::default();
        limits.depth = depth;
        let config = config().limits(limits);
        let found = searched(&mut Cursor::new(text.as_bytes(), &config), "a");
        assert_eq!(found.is_ok(), fits, "{depth}: {found:?}");
        if let Err(error) = found {
            assert_eq!(error.offset(), 5 + u64::from(depth) - 1, "{error}");
        }
    }
}

/// A search may start anywhere in a container, continue after other moves, and stops at the end of
/// its container.
#[test]
fn moves_can_be_mixed() {
    let text = br#"[{"a":[1,{"a":2}]},{"b":{"a":{"a":3}},"c":4},5]"#;
    let mut cursor = Cursor::new(text, &config());
    let mut seek = Seek::new("a");
    cursor.begin_value().unwrap();
    assert!(cursor.next_element().unwrap());
    cursor.begin_value().unwrap();
    seek.enter(2, cursor.span().start);
    assert_eq!(cursor.seek_name(&mut seek, 1).unwrap(), SeekStep::Member);
    cursor.skip_value().unwrap();
    assert_eq!(cursor.seek_name(&mut seek, 1).unwrap(), SeekStep::Left);
    assert!(cursor.next_element().unwrap());
    cursor.begin_value().unwrap();
    assert!(cursor.next_member().unwrap());
    // The value of `b` was not read.
    seek.mark(2);
    assert!(cursor.seek_name(&mut seek, 1).unwrap() == SeekStep::Member && cursor.depth() == 3);
    assert!(
        cursor.seek_name(&mut seek, 1).unwrap() == SeekStep::Member
            && cursor.depth() == 4
            && seek.start_of(4) == 29
    );
    assert_eq!((seek.lowest(), seek.start_of(3)), (2, 24));
    assert_eq!(cursor.seek_name(&mut seek, 1).unwrap(), SeekStep::Left);
    assert!(cursor.next_element().unwrap());
    assert_eq!(cursor.skip_value().unwrap().start, 45);
    assert!(!cursor.next_element().unwrap());
    assert!(cursor.seek_name(&mut seek, 0).is_err(), "no container is open");
}

/// A long array is found at any position, with the offsets at which the search can pause.
#[test]
fn searches_pause_in_long_arrays() {
    let long = vec!["{\"a\":[[1],{}]}"; 20_000].join(",");
    for (text, depth) in [
        (format!("[{long}]"), 1),
        (format!("{{\"x\":[{{}},{{}}],\"y\":{{\"z\":[[],{long}]}}}}"), 3),
        (format!("{{\"x\":{{\"y\":1}},{}}}", vec!["\"b\":{}"; 100_000].join(",")), 0),
    ] {
        for name in ["a", "no"] {
            let config = config();
            let mut cursor = Cursor::from_view(View::new(text.as_bytes()), Framing::Single, &config);
            let (mut seek, mut found) = (Seek::new(name), 0);
            cursor.begin_value().unwrap();
            seek.enter(1, 0);
            seek.watch(1, 0);
            let mut stops = Vec::new();
            loop {
                match cursor.seek_name(&mut seek, 0).unwrap() {
                    SeekStep::Member => found += 1,
                    SeekStep::Left => break,
                    SeekStep::Collected => panic!("nothing was to be kept"),
                    SeekStep::Between => {
                        stops.push(cursor.depth());
                        assert!(cursor.between().is_some());
                        seek.resume(cursor.depth(), cursor.offset());
                    }
                }
            }
            let expected = if depth == 0 || name == "no" { 0 } else { 20_000 };
            assert_eq!(found, expected);
            // If nothing is found, the check only runs at the end of the shown part of a document.
            let all = if depth == 0 || name == "no" { vec![] } else { vec![depth] };
            assert_eq!(stops, all, "{name} {}", &text[..20]);
        }
    }
}

/// The number of members, however they are handled, and the error that ends the search.
fn taken(text: &str, backend: Backend, taken: PlainMembers) -> Result<u64, (ErrorKind, u64, u64)> {
    use trommel_reader::Kind::{Array, Object};

    let mut met = 0;
    let mut take = || {
        let config = config().backend(backend);
        let mut cursor = Cursor::new(text.as_bytes(), &config);
        let mut seek = Seek::new("login");
        cursor.next_record()?;
        cursor.begin_value()?;
        seek.begin(1, cursor.span().start);
        seek.handle_plain(taken, false);
        loop {
            let step = cursor.seek_name(&mut seek, 0);
            met += seek.take_counted();
            match step? {
                SeekStep::Collected => met += (0..).map_while(|number| seek.collected(number)).count() as u64,
                SeekStep::Member => {
                    if !matches!(cursor.peek()?, Some(Array | Object)) {
                        cursor.skip_value()?;
                    }
                    met += 1;
                }
                SeekStep::Left | SeekStep::Between => return Ok(()),
            }
        }
    };
    let taken = take();
    taken.map(|()| met).map_err(|error: trommel_reader::Error| (error.kind(), error.offset(), met))
}

/// Members that are counted or collected are checked like returned ones: the same errors at the
/// same offsets, after the same number of members.
#[test]
fn plain_members_are_checked() {
    let values = [
        r#""text""#,
        r#""""#,
        r#""tab\t""#,
        "\"tab\t\"",
        r#""\x""#,
        "\"\u{e9}\"",
        r#""no end"#,
        r#""a much longer text, behind which there is é""#,
        r#""login""#,
        "12",
        "-12",
        "0",
        "01",
        "1.5",
        "1.",
        "1e9",
        "12-",
        "1e",
        "true",
        "tru",
        "false",
        "null",
        "nul",
        "nothing",
        "",
        "+1",
        ",",
        "}",
        "]",
        "[1]",
        "[1}",
        "{\"login\":1}",
        "{]",
    ];
    for (value, pad) in values.into_iter().flat_map(|value| (0..70).map(move |pad| (value, pad))) {
        for (before, behind) in [("{", "}"), ("[", "]"), ("{\"a\":[{", "}]}"), ("{\"login\":0,", "}")] {
            let text = format!("{before}{}\"login\": {value}{behind} ", " ".repeat(pad));
            for backend in Backend::available() {
                let alone = taken(&text, backend, PlainMembers::Stop);
                for taking in [PlainMembers::Count, PlainMembers::Collect] {
                    assert_eq!(taken(&text, backend, taking), alone, "{backend:?}, {taking:?}: {text}");
                }
            }
        }
    }
}
