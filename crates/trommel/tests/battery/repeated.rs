//! Repeated names: listed with their locations; and their last member selected, as in `serde_json`.

use serde_json::Value as Json;
use trommel::path::{Duplicates, Query};
use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Document, Error, OnBadRecord, RepeatedName};
use trommel_testkit::generate::{Shape, document};
use trommel_testkit::naive::{self, Data};

use crate::support::{Source, cases, query, texts};

fn listed(names: &[RepeatedName]) -> Vec<(u64, &str, u64)> {
    names.iter().map(|name| (name.record, name.location.as_str(), name.offset)).collect()
}

#[test]
fn repeated_names_are_listed_in_order() {
    let text = b"{\"a\": 1, \"a\": [{\"b\": 1, \"b\": 2}], \"a\": 3}\n{\"x\": {\"y\": 0}, \"y\": 0, \"\\u0078\": 1}\n";
    let expected = [(0, "$['a']", 9), (0, "$['a'][0]['b']", 24), (0, "$['a']", 34), (1, "$['x']", 66)];
    for source in Source::all() {
        for most in [0, 1, 3, 4, 10] {
            let document = source.document(text, Framing::Lines);
            let names = Analysis::new().repeated_names(&document, most).unwrap();
            assert_eq!(listed(&names), expected[..most.min(4)], "{source:?}");
        }
    }
    let names = Analysis::new().repeated_names(&Document::from_bytes(&text[..]), 10).unwrap();
    assert_eq!(names[3].line_column.map(|place| (place.line, place.column)), Some((2, 25)));
}

#[test]
fn omits_names_of_malformed_records() {
    let text = "{\"a\": 1, \"a\": tru}\n{\"b\": 1, \"b\": 2}\n";
    let document = Document::from_bytes(text).framing(Framing::Lines);
    assert!(matches!(Analysis::new().repeated_names(&document, 10), Err(Error::Read { .. })));
    let skips = Analysis::new().on_bad_record(OnBadRecord::Skip { at_most: 9 });
    assert_eq!(listed(&skips.repeated_names(&document, 10).unwrap()), [(1, "$['b']", 28)]);
}

/// The list has as many names as the statistics count.
#[test]
fn lists_as_many_names_as_are_counted() {
    let mut total = 0;
    for seed in 0..cases(300, 3000) {
        let text = document(seed, &Shape { duplicates: true, ..Shape::default() });
        let report = Analysis::new().stats().run(&mut Document::from_bytes(text.clone())).unwrap();
        let trommel::Answer::Stats(stats) = &report.answers[0] else { panic!("statistics") };
        let names = Analysis::new().repeated_names(&Document::from_bytes(text), usize::MAX).unwrap();
        assert_eq!(names.len() as u64, stats.summary.structure.duplicate_names, "seed {seed}");
        total += names.len();
    }
    assert!(total > 100, "{total}");
}

/// A small input that is read once can be read again if it is recorded.
#[test]
fn rereads_small_readers() {
    let text = b"{\"a\": 1, \"a\": 2}";
    for (most, kept) in [(text.len(), true), (text.len() - 1, false), (1 << 20, true)] {
        for size in [1, 7, 100] {
            let reader = trommel_testkit::chunks::Chunks::new(std::io::Cursor::new(text.to_vec()), &[size]);
            let mut document = Document::from_reader(reader).keep_up_to(most);
            assert!(Analysis::new().stats().run(&mut document).is_ok());
            let again = Analysis::new().repeated_names(&document, 10);
            assert_eq!(again.is_ok(), kept, "{most}, {size}");
            assert!(kept || matches!(again, Err(Error::Consumed)), "{most}, {size}");
        }
    }
}

/// Every value that `serde_json` keeps is the only node of its path, for every kind of input.
#[test]
fn the_last_member_is_the_one_that_serde_json_keeps() {
    let mut repeated = 0;
    for seed in 0..cases(200, 3000) {
        let text = document(seed, &Shape { duplicates: true, ..Shape::plain() });
        let Ok(kept) = serde_json::from_slice::<Json>(&text) else { continue };
        let tree = naive::parse(&text).unwrap();
        let members = |data: &Data| matches!(data, Data::Object(_));
        repeated += u64::from(members(&tree[tree.root()].data));
        let mut pending = vec![(String::from("$"), &kept)];
        while let Some((path, value)) = pending.pop() {
            let asked = query(&path);
            let source = Source::pick(seed + pending.len() as u64);
            let validation = [Validation::Strict, Validation::Structural][pending.len() % 2];
            let analysis =
                Analysis::new().duplicates(Duplicates::Last).validation(validation).window(64).extract(asked);
            let mut memory = crate::support::Memory::default();
            analysis.run_with(&mut source.document(&text, Framing::Single), &mut memory).unwrap();
            let found = memory.texts();
            assert_eq!(found.len(), 1, "seed {seed}, {path}");
            assert_eq!(&serde_json::from_str::<Json>(&found[0]).unwrap(), value, "seed {seed}, {path}");
            match value {
                Json::Object(members) => {
                    for (name, value) in members {
                        let name = serde_json::to_string(name).unwrap();
                        pending.push((format!("{path}[{name}]"), value));
                    }
                }
                Json::Array(items) => {
                    pending
                        .extend(items.iter().enumerate().map(|(at, item)| (format!("{path}[{at}]"), item)));
                }
                _ => {}
            }
        }
    }
    assert!(repeated > 20, "{repeated}");
}

/// On a pipe an object is held until its end is known, in a temporary file if it is long.
#[test]
fn the_last_member_is_found_on_pipes_of_any_length() {
    let long = "x".repeat(3 << 20);
    let text = format!(
        "{{\"a\": {{\"b\": 1, \"pad\": \"{long}\", \"b\": 2}}, \"pad\": \"{long}\", \"a\": {{\"b\": 3, \"c\": 4, \"b\": 5}}}}"
    );
    let mut limits = trommel::reader::Limits::default();
    limits.held_bytes = 1 << 20;
    let analysis = Analysis::new().duplicates(Duplicates::Last).limits(limits);
    for (asked, expected) in [("$.a.b", &["5"][..]), ("$..b", &["2", "5"]), ("$.a['c','b']", &["4", "5"])] {
        let asked: Query = query(asked);
        assert_eq!(texts(&analysis.clone().extract(asked.clone()), text.clone()), expected);
        let mut memory = crate::support::Memory::default();
        let mut piped = Source::Reads(70_000).document(text.as_bytes(), Framing::Auto);
        analysis.clone().extract(asked).run_with(&mut piped, &mut memory).unwrap();
        assert_eq!(memory.texts(), expected);
    }
    // Exceeding the limit of that file is an error that names the limit.
    limits.spool_bytes = 1 << 20;
    let error = analysis
        .limits(limits)
        .extract(query("$.a"))
        .run(&mut Source::Reads(70_000).document(text.as_bytes(), Framing::Auto))
        .unwrap_err();
    assert!(error.to_string().contains("spool limit"), "{error}");
}
