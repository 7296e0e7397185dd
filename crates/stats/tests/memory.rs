//! Allocations of a profile: none once it knows the shape, and never beyond its limits.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::{Mutex, MutexGuard, PoisonError};
use support::{observe, options};
use trommel_reader::{Event, Kind, Number, Payload, Scalar, Text};
use trommel_stats::{Accumulator as _, Profile, Summary};
use trommel_testkit::alloc::{CountingAllocator, Usage};
use trommel_testkit::effort::cases;
use trommel_testkit::naive::parse;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// The allocator counts for the whole process, so one test measures at a time.
static MEASURING: Mutex<()> = Mutex::new(());

const MIB: usize = 1 << 20;

fn measure<T>(work: impl FnOnce() -> T) -> (T, Usage) {
    ALLOCATOR.measure(work)
}

fn alone() -> MutexGuard<'static, ()> {
    MEASURING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends events to a profile without a text.
struct Feed {
    profile: Profile,
    at: u64,
}

impl Feed {
    fn new(change: impl FnOnce(&mut trommel_stats::ProfileOptions)) -> Self {
        Self { profile: Profile::new(options(change)), at: 0 }
    }

    fn event(&mut self, event: Event, payload: Payload<'_>) {
        self.at += 10;
        self.profile.observe(event, payload, self.at);
    }

    fn name(&mut self, name: &str) {
        self.event(Event::Name, Payload::Name(Text::plain(name)));
    }

    fn number(&mut self, lexeme: &str) {
        self.event(
            Event::Scalar(Kind::Number),
            Payload::Scalar(Scalar::Number(Number::parse(lexeme).unwrap())),
        );
    }

    fn container(&mut self, kind: Kind, inside: impl FnOnce(&mut Self)) {
        self.event(Event::Begin(kind), Payload::None);
        inside(self);
        self.event(Event::End(kind), Payload::None);
    }

    fn root(&mut self, kind: Kind, inside: impl FnOnce(&mut Self)) {
        self.profile.begin();
        self.container(kind, inside);
        self.profile.end();
    }

    fn summary(mut self) -> Summary {
        self.profile.normalize();
        self.profile.summary()
    }
}

#[test]
fn known_shapes_allocate_nothing() {
    let _alone = alone();
    let text = br#"{"a":[1,2.5,"x",{"b":null,"c":[[true]]}],"d":{"e":"2024-01-01"},"f":{}}"#;
    let optional = br#"{"a":[{"c":[]}],"f":{"new":1},"d":{}}"#;
    let (tree, other) = (parse(text).unwrap(), parse(optional).unwrap());
    let (roots, others) = ([tree.root()].into(), [other.root()].into());
    let mut profile = Profile::new(options(|options| options.schema = true));
    let round = |profile: &mut Profile| {
        observe(profile, text, &tree, &roots, 0);
        observe(profile, optional, &other, &others, 1000);
    };
    round(&mut profile);
    round(&mut profile);
    // The tree walk of the test allocates the same in every round, with or without a profile.
    let mut untracked = Profile::new(options(|options| options.per_path = false));
    round(&mut untracked);
    let without = fewest_allocations(|| round(&mut untracked));
    let with = fewest_allocations(|| round(&mut profile));
    assert_eq!(with, without);
}

/// The minimum over several runs: the test runner's own thread may allocate meanwhile, but not
/// every time.
fn fewest_allocations(mut work: impl FnMut()) -> usize {
    (0..30).map(|_| measure(&mut work).1.allocations).min().unwrap()
}

