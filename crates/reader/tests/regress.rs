//! Faults of other JSON readers, each named after the project and the thread that reports it. Each
//! input is read as a slice and as a stream in awkward reads, on every backend, by entering and by
//! skipping.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

use trommel_reader::{
    Backend, Config, Cursor, ErrorKind, Event, Framing, Limit, Number, Payload, Result, Scalar, Span, Syntax,
    Validation, View,
};
use trommel_testkit::chunks::Chunks;

/// Runs `work` on every kind of cursor over the text, and checks that the results are equal.
fn everywhere<T: PartialEq + std::fmt::Debug>(
    text: &[u8],
    work: impl Fn(&mut Cursor<'_>) -> Result<T>,
) -> Result<T> {
    let mut outcomes = Vec::new();
    for backend in Backend::available() {
        for validation in [Validation::Strict, Validation::Structural] {
            let config = Config::new().backend(backend).validation(validation);
            outcomes.push(work(&mut Cursor::from_view(View::new(text), Framing::Single, &config)));
            for size in [1, 63, 64, 65] {
                let reader = Chunks::new(text, &[size]);
                outcomes.push(work(&mut Cursor::from_reader(reader, Framing::Single, &config.window(size))));
            }
        }
    }
    let outcome = outcomes.swap_remove(0);
    for other in outcomes {
        match (&outcome, &other) {
            (Ok(one), Ok(other)) => assert_eq!(one, other, "{}", String::from_utf8_lossy(text)),
            (Err(one), Err(other)) => assert_eq!((one.kind(), one.offset()), (other.kind(), other.offset())),
            _ => panic!("{outcome:?} {other:?} {}", String::from_utf8_lossy(text)),
        }
    }
    outcome
}

fn all(cursor: &mut Cursor<'_>) -> Result<u64> {
    let mut events = 0;
    while cursor.advance()?.is_some() {
        events += 1;
    }
    Ok(events)
}

fn skip(cursor: &mut Cursor<'_>) -> Result<Span> {
    cursor.skip_value()
}

/// The syntax error of reading the whole text.
fn refusal(text: &[u8]) -> Option<Syntax> {
    everywhere(text, all).err().map(|error| match error.kind() {
        ErrorKind::Syntax(syntax) => syntax,
        kind => panic!("{kind:?}"),
    })
}

/// The members with a name, found by walking the outermost object and skipping every value.
fn spans_of(name: &str) -> impl Fn(&mut Cursor<'_>) -> Result<Vec<Span>> {
    move |cursor| {
        let mut spans = Vec::new();
        cursor.begin_value()?;
        while cursor.next_member()? {
            let found = cursor.name().is_some_and(|text| text.eq_str(name));
            let span = cursor.skip_value()?;
            spans.extend(found.then_some(span));
        }
        Ok(spans)
    }
}

/// rsonpath#971: matches across certain block edges were lost.
#[test]
fn rsonpath_971_block_edge() {
    for shift in 0..192 {
        let text = format!(
            "{{\"{}\":0,\"key\":[1,{{}}],\"x\":\"]\",\"key\":\"key\",\"key\":{{\"key\":2}}}}",
            "p".repeat(shift)
        );
        let spans = everywhere(text.as_bytes(), spans_of("key")).unwrap();
        let values: Vec<_> = spans.iter().map(|span| &text[span.start as usize..span.end as usize]).collect();
        assert_eq!(values, ["[1,{}]", "\"key\"", "{\"key\":2}"], "shift {shift}");
    }
}

/// rsonpath#249: a name longer than a block, and a colon far from its name, made the engine panic.
#[test]
fn rsonpath_249_long_labels() {
    for length in 1..=300 {
        let (name, space) = ("n".repeat(length), " ".repeat(length * 2 % 301));
        let text = format!("{{\"{name}\"{space}:{space}[{length}]{space},\"b\":0}}");
        let spans = everywhere(text.as_bytes(), spans_of(&name)).unwrap();
        let start = (length + 4 + 2 * space.len()) as u64;
        assert_eq!(spans, [Span::new(start, start + 2 + length.to_string().len() as u64)]);
    }
}

/// rsonpath#281: a name that is a bracket, at the very start, ran below the start of the input.
#[test]
fn rsonpath_281_brackets_as_names() {
    for name in ["{", "[", "}", "]", "\"", "\\", ":", ",", ""] {
        let spelt = name.replace('\\', "\\\\").replace('"', "\\\"");
        let text = format!("{{\"{spelt}\":[\"{spelt}\"],\"a\":{{\"{spelt}\":1}},\"{spelt}\":2}}");
        let spans = everywhere(text.as_bytes(), spans_of(name)).unwrap();
        assert_eq!(spans.len(), 2, "{name}");
        assert_eq!(spans[1].len(), 1, "{name}");
    }
}

/// rsonpath pull request 788: a skip that ends with the input was off by one.
#[test]
fn rsonpath_788_skip_to_the_end_of_the_input() {
    for length in 0..200 {
        let text = format!("[{{\"a\":\"{}\"}}]", "x".repeat(length));
        let span = everywhere(text.as_bytes(), |cursor| {
            let span = cursor.skip_value()?;
            assert_eq!(cursor.advance()?, None);
            Ok(span)
        });
        assert_eq!(span.unwrap(), Span::new(0, text.len() as u64));
        let cut = &text.as_bytes()[..text.len() - 1];
        let error = everywhere(cut, skip).unwrap_err();
        assert_eq!(
            (error.kind(), error.offset()),
            (ErrorKind::Syntax(Syntax::UnexpectedEnd), cut.len() as u64)
        );
    }
}

/// The numbers of an array, as doubles.
fn doubles(text: &str) -> Vec<f64> {
    everywhere(text.as_bytes(), |cursor| {
        let mut doubles = Vec::new();
        cursor.begin_value()?;
        while cursor.next_element()? {
            assert!(matches!(cursor.begin_value()?, Event::Scalar(_)));
            let Payload::Scalar(Scalar::Number(number)) = cursor.payload() else { panic!("no number") };
            doubles.push(number.as_f64());
        }
        Ok(doubles)
    })
    .unwrap()
}

/// simd-json#455: a number across a block edge was read as another number.
#[test]
fn simd_json_455_number_across_a_block() {
    for shift in 0..130 {
        let text = format!("[{}3077999.0,1082.08,-0.123456789012345678e-17]", " ".repeat(shift));
        assert_eq!(doubles(&text), [3_077_999.0, 1082.08, -0.123_456_789_012_345_68e-17], "shift {shift}");
    }
}

/// simd-json#251: 0.6 was read as 0.600…1. simdjson#2099, #182: other numbers on the slow path.
#[test]
fn simd_json_251_doubles_are_the_nearest() {
    for (text, expected) in [
        ("0.6", 0.6),
        ("1.0e-308", 1.0e-308),
        ("2.2250738585072012e-308", 2.225_073_858_507_201_4e-308),
        ("9007199254740993", 9_007_199_254_740_992.0),
        ("6.631236846766476e-316", 6.631_236_85e-316),
        ("3.2379086165851934e-319", 3.2379e-319),
        ("7.2057594037927933e+16", 72_057_594_037_927_936.0),
        ("1.7976931348623158e308", f64::MAX),
        ("-0", -0.0),
    ] {
        assert_eq!(Number::parse(text).unwrap().as_f64().to_bits(), f64::to_bits(expected), "{text}");
        assert_eq!(doubles(&format!("[{text}]")), [expected], "{text}");
    }
    // Halfway between two doubles, and slightly above.
    let half = "9007199254740993";
    assert_eq!(doubles(&format!("[{half}.{}1]", "0".repeat(700))), [9_007_199_254_740_994.0]);
}

/// simd-json#453 and #457: strings contained bytes that were not checked to be UTF-8.
#[test]
fn simd_json_453_strings_are_utf8() {
    for bad in [&b"\xFF\xFE"[..], b"\xC0\x80", b"\xED\xA0\x80", b"\xF4\x90\x80\x80", b"\xE2\x28\xA1", b"\x80"]
    {
        for shift in 0..70 {
            let text = [b"[\"", "é".repeat(shift).as_bytes(), b"a\\n", bad, b"\"]"].concat();
            let error = everywhere(&text, all).unwrap_err();
            assert_eq!(
                (error.kind(), error.offset()),
                (ErrorKind::Syntax(Syntax::Utf8), 5 + 2 * shift as u64)
            );
            let name = [b"{\"", "é".repeat(shift).as_bytes(), bad, b"\":1}"].concat();
            assert_eq!(refusal(&name), Some(Syntax::Utf8));
        }
    }
}

/// simdjson#51 and pull request 1107: `2.e3`, `-.123`, `1.`, and bytes right after a number were
/// accepted.
#[test]
fn simdjson_1107_number_grammar() {
    for text in [
        "2.e3", "-.123", "1.", "1.e", "1e", "1e+", "-", "00", "-01", "1.5.2", "0x1", "1_0", "1e5.", "--1",
        "1a",
    ] {
        for text in
            [format!("[{text}]"), format!("[{text},1]"), format!("{{\"a\":{text} }}"), text.to_owned()]
        {
            assert!(refusal(text.as_bytes()).is_some(), "{text}");
        }
    }
}

/// simdjson#1974, #1976, #1977, #2355: a lazy walk did not detect missing and surplus brackets and
/// data after the document.
#[test]
fn simdjson_1974_ends_are_seen() {
    for (text, expected) in [
        ("[1,2", Syntax::UnexpectedEnd),
        ("{\"a\":1", Syntax::UnexpectedEnd),
        ("[1,2}", Syntax::MismatchedBracket),
        ("[1,2]]", Syntax::TrailingData),
        ("[1,2],", Syntax::TrailingData),
        ("{} {}", Syntax::TrailingData),
        ("1 2", Syntax::TrailingData),
    ] {
        let skipped = everywhere(text.as_bytes(), |cursor| {
            cursor.skip_value()?;
            cursor.advance()
        });
        assert_eq!(skipped.unwrap_err().kind(), ErrorKind::Syntax(expected), "{text}");
        let entered = everywhere(text.as_bytes(), |cursor| {
            if let Event::Begin(_) = cursor.begin_value()? {
                cursor.leave()?;
            }
            cursor.next_record()
        });
        assert_eq!(entered.unwrap_err().kind(), ErrorKind::Syntax(expected), "{text}");
    }
}

/// simdjson#1668, #1307 to #1311, #1729: batches that were smaller than a document, empty, or cut
/// within a character caused wrong errors.
#[test]
fn simdjson_1668_documents_larger_than_the_window() {
    let record = format!("{{\"text\":\"{}\"}}", "é€😀".repeat(40));
    let text = format!("{record}\n{record}\n{record}\n");
    for framing in [Framing::Lines, Framing::Concatenated, Framing::Auto] {
        for window in [0, 1, 17, 97, 101, 359, 367] {
            let reader = Chunks::new(text.as_bytes(), &[window.max(1)]);
            let mut cursor = Cursor::from_reader(reader, framing, &Config::new().window(window));
            let mut records = 0;
            while cursor.next_record().unwrap() {
                assert_eq!(cursor.skip_value().unwrap().len(), record.len() as u64);
                records += 1;
            }
            assert_eq!(records, 3, "{framing:?} window {window}");
        }
    }
}

/// simdjson#353: short inputs were read beyond their end. Here, the bytes after a view are a trap.
#[test]
fn simdjson_353_reads_nothing_after_the_end() {
    let trap = br#"[1,"a",tru"]]]]]}}}}e1,2]0123456789"#;
    for length in 0..trap.len() {
        let alone = trap[..length].to_vec();
        let inside = &trap[..length];
        let (one, other) = (everywhere(&alone, all), everywhere(inside, all));
        match (one, other) {
            (Ok(one), Ok(other)) => assert_eq!(one, other),
            (one, other) => {
                assert_eq!(one.unwrap_err().to_string(), other.unwrap_err().to_string(), "{length}");
            }
        }
    }
}

/// sonic-rs#208, #239, #232: depth limits had no effect, and the stack overflowed.
#[test]
fn sonic_rs_208_depth_guard() {
    let deep = b"[{\"a\":".repeat(100_000);
    let error = everywhere(&deep, skip).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit(Limit::Depth(10_000)));
    let error = everywhere(&deep, all).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit(Limit::Depth(10_000)), 5_000 * 6));
}

