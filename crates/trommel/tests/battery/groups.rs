//! Groups of records: equal to naive groups, for any input, threads, and division.

use trommel::groups::{AggregateKind, Group, GroupError, GroupSort, Groups};
use trommel::path::{Duplicates, Order, Query};
use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Answer, Document, Error, Match, Measure, OnBadRecord, Partial};
use trommel_testkit::evaluate;
use trommel_testkit::generate::{Random, Shape, stream};

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use crate::group_oracle::{PlainGroup, expected, seen, seen_row};
use crate::support::{Source, answer_text, cases, naive_framing, query, run, run_bytes};

/// Values in several spellings.
const VALUES: &[&str] = &[
    "1",
    "1.0",
    "1e0",
    "10e-1",
    "-0",
    "0",
    "0.00",
    "7",
    "\"a\"",
    "\"\\u0061\"",
    "\"b\"",
    "null",
    "true",
    "false",
    "[1,2]",
    "[1.0, 2]",
    "[2,1]",
    "{\"a\":1,\"b\":2}",
    "{ \"b\":2,\"a\":1.0}",
    "{\"a\":1,\"a\":2}",
    "{\"a\":2}",
    "12345678901234567890123",
    "1.2345678901234567890123e22",
    "9007199254740993",
    "9007199254740992",
    "\"é\"",
    "\"\\u00e9\"",
    "\"x\\ny\"",
    "\"x\\u000Ay\"",
    "{}",
    "[]",
    "[[]]",
    "1e99999999999999999999",
    "10e99999999999999999998",
    "\"\\ud83d\\ude00\"",
    "\"😀\"",
    "\"\\u0000\"",
    "\"\"",
    "\"1\"",
    "\"null\"",
];

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "2.5",
    "-7",
    "1e3",
    "0.1",
    "0.2",
    "0.3",
    "9223372036854775807",
    "-9223372036854775808",
    "123456789012345678901234567890",
    "1e-300",
    "1.7e308",
    "-1.7e308",
    "null",
    "5e-324",
    "12.340",
];

/// Queries of any shape.
const QUERIES: &[&str] =
    &["$", "$.a", "$..a", "$[*]", "$[0]", "$..*", "$.*.*", "$['b','a']", "$[?@.a]", "$..[?@ > 1]"];

const TEXTS: &[&str] = &[
    "\"a\"",
    "\"b\"",
    "\"\\u0062\"",
    "\"\"",
    "\"é\"",
    "\"\\\"\"",
    "null",
    "\"\\ud83d\\ude00\"",
    "\"\u{ffff}\"",
];

/// Records with keys and values that recur. Sometimes, one in `odd` has a value of another type.
fn records(random: &mut Random, records: usize, odd: usize) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..records {
        let mut members = Vec::new();
        let spread = random.between(2, VALUES.len());
        for name in ["k", "l", "k"] {
            if random.chance(80) {
                members.push(format!("\"{name}\": {}", VALUES[random.below(spread)]));
            }
        }
        let list = |random: &mut Random, of: &[&str]| {
            let items: Vec<&str> = (0..random.below(4)).map(|_| random.pick(of)).collect();
            format!("[{}]", items.join(", "))
        };
        if random.chance(70) {
            members.push(format!("\"n\":{}", random.pick(NUMBERS)));
        }
        members.push(format!("\"ns\": {}", list(random, NUMBERS)));
        members.push(format!("\"t\": {}", random.pick(TEXTS)));
        members.push(format!("\"vs\": {}", list(random, VALUES)));
        if odd > 0 && random.below(odd) == 0 {
            members.push(format!("\"ns\": [{}]", random.pick(VALUES)));
            members.insert(0, format!("\"n\": {}", random.pick(VALUES)));
        }
        if random.chance(30) {
            let at = random.below(members.len());
            members.swap(0, at);
        }
        text.extend(["{", &members.join(", "), "}\n"]);
    }
    text.into_bytes()
}

