//! The derivation is frozen. The samples of fixed seeds are compared, byte for byte, with the files
//! in `tests/golden`.
//!
//! Never regenerate these files. A change that makes a test here fail would give users different
//! samples for seeds that they have recorded.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;

use trommel_sampler::{Reservoir, Seed, Strata, systematic_indices, winners};

const SEEDS: [u64; 4] = [0, 1, 42, u64::MAX];

fn sized(size: usize) -> NonZeroUsize {
    NonZeroUsize::new(size).unwrap()
}

/// Compares with a golden file. On a mismatch, writes the new text beside the build.
fn compare(name: &str, golden: &str, found: &str) {
    if golden != found {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, found).unwrap();
        let line = golden.lines().zip(found.lines()).position(|(a, b)| a != b);
        panic!("tests/golden/{name} differs from line {line:?} (from 0) on; found: {}", path.display());
    }
}

macro_rules! assert_golden {
    ($name:literal, $found:expr) => {
        compare($name, include_str!(concat!("golden/", $name)), &$found)
    };
}

/// A line with the indices of a sample, or with their number, a digest of all of them, and the
/// first and last ones.
fn list(indices: &[u64]) -> String {
    let list = |indices: &[u64]| indices.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    if indices.len() <= 40 {
        return list(indices);
    }
    let digest = digest(indices);
    format!(
        "{} digest {digest:016x}: {} ... {}",
        indices.len(),
        list(&indices[..5]),
        list(&indices[indices.len() - 5..])
    )
}

/// FNV-1a over words instead of bytes.
fn digest(words: &[u64]) -> u64 {
    words.iter().fold(0xcbf2_9ce4_8422_2325, |state, word| (state ^ word).wrapping_mul(0x0100_0000_01b3))
}

/// R33: derived seeds.
#[test]
fn seeds() {
    let mut found = String::new();
    for seed in SEEDS {
        for label in [0, 1, 2, u64::MAX] {
            let derived = Seed::new(seed).for_stream(label).get();
            writeln!(found, "seed {seed} stream {label}: {derived:016x}").unwrap();
        }
        for key in [
            "",
            "a",
            "b",
            "west",
            "0123456789abcdef",
            "0123456789abcdef0",
            "Z\u{fc}rich, R\u{e4}mistrasse 101",
        ] {
            let derived = Seed::new(seed).for_key(key.as_bytes()).get();
            writeln!(found, "seed {seed} key {key:?}: {derived:016x}").unwrap();
        }
    }
    assert_golden!("seeds.txt", found);
}

/// The real-valued functions that the draws use, to the last bit.
#[test]
fn functions() {
    let mut found = String::new();
    let mut add = |name: &str, function: fn(f64) -> f64, argument: fn(u64) -> f64| {
        let bits: Vec<_> = (0..200_000).map(|n| function(argument(n)).to_bits()).collect();
        let some = [bits[1], bits[77_777], bits[199_999]];
        writeln!(found, "{name}: {:016x} {some:016x?}", digest(&bits)).unwrap();
    };
    // 53 bits each, distributed evenly by a multiplicative sequence.
    let unit = |n: u64| ((n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 12) as f64 + 0.5) / (1_u64 << 52) as f64;
    let steep = |n: u64| -45.0 * (n as f64 + 0.5) / 200_000.0;
    let shallow = |n: u64| {
        let x = (n as f64 + 0.5) / 200_000.0;
        -(x * x * x * x * x * x * x)
    };
    add("ln of units", libm::log, unit);
    add("exp of -45 to 0", libm::exp, steep);
    add("exp of -1 to 0, crowded at 0", libm::exp, shallow);
    add("ln(1 + x) of -1 to 0", libm::log1p, |n| -((n as f64 + 0.5) / 200_000.0));
    add("ln(1 + x) of -1 to 0, crowded at 0", libm::log1p, shallow);
    add("exp(x) - 1 of -45 to 0", libm::expm1, steep);
    add("exp(x) - 1 of -1 to 0, crowded at 0", libm::expm1, shallow);
    assert_golden!("functions.txt", found);
}

