//! Compares profiles with the simple statistics of the test kit, which count over a tree.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use support::{Random, kind, observe, options, summary};
use trommel_reader::Kind;
use trommel_stats::{
    Accumulator as _, Profile, ProfileOptions, ScalarValue, Summary, TypeCounts, ValuesSummary,
};
use trommel_testkit::conformance;
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Shape, document, stream};
use trommel_testkit::naive::{self, Data, Document, Framing, ValueId, parse, records};
use trommel_testkit::statistics::{self, PathValues};

type Population<'a> = [(&'a Document, ValueId)];

fn check_structure(found: &Summary, population: &Population<'_>) {
    let expected = statistics::structure(population);
    let structure = &found.structure;
    let root_type = match expected.root_type {
        Some(kind) => kind.name(),
        None if population.is_empty() => "none",
        None => "mixed",
    };
    assert_eq!(structure.root_type, root_type);
    assert_eq!(structure.records, population.len() as u64);
    assert_eq!(structure.max_depth, expected.max_depth);
    assert_eq!(structure.total_keys, expected.total_keys);
    assert_eq!(structure.total_values, expected.total_values);
    assert_eq!(structure.duplicate_names, expected.duplicate_names);
    let mut types = TypeCounts::default();
    for (kind, count) in expected.types {
        *match support::kind(kind) {
            Kind::Array => &mut types.array,
            Kind::Bool => &mut types.boolean,
            Kind::Null => &mut types.null,
            Kind::Number => &mut types.number,
            Kind::Object => &mut types.object,
            Kind::String => &mut types.string,
        } = count;
    }
    assert_eq!(found.types, types);
}

type Row = (String, u64, String, Option<[u64; 3]>);

fn several([count, min, max]: [Option<u64>; 3]) -> Option<[u64; 3]> {
    Some([count?, min?, max?])
}

fn check_rows(found: &Summary, population: &Population<'_>, max_depth: u32) {
    let expected = statistics::containers(population, max_depth);
    let of_kind = |kind: naive::Kind| -> Vec<Row> {
        let rows = expected.iter().filter(|row| row.kind == kind);
        rows.map(|row| {
            let items = if kind == naive::Kind::Array { row.item_type() } else { String::new() };
            (row.path.clone(), row.total, items, (row.count > 1).then_some([row.count, row.min, row.max]))
        })
        .collect()
    };
    let arrays: Vec<Row> = found
        .arrays
        .as_ref()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row.path.clone(),
                row.length,
                row.item_type.clone(),
                several([row.count, row.min_length, row.max_length]),
            )
        })
        .collect();
    let objects: Vec<Row> = found
        .objects
        .as_ref()
        .unwrap()
        .iter()
        .map(|row| {
            (row.path.clone(), row.keys, String::new(), several([row.count, row.min_keys, row.max_keys]))
        })
        .collect();
    assert_eq!(arrays, of_kind(naive::Kind::Array));
    assert_eq!(objects, of_kind(naive::Kind::Object));
    check_fields(found, population, max_depth);
    assert!(found.capped.is_empty());
}

fn check_fields(found: &Summary, population: &Population<'_>, max_depth: u32) {
    let found = found.fields.as_ref().unwrap().iter().map(|row| {
        let types: BTreeMap<&str, u64> = row.types.occurring().collect();
        (row.path.as_str(), types, row.count, row.missing)
    });
    let expected = statistics::fields(population, max_depth);
    let expected = expected.iter().map(|row| {
        let types: BTreeMap<&str, u64> =
            row.kinds.iter().map(|(kind, &count)| (kind.name(), count)).collect();
        (row.path.as_str(), types, row.count, row.missing)
    });
    assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

/// Rows of bytes are those of the oracle, the largest first. Children and rest sum to the value.
fn check_bytes(found: &Summary, population: &Population<'_>, text: &[u8], max_depth: u32) {
    let rows = found.bytes.as_ref().unwrap();
    let expected = statistics::bytes(population, text, max_depth);
    let by_path: BTreeMap<String, statistics::Bytes> = rows
        .iter()
        .map(|row| {
            let mut bytes = statistics::Bytes::default();
            (bytes.count, bytes.values, bytes.names, bytes.space) =
                (row.count, row.values, row.names, row.space);
            (row.path.clone(), bytes)
        })
        .collect();
    assert_eq!(by_path, expected, "{}", String::from_utf8_lossy(text));
    assert_eq!(rows.len(), expected.len());
    assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(row.total())));
    let mut inner = vec![0; rows.len()];
    for (number, row) in rows.iter().enumerate() {
        assert_eq!(row.parent.is_none(), row.path == "$");
        if let Some(distance) = row.parent {
            let parent = number.checked_sub(distance as usize).filter(|parent| *parent < number).unwrap();
            assert!(row.path.starts_with(&rows[parent].path));
            inner[parent] += row.total();
        }
    }
    for (row, inner) in rows.iter().zip(inner) {
        assert!(inner + row.space <= row.values, "{row:?}");
    }
}