/// A random request on such records.
fn request(random: &mut Random, figures: bool) -> Group {
    const KEYS: &[&str] =
        &["$.k", "$.l", "$['l','k']", "$.vs[*]", "$.vs", "$.missing", "$..a", "$.vs[-1]", "$['k','k']"];
    let mut group = Group::new();
    for number in 0..random.between(0, 3) {
        group = group.by(number.to_string(), query(random.pick(KEYS)));
    }
    if figures {
        for kind in AggregateKind::ALL {
            let queries: &[&str] = match kind {
                AggregateKind::Distinct => &["$.vs[*]", "$.k", "$..*", "$"],
                AggregateKind::Min | AggregateKind::Max => &["$.n", "$.ns[*]", "$.t", "$..t"],
                _ => &["$.n", "$.ns[*]", "$['n','n']", "$.missing", "$.ns[::-1]"],
            };
            if random.chance(60) {
                group = group.aggregate(kind, kind.name(), query(random.pick(queries)));
            }
        }
    }
    group
}

fn groups_of(answer: &Answer) -> &Groups {
    match answer {
        Answer::Group(groups) => groups,
        other => panic!("no groups: {other:?}"),
    }
}

fn lines(text: &[u8]) -> Document<'_> {
    Document::from_bytes(text).framing(Framing::Lines)
}

/// Asserts that the outcome is that of the oracle.
fn check(outcome: Result<Vec<PlainGroup>, Error>, expected: &Result<Vec<PlainGroup>, u64>, case: &str) {
    match (outcome, expected) {
        (Ok(found), Ok(expected)) => assert_eq!(found, *expected, "{case}"),
        (Err(Error::Group { error: GroupError::Unusable(_), record }), Err(expected)) => {
            assert_eq!(record, Some(*expected), "{case}");
        }
        (found, expected) => panic!("{case}: {found:?}, expected {expected:?}"),
    }
}

/// R4: any keys and figures, on any input, with any policy for repeated names.
#[test]
fn groups_are_those_of_the_oracle() {
    for seed in 0..cases(1200, 30_000) {
        let mut random = Random::new(seed);
        let odd = if seed % 3 == 0 { 30 } else { 0 };
        let count = random.between(0, 40);
        let (text, group) = (records(&mut random, count, odd), request(&mut random, true));
        let (duplicates, oracle) = match seed % 4 {
            0 => (Duplicates::Last, evaluate::Duplicates::Last),
            1 => (Duplicates::All, evaluate::Duplicates::All),
            _ => (Duplicates::First, evaluate::Duplicates::First),
        };
        let expected = expected(&text, Framing::Lines, &group, oracle);
        let validation = if random.chance(50) { Validation::Strict } else { Validation::Structural };
        let analysis = Analysis::new().group(group.clone()).duplicates(duplicates).validation(validation);
        let mut document = Source::pick(seed).document(&text, Framing::Lines);
        let outcome = analysis.window(1).run(&mut document);
        let outcome = outcome.map(|report| seen(groups_of(&report.answers[0]), &group));
        check(outcome, &expected, &format!("seed {seed}"));
    }
}

/// R4: keys of any shape, and one document as the only record.
#[test]
fn keys_of_random_documents_are_those_of_the_oracle() {
    let framings = [Framing::Lines, Framing::Single, Framing::Concatenated, Framing::JsonSeq];
    for seed in 0..cases(1500, 50_000) {
        let mut random = Random::new(seed);
        let framing = framings[random.below(4)];
        let shape = Shape {
            duplicates: seed % 2 == 0,
            ..if seed % 3 == 0 { Shape::default() } else { Shape::plain() }
        };
        let count = random.between(1, 12);
        let text = stream(seed, &shape, naive_framing(framing), count);
        let group = Group::new().by("x", query(random.pick(QUERIES))).by("y", query(random.pick(QUERIES)));
        let group = group.aggregate(AggregateKind::Distinct, "d", query(random.pick(QUERIES)));
        let expected = expected(&text, framing, &group, evaluate::Duplicates::First);
        let mut document = Source::pick(seed / 7).document(&text, framing);
        let outcome = Analysis::new().group(group.clone()).run(&mut document);
        let outcome = outcome.map(|report| seen(groups_of(&report.answers[0]), &group));
        check(outcome, &expected, &format!("seed {seed}"));
    }
}

