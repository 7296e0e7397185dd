//! For any division of a stream of lines, the merged profiles are the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trommel_reader::{Config, Cursor, Framing, View};
use trommel_stats::{Accumulator, Profile, ProfileOptions, Summary};
use trommel_testkit::naive;

fuzz_target!(|input: &[u8]| {
    let Some((&cut, bytes)) = input.split_first() else { return };
    if naive::records(bytes, naive::Framing::Lines).iter().any(|record| record.outcome.is_err()) {
        return;
    }
    let lines: Vec<usize> =
        bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    let at = lines.get(usize::from(cut) % lines.len().max(1)).copied().unwrap_or(0);
    let (first, second) = bytes.split_at(at);
    let whole = profile(View::new(bytes)).summary();
    let parts = || (profile(View::at(first, 0)), profile(View::at(second, at as u64)));
    let (mut forward, later) = parts();
    forward.merge(later);
    let (earlier, mut backward) = parts();
    backward.merge(earlier);
    compare(&whole, &forward.summary());
    compare(&whole, &backward.summary());
});

fn compare(whole: &Summary, merged: &Summary) {
    assert_eq!(whole, merged);
}

fn profile(view: View<'_>) -> Profile {
    let mut options = ProfileOptions::default();
    options.schema = true;
    options.values = true;
    let mut profile = Profile::new(options);
    let mut cursor = Cursor::from_view(view, Framing::Lines, &Config::new());
    while cursor.next_record().unwrap() {
        profile.begin();
        while let Some(event) = cursor.advance().unwrap() {
            profile.observe(event, cursor.payload(), cursor.span().start);
        }
        profile.end();
    }
    profile
}