#[test]
fn structure_types_and_rows() {
    let shapes = [
        Shape { duplicates: true, ..Shape::default() },
        Shape { duplicates: true, ..Shape::plain() },
        Shape { values: 300, ..Shape::deep(60) },
        Shape { duplicates: true, ..Shape::wide(40) },
    ];
    for seed in 0..cases(1500, 40_000) {
        let text = document(seed, &shapes[seed as usize % shapes.len()]);
        let tree = parse(&text).unwrap();
        let max_depth = [10_000, 3, 1, 2, 5][seed as usize % 5];
        let fields = |options: &mut ProfileOptions| {
            (options.fields, options.bytes, options.max_depth) = (true, true, max_depth);
        };
        let found = summary(options(fields), &[&text]);
        check_structure(&found, &[(&tree, tree.root())]);
        check_rows(&found, &[(&tree, tree.root())], max_depth);
        check_bytes(&found, &[(&tree, tree.root())], &text, max_depth);
        let names = summary(options(|options| (options.per_path, options.counts) = (false, false)), &[&text]);
        let expected = statistics::structure(&[(&tree, tree.root())]).duplicate_names;
        assert_eq!((names.structure.duplicate_names, names.structure.total_keys), (expected, 0));
    }
}

#[test]
fn record_streams() {
    let shape = Shape { duplicates: true, ..Shape::plain() };
    for seed in 0..cases(300, 20_000) {
        let text = stream(seed, &shape, Framing::Lines, 12);
        let mut profile = Profile::new(options(|options| (options.schema, options.fields) = (true, true)));
        let trees: Vec<Document> =
            records(&text, Framing::Lines).into_iter().map(|record| record.outcome.unwrap()).collect();
        for tree in &trees {
            observe(&mut profile, &text, tree, &BTreeSet::from([tree.root()]), 0);
        }
        let population: Vec<_> = trees.iter().map(|tree| (tree, tree.root())).collect();
        let found = profile.summary();
        check_structure(&found, &population);
        check_rows(&found, &population, 10_000);
    }
}