/// R11: ever new names in one object, in many objects, and at many paths stay within the limits,
/// and the counts stay exact.
#[test]
fn ever_new_names() {
    let _alone = alone();
    let count = cases(300_000, 10_000_000);
    let limit = 64 * MIB + 32 * MIB;

    let (one_object, usage) = measure(|| {
        let mut feed = Feed::new(|options| options.schema = true);
        feed.root(Kind::Object, |feed| {
            for name in 0..count {
                feed.name(&format!("name {name}"));
                feed.number("1");
            }
            for name in 0..100 {
                feed.name(&format!("name {name}"));
                feed.number("1.5");
            }
        });
        feed.summary()
    });
    assert!(usage.peak < limit, "{usage:?}");
    assert_eq!((one_object.structure.total_keys, one_object.types.number), (count + 100, count + 100));
    assert_eq!(one_object.structure.duplicate_names, 100);
    assert_eq!((one_object.capped.folded_paths, one_object.objects.unwrap()[0].keys), (1, count + 100));
    let schema = one_object.schema.unwrap().into_json();
    assert!(schema.ends_with(r#""type":"object","additionalProperties":{"type":"number"}}"#), "{schema}");

    let (records, usage) = measure(|| {
        let mut feed = Feed::new(|options| options.values = true);
        feed.root(Kind::Array, |feed| {
            for name in 0..count / 2 {
                feed.container(Kind::Object, |feed| {
                    feed.name("id");
                    feed.number(&name.to_string());
                    feed.name(&format!("name {name}"));
                    feed.container(Kind::Object, |feed| {
                        feed.name("x");
                        feed.number("1");
                    });
                });
            }
        });
        feed.summary()
    });
    assert!(usage.peak < limit, "{usage:?}");
    let rows: Vec<_> =
        records.objects.unwrap().into_iter().map(|row| (row.path, row.keys, row.count)).collect();
    let half = count / 2;
    assert_eq!(rows, [("$[*]".into(), 2 * half, Some(half)), ("$[*].*".into(), half, Some(half))]);
    let ids = &records.values.unwrap()[0];
    assert_eq!(
        (ids.path.as_str(), ids.count, ids.distinct.approximate, ids.frequent.approximate),
        ("$[*].id", half, true, true)
    );
    let off = (ids.distinct.count as f64 / half as f64 - 1.0).abs();
    assert!(off < ids.distinct.relative_error.unwrap(), "{off}");
    assert!(ids.frequent.values.is_empty(), "no value is frequent: {:?}", ids.frequent);
}

/// R11: as many paths as names, none with many names.
#[test]
fn ever_new_paths() {
    let _alone = alone();
    let count = cases(300_000, 3_000_000);
    let (found, usage) = measure(|| {
        let mut feed = Feed::new(|options| {
            options.values = true;
            options.schema = true;
        });
        for record in 0..count / 1000 {
            feed.root(Kind::Object, |feed| {
                feed.name(&format!("part {record}"));
                feed.container(Kind::Object, |feed| {
                    for name in 0..1000 {
                        feed.name(&format!("name {name} of {record}"));
                        feed.container(Kind::Array, |feed| feed.number(&name.to_string()));
                    }
                });
            });
        }
        feed.summary()
    });
    assert!(usage.peak < (64 + 64) * MIB, "{usage:?}");
    assert_eq!(
        (found.structure.total_keys, found.types.array, found.types.number),
        (count + count / 1000, count, count)
    );
    assert_eq!(found.objects.unwrap().iter().map(|row| row.keys).sum::<u64>(), count + count / 1000);
    let arrays = found.arrays.unwrap();
    match found.capped.arrays {
        None => assert_eq!(arrays.iter().map(|row| row.length).sum::<u64>(), count),
        Some(capped) => assert!(capped.shown == 1000 && capped.total > 1000),
    }
    assert!(found.capped.folded_paths > 0);
}

/// If names do not fit within the limit, the number of repeated names becomes a lower bound and is
/// marked as such.
#[test]
fn repeated_names_beyond_the_limit() {
    let _alone = alone();
    let feed = |limit: u64| {
        let mut feed = Feed::new(|options| {
            options.max_depth = 1;
            options.limits.open_names_bytes = limit;
        });
        // Names of the level below the deepest rows are still in the trie, and need no list.
        feed.root(Kind::Array, |feed| {
            feed.container(Kind::Object, |feed| {
                for name in (0..1000).chain(0..1000) {
                    feed.name(&name.to_string());
                    feed.number("1");
                }
            });
        });
        feed.summary()
    };
    let exact = feed(1 << 20);
    assert_eq!((exact.structure.duplicate_names, exact.capped.duplicate_names), (1000, false));
    let bounded = feed(4000);
    assert_eq!((bounded.structure.duplicate_names, bounded.capped.duplicate_names), (100, true));

    let names_alone = |limit: u64| {
        let mut feed = Feed::new(|options| {
            (options.per_path, options.counts) = (false, false);
            options.limits.open_names_bytes = limit;
        });
        feed.root(Kind::Object, |feed| {
            for name in (0..1000).chain(0..1000) {
                feed.name(&name.to_string());
                feed.container(Kind::Array, |feed| feed.number("1"));
            }
        });
        let structure = feed.summary();
        (structure.structure.duplicate_names, structure.capped.duplicate_names)
    };
    assert_eq!(names_alone(1 << 20), (1000, false));
    assert_eq!(names_alone(8 * 1100), (100, true));
}

/// R8: depth costs a fixed amount a level, without recursion.
#[test]
fn a_deep_document() {
    let _alone = alone();
    let depth = 1 << 20;
    let (found, usage) = measure(|| {
        std::thread::Builder::new()
            .stack_size(256 << 10)
            .spawn(move || {
                let mut feed = Feed::new(|options| options.schema = true);
                feed.profile.begin();
                for _ in 0..depth {
                    feed.event(Event::Begin(Kind::Array), Payload::None);
                }
                feed.profile.end();
                let mut other = Feed::new(|options| options.schema = true);
                other.root(Kind::Array, |_| {});
                feed.profile.merge(other.profile);
                feed.profile.summary()
            })
            .unwrap()
            .join()
            .unwrap()
    });
    assert!(usage.peak < 192 * MIB, "{usage:?}");
    assert_eq!((found.structure.max_depth, found.types.array), (depth, depth + 1));
    assert_eq!(found.capped.arrays.map(|rows| (rows.shown, rows.total)), Some((1000, 10_000)));
}

/// Paths that are too long have no row, and do not cost what their rows would.
#[test]
fn long_paths() {
    let _alone = alone();
    let name = "n".repeat(10_000);
    let (found, usage) = measure(|| {
        let mut feed = Feed::new(|_| {});
        feed.profile.begin();
        for _ in 0..1000 {
            feed.event(Event::Begin(Kind::Object), Payload::None);
            feed.name(&name);
        }
        feed.profile.end();
        feed.summary()
    });
    assert!(usage.peak < 64 * MIB, "{usage:?}");
    assert_eq!(found.objects.unwrap().len(), 2);
    assert_eq!(found.capped.objects.map(|rows| (rows.shown, rows.total)), Some((2, 1000)));
}
