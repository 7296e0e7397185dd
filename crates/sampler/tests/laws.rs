//! Laws that hold for any split of a stream (R34), and the agreement of all ways to select (R33).

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::num::{NonZeroU64, NonZeroUsize};

use proptest::collection::vec;
use proptest::prelude::*;
use trommel_sampler::{
    Error, First, Last, Reservoir, Sample, Seed, Strata, Systematic, allot, systematic_indices, winners,
    winners_within,
};

fn sized(size: usize) -> NonZeroUsize {
    NonZeroUsize::new(size).unwrap()
}

/// A reservoir over the candidates of a part. Each value is the index in the whole stream.
fn part(capacity: usize, seed: Seed, start: u64, length: u64) -> Reservoir<u64> {
    let mut reservoir = Reservoir::new(sized(capacity), seed);
    for index in start..start + length {
        reservoir.offer_with(|| index);
    }
    reservoir
}

/// A part for each length, each with its own seed.
fn parts(capacity: usize, seed: u64, lengths: &[u64]) -> Vec<Reservoir<u64>> {
    let seeds = (0..).map(|number| Seed::new(seed).for_stream(number));
    let mut start = 0;
    let mut cut = |(&length, seed)| {
        start += length;
        part(capacity, seed, start - length, length)
    };
    lengths.iter().zip(seeds).map(&mut cut).collect()
}

fn from_left(parts: Vec<Reservoir<u64>>) -> Reservoir<u64> {
    parts.into_iter().reduce(Reservoir::merge).unwrap()
}

fn from_right(parts: Vec<Reservoir<u64>>) -> Reservoir<u64> {
    parts.into_iter().rev().reduce(|later, first| first.merge(later)).unwrap()
}

/// Checks a sample whose values are their own indices.
fn check(sample: &Sample<u64>, size: u64, seen: u64) -> Result<(), TestCaseError> {
    prop_assert_eq!(sample.seen, seen);
    prop_assert_eq!(sample.items.len() as u64, size.min(seen));
    prop_assert!(sample.items.is_sorted_by(|a, b| a.index < b.index));
    prop_assert!(sample.items.iter().all(|item| item.index == item.value && item.index < seen));
    Ok(())
}

/// Splits the stream of keys at the given positions.
fn cut<'a>(keys: &'a [u8], cuts: &[usize]) -> Vec<(u64, &'a [u8])> {
    let mut places: Vec<_> = cuts.iter().map(|cut| cut % (keys.len() + 1)).chain([0, keys.len()]).collect();
    places.sort_unstable();
    places.windows(2).map(|ends| (ends[0] as u64, &keys[ends[0]..ends[1]])).collect()
}

fn stratify(size: usize, seed: Seed, start: u64, keys: &[u8]) -> Strata<u8, u64> {
    let mut strata = Strata::new(sized(size), seed);
    for (index, key) in (start..).zip(keys) {
        strata.offer_with(&[*key], || *key, || index).unwrap();
    }
    strata
}

