//! Answers with a guide are those without.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io;
use std::sync::Arc;

use trommel::path::{Duplicates, Order, Query};
use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Document, Extract, Match, Measure, Sink};
use trommel_guide::{Index, IndexBuilder, without_skipped};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{QueryOptions, Random, Shape, document, query, stream};
use trommel_testkit::naive;

/// Values with their offsets, records, and locations.
#[derive(Debug, Default, PartialEq)]
struct Values {
    found: Vec<(u64, u64, Vec<u8>, Option<String>)>,
    wants_location: bool,
}

impl Sink for Values {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        let location = found.location.map(str::to_owned);
        self.found.push((found.record, found.span.start, found.value.to_vec(), location));
        Ok(())
    }

    fn wants_location(&self) -> bool {
        self.wants_location
    }
}

fn opened(bytes: &[u8], kind: u64, framing: Framing) -> Document<'_> {
    let document = match kind % 2 {
        0 => Document::from_bytes(bytes),
        _ => Document::from_seekable(io::Cursor::new(bytes)).unwrap(),
    };
    document.framing(framing)
}

fn index(bytes: &[u8], spacing: u64, framing: Framing) -> Index {
    let built = Index::build(&opened(bytes, 0, framing), IndexBuilder::new(spacing), Box::new(|_| Ok(())));
    built.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(bytes)))
}

/// A shape of documents that are long compared with the windows.
fn shape(random: &mut Random) -> Shape {
    let shape = match random.below(4) {
        0 => Shape::deep(random.between(2, 20)),
        _ => Shape::wide(random.between(5, 60)),
    };
    Shape { duplicates: random.chance(25), ..shape }
}

/// An input, of which a guide describes the first bytes.
struct Input<'a> {
    text: &'a [u8],
    framing: Framing,
    described: usize,
}

/// Returns the number of runs that passed elements.
fn compare(seed: u64, input: &Input<'_>, queries: &[String], random: &mut Random) -> u64 {
    let Input { text, framing, described } = *input;
    let spacing = random.between(8, 128) as u64;
    let index = Arc::new(index(&text[..described], spacing, framing));
    let mut shortened = 0;
    for query in queries {
        let Ok(parsed) = query.parse::<Query>() else { continue };
        let kind = random.bits();
        let validation = if random.chance(50) { Validation::Strict } else { Validation::Structural };
        let order = if random.chance(50) { Order::Rfc } else { Order::Document };
        let analysis = Analysis::new().window(random.between(1, 200)).validation(validation).order(order);
        let analysis = analysis.threads(if random.chance(80) { 1 } else { 2 });
        let analysis = match random.below(4) {
            0 => analysis.duplicates(Duplicates::All),
            1 => analysis.duplicates(Duplicates::Last),
            _ => analysis,
        };
        let analysis = match random.below(8) {
            0 => analysis.filter(Query::parse_filter("@[1] || @.a || @.id").unwrap()),
            1 => analysis.each("$[*]".parse().unwrap()),
            2 => analysis.each("$..a".parse().unwrap()),
            _ => analysis,
        };
        let analysis = if random.chance(50) {
            analysis.count(parsed)
        } else {
            let extract = Extract::new(parsed);
            let extract =
                if random.chance(25) { extract.limit(random.between(1, 9) as u64) } else { extract };
            let extract =
                if random.chance(25) { extract.skip(random.between(1, 20) as u64) } else { extract };
            analysis.ask(Measure::Extract(extract))
        };
        let mut run = |document: &mut Document<'_>| {
            let mut values = Values { wants_location: kind % 4 < 2, ..Values::default() };
            let shorter = without_skipped(&analysis, document).unwrap();
            shortened += u64::from(shorter.is_some());
            let report = shorter.as_ref().unwrap_or(&analysis).run_with(document, &mut values);
            (report, values)
        };
        let (plain, values) = run(&mut opened(text, kind, framing));
        let guide = Arc::clone(&index) as Arc<dyn trommel::reader::Guide>;
        let (guided, guided_values) = run(&mut opened(text, kind, framing).guided_by(guide));
        let context = || {
            let (strict, bytes) = (validation == Validation::Strict, text.len());
            let measure = &analysis;
            format!(
                "seed {seed}, {query}, spacing {spacing}, kind {kind}, strict {strict}, {order:?}, {described} of {bytes} bytes, {measure:?}"
            )
        };
        assert!(
            values == guided_values,
            "{}: {} values, {}",
            context(),
            values.found.len(),
            guided_values.found.len()
        );
        let plain = plain.unwrap_or_else(|error| panic!("{error}, {}", context()));
        let mut guided = guided.unwrap_or_else(|error| panic!("{error}, {}", context()));
        assert_eq!(format!("{:?}", plain.answers), format!("{:?}", guided.answers), "{}", context());
        guided.coverage.guide = false;
        assert_eq!(plain.coverage, guided.coverage, "{}", context());
    }
    shortened
}