/// sonic-rs#7 and #142: `[]` overran the heap, and malformed documents yielded values.
#[test]
fn sonic_rs_142_malformed_documents_have_no_values() {
    assert_eq!(everywhere(b"[]", all).unwrap(), 2);
    for (text, syntax) in [
        ("{\"a\":1 \"b\":2}", Syntax::ExpectedCommaOrEnd),
        ("{\"a\":\"1, \"b\":2}", Syntax::ExpectedCommaOrEnd),
        ("{\"a\":tru, \"b\":2}", Syntax::Literal),
        ("{\"a\", \"b\":2}", Syntax::ExpectedColon),
        ("{\"a\":1,, \"b\":2}", Syntax::ExpectedName),
    ] {
        assert_eq!(refusal(text.as_bytes()), Some(syntax), "{text}");
        let spans = everywhere(text.as_bytes(), spans_of("b"));
        assert_eq!(spans.unwrap_err().kind(), ErrorKind::Syntax(syntax), "{text}");
    }
}

/// struson#138, #53, #49: seeking back, undoing a seek, seeking within a seek.
#[test]
fn struson_138_nested_rewinds() {
    let text = br#"{"a":{"b":[1,{"c":2}],"d":3},"e":4}"#;
    let seen = everywhere(text, |cursor| {
        let mut seen = Vec::new();
        cursor.next_record()?;
        let outer = cursor.hold();
        for _ in 0..2 {
            cursor.begin_value()?;
            cursor.next_member()?;
            cursor.begin_value()?;
            let inner = cursor.hold();
            for _ in 0..2 {
                cursor.next_member()?;
                seen.push(cursor.skip_value()?);
                cursor.rewind(&inner);
            }
            cursor.release();
            cursor.leave()?;
            cursor.next_member()?;
            seen.push(cursor.skip_value()?);
            cursor.rewind(&outer);
        }
        cursor.release();
        cursor.skip_value()?;
        assert_eq!(cursor.advance()?, None);
        Ok(seen)
    });
    let round = [Span::new(10, 21), Span::new(10, 21), Span::new(33, 34)];
    assert_eq!(seen.unwrap(), [round, round].concat());
}

/// struson repeats what it refuses in its errors, at any length.
#[test]
fn struson_errors_are_short() {
    for text in [format!("[\"{}\\x\"]", "long".repeat(100_000)), format!("[{}x]", "1".repeat(100_000))] {
        let error = everywhere(text.as_bytes(), all).unwrap_err();
        assert!(error.to_string().len() < 300 && error.excerpt().bytes().len() <= 160, "{error}");
    }
}
