//! Each selection draws the candidates that arithmetic predicts, in any mix of offered and skipped
//! candidates, and merged parts keep their guarantees.
#![no_main]

use std::num::{NonZeroU64, NonZeroUsize};

use libfuzzer_sys::fuzz_target;
use trommel_sampler::{
    First, Last, Reservoir, Sample, Seed, Strata, Systematic, allot, systematic_indices, winners,
    winners_within,
};

fuzz_target!(|input: &[u8]| {
    let [choice, size, seed, rest @ ..] = input else { return };
    let size = NonZeroUsize::new(usize::from(*size) % 40 + 1).unwrap();
    let seed = Seed::new(u64::from(*seed));
    let lengths: Vec<u64> = rest.iter().take(8).map(|&byte| u64::from(byte) * 3).collect();
    match choice % 4 {
        0 => reservoirs(size, seed, &lengths),
        1 => ends(size, &lengths),
        2 => systematic(size, u64::from(*choice / 4 % 8), &lengths),
        _ => strata(size, seed, rest),
    }
});

/// Checks a sample of candidates, each of which is its own index.
fn check(sample: &Sample<u64>, size: NonZeroUsize, total: u64) {
    assert_eq!(sample.seen, total);
    assert_eq!(sample.items.len() as u64, total.min(size.get() as u64));
    assert!(sample.items.is_sorted_by(|a, b| a.index < b.index));
    assert!(sample.items.iter().all(|item| item.index == item.value && item.index < total));
}

fn reservoirs(size: NonZeroUsize, seed: Seed, lengths: &[u64]) {
    let total = lengths.iter().sum();
    let mut whole = Reservoir::new(size, seed);
    let (mut parts, mut start) = (Vec::new(), 0);
    for (number, &length) in lengths.iter().enumerate() {
        offer(&mut whole, 0, length);
        let mut part = Reservoir::new(size, seed.for_stream(number as u64));
        offer(&mut part, start, length);
        parts.push(part);
        start += length;
    }
    let whole = whole.into_sample();
    check(&whole, size, total);
    assert_eq!(whole.indices().collect::<Vec<_>>(), winners(seed, size, total));
    for merged in both_ways(parts, Reservoir::merge) {
        check(&merged.into_sample(), size, total);
    }
}

/// Offers `count` candidates. Skips those that will not be selected, some one by one and some all
/// at once.
fn offer(reservoir: &mut Reservoir<u64>, start: u64, count: u64) {
    let end = reservoir.seen() + count;
    while reservoir.seen() < end {
        let at = reservoir.seen();
        let skip = reservoir.to_skip().min(end - at);
        if skip == 0 {
            reservoir.offer_with(|| start + at);
        } else {
            reservoir.skip(if at.is_multiple_of(2) { 1 } else { skip });
        }
    }
}

/// Returns all parts merged from the left, and all merged from the right.
fn both_ways<T: Clone>(parts: Vec<T>, merge: impl Fn(T, T) -> T) -> impl Iterator<Item = T> {
    let left = parts.clone().into_iter().reduce(&merge);
    let right = parts.into_iter().rev().reduce(|later, first| merge(first, later));
    left.into_iter().chain(right)
}

fn ends(size: NonZeroUsize, lengths: &[u64]) {
    let total: u64 = lengths.iter().sum();
    let (mut firsts, mut lasts, mut index) = (Vec::new(), Vec::new(), 0);
    for &length in lengths {
        let (mut first, mut last) = (First::new(size), Last::new(size));
        for _ in 0..length {
            first.offer_with(|| index);
            last.offer_with(|| index);
            index += 1;
        }
        firsts.push(first);
        lasts.push(last);
    }
    for first in both_ways(firsts, First::merge).map(First::into_sample) {
        check(&first, size, total);
        assert!(first.indices().eq(0..total.min(size.get() as u64)));
    }
    for last in both_ways(lasts, Last::merge).map(Last::into_sample) {
        check(&last, size, total);
        assert!(last.indices().eq(total.saturating_sub(size.get() as u64)..total));
    }
}

fn systematic(size: NonZeroUsize, stride: u64, lengths: &[u64]) {
    let total: u64 = lengths.iter().sum();
    let (whole, expected): (_, Vec<u64>) = match NonZeroU64::new(stride) {
        Some(step) => (
            Systematic::with_stride(size, step),
            (0..total).step_by(stride as usize).take(size.get()).collect(),
        ),
        None => (Systematic::with_total(size, total), systematic_indices(size, total).collect()),
    };
    let (mut parts, mut start) = (Vec::new(), 0);
    for &length in lengths {
        let mut part = whole.clone().starting_at(start);
        while part.seen() < length {
            let index = start + part.seen();
            part.offer_with(|| index);
        }
        start += length;
        parts.push(part);
    }
    let merged = parts.into_iter().reduce(|first, later| first.merge(later).unwrap());
    if let Some(sample) = merged.map(Systematic::into_sample) {
        assert_eq!(sample.seen, total);
        assert_eq!(sample.indices().collect::<Vec<_>>(), expected);
    }
}

fn strata(size: NonZeroUsize, seed: Seed, keys: &[u8]) {
    let stratify = |seed: Seed, start: usize, keys: &[u8]| {
        let mut strata = Strata::new(size, seed);
        for (index, key) in (start as u64..).zip(keys) {
            strata.offer_with(&[*key], || *key, || index).unwrap();
        }
        strata
    };
    let whole = stratify(seed, 0, keys).into_sample();
    check(&whole.sample, size, keys.len() as u64);
    let totals: Vec<u64> = whole.strata.iter().map(|stratum| stratum.total).collect();
    let mut expected = Vec::new();
    for (stratum, quota) in whole.strata.iter().zip(allot(size, &totals)) {
        let of_key = keys.iter().zip(0..).filter(|(key, _)| **key == stratum.label);
        let places: Vec<u64> = of_key.map(|(_, at)| at).collect();
        assert_eq!((stratum.total, stratum.sampled), (places.len() as u64, quota));
        let chosen = winners_within(seed.for_key(&[stratum.label]), size, stratum.total, quota);
        expected.extend(chosen.into_iter().map(|ordinal| places[ordinal as usize]));
    }
    expected.sort_unstable();
    assert_eq!(whole.sample.indices().collect::<Vec<_>>(), expected);
    let cut = keys.len() / 3;
    let parts = vec![
        stratify(seed.for_stream(0), 0, &keys[..cut]),
        stratify(seed.for_stream(1), cut, &keys[cut..2 * cut]),
        stratify(seed.for_stream(2), 2 * cut, &keys[2 * cut..]),
    ];
    for merged in both_ways(parts, |first, later| first.merge(later).unwrap()) {
        let merged = merged.into_sample();
        check(&merged.sample, size, keys.len() as u64);
        assert_eq!(merged.strata, whole.strata);
    }
}
