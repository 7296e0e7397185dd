//! Measures how soon work ends after another thread has cancelled it.

use std::thread;
use std::time::{Duration, Instant};

use trommel_blocks::{ErrorClass, Result};
use trommel_session::{Cancel, Watch};

/// The allowed time after the cancellation; more in a build without optimization.
const SOON: Duration = Duration::from_millis(if cfg!(debug_assertions) { 150 } else { 50 });

/// Rounds of tries, each with earlier cancellations.
const ROUNDS: u32 = 4;

/// Cancels the work at the given moments from another thread. The best of three tries must end
/// soon, as other processes may be busy. Work that was done before its cancellation does not count.
/// If no try was cancelled in time, three others are cancelled earlier.
#[expect(clippy::print_stdout, reason = "what was measured is to be seen")]
pub(crate) fn ends_soon(what: &str, moments: [Duration; 3], work: &mut dyn FnMut(&Watch<'_>) -> Result<()>) {
    let least = (0..ROUNDS).find_map(|round| {
        let tries = moments.map(|moment| cancelled(what, moment / 4_u32.pow(round), work));
        println!("measured: {what} ended after {tries:?}");
        tries.into_iter().flatten().min()
    });
    assert!(least.is_some_and(|least| least < SOON), "{what}: {least:?}");
}

/// Returns the time that the work took after its cancellation, `None` if it was done before.
fn cancelled(
    what: &str,
    moment: Duration,
    work: &mut dyn FnMut(&Watch<'_>) -> Result<()>,
) -> Option<Duration> {
    let cancel = Cancel::new();
    let watch = Watch::new().cancel_with(&cancel);
    let raised = thread::spawn(move || {
        thread::sleep(moment);
        cancel.cancel();
        Instant::now()
    });
    let (ended, at) = (work(&watch), Instant::now());
    // The work may see the flag before this thread reads the clock.
    let late = at.saturating_duration_since(raised.join().unwrap());
    let error = ended.err()?;
    assert_eq!(error.class(), ErrorClass::Cancelled, "{what}: {error}");
    Some(late)
}
