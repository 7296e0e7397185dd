//! Statistics: equal to the oracle's, and schemas that an independent validator accepts.

use std::collections::BTreeSet;

use serde_json::Value;
use trommel::path::{Duplicates, Query};
use trommel::reader::{Framing, Validation};
use trommel::statistics::Summary;
use trommel::{Analysis, Document, Measure, Stats, StatsAnswer};
use trommel_testkit::generate::{self, Layout, QueryOptions, Random, Shape, document, stream};
use trommel_testkit::naive::{self, Kind};
use trommel_testkit::statistics::{self, Population};
use trommel_testkit::{conformance, evaluate};

use crate::support::{Source, cases, naive_framing, query, run_bytes, stats_of};

fn analysis_of(queries: &[Query], change: impl FnOnce(&mut Stats)) -> Analysis {
    let mut stats = Stats::new();
    stats.queries = queries.to_vec();
    change(&mut stats);
    Analysis::new().ask(Measure::Stats(stats)).duplicates(Duplicates::All)
}

fn describe(analysis: &Analysis, document: &mut Document<'_>) -> StatsAnswer {
    stats_of(&analysis.run(document).unwrap().answers[0]).clone()
}

fn check_structure(found: &Summary, population: &Population<'_>, note: &str) {
    let expected = statistics::structure(population);
    let structure = &found.structure;
    let root_type = match (expected.root_type, population.is_empty()) {
        (Some(kind), _) => kind.name(),
        (None, true) => "none",
        (None, false) => "mixed",
    };
    assert_eq!(structure.root_type, root_type, "{note}");
    assert_eq!(structure.max_depth, expected.max_depth, "{note}");
    assert_eq!(structure.total_keys, expected.total_keys, "{note}");
    assert_eq!(structure.total_values, expected.total_values, "{note}");
    assert_eq!(structure.duplicate_names, expected.duplicate_names, "{note}");
    let types = &found.types;
    let counts = [
        (Kind::Array, types.array),
        (Kind::Boolean, types.boolean),
        (Kind::Null, types.null),
        (Kind::Number, types.number),
        (Kind::Object, types.object),
        (Kind::String, types.string),
    ];
    for (kind, count) in counts {
        assert_eq!(count, expected.types.get(&kind).copied().unwrap_or(0), "{note} {}", kind.name());
    }
}

/// A row of arrays or objects: path, sum, types of elements; and count, minimum, and maximum if
/// there are several.
type Row = (String, u64, String, Option<[u64; 3]>);

fn rows(found: &Summary) -> [Vec<Row>; 2] {
    let several = |[count, min, max]: [Option<u64>; 3]| {
        count.zip(min).zip(max).map(|((count, min), max)| [count, min, max])
    };
    let arrays = found.arrays.as_ref().unwrap().iter().map(|row| {
        let counts = several([row.count, row.min_length, row.max_length]);
        (row.path.clone(), row.length, row.item_type.clone(), counts)
    });
    let objects = found.objects.as_ref().unwrap().iter().map(|row| {
        let counts = several([row.count, row.min_keys, row.max_keys]);
        (row.path.clone(), row.keys, String::new(), counts)
    });
    [arrays.collect(), objects.collect()]
}

fn expected_rows(population: &Population<'_>, depth: u32, root: &str) -> [Vec<Row>; 2] {
    let expected = statistics::containers(population, depth);
    [Kind::Array, Kind::Object].map(|kind| {
        let rows = expected.iter().filter(|row| row.kind == kind);
        rows.map(|row| {
            let items = if kind == Kind::Array { row.item_type() } else { String::new() };
            let path = format!("{root}{}", &row.path[1..]);
            (path, row.total, items, (row.count > 1).then_some([row.count, row.min, row.max]))
        })
        .collect()
    })
}

fn sorted([mut arrays, mut objects]: [Vec<Row>; 2]) -> [Vec<Row>; 2] {
    arrays.sort();
    objects.sort();
    [arrays, objects]
}

