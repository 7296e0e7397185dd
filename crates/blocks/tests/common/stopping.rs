//! How soon something ends when a flag is raised in another thread.

use std::thread;
use std::time::{Duration, Instant};

use trommel_blocks::{ErrorClass, Result};
use trommel_session::{Cancel, Watch};

/// What may pass from then on; in a build that is not optimised more of it.
const SOON: Duration = Duration::from_millis(if cfg!(debug_assertions) { 150 } else { 50 });

/// Ends something at such moments of it by a flag that another thread raises: the best of three
/// tries ends soon, as other processes may be busy. What was over before the flag was raised counts
/// for nothing.
#[expect(clippy::print_stdout, reason = "what was measured is to be seen")]
pub(crate) fn ends_soon(what: &str, moments: [Duration; 3], work: &mut dyn FnMut(&Watch<'_>) -> Result<()>) {
    let tries = moments.map(|moment| {
        let cancel = Cancel::new();
        let watch = Watch::new().cancel_with(&cancel);
        let raised = thread::spawn(move || {
            thread::sleep(moment);
            cancel.cancel();
            Instant::now()
        });
        let (ended, at) = (work(&watch), Instant::now());
        // The flag may be seen before its thread has looked at the clock.
        let late = at.saturating_duration_since(raised.join().unwrap());
        let error = ended.err()?;
        assert_eq!(error.class(), ErrorClass::Cancelled, "{what}: {error}");
        Some(late)
    });
    println!("measured: {what} ended after {tries:?}");
    let least = tries.into_iter().flatten().min();
    assert!(least.is_some_and(|least| least < SOON), "{what}: {tries:?}");
}
