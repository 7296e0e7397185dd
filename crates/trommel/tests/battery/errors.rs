//! The texts of errors.

use std::error::Error as _;

use trommel::groups::AggregateKind;
use trommel::path::Query;
use trommel::reader::{Framing, Limits};
use trommel::{
    Analysis, Count, CountAs, Document, Error, Extract, Group, Match, Measure, OnBadRecord, Partial, Sample,
    Strategy,
};

use crate::support::{Scratch, Source, query, size};

fn err(ran: Result<trommel::Report, Error>) -> String {
    ran.unwrap_err().to_string()
}

fn error(analysis: &Analysis, text: &str, framing: Framing) -> String {
    err(analysis.run(&mut Document::from_bytes(text).framing(framing)))
}

/// R45: each error has a cause, an offset, and a next step.
#[test]
fn errors_teach() {
    let stats = Analysis::new().stats();
    let count = |kind| Analysis::new().ask(Measure::Count(Count::new(query("$.a")).name("n").count_as(kind)));
    let sample = |path: &str| Analysis::new().sample(Sample::new(query(path), size(2)));
    let sampled = Sample::new(query("$"), size(1)).strategy(Strategy::Stratified(query("$.k")));
    let grouped = Analysis::new().sample(sampled);
    let skip = stats.clone().on_bad_record(OnBadRecord::Skip { at_most: 0 });
    let limits = |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        stats.clone().limits(limits)
    };
    let folder = Scratch::new("x", b"");
    let missing = folder.path().with_file_name("missing.json");
    let shown = missing.display().to_string();
    let mut consumed = Document::from_reader(&b"[]"[..]);
    stats.run(&mut consumed).unwrap();
    let mut full = |_: &Match<'_>| Err(std::io::Error::other("no space left on the device"));
    let ids = Analysis::new().extract(query("$[*]"));
    let long = format!("[{{\"k\": \"{}\"}}]", "x".repeat(5000));
    let table = [
        (
            Error::from("$.a[".parse::<Query>().unwrap_err()).to_string(),
            "the query ends too early at byte 4: expected a selector: `'name'`, an index, `start:end:step`, `*` or `?filter`; \
             add `*]` at byte 4",
        ),
        (
            Document::open(&missing).map(drop).unwrap_err().to_string().replace(&shown, "FILE"),
            "cannot open FILE: No such file or directory (os error 2)",
        ),
        (
            error(&stats, "{\"a\": tru}", Framing::Auto),
            "not a JSON literal at byte 6 (line 1, column 7); the literals are true, false, and null, in lower case",
        ),
        (
            error(&stats, "1\n[2,\n", Framing::Lines),
            "record 1: the input ends inside a value at byte 5 (line 2, column 4); the input may be truncated",
        ),
        (
            error(&limits(|limits| limits.depth = 2), "[[[]]]", Framing::Auto),
            "nested deeper than the limit of 2 levels at byte 2 (line 1, column 3); raise the depth limit if you trust the input (at most 1048576)",
        ),
        (
            err(ids.run_with(&mut Document::from_bytes("[1]"), &mut full)),
            "cannot write: no space left on the device",
        ),
        (
            error(&sample("$.a"), "{\"a\": {}}", Framing::Auto),
            "$.a selects an object, but a sample needs an array; to sample the nodes of a query, use one that can \
             select several, such as $.a[*]",
        ),
        (
            err(sample("$").run(&mut Source::Reads(3).document(b"[1]\n[2]\n", Framing::Auto))),
            "the first value is an array, whose elements were sampled, and another value follows at byte 4; to sample a \
             stream of values, use the framing `concatenated` or `jsonl`",
        ),
        (
            error(&count(CountAs::ArrayLength), "{\"a\": \"x\"}", Framing::Auto),
            "n: $['a'] is a string, which has no array_length; count matches instead",
        ),
        (
            error(&grouped, &long, Framing::Auto),
            "the length of a group key is over its limit of 4096 at byte 7; raise the limit, or request less",
        ),
        (
            err(stats.run(&mut consumed)),
            "the input can be read only once and was already read; open it again",
        ),
        (
            error(&skip, "x\n", Framing::Lines),
            "more than 0 malformed records; raise the number to skip, or check the input",
        ),
        (
            Partial::from_bytes(b"{}").unwrap_err().to_string(),
            "not a partial: missing field `trommel_partial` at line 1 column 2",
        ),
    ];
    for (found, expected) in table {
        assert_eq!(found, expected);
    }
}

/// Each error has its cause as its source.
#[test]
fn errors_have_sources() {
    let read = Analysis::new().stats().run(&mut Document::from_bytes("[")).unwrap_err();
    assert!(read.source().unwrap().downcast_ref::<trommel::reader::Error>().is_some());
    let unparsed: Error = "$[".parse::<Query>().unwrap_err().into();
    assert!(unparsed.source().is_some());
    let open = Document::open("/nonexistent").map(drop).unwrap_err();
    assert!(open.source().unwrap().downcast_ref::<std::io::Error>().is_some());
    let mut lines = Document::from_bytes("{\"a\":1}\n{\"a\":[2]}\n").framing(Framing::Lines);
    let group = Analysis::new()
        .group(Group::new().aggregate(AggregateKind::Sum, "s", query("$.a")))
        .run(&mut lines)
        .unwrap_err();
    assert!(group.source().is_some() && group.to_string().starts_with("record 1: "), "{group}");
    let sample = Error::Sample(trommel::sampler::Error::DifferentRules);
    assert_eq!(sample.source().unwrap().to_string(), sample.to_string());
    assert!(Error::Consumed.source().is_none());
}

/// A path that is not a file, and a file that is not JSON.
#[test]
fn refuses_paths_that_are_not_files() {
    let folder = Scratch::new("x", b"");
    let error = Document::open(folder.path().parent().unwrap()).map(drop).unwrap_err();
    assert!(matches!(error, Error::Open { .. }) && error.to_string().contains("directory"), "{error}");
    let mut empty = Document::open(folder.path()).unwrap();
    assert!(empty.is_empty() && empty.len() == Some(0));
    assert!(err(Analysis::new().stats().run(&mut empty)).contains("the input is empty"));
    for text in [&b"\xFF\xFE[\0]\0"[..], b"\0", b"PK\x03\x04", b"\x7FELF", b"(\xB5/\xFDx", b"\x1F\x8B\x08"] {
        for source in [Source::Bytes, Source::Reads(1)] {
            let ran = Analysis::new().stats().run(&mut source.document(text, Framing::Auto));
            assert!(matches!(ran, Err(Error::Read { .. })), "{text:?} {ran:?}");
        }
    }
}

/// The text of an error does not grow with the input.
#[test]
fn errors_are_short() {
    let name = "x".repeat(1 << 20);
    let text = format!("{{\"{name}\": {{\"{name}\": tru}}}}");
    assert!(error(&Analysis::new().stats(), &text, Framing::Auto).len() < 300);
    let limited = Measure::Extract(Extract::new(query("$..*")).limit(1));
    assert!(error(&Analysis::new().ask(limited).stats(), &text, Framing::Auto).len() < 300);
}