/// R33: the selection of a reservoir.
#[test]
fn reservoirs() {
    let mut found = String::new();
    for seed in SEEDS {
        for capacity in [1, 3, 10, 1_000] {
            for total in [1, 5, 100, 10_000, 1_000_000_007, 1 << 40, 1 << 53, u64::MAX] {
                let indices = winners(Seed::new(seed), sized(capacity), total);
                writeln!(found, "seed {seed} capacity {capacity} total {total}: {}", list(&indices)).unwrap();
            }
        }
    }
    assert_golden!("reservoirs.txt", found);
}

fn part(capacity: usize, seed: Seed, range: Range<u64>) -> Reservoir<()> {
    let mut reservoir = Reservoir::new(sized(capacity), seed);
    range.for_each(|_| {
        reservoir.offer_with(|| ());
    });
    reservoir
}

fn indices(reservoir: Reservoir<()>) -> Vec<u64> {
    reservoir.into_sample().indices().collect()
}

/// R34: the selection of merged reservoirs, also after they continue.
#[test]
fn merges() {
    let mut found = String::new();
    let cuts: [&[u64]; 6] = [&[3, 4], &[50, 50], &[0, 70, 30], &[1, 9_999], &[400, 5_000, 7, 600], &[10; 20]];
    for seed in SEEDS {
        for (capacity, later) in [(1, 1), (5, 5), (20, 20), (100, 100), (8, 5), (5, 8)] {
            for lengths in cuts {
                let parts = lengths.iter().zip(0..).map(|(length, number)| {
                    let capacity = if number == 0 { capacity } else { later };
                    part(capacity, Seed::new(seed).for_stream(number), 0..*length)
                });
                let mut merged = parts.reduce(Reservoir::merge).unwrap();
                let before = list(&indices(merged.clone()));
                (0..1_000).for_each(|_| {
                    merged.offer_with(|| ());
                });
                writeln!(found, "seed {seed} capacities {capacity} {later} lengths {lengths:?}: {before}")
                    .unwrap();
                writeln!(found, "  and 1000 more: {}", list(&indices(merged))).unwrap();
            }
        }
    }
    assert_golden!("merges.txt", found);
}

/// Candidates in four strata of different sizes.
fn strata(size: usize, seed: Seed, range: Range<u64>) -> Strata<&'static str, ()> {
    let mut strata = Strata::new(sized(size), seed);
    for n in range {
        let key = match n * n % 31 {
            0..=1 => "rare",
            2..=5 => "some",
            6..=12 => "many",
            _ => "most",
        };
        strata.offer_with(key.as_bytes(), || key, || ()).unwrap();
    }
    strata
}

/// R33: the selection from strata, in one run and merged.
#[test]
fn stratified() {
    let mut found = String::new();
    for seed in SEEDS {
        for (size, total) in [(1, 10), (7, 7), (10, 100), (30, 1_000), (100, 3_000)] {
            for cut in [0, total / 3] {
                let parts = [0..cut, cut..total];
                let mut parts = parts.into_iter().zip(0..).map(|(range, number)| {
                    let seed = if cut == 0 { Seed::new(seed) } else { Seed::new(seed).for_stream(number) };
                    strata(size, seed, range)
                });
                let (first, later) = (parts.next().unwrap(), parts.next().unwrap());
                let stratified = first.merge(later).unwrap().into_sample();
                let indices: Vec<_> = stratified.sample.indices().collect();
                writeln!(found, "seed {seed} size {size} total {total} cut {cut}: {}", list(&indices))
                    .unwrap();
                for stratum in stratified.strata {
                    writeln!(found, "  {}: {} of {}", stratum.label, stratum.sampled, stratum.total).unwrap();
                }
            }
        }
    }
    assert_golden!("strata.txt", found);
}

/// The indices of a systematic selection, which draws nothing.
#[test]
fn systematic() {
    let mut found = String::new();
    for size in [1, 3, 10, 1_000] {
        for total in [0, 1, 7, 100, 12_345, u64::MAX] {
            let indices: Vec<_> = systematic_indices(sized(size), total).collect();
            writeln!(found, "size {size} total {total}: {}", list(&indices)).unwrap();
        }
    }
    assert_golden!("systematic.txt", found);
}