/// Records of a random input.
fn trees(text: &[u8], framing: Framing) -> Vec<naive::Document> {
    naive::records(text, naive_framing(framing)).into_iter().map(|record| record.outcome.unwrap()).collect()
}

fn random_text(seed: u64) -> (Vec<u8>, Framing) {
    let mut random = Random::new(seed);
    let framing = [Framing::Single, Framing::Lines, Framing::JsonSeq, Framing::Concatenated]
        [random.weighted(&[3, 2, 1, 1])];
    let shape = match random.below(3) {
        0 => Shape { duplicates: true, ..Shape::default() },
        1 => Shape { values: 200, ..Shape::deep(40) },
        _ => Shape { duplicates: true, ..Shape::plain() },
    };
    (stream(seed, &shape, naive_framing(framing), random.between(1, 8)), framing)
}

/// R1: size, structure, types, and rows of whole inputs, for every kind of input.
#[test]
fn statistics_of_whole_inputs_match_the_oracle() {
    for seed in 0..cases(500, 5000) {
        let (text, framing) = random_text(seed);
        let trees = trees(&text, framing);
        let population: Vec<_> = trees.iter().map(|tree| (tree, tree.root())).collect();
        let depth = [None, Some(3), Some(1)][seed as usize % 3];
        let analysis =
            analysis_of(&[], |stats| stats.max_depth = depth).window([16, 1 << 16][seed as usize % 2]);
        let source = Source::pick(seed);
        let found = describe(&analysis, &mut source.document(&text, framing));
        let note = format!("seed {seed} {source:?} {framing:?}");
        check_structure(&found.summary, &population, &note);
        assert_eq!(
            rows(&found.summary),
            expected_rows(&population, depth.unwrap_or(u32::MAX), "$"),
            "{note}"
        );
        let size = statistics::size(&text);
        assert_eq!((found.bytes, found.characters), (size.bytes, size.characters), "{note}");
        let records = (framing != Framing::Single).then_some(trees.len() as u64);
        assert_eq!((found.records, found.by_path.len()), (records, 0), "{note}");
        assert!(found.summary.capped.is_empty(), "{note}");
    }
}

/// The values of queries, including nested ones; each value once, however often a query selects it.
#[test]
fn statistics_of_selected_values_match_the_oracle() {
    for seed in 0..cases(400, 5000) {
        let (text, framing) = random_text(seed);
        let trees = trees(&text, framing);
        let mut random = Random::new(seed);
        let queries: Vec<Query> = (0..random.between(1, 3) as u64)
            .map(|number| match random.below(4) {
                0 => query("$..a"),
                _ => query(&generate::query(seed * 5 + number, &trees[0], &QueryOptions::default())),
            })
            .collect();
        let source = Source::pick(seed);
        let note = format!("seed {seed} {source:?} {queries:?}");
        let found = describe(&analysis_of(&queries, |_| {}), &mut source.document(&text, framing));
        let (mut bytes, mut characters) = (0, 0);
        let mut all: Vec<naive::Document> = Vec::new();
        for (number, query) in queries.iter().enumerate() {
            let nodes = trees
                .iter()
                .flat_map(|tree| evaluate::evaluate(tree, query.segments(), evaluate::Duplicates::All));
            let spans: BTreeSet<(u64, u64)> = nodes.map(|node| (node.span.start, node.span.end)).collect();
            let texts: Vec<&[u8]> =
                spans.iter().map(|&(start, end)| &text[start as usize..end as usize]).collect();
            let values: Vec<naive::Document> = texts.iter().map(|text| naive::parse(text).unwrap()).collect();
            let population: Vec<_> = values.iter().map(|tree| (tree, tree.root())).collect();
            let size = texts.iter().map(|text| statistics::size(text));
            let size = size.fold((0, 0), |sum, size| (sum.0 + size.bytes, sum.1 + size.characters));
            (bytes, characters) = (bytes + size.0, characters + size.1);
            let part = if queries.len() == 1 {
                (query.shorthand(), found.bytes, found.characters, &found.summary)
            } else {
                let part = &found.by_path[number];
                (part.path.clone(), part.bytes, part.characters, &part.summary)
            };
            assert_eq!((part.1, part.2), size, "{note} {query}");
            assert_eq!(part.0, query.shorthand());
            check_structure(part.3, &population, &note);
            let expected = expected_rows(&population, u32::MAX, &query.shorthand());
            if part.3.capped.is_empty() {
                assert_eq!(sorted(rows(part.3)), sorted(expected), "{note} {query}");
            } else {
                let shown = [expected[0].len(), expected[1].len()].map(|rows| rows.min(1000));
                assert_eq!(rows(part.3).map(|rows| rows.len()), shown, "{note} {query}");
            }
            all.extend(values);
        }
        assert_eq!((found.bytes, found.characters), (bytes, characters), "{note}");
        assert_eq!(found.by_path.len(), if queries.len() > 1 { queries.len() } else { 0 });
        let population: Vec<_> = all.iter().map(|tree| (tree, tree.root())).collect();
        check_structure(&found.summary, &population, &note);
        if queries.len() > 1 {
            let parts = found.by_path.iter().map(|part| rows(&part.summary));
            let joined =
                parts.fold([Vec::new(), Vec::new()], |[mut arrays, mut objects]: [Vec<Row>; 2], [a, o]| {
                    arrays.extend(a);
                    objects.extend(o);
                    [arrays, objects]
                });
            assert_eq!(rows(&found.summary), joined, "the rows of all are those of each: {note}");
        }
    }
}

