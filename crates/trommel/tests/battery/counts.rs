//! Counts of nodes, elements, and members, with and without a filter.

use trommel::path::{Duplicates, Logical, Query, Selector};
use trommel::reader::{Framing, Kind, Validation};
use trommel::{Analysis, Count, CountAs, Document, Error, Measure, NotCountable};
use trommel_testkit::evaluate::Node;
use trommel_testkit::generate::{self, QueryOptions, Random, Shape, stream};
use trommel_testkit::naive;

use crate::support::{Source, cases, naive_framing, nodes, query, run_bytes};

const KINDS: [CountAs; 4] =
    [CountAs::Matches, CountAs::ArrayLength, CountAs::ObjectKeys, CountAs::NestedTotal];

fn count(count: Count) -> Analysis {
    Analysis::new().ask(Measure::Count(count))
}

/// The number according to the oracle, or the location of the first node of the wrong type.
fn expected(
    text: &[u8],
    framing: Framing,
    (query, what): (&Query, CountAs),
    filter: Option<&Logical>,
) -> Result<u64, (u64, Node)> {
    let mut found = nodes(text, framing, query, false);
    let children = match filter {
        Some(filter) => query.clone().with_filter(filter.clone()),
        None => query.clone().with_wildcard(),
    };
    let children = nodes(text, framing, &children, false).len() as u64;
    found.sort_by_key(|(_, node)| node.span.start);
    let starts_with = |byte: u8| move |(_, node): &&(u64, Node)| text[node.span.range()][0] != byte;
    let wrong = match what {
        CountAs::ArrayLength => found.iter().find(starts_with(b'[')),
        CountAs::ObjectKeys => found.iter().find(starts_with(b'{')),
        CountAs::NestedTotal => None,
        _ => {
            let passes = |(_, node): &&(u64, Node)| {
                let Some(filter) = filter else { return true };
                // The node as the only element of an array: the filter reads nothing else.
                let alone = [b"[", &text[node.span.range()], b"]"].concat();
                !nodes(&alone, Framing::Single, &Query::root().with_filter(filter.clone()), false).is_empty()
            };
            return Ok(found.iter().filter(passes).count() as u64);
        }
    };
    wrong.map_or(Ok(children), |wrong| Err(wrong.clone()))
}

/// A filter from a random query, if one reads nothing outside its candidate.
fn filter_of(query: &Query) -> Option<Logical> {
    let selectors = query.segments().iter().flat_map(|segment| &segment.selectors);
    let mut filters = selectors.filter_map(|selector| match selector {
        Selector::Filter(filter) => Some((**filter).clone()),
        _ => None,
    });
    filters.find(|filter| !filter.to_string().contains('$'))
}

/// Every kind of count, with and without a filter, on every kind of input, equals the oracle's
/// count.
#[test]
fn counts_are_those_of_the_oracle() {
    let mut filtered = 0;
    for seed in 0..cases(900, 10_000) {
        let mut random = Random::new(seed);
        let framing = [Framing::Single, Framing::Lines, Framing::JsonSeq][random.weighted(&[2, 1, 1])];
        let text = stream(seed, &Shape::plain(), naive_framing(framing), random.between(1, 4));
        let first = naive::records(&text, naive_framing(framing))[0].outcome.clone().unwrap();
        let wishes = QueryOptions { patterns: false, ..QueryOptions::default() };
        let query = query(&generate::query(seed, &first, &wishes));
        let filter = (1..30).find_map(|number| {
            filter_of(&self::query(&generate::query(seed + number * 1000, &first, &wishes)))
        });
        for (kind, filter) in KINDS.into_iter().flat_map(|kind| [(kind, None), (kind, filter.clone())]) {
            filtered += usize::from(filter.is_some());
            let mut asked = Count::new(query.clone()).name("it").count_as(kind);
            asked.filter.clone_from(&filter);
            let answer = count(asked).run(&mut Source::pick(seed).document(&text, framing));
            match expected(&text, framing, (&query, kind), filter.as_ref()) {
                Ok(number) => {
                    let found =
                        answer.unwrap_or_else(|error| panic!("seed {seed} {query} {kind:?}: {error}"));
                    assert_eq!(
                        found.answers[0].count(),
                        Some(number),
                        "seed {seed} {query} {kind:?} {filter:?}"
                    );
                }
                Err((_, node)) => {
                    let Err(Error::NotCountable(what)) = answer else {
                        panic!("seed {seed} {query} {kind:?}")
                    };
                    assert_eq!((what.name.as_str(), what.location), ("it", node.path), "seed {seed} {query}");
                }
            }
        }
    }
    assert!(filtered > 1000, "filters were tried: {filtered}");
}

