//! Parts of a whole document: merged answers are those of one run, for any query.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;
use std::num::NonZeroUsize;

use trommel::path::{Order, Query};
use trommel::reader::{Framing, Validation};
use trommel::{
    Analysis, Answer, Document, ElementPart, Group, Match, Measure, Partial, Sample, Stats, Strategy,
};
use trommel_guide::{FileIdentity, Guide, Identity, Index, IndexBuilder, Shape};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::Random;

/// A file, its text, and its parts.
struct Divided {
    file: tempfile::NamedTempFile,
    text: Vec<u8>,
    parts: Vec<ElementPart>,
}

impl Divided {
    fn new(text: &str, spacing: u64, count: u64) -> Self {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let document = Document::open(file.path()).unwrap().framing(Framing::Single);
        let index = Index::build(&document, IndexBuilder::new(spacing), Box::new(|_| Ok(()))).unwrap();
        let identity = FileIdentity::of(file.as_file()).unwrap();
        let guide = Guide::new(Identity::File(identity), Framing::Single, index, Shape::default());
        let parts = guide.document_parts(file.as_file(), count).unwrap();
        Self { file, text: text.into(), parts }
    }

    /// The document, in memory or as a file that is read through a window.
    fn document(&self, is_mapped: bool) -> Document<'_> {
        if is_mapped {
            Document::from_bytes(&self.text)
        } else {
            Document::open(self.file.path()).unwrap().framing(Framing::Single)
        }
    }

    /// The merged answers to the parts, the extracted values, and the number of parts that could be
    /// divided.
    fn merged(&self, analysis: &Analysis, is_mapped: bool) -> (Partial, Vec<String>, usize) {
        let (mut values, mut divided) = (Vec::new(), 0);
        let partials = (0..).zip(&self.parts).map(|(number, part)| {
            let mut document = self.document(is_mapped).within(part.clone());
            let partial = analysis.run_part(&mut document, number, &mut kept(&mut values)).unwrap();
            let stored = partial.to_bytes().unwrap();
            divided += usize::from(String::from_utf8_lossy(&stored).contains("\"divided\":true"));
            Partial::from_bytes(&stored).unwrap()
        });
        let merged = partials.reduce(|one, next| one.merge(next).unwrap()).unwrap();
        (merged, values, divided)
    }
}

/// A sink that keeps values with their spans.
fn kept(values: &mut Vec<String>) -> impl FnMut(&Match<'_>) -> std::io::Result<()> {
    |found| {
        values.push(format!("{:?} {}", found.span, String::from_utf8_lossy(found.value)));
        Ok(())
    }
}

/// A document with a long array between other members.
fn text(random: &mut Random) -> String {
    let space = |random: &mut Random| [" ", "", "\n  ", ""][random.below(4)];
    let elements = (0..random.between(0, 60)).map(|number| {
        let element = match random.below(5) {
            0 => number.to_string(),
            1 => format!("\"a,]}}{number}\""),
            2 => format!("[{number},{{\"a\":[1,2]}}]"),
            _ => format!("{{\"a\":{number},\"list\":[1,{{\"a\":\"x\"}}],\"b\":{{}}}}"),
        };
        [space(random), &element, space(random)].concat()
    });
    let rows = elements.collect::<Vec<_>>().join(",");
    let before = "{\"a\":1,\"list\":[1,2,3]}";
    let after = "{\"a\":{\"a\":2},\"rows\":[4,5,{\"a\":6}]}";
    format!("{{\"before\":{before}, \"rows\":[{rows} ],\n\"after\":{after},\"a\":9}} ")
}

const QUERIES: [&str; 18] = [
    "$.rows[*]",
    "$.rows[*].a",
    "$..a",
    "$..list[*]",
    "$..*",
    "$.*",
    "$",
    "$.rows[?@.a > 3]",
    "$.rows[5]",
    "$.rows[-1].a",
    "$.rows",
    "$.before",
    "$.after..a",
    "$..rows[*]",
    "$.rows[*].list[*]",
    "$['rows','after']",
    "$.rows[1:7].a",
    "$.rows[?@.a > $.a]",
];

#[test]
fn merged_parts_of_a_document_equal_one_run() {
    let (mut divided, mut several) = (0, 0);
    for seed in 0..cases(400, 20_000) {
        let mut random = Random::new(seed);
        let text = text(&mut random);
        let count = random.between(1, 6) as u64;
        let parts = Divided::new(&text, random.between(16, 200) as u64, count);
        if parts.parts.is_empty() {
            continue;
        }
        several += usize::from(parts.parts.len() > 1);
        let query: Query = random.pick(&QUERIES).parse().unwrap();
        let (is_mapped, is_strict) = (random.chance(50), random.chance(50));
        let validation = if is_strict { Validation::Strict } else { Validation::Structural };
        let mut analysis = Analysis::new()
            .count(query.clone())
            .extract(query.clone())
            .order(Order::Document)
            .validation(validation);
        if random.chance(50) {
            analysis = analysis.window(random.between(1, 100));
        }
        let mut values = Vec::new();
        let report = analysis.run_with(&mut parts.document(is_mapped), &mut kept(&mut values)).unwrap();
        let (merged, merged_values, number) = parts.merged(&analysis, is_mapped);
        let merged = analysis.finish(merged).unwrap();
        assert_eq!(merged_values, values, "seed {seed} {query} {text}");
        assert_eq!(format!("{:?}", merged.answers), format!("{:?}", report.answers), "seed {seed} {query}");
        assert_eq!((merged.coverage.records, merged.coverage.complete), (1, report.coverage.complete));
        assert_eq!(merged.coverage.bytes_read, report.coverage.bytes_read, "seed {seed} {query} {text}");
        assert_eq!(merged.coverage.bytes_total, report.coverage.bytes_total, "seed {seed} {query}");
        divided += number;
    }
    assert!(several > 200 && divided > 200, "{several} {divided}");
}

