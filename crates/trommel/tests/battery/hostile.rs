//! Hostile queries and inputs.

use std::time::{Duration, Instant};

use trommel::path::Query;
use trommel::reader::{Framing, Limits, Validation};
use trommel::{Analysis, Count, Document, Error, Measure, OnBadRecord, Sample, Stats, Strategy};
use trommel_testkit::effort::small_stack;
use trommel_testkit::generate::{Shape, damage, document};
use trommel_testkit::repeat::Repeat;

use crate::support::{Source, cases, query, run, run_bytes, size};

/// The time limit of quick operations on a busy machine, in a build with little optimization. Slow
/// ones take at least minutes.
const QUICK: Duration = Duration::from_secs(5);

/// R40: patterns that make backtracking engines exponential are linear here, in the query and in
/// the data.
#[test]
fn evil_patterns_are_linear() {
    let patterns = [
        "(a+)+b",
        "([a-z]+)*c",
        "(a|aa)+d",
        "(.*a){12}x",
        "(a*)*b",
        "((a+)b?)+c",
        "(x+x+)+y",
        "a*a*a*a*a*a*b",
        "([^b]+)+b",
        "(a|b|ab)*c",
    ];
    let text = "a".repeat(1 << 18);
    let mut input = format!("[{{\"t\": \"{text}\", \"p\": \"");
    for pattern in patterns {
        let begun = Instant::now();
        let count = Analysis::new()
            .count(query(&format!("$[?match(@.t, '{pattern}')]")))
            .count(query(&format!("$[?search(@.t, '{pattern}')]")));
        let rest = format!("{pattern}\"}}]");
        let length = input.len();
        input.push_str(&rest);
        let data = Count::new(query("$[*]")).filter(Query::parse_filter("search(@.t, @.p)").unwrap());
        let report = run_bytes(&count.ask(Measure::Count(data)), input.as_bytes()).unwrap();
        input.truncate(length);
        assert!(begun.elapsed() < QUICK, "{pattern}: {:?}", begun.elapsed());
        let found: Vec<_> = report.answers.iter().map(|answer| answer.count().unwrap()).collect();
        assert!(found[0] <= found[1] && found[1] == found[2], "{pattern}: {found:?}");
    }
}

/// R9: a query that is a bomb is refused at once.
#[test]
fn query_bombs_are_refused_at_once() {
    let bombs = [
        format!("$[?{}@.a{}]", "(".repeat(100_000), ")".repeat(100_000)),
        format!("$[?{}@.a]", "!".repeat(100_000)),
        format!("${}", "[?@".repeat(100_000)),
        "$.a".repeat(4 << 20),
        format!("$[{}]", vec!["0"; 1 << 20].join(",")),
        format!("$['{}']", "x".repeat(10 << 20)),
        format!("$[?length({}@{})]", "value(".repeat(50_000), ")".repeat(50_000)),
    ];
    for bomb in bombs {
        let begun = Instant::now();
        let error = trommel::Error::from(bomb.parse::<Query>().unwrap_err());
        let text = error.to_string();
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}: {}", begun.elapsed(), &bomb[..20]);
        assert!(text.len() < 2000, "an error repeats a bounded part of the query: {}", text.len());
    }
}

/// Names as long as a query may be are found, wherever a window splits them.
#[test]
fn names_of_a_million_characters_are_found() {
    for length in [65_000, 65_537, 1_000_000] {
        let name = "k".repeat(length);
        let text = format!("{{\"{name}x\": 0, \"a\": [{{\"{name}\": 1}}], \"x{name}\": 2, \"{name}\": 3}}");
        for (asked, expected) in
            [(format!("$.{name}"), 1), (format!("$..{name}"), 2), (format!("$.a[?@.{name}]"), 1)]
        {
            for validation in [Validation::Strict, Validation::Structural] {
                for source in [Source::Bytes, Source::File, Source::Reads(4096), Source::Gzip] {
                    let analysis = Analysis::new().validation(validation).count(query(&asked));
                    let report = analysis.run(&mut source.document(text.as_bytes(), Framing::Auto)).unwrap();
                    assert_eq!(
                        report.answers[0].count(),
                        Some(expected),
                        "{length}, {source:?}, {validation:?}"
                    );
                }
            }
        }
    }
}

