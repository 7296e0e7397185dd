//! Figures past their caps stay within their stated bounds and agree with an independent
//! implementation.

use datasketches::hll::{HllSketch, HllType};
use std::collections::BTreeMap;
use trommel_reader::{Scalar, Text};
use trommel_stats::{Accumulator as _, Distinct, Frequent, Quantiles, ScalarValue};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::Random;

fn distinct(values: impl IntoIterator<Item = u64>, cap: usize) -> Distinct {
    let mut distinct = Distinct::with_cap(cap);
    for value in values {
        distinct.observe(&Scalar::String(Text::plain(&format!("value {value}"))));
    }
    distinct
}

#[test]
fn distinct_is_exact_up_to_the_cap() {
    let at_cap = distinct((0..4096).chain(100..4000), 4096).summary();
    assert_eq!((at_cap.count, at_cap.approximate, at_cap.relative_error), (4096, false, None));
    let beyond = distinct(0..4097, 4096).summary();
    assert!(
        beyond.approximate && beyond.count > 4096 && beyond.relative_error.is_some_and(|error| error < 0.03)
    );
}

#[test]
fn distinct_agrees_with_an_independent_sketch() {
    for seed in 0..cases(6, 200) {
        let count = 10_000 << (seed % 5);
        let base = seed << 40;
        let found = distinct(base..base + count, 4096).summary();
        let mut other = HllSketch::new(14, HllType::Hll8).unwrap();
        (base..base + count).for_each(|value| other.update(value));
        let (found, other, count) = (found.count as f64, other.estimate(), count as f64);
        // Three standard errors of each sketch, where one is 0.8 % of the true number.
        assert!((found / count - 1.0).abs() < 0.0245, "{found} for {count}");
        assert!((found - other).abs() < 0.049 * count, "{found} and {other}");
    }
}

/// The estimate never exceeds the number of values, in one pass or merged.
#[test]
fn distinct_estimates_never_exceed_the_number_of_values() {
    let mut clamped = 0;
    for count in [4097, 8000, 8192, 36_119, 60_000, 100_000] {
        for seed in 0..cases(8, 100) {
            let base = seed << 40;
            let whole = distinct(base..base + count, 4096);
            let mut parts = distinct(base..base + count / 3, 4096);
            parts.merge(distinct(base + count / 3..base + count, 4096));
            let (found, merged) = (whole.summary(), parts.summary());
            assert_eq!(found, merged, "{count} values from {base}");
            assert!(found.approximate && found.count <= count, "{found:?} for {count}");
            let error = (found.count as f64 - count as f64).abs() / count as f64;
            assert!(found.relative_error.is_some_and(|bound| error <= bound), "{found:?} for {count}");
            clamped += u32::from(found.count == count);
        }
    }
    assert!(clamped > 10, "half of the estimates were above the count: {clamped}");
}

/// Strings too long to compare are not counted; strings too long to store are.
#[test]
fn long_strings() {
    let mut distinct = Distinct::default();
    let mut frequent = Frequent::default();
    for (at, length) in [(0, 256), (1, 257), (2, 257), (3, 4096), (4, 4097)] {
        let text = "x".repeat(length);
        let scalar = Scalar::String(Text::plain(&text));
        distinct.observe(&scalar);
        frequent.observe(&scalar, at);
    }
    assert_eq!(distinct.summary().count, 3);
    let found: Vec<_> =
        frequent.summary().values.into_iter().map(|value| (value.value, value.count)).collect();
    let kept = ScalarValue::String("x".repeat(256).into());
    assert_eq!(
        found,
        [(ScalarValue::Long { bytes: 257 }, 2), (kept, 1), (ScalarValue::Long { bytes: 4096 }, 1)]
    );
}

/// A few frequent values among ever new ones.
fn skewed(random: &mut Random, count: usize) -> Vec<String> {
    let value = |random: &mut Random| match random.below(100) {
        0..20 => "twenty".to_owned(),
        20..25 => "five".to_owned(),
        25..28 => "three".to_owned(),
        _ => random.bits().to_string(),
    };
    (0..count).map(|_| value(random)).collect()
}

#[test]
fn finds_frequent_values_within_the_bound() {
    for seed in 0..cases(20, 1000) {
        let random = &mut Random::new(seed);
        let values = skewed(random, 20_000);
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        let mut frequent = Frequent::default();
        for (at, value) in (0..).zip(&values) {
            *counts.entry(value).or_default() += 1;
            frequent.observe(&Scalar::String(Text::plain(value)), at * 17);
        }
        let found = frequent.summary();
        let error = found.error.unwrap();
        assert!(found.approximate && error <= 20_000 * 272 / 102_400 + 1, "{error}");
        let names: Vec<_> = found.values.iter().map(|value| format!("{:?}", value.value)).collect();
        assert_eq!(names, [r#"String("twenty")"#, r#"String("five")"#, r#"String("three")"#], "seed {seed}");
        for (value, name) in found.values.iter().zip(["twenty", "five", "three"]) {
            assert!(
                (counts[name]..=counts[name] + error).contains(&value.count),
                "{value:?} {}",
                counts[name]
            );
        }
    }
}

#[test]
fn quantiles_of_many_values() {
    for seed in 0..cases(10, 500) {
        let random = &mut Random::new(seed);
        let value =
            |random: &mut Random| (random.below(1 << 30) as f64 / 997.0).powi(seed as i32 % 3 + 1) - 1e6;
        let mut values: Vec<f64> = (0..30_000).map(|_| value(random)).collect();
        let mut quantiles = Quantiles::default();
        for value in &values {
            quantiles.observe(*value);
        }
        values.sort_by(f64::total_cmp);
        let error = quantiles.relative_error();
        assert!(error > 0.0 && error < 0.005, "{error}");
        for permille in 1..=1000 {
            let truth = values[30 * usize::from(permille) - 1];
            let off = (quantiles.at(permille).unwrap() - truth).abs();
            assert!(off <= error * truth.abs(), "{permille}: {off} of {truth}");
        }
    }
}
