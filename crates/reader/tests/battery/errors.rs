//! Checks every error: its offset, line and column, excerpt, and advice.

use std::io;

use trommel_reader::{
    Config, Cursor, Error, ErrorKind, Framing, Limit, Limits, LineColumn, Result, Syntax, Validation, View,
};
use trommel_testkit::chunks::{Chunks, FailAfter};
use trommel_testkit::repeat::Repeat;

/// Reads everything up to the first error.
fn read(cursor: &mut Cursor<'_>) -> Result<()> {
    while cursor.next_record()? {
        while cursor.advance()?.is_some() {}
    }
    Ok(())
}

/// The error of a text, which must be the same for every kind of cursor.
fn refusal(text: &[u8], framing: Framing) -> Error {
    let config = Config::new();
    let whole = read(&mut Cursor::from_view(View::new(text), framing, &config)).unwrap_err();
    for size in [1, 16, 65] {
        let reader = Chunks::new(text, &[size]);
        let error = read(&mut Cursor::from_reader(reader, framing, &config.window(size))).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (whole.kind(), whole.offset()), "reads of {size}");
        assert_eq!(error.to_string(), whole.to_string(), "reads of {size}");
        let (kept, expected) = (error.excerpt(), whole.excerpt());
        assert_eq!(kept.bytes()[..kept.at()], expected.bytes()[..expected.at()], "reads of {size}");
    }
    whole
}

/// One row per fault: the text, its framing, and the message with its position. Every variant of
/// `Syntax` has a row.
const FAULTS: &[(Syntax, Framing, &[u8], &str)] = &[
    (Syntax::Empty, Framing::Single, b" \n ", "the input is empty at byte 3 (line 2, column 2)"),
    (
        Syntax::UnexpectedEnd,
        Framing::Single,
        b"[1,",
        "the input ends inside a value at byte 3 (line 1, column 4)",
    ),
    (
        Syntax::UnexpectedEnd,
        Framing::Single,
        b"{\"a\"",
        "the input ends inside a value at byte 4 (line 1, column 5)",
    ),
    (
        Syntax::UnexpectedEnd,
        Framing::Single,
        b"[-",
        "the input ends inside a value at byte 2 (line 1, column 3)",
    ),
    (
        Syntax::UnexpectedEnd,
        Framing::Single,
        b"[tru",
        "the input ends inside a value at byte 4 (line 1, column 5)",
    ),
    (
        Syntax::UnterminatedString,
        Framing::Single,
        b"{\"a\":\n\"b\\",
        "the input ends inside a string at byte 9 (line 2, column 4)",
    ),
    (
        Syntax::UnterminatedString,
        Framing::Lines,
        b"\"\xC3\n1",
        "the input ends inside a string at byte 2 (line 1, column 3)",
    ),
    (Syntax::ExpectedValue, Framing::Single, b"{\"a\":}", "expected a value at byte 5 (line 1, column 6)"),
    (Syntax::ExpectedValue, Framing::Single, b"['a']", "expected a value at byte 1 (line 1, column 2)"),
    (Syntax::ExpectedName, Framing::Single, b"{a:1}", "expected an object key at byte 1 (line 1, column 2)"),
    (
        Syntax::ExpectedName,
        Framing::Single,
        b"{\"a\":1,2}",
        "expected an object key at byte 7 (line 1, column 8)",
    ),
    (
        Syntax::ExpectedColon,
        Framing::Single,
        b"{\"a\" 1}",
        "expected a colon after the name at byte 5 (line 1, column 6)",
    ),
    (
        Syntax::ExpectedCommaOrEnd,
        Framing::Single,
        "[\"é😀\" \"b\"]".as_bytes(),
        "expected a comma or the closing bracket at byte 10 (line 1, column 7)",
    ),
    (
        Syntax::TrailingComma,
        Framing::Single,
        b"[1, ]",
        "a comma before the closing bracket at byte 4 (line 1, column 5)",
    ),
    (
        Syntax::TrailingComma,
        Framing::Single,
        b"{\"a\":1,}",
        "a comma before the closing bracket at byte 7 (line 1, column 8)",
    ),
    (
        Syntax::MismatchedBracket,
        Framing::Single,
        b"[\n\n 1}",
        "the bracket does not close what is open at byte 5 (line 3, column 3)",
    ),
    (
        Syntax::MismatchedBracket,
        Framing::Single,
        b"{]",
        "the bracket does not close what is open at byte 1 (line 1, column 2)",
    ),
    (Syntax::Literal, Framing::Single, b"[nul]", "not a JSON literal at byte 1 (line 1, column 2)"),
    (Syntax::Literal, Framing::Single, b"[True]", "not a JSON literal at byte 1 (line 1, column 2)"),
    (Syntax::Literal, Framing::Single, b"[1,NaN]", "not a JSON literal at byte 3 (line 1, column 4)"),
    (Syntax::Number, Framing::Single, b"[012]", "not a JSON number at byte 2 (line 1, column 3)"),
    (Syntax::Number, Framing::Single, b"[1.]", "not a JSON number at byte 3 (line 1, column 4)"),
    (Syntax::Number, Framing::Single, b"[+1]", "not a JSON number at byte 1 (line 1, column 2)"),
    (Syntax::Number, Framing::Single, b"[1,.5]", "not a JSON number at byte 3 (line 1, column 4)"),
    (
        Syntax::ControlCharacter,
        Framing::Single,
        b"\"a\tb\"",
        "a control character in a string at byte 2 (line 1, column 3)",
    ),
    (
        Syntax::ControlCharacter,
        Framing::Single,
        b"[\"\0\"]",
        "a control character in a string at byte 2 (line 1, column 3)",
    ),
    (Syntax::Escape, Framing::Single, b"\"\\u12x4\"", "not a JSON escape at byte 1 (line 1, column 2)"),
    (Syntax::Escape, Framing::Single, b"{\"a\\'\":1}", "not a JSON escape at byte 3 (line 1, column 4)"),
    (
        Syntax::LoneSurrogate,
        Framing::Single,
        b"\"\\ud83dx\"",
        "half of a surrogate pair at byte 1 (line 1, column 2)",
    ),
    (
        Syntax::LoneSurrogate,
        Framing::Single,
        b"\"x\\udE00\"",
        "half of a surrogate pair at byte 2 (line 1, column 3)",
    ),
    (Syntax::Utf8, Framing::Single, b"\"ok \xC3(\"", "not UTF-8 at byte 4 (line 1, column 5)"),
    (Syntax::Utf8, Framing::Single, b"{\"\xED\xA0\x80\":1}", "not UTF-8 at byte 2 (line 1, column 3)"),
    (
        Syntax::Encoding,
        Framing::Single,
        b"[\0]\0",
        "the input is UTF-16 or UTF-32 at byte 0 (line 1, column 1)",
    ),
    (
        Syntax::TrailingData,
        Framing::Single,
        b"{}\n{}",
        "unexpected data after the value at byte 3 (line 2, column 1)",
    ),
    (
        Syntax::TrailingData,
        Framing::Auto,
        b"\xEF\xBB\xBF{} ;",
        "unexpected data after the value at byte 6 (line 1, column 4)",
    ),
    (
        Syntax::ValuesTouch,
        Framing::Lines,
        b"1\r\n1 2",
        "another value follows without a line break at byte 5 (line 2, column 3)",
    ),
    (
        Syntax::TruncatedRecord,
        Framing::JsonSeq,
        b"\x1E1\n\x1E2",
        "the record may be truncated at byte 5 (line 2, column 3)",
    ),
    (
        Syntax::ExpectedSeparator,
        Framing::JsonSeq,
        b"\n1",
        "expected the record separator 0x1E at byte 1 (line 2, column 1)",
    ),
];

