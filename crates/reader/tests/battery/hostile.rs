//! Tests with input that tries to exhaust depth, memory, or the stack.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use trommel_reader::{
    Backend, Config, Cursor, Error, ErrorKind, Event, Framing, Kind, Limit, Limits, Payload, Result, Scalar,
    Span, Syntax, Text, Validation, View,
};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::effort::{cases, small_stack};
use trommel_testkit::repeat::Repeat;

/// Counts the bytes that are requested from a reader.
struct Counted<R>(R, Arc<AtomicU64>);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read(into)?;
        self.1.fetch_add(count as u64, Relaxed);
        Ok(count)
    }
}

/// Runs on a thread with a small stack.
fn on_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(small_stack()).spawn_scoped(scope, work).unwrap();
        thread.join().unwrap()
    })
}

fn with_limits(change: impl FnOnce(&mut Limits)) -> Config {
    let mut limits = Limits::default();
    change(&mut limits);
    Config::new().limits(limits)
}

fn both(config: Config) -> [Config; 2] {
    [config.validation(Validation::Strict), config.validation(Validation::Structural)]
}

/// R8: a billion opening brackets from a reader are refused at the first one that exceeds the
/// limit, after hardly any more bytes were read, for all kinds and all moves.
#[test]
fn depth_bomb_from_a_reader() {
    on_small_stack(|| {
        for (bracket, width) in [("[", 1), ("{\"a\":", 5), ("[{\"k\":[0,", 9), ("[ \n", 3)] {
            for config in both(Config::new()) {
                for walk in [|cursor: &mut Cursor<'_>| cursor.skip_value().map(|_| ()), advance_all] {
                    let read = Arc::new(AtomicU64::new(0));
                    let reader = Counted(Repeat::depth(bracket, 1_000_000_000 / width), Arc::clone(&read));
                    let mut cursor = Cursor::from_reader(reader, Framing::Auto, &config);
                    let error = walk(&mut cursor).unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Limit(Limit::Depth(10_000)), "{bracket}");
                    assert!(read.load(Relaxed) < 10_000 * width + (2 << 16), "{bracket} {read:?}");
                }
            }
        }
    });
}

fn advance_all(cursor: &mut Cursor<'_>) -> Result<()> {
    while cursor.advance()?.is_some() {}
    Ok(())
}

/// R8: a million levels in memory: refused at the default limit, and read without recursion at a
/// higher limit.
#[test]
fn depth_bomb_in_memory() {
    on_small_stack(|| {
        let deep = [vec![b'['; 1_000_000], vec![b']'; 1_000_000]].concat();
        let bare = &deep[..1_000_000];
        for config in both(Config::new()) {
            for text in [&deep, bare] {
                let error = Cursor::new(text, &config).skip_value().unwrap_err();
                assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit(Limit::Depth(10_000)), 10_000));
            }
        }
        for config in both(with_limits(|limits| limits.depth = u32::MAX)) {
            assert_eq!(Cursor::new(&deep, &config).skip_value().unwrap(), Span::new(0, 2_000_000));
            advance_all(&mut Cursor::new(&deep, &config)).unwrap();
            let error = Cursor::new(bare, &config).skip_value().unwrap_err();
            assert_eq!((error.kind(), error.offset()), (ErrorKind::Syntax(Syntax::UnexpectedEnd), 1_000_000));
            let most = vec![b'['; 2_000_000];
            let error = Cursor::new(&most, &config).skip_value().unwrap_err();
            assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit(Limit::Depth(1 << 20)), 1 << 20));
        }
    });
}

/// R8: the limit is exact, and the same for entered and skipped containers at any depth.
#[test]
fn depth_limit_is_exact() {
    for limit in [1, 2, 63, 64, 65, 129] {
        for entered in [0, limit / 2, limit - 1] {
            for config in both(with_limits(|limits| limits.depth = limit)) {
                for (depth, taken) in [(limit, true), (limit + 1, false)] {
                    let (open, close) = ("[".repeat(depth as usize), "]".repeat(depth as usize));
                    let text = format!("{open}{close}");
                    for backend in Backend::available() {
                        let mut cursor = Cursor::new(text.as_bytes(), &config.backend(backend));
                        for _ in 0..entered {
                            assert_eq!(cursor.begin_value().unwrap(), Event::Begin(Kind::Array));
                            assert!(cursor.next_element().unwrap());
                        }
                        let skipped = cursor.skip_value();
                        assert_eq!(skipped.is_ok(), taken, "{limit} {entered}");
                        let refused = skipped.err().map(|error| (error.kind(), error.offset()));
                        let kind = ErrorKind::Limit(Limit::Depth(u64::from(limit)));
                        assert_eq!(refused, (!taken).then_some((kind, u64::from(limit))));
                    }
                }
            }
        }
    }
}

