//! Checks every rule of every framing.

use trommel_reader::{Config, Cursor, ErrorKind, Framing, Syntax, Validation, View};
use trommel_testkit::chunks::Chunks;

/// The outcome of a record: its span, or its error and offset.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    At(u64, u64),
    Bad(Syntax, u64),
}
use Outcome::{At, Bad};

/// Reads all records to their ends, and checks their numbers.
fn outcomes(mut cursor: Cursor<'_>, skip: bool) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    loop {
        let read = cursor.next_record().and_then(|found| {
            if found && skip {
                let span = cursor.skip_value()?;
                assert_eq!(span.start, cursor.record_start());
                return Ok(Some((span.start, span.end)));
            }
            let start = cursor.record_start();
            while found && !cursor.is_at_end() {
                cursor.advance()?;
            }
            Ok(found.then(|| (start, cursor.offset())))
        });
        match read {
            Ok(None) => {
                assert!(!cursor.next_record().unwrap() && cursor.advance().unwrap().is_none());
                assert!(cursor.is_at_end() && cursor.peek().unwrap().is_none());
                return outcomes;
            }
            Ok(Some(span)) => {
                outcomes.push(At(span.0, span.1));
                assert_eq!(cursor.record(), outcomes.len() as u64 - 1);
            }
            Err(error) => {
                let ErrorKind::Syntax(syntax) = error.kind() else { panic!("{error}") };
                // Data after a value that was read to its end is an error of its record.
                if outcomes.len() as u64 == cursor.record() + 1 {
                    outcomes.pop();
                }
                outcomes.push(Bad(syntax, error.offset()));
                assert_eq!(cursor.record(), outcomes.len() as u64 - 1, "{error}");
                let again = cursor.advance().unwrap_err();
                assert_eq!((again.kind(), again.offset()), (error.kind(), error.offset()));
                if !cursor.can_recover() {
                    let again = cursor.next_record().unwrap_err();
                    assert_eq!((again.kind(), again.offset()), (error.kind(), error.offset()));
                    return outcomes;
                }
            }
        }
    }
}

/// Checks that all cursors have the same outcome.
fn check(framing: Framing, text: &str, expected: &[Outcome]) {
    check_bytes(framing, text.as_bytes(), expected);
}

fn check_bytes(framing: Framing, text: &[u8], expected: &[Outcome]) {
    let shown = String::from_utf8_lossy(text);
    for skip in [false, true] {
        let config = Config::new();
        let cursor = Cursor::from_view(View::new(text), framing, &config);
        assert_eq!(outcomes(cursor, skip), expected, "{framing:?} {shown:?}");
        for size in [1, 2, 3, 7, 64] {
            let cursor = Cursor::from_reader(Chunks::new(text, &[size]), framing, &config.window(size));
            assert_eq!(outcomes(cursor, skip), expected, "{framing:?} {shown:?} reads of {size}");
        }
    }
}

/// One value with white space around it, and nothing else; an empty input is an error.
#[test]
fn single() {
    check(Framing::Single, " {\"a\":1}\r\n", &[At(1, 8)]);
    check(Framing::Single, "0", &[At(0, 1)]);
    for (text, end) in [("", 0), ("  \n", 3), ("\u{FEFF}", 3), ("\u{FEFF} ", 4)] {
        check(Framing::Single, text, &[Bad(Syntax::Empty, end)]);
    }
    for (text, offset) in
        [("1 2", 2), ("{}{}", 2), ("[]\n[]", 3), ("1,2", 1), ("{}x", 2), ("{}]", 2), ("null\0", 4)]
    {
        check(Framing::Single, text, &[Bad(Syntax::TrailingData, offset)]);
    }
    check(Framing::Single, "\u{1E}1", &[Bad(Syntax::ExpectedValue, 0)]);
    check(Framing::Single, "[] \n []", &[Bad(Syntax::TrailingData, 5)]);
    check(Framing::Single, "01", &[Bad(Syntax::Number, 1)]);
}

