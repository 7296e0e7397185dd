//! Timeouts, cancellation, and tools that do not listen.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use trommel_tool::{Cancel, Context, ErrorKind, Event, Failure, Output, Status};

use crate::support::{MemoryDelivery, anything, only};

const MOMENT: Duration = Duration::from_millis(50);

/// The time limit of a test, with a margin for a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// R31: a tool that checks for cancellation stops within 50 ms of it. One of several attempts must
/// succeed, because a busy machine may be late itself.
#[test]
fn r31_cancelled_calls_stop() {
    let executor = only(anything("scan"), |call| {
        loop {
            call.check()?;
            thread::sleep(Duration::from_millis(1));
        }
    });
    let late = (0..10).find_map(|_| {
        let flag = Cancel::new();
        let context = Context::new("/").cancelled_by(flag.clone());
        let raised = thread::spawn(move || {
            thread::sleep(MOMENT);
            flag.cancel();
            Instant::now()
        });
        let done = executor.call("scan", json!({}), &context);
        let late = raised.join().unwrap().elapsed();
        assert_eq!(
            (done.status(), done.result.error_kind()),
            (Status::Cancelled, Some(ErrorKind::Cancelled))
        );
        // A flag that is raised stays raised.
        let again = executor.call("scan", json!({}), &context);
        assert_eq!(again.result.error_kind(), Some(ErrorKind::Cancelled));
        (late < MOMENT).then_some(late)
    });
    assert!(late.is_some(), "never within 50 ms");
}

#[test]
fn a_tool_stops_at_its_deadline() {
    let executor = only(anything("sleep"), |call| {
        assert!(call.remaining().unwrap() <= MOMENT);
        while !call.cancel().is_cancelled() {
            thread::sleep(Duration::from_millis(1));
        }
        // A result after the deadline is ignored.
        Ok("late".into())
    });
    let clock = Instant::now();
    let context = Context::new("/").timeout(MOMENT);
    let done = executor.call("sleep", json!({}), &context);
    assert!(clock.elapsed() >= MOMENT && clock.elapsed() < TIME_LIMIT);
    let error = done.result.error.as_ref().unwrap();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::TimedOut, "Tool timed out after 0.05s"));
    assert_eq!(done.status(), Status::TimedOut);
    assert!(!context.cancel.is_cancelled(), "the flag of the context is the caller's");
}

#[test]
fn a_tool_that_looks_at_the_time_itself_is_late_too() {
    let executor = only(anything("t"), |call| {
        // Busy, so that it is the first to know.
        while call.remaining() != Some(Duration::ZERO) {}
        Err(Failure::cancelled())
    });
    for _ in 0..10 {
        let done = executor.call("t", json!({}), &Context::new("/").timeout(Duration::from_millis(5)));
        assert_eq!(done.result.error_kind(), Some(ErrorKind::TimedOut));
    }
}

#[test]
fn whole_seconds_have_no_fraction() {
    let executor = only(anything("sleep"), |call| {
        while !call.cancel().is_cancelled() {
            thread::sleep(Duration::from_millis(1));
        }
        Err(Failure::cancelled())
    });
    let done = executor.call("sleep", json!({}), &Context::new("/").timeout(Duration::from_secs(1)));
    assert_eq!(done.result.error.unwrap().message, "Tool timed out after 1s");
}

#[test]
fn a_tool_may_run_for_ever() {
    let executor = only(anything("t"), |call| Ok(format!("{:?}", call.remaining()).into()));
    let done = executor.call("t", json!({}), &Context::new("/").timeout(Duration::MAX));
    assert_eq!(done.result.output, Some("None".into()));
}

#[test]
fn a_tool_that_does_not_listen_is_left_behind() {
    let (release, released) = mpsc::channel::<()>();
    let (reported, ended) = mpsc::channel();
    let released = std::sync::Mutex::new(released);
    let shelf = Arc::new(MemoryDelivery::default());
    let executor = only(anything("deaf"), move |call| {
        call.writer().write_all(&vec![b'x'; 40_000]).unwrap();
        released.lock().unwrap().recv().unwrap();
        let written = call.writer().write_all(b"y");
        reported.send(written.is_err()).unwrap();
        Ok(Output::Nothing)
    });
    let executor = executor.delivery(shelf.clone()).grace(MOMENT);
    let clock = Instant::now();
    let done = executor.call("deaf", json!({}), &Context::new("/").timeout(MOMENT));
    assert!(clock.elapsed() < TIME_LIMIT);
    assert_eq!(done.result.error_kind(), Some(ErrorKind::TimedOut));
    assert_eq!(done.result.metadata["abandoned"], true);
    assert!(done.result.metadata["warning"].as_str().unwrap().contains("did not stop"));
    release.send(()).unwrap();
    assert!(ended.recv().unwrap(), "nothing is taken from a call that has ended");
    let clock = Instant::now();
    while *shelf.dropped.lock().unwrap() == 0 && clock.elapsed() < TIME_LIMIT {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(*shelf.dropped.lock().unwrap(), 1);
    assert!(shelf.puts.lock().unwrap().is_empty());
}

#[test]
fn a_panic_after_the_deadline_is_a_timeout() {
    let executor = only(anything("t"), |call| {
        while !call.cancel().is_cancelled() {
            thread::sleep(Duration::from_millis(1));
        }
        panic!("too late")
    });
    let done = executor.call("t", json!({}), &Context::new("/").timeout(MOMENT));
    assert_eq!(done.result.error_kind(), Some(ErrorKind::TimedOut));
}

/// R32: progress from several threads is monotone, and its last value is reported.
#[test]
fn r32_progress_is_monotone() {
    let executor = only(anything("t"), |call| {
        let handle = call.progress_handle();
        thread::scope(|scope| {
            for part in 0..4_u64 {
                let handle = handle.clone();
                scope.spawn(move || {
                    for step in 0..1_000 {
                        handle.progress(part * 250 + step, Some(2_000));
                    }
                });
            }
        });
        handle.progress(2_000, Some(2_000));
        handle.progress(1, Some(2_000));
        Ok(Output::Nothing)
    });
    let mut reported = Vec::new();
    executor.call_with("t", json!({}), &Context::new("/"), &mut |event| {
        if let Event::Progress(progress) = event {
            assert_eq!(progress.total, Some(2_000));
            reported.push(progress.bytes);
        }
    });
    assert!(reported.windows(2).all(|pair| pair[0] < pair[1]), "{reported:?}");
    assert_eq!(reported.last(), Some(&2_000));
}

/// R32: progress is reported during the work, not after it.
#[test]
fn r32_progress_is_reported_during_the_work() {
    let (answer, answers) = mpsc::channel();
    let answers = std::sync::Mutex::new(answers);
    let executor = only(anything("t"), move |call| {
        call.progress(1, None);
        answers.lock().unwrap().recv_timeout(TIME_LIMIT).map_err(|error| Failure::raised(&error))?;
        Ok(Output::Nothing)
    });
    let done = executor.call_with("t", json!({}), &Context::new("/"), &mut |event| {
        if matches!(event, Event::Progress(_)) {
            answer.send(()).unwrap();
        }
    });
    assert!(done.result.success);
}