/// Reads `{"text": …, "after": 1}` to its end, and passes the string to `look`.
fn giant(reader: impl Read + Send, config: &Config, look: impl FnOnce(Text<'_>)) -> Result<Span> {
    let mut cursor = Cursor::from_reader(reader, Framing::Single, config);
    cursor.begin_value()?;
    assert!(cursor.next_member()?);
    cursor.begin_value()?;
    let span = cursor.span();
    let Payload::Scalar(Scalar::String(text)) = cursor.payload() else { panic!("no string") };
    look(text);
    assert!(cursor.next_member()? && cursor.name().is_some_and(|name| name.eq_str("after")));
    cursor.skip_value()?;
    assert!(!cursor.next_member()? && cursor.advance()?.is_none());
    Ok(span)
}

/// R10: a string far beyond the limit is read in pieces; its start is kept, and its bytes and
/// characters are counted.
#[test]
fn giant_string() {
    let bytes = cases(64 << 20, 2 << 30);
    let piece = r"plain text, é and 😀, \n \u00e9 \ud83d\ude00. ".repeat(500);
    let characters =
        piece.matches("plain").count() as u64 * "plain text, é and 😀, n é 😀. ".chars().count() as u64;
    let count = bytes / piece.len() as u64;
    let config = with_limits(|limits| limits.token_bytes = 1 << 20);
    let text = Repeat::string(&piece, count);
    let span = giant(text, &config, |text| {
        assert!(text.is_cut() && text.is_escaped() && !text.eq_str("plain"));
        assert_eq!((text.byte_len(), text.char_len()), (count * piece.len() as u64, count * characters));
        assert!(text.raw().len() > 1000 && piece.as_bytes().starts_with(text.raw()));
        assert!(
            text.decode().starts_with("plain text, é and 😀, \n é 😀. plain")
                && !text.decode().contains('\u{FFFD}')
        );
    });
    assert_eq!(span.unwrap().len(), count * piece.len() as u64 + 2);
}

/// R1, R10: the window in which a long string is cut does not change its counts, its start, or its
/// errors.
#[test]
fn long_strings_in_every_window() {
    let body = r#"aé€😀\\\"\u00e9\ud83d\ude00x\/"#.repeat(60);
    let good = format!("{{\"text\":\"{body}\",\"after\":1}}");
    let chars =
        serde_json::from_str::<serde_json::Value>(&good).unwrap()["text"].as_str().unwrap().chars().count();
    let length = body.len() as u64;
    for limit in [5, 30, 200, 1500, length - 1, length] {
        for size in (1..=129).chain([1000]) {
            let config = with_limits(|limits| limits.token_bytes = limit).window(size);
            let reader = Chunks::new(good.as_bytes(), &[size]);
            let check = |text: Text<'_>| {
                assert_eq!(text.is_cut(), limit < length, "{limit} {size}");
                assert_eq!((text.byte_len(), text.char_len()), (length, chars as u64), "{limit} {size}");
                assert!(body.as_bytes().starts_with(text.raw()) && !text.decode().contains('\u{FFFD}'));
                let most = if text.is_cut() { limit.min(1024) } else { length };
                let kept = text.raw().len() as u64;
                assert!(kept <= most && kept + 12 > most, "{limit} {size}: {kept}");
            };
            assert_eq!(giant(reader, &config, check).unwrap(), Span::new(8, 8 + length + 2));
        }
    }
}

/// R1, R10: an error anywhere in a long string has the same offset in any window as in memory.
#[test]
fn faults_in_long_strings() {
    let body = "aé€😀\\n\\u00e9\\ud83d\\ude00".repeat(20);
    let faults: [&[u8]; 9] = [
        b"\xFF",
        b"\x01",
        b"\\x",
        b"\\u12g",
        b"\\ud800",
        b"\xC3",
        b"\xE2\x82",
        b"\xF0\x9F\x98",
        b"\xED\xA0\x80",
    ];
    for (index, fault) in faults.into_iter().enumerate() {
        for at in (0..=body.len()).filter(|&at| body.is_char_boundary(at)).step_by(3) {
            let before = &body.as_bytes()[..at];
            let text = [b"{\"text\":\"", before, fault, b"\x02", &body.as_bytes()[at..], b"\"}"].concat();
            let expected = giant(text.as_slice(), &Config::new(), |_| ()).unwrap_err();
            let whole = Cursor::new(&text, &Config::new()).skip_value().unwrap_err();
            assert_eq!((whole.kind(), whole.offset(), whole.line_column()), same(&expected));
            let size = 1 + (at * 7 + index) % 70;
            let config = with_limits(|limits| limits.token_bytes = 8).window(size);
            let error = giant(Chunks::new(text.as_slice(), &[size]), &config, |_| ()).unwrap_err();
            assert_eq!(same(&error), same(&expected), "{fault:?} at {at} in reads of {size}");
        }
    }
}

fn same(error: &Error) -> (ErrorKind, u64, Option<trommel_reader::LineColumn>) {
    (error.kind(), error.offset(), error.line_column())
}

