//! The third-party suites, if they are present.

use trommel_reader::{Backend, Config, Cursor, ErrorKind, Framing, Limits, Syntax};
use trommel_testkit::chunks::{Chunks, SIZES};
use trommel_testkit::conformance::{JsonText, Verdict, checker, parsing, root};
use trommel_testkit::naive;

use super::trace::{TraceEvent, Walk, assert_same, trace};

/// Texts that RFC 8259 leaves open and the reader accepts: any number, because none is rounded; any
/// depth up to the limit; and a byte order mark (section 8.1 allows ignoring it).
const TAKEN: [&str; 12] = [
    "i_number_double_huge_neg_exp.json",
    "i_number_huge_exp.json",
    "i_number_neg_int_huge_exp.json",
    "i_number_pos_double_huge_exp.json",
    "i_number_real_neg_overflow.json",
    "i_number_real_pos_overflow.json",
    "i_number_real_underflow.json",
    "i_number_too_big_neg_int.json",
    "i_number_too_big_pos_int.json",
    "i_number_very_big_negative_int.json",
    "i_structure_500_nested_arrays.json",
    "i_structure_UTF-8_BOM_empty_object.json",
];

/// Texts that it leaves open and the reader refuses: those that could not be decoded without loss
/// (sections 8.1 and 8.2).
const REFUSED: [(&str, Syntax); 23] = [
    ("i_object_key_lone_2nd_surrogate.json", Syntax::LoneSurrogate),
    ("i_string_1st_surrogate_but_2nd_missing.json", Syntax::LoneSurrogate),
    ("i_string_1st_valid_surrogate_2nd_invalid.json", Syntax::LoneSurrogate),
    ("i_string_UTF-16LE_with_BOM.json", Syntax::Encoding),
    ("i_string_UTF-8_invalid_sequence.json", Syntax::Utf8),
    ("i_string_UTF8_surrogate_U+D800.json", Syntax::Utf8),
    ("i_string_incomplete_surrogate_and_escape_valid.json", Syntax::LoneSurrogate),
    ("i_string_incomplete_surrogate_pair.json", Syntax::LoneSurrogate),
    ("i_string_incomplete_surrogates_escape_valid.json", Syntax::LoneSurrogate),
    ("i_string_invalid_lonely_surrogate.json", Syntax::LoneSurrogate),
    ("i_string_invalid_surrogate.json", Syntax::LoneSurrogate),
    ("i_string_invalid_utf-8.json", Syntax::Utf8),
    ("i_string_inverted_surrogates_U+1D11E.json", Syntax::LoneSurrogate),
    ("i_string_iso_latin_1.json", Syntax::Utf8),
    ("i_string_lone_second_surrogate.json", Syntax::LoneSurrogate),
    ("i_string_lone_utf8_continuation_byte.json", Syntax::Utf8),
    ("i_string_not_in_unicode_range.json", Syntax::Utf8),
    ("i_string_overlong_sequence_2_bytes.json", Syntax::Utf8),
    ("i_string_overlong_sequence_6_bytes.json", Syntax::Utf8),
    ("i_string_overlong_sequence_6_bytes_null.json", Syntax::Utf8),
    ("i_string_truncated-utf-8.json", Syntax::Utf8),
    ("i_string_utf16BE_no_BOM.json", Syntax::Encoding),
    ("i_string_utf16LE_no_BOM.json", Syntax::Encoding),
];

/// Reads a text with every kind of cursor, asserts equal results, and returns the error.
fn read(text: &JsonText, framing: Framing) -> Option<ErrorKind> {
    let mut limits = Limits::default();
    limits.depth = 200_000;
    let config = Config::new().limits(limits);
    let view = trommel_reader::View::new(&text.bytes);
    let whole = trace(Cursor::from_view(view, framing, &config), Walk::Events);
    for backend in Backend::available() {
        let config = config.backend(backend);
        for size in SIZES {
            let reader = Chunks::new(text.bytes.as_slice(), &[size]);
            let seen = trace(Cursor::from_reader(reader, framing, &config.window(size)), Walk::Events);
            assert_same(
                &seen,
                &whole,
                &format_args!("{} {framing:?} {backend:?} reads of {size}", text.name),
            );
        }
    }
    whole.iter().find_map(|seen| if let TraceEvent::Error { kind, .. } = seen { Some(*kind) } else { None })
}

/// R2: `JSONTestSuite`, as one value and with detected framing, as a slice and as streams, with
/// every backend.
#[test]
fn json_test_suite() {
    let Some(root) = root() else { return };
    let texts = parsing(&root);
    assert_eq!(texts.len(), 318);
    for text in &texts {
        let framings = [Framing::Single, Framing::Auto];
        let [single, auto] = framings.map(|framing| read(text, framing));
        match text.verdict {
            Verdict::Accept => assert_eq!((single, auto), (None, None), "{}", text.name),
            Verdict::Refuse => {
                assert!(single.is_some() && auto.is_some(), "{} {single:?} {auto:?}", text.name);
            }
            Verdict::Either => {
                let refused = REFUSED.iter().find(|(name, _)| *name == text.name);
                let expected = refused.map(|(_, syntax)| ErrorKind::Syntax(*syntax));
                assert_eq!((single, auto), (expected, expected), "{}", text.name);
            }
        }
    }
    let open = texts.iter().filter(|text| text.verdict == Verdict::Either).map(|text| text.name.as_str());
    let mut listed: Vec<_> = TAKEN.into_iter().chain(REFUSED.map(|(name, _)| name)).collect();
    let mut open: Vec<_> = open.collect();
    listed.sort_unstable();
    open.sort_unstable();
    assert_eq!(listed, open);
}

/// R2: simdjson's additions to the JSON checker for vector code, judged by RFC 8259.
#[test]
fn simdjson_checker() {
    let Some(root) = root() else { return };
    for text in checker(&root) {
        let framing = match text.framing {
            naive::Framing::Lines => Framing::Lines,
            _ => Framing::Single,
        };
        let refused = read(&text, framing).is_some();
        assert_eq!(refused, text.verdict == Verdict::Refuse, "{}", text.name);
    }
}
