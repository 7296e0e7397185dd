//! Finds the last number of a sequence without gaps by probing.

use trommel_blocks::Result;

use super::engine::MAX_CONCURRENT;

/// Returns the last existing number, given one that exists. It first probes numbers at growing
/// distances until one is missing, then narrows the interval between the last that exists and the
/// first that is missing.
pub(super) fn find_last(mut present: u64, mut probe: impl FnMut(&[u64]) -> Result<Vec<bool>>) -> Result<u64> {
    let mut step = 1_u64;
    let mut missing = loop {
        let mut numbers = Vec::new();
        for _ in 0..MAX_CONCURRENT {
            numbers.push(present.saturating_add(step));
            step = step.saturating_mul(2);
        }
        if let Some(missing) = first_missing(&mut present, &numbers, &mut probe)? {
            break missing;
        }
        if present == u64::MAX {
            return Ok(present);
        }
    };
    while missing - present > 1 {
        let parts = (missing - present).min(MAX_CONCURRENT as u64 + 1);
        let numbers = (1..parts).map(|part| present + (missing - present) / parts * part).collect::<Vec<_>>();
        missing = first_missing(&mut present, &numbers, &mut probe)?.unwrap_or(missing);
    }
    Ok(present)
}

/// Returns the first missing number of a rising batch, and moves `present` to the last existing
/// number before it.
fn first_missing(
    present: &mut u64,
    numbers: &[u64],
    probe: &mut impl FnMut(&[u64]) -> Result<Vec<bool>>,
) -> Result<Option<u64>> {
    for (number, exists) in numbers.iter().zip(probe(numbers)?) {
        if !exists {
            return Ok(Some(*number));
        }
        *present = *number;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_rounds_find_the_last_number() {
        for last in (1..700).chain([20_000, 1_000_000, u64::from(u32::MAX)]) {
            for present in [1, last / 2, last.saturating_sub(1), last] {
                let present = present.clamp(1, last);
                let mut rounds = 0;
                let found = find_last(present, |numbers| {
                    rounds += 1;
                    Ok(numbers.iter().map(|number| *number <= last).collect())
                });
                assert_eq!(found.unwrap(), last);
                assert!(rounds <= 16 && (last > 20_000 || rounds <= 8), "{rounds} rounds for {last}");
            }
        }
    }
}