/// A search at any depth stops only in a long array.
#[test]
fn searches_of_long_documents_are_divided() {
    for (open, between, close) in [("{", ",", "}"), (" {\n ", " ,\n  ", "}\n")] {
        let element = |number: u64| match number % 4 {
            0 => {
                format!("{open}\"a\":{number}{between}\"list\":[1{between}{open}\"a\":\"]}}\"{close}]{close}")
            }
            1 => format!("[{number}{between}{open}\"a\":[]{close}]"),
            2 => {
                format!("{open}\"b\":{open}\"a\":null{close}{between}\"c\":\"{}\"{close}", "\\\"a,".repeat(9))
            }
            _ => number.to_string(),
        };
        let rows = (0..20_000).map(element).collect::<Vec<_>>().join(between);
        let text = format!("{{\"a\":1,\"d\":{{\"rows\":[{rows}],\"a\":[2]}},\"end\":{{\"a\":3}}}}");
        let parts = Divided::new(&text, 32 << 10, 5);
        assert_eq!(parts.parts.len(), 5);
        for (query, is_held) in [
            ("$..a", false),
            ("$.d..a", false),
            ("$.d.rows[*]..a", false),
            ("$..list[*].a", false),
            ("$.d.rows[*][1]", false),
            ("$..[?@.a]", true),
            ("$..*", true),
        ] {
            for is_mapped in [true, false] {
                let query: Query = query.parse().unwrap();
                let analysis = Analysis::new().count(query.clone());
                let with_values = analysis.clone().extract(query.clone()).order(Order::Document);
                for analysis in [analysis, with_values] {
                    let mut values = Vec::new();
                    let report =
                        analysis.run_with(&mut parts.document(is_mapped), &mut kept(&mut values)).unwrap();
                    let (merged, merged_values, divided) = parts.merged(&analysis, is_mapped);
                    let merged = analysis.finish(merged).unwrap();
                    assert!(merged_values == values, "{query} {is_mapped}");
                    assert_eq!(merged.answers[0].count(), report.answers[0].count(), "{query} {is_mapped}");
                    assert_eq!(merged.coverage.bytes_read, report.coverage.bytes_read, "{query} {is_mapped}");
                    // Values that a filter or `..*` selects are held until they can be sorted.
                    let is_whole = is_held && !values.is_empty();
                    assert_eq!(divided, if is_whole { 0 } else { 5 }, "{query} {is_mapped}");
                }
            }
        }
    }
}

/// What parts do not divide is answered by the first one; samples are divided.
#[test]
fn measures_of_parts_are_those_of_the_document() {
    let mut random = Random::new(3);
    let text = text(&mut random).replace("[1,2]", &format!("[{}]", "1,".repeat(60) + "2"));
    let parts = Divided::new(&text, 64, 4);
    assert!(parts.parts.len() > 1, "{text}");
    let (mut stats, all) = (Stats::new(), NonZeroUsize::new(1000).unwrap());
    (stats.schema, stats.values, stats.bytes, stats.fields) = (true, true, true, true);
    let sample = |query: &str| Sample::new(query.parse().unwrap(), all);
    for measure in [
        Measure::Stats(stats),
        Measure::Group(Group::new().by("a", "$.a".parse().unwrap())),
        Measure::Sample(sample("$.rows")),
        Measure::Sample(sample("$.rows[*].a").strategy(Strategy::First)),
        Measure::Sample(sample("$..a").strategy(Strategy::Last)),
    ] {
        for is_mapped in [true, false] {
            let analysis = Analysis::new().ask(measure.clone());
            let report = analysis.run(&mut parts.document(is_mapped)).unwrap();
            let (merged, _, _) = parts.merged(&analysis, is_mapped);
            let merged = analysis.finish(merged).unwrap();
            let shown = |answers: &[Answer]| format!("{answers:?}");
            assert!(shown(&merged.answers) == shown(&report.answers), "{:?}", analysis.measures());
        }
    }
}

