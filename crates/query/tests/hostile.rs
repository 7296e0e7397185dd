//! Query texts built to exhaust stack or time: depth, length, width, and noise.

use std::sync::LazyLock;
use std::time::{Duration, Instant};
use std::{fs, thread};

use proptest::prelude::*;
use trommel_query::{ParseError, ParseErrorKind, Query, QueryLimits};
use trommel_testkit::effort::cases;

/// Runs the test on a stack of 256 KiB, as a host's thread may have.
fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(256 << 10).spawn(test);
    assert!(thread.is_ok_and(|thread| thread.join().is_ok()), "the test failed");
}

/// Returns limits without a bound on the length, to reach the limits after it.
fn long() -> QueryLimits {
    let mut limits = QueryLimits::default();
    limits.text = usize::MAX;
    limits
}

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The time that this thread has run, without the time in which it had no processor.
fn thread_time() -> Duration {
    // Without this file, that is all time.
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let run = text.split(' ').next().and_then(|run| run.parse().ok()).map(Duration::from_nanos);
    run.unwrap_or_else(|| START.elapsed())
}

/// Returns the error of parsing within the limits. Parsing must take at most 100 ms, with a margin
/// for busy machines unless `TROMMEL_DEEP` is set, and for texts that are only parsed because the
/// length limit was raised.
fn refused(text: &str, limits: &QueryLimits) -> ParseError {
    let most = cases(2000, 100).max(text.len().min(limits.text) as u64 / 5000);
    let start = thread_time();
    let Err(error) = Query::parse_with(text, limits) else { panic!("hostile") };
    let time = thread_time().saturating_sub(start);
    assert!(time < Duration::from_millis(most), "{time:?} for {error}");
    assert!(error.to_string().len() < 600, "{error}");
    error
}

const DEEP: usize = 100_000;

/// R9: 100,000 levels of every nested construct.
#[test]
fn depth_is_refused() {
    on_small_stack(|| {
        let nests = [
            "(",
            "!(",
            "@[?",
            "@.a[?",
            "@..[?",
            "length(",
            "count(@[?",
            "match(@.a,value(@[?",
            "(@||",
            "@&&(",
        ];
        for nest in nests {
            let text = format!("$[?{}", nest.repeat(DEEP));
            assert_eq!(refused(&text, &long()).kind(), ParseErrorKind::TooDeep, "{nest}");
            let limits = QueryLimits::default();
            let kind =
                if text.len() > limits.text { ParseErrorKind::TooLong } else { ParseErrorKind::TooDeep };
            assert_eq!(refused(&text, &limits).kind(), kind, "{nest}");
        }
        for (nest, kind) in [("!", ParseErrorKind::Unexpected), ("[", ParseErrorKind::Unexpected)] {
            assert_eq!(refused(&format!("$[?{}", nest.repeat(DEEP)), &long()).kind(), kind, "{nest}");
        }
    });
}

/// Texts at the nesting limit parse, print, compare, and drop on a small stack. One more level is
/// rejected.
#[test]
fn the_deepest_queries_fit_the_stack() {
    on_small_stack(|| {
        let forms = [
            ("(", "@", ")", 127),
            ("!(", "@", ")", 63),
            ("@[?", "@", "]", 127),
            ("!(@[?(", "@", ")])", 31),
            ("@..a[1,?", "@", "]", 127),
            ("length(", "@", ")", 127),
            ("1==count(@[?", "@", "])", 63),
            ("match(@.a,value(@[?(", "@", ")]))", 31),
        ];
        for (open, core, close, times) in forms {
            let nested = |times| {
                let body = format!("{}{core}{}", open.repeat(times), close.repeat(times));
                let compared = if open == "length(" { "==1" } else { "" };
                format!("$[?{body}{compared}]")
            };
            let query = nested(times).parse::<Query>().unwrap_or_else(|error| panic!("{open}: {error}"));
            assert_eq!(query.to_string().parse().as_ref(), Ok(&query), "{open}");
            assert_eq!(query.clone(), query);
            assert_eq!(query.invalid_patterns(), []);
            assert_eq!(refused(&nested(times + 1), &long()).kind(), ParseErrorKind::TooDeep, "{open}");
        }
    });
}