/// The paths of the arrays of a document, with `[*]`.
fn elements(tree: &naive::Document) -> Vec<String> {
    let is_array = |id: &naive::ValueId| matches!(tree[*id].data, naive::Data::Array(_));
    tree.ids().filter(is_array).map(|id| format!("{}[*]", tree.path(id))).collect()
}

#[test]
fn documents_have_the_same_answers() {
    let mut shortened = 0;
    for seed in 0..cases(1500, 100_000) {
        let mut random = Random::new(seed);
        let text = document(seed, &shape(&mut random));
        let tree = naive::parse(&text).unwrap();
        let mut queries: Vec<_> =
            (0..8).map(|number| query(seed * 8 + number, &tree, &QueryOptions::default())).collect();
        let elements = elements(&tree);
        if !elements.is_empty() {
            queries.extend((0..2).map(|_| elements[random.below(elements.len())].clone()));
        }
        let input = Input { text: &text, framing: Framing::Auto, described: text.len() };
        shortened += compare(seed, &input, &queries, &mut random);
    }
    assert!(shortened > 100, "{shortened}");
}

#[test]
fn streams_have_the_same_answers() {
    for seed in 0..cases(500, 30_000) {
        let mut random = Random::new(seed);
        let (framing, naive_framing) = match seed % 3 {
            0 => (Framing::Lines, naive::Framing::Lines),
            1 => (Framing::JsonSeq, naive::Framing::JsonSeq),
            _ => (Framing::Concatenated, naive::Framing::Concatenated),
        };
        let shape = shape(&mut random);
        let text = stream(seed, &shape, naive_framing, random.between(1, 20));
        let tree = naive::parse(&document(seed, &shape)).unwrap();
        let queries: Vec<_> =
            (0..4).map(|number| query(seed * 8 + number, &tree, &QueryOptions::default())).collect();
        // The guide of a log that has grown describes its first lines.
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let ends: Vec<usize> = if framing == Framing::Lines { ends.collect() } else { Vec::new() };
        let described = if ends.is_empty() { text.len() } else { ends[random.below(ends.len())] };
        compare(seed, &Input { text: &text, framing, described }, &queries, &mut random);
    }
}

/// An object of many members, most of which are in an order, and the queries for some of them.
fn ordered_members(random: &mut Random) -> (String, Vec<String>) {
    let count = random.between(60, 300);
    let is_number = random.chance(50);
    let name = |number: usize| if is_number { format!("k{number}") } else { format!("k{number:05}") };
    let mut numbers: Vec<usize> = (0..count).map(|number| 3 * number + 1).collect();
    match random.below(6) {
        0 => numbers.swap(random.below(count), random.below(count)),
        1 => numbers[random.below(count)] = numbers[random.below(count)],
        2 => numbers[..64.min(count)].reverse(),
        3 => numbers.reverse(),
        _ => {}
    }
    let escaped = if random.chance(15) { random.below(count) } else { usize::MAX };
    let members = numbers.iter().enumerate().map(|(index, &number)| {
        let name = if index == escaped { format!("\\u006b{number}") } else { name(number) };
        let value = match random.below(5) {
            0 => format!("{{\"{name}\":{{\"k1\":[1,2]}},\"b\":[{{\"k4\":3}},4]}}"),
            1 => format!("\"a text of member {number}, in a row of others\""),
            2 => format!("[{number},[{number}],{{}}]"),
            _ => number.to_string(),
        };
        [["\"", "\n  \""][random.below(2)], &name, "\":", &value].concat()
    });
    let object = members.collect::<Vec<_>>().join(",");
    let mut queries = Vec::new();
    for _ in 0..6 {
        let wanted = match random.below(8) {
            0 => "j".to_owned(),
            1 => "l".to_owned(),
            2 => name(3 * random.below(count)),
            _ => name(3 * random.below(count) + 1),
        };
        queries.push(format!("$.o['{wanted}']{}", ["", "", ".b", "..k1"][random.below(4)]));
    }
    queries.push(format!("$.o['{}','{}']", name(1), name(3 * random.below(count) + 1)));
    queries.push("$.after".to_owned());
    (format!("{{\"before\":[1,2],\"o\":{{{object}}},\"after\":{{\"k1\":1}}}}"), queries)
}

