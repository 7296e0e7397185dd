//! Malformed input: the errors, and the input in which they are found.

use trommel_path::{Plan, Scratch};
use trommel_reader::{Config, Cursor, Error, ErrorKind, Syntax, Validation};
use trommel_testkit::chunks::{Chunks, FailAfter, Interrupting, SIZES};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{self, QueryOptions, Random, Shape};
use trommel_testkit::naive;

use crate::support::{feedings, plan, query, record, run, stream, wants_all};

/// Faults in values that no query names. These are skipped, and only strict validation finds the
/// faults.
const SKIPPED: [(&str, u64, Syntax); 3] = [
    (r#"{"b":tru,"a":1}"#, 5, Syntax::Literal),
    (r#"{"b":1 "c":1,"a":1}"#, 7, Syntax::ExpectedCommaOrEnd),
    (r#"{"b" 1,"a":1}"#, 5, Syntax::ExpectedColon),
];

const SYNTAX: [(&str, &str, u64, Syntax); 21] = [
    ("$.*", r#"{"b":tru,"a":1}"#, 5, Syntax::Literal),
    ("$.*", r#"{"b":1 "a":1}"#, 7, Syntax::ExpectedCommaOrEnd),
    ("$.*", r#"{"b" 1,"a":1}"#, 5, Syntax::ExpectedColon),
    ("$.a", r#"{"a":01}"#, 6, Syntax::Number),
    ("$.a", r#"{"b":1"#, 6, Syntax::UnexpectedEnd),
    ("$[1]", "[0,]", 3, Syntax::TrailingComma),
    ("$[1]", "[0}", 2, Syntax::MismatchedBracket),
    ("$..a", r#"{"b":[1,{"c":"\x"}]}"#, 14, Syntax::Escape),
    ("$..a", "{\"b\":\"\n\"}", 6, Syntax::ControlCharacter),
    ("$[?@.a]", r#"[{"b":1,"a"}]"#, 11, Syntax::ExpectedColon),
    ("$[?@.a > 1]", r#"[{"a":2},{"a":-}]"#, 15, Syntax::Number),
    ("$[?@ == 'x']", r#"["\ud800"]"#, 2, Syntax::LoneSurrogate),
    ("$.*", "[1,nul]", 3, Syntax::Literal),
    // Numbers and literals end where a token can end.
    ("$.a", r#"{"a":5x,"b":1}"#, 6, Syntax::Number),
    ("$..a", r#"[{"b":1,"a":-1.5e3_ }]"#, 18, Syntax::Number),
    ("$.a[0]", r#"{"a":[0x10,1],"b":1}"#, 7, Syntax::Number),
    ("$.a", r#"{"a":truex,"b":1}"#, 5, Syntax::Literal),
    ("$[0].a", r#"[{"a":nullnull},1]"#, 6, Syntax::Literal),
    ("$..a", r#"{"a":false0}"#, 5, Syntax::Literal),
    ("$[?@.a == 5]", r#"[{"a":5true,"b":1}]"#, 7, Syntax::Number),
    ("$", "[[[", 3, Syntax::UnexpectedEnd),
];

/// Errors in visited values are found under both validations, at the same byte, however the input
/// is fed.
#[test]
fn errors_have_the_offset_of_the_fault() {
    for (text, document, offset, syntax) in SYNTAX {
        let plan = plan(&[text]);
        for validation in [Validation::Strict, Validation::Structural] {
            feedings(document.as_bytes(), validation, |how, cursor| {
                let error = run(&plan, cursor).expect_err(document);
                let found = (error.kind(), error.offset());
                assert_eq!(
                    found,
                    (ErrorKind::Syntax(syntax), offset),
                    "{text} on {document}, {how}, {validation:?}"
                );
            });
        }
    }
}

#[test]
fn strict_validation_finds_errors_in_skipped_values() {
    let plan = plan(&["$.a"]);
    for (document, offset, syntax) in SKIPPED {
        feedings(document.as_bytes(), Validation::Strict, |how, cursor| {
            let error = run(&plan, cursor).expect_err(document);
            assert_eq!(
                (error.kind(), error.offset()),
                (ErrorKind::Syntax(syntax), offset),
                "{document}, {how}"
            );
        });
        feedings(document.as_bytes(), Validation::Structural, |how, cursor| {
            assert_eq!(run(&plan, cursor).unwrap()[0].len(), 1, "{document}, {how}");
        });
    }
}

/// Returns the first error of a document that is read without a query.
fn walk(document: &[u8]) -> Option<Error> {
    let mut cursor = Cursor::new(document, &Config::new());
    loop {
        match cursor.advance() {
            Ok(Some(_)) => {}
            Ok(None) => return None,
            Err(error) => return Some(error),
        }
    }
}

/// Returns the error with which a query ends.
fn outcome(plan: &Plan, cursor: &mut Cursor<'_>) -> Option<Error> {
    let (mut scratch, wants) = (Scratch::new(), wants_all(plan));
    let mut matcher = plan.matcher(&mut scratch, cursor, &wants);
    let error = match matcher.next_record() {
        Ok(true) => record(plan, &mut matcher).err(),
        Ok(false) => None,
        Err(error) => Some(error),
    };
    error.or_else(|| matcher.next_record().err())
}

/// Under strict validation, a query reports the same error as reading the whole document, even if
/// the record is decided before the fault.
#[test]
fn every_query_finds_damage() {
    let mut found = 0;
    for seed in 0..cases(6_000, 300_000) {
        let document = generate::document(seed, &Shape::default());
        let tree = naive::parse(&document).unwrap();
        let text = generate::query(seed, &tree, &QueryOptions::default());
        let plan = Plan::new(&[query(&text)], trommel_path::PlanOptions::new());
        let damaged = generate::damage(seed, &document);
        let config = Config::new();
        let error = outcome(&plan, &mut Cursor::new(&damaged, &config));
        let shown = String::from_utf8_lossy(&damaged);
        match (&error, &walk(&damaged)) {
            (Some(error), Some(wanted)) => {
                let both = [error, wanted].map(|error| (error.kind(), error.offset(), error.line_column()));
                assert_eq!(both[0], both[1], "seed {seed}: {text} on {shown}");
                found += 1;
            }
            (None, None) => {}
            (None, Some(error)) | (Some(error), None) => panic!("seed {seed}: {text} on {shown}: {error}"),
        }
        let reader = Chunks::new(&damaged[..], &[SIZES[seed as usize % SIZES.len()]]);
        let mut cursor = stream(reader, trommel_reader::Framing::Single, Validation::Strict);
        let streamed = outcome(&plan, &mut cursor);
        let both = [error, streamed]
            .map(|error| error.map(|error| (error.kind(), error.offset(), error.line_column())));
        assert_eq!(both[0], both[1], "seed {seed} on a stream: {text} on {shown}");
    }
    assert!(found > 1000, "{found} found");
}

/// R2, for values skipped by masks: strings are terminated and brackets balance.
#[test]
fn structural_skipping_checks_strings_and_brackets() {
    let missing = plan(&["$.zzz"]);
    for seed in 0..cases(4_000, 200_000) {
        let inner = generate::document(seed, &Shape::default());
        let document = [b"{\"skipped\":", &inner[..], b",\"z\":0}"].concat();
        let mut random = Random::new(seed);
        let brackets: Vec<usize> = (0..document.len()).filter(|&at| is_bracket(&document, at)).collect();
        let at = brackets[random.below(brackets.len())];
        let mut damaged = document.clone();
        let damage = match random.below(4) {
            0 => {
                damaged.truncate(random.below(document.len()).max(1));
                "truncated"
            }
            1 => {
                damaged.remove(at);
                "missing bracket"
            }
            2 => {
                damaged.insert(at, document[at]);
                "surplus bracket"
            }
            _ => {
                damaged[at] = document[at] ^ (b'{' ^ b'[');
                "mismatched bracket"
            }
        };
        let shown = String::from_utf8_lossy(&damaged);
        let config = Config::new().validation(Validation::Structural);
        let error = outcome(&missing, &mut Cursor::new(&damaged, &config));
        assert!(error.is_some_and(|error| error.is_syntax()), "seed {seed}, {damage}: {shown}");
    }
}

/// True if a byte is a bracket outside of strings.
fn is_bracket(document: &[u8], at: usize) -> bool {
    let (mut inside, mut escaped) = (false, false);
    for &byte in &document[..at] {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            _ => {}
        }
    }
    !inside && matches!(document[at], b'{' | b'}' | b'[' | b']')
}

/// Strict skipping rejects faults that structural skipping accepts.
#[test]
fn structural_skipping_checks_nothing_else() {
    for inside in
        ["tru", "1 2", r#""\x""#, "\"\u{1}\"", "[,]", "{1:2}", "[[}]{]", "01", "+", "[1,]", r#"{"a"}"#]
    {
        for query in ["$.a", "$.a['b','c']", "$[?@.c]", "$..a[0].b"] {
            let document = format!(r#"{{"x":[{inside}],"a":{{"b":1,"d":[{inside}],"c":2}}}}"#);
            let plan = plan(&[query]);
            let structural = Config::new().validation(Validation::Structural);
            let relaxed = outcome(&plan, &mut Cursor::new(document.as_bytes(), &structural));
            if query != "$..a[0].b" {
                assert!(relaxed.is_none(), "{query} on {document}: {relaxed:?}");
            }
            let strict = outcome(&plan, &mut Cursor::new(document.as_bytes(), &Config::new()));
            assert!(strict.is_some(), "{query} on {document}");
        }
    }
}

/// The error of a failing reader keeps its kind, and the nodes found before are still reported.
#[test]
fn reports_errors_of_the_reader() {
    let document = br#"[{"a":1},{"a":2},{"a":3}]"#;
    let plan = plan(&["$[*].a"]);
    for bytes in 0..document.len() as u64 {
        let reader = FailAfter::new(&document[..], bytes, std::io::ErrorKind::TimedOut);
        let mut cursor = stream(reader, trommel_reader::Framing::Single, Validation::Strict);
        let (mut scratch, wants) = (Scratch::new(), wants_all(&plan));
        let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
        let mut left = 0;
        let error = match matcher.next_record() {
            Err(error) => error,
            Ok(found) => {
                assert!(found);
                loop {
                    match matcher.advance() {
                        Ok(Some(trommel_path::Step::Leave { .. })) => left += 1,
                        Ok(Some(_)) => {}
                        Ok(None) => panic!("the document has no end at byte {bytes}"),
                        Err(error) => break error,
                    }
                }
            }
        };
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Io(std::io::ErrorKind::TimedOut), bytes));
        let ends = [8, 16, 24];
        assert_eq!(left, ends.iter().filter(|&&end| end <= bytes).count(), "after {bytes} bytes");
    }
    let reader = Interrupting::new(Chunks::new(&document[..], &[3]), 2);
    let nodes = run(&plan, &mut stream(reader, trommel_reader::Framing::Single, Validation::Strict)).unwrap();
    assert_eq!(nodes[0].len(), 3);
}

#[test]
fn empty_documents() {
    for document in ["", " ", "\n\n", "\u{feff}"] {
        let error = outcome(&plan(&["$"]), &mut Cursor::new(document.as_bytes(), &Config::new()));
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::Syntax(Syntax::Empty)), "{document:?}");
    }
}

/// Data after the only value is found if the value was read to its end.
#[test]
fn trailing_data() {
    for (query, refused) in [("$", true), ("$..a", true), ("$.b", true), ("$.a", false)] {
        for validation in [Validation::Strict, Validation::Structural] {
            let config = Config::new().validation(validation);
            let error = outcome(&plan(&[query]), &mut Cursor::new(br#"{"a":1} x"#, &config));
            assert_eq!(error.is_some(), refused || validation == Validation::Strict, "{query}");
        }
    }
}
