//! Retries: their number, their limits, and cancellation.

use std::time::{Duration, Instant};

use trommel_blocks::{AttemptError, Error, ErrorClass, ErrorKind, Retry};
use trommel_session::{Cancel, Watch};

fn retry(attempts: u32) -> Retry {
    let mut retry = Retry::default();
    retry.attempts = attempts;
    (retry.first, retry.max_pause) = (Duration::from_millis(1), Duration::from_millis(2));
    retry
}

fn transient(at_least: Option<Duration>) -> AttemptError {
    AttemptError::Transient(ErrorKind::ProbeEnded.into(), at_least)
}

#[test]
fn transient_failures_are_retried() {
    let mut count = 0;
    let answer = retry(5).run(&Watch::new(), |_| {
        count += 1;
        if count < 3 { Err(transient(None)) } else { Ok(count) }
    });
    assert_eq!(answer.unwrap(), 3);
}

#[test]
fn the_last_attempt_returns_its_error() {
    let mut count = 0;
    let answer: Result<(), Error> = retry(4).run(&Watch::new(), |_| {
        count += 1;
        Err(transient(None))
    });
    assert_eq!((answer.unwrap_err().class(), count), (ErrorClass::Offline, 4));
}

#[test]
fn permanent_failures_are_not_retried() {
    let mut count = 0;
    let answer: Result<(), Error> = retry(4).run(&Watch::new(), |_| {
        count += 1;
        Err(AttemptError::Permanent(ErrorKind::NoNumbers.into()))
    });
    assert_eq!((answer.unwrap_err().class(), count), (ErrorClass::Limit, 1));
    assert_eq!(transient(None).into_error().class(), ErrorClass::Offline);
}

/// The storage asks for a pause that does not fit into the time: waiting would be useless.
#[test]
fn a_pause_beyond_the_time_limit_ends_the_retries_at_once() {
    let mut retry = retry(100);
    retry.within = Duration::from_secs(5);
    let (started, mut count) = (Instant::now(), 0);
    let answer: Result<(), Error> = retry.run(&Watch::new(), |left| {
        assert!(left <= Duration::from_secs(5));
        count += 1;
        Err(transient(Some(Duration::from_mins(1))))
    });
    assert_eq!((answer.unwrap_err().class(), count), (ErrorClass::Offline, 1));
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[test]
fn cancelling_ends_a_pause() {
    let cancel = Cancel::new();
    let watch = Watch::new().cancel_with(&cancel);
    let mut count = 0;
    let answer: Result<(), Error> = retry(100).run(&watch, |_| {
        count += 1;
        cancel.cancel();
        Err(transient(Some(Duration::from_secs(20))))
    });
    assert_eq!((answer.unwrap_err().class(), count), (ErrorClass::Cancelled, 1));
}