/// One value per line. Blank lines are not records, CR LF ends a line like LF, the last line needs
/// no end, and an input without lines has no records.
#[test]
fn lines() {
    check(Framing::Lines, "", &[]);
    check(Framing::Lines, "\n \n\t\r\n\r\n", &[]);
    check(Framing::Lines, "\u{FEFF}", &[]);
    check(Framing::Lines, "1\n2\r\n\n \t3 \n[4,\t5]", &[At(0, 1), At(2, 3), At(8, 9), At(11, 17)]);
    check(Framing::Lines, "\u{FEFF}{}\n{}\n", &[At(3, 5), At(6, 8)]);
    // A line feed never occurs inside a value.
    check(Framing::Lines, "[1,\n2]", &[Bad(Syntax::UnexpectedEnd, 3), Bad(Syntax::TrailingData, 5)]);
    check(
        Framing::Lines,
        "1 2\n{}[]\n{},\n",
        &[Bad(Syntax::ValuesTouch, 2), Bad(Syntax::ValuesTouch, 6), Bad(Syntax::TrailingData, 11)],
    );
}

/// After a malformed line the next one is read, regardless of the error.
#[test]
fn lines_recover() {
    check(
        Framing::Lines,
        "{\"a\":\n1\n\"open\n2\nnul\n[1,]\n01\n\"\\ud800\"\n{]\n3",
        &[
            Bad(Syntax::UnexpectedEnd, 5),
            At(6, 7),
            Bad(Syntax::UnterminatedString, 13),
            At(14, 15),
            Bad(Syntax::UnexpectedEnd, 19),
            Bad(Syntax::TrailingComma, 23),
            Bad(Syntax::Number, 26),
            Bad(Syntax::LoneSurrogate, 29),
            Bad(Syntax::MismatchedBracket, 38),
            At(40, 41),
        ],
    );
    check_bytes(
        Framing::Lines,
        b"1\n\0\0\0\n\"\xFF\"\n\xEF\xBB\xBF1\n2",
        &[
            At(0, 1),
            Bad(Syntax::ExpectedValue, 2),
            Bad(Syntax::Utf8, 7),
            Bad(Syntax::ExpectedValue, 10),
            At(15, 16),
        ],
    );
}

/// Values one after the other. White space between them is optional; an empty stream has no
/// records; after a malformed value, reading cannot continue.
#[test]
fn concatenated() {
    check(Framing::Concatenated, "", &[]);
    check(Framing::Concatenated, " \n", &[]);
    check(
        Framing::Concatenated,
        "{}{}[]\"a\"\"b\"1 2\n3",
        &[At(0, 2), At(2, 4), At(4, 6), At(6, 9), At(9, 12), At(12, 13), At(14, 15), At(16, 17)],
    );
    check(
        Framing::Concatenated,
        "true false\tnulltrue\"a\"1-2e1 01",
        &[
            At(0, 4),
            At(5, 10),
            At(11, 15),
            At(15, 19),
            At(19, 22),
            At(22, 23),
            At(23, 27),
            At(28, 29),
            At(29, 30),
        ],
    );
    check(Framing::Concatenated, "1]2", &[At(0, 1), Bad(Syntax::ExpectedValue, 1)]);
    check(Framing::Concatenated, "[01]", &[Bad(Syntax::Number, 2)]);
    check(Framing::Concatenated, "1.x", &[Bad(Syntax::Number, 2)]);
    check(Framing::Concatenated, "\u{FEFF}1 \u{FEFF}2", &[At(3, 4), Bad(Syntax::ExpectedValue, 5)]);
}

/// RFC 7464: a separator before each record; blank elements are skipped; a number or literal at the
/// end of a record may be truncated; after a truncated record, the next one is read.
#[test]
fn text_sequences() {
    check(Framing::JsonSeq, "", &[]);
    check(Framing::JsonSeq, "\u{1E}\u{1E} \n\u{1E}", &[]);
    check(Framing::JsonSeq, "\u{1E}{}\n\u{1E}[1,\n2]\n\u{1E}\"a\"", &[At(1, 3), At(5, 11), At(13, 16)]);
    check(
        Framing::JsonSeq,
        "\u{1E}1\n\u{1E}2 \u{1E}3\u{1E}true\u{1E}null\t\u{1E}false",
        &[
            At(1, 2),
            At(4, 5),
            Bad(Syntax::TruncatedRecord, 8),
            Bad(Syntax::TruncatedRecord, 13),
            At(14, 18),
            Bad(Syntax::TruncatedRecord, 25),
        ],
    );
    check(
        Framing::JsonSeq,
        "\u{1E}{\"a\":[\u{1E}\"b\u{1E}tr\u{1E}-\u{1E}{}{}\u{1E}{},\u{1E}{}",
        &[
            Bad(Syntax::UnexpectedEnd, 7),
            Bad(Syntax::UnterminatedString, 10),
            Bad(Syntax::UnexpectedEnd, 13),
            Bad(Syntax::UnexpectedEnd, 15),
            Bad(Syntax::ValuesTouch, 18),
            Bad(Syntax::TrailingData, 23),
            At(25, 27),
        ],
    );
    // Data before the first separator is a malformed record.
    check(Framing::JsonSeq, " {}\u{1E}1\n", &[Bad(Syntax::ExpectedSeparator, 1), At(4, 5)]);
    check(Framing::JsonSeq, "\u{FEFF}\n\u{1E}{}", &[At(5, 7)]);
    check(Framing::JsonSeq, "{}", &[Bad(Syntax::ExpectedSeparator, 0)]);
}

