//! The last number of a row without gaps, found by probing.

use trommel_blocks::Result;

use super::engine::AT_ONCE;

/// The last number that is there, given one that is: in growing steps to one that is not, and from
/// there in between.
pub(super) fn last_from(mut there: u64, mut probe: impl FnMut(&[u64]) -> Result<Vec<bool>>) -> Result<u64> {
    let mut step = 1_u64;
    let mut gone = loop {
        let mut numbers = Vec::new();
        for _ in 0..AT_ONCE {
            numbers.push(there.saturating_add(step));
            step = step.saturating_mul(2);
        }
        if let Some(gone) = first_gone(&mut there, &numbers, &mut probe)? {
            break gone;
        }
        if there == u64::MAX {
            return Ok(there);
        }
    };
    while gone - there > 1 {
        let parts = (gone - there).min(AT_ONCE as u64 + 1);
        let numbers = (1..parts).map(|part| there + (gone - there) / parts * part).collect::<Vec<_>>();
        gone = first_gone(&mut there, &numbers, &mut probe)?.unwrap_or(gone);
    }
    Ok(there)
}

/// The first of a few rising numbers that is not there; the last one before it is the new place
/// that is.
fn first_gone(
    there: &mut u64,
    numbers: &[u64],
    probe: &mut impl FnMut(&[u64]) -> Result<Vec<bool>>,
) -> Result<Option<u64>> {
    for (number, is_there) in numbers.iter().zip(probe(numbers)?) {
        if !is_there {
            return Ok(Some(*number));
        }
        *there = *number;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_is_found_in_few_rounds() {
        for last in (1..700).chain([20_000, 1_000_000, u64::from(u32::MAX)]) {
            for there in [1, last / 2, last.saturating_sub(1), last] {
                let there = there.clamp(1, last);
                let mut rounds = 0;
                let found = last_from(there, |numbers| {
                    rounds += 1;
                    Ok(numbers.iter().map(|number| *number <= last).collect())
                });
                assert_eq!(found.unwrap(), last);
                assert!(rounds <= 16 && (last > 20_000 || rounds <= 8), "{rounds} rounds for {last}");
            }
        }
    }
}
