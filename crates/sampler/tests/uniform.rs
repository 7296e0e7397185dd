//! R33: sampling is uniform. Each test makes 10⁵ selections with seeds 0, 1, 2, … and checks by a
//! chi-square test that they are uniform. All seeds are fixed, so the outcome is reproducible.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;

use trommel_sampler::{Reservoir, Seed, Strata, winners};

const RUNS: u64 = 100_000;

fn sized(size: usize) -> NonZeroUsize {
    NonZeroUsize::new(size).unwrap()
}

/// The probability that a chi-square variable with `freedom` degrees of freedom is at least
/// `statistic`: the upper regularized incomplete gamma function, by its power series or Lentz's
/// continued fraction.
fn tail(statistic: f64, freedom: f64) -> f64 {
    let (shape, x) = (freedom / 2.0, statistic / 2.0);
    let scale = (shape * x.ln() - x - libm::lgamma(shape)).exp();
    if x < shape + 1.0 {
        let terms = (1..1_000).scan(1.0 / shape, |term, n| {
            *term *= x / (shape + f64::from(n));
            Some(*term)
        });
        return 1.0 - (1.0 / shape + terms.sum::<f64>()) * scale;
    }
    let mut denominator = x + 1.0 - shape;
    let (mut upper, mut lower) = (f64::MAX, 1.0 / denominator);
    let mut fraction = lower;
    for n in (1..1_000).map(f64::from) {
        let numerator = n * (shape - n);
        denominator += 2.0;
        lower = 1.0 / (numerator * lower + denominator);
        upper = denominator + numerator / upper;
        fraction *= upper * lower;
    }
    fraction * scale
}

#[test]
fn the_tail_agrees_with_printed_tables() {
    for (x, freedom, expected) in
        [(3.841, 1.0, 0.05), (18.307, 10.0, 0.05), (49.728, 23.0, 0.001), (90.531, 70.0, 0.05)]
    {
        assert!((tail(x, freedom) - expected).abs() < 2e-3 * expected, "{x} {freedom} {}", tail(x, freedom));
    }
}

fn assert_uniform(statistic: f64, freedom: usize, what: &str) {
    let p = tail(statistic, freedom as f64);
    assert!(p > 0.001, "{what}: chi-square {statistic:.1} with {freedom} degrees of freedom, p = {p:.6}");
    // Counts that are more even than chance allows are just as suspicious.
    assert!(p < 0.9999, "{what}: too even, p = {p}");
}

/// Pearson's test of counts that should be equal.
fn assert_equal_cells(counts: &[u64], what: &str) {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    let statistic = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    assert_uniform(statistic, counts.len() - 1, what);
}

/// The number of subsets of `k` out of `n`.
fn subsets(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |product, i| product * (n - i) / (i + 1))
}

/// Checks that each subset of `k` indices below `n` occurs equally often, which is stricter than
/// checking each index.
fn assert_subsets(n: u64, k: u64, what: &str, select: impl Fn(u64) -> Vec<u64>) {
    let mut counts = BTreeMap::<Vec<u64>, u64>::new();
    for run in 0..RUNS {
        let subset = select(run);
        assert!(subset.is_sorted_by(|a, b| a < b) && subset.iter().all(|&index| index < n));
        assert_eq!(subset.len() as u64, k);
        *counts.entry(subset).or_default() += 1;
    }
    let counts: Vec<_> = counts.into_values().collect();
    assert_eq!(counts.len() as u64, subsets(n, k), "{what}: a subset never came up");
    assert_equal_cells(&counts, what);
}

/// Checks that each index below `n` is selected equally often. The indices of one run exclude each
/// other; the factor corrects for that.
fn assert_inclusion(n: u64, k: u64, what: &str, select: impl Fn(u64) -> Vec<u64>) {
    let mut counts = vec![0_u64; n as usize];
    for run in 0..RUNS {
        for index in select(run) {
            counts[index as usize] += 1;
        }
    }
    assert_eq!(counts.iter().sum::<u64>(), RUNS * k);
    let expected = (RUNS * k) as f64 / n as f64;
    let pearson: f64 = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    assert_uniform(pearson * (n - 1) as f64 / (n - k) as f64, n as usize - 1, what);
}

/// Offers these candidates, each of which is its own index, and skips where possible.
fn feed(reservoir: &mut Reservoir<u64>, indices: Range<u64>) {
    let mut index = indices.start;
    while index + reservoir.to_skip() < indices.end {
        index += reservoir.to_skip();
        reservoir.skip(reservoir.to_skip());
        assert!(reservoir.offer_with(|| index));
        index += 1;
    }
    reservoir.skip(indices.end - index);
}

fn part(capacity: usize, seed: Seed, indices: Range<u64>) -> Reservoir<u64> {
    let mut reservoir = Reservoir::new(sized(capacity), seed);
    feed(&mut reservoir, indices);
    reservoir
}

fn indices(reservoir: Reservoir<u64>) -> Vec<u64> {
    let sample = reservoir.into_sample();
    assert!(sample.items.iter().all(|item| item.index == item.value), "an index went astray");
    sample.indices().collect()
}

/// One reservoir for each length, merged from the left.
fn merged(capacity: usize, run: u64, lengths: &[u64]) -> Reservoir<u64> {
    let mut start = 0;
    let parts = lengths.iter().enumerate().map(|(number, length)| {
        let reservoir = part(capacity, Seed::new(run).for_stream(number as u64), start..start + length);
        start += length;
        reservoir
    });
    parts.reduce(Reservoir::merge).unwrap()
}