/// R45: every fault has a code, its offset, its line and column in characters, a sentence, and
/// advice.
#[test]
fn faults() {
    let mut seen = Vec::new();
    for (syntax, framing, text, message) in FAULTS {
        let error = refusal(text, *framing);
        let shown = String::from_utf8_lossy(text);
        assert_eq!(error.kind(), ErrorKind::Syntax(*syntax), "{shown:?}");
        let help = error.help().unwrap_or_else(|| panic!("{syntax:?} has no next step"));
        assert_eq!(error.to_string(), format!("{message}; {help}"), "{shown:?}");
        assert!(error.is_syntax() && !error.is_limit() && !error.is_cancelled());
        let excerpt = error.excerpt();
        assert_eq!((excerpt.bytes(), excerpt.at() as u64), (*text, error.offset()), "{shown:?}");
        seen.push(syntax.code());
    }
    seen.sort_unstable();
    seen.dedup();
    // All variants: the enum cannot be listed here, but its codes can.
    let all = [
        "control_character",
        "empty",
        "encoding",
        "escape",
        "expected_colon",
        "expected_comma_or_end",
        "expected_name",
        "expected_separator",
        "expected_value",
        "literal",
        "lone_surrogate",
        "mismatched_bracket",
        "number",
        "trailing_comma",
        "trailing_data",
        "truncated_record",
        "unexpected_end",
        "unterminated_string",
        "utf8",
        "values_touch",
    ];
    assert_eq!(seen, all);
}

