//! Compares the naive parser with the suites and with an independent parser.

use serde_json::Value as Json;
use trommel_testkit::conformance::{self, Verdict};
use trommel_testkit::decimal::Decimal;
use trommel_testkit::generate::{Layout, Names, Numbers, Random, Shape, damage, document, stream};
use trommel_testkit::naive::{self, Data, Document, ErrorKind, Framing, ValueId, parse, records};

fn shapes() -> Vec<Shape> {
    let base = Shape::default();
    vec![
        base,
        Shape::plain(),
        Shape::deep(100),
        Shape::wide(60),
        Shape { duplicates: true, names: Names::Plain, ..base },
        Shape { layout: Layout::Pretty, values: 80, ..base },
        Shape { layout: Layout::Compact, text: 200, ..base },
        Shape { layout: Layout::OneLine, numbers: Numbers::Plain, values: 1, ..base },
    ]
}

/// Returns true if our tree equals `serde_json`'s value, which keeps the last of repeated names.
fn agrees(document: &Document, id: ValueId, json: &Json) -> bool {
    match (&document[id].data, json) {
        (Data::Null, Json::Null) => true,
        (Data::Bool(ours), Json::Bool(theirs)) => ours == theirs,
        (Data::Number(ours), Json::Number(theirs)) => {
            ours.parse::<f64>().ok() == theirs.as_f64()
                || Decimal::new(ours) == Decimal::new(&theirs.to_string())
        }
        (Data::String(ours), Json::String(theirs)) => ours == theirs,
        (Data::Array(ours), Json::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(&id, json)| agrees(document, id, json))
        }
        (Data::Object(ours), Json::Object(theirs)) => {
            let last =
                |name: &str| ours.iter().rfind(|member| member.name == name).map(|member| member.value);
            ours.iter().all(|member| theirs.contains_key(&member.name))
                && theirs.iter().all(|(name, json)| last(name).is_some_and(|id| agrees(document, id, json)))
        }
        _ => false,
    }
}

/// Compares our verdict with `serde_json`'s on one text. The only accepted difference is a number
/// beyond a double, which that library rejects.
fn compare(text: &[u8]) -> bool {
    let shown = String::from_utf8_lossy(text);
    let unmarked = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    match (parse(text), serde_json::from_slice::<Json>(unmarked)) {
        (Ok(ours), Ok(theirs)) => assert!(agrees(&ours, ours.root(), &theirs), "{shown}"),
        (Ok(_), Err(error)) => {
            assert!(error.to_string().starts_with("number out of range"), "{error}: {shown}");
        }
        (Err(error), Ok(_)) => panic!("only we refuse, {error}: {shown}"),
        (Err(error), Err(_)) => {
            assert!(error.offset <= text.len() as u64, "{error}: {shown}");
            return false;
        }
    }
    true
}

/// R2: every generated document is accepted with the same content.
#[test]
fn agrees_on_generated_documents() {
    for shape in shapes() {
        for seed in 0..300 {
            let text = document(seed, &shape);
            assert!(compare(&text), "{shape:?} {seed}: {}", String::from_utf8_lossy(&text));
        }
    }
}

/// R2: both parsers accept or both reject a damaged document.
#[test]
fn agrees_on_damaged_documents() {
    let (mut good, mut bad) = (0, 0);
    for shape in shapes() {
        for seed in 0..1000 {
            let text = damage(seed, &document(seed, &shape));
            if compare(&text) { good += 1 } else { bad += 1 }
        }
    }
    assert!(good > 500 && bad > 2000, "both kinds occur: {good} {bad}");
}

/// Every value's span contains a document of its own with the same content.
#[test]
fn spans_contain_their_values() {
    for shape in shapes() {
        for seed in 0..20 {
            let text = document(seed, &shape);
            let whole = parse(&text).unwrap();
            for id in whole.ids() {
                let part = parse(&text[whole[id].span.range()]).unwrap();
                assert!(naive::equal((&whole, id), (&part, part.root())));
                assert_eq!(part.ids().len(), whole.subtree(id).count());
                for member in whole.members(id) {
                    let name = parse(&text[member.name_span.range()]).unwrap();
                    assert_eq!(name[name.root()].data, Data::String(member.name.clone()));
                }
            }
        }
    }
}

#[test]
fn json_test_suite() {
    let Some(root) = conformance::root() else { return };
    let texts = conformance::parsing(&root);
    assert_eq!(texts.len(), 318);
    for text in texts.into_iter().chain(conformance::checker(&root)) {
        let good = match text.framing {
            Framing::Lines => {
                records(&text.bytes, Framing::Lines).iter().all(|record| record.outcome.is_ok())
            }
            _ if text.name == "n_structure_100000_opening_arrays.json" => {
                naive::parse_within(&text.bytes, usize::MAX).is_ok()
            }
            _ => parse(&text.bytes).is_ok(),
        };
        match text.verdict {
            Verdict::Accept => assert!(good, "{}", text.name),
            Verdict::Refuse => assert!(!good, "{}", text.name),
            // Where the RFC allows both, we expect the strictest verdict: no unpaired surrogates,
            // no invalid UTF-8.
            Verdict::Either => {
                let text_only = text.name.starts_with("i_string") || text.name.starts_with("i_object");
                let mark = text.name == "i_structure_UTF-8_BOM_empty_object.json";
                assert_eq!(good, !text_only || mark, "{}", text.name);
            }
        }
    }
}