/// R33: every subset is equally likely, for several capacities.
#[test]
fn random_subsets() {
    for (n, k) in [(2, 1), (7, 3), (9, 1), (8, 7), (6, 3)] {
        assert_subsets(n, k, &format!("{k} of {n}"), |run| winners(Seed::new(run), sized(k as usize), n));
    }
}

/// R33: every index is equally likely where most candidates are skipped.
#[test]
fn random_inclusion() {
    assert_inclusion(200, 10, "10 of 200", |run| winners(Seed::new(run), sized(10), 200));
}

/// R33: derived seeds are as good as consecutive ones.
#[test]
fn derived_seeds() {
    assert_subsets(7, 3, "streams of a seed", |run| winners(Seed::new(7).for_stream(run), sized(3), 7));
    assert_subsets(7, 3, "keys of a seed", |run| {
        winners(Seed::new(7).for_key(&run.to_be_bytes()), sized(3), 7)
    });
}

/// R33: uniform over totals far too large to offer one by one.
#[test]
fn huge_totals() {
    for total in [1_000_000_007_u64, 1 << 40, 1 << 53] {
        let mut counts = vec![0; 50];
        for run in 0..RUNS / 10 {
            for index in winners(Seed::new(run), sized(5), total) {
                counts[(u128::from(index) * 50 / u128::from(total)) as usize] += 1;
            }
        }
        assert_equal_cells(&counts, &format!("5 of {total}"));
    }
}

/// R33: a merge is uniform for any split of the stream.
#[test]
fn merged_subsets() {
    let splits: [&[u64]; 7] =
        [&[3, 4], &[1, 6], &[5, 2], &[6, 1], &[2, 3, 2], &[1, 1, 1, 1, 1, 1, 1], &[4, 0, 3]];
    for lengths in splits {
        assert_subsets(7, 3, &format!("merge of {lengths:?}"), |run| indices(merged(3, run, lengths)));
    }
}

/// R33: large parts merge uniformly.
#[test]
fn merged_inclusion() {
    assert_inclusion(200, 10, "merge of 37, 150, 13", |run| indices(merged(10, run, &[37, 150, 13])));
}

/// R33: parts may also be merged from the right.
#[test]
fn merged_from_the_right() {
    assert_subsets(7, 3, "merge from the right", |run| {
        let seed = Seed::new(run);
        let last = part(3, seed.for_stream(1), 2..5).merge(part(3, seed.for_stream(2), 5..7));
        indices(part(3, seed.for_stream(0), 0..2).merge(last))
    });
}

/// R33: a merged reservoir continues uniformly, full or not, and merges again.
#[test]
fn merged_and_continued() {
    for lengths in [[2, 3], [1, 1], [1, 2], [3, 1], [0, 4]] {
        assert_subsets(8, 3, &format!("merge of {lengths:?} continued"), |run| {
            let mut reservoir = merged(3, run, &lengths);
            let merged = reservoir.seen();
            feed(&mut reservoir, merged..8);
            indices(reservoir)
        });
    }
    assert_subsets(8, 3, "merged, continued, merged", |run| {
        let mut reservoir = merged(3, run, &[2, 3]);
        feed(&mut reservoir, 5..6);
        indices(reservoir.merge(part(3, Seed::new(run).for_stream(9), 6..8)))
    });
    assert_inclusion(200, 10, "merge of 60, 70 continued", |run| {
        let mut reservoir = merged(10, run, &[60, 70]);
        feed(&mut reservoir, 130..200);
        indices(reservoir)
    });
}

/// R33: if the capacities differ, the smaller one applies, and the result is uniform.
#[test]
fn merged_capacities() {
    for (first, later) in [(5, 2), (2, 5)] {
        assert_subsets(7, 2, &format!("capacities {first} and {later}"), |run| {
            let seed = Seed::new(run);
            indices(part(first, seed.for_stream(0), 0..4).merge(part(later, seed.for_stream(1), 4..7)))
        });
    }
}

/// Selects from the candidates `range` of a stream in which every third one belongs to stratum "a"
/// and the others to "b".
fn strata(size: usize, seed: Seed, range: Range<u64>) -> Strata<(), u64> {
    let mut strata = Strata::new(sized(size), seed);
    for index in range {
        let key: &[u8] = if index % 3 == 0 { b"a" } else { b"b" };
        strata.offer_with(key, || (), || index).unwrap();
    }
    strata
}

/// R33: within and across strata, every combination of subsets is equally likely, also after a
/// merge.
#[test]
fn stratified_subsets() {
    // Of 4 + 8 candidates the sample has 1 + 3.
    let splits: [&[u64]; 4] = [&[12], &[5, 7], &[1, 11], &[4, 4, 4]];
    for lengths in splits {
        let mut counts = BTreeMap::<Vec<u64>, u64>::new();
        for run in 0..RUNS {
            let mut start = 0;
            let parts = lengths.iter().enumerate().map(|(number, length)| {
                let range = start..start + length;
                start += length;
                strata(4, Seed::new(run).for_stream(number as u64), range)
            });
            let stratified = parts.reduce(|first, later| first.merge(later).unwrap()).unwrap().into_sample();
            assert_eq!(stratified.strata.iter().map(|s| s.sampled).collect::<Vec<_>>(), [1, 3]);
            *counts.entry(stratified.sample.indices().collect()).or_default() += 1;
        }
        let counts: Vec<_> = counts.into_values().collect();
        assert_eq!(counts.len() as u64, subsets(4, 1) * subsets(8, 3));
        assert_equal_cells(&counts, &format!("strata of {lengths:?}"));
    }
}
