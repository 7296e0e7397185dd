//! A reservoir draws what its schedule says, whoever offers and passes over; merged reservoirs keep their promises.
#![no_main]

use std::num::NonZeroUsize;

use libfuzzer_sys::fuzz_target;
use trommel_sampler::{Reservoir, Seed, winners};

fuzz_target!(|input: &[u8]| {
    let [size, seed, rest @ ..] = input else { return };
    let size = NonZeroUsize::new(usize::from(*size) % 40 + 1).unwrap();
    let seed = Seed::new(u64::from(*seed));
    let lengths: Vec<u64> = rest.iter().take(8).map(|&byte| u64::from(byte) * 3).collect();
    let total: u64 = lengths.iter().sum();

    let mut whole = Reservoir::new(size, seed);
    for &length in &lengths {
        offer(&mut whole, length);
    }
    let indices: Vec<u64> = whole.into_sample().items.iter().map(|item| item.index).collect();
    assert_eq!(indices, winners(seed, size, total));

    let mut merged: Option<Reservoir<u64>> = None;
    for (part, &length) in lengths.iter().enumerate() {
        let mut reservoir = Reservoir::new(size, seed.for_stream(part as u64));
        offer(&mut reservoir, length);
        merged = Some(match merged {
            Some(merged) => merged.merge(reservoir),
            None => reservoir,
        });
    }
    let Some(merged) = merged else { return };
    assert_eq!(merged.seen(), total);
    let sample = merged.into_sample();
    assert_eq!(sample.items.len() as u64, total.min(size.get() as u64));
    assert!(sample.items.windows(2).all(|pair| pair[0].index < pair[1].index));
    assert!(sample.items.iter().all(|item| item.index < total));
});

/// Offers `count` candidates, passing over those that lose now by one, now by all.
fn offer(reservoir: &mut Reservoir<u64>, count: u64) {
    let end = reservoir.seen() + count;
    while reservoir.seen() < end {
        let at = reservoir.seen();
        let skip = reservoir.to_skip().min(end - at);
        if skip == 0 {
            reservoir.offer_with(|| at);
        } else {
            reservoir.pass_over(if at % 2 == 0 { 1 } else { skip });
        }
    }
}