/// Offsets from elsewhere are errors or parts, and never a panic.
#[test]
fn forged_parts_are_refused() {
    let mut refused = 0;
    for seed in 0..cases(600, 20_000) {
        let mut random = Random::new(seed);
        let text = text(&mut random);
        let parts = Divided::new(&text, 32, 4);
        if parts.parts.is_empty() {
            continue;
        }
        let mut part = parts.parts[random.below(parts.parts.len())].clone();
        let length = text.len() as u64;
        let any = [0, 1, u64::MAX, u64::MAX - 1, length, length - 1, random.below(text.len()) as u64];
        let value = any[random.below(any.len())];
        match random.below(9) {
            0 => part.number = value,
            1 => part.count = value,
            2 => part.array = value,
            3 => part.elements.start = value,
            4 => part.bytes.start = value,
            5 => part.bytes.end = value,
            6 => part.next = value,
            7 => part.length = value,
            _ => part.first_end = value,
        }
        let query: Query = random.pick(&QUERIES).parse().unwrap();
        let analysis = Analysis::new().count(query.clone()).extract(query).order(Order::Document);
        let mut document = parts.document(random.chance(50)).within(part);
        let ran = analysis.run_part(&mut document, 1, &mut |_: &Match<'_>| Ok(()));
        refused += usize::from(ran.is_err());
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn parts_are_merged_in_order_and_of_the_same_document() {
    let text = format!("{{\"rows\":[{}]}}", vec!["{\"a\":1}"; 50].join(","));
    let parts = Divided::new(&text, 32, 4);
    let analysis = Analysis::new().count("$.rows[*].a".parse().unwrap());
    let of = |part: usize| {
        let mut document = parts.document(true).within(parts.parts[part].clone());
        analysis.run_part(&mut document, part as u64, &mut |_: &Match<'_>| Ok(())).unwrap()
    };
    let merged = |one: &Partial, next: &Partial| one.clone().merge(next.clone());
    let [first, second, third, last] = [0, 1, 2, 3].map(of);
    // Merging is associative.
    let whole = merged(&merged(&first, &second).unwrap(), &merged(&third, &last).unwrap()).unwrap();
    assert_eq!(analysis.finish(whole.clone()).unwrap().answers[0].count(), Some(50));
    for (one, next) in [(&first, &third), (&second, &first), (&first, &last), (&whole, &second)] {
        let result = merged(one, next).map(|partial| analysis.finish(partial).unwrap().answers[0].count());
        // Only the first part of another document can follow.
        assert!(result.is_err() || result.unwrap() != Some(50));
    }
    assert!(merged(&first, &third).is_err() && merged(&whole, &second).is_err());
    // The same file, written again with longer elements.
    let other = text.replace("{\"a\":1}", "{\"a\": 12}");
    let mut document = Document::from_bytes(other.as_bytes()).within(parts.parts[2].clone());
    let failed = analysis.run_part(&mut document, 2, &mut |_: &Match<'_>| Ok(())).unwrap_err();
    assert!(failed.to_string().contains("divide it again"), "{failed}");
}

/// Threads divide an array where the guide says that elements end, also one of numbers or of
/// elements that differ, in which no end can be guessed.
#[test]
fn threads_divide_arrays_at_known_ends() {
    let long = format!("\"{}\"", "a, ]".repeat(60_000));
    let elements: [&dyn Fn(u64) -> String; 4] = [
        &|number| (number * 7919).to_string(),
        &|number| ["[1,\n {\"a\":2}]", "\"x,]\"", "null", "{\"b\" : 1}"][number as usize % 4].into(),
        &|number| format!("{{\"a\":{number},\"b\":[1,2,3,{{\"a\":{number}}}]}}"),
        &|number| if number % 40_000 == 7 { long.clone() } else { format!("[{number}]") },
    ];
    for element in elements {
        let rows = (0..200_000).map(element).collect::<Vec<_>>().join(" ,\n ");
        let text = format!("{{\"a\":1,\"rows\":[{rows}],\"end\":{{\"a\":3}}}}");
        assert!(text.len() > 2 << 20);
        let divided = Divided::new(&text, 32 << 10, 2);
        let build =
            || Index::build(&divided.document(true), IndexBuilder::new(32 << 10), Box::new(|_| Ok(())));
        let index = std::sync::Arc::new(build().unwrap());
        let mut stats = Stats::new();
        (stats.schema, stats.fields) = (true, true);
        for analysis in [
            Analysis::new()
                .count("$.rows[?@ > 5 || @.a]".parse().unwrap())
                .extract("$.rows[*][1]".parse().unwrap()),
            Analysis::new().ask(Measure::Stats(stats.clone())),
        ] {
            let run = |threads: usize, is_guided: bool| {
                let mut values = Vec::new();
                let document = divided.document(true).framing(Framing::Single);
                let mut document = if is_guided { document.guided_by(index.clone()) } else { document };
                let report =
                    analysis.clone().threads(threads).run_with(&mut document, &mut kept(&mut values));
                (format!("{:?}", report.unwrap().answers), values)
            };
            let expected = run(1, false);
            for threads in [2, 3] {
                assert!(run(threads, true) == expected, "{threads} {:?}", analysis.measures());
            }
        }
    }
}