/// Returns a random value of maps, records, arrays, and scalars, with at most two maps on one path.
/// Names of maps are those of one of three ranges, so that objects of one path may share them, and
/// they may need brackets or escapes.
fn maps(random: &mut Random, depth: i32) -> String {
    let scalar = |random: &mut Random| {
        ["1", "2.5", r#""x""#, "null", "[]", "{}"][random.weighted(&[9, 2, 4, 1, 1, 1])]
    };
    if depth <= 0 {
        return scalar(random).to_owned();
    }
    match random.weighted(&[5, 2, 2, 1]) {
        0 => {
            let (start, count) = ([0, 0, 60, 1000][random.below(4)], random.between(80, 130));
            let odd = random.chance(20).then(|| start + random.below(count));
            // All members alike, or each of its own.
            let alike = random.chance(70);
            let seed = random.bits();
            let members: Vec<String> = (start..start + count)
                .map(|name| {
                    let own = &mut Random::new(if alike { seed } else { seed ^ name as u64 });
                    let value = if odd == Some(name) { "7".to_owned() } else { maps(own, depth - 2) };
                    let form = ["", "a.b ", "\\u0001'\\n"][name % 3];
                    format!(r#""{form}{name}":{value}"#)
                })
                .collect();
            format!("{{{}}}", members.join(","))
        }
        1 => {
            let members = ["a", "b", "c", "d", "e", "f"].into_iter().filter(|_| random.chance(75));
            let members: Vec<&str> = members.collect();
            let members = members.iter().map(|name| format!(r#""{name}":{}"#, maps(random, depth - 1)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        2 => {
            let items: Vec<String> = (0..random.between(1, 4)).map(|_| maps(random, depth - 1)).collect();
            format!("[{}]", items.join(","))
        }
        _ => scalar(random).to_owned(),
    }
}

/// Objects used as maps are folded by the same rule everywhere, whatever the depth of rows.
#[test]
fn folded_maps() {
    let mut folded = 0;
    for seed in 0..cases(24, 3000) {
        let random = &mut Random::new(seed);
        let texts: Vec<String> = (0..[1, 1, 3][seed as usize % 3]).map(|_| maps(random, 4)).collect();
        let trees: Vec<Document> = texts.iter().map(|text| parse(text.as_bytes()).unwrap()).collect();
        let max_depth = [10_000, 10_000, 3, 2, 1][seed as usize % 5];
        let mut profile = Profile::new(options(|options| {
            (options.fields, options.values, options.max_depth) = (true, max_depth == 10_000, max_depth);
            (options.limits.rows, options.limits.bytes) = (1 << 20, 1 << 31);
        }));
        for ((text, tree), base) in texts.iter().zip(&trees).zip((0..).step_by(1 << 20)) {
            observe(&mut profile, text.as_bytes(), tree, &BTreeSet::from([tree.root()]), base);
        }
        let population: Vec<_> = trees.iter().map(|tree| (tree, tree.root())).collect();
        let found = profile.summary();
        check_rows(&found, &population, max_depth);
        folded += usize::from(found.fields.as_ref().unwrap().iter().any(|row| row.path.contains(".*")));
        if let Some(values) = &found.values {
            let expected = statistics::path_values(&population);
            let expected: Vec<_> = expected.iter().filter(|row| !row.scalars.is_empty()).collect();
            assert_eq!(values.len(), expected.len());
            for (found, expected) in values.iter().zip(expected) {
                assert_eq!(found.path, expected.path);
                check_values(found, expected);
            }
        }
    }
    assert!(folded > 5, "{folded}");
}

/// Values that contain each other (`$..a`) and values selected twice count as often as they are
/// selected.
#[test]
fn overlapping_values() {
    let shape = Shape { duplicates: true, ..Shape::plain() };
    for seed in 0..cases(600, 20_000) {
        let text = document(seed, &shape);
        let tree = parse(&text).unwrap();
        let mut random = Random::new(seed);
        let roots: BTreeSet<ValueId> = tree.ids().filter(|_| random.chance(30)).collect();
        let population: Vec<_> = roots.iter().map(|&id| (&tree, id)).collect();
        for per_path in [true, false] {
            let mut profile = Profile::new(options(|options| options.per_path = per_path));
            observe(&mut profile, &text, &tree, &roots, 0);
            check_structure(&profile.summary(), &population);
        }
    }
}

fn shown(data: &Data) -> String {
    match data {
        Data::Null => "null".into(),
        Data::Bool(value) => value.to_string(),
        Data::Number(lexeme) => format!("#{:?}", trommel_testkit::decimal::Decimal::new(lexeme)),
        Data::String(text) if text.len() > 256 => format!("{} bytes", text.len()),
        Data::String(text) => format!("{text:?}"),
        Data::Array(_) | Data::Object(_) => unreachable!("not a scalar"),
    }
}

fn shown_value(value: &ScalarValue) -> String {
    match value {
        ScalarValue::Null => "null".into(),
        ScalarValue::Bool(value) => value.to_string(),
        ScalarValue::Number(number) => {
            format!("#{:?}", trommel_testkit::decimal::Decimal::new(number.as_str()))
        }
        ScalarValue::String(text) => format!("{text:?}"),
        ScalarValue::Long { bytes } => format!("{bytes} bytes"),
        _ => unreachable!(),
    }
}

fn check_values(found: &ValuesSummary, expected: &PathValues) {
    let path = &expected.path;
    let count: u64 = expected.scalars.iter().map(|(_, count)| count).sum();
    assert_eq!((found.count, found.distinct.count), (count, expected.distinct()), "{path}");
    assert_eq!(
        (found.numbers.is_some(), found.quantiles.is_some()),
        (!expected.numbers.is_empty(), !expected.numbers.is_empty())
    );
    if let (Some(numbers), Some(quantiles)) = (&found.numbers, &found.quantiles) {
        let doubles: Vec<f64> = expected.numbers.iter().map(|lexeme| lexeme.parse().unwrap()).collect();
        let in_range = doubles.iter().all(|value| value.is_finite());
        assert_eq!(numbers.count, doubles.len() as u64);
        let decimal = |lexeme: &str| trommel_testkit::decimal::Decimal::new(lexeme);
        assert_eq!(decimal(numbers.min.as_ref().unwrap().as_str()), decimal(&expected.numbers[0]));
        assert_eq!(
            decimal(numbers.max.as_ref().unwrap().as_str()),
            decimal(expected.numbers.last().unwrap())
        );
        if in_range && !numbers.approximate {
            assert_eq!(numbers.mean, expected.mean(), "{path} {:?}", expected.numbers);
            assert_eq!(numbers.sum.as_ref().map(trommel_stats::Exact::to_f64), expected.sum.to_f64());
        } else {
            assert_eq!(numbers.sum.is_some(), in_range);
        }
        let median = doubles[(doubles.len() - 1) / 2];
        assert_eq!(quantiles.p50, Some(median).filter(|median| median.is_finite()));
    }
    if let Some(strings) = found.strings {
        let lengths = expected.strings;
        assert_eq!(
            (strings.count, strings.min_length, strings.max_length, strings.total_length),
            (lengths.count, lengths.min, lengths.max, lengths.total)
        );
    }
    let top: Vec<_> =
        found.frequent.values.iter().map(|value| (shown_value(&value.value), value.count)).collect();
    let expected: Vec<_> = expected.top(10).iter().map(|(data, count)| (shown(data), *count)).collect();
    assert_eq!(top, expected, "{path}");
    assert!(!found.distinct.approximate && !found.frequent.approximate && found.long_strings == 0);
}

#[test]
fn values_by_path() {
    for seed in 0..cases(600, 20_000) {
        let shape =
            if seed % 2 == 0 { Shape::default() } else { Shape { values: 300, width: 50, ..Shape::plain() } };
        let text = document(seed, &shape);
        let tree = parse(&text).unwrap();
        let found = summary(options(|options| options.values = true), &[&text]);
        let expected = statistics::path_values(&[(&tree, tree.root())]);
        let expected: Vec<_> = expected.iter().filter(|row| !row.scalars.is_empty()).collect();
        let found = found.values.unwrap();
        assert_eq!(found.len(), expected.len());
        // Rows are ordered by the first appearance of their path, possibly with a container as its
        // value.
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found.path, expected.path);
            check_values(found, expected);
        }
    }
}

#[test]
fn real_documents() {
    let Some(root) = conformance::root() else { return };
    let all = conformance::figures(&root);
    for figures in &all {
        let text = std::fs::read(&figures.path).unwrap();
        let framing = if figures.records.is_some() { Framing::Lines } else { Framing::Single };
        let mut profile = Profile::new(options(|options| options.fields = true));
        let trees: Vec<Document> =
            records(&text, framing).into_iter().map(|record| record.outcome.unwrap()).collect();
        for tree in &trees {
            observe(&mut profile, &text, tree, &BTreeSet::from([tree.root()]), 0);
        }
        let found = profile.summary();
        let name = figures.path.display();
        assert_eq!(found.structure.total_values, figures.values, "{name}");
        assert_eq!(found.structure.total_keys, figures.members, "{name}");
        assert_eq!(found.structure.records, figures.records.unwrap_or(1), "{name}");
        let counts = [
            found.types.array,
            found.types.boolean,
            found.types.null,
            found.types.number,
            found.types.object,
            found.types.string,
        ];
        for (expected, count) in naive::Kind::ALL.iter().zip(counts) {
            assert_eq!(
                count,
                figures.kinds.get(expected).copied().unwrap_or(0),
                "{name} {}",
                kind(*expected).name()
            );
        }
        let population: Vec<_> = trees.iter().map(|tree| (tree, tree.root())).collect();
        check_structure(&found, &population);
        if figures.bytes < 400_000 {
            check_rows(&found, &population, 10_000);
        }
    }
    assert!(all.len() > 10, "the suite is incomplete");
}