/// R10: a number of a million digits is one number; a longer one is refused at its first byte, like
/// a name, in any window.
#[test]
fn giant_numbers_and_names() {
    let digits = "7".repeat(1_000_000);
    let number = format!("[-{digits}.{digits}e-{digits}]");
    for config in both(Config::new()) {
        for size in [1 << 16, 999_983] {
            let reader = Chunks::new(number.as_bytes(), &[size]);
            let mut cursor = Cursor::from_reader(reader, Framing::Single, &config);
            cursor.begin_value().unwrap();
            assert!(cursor.next_element().unwrap());
            cursor.begin_value().unwrap();
            let Payload::Scalar(Scalar::Number(read)) = cursor.payload() else { panic!("no number") };
            assert_eq!(read.lexeme(), &number[1..number.len() - 1]);
            assert_eq!((read.as_i64(), read.as_f64().to_bits()), (None, (-0.0_f64).to_bits()));
        }
    }
    for (limit, text, start) in
        [(99, format!("[0,{}]", "1".repeat(100)), 3), (99, format!("{{ \"{}\":1}}", "n".repeat(100)), 2)]
    {
        for limit in [limit, limit + 1] {
            for size in [1, 7, 64, 99, 100, 101, 4096] {
                let config = with_limits(|limits| limits.token_bytes = limit).window(size);
                let streamed =
                    Cursor::from_reader(Chunks::new(text.as_bytes(), &[size]), Framing::Single, &config)
                        .skip_value()
                        .map_err(|error| same(&error));
                let whole = Cursor::new(text.as_bytes(), &config).skip_value().map_err(|error| same(&error));
                assert_eq!(streamed, whole, "{limit} {size}");
                let refused = whole.err().map(|(kind, offset, _)| (kind, offset));
                let expected = (limit == 99).then_some((ErrorKind::Limit(Limit::TokenBytes(limit)), start));
                assert_eq!(refused, expected, "{limit} {size}");
            }
        }
    }
}

/// R1: the first error is reported, even if a name is too long.
#[test]
fn faults_in_long_names() {
    // The bytes within the limit of 20 are checked, and half a character is known to be invalid by
    // the byte after it.
    let faults: [(&[u8], usize); 4] = [(b"\xFF", 20), (b"\x01", 21), (b"\\x", 21), (b"\xC3", 19)];
    for (fault, from) in faults {
        for at in 0..40 {
            let text =
                [b"{\"", vec![b'n'; at].as_slice(), fault, vec![b'm'; 40].as_slice(), b"\":1}"].concat();
            let config = with_limits(|limits| limits.token_bytes = 20);
            let whole = Cursor::new(&text, &config).skip_value().unwrap_err();
            let is_limit = whole.kind() == ErrorKind::Limit(Limit::TokenBytes(20));
            assert_eq!(is_limit, at >= from, "{fault:?} {at}");
            for size in 1..=70 {
                let reader = Chunks::new(text.as_slice(), &[size]);
                let mut cursor = Cursor::from_reader(reader, Framing::Single, &config.window(size));
                assert_eq!(same(&cursor.skip_value().unwrap_err()), same(&whole), "{fault:?} {at} {size}");
            }
        }
    }
}

/// Touching numbers, of which a concatenated stream may have millions, take linear time.
#[test]
fn touching_numbers_are_read_once_each() {
    let count = 2_000_000;
    let config = Config::new();
    let text = "0".repeat(count as usize);
    for mut cursor in [
        Cursor::from_reader(Repeat::depth("0", count), Framing::Concatenated, &config),
        Cursor::from_view(View::new(text.as_bytes()), Framing::Concatenated, &config),
    ] {
        let mut records = 0;
        while cursor.next_record().unwrap() {
            assert_eq!(cursor.skip_value().unwrap(), Span::new(records, records + 1));
            records += 1;
        }
        assert_eq!(records, count);
    }
}

/// A skip under structural validation detects the promised errors after a gigabyte as well as at
/// once.
#[test]
fn skips_detect_promised_errors() {
    let config = Config::new().validation(Validation::Structural);
    let inside = "\"]}\\\"\",{},[{}],nul,\"\\ud800\",";
    for (tail, kind, back) in [
        ("1]", None, 0),
        ("1", Some(Syntax::UnexpectedEnd), 0),
        ("[1]", Some(Syntax::UnexpectedEnd), 0),
        ("\"open]", Some(Syntax::UnterminatedString), 0),
        ("\"open\\\"]", Some(Syntax::UnterminatedString), 0),
        ("1}", Some(Syntax::MismatchedBracket), 1),
        ("{1]]", Some(Syntax::MismatchedBracket), 1),
        ("{[1}]]", None, 0),
    ] {
        for count in [0, 1, 100, 20_000] {
            let text = Repeat::new("[", inside, "", tail, count);
            let length = text.len();
            let skipped = Cursor::from_reader(text, Framing::Single, &config).skip_value();
            let error = skipped.err().map(|error| (error.kind(), error.offset()));
            assert_eq!(error, kind.map(|kind| (ErrorKind::Syntax(kind), length - back)), "{tail} {count}");
        }
    }
}
