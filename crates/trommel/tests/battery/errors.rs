//! What errors say.

use std::error::Error as _;

use trommel::path::Query;
use trommel::reader::{Framing, Limits};
use trommel::{
    Analysis, Count, CountAs, Document, Error, Extract, Found, Measure, OnBadRecord, Partial, Sample,
    Strategy,
};

use crate::support::{Scratch, Source, query, size};

fn said(ran: Result<trommel::Report, Error>) -> String {
    ran.unwrap_err().to_string()
}

fn of(analysis: &Analysis, text: &str, framing: Framing) -> String {
    said(analysis.run(&mut Document::from_bytes(text).framing(framing)))
}

/// R45: each error says what is wrong, where, and what to do about it.
#[test]
fn errors_teach() {
    let stats = Analysis::new().stats();
    let count = |kind| Analysis::new().ask(Measure::Count(Count::new(query("$.a")).name("n").count_as(kind)));
    let sample = |path: &str| Analysis::new().sample(Sample::new(query(path), size(2)));
    let by = Strategy::Stratified(query("$.k"));
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
    let full = |_: &Found<'_>| Err(std::io::Error::other("no space left on the device"));
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
            of(&stats, "{\"a\": tru}", Framing::Auto),
            "not a JSON literal at byte 6 (line 1, column 7); the literals are true, false, and null, in lower case",
        ),
        (
            of(&stats, "1\n[2,\n", Framing::Lines),
            "record 1: the input ends inside a value at byte 5 (line 2, column 4); it may have been cut off",
        ),
        (
            of(&limits(|limits| limits.depth = 2), "[[[]]]", Framing::Auto),
            "nested deeper than the limit of 2 levels at byte 2 (line 1, column 3); raise the depth limit if the input is to be \
             trusted (at most 1048576)",
        ),
        (
            said(
                Analysis::new()
                    .extract(query("$[*]"))
                    .run_with(&mut Document::from_bytes("[1]"), &mut { full }),
            ),
            "cannot write: no space left on the device",
        ),
        (
            of(&sample("$.a"), "{\"a\": {}}", Framing::Auto),
            "$.a selects an object, and a sample is drawn from an array; to sample the nodes of a query, use one that can \
             select several, such as $.a[*]",
        ),
        (
            said(sample("$").run(&mut Source::Reads(3).document(b"[1]\n[2]\n", Framing::Auto))),
            "the first value is an array, whose elements were sampled, and another value follows at byte 4; to sample a \
             stream of values, use the framing `concatenated` or `jsonl`",
        ),
        (
            of(&count(CountAs::ArrayLength), "{\"a\": \"x\"}", Framing::Auto),
            "n: $['a'] is a string, which has no array_length; count matches instead",
        ),
        (
            of(&Analysis::new().sample(Sample::new(query("$"), size(1)).strategy(by)), &long, Framing::Auto),
            "the length of what items are grouped by is over its limit of 4096 at byte 7; raise the limit, or ask for less",
        ),
        (said(stats.run(&mut consumed)), "the input can be read only once, and was read: open it again"),
        (
            of(&skip, "x\n", Framing::Lines),
            "more than 0 bad records: raise the number that is skipped, or look at the input",
        ),
        (
            Partial::from_bytes(b"{}").unwrap_err().to_string(),
            "this is no partial: missing field `trommel_partial` at line 1 column 2",
        ),
    ];
    for (found, expected) in table {
        assert_eq!(found, expected);
    }
}

/// An error names what caused it, for whoever walks the chain.
#[test]
fn errors_have_sources() {
    let read = Analysis::new().stats().run(&mut Document::from_bytes("[")).unwrap_err();
    assert!(read.source().unwrap().downcast_ref::<trommel::reader::Error>().is_some());
    let query: Error = "$[".parse::<Query>().unwrap_err().into();
    assert!(query.source().is_some());
    let open = Document::open("/nonexistent").map(drop).unwrap_err();
    assert!(open.source().unwrap().downcast_ref::<std::io::Error>().is_some());
    assert!(Error::Consumed.source().is_none());
}

/// A file that is none, or no JSON at all.
#[test]
fn what_is_no_file_is_refused() {
    let folder = Scratch::new("x", b"");
    let error = Document::open(folder.path().parent().unwrap()).map(drop).unwrap_err();
    assert!(matches!(error, Error::Open { .. }) && error.to_string().contains("directory"), "{error}");
    let mut empty = Document::open(folder.path()).unwrap();
    assert!(empty.is_empty() && empty.len() == Some(0));
    assert!(said(Analysis::new().stats().run(&mut empty)).contains("the input is empty"));
    for text in [&b"\xFF\xFE[\0]\0"[..], b"\0", b"PK\x03\x04", b"\x7FELF", b"(\xB5/\xFDx", b"\x1F\x8B\x08"] {
        for source in [Source::Bytes, Source::Reads(1)] {
            let ran = Analysis::new().stats().run(&mut source.document(text, Framing::Auto));
            assert!(matches!(ran, Err(Error::Read { .. })), "{text:?} {ran:?}");
        }
    }
}

/// An error's text does not grow with the input.
#[test]
fn errors_are_short() {
    let name = "x".repeat(1 << 20);
    let text = format!("{{\"{name}\": {{\"{name}\": tru}}}}");
    assert!(of(&Analysis::new().stats(), &text, Framing::Auto).len() < 300);
    let limited = Measure::Extract(Extract::new(query("$..*")).limit(1));
    assert!(of(&Analysis::new().ask(limited).stats(), &text, Framing::Auto).len() < 300);
}
