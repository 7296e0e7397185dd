//! Counts the allocations of matching: none for a record once the scratch has grown, and no more
//! memory for a longer input.
//!
//! The counts cover the whole process, so there is only one test.

#![expect(clippy::unwrap_used, reason = "a test fails if it cannot continue")]

use std::io::Read;

use trommel_path::{Order, Plan, PlanOptions, Query, Scratch, Step, Wants};
use trommel_reader::{Config, Cursor, Framing, Validation};
use trommel_testkit::alloc::CountingAllocator;
use trommel_testkit::effort::cases;
use trommel_testkit::events::{self, Arrangement};
use trommel_testkit::repeat::Repeat;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

fn plan(queries: &[&str], order: Order) -> Plan {
    let queries: Vec<Query> = queries.iter().map(|text| text.parse().unwrap()).collect();
    Plan::new(&queries, PlanOptions::new().order(order))
}

/// Returns the wants of a consumer that needs everything.
fn wants(plan: &Plan) -> Wants {
    let mut wants = Wants::default();
    wants.events = vec![true; plan.ids().len()];
    wants.bytes = vec![true; plan.ids().len()];
    wants.location = true;
    wants
}

/// Queries that look ahead, look back, hold, and forward.
const QUERIES: [&str; 14] = [
    "$",
    "$.type",
    "$..login",
    "$['type','id']",
    "$.payload.commits[*].sha",
    "$.payload.commits[-1].sha",
    "$.payload.commits[::-1].author.name",
    "$.payload.members[?@.id > 5000000].login",
    "$.payload.members[?length(@.login) == 12 || @.site_admin == true].url",
    "$.payload.members[?match(@.login, 'user-[0-9]+')].id",
    "$.payload.commits[?@.author.name != $.repo.name].distinct",
    "$.payload[?count(@[*]) > 2][0].id",
    "$..[?@.login].url",
    "$..*..id",
];

/// Counts the allocations while records are matched, not counting those of the first `warm`
/// records.
fn allocations(plan: &Plan, wants: &Wants, cursor: &mut Cursor<'_>, warm: u64) -> (u64, usize) {
    let mut scratch = Scratch::new();
    let mut matcher = plan.matcher(&mut scratch, cursor, wants);
    let mut steps = 0;
    let mut records = |records: u64| {
        for _ in 0..records {
            if !matcher.next_record().unwrap() {
                break;
            }
            while let Some(step) = matcher.advance().unwrap() {
                steps += 1;
                if let Step::Leave { span, .. } = step {
                    assert!(matcher.cursor().bytes(span).is_some_and(|bytes| !bytes.is_empty()));
                    steps += matcher.key().len() as u64 + matcher.location().steps().len() as u64;
                }
            }
        }
    };
    records(warm);
    let ((), usage) = ALLOCATOR.measure(|| records(u64::MAX));
    (steps, usage.allocations)
}

fn records_take_nothing() {
    let mut lines = Vec::new();
    // The largest records come early and make the scratch grow for all later ones.
    let written = events::write(&mut lines, Arrangement::Lines, 600_000).unwrap();
    let lines = [lines.as_slice(), lines.as_slice()].concat();
    for order in [Order::Rfc, Order::Document, Order::Any] {
        for validation in [Validation::Strict, Validation::Structural] {
            let config = Config::new().validation(validation);
            let alone = QUERIES.iter().map(|query| vec![*query]);
            for queries in alone.chain([QUERIES.to_vec()]) {
                let plan = plan(&queries, order);
                let wants = wants(&plan);
                let view = trommel_reader::View::new(&lines);
                let mut cursor = Cursor::from_view(view, Framing::Lines, &config);
                let (steps, slice) = allocations(&plan, &wants, &mut cursor, written.records);
                assert!(steps > written.records, "{queries:?}: {steps}");
                assert_eq!(slice, 0, "{queries:?}, {order:?}, {validation:?}: {} records", written.records);
                let mut cursor =
                    Cursor::from_reader(lines.as_slice(), Framing::Lines, &config.window(8 << 10));
                let (_, stream) = allocations(&plan, &wants, &mut cursor, written.records);
                assert_eq!(stream, 0, "{queries:?}, {order:?}, {validation:?} as a stream");
            }
        }
    }
}

/// Returns the peak memory while one document is matched.
fn peak(plan: &Plan, reader: impl Read + Send, validation: Validation) -> (u64, usize) {
    let (mut wants, mut steps) = (wants(plan), 0);
    if plan.options().order == Order::Any {
        // Without this, the bytes of a node that is most of the document would be held as
        // requested.
        wants.bytes.clear();
    }
    let ((), usage) = ALLOCATOR.measure(|| {
        let config = Config::new().validation(validation);
        let mut cursor = Cursor::from_reader(reader, Framing::Single, &config);
        let mut scratch = Scratch::new();
        let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
        assert!(matcher.next_record().unwrap());
        while matcher.advance().unwrap().is_some() {
            steps += 1;
        }
    });
    (steps, usage.peak)
}

/// R7: the peak stays the same from 1 MB to 64 MB, and up to 256 MB in deep runs.
fn documents_take_no_more_for_their_length() {
    let record = events::event(1).text;
    let count = |bytes: u64| bytes / record.len() as u64;
    let large = count(cases(64_000_000, 256_000_000));
    for (queries, order) in [
        (vec!["$.data.records[*].id"], Order::Rfc),
        (vec!["$.data.records[*]..login", "$.meta.count"], Order::Rfc),
        (vec!["$.data.records[?@.type != 'PushEvent' && @.actor.id > 3].payload"], Order::Rfc),
        (vec!["$..login", "$..commits[-1]", "$..id"], Order::Document),
        (vec!["$..*..*"], Order::Any),
    ] {
        let mut wanted = None;
        let plan = plan(&queries, order);
        for validation in [Validation::Strict, Validation::Structural] {
            let small = peak(&plan, Repeat::records(&record, count(1_000_000)), validation);
            assert!(small.0 > 100, "{queries:?}");
            wanted.get_or_insert(small.0);
            assert_eq!(wanted, Some(small.0), "{queries:?}");
            if validation == Validation::Structural {
                let big = peak(&plan, Repeat::records(&record, large), validation);
                assert!(big.0 > small.0 * 50, "{queries:?}: {} steps", big.0);
                assert_eq!(big.1, small.1, "{queries:?}");
            }
            assert!(small.1 < 400_000, "{queries:?}: {} bytes", small.1);
        }
    }
}

/// R8: the peak depends on the depth, with some hundred bytes per level, and not on the length.
fn depth_takes_little() {
    for (query, order) in [("$..*", Order::Any), ("$..a", Order::Rfc), ("$..*..*..*..x", Order::Rfc)] {
        let plan = plan(&[query], order);
        let (mut scratch, wants) = (Scratch::new(), Wants::default());
        let document = ["[".repeat(10_000), "]".repeat(10_000)].concat();
        let ((), usage) = ALLOCATOR.measure(|| {
            let mut cursor = Cursor::new(document.as_bytes(), &Config::new());
            let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
            assert!(matcher.next_record().unwrap());
            while matcher.advance().unwrap().is_some() {}
        });
        assert!(usage.peak < 10_000 * 1000, "{query}: {} bytes", usage.peak);
    }
}

#[test]
fn matching_allocates_little() {
    records_take_nothing();
    documents_take_no_more_for_their_length();
    depth_takes_little();
}