#[test]
fn record_streams_report_counts_and_types() {
    let ask = |text: &str, framing: Framing| {
        describe(&Analysis::new().stats(), &mut Document::from_bytes(text).framing(framing))
    };
    let found = ask("{}\n[]\n", Framing::Lines);
    assert_eq!((found.records, found.summary.structure.root_type), (Some(2), "mixed"));
    let found = ask("{}\n\n{\"a\": 1}", Framing::Auto);
    assert_eq!((found.records, found.summary.structure.root_type), (Some(2), "object"));
    let found = ask("{}\n", Framing::Auto);
    assert_eq!((found.records, found.summary.structure.root_type), (None, "object"));
    let found = ask("{}\n", Framing::Lines);
    assert_eq!((found.records, found.bytes), (Some(1), 3));
    let found = ask("", Framing::Lines);
    assert_eq!((found.records, found.summary.structure.root_type, found.bytes), (Some(0), "none", 0));
    let found = ask("\u{feff}[\"\u{e9}\"]", Framing::Auto);
    assert_eq!((found.bytes, found.characters), (9, 6));
}

#[test]
fn omits_unrequested_statistics() {
    let text = br#"{"a": [1, "x"]}"#;
    let ask = |change: fn(&mut Stats)| {
        stats_of(&run_bytes(&analysis_of(&[], change), text).unwrap().answers[0]).clone()
    };
    let plain = ask(|_| {}).summary;
    assert!(plain.schema.is_none() && plain.values.is_none() && plain.arrays.is_some());
    let bare = ask(|stats| stats.per_path = false).summary;
    assert!(bare.arrays.is_none() && bare.objects.is_none());
    assert_eq!((bare.structure, bare.types), (plain.structure, plain.types));
    let untyped = ask(|stats| stats.item_types = false).summary;
    assert_eq!(untyped.arrays.unwrap()[0].item_type, "unknown");
    let rich = ask(|stats| (stats.values, stats.schema) = (true, true)).summary;
    assert_eq!(rich.values.unwrap().len(), 1);
    assert!(rich.schema.unwrap().into_json().contains("2020-12"));
}