/// Extracted values and groups do not disturb each other, wherever a window ends.
#[test]
fn groups_and_extractions_share_a_pass() {
    for seed in 0..cases(1000, 20_000) {
        let mut random = Random::new(seed);
        let count = random.between(1, 6);
        let text = stream(seed, &Shape::plain(), naive_framing(Framing::Lines), count);
        let group = Group::new().by("x", query(random.pick(QUERIES)));
        let group = group.aggregate(AggregateKind::Distinct, "d", query(random.pick(QUERIES)));
        let order = if seed % 2 == 0 { Order::Document } else { Order::Rfc };
        let alone = || Analysis::new().order(order).window(1);
        let extracts = alone().extract(query(random.pick(QUERIES))).extract(query(random.pick(QUERIES)));
        let document = || Source::pick(seed).document(&text, Framing::Lines);
        let (_, expected) = run(&extracts, &mut document()).unwrap();
        let report = alone().group(group.clone()).run(&mut document()).unwrap();
        let (both, found) = run(&extracts.group(group), &mut document()).unwrap();
        assert_eq!(found.values(), expected.values(), "seed {seed}");
        assert_eq!(answer_text(&both.answers[2]), answer_text(&report.answers[0]), "seed {seed}");
    }
}

/// The number of threads changes neither the groups nor the error.
#[test]
fn groups_are_the_same_for_any_number_of_threads() {
    for seed in 0..2 {
        let mut random = Random::new(seed);
        let mut text = Vec::new();
        let some = records(&mut random, 2000, 0);
        for round in 0..60 {
            text.extend(&some);
            text.extend(format!("{{\"k\": \"round {round}\", \"n\": {round}}}\n").bytes());
        }
        if seed % 2 == 1 {
            text.extend(b"{\"k\": 0, \"n\": [3]}\n");
        }
        assert!(text.len() > 9 << 20);
        let group = request(&mut random, true).by("k", query("$.k"));
        let group = group.aggregate(AggregateKind::Sum, "n", query("$.n"));
        let analysis = Analysis::new().group(group.clone()).extract(query("$[?@ == 'round 7']"));
        let run = |threads| {
            let mut values = 0_u64;
            let mut count = |_: &Match<'_>| {
                values += 1;
                Ok(())
            };
            let ran = analysis.clone().threads(threads).run_with(&mut lines(&text), &mut count);
            (crate::parallel::reported(ran), values)
        };
        let one = run(1);
        assert_eq!(one.0.is_err(), seed % 2 == 1, "{:?}", one.0);
        assert_eq!(run(2), one);
        assert_eq!(run(4), one);
    }
}

/// The text, divided at random line ends.
fn cuts<'t>(random: &mut Random, text: &'t [u8]) -> Vec<&'t [u8]> {
    let mut parts: Vec<&[u8]> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let wanted = random.between(1, rest.len().min(3000));
        let end = (wanted..rest.len()).find(|&end| rest[end - 1] == b'\n').unwrap_or(rest.len());
        let (part, others) = rest.split_at(end);
        parts.push(part);
        rest = others;
    }
    parts
}