/// Detection: a text sequence by its first byte; otherwise one value, or a stream if another value
/// follows after a line break.
#[test]
fn auto() {
    check(Framing::Auto, "{}", &[At(0, 2)]);
    check(Framing::Auto, "{}\n[] \r\n 1\n2\r3", &[At(0, 2), At(3, 5), At(9, 10), At(11, 12), At(13, 14)]);
    check(Framing::Auto, "{\n}\n\n[\n]\n", &[At(0, 3), At(5, 8)]);
    check(Framing::Auto, "\u{FEFF}1\n2", &[At(3, 4), At(5, 6)]);
    check(Framing::Auto, "\u{1E}1\n\u{1E}x\u{1E}2\n", &[At(1, 2), Bad(Syntax::Literal, 4), At(6, 7)]);
    for (text, end) in [("", 0), (" \n", 2), ("\u{FEFF}\n", 4)] {
        check(Framing::Auto, text, &[Bad(Syntax::Empty, end)]);
    }
}

/// Detection: values that touch are an error, and so is other data; neither makes a stream.
#[test]
fn auto_refuses() {
    for (text, offset) in
        [("{}{}", 2), ("true false", 5), ("1 2", 2), ("\"a\"1", 3), ("[]\t[]", 3), ("{} -1", 3)]
    {
        check(Framing::Auto, text, &[Bad(Syntax::ValuesTouch, offset)]);
    }
    check(Framing::Auto, "1\n2 3", &[At(0, 1), Bad(Syntax::ValuesTouch, 4)]);
    check(Framing::Auto, "01", &[Bad(Syntax::Number, 1)]);
    check(Framing::Auto, "1\n01", &[At(0, 1), Bad(Syntax::Number, 3)]);
    for (text, offset) in
        [("[1]]", 3), ("{}x", 2), ("{} ,", 3), ("{}\n}", 3), ("1\n\u{1E}2", 2), ("[]\n\u{0}", 3)]
    {
        check(Framing::Auto, text, &[Bad(Syntax::TrailingData, offset)]);
    }
    check(Framing::Auto, "1\n2\n]", &[At(0, 1), At(2, 3), Bad(Syntax::ExpectedValue, 4)]);
    check(Framing::Auto, "1\n[2\n3", &[At(0, 1), Bad(Syntax::ExpectedCommaOrEnd, 5)]);
}

/// UTF-16 and UTF-32 are refused by name, with and without a mark, and nothing after that is read.
#[test]
fn wide_encodings() {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>();
    for framing in [Framing::Single, Framing::Auto, Framing::Lines, Framing::Concatenated, Framing::JsonSeq] {
        for text in [utf16("{\"a\":1}\n"), utf16("\u{FEFF}[1]\n2"), utf16("[]\n")] {
            let swapped: Vec<_> = text.chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
            for text in [text, swapped, b"\0\0\0{\0\0\0}".to_vec(), b"\xFF\xFE\0\0[\0\0\0]\0\0\0".to_vec()] {
                for size in [1, 2, 4096] {
                    let config = Config::new();
                    let mut cursor =
                        Cursor::from_reader(Chunks::new(text.as_slice(), &[size]), framing, &config);
                    for _ in 0..2 {
                        let error = cursor.next_record().unwrap_err();
                        assert_eq!(error.kind(), ErrorKind::Syntax(Syntax::Encoding), "{framing:?} {text:?}");
                        assert_eq!(error.offset(), 0);
                    }
                }
            }
        }
    }
}

