//! One document on several threads: the number of threads changes nothing observable.

use std::fmt::Write as _;
use std::num::NonZeroU64;
use std::sync::LazyLock;

use trommel::path::{Duplicates, Order, Selector};
use trommel::reader::{Framing, Validation};
use trommel::sampler::Seed;
use trommel::{Analysis, Count, CountAs, Document, Measure, Sample, Stats, Strategy};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::Random;

use crate::parallel::reported;
use crate::support::{Memory, query, size};

const THREADS: &[usize] = &[1, 2, 3, 8];

/// The numbers of threads for tests of something else.
fn some_threads() -> &'static [usize] {
    if cases(0, 1) > 0 { THREADS } else { &[1, 3] }
}

/// An array of about `bytes` bytes, whose elements are made from their numbers.
fn array(bytes: usize, mut element: impl FnMut(u64, &mut Random) -> String) -> String {
    let mut random = Random::new(1);
    let mut text = String::from("[");
    let mut number = 0;
    while text.len() < bytes {
        let comma = if number == 0 { "" } else { "," };
        write!(text, "{comma}{}", element(number, &mut random)).unwrap();
        number += 1;
    }
    text + "]"
}

/// A record that contains an array whose elements start like the records do.
fn record(number: u64, random: &mut Random) -> String {
    let inner: Vec<String> = (0..random.below(5)).map(|k| format!(r#"{{"id":{k},"tags":[{k}]}}"#)).collect();
    let text = r#"a \"string\",{\"id\":[}]"#.repeat(random.below(8));
    format!(r#"{{"id":{number},"tags":[{}],"text":"{text}","a":{{"id":"x"}}}}"#, inner.join(","))
}

/// The observed calls of the sink, and the result.
type Observed = (Memory, Result<String, String>);

fn observe(
    analysis: &Analysis,
    text: &str,
    (framing, threads): (Framing, usize),
    mut memory: Memory,
) -> Observed {
    let mut document = Document::from_bytes(text).framing(framing);
    let ran = analysis.clone().threads(threads).run_with(&mut document, &mut memory);
    (memory, reported(ran))
}

/// Asserts equal results for several numbers of threads. Returns the number of values and the
/// result.
fn same(analysis: &Analysis, text: &str) -> (usize, Result<String, String>) {
    same_with(analysis, text, some_threads(), [Memory::located, Memory::default])
}

/// The same for all numbers of threads.
fn same_for_all(analysis: &Analysis, text: &str) -> (usize, Result<String, String>) {
    same_with(analysis, text, THREADS, [Memory::located, Memory::default])
}

/// The same with what the sink requests, for one document and for a possible stream.
fn same_with(
    analysis: &Analysis,
    text: &str,
    threads: &[usize],
    [memory, other]: [fn() -> Memory; 2],
) -> (usize, Result<String, String>) {
    let whole = |&threads: &usize| observe(analysis, text, (Framing::Single, threads), memory());
    let first = whole(&threads[0]);
    let agree = |(memory, end): &Observed, (first, first_end): &Observed| {
        assert_eq!(end, first_end);
        assert_eq!(memory.heard.len(), first.heard.len());
        assert!(memory.heard == first.heard);
    };
    // One at a time, since each remembers all of its calls.
    threads[1..].iter().for_each(|threads| agree(&whole(threads), &first));
    let auto = |threads| observe(analysis, text, (Framing::Auto, threads), other());
    agree(&auto(2), &auto(1));
    (first.0.heard.len(), first.1)
}

fn all_measures(path: &str) -> Analysis {
    let path = |rest: &str| query(&format!("{path}{rest}"));
    let lengths = Count::new(path("[*].tags")).count_as(CountAs::NestedTotal);
    Analysis::new()
        .extract(path("[*].id"))
        .extract(path("[*].tags[*].id"))
        .count(path("[*]"))
        .count(path("[*].a.id"))
        .ask(Measure::Count(lengths))
        .extract(query("$.after.x"))
}

#[test]
fn divides_records_of_a_document() {
    let text =
        format!(r#"{{"before":[1,2,3],"data":{{"records":{}}},"after":{{"x":7}}}}"#, array(3 << 20, record));
    for order in [Order::Rfc, Order::Document] {
        for validation in [Validation::Structural, Validation::Strict] {
            let analysis = all_measures("$.data.records").order(order).validation(validation);
            let (values, end) = same_for_all(&analysis, &text);
            assert!(values > 20_000 && end.is_ok(), "{values} {end:?}");
        }
    }
    assert!(same(&all_measures("$"), &array(3 << 20, record)).0 > 20_000);
    assert!(same(&all_measures("$.*.*"), &text).0 > 20_000);
}

/// Filters, functions, and repeated selections: for the general matcher, and with open matches
/// around the array.
fn conditions(path: &str) -> Vec<Analysis> {
    let path = |rest: &str| query(&format!("{path}{rest}"));
    let length = |path| Count::new(path).count_as(CountAs::ArrayLength);
    let filter = query("$[?@.a.id == 'x' && @.id > 100]").segments().iter().next().map(|segment| {
        let [Selector::Filter(filter)] = segment.selectors.as_slice() else { panic!("a filter") };
        filter.clone()
    });
    vec![
        Analysis::new().extract(path("[?@.tags[1]].id")),
        Analysis::new()
            .extract(path("[?@.tags[?@.id > 2]].id"))
            .extract(path("[::1]['text','id']"))
            .count(path("[?length(@.tags) == 2]"))
            .count(path("..id"))
            .count(query("$..[?@.id].tags[1:]")),
        Analysis::new().ask(Measure::Count(length(path("")))),
        Analysis::new().ask(Measure::Count(length(path("")).filter(*filter.unwrap()))),
        Analysis::new().extract(path("[?@.id > 5]")).ask(Measure::Count(length(path("")))).count(path("")),
        // These are not divided, or only in part.
        Analysis::new().extract(path("[?@.id == $.data.records[7].id].text")),
        Analysis::new().extract(path("[-1,5,?@.id == 7]")).extract(path("[?@.id > 5].id")),
        Analysis::new().extract(path("")).extract(path("[?@.id > 5].id")),
    ]
}

#[test]
fn divides_filters_and_lengths() {
    let text = format!(r#"{{"data":{{"records":{}}},"after":{{"x":7}}}}"#, array(5 << 19, record));
    for (number, analysis) in conditions("$.data.records").into_iter().enumerate() {
        for order in [Order::Rfc, Order::Document] {
            let (values, end) = same(&analysis.clone().order(order), &text);
            assert!(end.is_ok() && (values > 0 || number == 2 || number == 3), "{number}: {values} {end:?}");
        }
    }
    for analysis in [&conditions("$")[0], &Analysis::new().count(query("$[?@.id == 'no']"))] {
        for (text, _) in ODD_ARRAYS.iter() {
            assert!(same(analysis, text).1.is_ok());
        }
    }
}

/// Elements whose starts cannot be guessed or are guessed wrong, with the minimum number of values
/// that have an `id`.
static ODD_ARRAYS: LazyLock<[(String, usize); 6]> = LazyLock::new(|| {
    let numbers = array(3 << 20, |number, _| number.to_string());
    let objects = array(3 << 20, |number, random| match random.below(4) {
        0 => format!(r#" {{ "id" : {number} }} "#),
        1 => format!(r#"{{"x":{number},"id":1}}"#),
        2 => "[{\"id\":1},{\"id\":2}]".to_owned(),
        _ => "null".to_owned(),
    });
    let pretty = array(3 << 20, |number, _| format!("\n  {{\n    \"id\": {number},\n    \"tags\": []\n  }}"));
    // Nearly everything that looks like an element belongs to an inner array.
    let nested = array(3 << 20, |number, random| {
        let inner: Vec<String> = (0..random.below(30_000)).map(|k| format!(r#"{{"id":{k}}}"#)).collect();
        format!(r#"{{"id":{number},"tags":[{}]}}"#, inner.join(","))
    });
    // The same, and longer than several stretches.
    let alike = array(5 << 20, |number, _| {
        let inner: Vec<String> = (0..80_000).map(|k| format!(r#"{{"id":{k},"tags":[]}}"#)).collect();
        format!(r#"{{"id":{number},"tags":[{}]}}"#, inner.join(","))
    });
    let long = array(5 << 20, |number, _| format!(r#"{{"id":{number},"text":"{}"}}"#, "x".repeat(1 << 20)));
    [(numbers, 0), (objects, 100), (pretty, 1000), (nested, 1000), (alike, 1000), (long, 2)]
});

#[test]
fn wrong_guesses_change_no_answer() {
    for (text, least) in ODD_ARRAYS.iter() {
        let (values, end) = same(&all_measures("$"), text);
        assert!(values >= *least && end.is_ok(), "{values} {end:?}");
    }
}

/// Statistics of a whole document.
fn descriptions() -> impl Iterator<Item = Analysis> {
    let changes: [fn(&mut Stats); 5] = [
        |_| {},
        |stats| (stats.schema, stats.values, stats.fields) = (true, true, true),
        |stats| (stats.per_path, stats.duplicate_names) = (false, true),
        |stats| stats.max_depth = Some(3),
        |stats| (stats.per_path, stats.counts) = (false, false),
    ];
    changes.into_iter().map(|change| {
        let mut stats = Stats::new();
        change(&mut stats);
        Analysis::new().ask(Measure::Stats(stats))
    })
}

#[test]
fn statistics_of_a_document() {
    let rest = r#""after":{"x":7},"data":1"#;
    let text =
        format!(r#"{{"before":[1,2,"é"],"data":{{"records":{},"x":[]}},{rest}}}"#, array(4 << 20, record));
    for analysis in descriptions() {
        let end = same_for_all(&analysis, &text).1.unwrap();
        assert!(end.contains("duplicate_names"), "a repeated name outside the array is counted: {end}");
        for (text, _) in ODD_ARRAYS.iter() {
            assert!(same(&analysis, text).1.is_ok());
        }
    }
}

/// Maps are folded when the answer is assembled, for any division.
#[test]
fn statistics_of_maps() {
    let map = |number: u64, random: &mut Random| {
        // Each of 150 names is in a seventh of the objects.
        let from = random.below(150);
        let members = (from..from + 20).map(|name| format!(r#""{}":{{"n":{number}}}"#, name % 150));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    };
    let text = format!(r#"{{"maps":{},"end":1}}"#, array(4 << 20, map));
    for analysis in descriptions().take(2) {
        let end = same(&analysis, &text).1.unwrap();
        assert!(end.contains("$.maps[*].*"), "{}", &end[..end.len().min(500)]);
    }
}

/// If most of a document is an object, it cannot be divided. Errors keep their positions.
#[test]
fn statistics_of_objects_and_malformed_arrays() {
    let object = array(3 << 20, |number, _| format!(r#""{number}":{{"id":{number}}}"#));
    let object = format!("{{{}}}", &object[1..object.len() - 1]);
    let good = format!("{{\n\"data\":{}}}", array(4 << 20, record));
    let at =
        good.match_indices(r#"},{"id""#).map(|(at, _)| at + 1).find(|at| *at > good.len() * 2 / 3).unwrap();
    let broken =
        ["]", "\u{1}", "{", "\\", "\"", ","].map(|bad| format!("{}{bad}{}", &good[..at], &good[at..]));
    for analysis in [0, 1, 4].into_iter().filter_map(|number| descriptions().nth(number)) {
        assert!(same(&analysis, &object).1.is_ok());
        for text in &broken {
            assert!(same(&analysis, text).1.is_err());
        }
        assert!(same(&analysis, &good[..at]).1.is_err());
    }
}

/// Searches at any depth, with nested matches and with matches that are held.
#[test]
fn names_at_any_depth() {
    let records = array(5 << 19, record);
    let document =
        format!(r#"{{"id":1,"data":{{"records":{records},"id":2}},"a":[{{"id":3}}],"after":{{"x":7}}}}"#);
    let stream = format!("[{records},[],{records}]");
    let analyses = [
        Analysis::new().extract(query("$..id")),
        Analysis::new().count(query("$..id")),
        Analysis::new().extract(query("$.data..id")).count(query("$.data..id")),
        Analysis::new().extract(query("$..tags")),
        Analysis::new().count(query("$..data")).count(query("$..data")),
        Analysis::new().extract(query("$..a")).count(query("$.data.records..a")),
        Analysis::new().sample(Sample::new(query("$..id"), size(100))),
        Analysis::new().extract(query("$..nothing")),
    ];
    // Strict validation reads tokens.
    let plain = |analysis: &Analysis, text: &str| {
        let one = analysis.clone().validation(Validation::Structural);
        same_with(&one, text, some_threads(), [Memory::default; 2]).1
    };
    for (number, analysis) in analyses.iter().enumerate() {
        for (text, order) in [(&document, Order::Rfc), (&document, Order::Document), (&stream, Order::Rfc)] {
            let end = plain(&analysis.clone().order(order), text);
            assert!(end.is_ok(), "{number}: {end:?}");
        }
        let (from, bad) = (document.len() / 11 * (number + 3), ["{]", "}", "[", "\""][number % 4]);
        let mut ends = document.match_indices(r#"},{"id""#).map(|(at, _)| at + 1);
        let at = ends.find(|at| *at > from).unwrap();
        assert!(plain(analysis, &format!("{}{bad}{}", &document[..at], &document[at..])).is_err());
    }
    assert!(plain(&analyses[0].clone().duplicates(Duplicates::All), &document).is_ok());
    for (text, _) in ODD_ARRAYS.iter() {
        assert!(plain(&analyses[0], text).is_ok());
    }
    assert!(same(&analyses[3], &document).1.is_ok(), "with locations the limit does not apply");
}

/// Samples of every kind: of elements, of nested nodes, of nodes that are selected twice.
fn samples(path: &str) -> Vec<Analysis> {
    let of = |rest: &str| query(&format!("{path}{rest}"));
    let stride = NonZeroU64::new(7);
    let group = |text| Strategy::Stratified(query(text));
    let draw = |query, count, strategy| Sample::new(query, size(count)).strategy(strategy).seed(Seed::new(3));
    vec![
        Analysis::new().sample(draw(of(""), 100, Strategy::Random)).sample(draw(
            of(""),
            5000,
            Strategy::Last,
        )),
        Analysis::new().sample(draw(of("[*]..*"), 1000, Strategy::Random)).count(of("[*]")),
        Analysis::new().sample(draw(of(""), 40, Strategy::Systematic(stride))),
        Analysis::new().sample(draw(of("[*,*].id"), 1001, Strategy::Random)),
        Analysis::new().sample(draw(of("[*,*].id"), 1001, Strategy::Last)),
        Analysis::new().sample(draw(of("[*].tags[*]"), 300, Strategy::First)),
        Analysis::new().sample(draw(of(""), 500, Strategy::Systematic(None))),
        Analysis::new().sample(draw(of(""), 60, group("$.tags[0].id"))).sample(draw(
            of(""),
            9,
            group("$.text"),
        )),
        Analysis::new().sample(draw(of("[*,?@.id > 9]"), 60, group("$.a"))),
        Analysis::new().sample(draw(of("[*].id"), 60, group("$"))),
    ]
}

#[test]
fn samples_of_a_document() {
    let text = format!(r#"{{"data":{{"records":{}}},"after":{{"x":7}}}}"#, array(5 << 19, record));
    let mut refused = 0;
    for (number, analysis) in samples("$.data.records").into_iter().enumerate() {
        let (_, end) = same(&analysis, &text);
        refused += usize::from(end.is_err());
        assert!(end.is_ok() || number == 9, "{number}: {end:?}");
    }
    assert_eq!(refused, 1, "the groups exceed their limit");
    for analysis in samples("$").into_iter().take(1) {
        for (text, _) in ODD_ARRAYS.iter() {
            assert!(same(&analysis, text).1.is_ok());
        }
    }
    // A sample and an extraction: one is drawn while the values of the other are emitted.
    let mixed = samples("$.data.records").remove(0).extract(query("$.data.records[*].id"));
    assert!(same(&mixed, &text).0 > 1000);
}

#[test]
fn several_arrays() {
    let (one, two) = (array(3 << 20, record), array(3 << 20, record));
    let text = format!(r#"{{"a":{one},"b":{{"c":{two}}},"d":[]}}"#);
    let analysis =
        Analysis::new().extract(query("$.a[*].id")).extract(query("$.b.c[*].id")).count(query("$.d[*]"));
    assert!(same(&analysis, &text).0 > 10_000);
}

/// The first error in the order of the input is returned, and everything before it was emitted.
#[test]
fn errors_are_those_of_one_thread() {
    let text = format!("{{\n\"data\":{}}}", array(3 << 20, record));
    let (mut random, mut errors) = (Random::new(5), 0);
    for (number, bad) in ["{]", "}", "\"", "[", ",,", "\u{1}"].iter().enumerate() {
        let at = text.len() / 2 + random.below(text.len() / 3);
        let at = (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap();
        let broken = format!("{}{bad}{}", &text[..at], &text[at..]);
        for validation in [Validation::Structural, Validation::Strict] {
            let (values, end) = same(&all_measures("$.data").validation(validation), &broken);
            assert!(values > 1000, "{number}");
            errors += usize::from(end.is_err());
        }
        errors += usize::from(same(&conditions("$.data")[number], &broken).1.is_err());
    }
    assert!(errors >= 9, "some errors are inside strings: {errors}");
    let cut = &text[..text.len() * 2 / 3];
    assert!(same(&all_measures("$.data"), cut).1.is_err());
}

/// A stream of documents, each of them long.
#[test]
fn documents_in_a_row() {
    let text = format!("[{{}}]\n{}\n{}\n1\n", array(3 << 20, record), array(3 << 20, record));
    let [one, two] = [1, 2].map(|threads| {
        observe(&all_measures("$"), &text, (Framing::Concatenated, threads), Memory::located())
    });
    assert_eq!(one.1, two.1);
    assert!(one.0.heard == two.0.heard && one.0.heard.len() > 20_000 && one.1.is_ok());
}

/// Long containers are skipped and tallied by several threads, with the results of one.
#[test]
fn long_skips_are_the_same_for_any_number_of_threads() {
    let odd = |number: u64, random: &mut Random| match number % 997 {
        // Texts that look like the ends of names, a text longer than a stretch, and deep arrays.
        0 => format!(r#""{}""#, r#"\":1,{\"a\":["#.repeat(random.below(900))),
        1 if number < 2000 => format!(r#""{}""#, "x\\\"".repeat(900_000)),
        2 => format!("{}{}", "[".repeat(80), "]".repeat(80)),
        3 => "-12.5e+7,-0".to_owned(),
        _ => record(number, random),
    };
    let array = array(26 << 20, odd);
    let mut tally = Stats::new();
    (tally.per_path, tally.duplicate_names) = (false, false);
    let questions = [
        Analysis::new().extract(query("$.last")).count(query("$.data")),
        Analysis::new().ask(Measure::Stats(tally)),
    ];
    let whole = format!(r#"{{"data":{array},"last":[1,"end"]}}"#);
    let cut = &whole[..whole.len() - 40];
    // The container ends too early, with the wrong bracket, or too deep.
    let (early, wrong) = (whole.replacen(r#""a":{"id":"x"}}"#, "]", 9), whole.replacen("]}]", "]]]", 1));
    let deep = whole.replace("[[[[", &"[".repeat(2000));
    for question in questions {
        let analysis = question.validation(Validation::Structural);
        let (_, end) = same(&analysis, &whole);
        assert!(end.is_ok(), "{end:?}");
        for malformed in [cut, &early, &wrong, &deep] {
            let (_, end) = same(&analysis, malformed);
            assert!(end.is_err() || malformed == early, "{end:?}");
        }
    }
}
