//! Partial states survive storage: a state that is stored and restored continues and merges as if
//! it had not been stored.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::num::{NonZeroU64, NonZeroUsize};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use trommel_sampler::{First, Last, Reservoir, Seed, Strata, Systematic};

const SIZE: NonZeroUsize = NonZeroUsize::new(7).unwrap();

fn stored<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

/// R34: a reservoir stored at any moment continues unchanged, bit for bit.
#[test]
fn stored_reservoirs_continue() {
    let mut never = Reservoir::new(SIZE, Seed::new(5));
    let mut always = never.clone();
    for index in 0..2_000 {
        always = stored(&always);
        assert_eq!(always.to_skip(), never.to_skip());
        assert_eq!(always.offer_with(|| index), never.offer_with(|| index));
    }
    let later = Reservoir::new(SIZE, Seed::new(6));
    let merge = |mut first: Reservoir<i32>| {
        let mut later = later.clone();
        (2_000..2_500).for_each(|index| {
            later.offer_with(|| index);
        });
        first = stored(&first.merge(stored(&later)));
        (2_500..9_000).for_each(|index| {
            first.offer_with(|| index);
        });
        first.into_sample()
    };
    assert_eq!(merge(always), merge(never));
}

#[test]
fn stored_strata_continue() {
    let mut never = Strata::new(SIZE, Seed::new(5));
    let mut always = never.clone();
    for index in 0..500_u32 {
        always = stored(&always);
        let key = (index * index % 11).to_string();
        let taken = never.offer_with(key.as_bytes(), || key.clone(), || index).unwrap();
        assert_eq!(always.offer_with(key.as_bytes(), || key.clone(), || index).unwrap(), taken);
    }
    let sample = never.into_sample();
    assert_eq!(always.into_sample(), sample);
    assert_eq!(stored(&sample), sample);
}

#[test]
fn stored_ends_and_systematic_continue() {
    let mut first = First::new(SIZE);
    let mut last = Last::with_total(SIZE, 30);
    let mut systematic = Systematic::with_stride(SIZE, NonZeroU64::new(3).unwrap()).starting_at(4);
    for index in 0..25 {
        assert_eq!(stored(&first), first);
        assert_eq!(stored(&last), last);
        assert_eq!(stored(&systematic), systematic);
        first.offer_with(|| index);
        last.offer_with(|| index);
        systematic.offer_with(|| index);
    }
}

/// Rejects states that no run can produce.
#[test]
fn rejects_impossible_states() {
    let mut reservoir = Reservoir::new(SIZE, Seed::new(5));
    (0..100).for_each(|index| {
        reservoir.offer_with(|| index);
    });
    let good = serde_json::to_value(&reservoir).unwrap();
    let refusal = |pointer: &str, value: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        serde_json::from_value::<Reservoir<i32>>(bad).unwrap_err().to_string()
    };
    assert!(refusal("/schedule/next", json!(99)).contains("already seen"));
    assert!(refusal("/schedule/seen", json!(6)).contains("more items than candidates"));
    assert!(refusal("/schedule/capacity", json!(6)).contains("more items than the reservoir"));
    assert!(refusal("/schedule/capacity", json!(0)).contains("nonzero"));
    for wrong in [f64::NAN, f64::INFINITY, 0.5] {
        assert!(refusal("/schedule/ln_largest_bits", json!(wrong.to_bits())).contains("logarithm"));
    }
}