/// An unfinished record is left: unread with delimiters, skipped without them, for good in a single
/// document. Unread bytes are not checked.
#[test]
fn records_are_left_early() {
    for (framing, text, records) in [
        (Framing::Lines, "[1,nul]\n\"a\"\n{\"a\":[{\"b\":}\n2", 4),
        (Framing::JsonSeq, "\u{1E}[1,nul]\u{1E}\"a\"\u{1E}{\"a\":[{\"b\":}\u{1E}2", 4),
        (Framing::Concatenated, "[1,nul]\"a\"{\"a\":[{\"b\":}]}2", 4),
        (Framing::Auto, "[1,nul]\n\"a\"\n{\"a\":[{\"b\":}]}\n2", 4),
        (Framing::Single, "[1,nul] 2", 1),
    ] {
        for entered in 0..3 {
            for size in [1, 3, 64] {
                let config = Config::new().validation(Validation::Structural);
                let reader = Chunks::new(text.as_bytes(), &[size]);
                let mut cursor = Cursor::from_reader(reader, framing, &config.window(size));
                let mut count = 0;
                while cursor.next_record().unwrap() {
                    assert_eq!((cursor.record(), cursor.depth()), (count, 0));
                    for _ in 0..entered.min(if count == 1 || count == 3 { 0 } else { 2 }) {
                        cursor.advance().unwrap();
                    }
                    count += 1;
                }
                assert_eq!(count, records, "{framing:?} {entered}");
                assert_eq!(cursor.is_at_end(), framing != Framing::Single);
            }
        }
    }
}

/// Calling `next_record` for the first record is optional: moves do it, and earlier holds stay.
#[test]
fn moves_start_the_first_record() {
    let cases = [
        (Framing::Single, " {\"a\":1}"),
        (Framing::Auto, "\u{FEFF}{\"a\":1}"),
        (Framing::Auto, "\u{1E}\n\u{1E} {\"a\":1}\u{1E}2\n"),
        (Framing::Lines, "\n\n {\"a\":1}\n2"),
        (Framing::JsonSeq, "\u{1E}\u{1E}{\"a\":1}"),
        (Framing::Concatenated, "{\"a\":1}2"),
    ];
    for (framing, text) in cases {
        let start = text.find('{').unwrap() as u64;
        let cursor = || Cursor::from_reader(Chunks::new(text.as_bytes(), &[1]), framing, &Config::new());
        let moves: [fn(&mut Cursor<'_>); 4] = [
            |cursor| assert!(cursor.advance().unwrap().is_some()),
            |cursor| assert!(cursor.begin_value().is_ok()),
            |cursor| assert!(cursor.skip_value().is_ok()),
            |cursor| assert!(cursor.peek().unwrap().is_some()),
        ];
        for make in moves {
            let mut cursor = cursor();
            let mark = cursor.hold();
            for _ in 0..2 {
                make(&mut cursor);
                assert_eq!((cursor.record(), cursor.record_start()), (0, start), "{framing:?}");
                cursor.rewind(&mark);
            }
            make(&mut cursor);
            cursor.release();
        }
    }
    for framing in [Framing::Lines, Framing::JsonSeq, Framing::Concatenated] {
        let empty = || Cursor::from_view(View::new(b" "), framing, &Config::new());
        assert_eq!(empty().advance().unwrap(), None);
        assert_eq!(empty().peek().unwrap(), None);
        assert_eq!(empty().begin_value().unwrap_err().kind(), ErrorKind::Syntax(Syntax::Empty));
        assert_eq!(empty().skip_value().unwrap_err().kind(), ErrorKind::Syntax(Syntax::Empty));
    }
}

/// On a pipe, no read waits for more than it needs: a record is returned as soon as its end is
/// known.
#[test]
fn records_are_returned_as_soon_as_they_end() {
    let source = |framing, text: &'static str| {
        // Reading beyond the text fails.
        let reader = trommel_testkit::chunks::FailAfter::new(
            text.as_bytes(),
            text.len() as u64,
            std::io::ErrorKind::WouldBlock,
        );
        Cursor::from_reader(Chunks::new(reader, &[1]), framing, &Config::new())
    };
    for (framing, text) in [
        (Framing::Lines, "{}\n1\n"),
        (Framing::JsonSeq, "\u{1E}{}\u{1E}1\n"),
        (Framing::Concatenated, "{}1 "),
        (Framing::Auto, "{}\n1\n"),
    ] {
        let mut cursor = source(framing, text);
        for _ in 0..2 {
            assert!(cursor.next_record().unwrap(), "{framing:?}");
            assert!(cursor.skip_value().is_ok());
        }
        assert!(matches!(cursor.next_record().unwrap_err().kind(), ErrorKind::Io(_)));
    }
    assert!(source(Framing::Single, "[ ").begin_value().is_ok());
}