/// The keys in the order of first appearance, each with its total.
fn tally(keys: &[u8]) -> Vec<(u8, u64)> {
    let mut tally: Vec<(u8, u64)> = Vec::new();
    for key in keys {
        match tally.iter_mut().find(|(known, _)| known == key) {
            Some((_, total)) => *total += 1,
            None => tally.push((*key, 1)),
        }
    }
    tally
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// R33: a stream gives the computed result, for any steps of offering and skipping.
    #[test]
    fn streaming_equals_winners(
        seed: u64, capacity in 1_usize..40, total in 0_u64..3_000, steps in vec(1_u64..60, 1..20),
    ) {
        let mut reservoir = Reservoir::new(sized(capacity), Seed::new(seed));
        let mut steps = steps.into_iter().cycle();
        while reservoir.seen() < total {
            let step = steps.next().unwrap().min(total - reservoir.seen());
            if step % 2 == 0 && !reservoir.wants_next() {
                reservoir.skip(step.min(reservoir.to_skip()));
            } else {
                for _ in 0..step {
                    let (index, wanted) = (reservoir.seen(), reservoir.wants_next());
                    prop_assert_eq!(reservoir.offer_with(|| index), wanted);
                }
            }
        }
        let sample = reservoir.into_sample();
        check(&sample, capacity as u64, total)?;
        prop_assert_eq!(sample.indices().collect::<Vec<_>>(), winners(Seed::new(seed), sized(capacity), total));
    }

    /// R34: `seen` is additive in every order of merging, indices move, and the result is
    /// reproducible. If everything fits, nothing is lost.
    #[test]
    fn reservoirs_merge(seed: u64, capacity in 1_usize..40, lengths in vec(0_u64..60, 1..8)) {
        let parts = parts(capacity, seed, &lengths);
        let total = lengths.iter().sum();
        let left = from_left(parts.clone()).into_sample();
        let right = from_right(parts.clone()).into_sample();
        check(&left, capacity as u64, total)?;
        check(&right, capacity as u64, total)?;
        prop_assert_eq!(&left, &from_left(parts).into_sample());
        if total <= capacity as u64 {
            prop_assert_eq!(left, right);
        }
    }

    /// R34: merging with an empty reservoir changes neither the sample nor later draws.
    #[test]
    fn empty_reservoirs_are_neutral(seed: u64, capacity in 1_usize..20, length in 0_u64..100, more in 0_u64..100) {
        let empty = Reservoir::new(sized(capacity), Seed::new(seed).for_stream(1));
        let alone = part(capacity, Seed::new(seed), 0, length);
        let merged = [alone.clone().merge(empty.clone()), empty.merge(alone.clone())];
        // After two empty reservoirs the seeds may differ, but neither has taken anything.
        prop_assume!(length > 0);
        for mut merged in merged {
            let mut alone = alone.clone();
            for index in length..length + more {
                prop_assert_eq!(merged.offer_with(|| index), alone.offer_with(|| index));
            }
            prop_assert_eq!(merged.into_sample(), alone.into_sample());
        }
    }

    /// R34: if the capacities differ, the smaller one applies.
    #[test]
    fn reservoirs_of_different_capacities_merge(
        seed: u64, first in 1_usize..30, later in 1_usize..30, lengths in (0_u64..60, 0_u64..60),
    ) {
        let a = part(first, Seed::new(seed).for_stream(0), 0, lengths.0);
        let b = part(later, Seed::new(seed).for_stream(1), lengths.0, lengths.1);
        let merged = a.merge(b);
        prop_assert_eq!(merged.capacity().get(), first.min(later));
        check(&merged.into_sample(), first.min(later) as u64, lengths.0 + lengths.1)?;
    }

    /// R34: the ends of parts, merged in any order, are the ends of the whole.
    #[test]
    fn ends_merge(size in 1_usize..30, lengths in vec(0_u64..60, 1..8), counted: bool) {
        let (mut firsts, mut lasts, mut index) = (Vec::new(), Vec::new(), 0);
        for &length in &lengths {
            let mut first = First::new(sized(size));
            let mut last = if counted { Last::with_total(sized(size), length) } else { Last::new(sized(size)) };
            for _ in 0..length {
                let wanted = (first.wants_next(), last.wants_next());
                prop_assert_eq!((first.offer_with(|| index), last.offer_with(|| index)), wanted);
                index += 1;
            }
            if counted {
                prop_assert!(last.clone().into_sample().items.len() <= size);
            }
            firsts.push(first);
            lasts.push(last);
        }
        let total: u64 = lengths.iter().sum();
        let first = firsts.clone().into_iter().reduce(First::merge).unwrap();
        let last = lasts.clone().into_iter().reduce(Last::merge).unwrap();
        prop_assert_eq!(&first, &firsts.into_iter().rev().reduce(|b, a| a.merge(b)).unwrap());
        prop_assert_eq!(&last, &lasts.into_iter().rev().reduce(|b, a| a.merge(b)).unwrap());
        let (first, last) = (first.into_sample(), last.into_sample());
        check(&first, size as u64, total)?;
        check(&last, size as u64, total)?;
        prop_assert!(first.indices().eq(0..total.min(size as u64)));
        prop_assert!(last.indices().eq(total.saturating_sub(size as u64)..total));
    }

    /// R34: systematic parts merge to the whole, whose indices are those of the formula.
    #[test]
    fn systematic_parts_merge(
        size in 1_usize..30, stride in 0_u64..9, lengths in vec(0_u64..60, 1..8), skip: bool,
    ) {
        let total: u64 = lengths.iter().sum();
        let whole = match NonZeroU64::new(stride) {
            Some(stride) => Systematic::with_stride(sized(size), stride),
            None => Systematic::with_total(sized(size), total),
        };
        let (mut parts, mut start) = (Vec::new(), 0);
        for &length in &lengths {
            let mut part = whole.clone().starting_at(start);
            while part.seen() < length {
                if skip {
                    part.skip(part.to_skip().min(length - part.seen()));
                }
                if part.seen() < length {
                    let (index, wanted) = (start + part.seen(), part.wants_next());
                    prop_assert_eq!(part.offer_with(|| index), wanted);
                    prop_assert!(wanted || !skip);
                }
            }
            start += length;
            parts.push(part);
        }
        let sample = parts.into_iter().reduce(|a, b| a.merge(b).unwrap()).unwrap().into_sample();
        prop_assert_eq!(sample.seen, total);
        prop_assert!(sample.items.iter().all(|item| item.index == item.value));
        let expected: Vec<_> = match stride {
            0 => systematic_indices(sized(size), total).collect(),
            _ => (0..total).step_by(stride as usize).take(size).collect(),
        };
        prop_assert_eq!(sample.indices().collect::<Vec<_>>(), expected);
    }

    /// The formula gives `size` indices, ascending and as even as integers allow.
    #[test]
    fn systematic_indices_are_even(size in 1_usize..1_000, total: u64) {
        let indices: Vec<_> = systematic_indices(sized(size), total).collect();
        prop_assert_eq!(indices.len() as u64, total.min(size as u64));
        prop_assert!(indices.iter().all(|&index| index < total));
        let gaps = indices.windows(2).map(|pair| pair[1] - pair[0]);
        prop_assert!(gaps.clone().all(|gap| gap > 0));
        prop_assert!(gaps.clone().max().unwrap_or(1) - gaps.min().unwrap_or(1) <= 1);
    }

    /// The quotas equal a naive largest-remainder method.
    #[test]
    fn quotas_are_by_largest_remainder(size in 1_usize..200, totals in vec(0_u64..60, 0..20)) {
        let quotas = allot(sized(size), &totals);
        let sum: u64 = totals.iter().sum();
        prop_assert_eq!(quotas.iter().sum::<u64>(), sum.min(size as u64));
        if sum <= size as u64 {
            prop_assert_eq!(quotas, totals);
            return Ok(());
        }
        let remainder = |stratum: usize| size as u64 * totals[stratum] % sum;
        for stratum in 0..totals.len() {
            let ahead = (0..totals.len()).filter(|&other| {
                remainder(other) > remainder(stratum) || remainder(other) == remainder(stratum) && other < stratum
            });
            let left = (0..totals.len()).map(remainder).sum::<u64>() / sum;
            let extra = u64::from((ahead.count() as u64) < left);
            prop_assert_eq!(quotas[stratum], size as u64 * totals[stratum] / sum + extra);
        }
    }

    /// R33: strata give the computed result, in order of first appearance.
    #[test]
    fn strata_equal_winners(seed: u64, size in 1_usize..40, keys in vec(0_u8..6, 0..300)) {
        let stratified = stratify(size, Seed::new(seed), 0, &keys).into_sample();
        check(&stratified.sample, size as u64, keys.len() as u64)?;
        let tally = tally(&keys);
        let totals: Vec<_> = tally.iter().map(|&(_, total)| total).collect();
        let mut expected = Vec::new();
        for (((key, total), quota), stratum) in tally.iter().zip(allot(sized(size), &totals)).zip(&stratified.strata) {
            prop_assert_eq!((&stratum.label, &stratum.total, stratum.sampled), (key, total, quota));
            let places: Vec<_> = (0_u64..).zip(&keys).filter(|(_, other)| *other == key).collect();
            let chosen = winners_within(Seed::new(seed).for_key(&[*key]), sized(size), *total, quota);
            expected.extend(chosen.into_iter().map(|ordinal| places[ordinal as usize].0));
        }
        expected.sort_unstable();
        prop_assert_eq!(stratified.sample.indices().collect::<Vec<_>>(), expected);
    }

    /// R34: merged strata have the totals, quotas, and order of the whole.
    #[test]
    fn strata_merge(
        seed: u64, size in 1_usize..40, keys in vec(0_u8..6, 0..300), cuts in vec(any::<usize>(), 0..5),
    ) {
        let whole = stratify(size, Seed::new(seed), 0, &keys).into_sample();
        let parts: Vec<_> = (0..).zip(cut(&keys, &cuts))
            .map(|(number, (start, keys))| stratify(size, Seed::new(seed).for_stream(number), start, keys))
            .collect();
        let left = parts.clone().into_iter().reduce(|a, b| a.merge(b).unwrap()).unwrap().into_sample();
        let right = parts.into_iter().rev().reduce(|b, a| a.merge(b).unwrap()).unwrap().into_sample();
        for merged in [left, right] {
            check(&merged.sample, size as u64, keys.len() as u64)?;
            prop_assert_eq!(&merged.strata, &whole.strata);
            for stratum in &merged.strata {
                let of_stratum = merged.sample.indices().filter(|&index| keys[index as usize] == stratum.label);
                prop_assert_eq!(of_stratum.count() as u64, stratum.sampled);
            }
        }
    }
}