/// R45: so do limits, changes of the input, and errors of the system.
#[test]
fn other_errors() {
    let shown = |kind| Error::plain(kind, 7).to_string();
    for (limit, text) in [
        (Limit::Depth(3), "nested deeper than the limit of 3 levels at byte 7; raise the depth limit"),
        (
            Limit::TokenBytes(4),
            "a name or number longer than the limit of 4 bytes at byte 7; raise the token limit",
        ),
        (Limit::SpoolBytes(5), "held bytes exceed the spool limit of 5 bytes at byte 7; raise the spool"),
        (Limit::Ratio(6), "decompresses to more than 6 times its size at byte 7; raise the ratio limit"),
        (
            Limit::Other("strata", 8),
            "strata is over its limit of 8 at byte 7; raise the limit, or request less",
        ),
    ] {
        let error = Error::plain(ErrorKind::Limit(limit), 7);
        assert!(error.to_string().starts_with(text), "{error}");
        assert!(error.is_limit() && error.line_column().is_none() && error.kind().code() == "limit");
    }
    assert!(
        shown(ErrorKind::SourceChanged)
            .starts_with("the input changed while it was read at byte 7; read it when no process")
    );
    assert_eq!(shown(ErrorKind::Cancelled), "cancelled at byte 7");
    assert_eq!(ErrorKind::SourceChanged.code(), "source_changed");
    assert_eq!(ErrorKind::Cancelled.code(), "cancelled");
    let cause = io::Error::new(io::ErrorKind::StorageFull, "no room for the temporary file");
    let error = Error::io(cause, 9).with_line_column(LineColumn::new(2, 3));
    assert_eq!(error.kind(), ErrorKind::Io(io::ErrorKind::StorageFull));
    assert_eq!(error.to_string(), "no room for the temporary file at byte 9 (line 2, column 3)");
    assert_eq!((error.kind().code(), error.help()), ("io", None));
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "no room for the temporary file");
    assert_eq!(format!("{error:?}"), "Error(Io(StorageFull), 9)");
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert!(size_of::<Result<Option<trommel_reader::Event>>>() <= 2 * size_of::<usize>());
}

/// R45: on a stream, the line, the column, and the bytes before an error are known after the window
/// has moved on, and excerpts are short.
#[test]
fn far_into_a_stream() {
    let line = "{\"text\": \"é and 😀\", \"list\": [1, 2]}\n";
    for count in [0, 1, 20, 3_000] {
        for window in [16, 4096, 1 << 16] {
            for (tail, into) in [("{\"text\": nul}", 9), ("\n\n[\"é\", x]", 9)] {
                let text = Repeat::new("", line, "", tail, count);
                let at = text.len() - tail.len() as u64 + into;
                let framing = if count == 0 { Framing::Single } else { Framing::Auto };
                let mut cursor = Cursor::from_reader(text, framing, &Config::new().window(window));
                let error = read(&mut cursor).unwrap_err();
                assert_eq!(
                    (error.kind(), error.offset()),
                    (ErrorKind::Syntax(Syntax::Literal), at),
                    "{count} {window}"
                );
                let empty = tail.len() - tail.trim_start().len();
                let column = if empty > 0 { 7 } else { 10 };
                assert_eq!(
                    error.line_column(),
                    Some(LineColumn::new(count + 1 + empty as u64, column)),
                    "{count} {window}"
                );
                let excerpt = error.excerpt();
                assert!(excerpt.at() as u64 == at.min(80) && excerpt.bytes().len() <= 160);
                assert!(excerpt.bytes()[excerpt.at()..].starts_with(&tail.as_bytes()[into as usize..][..1]));
            }
        }
    }
}

/// R1: a skip under structural validation reports the same position in any window, even if the
/// skipped bytes are gone.
#[test]
fn structural_errors_on_streams() {
    let text = format!("{{\"a\": {}}}, \"b\": 1}}\n", "[\n{\"x\": \"]\"},".repeat(50));
    let config = Config::new().validation(Validation::Structural);
    let whole = Cursor::new(text.as_bytes(), &config).skip_value().unwrap_err();
    for size in 1..=129 {
        let reader = Chunks::new(text.as_bytes(), &[size]);
        let mut cursor = Cursor::from_reader(reader, Framing::Single, &config.window(size));
        let error = cursor.skip_value().unwrap_err();
        assert_eq!(error.to_string(), whole.to_string(), "reads of {size}");
    }
    assert_eq!(whole.kind(), ErrorKind::Syntax(Syntax::UnexpectedEnd));
}

/// Lines and columns of a view that starts later count from the view; the offset is that of the
/// input.
#[test]
fn positions_in_views() {
    let error =
        read(&mut Cursor::from_view(View::at(b"1\n 2 3", 1000), Framing::Lines, &Config::new())).unwrap_err();
    assert_eq!((error.offset(), error.line_column()), (1005, Some(LineColumn::new(2, 4))));
    let mut cursor = Cursor::from_view(View::at(b"[1,\n2]", 50), Framing::Single, &Config::new());
    assert_eq!(cursor.line_column(54), Some(LineColumn::new(2, 1)));
    assert_eq!(cursor.line_column(51), Some(LineColumn::new(1, 2)));
}