/// Limits can be lowered. Raising the nesting beyond 128 has no effect.
#[test]
fn limits_are_settable() {
    let mut limits = long();
    limits.nesting = u32::MAX;
    let deep = |levels| format!("$[?{}@{}]", "(".repeat(levels), ")".repeat(levels));
    assert!(Query::parse_with(&deep(127), &limits).is_ok());
    assert_eq!(refused(&deep(128), &limits).kind(), ParseErrorKind::TooDeep);
    limits.nesting = 3;
    assert!(Query::parse_with(&deep(2), &limits).is_ok());
    let error = refused(&deep(3), &limits);
    assert_eq!(
        (error.kind(), error.offset(), error.expected()),
        (ParseErrorKind::TooDeep, 5, "at most 3 levels of nesting")
    );
    limits.text = 5;
    let error = refused("$['a']", &limits);
    assert_eq!((error.kind(), error.expected()), (ParseErrorKind::TooLong, "at most 5 bytes"));
    assert!(Query::parse_filter_with("@.a.b", &limits).is_ok());
    assert_eq!(
        Query::parse_filter_with("@.a.bc", &limits).map_err(|error| error.kind()),
        Err(ParseErrorKind::TooLong)
    );
}

/// R9: texts just below the length limit are rejected by other limits or parsed, as fast as longer
/// ones.
#[test]
fn texts_up_to_the_length_limit_are_quick() {
    on_small_stack(|| {
        let limits = QueryLimits::default();
        assert_eq!(limits.text, 1 << 20);
        let pieces =
            ["(", "!(", "@[?", "@..[?", "length(", "@&&(", "'a',", "0,", "..*", ".a", "?@.a==1,", "\\u0061"];
        for (start, piece) in
            ["$", "$[", "$[?", "$['"].iter().flat_map(|start| pieces.map(|piece| (start, piece)))
        {
            let mut text = format!("{start}{}", piece.repeat((limits.text - start.len()) / piece.len()));
            text.truncate(limits.text);
            let error = refused(&text, &limits);
            assert_ne!(error.kind(), ParseErrorKind::TooLong, "{start}{piece}");
        }
        let started = thread_time();
        let name = "x".repeat(limits.text - 6);
        for text in [format!("$['{name}']"), format!("$.{name}"), format!("$[?@.a=='{}']", &name[10..])] {
            let query: Query = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(query.to_string().parse().as_ref(), Ok(&query));
        }
        let wide = format!("$[{}]", vec![format!("'{}'", "y".repeat(250)); 4090].join(","));
        assert!(wide.parse::<Query>().is_ok(), "4,090 selectors in a text of 1 MB");
        assert!(
            thread_time().saturating_sub(started) < Duration::from_millis(cases(4000, 400)),
            "{:?}",
            thread_time().saturating_sub(started)
        );
    });
}

/// R9: texts of 10 MB.
#[test]
fn rejects_long_texts() {
    on_small_stack(|| {
        let wide = ["$", ".a", "['a']", "..*", "[0,", "[?@.a==1,", ".a .b ", "[?@||", "[::,"];
        for piece in wide {
            let mut text = String::from("$");
            text.push_str(&piece.repeat(10_000_000 / piece.len()));
            assert_eq!(refused(&text, &QueryLimits::default()).kind(), ParseErrorKind::TooLong, "{piece}");
            let kind = refused(&text, &long()).kind();
            let expected = [ParseErrorKind::TooMany, ParseErrorKind::TooDeep, ParseErrorKind::Unexpected];
            assert!(expected.contains(&kind), "{piece}: {kind:?}");
        }
        let filler = "x".repeat(10_000_000);
        for text in [
            format!("$['{filler}"),
            format!("$['{filler}\\"),
            format!("$.{filler}-"),
            format!("$[{filler}"),
            format!("$[{}", "9".repeat(10_000_000)),
            format!("$[?{filler}(@)]"),
            format!("$[?@.{filler} =~ /{filler}/]"),
            format!("$[?@ in [{}", "1,".repeat(5_000_000)),
            format!("$[?@ contains '{filler}']"),
            format!("${}", " ".repeat(10_000_000)),
            format!("$[(@.{filler}"),
            format!("$[?@==1{}", "e".repeat(10_000_000)),
        ] {
            let error = refused(&text, &long());
            assert!(text.get(error.span()).is_some());
        }
    });
}