/// A sample that is large enough contains every candidate.
#[test]
fn large_samples_contain_everything() {
    for total in [0, 1, 9, 10] {
        let all: Vec<u64> = (0..total).collect();
        let size = sized(10);
        assert_eq!(winners(Seed::new(1), size, total), all);
        assert_eq!(systematic_indices(size, total).collect::<Vec<_>>(), all);
        let keys: Vec<_> = (0..total as u8).map(|n| n % 3).collect();
        assert_eq!(
            stratify(10, Seed::new(1), 0, &keys).into_sample().sample.indices().collect::<Vec<_>>(),
            all
        );
    }
}

/// Parts that do not belong together are rejected with the reason.
#[test]
fn rejects_mismatched_systematic_parts() {
    let whole = Systematic::<()>::with_total(sized(3), 10);
    let gap = whole.clone().merge(whole.clone().starting_at(1)).unwrap_err();
    assert_eq!(gap, Error::NotAdjacent { expected: 0, found: 1 });
    assert_eq!(gap.to_string(), "systematic part begins at 1, the one before it ends at 0");
    let other = Systematic::with_stride(sized(3), NonZeroU64::MIN);
    assert_eq!(whole.merge(other).unwrap_err(), Error::DifferentRules);
}

/// Partial states can be sent to other threads and cloned.
#[test]
fn everything_is_send_and_clone() {
    fn is<T: Send + Sync + Clone + std::fmt::Debug>() {}
    is::<Seed>();
    is::<Reservoir<String>>();
    is::<First<String>>();
    is::<Last<String>>();
    is::<Systematic<String>>();
    is::<Strata<String, String>>();
    is::<Sample<String>>();
    is::<Error>();
}
