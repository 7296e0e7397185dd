//! Work on all outputs is told of as it goes, and can be cancelled.

use std::sync::{Arc, Mutex};

use trommel_base::{Cancel, Progress};
use trommel_store::{Control, ErrorClass, GcOptions, Limits};

use crate::support::{Home, all, named, put_as};

/// What was told, and a control that raises its flag when so much was told.
fn told(cancel_at: Option<usize>) -> (Arc<Mutex<Vec<Progress>>>, Control) {
    let (told, cancel) = (Arc::<Mutex<Vec<Progress>>>::default(), Cancel::new());
    let (list, flag) = (Arc::clone(&told), cancel.clone());
    let control = Control::new().cancel_with(&cancel).on_progress(move |progress| {
        let mut list = list.lock().unwrap();
        list.push(progress);
        if Some(list.len()) == cancel_at {
            flag.cancel();
        }
    });
    (told, control)
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
fn a_verification_tells_outputs_and_bytes() {
    let home = filled(20);
    // Several pieces of a MiB.
    put_as(&home, named("long"), format!("\"{}\"", "x".repeat(5 << 20)));
    let (progress, control) = told(None);
    let verified = home.verify_with(&control, &mut |damage| panic!("{damage:?}")).unwrap();
    let progress = progress.lock().unwrap();
    let last = progress[progress.len() - 1];
    assert_eq!((last.items, last.total_items), (21, Some(21)));
    assert_eq!((last.bytes, last.total), (verified.bytes, Some(verified.bytes)));
    assert!(progress.is_sorted_by_key(|progress| progress.bytes), "{progress:?}");
    assert!(progress.windows(2).all(|two| two[1].bytes - two[0].bytes <= 1 << 20), "{progress:?}");
}

#[test]
fn a_verification_ends_within_an_output() {
    let home = Home::new();
    put_as(&home, named("long"), format!("\"{}\"", "x".repeat(5 << 20)));
    let (progress, control) = told(Some(3));
    let error = home.verify_with(&control, &mut |damage| panic!("{damage:?}")).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Cancelled);
    assert!(error.to_string().contains("0 of 1 outputs"), "{error}");
    assert_eq!(progress.lock().unwrap().len(), 3);
}

#[test]
fn a_rebuild_that_is_cancelled_leaves_the_index_as_it_was() {
    let home = filled(30);
    let before = home.list(&all()).unwrap();
    let (progress, control) = told(Some(10));
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
fn evictions_end_between_one_and_the_next() {
    let home = filled(150);
    let (progress, control) = told(Some(2));
    let error = home.gc_with(&evict_all(), &control).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Cancelled);
    let last = *progress.lock().unwrap().last().unwrap();
    assert!(last.items > 0 && last.items < 150 && last.total_items == Some(150), "{last:?}");
    assert_eq!(home.list(&all()).unwrap().total, 150 - last.items);
    assert!(home.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
    assert_eq!(home.gc(&evict_all()).unwrap().left_count, 0);
}