#[test]
fn selectors_are_counted() {
    // A segment and its selectors each count.
    let names = |count: usize| ".a".repeat(count);
    assert!(format!("${}", names(2048)).parse::<Query>().is_ok());
    let error = refused(&format!("${}", names(2049)), &long());
    assert_eq!((error.kind(), error.offset()), (ParseErrorKind::TooMany, 2 * 2049 + 1));
    let list = |count: usize| vec!["0"; count].join(",");
    assert!(format!("$[{}]", list(4095)).parse::<Query>().is_ok());
    assert_eq!(refused(&format!("$[{}]", list(4096)), &long()).kind(), ParseErrorKind::TooMany);
    let filters = format!("$[?{}]", vec!["@.a == $.b"; 1024].join(" && "));
    assert_eq!(refused(&filters, &long()).kind(), ParseErrorKind::TooMany);
}

/// Fragments of queries, so that random texts get far into the grammar.
fn noise() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec![
            "$", "@", ".", "..", "*", "[", "]", "(", ")", "?", "!", "&&", "||", "==", "!=", "<", ">=", "=", "=~", ",",
            ":", "'", "\"", "\\", "\\u12", "\\ud800", "'a'", "\"b\"", "a", "é", "-", "0", "1", "-1", "01", "1.", "1e",
            "2.5e-3", " ", "\n", "true", "null", "length(", "count(", "value(", "match(", "search(", "foo(", "in",
            "contains", "and", "/x/", "~", "^", "“", "”", "‘a’", "@.a", "$.b[0]", "[?@.a", "@.length-1", "\u{202e}",
            "not", "True", "none", "{", "#", "+",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(20_000, 1_000_000) as u32, ..ProptestConfig::default() })]

    /// R13 (queries), R45: no text causes a panic. The spans of an error are on character
    /// boundaries, and its message is short and without control characters. A valid text prints to
    /// an equal query.
    #[test]
    fn noise_is_refused_in_order(body in noise(), within in 0..4) {
        let text = match within {
            0 => body,
            1 => format!("${body}"),
            2 => format!("$[?{body}]"),
            _ => format!("$[?@.a{body}"),
        };
        match text.parse::<Query>() {
            Ok(query) => prop_assert_eq!(query.to_string().parse(), Ok(query)),
            Err(error) => {
                prop_assert!(text.get(error.span()).is_some());
                prop_assert_eq!(error.offset(), error.span().start);
                let message = error.to_string();
                prop_assert!(message.chars().count() < 350, "{}", message);
                prop_assert!(!message.contains(char::is_control));
                if let Some(fix) = error.suggestion() {
                    let fixed = fix.apply(&text).expect("the suggestion fits the text");
                    prop_assert_ne!(fixed, text);
                }
            }
        }
    }

    /// The three notations of a filter are equivalent.
    #[test]
    fn filters_equal_the_filters_of_queries(body in noise()) {
        let plain = Query::parse_filter(&body);
        let query = format!("$[?{body}]").parse::<Query>();
        if let (Ok(filter), Ok(query)) = (&plain, &query) {
            prop_assert_eq!(&Query::root().with_filter(filter.clone()), query);
        }
        if plain.is_ok() && !body.trim_start().starts_with(['?', '[']) {
            prop_assert!(query.is_ok());
            prop_assert_eq!(&Query::parse_filter(&format!("?{body}")), &plain);
            prop_assert_eq!(&Query::parse_filter(&format!(" [?({body})] ")), &plain);
        }
    }
}