/// The error of a reader is returned with the offset so far, is final, and stops the reading.
#[test]
fn failing_readers() {
    for after in [0, 1, 5, 100, 70_000] {
        for kind in [io::ErrorKind::ConnectionReset, io::ErrorKind::InvalidData, io::ErrorKind::TimedOut] {
            for framing in [Framing::Single, Framing::Lines, Framing::Auto] {
                let reader = FailAfter::new(Repeat::new("[", "1,\t", "", "1]", 1 << 30), after, kind);
                let mut cursor = Cursor::from_reader(reader, framing, &Config::new());
                let error = read(&mut cursor).unwrap_err();
                assert_eq!((error.kind(), error.offset()), (ErrorKind::Io(kind), after));
                assert!(!error.is_syntax() && error.message() == "injected failure");
                for again in [cursor.next_record().err(), cursor.advance().err(), cursor.peek().err()] {
                    assert_eq!(again.map(|again| again.kind()), Some(ErrorKind::Io(kind)), "{framing:?}");
                }
            }
        }
    }
}

/// After a record that exceeds a limit, later records are read.
#[test]
fn records_after_a_limit_are_read() {
    let mut limits = Limits::default();
    limits.depth = 2;
    limits.token_bytes = 4;
    let config = Config::new().limits(limits);
    let text = "[[1]]\n[[[2]]]\n{\"long name\":1}\n12345\n[\"a long string is none\"]";
    let mut cursor = Cursor::from_view(View::new(text.as_bytes()), Framing::Lines, &config);
    let mut outcomes = Vec::new();
    while cursor.next_record().unwrap() {
        outcomes.push(cursor.skip_value().map(|_| ()).map_err(|error| error.kind()));
    }
    let (depth, token) = (ErrorKind::Limit(Limit::Depth(2)), ErrorKind::Limit(Limit::TokenBytes(4)));
    assert_eq!(outcomes, [Ok(()), Err(depth), Err(token), Err(token), Ok(())]);
}

/// Input in another format is named by its first bytes, with the command that unpacks it.
#[test]
fn other_formats_are_named() {
    let mut tar = vec![0; 512];
    tar[..9].copy_from_slice(b"data.json");
    tar[257..262].copy_from_slice(b"ustar");
    let formats: [(&[u8], &str, &str); 5] = [
        (b"\xFD7zXZ\0\0\x04", "xz", "xz -dc FILE"),
        (b"BZh91AY&SY", "bzip2", "bzip2 -dc FILE"),
        (b"PK\x03\x04\x14\0", "zip", "unzip -p FILE"),
        (b"\x04\x22\x4D\x18d@", "lz4", "lz4 -dc FILE"),
        (&tar, "tar", "tar -xOf FILE"),
    ];
    for (bytes, format, command) in formats {
        for framing in [Framing::Auto, Framing::Single, Framing::Lines, Framing::Concatenated] {
            let error = read(&mut Cursor::from_view(View::new(bytes), framing, &Config::new())).unwrap_err();
            assert_eq!(error.message(), format!("the input is {format} data, not JSON"), "{framing:?}");
            assert!(error.help().is_some_and(|help| help.contains(command)), "{error}");
            // A pipe returns its first bytes one by one.
            if format != "tar" {
                let reader = Chunks::new(bytes, &[1]);
                let piped = read(&mut Cursor::from_reader(reader, framing, &Config::new())).unwrap_err();
                assert_eq!(piped.to_string(), error.to_string(), "{framing:?}");
            }
        }
    }
    for text in ["B", "BZ", "P", "7x", "hello"] {
        let error = refusal(text.as_bytes(), Framing::Auto);
        assert!(!error.to_string().contains("data, not JSON"), "{error}");
    }
}

#[test]
fn comments_are_recognized() {
    for text in [
        "{\"a\": 1} // c",
        "// c\n{}",
        "{\"a\": /* c */ 1}",
        "{ // c\n\"a\": 1}",
        "{\"a\" /* c */: 1}",
        "[1 # one\n]",
        "# c\n{}",
        "[1, // c\n2]",
    ] {
        let error = refusal(text.as_bytes(), Framing::Auto);
        assert!(error.to_string().ends_with("; remove comments: JSON has none"), "{text}: {error}");
    }
    for text in ["[1 2]", "{a: 1}", "{} x", "[\"/\" 1]", "\"a\\#\""] {
        let error = refusal(text.as_bytes(), Framing::Auto);
        assert!(!error.to_string().contains("comments"), "{text}: {error}");
    }
}