#[test]
fn members_in_order_are_the_same() {
    let mut ordered = 0;
    for seed in 0..cases(600, 60_000) {
        let mut random = Random::new(seed);
        let (text, queries) = ordered_members(&mut random);
        let input = Input { text: text.as_bytes(), framing: Framing::Auto, described: text.len() };
        ordered += usize::from(index(text.as_bytes(), 64, Framing::Auto).knows_order());
        compare(seed, &input, &queries, &mut random);
    }
    assert!(ordered > 200, "{ordered}");
}

/// Of two members with the same name, one may be an object, whose members have no indices.
#[test]
fn skips_in_repeated_names_are_the_same() {
    let text = br#"{"a":{"x":1,"y":2},"a":[3,4,5]}"#;
    let index = Arc::new(index(text, 8, Framing::Auto));
    for duplicates in [Duplicates::First, Duplicates::Last, Duplicates::All] {
        for skip in 1..5 {
            let extract = Extract::new("$.a[*]".parse().unwrap()).skip(skip);
            let analysis = Analysis::new().duplicates(duplicates).ask(Measure::Extract(extract));
            let run = |document: &mut Document<'_>| {
                let mut values = Values::default();
                let shorter = without_skipped(&analysis, document).unwrap();
                shorter.as_ref().unwrap_or(&analysis).run_with(document, &mut values).unwrap();
                values
            };
            let plain = run(&mut opened(text, 0, Framing::Auto));
            let guide = Arc::clone(&index) as Arc<dyn trommel::reader::Guide>;
            let guided = run(&mut opened(text, 0, Framing::Auto).guided_by(guide));
            assert_eq!(plain, guided, "{duplicates:?}, skip {skip}");
        }
    }
}

/// A name is compared with the first ordered one where the cursor is. This shows the rest of the
/// input, which was not read.
#[test]
fn names_before_the_ordered_ones_are_the_same() {
    let inner = |number| if number < 66 { "b" } else { "a" };
    let member = |number| format!("\"k{number:03}\":{{\"{}\":{number}}}", inner(number));
    let members: Vec<String> = (0..72).map(member).collect();
    let text = format!("[0,{{{}}}]", members.join(","));
    let mut ordered = 0;
    for (spacing, window) in (64..200).flat_map(|spacing| [7, 32, 100].map(|window| (spacing, window))) {
        let index = Arc::new(index(text.as_bytes(), spacing, Framing::Auto));
        ordered += usize::from(index.knows_order());
        let analysis = Analysis::new().window(window).extract("$[*].a".parse().unwrap());
        let guide = Arc::clone(&index) as Arc<dyn trommel::reader::Guide>;
        let mut document = opened(text.as_bytes(), 1, Framing::Auto).guided_by(guide);
        let mut values = Values::default();
        let report = analysis.run_with(&mut document, &mut values);
        report.unwrap_or_else(|error| panic!("{error}, spacing {spacing}, window {window}"));
        assert_eq!(values, Values::default(), "spacing {spacing}, window {window}");
    }
    assert!(ordered > 300, "{ordered}");
}
