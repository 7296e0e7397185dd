//! Memory: the peak of a run depends on the measures, never on the length of the input.
//!
//! The counts are those of the whole process, so this binary has one test, which measures one case
//! after the other.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Cursor, Read};
use std::num::{NonZeroU64, NonZeroUsize};

use trommel::groups::{AggregateKind, Group};
use trommel::path::{Order, Query};
use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Count, CountAs, Document, Match, Measure, Sample, Stats, Strategy};
use trommel_testkit::alloc::{CountingAllocator, Usage};
use trommel_testkit::effort::cases;
use trommel_testkit::repeat::Repeat;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

const RECORD: &str = r#"{"id": 12345, "name": "a name that is some letters long", "tags": ["x", 1, null, {"k": [true]}], "ok": false}"#;

const MIB: u64 = 1 << 20;

fn query(text: &str) -> Query {
    text.parse().unwrap()
}

fn document(bytes: u64) -> Repeat {
    Repeat::records(RECORD, bytes / (RECORD.len() as u64 + 1))
}

fn lines(bytes: u64) -> Repeat {
    Repeat::lines(RECORD, bytes / (RECORD.len() as u64 + 1))
}

fn run(analysis: &Analysis, mut document: Document<'_>) -> Usage {
    let (report, usage) =
        ALLOCATOR.measure(|| analysis.run_with(&mut document, &mut |_: &Match<'_>| Ok(())).unwrap());
    let coverage = report.coverage;
    assert!(coverage.bytes_total.is_none_or(|total| total == coverage.bytes_read), "all was read");
    usage
}

/// The measures, over records at any path.
fn all_measures(records: &str) -> Vec<(&'static str, Analysis)> {
    let at = |rest: &str| query(&format!("{records}{rest}"));
    let new = Analysis::new;
    let sample =
        |strategy| new().sample(Sample::new(at("[*]"), NonZeroUsize::new(100).unwrap()).strategy(strategy));
    let describe = |change: fn(&mut Stats)| {
        let mut stats = Stats::new();
        change(&mut stats);
        new().ask(Measure::Stats(stats))
    };
    let keys = Count::new(at("[*]")).count_as(CountAs::NestedTotal);
    vec![
        ("extract", new().extract(at("[*].tags[0]"))),
        ("extract by filter", new().extract(at("[?@.tags[3].k[0] == true].id"))),
        ("extract in document order", new().order(Order::Document).extract(query("$..k"))),
        ("count", new().count(query("$..k"))),
        ("count structurally", new().count(query("$..k")).validation(Validation::Structural)),
        ("count members", new().ask(Measure::Count(keys))),
        ("random", sample(Strategy::Random)),
        ("first", sample(Strategy::First)),
        ("last", sample(Strategy::Last)),
        ("every", sample(Strategy::Systematic(NonZeroU64::new(50)))),
        ("evenly", sample(Strategy::Systematic(None))),
        ("stratified", sample(Strategy::Stratified(query("$.id")))),
        ("stats", describe(|_| {})),
        ("schema and values", describe(|stats| (stats.schema, stats.values) = (true, true))),
        ("structure", describe(|stats| stats.per_path = false)),
        ("regions", describe(|stats| stats.queries = vec![query("$..tags"), query("$..k")])),
    ]
}

/// R7: the peak is the same for 1 MB and 64 MB (256 MB in a deep run), and small, for every
/// measure, on one document and on lines. No value, match, or record takes an allocation of its
/// own.
fn peaks_do_not_grow() {
    for (name, analysis) in all_measures("$.data.records") {
        let large = if ["extract", "count", "random", "stats"].contains(&name) { 64 } else { 16 };
        let sizes = [MIB, cases(large, 256) * MIB];
        check(name, sizes, 0, sizes.map(|bytes| run(&analysis, Document::from_reader(document(bytes)))));
    }
    let group = Group::new().by("ok", query("$.ok")).by("tag", query("$.tags[0]"));
    let group = group.aggregate(AggregateKind::Sum, "id", query("$.id"));
    let groups = [("groups", Analysis::new().group(group))];
    for (name, analysis) in all_measures("$").into_iter().chain(groups) {
        let run = |bytes| run(&analysis, Document::from_reader(lines(bytes)).framing(Framing::Lines));
        let sizes = [MIB, cases(4, 256) * MIB];
        // Lines are read in parts of 4 MiB, each with its own state.
        check(name, sizes, sizes[1] / (4 * MIB), sizes.map(run));
    }
}

fn check(name: &str, sizes: [u64; 2], parts: u64, [small, large]: [Usage; 2]) {
    assert!(small.peak < 8 << 20, "{name}: {small:?}");
    assert!(large.peak <= small.peak + (small.peak >> 5) + 4096, "{name}: {small:?} {large:?}");
    let more = large.allocations.saturating_sub(small.allocations);
    // Each of the last candidates is drawn for a time. Of a random sample of 100, the number ever
    // drawn grows with the logarithm of the population, and so do the levels of a sketch.
    let ratio = sizes[1] as f64 / sizes[0] as f64;
    let most = match name {
        "random" | "stratified" => 1000 + (200.0 * ratio.ln()) as u64,
        "schema and values" => (250.0 * ratio.log2().max(4.0)) as u64,
        _ => 1000,
    };
    let most = most + 40 * parts;
    assert!((more as u64) < most || name == "last", "{name}: {small:?} {large:?}");
}

/// Candidates that are not drawn are never copied, and take no allocation.
fn losers_cost_nothing() {
    let few = Sample::new(query("$.data.records[*]"), NonZeroUsize::new(10).unwrap());
    for strategy in [Strategy::Random, Strategy::First, Strategy::Stratified(query("$.ok"))] {
        let analysis = Analysis::new().sample(few.clone().strategy(strategy.clone()));
        let usage = run(&analysis, Document::from_reader(document(16 * MIB)));
        // Of 150,000 candidates a few hundred are drawn for a time.
        assert!(usage.allocations < 2000, "{strategy:?}: {usage:?}");
        assert!(usage.total < 1 << 20, "{strategy:?}: {usage:?}");
    }
}

/// In RFC order `$..*` holds every match of a document: beyond 16 MiB, in a file.
fn held_matches_spill_to_a_file() {
    let analysis = Analysis::new().extract(query("$..*"));
    let mut bytes = Vec::new();
    document(24 * MIB).read_to_end(&mut bytes).unwrap();
    let matches = Analysis::new().count(query("$..*")).run(&mut Document::from_bytes(bytes.clone())).unwrap();
    assert!(matches.answers[0].count().unwrap() > 1_500_000);
    let document = Document::from_bytes(bytes.clone());
    let usage = run(&analysis, document);
    assert!(usage.peak < 48 << 20, "{usage:?}");
    // On a pipe the document is spooled to a file too.
    let usage = run(&analysis, Document::from_reader(Cursor::new(bytes)));
    assert!(usage.peak < 64 << 20, "{usage:?}");
}

/// With a limit `n`, at most `n` matches are held, without a file, however many there are.
fn limits_bound_held_matches() {
    let limited = |asked: &str, limit| {
        let analysis = Analysis::new().validation(Validation::Structural);
        analysis.ask(Measure::Extract(trommel::Extract::new(query(asked)).limit(limit)))
    };
    for (asked, limit, most) in
        [("$..*", 10, 1 << 20), ("$..k", 10, 1 << 20), ("$..[::-1]", 10, 1 << 20), ("$..*", 10_000, 4 << 20)]
    {
        let usages = [MIB, 16 * MIB].map(|bytes| {
            let mut text = Vec::new();
            document(bytes).read_to_end(&mut text).unwrap();
            let mut document = Document::from_bytes(text);
            let analysis = limited(asked, limit);
            ALLOCATOR.measure(|| analysis.run(&mut document).unwrap()).1
        });
        assert!(usages.iter().all(|usage| usage.peak < most), "{asked}, {limit}: {usages:?}");
    }
}

/// Several threads take a multiple of one thread's memory, and no more for a longer input.
fn threads_multiply_the_peak() {
    let text = |bytes| {
        let mut text = Vec::new();
        lines(bytes).read_to_end(&mut text).unwrap();
        text
    };
    let analyses = [
        ("values", Analysis::new().extract(query("$.tags[*]"))),
        ("count", Analysis::new().count(query("$..k"))),
        ("stats", Analysis::new().stats()),
        ("groups", Analysis::new().group(Group::new().by("ok", query("$.ok")))),
    ];
    let (small, large) = (text(8 * MIB), text(cases(64, 256) * MIB));
    for (name, analysis) in analyses {
        let run = |text: &Vec<u8>| {
            let document = Document::from_bytes(text.clone()).framing(Framing::Lines);
            run(&analysis.clone().threads(2), document)
        };
        let [small, large] = [run(&small), run(&large)];
        assert!(small.peak < 24 << 20, "{name}: {small:?}");
        // The number of results that wait to be joined is bounded, but depends on the speeds of the
        // threads.
        assert!(large.peak < 3 * small.peak + (64 << 10), "{name}: {small:?} {large:?}");
    }
}

#[test]
fn memory_depends_on_the_measures() {
    peaks_do_not_grow();
    losers_cost_nothing();
    held_matches_spill_to_a_file();
    limits_bound_held_matches();
    threads_multiply_the_peak();
}