fn merged(analysis: &Analysis, parts: &[&[u8]], stored: bool) -> Result<Partial, Error> {
    let mut all: Option<Partial> = None;
    for (part, number) in parts.iter().zip(0..) {
        let mut partial = analysis.run_part(&mut lines(part), number, &mut |_: &Match<'_>| Ok(()))?;
        if stored {
            partial = Partial::from_bytes(&partial.to_bytes()?)?;
        }
        all = Some(match all {
            Some(before) => before.merge(partial)?,
            None => partial,
        });
    }
    Ok(all.unwrap())
}

/// R34: any division of the records, stored in between or not.
#[test]
fn merged_parts_are_the_whole() {
    for seed in 0..cases(400, 5000) {
        let mut random = Random::new(seed);
        let (text, group) = (records(&mut random, 40, 0), request(&mut random, true));
        let analysis = Analysis::new().group(group);
        let whole = analysis.run(&mut lines(&text)).unwrap();
        let whole_partial = merged(&analysis, &[&text], false).unwrap();
        for stored in [false, true] {
            let partial = merged(&analysis, &cuts(&mut random, &text), stored).unwrap();
            let bytes = partial.to_bytes().unwrap();
            let same = whole_partial.clone().merge(merged(&analysis, &[b"\n"], false).unwrap()).unwrap();
            let groups = |bytes: &[u8]| {
                String::from_utf8(bytes.to_vec()).unwrap().split("coverage").next().unwrap().to_owned()
            };
            assert_eq!(groups(&bytes), groups(&same.to_bytes().unwrap()), "seed {seed}");
            let finished = analysis.finish(partial).unwrap();
            assert_eq!(answer_text(&finished.answers[0]), answer_text(&whole.answers[0]), "seed {seed}");
        }
    }
}

/// One of `numbers` keys, the smaller ones more often.
fn skewed(random: &mut Random, numbers: usize) -> usize {
    let bound = random.between(1, numbers);
    random.below(bound)
}

fn skewed_lines(seed: u64, records: usize, keys: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut text = String::new();
    for number in 0..records {
        let pad = "x".repeat(random.below(200));
        let key = skewed(&mut random, keys);
        writeln!(text, "{{\"k\": {key}, \"n\": {}, \"pad\": \"{pad}\"}}", number % 10).unwrap();
    }
    text.into_bytes()
}

/// Beyond the limit, the most frequent groups are listed within the stated bound, with the same
/// bytes for any number of threads and any kind of input.
#[test]
fn approximate_groups_keep_their_bound() {
    let text = skewed_lines(1, 90_000, 6000);
    assert!(text.len() > 9 << 20);
    let exact = Group::new().by("k", query("$.k")).aggregate(AggregateKind::Sum, "n", query("$.n"));
    let report = run_bytes(&Analysis::new().group(exact.clone()), &text).unwrap();
    let exact = seen(groups_of(&report.answers[0]), &exact);
    let truths: HashMap<String, &PlainGroup> =
        exact.iter().map(|group| (format!("{:?}", group.key), group)).collect();
    for (max_groups, max_bytes) in [(400, usize::MAX), (1_000_000, 100_000), (1, 1)] {
        let group = Group::new().by("k", query("$.k")).aggregate(AggregateKind::Sum, "n", query("$.n"));
        let group = group.max_groups(max_groups).max_bytes(max_bytes).approximate(true);
        let analysis = Analysis::new().group(group.clone());
        let report = analysis.clone().threads(1).run(&mut lines(&text)).unwrap();
        let groups = groups_of(&report.answers[0]);
        let bound = groups.approximation().unwrap();
        let listed = groups.rows(GroupSort::Count, None);
        assert!(listed.len() <= max_groups);
        let mut keys = HashSet::new();
        for row in &listed {
            let found = seen_row(row, &group);
            keys.insert(format!("{:?}", found.key));
            let truth = truths[&format!("{:?}", found.key)];
            assert!(truth.count <= found.count && found.count <= truth.count + row.error());
            assert!(row.error() <= bound.error);
            if row.error() == 0 {
                assert_eq!(found, *truth);
            }
        }
        let is_listed = |one: &&PlainGroup| keys.contains(&format!("{:?}", one.key));
        let missed = exact.iter().filter(|one| !is_listed(one)).map(|one| one.count).max().unwrap();
        assert!(missed <= bound.error, "{missed} {}", bound.error);
        if max_bytes == usize::MAX {
            // The bound of Misra-Gries summaries that keep half of the groups.
            assert!(bound.error <= 90_000 / (max_groups as u64).div_ceil(2), "{}", bound.error);
        }
        let off = groups.total_groups().abs_diff(exact.len() as u64) as f64 / exact.len() as f64;
        assert!(off <= bound.total_groups_relative_error.unwrap_or(0.0), "{off}");
        assert_eq!(groups.total(), 90_000);
        let one = answer_text(&report.answers[0]);
        for threads in [2, 4] {
            let report = analysis.clone().threads(threads).run(&mut lines(&text)).unwrap();
            assert_eq!(answer_text(&report.answers[0]), one, "{threads} threads");
        }
        for source in [Source::Reads(4096), Source::Gzip, Source::File] {
            let report = analysis.run(&mut source.document(&text, Framing::Lines)).unwrap();
            assert_eq!(answer_text(&report.answers[0]), one, "{source:?}");
        }
    }
}

/// Approximate groups of parts keep the bound as well, however they were merged.
#[test]
fn merged_approximate_groups_keep_their_bound() {
    for seed in 0..cases(30, 300) {
        let mut random = Random::new(seed);
        let text = skewed_lines(seed, 2000, 300);
        let by = Group::new().by("k", query("$.k"));
        let report = Analysis::new().group(by.clone()).run(&mut lines(&text)).unwrap();
        let exact = seen(groups_of(&report.answers[0]), &by);
        let group = by.max_groups(random.between(1, 100)).approximate(true);
        let analysis = Analysis::new().group(group.clone());
        let partial = merged(&analysis, &cuts(&mut random, &text), random.chance(50)).unwrap();
        let report = analysis.finish(partial).unwrap();
        let groups = groups_of(&report.answers[0]);
        let bound = groups.approximation().unwrap().error;
        let listed = groups.rows(GroupSort::Count, None);
        for one in &exact {
            match listed.iter().find(|row| seen_row(row, &group).key == one.key) {
                Some(row) => assert!(one.count <= row.count() && row.count() <= one.count + row.error()),
                None => assert!(one.count <= bound, "seed {seed}"),
            }
        }
        assert_eq!((groups.total(), groups.total_groups()), (2000, exact.len() as u64));
    }
}

fn limit(analysis: &Analysis, text: &[u8], threads: usize) -> (String, Option<u64>) {
    match analysis.clone().threads(threads).run(&mut lines(text)) {
        Err(Error::Group { error, record }) => (error.to_string(), record),
        other => panic!("no limit: {other:?}"),
    }
}

/// A limit is an error at the same record for any number of threads.
#[test]
fn limits_are_errors_at_the_first_record_beyond() {
    let mut text: Vec<u8> = Vec::new();
    for number in 0..200_000 {
        text.extend(
            format!("{{\"k\": {}, \"id\": {number}, \"v\": {}}}\n", number % 1000, number % 77).bytes(),
        );
    }
    text.extend(b"{\"k\": \"one more\"}\n");
    assert!(text.len() > 6 << 20);
    let by = |path: &str| Group::new().by("k", query(path));
    for (group, record) in [(by("$.k").max_groups(1000), 200_000), (by("$.id").max_groups(150_000), 150_000)]
    {
        let limit = |threads| limit(&Analysis::new().group(group.clone()), &text, threads);
        let (message, found) = limit(1);
        assert_eq!(found, Some(record));
        assert!(message.contains(&format!("more than {} groups", group.max_groups)), "{message}");
        assert_eq!([limit(2), limit(4)], [limit(1), limit(1)]);
    }
    let group = by("$.k").aggregate(AggregateKind::Distinct, "v", query("$.id")).max_bytes(3 << 20);
    let limit = |threads| limit(&Analysis::new().group(group.clone()), &text, threads);
    assert!(limit(1).0.contains("more than 3145728 bytes") && limit(1).1 > Some(120_000), "{:?}", limit(1));
    assert_eq!([limit(2), limit(4)], [limit(1), limit(1)]);
    let enough = Analysis::new().group(by("$.k").max_groups(1001));
    assert!(enough.run(&mut lines(&text)).is_ok());
    // Parts have the limit together.
    let parts = [&text[..text.len() / 2 - text.len() / 2 % 2], b"\n"];
    let whole = parts[0].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let analysis = Analysis::new().group(by("$.id").max_groups(110_000));
    let error = merged(&analysis, &[&text[..whole], &text[whole..]], false).unwrap_err();
    assert!(matches!(error, Error::Group { error: GroupError::Groups { limit: 110_000 }, .. }), "{error}");
}

/// Nodes as records: errors, limits, and approximate groups do not depend on the threads that share
/// a long array.
#[test]
fn nodes_are_grouped_alike_by_any_number_of_threads() {
    let mut text = String::from("{\"data\":[");
    for number in 0..60_000 {
        let id = if number == 51_000 { "\"x\"".into() } else { (number * number % 20_011).to_string() };
        write!(text, "{{\"id\":{id},\"k\":{},\"pad\":\"{}\"}},", number % 7, "x".repeat(number % 50))
            .unwrap();
    }
    text.push_str("{}]}");
    let by = |path: &str| Group::new().by("k", query(path));
    for group in [
        by("$.k").aggregate(AggregateKind::Sum, "id", query("$.id")),
        by("$.k").aggregate(AggregateKind::Max, "id", query("$.id")),
        by("$.k").aggregate(AggregateKind::Distinct, "id", query("$.id")),
        by("$.id").max_groups(9000),
        by("$.id").max_groups(500).approximate(true),
        by("$.id").max_bytes(300_000).approximate(true),
    ] {
        let analysis = Analysis::new().group(group).each(query("$.data[*]"));
        let run = |threads| {
            let ran = analysis.clone().threads(threads).run(&mut Document::from_bytes(text.clone()));
            crate::parallel::reported(ran)
        };
        let one = run(1);
        assert_eq!([run(2), run(4)], [one.clone(), one.clone()]);
        if let Err(error) = &one {
            assert!(error.contains("$['data'][51000]['id']") || error.contains("Groups"), "{error}");
        }
    }
}

fn error_of(text: &str, group: Group) -> (String, Option<u64>) {
    match Analysis::new().group(group).run(&mut Document::from_bytes(text)) {
        Err(Error::Group { error, record }) => (error.to_string(), record),
        other => panic!("no error: {other:?}"),
    }
}

/// R45: errors name the record, the path, and the figure.
#[test]
fn values_that_a_figure_cannot_take_are_errors() {
    let figure = |kind, path: &str| Group::new().by("k", query("$.k")).aggregate(kind, "ms", query(path));
    let stream = "{\"k\":1}\n{\"k\":1,\"ms\":[3,null,\"4\"]}\n";
    assert_eq!(
        error_of(stream, figure(AggregateKind::Sum, "$.ms[*]")),
        ("$['ms'][2] is a string, but the sum ms takes numbers only".into(), Some(1))
    );
    assert_eq!(
        error_of(stream, figure(AggregateKind::Mean, "$.ms")),
        ("$['ms'] is an array, but the mean ms takes numbers only".into(), Some(1))
    );
    assert_eq!(
        error_of(stream, figure(AggregateKind::Max, "$.ms[*]")),
        (
            "$['ms'][2] is a string after numbers, but the max ms takes only numbers, or only strings".into(),
            Some(1)
        )
    );
    assert_eq!(
        error_of("{\"ms\":true}", figure(AggregateKind::Min, "$.ms")),
        ("$['ms'] is a boolean, but the min ms takes only numbers, or only strings".into(), None)
    );
    let (message, record) = error_of("{\"ms\":1e400}", figure(AggregateKind::Sum, "$.ms"));
    assert!(message.contains("cannot be added") && record.is_none(), "{message}");
    let report =
        run_bytes(&Analysis::new().group(figure(AggregateKind::Max, "$.ms")), b"{\"ms\":1e400}").unwrap();
    assert_eq!(
        seen(groups_of(&report.answers[0]), &figure(AggregateKind::Max, "$.ms"))[0].figures,
        [Some("1e400".into())]
    );
    let long = format!("{{\"k\":\"{}\"}}", "x".repeat(Group::VALUE_BYTES));
    let (message, _) = error_of(&long, figure(AggregateKind::Sum, "$.ms"));
    assert!(message.contains("the values of k") && message.contains("65536"), "{message}");
}

/// Bytes that structural validation skips are validated where they become keys or values.
#[test]
fn keys_and_values_are_always_validated() {
    let group = || Group::new().by("k", query("$.k")).aggregate(AggregateKind::Min, "m", query("$.m"));
    for malformed in
        ["{\"k\": [1 2]}", "{\"k\": {\"a\": tru}}", "{\"k\": \"\\x\"}", "{\"m\": \"\\u12\"}", "{\"m\": 01}"]
    {
        let text = format!("{{\"k\":1}}\n  {malformed}\n");
        let analysis = Analysis::new().group(group()).validation(Validation::Structural);
        let error = analysis.run(&mut lines(text.as_bytes())).unwrap_err();
        let Error::Read { error, record } = error else { panic!("{malformed}: {error:?}") };
        assert_eq!(record, Some(1), "{malformed}: {error}");
        assert_eq!(error.line_column().map(|position| position.line), Some(2), "{malformed}: {error}");
        let skipping = analysis.on_bad_record(OnBadRecord::Skip { at_most: 9 });
        let report = skipping.run(&mut lines(text.as_bytes())).unwrap();
        assert_eq!((groups_of(&report.answers[0]).total(), report.coverage.bad_records), (1, 1));
    }
}

/// Records that a filter drops, and malformed ones, are in no group.
#[test]
fn only_kept_records_are_grouped() {
    let text = "{\"k\":1}\n{\"k\":2}\n{\"k\":\n{\"k\":2.0,\"x\":0}\n";
    let filter = Query::parse_filter("@.k > 1").unwrap();
    let group = Group::new().by("k", query("$.k"));
    let analysis = Analysis::new().group(group.clone()).filter(filter);
    let report =
        analysis.on_bad_record(OnBadRecord::Skip { at_most: 1 }).run(&mut lines(text.as_bytes())).unwrap();
    let groups = groups_of(&report.answers[0]);
    assert_eq!(
        seen(groups, &group),
        [PlainGroup { key: vec![Some("2".into())], count: 2, figures: Vec::new() }]
    );
    assert_eq!((groups.total(), groups.total_groups(), groups.approximation()), (2, 1, None));
}

/// Several nodes of a key are in the order of extracted values.
#[test]
fn several_nodes_form_an_array() {
    let text = b"{\"b\":1,\"a\":{\"a\":2}}";
    for (order, path, key) in [
        (Order::Rfc, "$['a','b']", "[{\"a\":2},1]"),
        (Order::Document, "$['a','b']", "[1,{\"a\":2}]"),
        (Order::Rfc, "$..a", "[{\"a\":2},2]"),
        (Order::Document, "$..a", "[{\"a\":2},2]"),
        (Order::Document, "$['b','b']", "[1,1]"),
    ] {
        let group = Group::new().by("k", query(path));
        let report = run_bytes(&Analysis::new().group(group.clone()).order(order), text).unwrap();
        assert_eq!(seen(groups_of(&report.answers[0]), &group)[0].key, [Some(key.to_owned())], "{path}");
    }
}

#[test]
fn rows_are_sorted_by_count_key_or_figure() {
    let records = [
        ("3", "1"),
        ("\"b\"", "10"),
        ("\"b\"", "2"),
        ("null", "5"),
        ("[1]", "9"),
        ("true", "0"),
        ("{}", "-4"),
        ("-20", "7"),
        ("\"a\"", "11"),
        ("3.0", "1e1"),
        ("false", "null"),
    ];
    let mut text = String::from("{\"n\": 1}\n");
    for (key, value) in records {
        writeln!(text, "{{\"k\":{key},\"n\":{value}}}").unwrap();
    }
    let mut group = Group::new().by("k", query("$.k"));
    for kind in AggregateKind::ALL {
        group = group.aggregate(kind, kind.name(), query("$.n"));
    }
    let report = Analysis::new().group(group).run(&mut lines(text.as_bytes())).unwrap();
    let groups = groups_of(&report.answers[0]);
    let sorted = |sort, top| -> String {
        let key = |value: Option<&[u8]>| {
            value.map_or("-".into(), |value| String::from_utf8_lossy(value).into_owned())
        };
        let rows = groups.rows(sort, top);
        rows.iter().map(|row| key(row.keys().next().unwrap())).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(sorted(GroupSort::Count, None), "3 \"b\" - null [1] true {} -20 \"a\" false");
    assert_eq!(sorted(GroupSort::Count, Some(3)), "3 \"b\" -");
    assert_eq!(sorted(GroupSort::Count, Some(0)), "");
    assert_eq!(sorted(GroupSort::Key, None), "- null false true -20 3 \"a\" \"b\" [1] {}");
    assert_eq!(sorted(GroupSort::Key, Some(100)), sorted(GroupSort::Key, None));
    assert_eq!(sorted(GroupSort::Aggregate(0), None), "\"b\" 3 \"a\" [1] -20 null - true {} false");
    assert_eq!(sorted(GroupSort::Aggregate(1), Some(2)), "\"a\" [1]");
    assert_eq!(sorted(GroupSort::Aggregate(3), Some(3)), "\"a\" 3 \"b\"");
    assert_eq!(sorted(GroupSort::Aggregate(4), Some(3)), "3 \"b\" -");
}

/// A record with more values than are held is added exactly.
#[test]
fn records_with_many_values_are_exact() {
    let numbers: Vec<String> = (0..5000).map(|number| format!("{number}.5")).collect();
    let text = format!("{{\"k\":1,\"ns\":[{}]}}\n", numbers.join(",")).repeat(2);
    let mut group = Group::new().by("k", query("$.k"));
    for kind in AggregateKind::ALL {
        group = group.aggregate(kind, kind.name(), query("$.ns[*]"));
    }
    let report = Analysis::new().group(group.clone()).run(&mut lines(text.as_bytes())).unwrap();
    let found = &seen(groups_of(&report.answers[0]), &group)[0];
    assert_eq!(found.count, 2);
    let expected = ["25000000.0", "2500.0", "0.5", "4999.5"].map(|text| Some(text.to_owned()));
    assert_eq!(found.figures[..4], expected);
    let distinct: f64 = found.figures[4].as_ref().unwrap().parse().unwrap();
    assert!((distinct / 5000.0 - 1.0).abs() < 0.025, "{distinct}");
}

const GOLDEN: &str = include_str!("../golden/partial-groups-2.json");

/// R47: the stored form of groups.
#[test]
fn the_stored_form_is_frozen() {
    let mut group = Group::new().by("k", query("$.k")).by("l", query("$.l")).max_groups(2).approximate(true);
    for kind in AggregateKind::ALL {
        group = group.aggregate(kind, kind.name(), query("$.n"));
    }
    let analysis = Analysis::new().group(group);
    let text = b"{\"k\":1.0,\"n\":3}\n{\"k\":1,\"n\":0.5}\n{\"k\":1e0,\"n\":2}\n{\"l\":[\"\\u0061\"],\"k\":null}\n{\"k\":3}\n";
    let partial = merged(&analysis, &[text], false).unwrap();
    let fresh = String::from_utf8(partial.to_bytes().unwrap()).unwrap();
    if fresh != GOLDEN.trim_end() {
        let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/partial-groups-2.json");
        std::fs::write(path, format!("{fresh}\n")).unwrap();
        panic!("the stored form has changed, which needs a new version; it was written to {path}");
    }
    let restored = Partial::from_bytes(GOLDEN.as_bytes()).unwrap();
    let finished = analysis.finish(restored.clone()).unwrap();
    let whole = analysis.run(&mut lines(text)).unwrap();
    assert_eq!(answer_text(&finished.answers[0]), answer_text(&whole.answers[0]));
    assert_eq!(restored.to_bytes().unwrap(), fresh.as_bytes());
    assert!(Analysis::new().ask(Measure::Group(Group::new())).finish(restored.clone()).is_err());
    let mut accepted = 0;
    for seed in 0..cases(2000, 20_000) {
        let damaged = trommel_testkit::generate::damage(seed, GOLDEN.trim_end().as_bytes());
        let Ok(partial) = Partial::from_bytes(&damaged) else { continue };
        accepted += 1;
        for partial in [Ok(partial.clone()), restored.clone().merge(partial)].into_iter().flatten() {
            if let Ok(report) = analysis.finish(partial) {
                assert!(!answer_text(&report.answers[0]).is_empty());
            }
        }
    }
    assert!(accepted > 0, "some damage changes only a digit");
}
