//! All backends give the same results for any bytes, in any framing, with any skips.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trommel_fuzz::{ends, framing, skips, tokens, trace};
use trommel_reader::{
    Backend, Config, Cursor, Error, Event, Kind, Names, PlainMembers, Seek, SeekStep, Tally, Validation, View,
};

fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else { return };
    // For valid input, masks and tokens give the same counts.
    let strict = tallies(choice, bytes, Config::new().validation(Validation::Strict));
    for backend in Backend::available() {
        let found = tallies(choice, bytes, Config::new().backend(backend).validation(Validation::Structural));
        assert!(strict.is_none() || strict == found, "{backend:?}: {strict:?} {found:?}");
    }
    // A search finds the same members and the same error for any bytes.
    for search in [seek, count, keep, members] {
        let mut expected = None;
        for backend in Backend::available() {
            let config = Config::new().backend(backend).validation(Validation::Structural).window(64);
            let slice = Cursor::from_view(View::new(bytes), framing(choice), &config);
            let stream = Cursor::from_reader(bytes, framing(choice), &config);
            for (how, cursor) in [("slice", slice), ("stream", stream)] {
                let mut found = Vec::new();
                let error = search(choice, cursor, &mut found).err();
                let found = (found, error.map(|error| (error.kind(), error.offset())));
                let expected = expected.get_or_insert_with(|| found.clone());
                assert_eq!(*expected, found, "{backend:?} {how}");
            }
        }
    }
    // Validation by masks and reading token by token give the same tokens, and the same errors at
    // the same offsets.
    let strict = |backend| Config::new().backend(backend).validation(Validation::Strict);
    let cursor = |backend| Cursor::from_view(View::new(bytes), framing(choice), &strict(backend));
    let (expected, values) = (tokens(cursor(Backend::Scalar)), ends(cursor(Backend::Scalar)));
    for backend in Backend::available() {
        assert_eq!(expected, trace(cursor(backend), false), "{backend:?}");
        assert_eq!(values, skips(cursor(backend)), "{backend:?}");
    }
    for validation in [Validation::Strict, Validation::Structural] {
        let mut expected = None;
        for backend in Backend::available() {
            let config = Config::new().backend(backend).validation(validation);
            let found = trace(Cursor::from_view(View::new(bytes), framing(choice), &config), choice > 127);
            match &expected {
                None => expected = Some(found),
                Some(expected) => assert_eq!(expected, &found, "{backend:?} {validation:?}"),
            }
        }
    }
});

const NAMES: [&str; 5] = ["a", "", "id", "\"", "\u{e9}"];

/// Finds the offsets of the members with a short name, at any depth.
fn seek(choice: u8, mut cursor: Cursor<'_>, found: &mut Vec<(u32, u64, u64)>) -> Result<(), Error> {
    let mut seek = Seek::new(NAMES[usize::from(choice) % NAMES.len()]);
    while cursor.next_record()? {
        if let Event::Begin(_) = cursor.begin_value()? {
            seek.begin(1, cursor.span().start);
            while cursor.seek_name(&mut seek, 0)? == SeekStep::Member {
                found.push((cursor.depth(), seek.start_of(cursor.depth()), cursor.offset()));
            }
        }
    }
    Ok(())
}

/// Counts the members with a short name, or the objects that have one, in each record, and finds
/// the end of the record.
fn count(choice: u8, mut cursor: Cursor<'_>, found: &mut Vec<(u32, u64, u64)>) -> Result<(), Error> {
    let mut seek = Seek::new(NAMES[usize::from(choice) % NAMES.len()]);
    seek.handle_plain(PlainMembers::Count, choice >= 128);
    while cursor.next_record()? {
        let mut told = 0_u64;
        if let Event::Begin(_) = cursor.begin_value()? {
            seek.begin(1, cursor.span().start);
            while cursor.seek_name(&mut seek, 0)? == SeekStep::Member {
                told += u64::from(seek.record(cursor.depth()) || choice < 128);
            }
        }
        found.push((0, told + seek.take_counted(), cursor.offset()));
    }
    Ok(())
}

/// Finds the offsets of the members with a short name, or of the first in each object. Some of them
/// are recorded by the kernel, others are returned one by one.
fn keep(choice: u8, mut cursor: Cursor<'_>, found: &mut Vec<(u32, u64, u64)>) -> Result<(), Error> {
    let mut seek = Seek::new(NAMES[usize::from(choice) % NAMES.len()]);
    seek.handle_plain(PlainMembers::Collect, choice >= 128);
    seek.flush_at(u32::from(choice) % 4, choice % 2 == 0);
    while cursor.next_record()? {
        if let Event::Begin(_) = cursor.begin_value()? {
            seek.begin(1, cursor.span().start);
            loop {
                match cursor.seek_name(&mut seek, 0)? {
                    SeekStep::Member if seek.record(cursor.depth()) || choice < 128 => {
                        // The kernel records only members that are complete in the window.
                        let depth = cursor.depth();
                        cursor.peek()?;
                        found.push((0, seek.start_of(depth), cursor.offset()));
                    }
                    SeekStep::Collected => {
                        let kept = (0..).map_while(|number| seek.collected(number));
                        found.extend(kept.map(|kept| (0, kept.object, kept.start)));
                    }
                    SeekStep::Member | SeekStep::Between => {}
                    SeekStep::Left => break,
                }
            }
        }
    }
    Ok(())
}

/// Finds the members of records that have some names, and the offsets of their values.
fn members(choice: u8, mut cursor: Cursor<'_>, found: &mut Vec<(u32, u64, u64)>) -> Result<(), Error> {
    let names = Names::new(NAMES.into_iter().skip(usize::from(choice) % NAMES.len()));
    while cursor.next_record()? {
        if let Event::Begin(Kind::Object) = cursor.begin_value()? {
            while let Some(number) = cursor.next_named(&names)? {
                found.push((number as u32, cursor.span().start, cursor.offset()));
            }
        }
    }
    Ok(())
}

/// Returns the tallies of all records, or `None` if a record is malformed.
fn tallies(choice: u8, bytes: &[u8], config: Config) -> Option<Vec<Tally>> {
    let mut cursor = Cursor::from_view(View::new(bytes), framing(choice), &config);
    let mut tallies = Vec::new();
    while cursor.next_record().ok()? {
        tallies.push(cursor.tally_value().ok()?);
    }
    Some(tallies)
}