/// R8: exceeding the depth limit is an error, with little stack, for every measure.
#[test]
fn depth_is_limited() {
    let mut rich = Stats::new();
    (rich.schema, rich.values) = (true, true);
    let analysis = Analysis::new()
        .extract(query("$..*"))
        .count(query("$..[?@..x]"))
        .sample(Sample::new(query("$..*"), size(3)))
        .ask(Measure::Stats(rich));
    let small = |work: Box<dyn FnOnce() + Send>| {
        std::thread::Builder::new().stack_size(small_stack()).spawn(work).unwrap().join().unwrap();
    };
    let deep = analysis.clone();
    small(Box::new(move || {
        let error = deep.run(&mut Document::from_reader(Repeat::depth("[", 1_000_000))).unwrap_err();
        assert!(
            matches!(&error, Error::Read { error, .. } if error.is_limit() && error.offset() == 10_000),
            "{error}"
        );
    }));
    let mut limits = Limits::default();
    limits.depth = 3000;
    let analysis = analysis.limits(limits);
    small(Box::new(move || {
        let text = |depth: usize| format!("{}{}", r#"{"x":["#.repeat(depth / 2), "]}".repeat(depth / 2));
        let report = analysis.run(&mut Document::from_bytes(text(1000))).unwrap();
        assert_eq!(report.answers[0].count(), Some(999));
        drop(report);
        assert!(analysis.run(&mut Document::from_bytes(text(3002))).is_err());
    }));
}

/// R13: for any bytes, a run returns an answer or an error, and the same one for every kind of
/// input.
#[test]
fn any_bytes_give_an_answer_or_an_error() {
    let framings = [Framing::Auto, Framing::Single, Framing::Lines, Framing::Concatenated, Framing::JsonSeq];
    let analysis = Analysis::new()
        .extract(query("$..[0,'a']"))
        .count(query("$..[?@.a == $[0]]"))
        .sample(Sample::new(query("$..*"), size(3)).strategy(Strategy::Stratified(query("$.a"))))
        .stats();
    for seed in 0..cases(500, 10_000) {
        let text = damage(seed, &document(seed, &Shape { duplicates: true, ..Shape::default() }));
        let framing = framings[seed as usize % 5];
        let analysis = match seed % 3 {
            0 => analysis.clone(),
            _ => analysis.clone().on_bad_record(OnBadRecord::Skip { at_most: 3 }),
        };
        let outcome = |source: Source| match run(&analysis, &mut source.document(&text, framing)) {
            Ok((report, memory)) => format!("{:?} {:?}", report.answers, memory.heard),
            Err(error) => error.to_string(),
        };
        let [first, second] = [Source::Bytes, Source::pick(seed)].map(outcome);
        // A pipe that begins like a compressed file is one.
        if !text.starts_with(b"\x1F\x8B") {
            assert_eq!(first, second, "seed {seed} {framing:?}");
        }
    }
}

/// R10: a string or number of any length is skipped, and extracted if requested.
#[test]
fn giant_scalars_are_handled() {
    let text = Repeat::string("0123456789abcdef", 1 << 20);
    let analysis = Analysis::new().count(query("$.text")).extract(query("$.after")).stats();
    let (report, memory) = run(&analysis, &mut Document::from_reader(text)).unwrap();
    assert_eq!((report.answers[0].count(), memory.texts()), (Some(1), vec!["1".to_owned()]));
    let number = format!("[1{}]", "0".repeat(1_000_000));
    let report = run_bytes(&Analysis::new().count(query("$[?@ > 5]")).stats(), number.as_bytes()).unwrap();
    assert_eq!(report.answers[0].count(), Some(1));
}
