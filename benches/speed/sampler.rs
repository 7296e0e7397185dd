//! The sampler alone: a hundred of a million candidates, in candidates per second.

use std::hint::black_box;
use std::num::{NonZeroU64, NonZeroUsize};

use criterion::{Criterion, Throughput};
use trommel::sampler::{Reservoir, Seed, Strata, Systematic, winners};

const CANDIDATES: u64 = 1_000_000;
const SIZE: NonZeroUsize = NonZeroUsize::new(100).unwrap();

/// Draws a sample, in the order of the stream.
type Draw = fn() -> Vec<u64>;

/// True if a sample is correct.
type IsRight = fn(&[u64]) -> bool;

pub(crate) fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sampler");
    group.throughput(Throughput::Elements(CANDIDATES));
    let random = |sample: &[u64]| sample == winners(Seed::new(1), SIZE, CANDIDATES);
    let columns: [(&str, Draw, IsRight); 5] = [
        ("reservoir, offered each", each, random),
        ("reservoir, skipping", skipping, random),
        ("reservoirs merged", merged, |sample| sample.is_sorted() && sample.last() < Some(&CANDIDATES)),
        ("systematic", systematic, |sample| sample.iter().zip(0..).all(|(&value, n)| value == n * STRIDE)),
        ("strata", strata, |sample| {
            (0..10).all(|key| sample.iter().filter(|&n| n % 10 == key).count() == 10)
        }),
    ];
    for (name, draw, is_correct) in columns {
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let sample = draw();
                assert!(sample.len() == SIZE.get() && is_correct(&sample), "sampler by {name}: {sample:?}");
            });
        });
    }
    group.finish();
}

const STRIDE: u64 = CANDIDATES / SIZE.get() as u64;

fn each() -> Vec<u64> {
    let mut reservoir = Reservoir::new(SIZE, Seed::new(1));
    for candidate in 0..CANDIDATES {
        reservoir.offer_with(|| black_box(candidate));
    }
    reservoir.into_sample().into_values().collect()
}

fn skipping() -> Vec<u64> {
    part(Seed::new(1), CANDIDATES).into_sample().into_values().collect()
}

/// Runs a reservoir over `candidates` candidates, and builds only the selected ones.
fn part(seed: Seed, candidates: u64) -> Reservoir<u64> {
    let mut reservoir = Reservoir::new(SIZE, seed);
    while reservoir.to_skip() < candidates - reservoir.seen() {
        reservoir.skip(reservoir.to_skip());
        let candidate = reservoir.seen();
        reservoir.offer_with(|| black_box(candidate));
    }
    reservoir.skip(candidates - reservoir.seen());
    reservoir
}

fn merged() -> Vec<u64> {
    let parts = (0..10).map(|number| part(Seed::new(1).for_stream(number), CANDIDATES / 10));
    parts.reduce(Reservoir::merge).unwrap().into_sample().indices().collect()
}

fn systematic() -> Vec<u64> {
    let mut systematic = Systematic::with_stride(SIZE, NonZeroU64::new(STRIDE).unwrap());
    for candidate in 0..CANDIDATES {
        systematic.offer_with(|| black_box(candidate));
    }
    systematic.into_sample().into_values().collect()
}

fn strata() -> Vec<u64> {
    let mut strata = Strata::new(SIZE, Seed::new(1));
    for candidate in 0..CANDIDATES {
        let key = candidate % 10;
        strata.offer_with(&key.to_le_bytes(), || key, || black_box(candidate)).unwrap();
    }
    strata.into_sample().sample.into_values().collect()
}