/// The rows of several queries together report their number if one query omits some.
#[test]
fn counts_omitted_rows() {
    let wide: Vec<String> = (0..1200).map(|name| format!("\"n{name}\": []")).collect();
    // A member of another type makes the object a record.
    let text = format!(r#"{{"wide": {{{}, "n": 1}}, "small": [[]]}}"#, wide.join(", "));
    let queries = [query("$.wide"), query("$.small")];
    let found = describe(&analysis_of(&queries, |_| {}), &mut Document::from_bytes(text.clone()));
    let capped = found.summary.capped.arrays.unwrap();
    assert_eq!((capped.shown, capped.total), (1002, 1202));
    assert_eq!(found.summary.arrays.unwrap().len(), 1002);
    assert_eq!(found.by_path[0].summary.capped.arrays.unwrap().total, 1200);
    assert!(found.by_path[1].summary.capped.is_empty() && found.summary.capped.objects.is_none());
    let fields = analysis_of(&queries, |stats| stats.fields = true);
    let found = describe(&fields, &mut Document::from_bytes(text));
    let capped = found.summary.capped.fields.unwrap();
    assert_eq!((capped.shown, capped.total), (1002, 1204));
    assert_eq!(found.summary.fields.unwrap().last().unwrap().path, "$.small[*]");
}

/// The counts that the suite gives for real documents and logs.
#[test]
fn real_documents_have_the_figures_of_the_suite() {
    let Some(root) = conformance::root() else { return };
    let all = conformance::figures(&root);
    for figures in &all {
        let framing = if figures.records.is_some() { Framing::Lines } else { Framing::Single };
        let bytes = std::fs::read(&figures.path).unwrap();
        let packed = Document::from_reader(std::io::Cursor::new(crate::support::gzip(&bytes)));
        for document in [Document::open(&figures.path).unwrap(), Document::from_bytes(bytes.clone()), packed]
        {
            // A second measure beside the first does not change its answer.
            let analysis = Analysis::new().stats().count(query("$..*"));
            let found = describe(&analysis, &mut document.framing(framing));
            let (structure, name) = (&found.summary.structure, figures.path.display());
            assert_eq!((found.bytes, found.records), (figures.bytes, figures.records), "{name}");
            assert_eq!(structure.total_values, figures.values, "{name}");
            assert_eq!(structure.total_keys, figures.members, "{name}");
            // The suite counts open containers, trommel counts values: one more if the deepest
            // container is not empty.
            let deepest = figures.open_containers..=figures.open_containers + 1;
            assert!(deepest.contains(&structure.max_depth), "{name}: {}", structure.max_depth);
            let types = &found.summary.types;
            let counts = [types.array, types.boolean, types.null, types.number, types.object, types.string];
            let expected = Kind::ALL.map(|kind| figures.kinds.get(&kind).copied().unwrap_or(0));
            assert_eq!(counts, expected, "{name}");
        }
    }
    assert!(all.len() > 10, "the suite's files are there");
}

fn check_schema(analysis: &Analysis, document: &mut Document<'_>, records: &[&[u8]], note: &str) {
    let schema = describe(analysis, document).summary.schema.unwrap().into_json();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert!(jsonschema::draft202012::meta::is_valid(&schema), "{note}: {schema}");
    let validator = jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap();
    for record in records {
        let value: Value = serde_json::from_slice(record).unwrap();
        assert!(validator.is_valid(&value), "{note}: {schema}");
    }
}

/// Every document is valid by its own schema.
#[test]
fn documents_satisfy_their_schemas() {
    let analysis = analysis_of(&[], |stats| stats.schema = true);
    for seed in 0..cases(100, 1000) {
        let text = stream(seed, &Shape::plain(), naive::Framing::Lines, 10);
        let records = naive::records(&text, naive::Framing::Lines);
        let records: Vec<&[u8]> = records.iter().map(|record| &text[record.span.range()]).collect();
        let mut document = Source::pick(seed).document(&text, Framing::Lines);
        check_schema(&analysis, &mut document, &records, &format!("seed {seed}"));
    }
    let Some(root) = conformance::root() else { return };
    for figures in conformance::figures(&root) {
        let text = std::fs::read(&figures.path).unwrap();
        let framing = if figures.records.is_some() { Framing::Lines } else { Framing::Single };
        let records = naive::records(&text, naive_framing(framing));
        let records: Vec<&[u8]> = records.iter().map(|record| &text[record.span.range()]).collect();
        let mut document = Document::open(&figures.path).unwrap().framing(framing);
        check_schema(&analysis, &mut document, &records, &figures.path.display().to_string());
    }
    for case in conformance::schema_cases(&root) {
        let records: Vec<&[u8]> = case.inputs.iter().map(Vec::as_slice).collect();
        let text = records.join(&b'\n');
        let mut document = Document::from_bytes(text).framing(Framing::Concatenated);
        if !records.is_empty() {
            check_schema(&analysis, &mut document, &records, &case.name);
        }
    }
}

/// Fields equal those of the oracle, for whole inputs and for selected values.
#[test]
fn fields_are_those_of_the_oracle() {
    for seed in 0..cases(200, 2000) {
        let (text, framing) = random_text(seed);
        let trees = trees(&text, framing);
        let all = [query("$"), query("$.a"), query("$[0]"), query("$..b")];
        let query = &all[seed as usize % 4];
        let nodes = trees
            .iter()
            .flat_map(|tree| evaluate::evaluate(tree, query.segments(), evaluate::Duplicates::All));
        let spans: BTreeSet<(u64, u64)> = nodes.map(|node| (node.span.start, node.span.end)).collect();
        let values = spans.iter().map(|&(start, end)| &text[start as usize..end as usize]);
        let values: Vec<naive::Document> = values.map(|text| naive::parse(text).unwrap()).collect();
        let population: Vec<_> = values.iter().map(|tree| (tree, tree.root())).collect();
        let expected = statistics::fields(&population, u32::MAX).into_iter().map(|row| {
            let types: Vec<(String, u64)> =
                row.kinds.iter().map(|(kind, count)| (kind.name().to_owned(), *count)).collect();
            (format!("{}{}", query.shorthand(), &row.path[1..]), types, row.count, row.missing)
        });
        let mut expected: Vec<_> = expected.collect();
        let analysis = analysis_of(std::slice::from_ref(query), |stats| {
            (stats.fields, stats.per_path) = (true, false);
        });
        let found = describe(&analysis, &mut Source::pick(seed).document(&text, framing)).summary;
        let capped = found.capped.fields;
        let found = found.fields.unwrap().into_iter().map(|row| {
            let mut types: Vec<(String, u64)> =
                row.types.occurring().map(|(kind, count)| (kind.to_owned(), count)).collect();
            types.sort();
            (row.path, types, row.count, row.missing)
        });
        let mut found: Vec<_> = found.collect();
        // Values that contain each other appear in the order of the input, and not one by one.
        expected.sort();
        found.sort();
        if let Some(capped) = capped {
            assert_eq!((capped.shown, capped.total), (1000, expected.len() as u64), "seed {seed} {query}");
            expected.retain(|row| found.binary_search(row).is_ok());
        }
        assert_eq!(found, expected, "seed {seed} {query}");
    }
}

/// Statistics of values by path equal those of the oracle, where it computes them.
#[test]
fn values_by_path_are_those_of_the_oracle() {
    for seed in 0..cases(150, 1000) {
        let (text, framing) = random_text(seed);
        let trees = trees(&text, framing);
        let population: Vec<_> = trees.iter().map(|tree| (tree, tree.root())).collect();
        let expected = statistics::path_values(&population);
        let expected: Vec<_> = expected.iter().filter(|row| !row.scalars.is_empty()).collect();
        let analysis = analysis_of(&[], |stats| stats.values = true);
        let found =
            describe(&analysis, &mut Source::pick(seed).document(&text, framing)).summary.values.unwrap();
        let reported = |path: &str, count: u64, distinct: u64| (path.to_owned(), count, distinct);
        let found: Vec<_> =
            found.iter().map(|row| reported(&row.path, row.count, row.distinct.count)).collect();
        let expected = expected.iter().map(|row| {
            let count: u64 = row.scalars.iter().map(|(_, count)| count).sum();
            reported(&row.path, count, row.distinct())
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "seed {seed}");
    }
}

/// Repeated names counted alone equal those of full statistics.
#[test]
fn repeated_names_alone_are_counted() {
    let mut names = Stats::new();
    (names.per_path, names.counts) = (false, false);
    let mut repeated = 0;
    for seed in 0..cases(300, 2000) {
        let layout = [Layout::Compact, Layout::Random][seed as usize % 2];
        let shape = Shape { duplicates: true, values: 500, layout, ..Shape::default() };
        let text = document(seed, &shape);
        let whole = run_bytes(&Analysis::new().stats(), &text).unwrap();
        let whole = &stats_of(&whole.answers[0]).summary.structure;
        for validation in [Validation::Strict, Validation::Structural] {
            let analysis = Analysis::new().ask(Measure::Stats(names.clone())).validation(validation);
            let found = run_bytes(&analysis, &text).unwrap();
            let found = &stats_of(&found.answers[0]).summary;
            assert_eq!(found.structure.duplicate_names, whole.duplicate_names, "seed {seed} {validation:?}");
            assert!(found.structure.total_values == 0 && found.capped.is_empty());
        }
        repeated += whole.duplicate_names;
    }
    assert!(repeated > 100, "{repeated}");
}

/// A tally, which counts by masks if possible, equals full statistics.
#[test]
fn overviews_are_exact() {
    let mut overview = Stats::new();
    (overview.per_path, overview.duplicate_names) = (false, false);
    for seed in 0..cases(300, 2000) {
        let lines: Vec<Vec<u8>> = (0..3)
            .map(|part| document(seed * 3 + part, &Shape { layout: Layout::OneLine, ..Shape::default() }))
            .collect();
        let text = lines.join(&b'\n');
        let whole = run_bytes(&Analysis::new().stats(), &text).unwrap();
        let whole = stats_of(&whole.answers[0]);
        for validation in [Validation::Strict, Validation::Structural] {
            let analysis = Analysis::new().ask(Measure::Stats(overview.clone())).validation(validation);
            let found = run_bytes(&analysis, &text).unwrap();
            assert_eq!(found.coverage.records, 3);
            let found = stats_of(&found.answers[0]);
            assert_eq!(found.summary.types, whole.summary.types, "seed {seed} {validation:?}");
            let mut expected = whole.summary.structure.clone();
            expected.duplicate_names = 0;
            assert_eq!(found.summary.structure, expected, "seed {seed} {validation:?}");
            assert_eq!((found.bytes, found.characters), (whole.bytes, whole.characters));
            assert!(found.summary.arrays.is_none() && found.summary.capped.is_empty());
        }
    }
}

/// A string that is too long to be held on a stream is measured as it is in memory.
#[test]
fn long_strings_are_measured_on_streams() {
    let text = format!(r#"{{"x": 1, "a": "{}", "b": ["{}"]}}"#, "é".repeat(9_000), "xé\\n".repeat(3_000));
    let mut limits = trommel::reader::Limits::default();
    limits.token_bytes = 1_000;
    for path in ["$.a", "$.b", "$.b[0]", "$..*", "$"] {
        let analysis = analysis_of(&[query(path)], |_| {});
        let expected = describe(&analysis, &mut Document::from_bytes(text.clone()));
        for window in [64, 5_000] {
            let analysis = analysis.clone().limits(limits).window(window);
            let reader = std::io::Cursor::new(text.clone().into_bytes());
            let found = describe(&analysis, &mut Document::from_reader(reader));
            assert_eq!(found.characters, expected.characters, "{path} {window}");
            assert_eq!(found.bytes, expected.bytes, "{path} {window}");
        }
    }
}