#[test]
fn each_kind_counts_what_its_name_says() {
    let text =
        br#"{"users": [{"name": "A", "age": 40, "tags": ["x", "y"]}, {"name": "B", "age": 20, "tags": []}]}"#;
    for (path, kind, filter, number) in [
        ("$.users[*]", CountAs::Matches, None, 2),
        ("$.users[*]", CountAs::Matches, Some("@.age > 30"), 1),
        ("$.users", CountAs::ArrayLength, None, 2),
        ("$.users", CountAs::ArrayLength, Some("[?(@.age < 30)]"), 1),
        ("$.users[*].tags", CountAs::ArrayLength, None, 2),
        ("$.users[*]", CountAs::ObjectKeys, None, 6),
        ("$.users[*]", CountAs::ObjectKeys, Some("?@ == 20"), 1),
        ("$.users[*].*", CountAs::NestedTotal, None, 2),
        ("$.users[*]", CountAs::NestedTotal, None, 6),
        ("$.missing", CountAs::ArrayLength, None, 0),
        ("$.users", CountAs::ArrayLength, Some("@.age > $.users[1].age"), 1),
        ("$.users[*]", CountAs::Matches, Some("@.age > $.users[1].age"), 1),
        ("$.users[0,0]", CountAs::Matches, None, 2),
    ] {
        let mut asked = Count::new(query(path)).count_as(kind);
        asked.filter = filter.map(|filter| Query::parse_filter(filter).unwrap());
        let report = run_bytes(&count(asked), text).unwrap();
        assert_eq!(report.answers[0].count(), Some(number), "{path} {kind:?} {filter:?}");
    }
}

fn refusal(text: &str, path: &str, kind: CountAs) -> NotCountable {
    let asked = Count::new(query(path)).name("how many").count_as(kind);
    match run_bytes(&count(asked), text.as_bytes()) {
        Err(Error::NotCountable(what)) => *what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn suggests_a_kind_of_count_that_works() {
    let text = r#"{"a": [[1], {"b": 2}, "x"], "b": {}}"#;
    let what = refusal(text, "$.a[*]", CountAs::ArrayLength);
    assert_eq!(
        (what.location.as_str(), what.kind, what.wanted, what.instead),
        ("$['a'][1]", Kind::Object, "array_length", "matches")
    );
    let what = refusal(text, "$.a[*]", CountAs::ObjectKeys);
    assert_eq!((what.location.as_str(), what.instead), ("$['a'][0]", "array_length"));
    let what = refusal(text, "$.a[2]", CountAs::ObjectKeys);
    assert_eq!((what.location.as_str(), what.kind, what.instead), ("$['a'][2]", Kind::String, "matches"));
    // The suggested kind works.
    for path in ["$.a[1]", "$.a[0]", "$.a[2]"] {
        for kind in [CountAs::ArrayLength, CountAs::ObjectKeys] {
            let asked = Count::new(query(path)).count_as(kind);
            let Err(Error::NotCountable(what)) = run_bytes(&count(asked), text.as_bytes()) else { continue };
            let instead = KINDS.into_iter().find(|kind| match kind {
                CountAs::ArrayLength => what.instead == "array_length",
                CountAs::ObjectKeys => what.instead == "object_keys",
                CountAs::Matches => what.instead == "matches",
                _ => false,
            });
            let again = Count::new(query(path)).count_as(instead.unwrap());
            assert_eq!(run_bytes(&count(again), text.as_bytes()).unwrap().answers[0].count(), Some(1));
        }
    }
}

#[test]
fn a_limit_stops_the_count() {
    let text = format!("[{}]", vec!["1"; 5000].join(","));
    let asked = count(Count::new(query("$[*]")).limit(7));
    let report = run_bytes(&asked, text.as_bytes()).unwrap();
    assert_eq!(report.answers[0].count(), Some(7));
    assert!(report.coverage.bytes_read == text.len() as u64 && report.coverage.complete);
    let report = run_bytes(&asked.validation(Validation::Structural), text.as_bytes()).unwrap();
    assert_eq!(report.answers[0].count(), Some(7));
    assert!(report.coverage.bytes_read < 20 && !report.coverage.complete, "{:?}", report.coverage);
    let report = run_bytes(&count(Count::new(query("$[*]")).limit(9000)), text.as_bytes()).unwrap();
    assert_eq!(report.answers[0].count(), Some(5000));
    assert!(report.coverage.complete);
}

#[test]
fn repeated_names_count_by_the_policy() {
    let text = br#"{"a": 1, "b": 0, "a": 2}"#;
    let first = Analysis::new().count(query("$.a"));
    assert_eq!(run_bytes(&first, text).unwrap().answers[0].count(), Some(1));
    let all = first.duplicates(Duplicates::All);
    assert_eq!(run_bytes(&all, text).unwrap().answers[0].count(), Some(2));
    let members = Count::new(Query::root()).count_as(CountAs::ObjectKeys);
    assert_eq!(run_bytes(&count(members), text).unwrap().answers[0].count(), Some(3));
}

/// A number of selections beyond 64 bits saturates.
#[test]
fn counts_saturate() {
    let often = query(&format!("${}", "[0,0]".repeat(70)));
    let text = format!("{}7{}", "[".repeat(70), "]".repeat(70));
    let report = count(Count::new(often)).run(&mut Document::from_bytes(text)).unwrap();
    assert_eq!(report.answers[0].count(), Some(u64::MAX));
}
