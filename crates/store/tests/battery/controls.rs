//! Progress reports and cancellation of operations on all outputs.

use std::sync::{Arc, Mutex};

use trommel_base::{Cancel, Progress};
use trommel_store::{Control, ErrorClass, GcOptions, Limits};

use crate::support::{Home, all, named, put_as};

/// Collects reports, and cancels after `cancel_at` of them.
fn reported(cancel_at: Option<usize>) -> (Arc<Mutex<Vec<Progress>>>, Control) {
    let (reported, cancel) = (Arc::<Mutex<Vec<Progress>>>::default(), Cancel::new());
    let (list, flag) = (Arc::clone(&reported), cancel.clone());
    let control = Control::new().cancel_with(&cancel).on_progress(move |progress| {
        let mut list = list.lock().unwrap();
        list.push(progress);
        if Some(list.len()) == cancel_at {
            flag.cancel();
        }
    });
    (reported, control)
}

fn filled(count: usize) -> Home {
    let home = Home::new();
    for number in 0..count {
        put_as(&home, named(&format!("id-{number:04}")), format!("[{number:05}]"));
    }
    home
}

fn evict_all() -> GcOptions {
    let mut limits = Limits::default();
    limits.count = Some(0);
    let mut options = GcOptions::default();
    options.limits = Some(limits);
    options
}

#[test]
fn verification_reports_outputs_and_bytes() {
    let home = filled(20);
    // Several MiB, which are reported separately.
    put_as(&home, named("long"), format!("\"{}\"", "x".repeat(5 << 20)));
    let (progress, control) = reported(None);
    let verified = home.verify_with(&control, &mut |damage| panic!("{damage:?}")).unwrap();
    let progress = progress.lock().unwrap();
    let last = progress[progress.len() - 1];
    assert_eq!((last.items, last.total_items), (21, Some(21)));
    assert_eq!((last.bytes, last.total), (verified.bytes, Some(verified.bytes)));
    assert!(progress.is_sorted_by_key(|progress| progress.bytes), "{progress:?}");
    assert!(progress.windows(2).all(|two| two[1].bytes - two[0].bytes <= 1 << 20), "{progress:?}");
}

#[test]
fn verification_is_cancelled_within_an_output() {
    let home = Home::new();
    put_as(&home, named("long"), format!("\"{}\"", "x".repeat(5 << 20)));
    let (progress, control) = reported(Some(3));
    let error = home.verify_with(&control, &mut |damage| panic!("{damage:?}")).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Cancelled);
    assert!(error.to_string().contains("0 of 1 outputs"), "{error}");
    assert_eq!(progress.lock().unwrap().len(), 3);
}

#[test]
fn cancelled_rebuild_leaves_the_index_unchanged() {
    let home = filled(30);
    let before = home.list(&all()).unwrap();
    let (progress, control) = reported(Some(10));
    let error = home.rebuild_with(&control).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Cancelled);
    assert_eq!(
        progress.lock().unwrap().last().map(|last| (last.items, last.total_items)),
        Some((9, Some(30)))
    );
    assert_eq!(home.list(&all()).unwrap(), before);
    assert_eq!(home.again().list(&all()).unwrap(), before);
    assert_eq!(home.rebuild_with(&Control::new()).unwrap().outputs, 30);
    assert!(home.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
}

#[test]
fn eviction_is_cancelled_between_outputs() {
    let home = filled(150);
    let (progress, control) = reported(Some(2));
    let error = home.gc_with(&evict_all(), &control).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Cancelled);
    let last = *progress.lock().unwrap().last().unwrap();
    assert!(last.items > 0 && last.items < 150 && last.total_items == Some(150), "{last:?}");
    assert_eq!(home.list(&all()).unwrap().total, 150 - last.items);
    assert!(home.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
    assert_eq!(home.gc(&evict_all()).unwrap().left_count, 0);
}