#[test]
fn errors_have_a_kind_and_an_offset() {
    use ErrorKind::*;
    let cases: [(&[u8], ErrorKind, u64); 38] = [
        (b"", Empty, 0),
        (b" \n", Empty, 2),
        (b"\xEF\xBB\xBF", Empty, 3),
        (b" \xEF\xBB\xBF1", Byte, 1),
        (b"\xEF\xBB\xBF\xEF\xBB\xBF1", Byte, 3),
        (b"[", End, 1),
        (b"[1", End, 2),
        (b"[1,", End, 3),
        (b"[1,]", Byte, 3),
        (b"[,", Byte, 1),
        (b"[1 2]", Byte, 3),
        (b"[}", Byte, 1),
        (b"{]", Byte, 1),
        (b"{1:2}", Byte, 1),
        (b"{\"a\"}", Byte, 4),
        (b"{\"a\":}", Byte, 5),
        (b"{\"a\":1,}", Byte, 7),
        (b"[1]]", Trailing, 3),
        (b"1 2", Trailing, 2),
        (b"nul", End, 3),
        (b"nulx", Literal, 3),
        (b"nullx", Trailing, 4),
        (b"01", Number, 1),
        (b"-", End, 1),
        (b"-a", Number, 1),
        (b"1.", End, 2),
        (b"[1.]", Number, 3),
        (b"1e+", End, 3),
        (b"+1", Byte, 0),
        (b"\"a\nb\"", Control, 2),
        (b"\"a\\x\"", Escape, 2),
        (b"\"\\u12G4\"", Escape, 1),
        (b"\"\\ud800\"", Surrogate, 1),
        (b"\"\\ud800\\u0041\"", Surrogate, 1),
        (b"\"a\\udc00\"", Surrogate, 2),
        (b"\"a\xFF\"", Utf8, 2),
        (b"\"\xED\xA0\x80\"", Utf8, 1),
        (b"\"\xC3", Utf8, 1),
    ];
    for (text, kind, offset) in cases {
        let error = parse(text).unwrap_err();
        assert_eq!((error.kind, error.offset), (kind, offset), "{}", String::from_utf8_lossy(text));
    }
    assert_eq!(parse(&b"[".repeat(10_001)).unwrap_err().kind, Depth);
    assert_eq!(parse(&b"[".repeat(10_000)).unwrap_err().kind, End);
}

/// Deep documents need no recursion.
#[test]
fn deep_documents_need_no_stack() {
    let depth = 200_000;
    let text = [b"[".repeat(depth), b"]".repeat(depth)].concat();
    let worker = std::thread::Builder::new().stack_size(64 << 10);
    let read = move || naive::parse_within(&text, depth).map(|document| document.ids().len());
    assert_eq!(worker.spawn(read).unwrap().join().unwrap(), Ok(depth));
}

#[test]
fn splits_streams_into_records() {
    let spans = |text: &str, framing| -> Vec<_> {
        let found = records(text.as_bytes(), framing);
        found
            .into_iter()
            .map(|record| (record.span.range(), record.outcome.err().map(|e| (e.kind, e.offset))))
            .collect()
    };
    assert_eq!(
        spans("1\r\n\n \n[2\n\u{1}3", Framing::Lines),
        [(0..2, None), (6..8, Some((ErrorKind::End, 8))), (9..11, Some((ErrorKind::Byte, 9)))]
    );
    assert_eq!(
        spans("[1]{} \"a\"null 2 x 3", Framing::Concatenated),
        [
            (0..3, None),
            (3..5, None),
            (6..9, None),
            (9..13, None),
            (14..15, None),
            (16..19, Some((ErrorKind::Byte, 16)))
        ]
    );
    assert_eq!(spans("1true", Framing::Concatenated), [(0..5, Some((ErrorKind::Trailing, 1)))]);
    assert_eq!(
        spans("\u{1e}1\n\u{1e}\u{1e}\n\u{1e}[\n\u{1e}2", Framing::JsonSeq),
        [(1..3, None), (7..9, Some((ErrorKind::End, 9))), (10..11, Some((ErrorKind::Truncated, 11)))]
    );
    assert_eq!(
        spans(" x\u{1e}{}", Framing::JsonSeq),
        [(0..2, Some((ErrorKind::Separator, 1))), (3..5, None)]
    );
    assert_eq!(spans("", Framing::Lines), []);
    assert_eq!(spans("", Framing::Single), [(0..0, Some((ErrorKind::Empty, 0)))]);
}

/// Generated streams contain the requested number of records, with the same content in every
/// framing.
#[test]
fn generated_streams_are_valid() {
    for framing in [Framing::Lines, Framing::Concatenated, Framing::JsonSeq] {
        for seed in 0..100 {
            let count = 1 + Random::new(seed).below(20);
            let text = stream(seed, &Shape::default(), framing, count);
            let found = records(&text, framing);
            assert_eq!(found.len(), count, "{framing:?} {seed}");
            assert!(found.iter().all(|record| record.outcome.is_ok()), "{framing:?} {seed}");
        }
    }
    let text = stream(1, &Shape::plain(), Framing::Concatenated, 50);
    let theirs = serde_json::Deserializer::from_slice(&text).into_iter::<Json>();
    assert_eq!(theirs.map(Result::unwrap).count(), 50);
}
