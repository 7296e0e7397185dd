//! All backends say the same of any bytes, in any framing, whatever is skipped.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trommel_fuzz::{ends, framing, skips, tokens, trace};
use trommel_reader::{
    Backend, Config, Cursor, Error, Event, Kind, Names, Seek, SeekStep, Taken, Tally, Validation, View,
};

fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else { return };
    // What masks count is what tokens count, where there is nothing wrong.
    let strict = tallies(choice, bytes, Config::new().validation(Validation::Strict));
    for backend in Backend::available() {
        let found = tallies(choice, bytes, Config::new().backend(backend).validation(Validation::Structural));
        assert!(strict.is_none() || strict == found, "{backend:?}: {strict:?} {found:?}");
    }
    // A search finds the same, and the same wrong, whatever the bytes.
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
    // What masks have judged is what tokens are, and what is wrong is found where it stands.
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

/// Where the members of a short name stand, at whatever depth.
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

/// How many members of a short name, or objects that have one, there are in each record, and where
/// it ends.
fn count(choice: u8, mut cursor: Cursor<'_>, found: &mut Vec<(u32, u64, u64)>) -> Result<(), Error> {
    let mut seek = Seek::new(NAMES[usize::from(choice) % NAMES.len()]);
    seek.take(Taken::Counted, choice >= 128);
    while cursor.next_record()? {
        let mut told = 0_u64;
        if let Event::Begin(_) = cursor.begin_value()? {
            seek.begin(1, cursor.span().start);
            while cursor.seek_name(&mut seek, 0)? == SeekStep::Member {
                told += u64::from(seek.note(cursor.depth()) || choice < 128);
            }
        }
        found.push((0, told + seek.take_counted(), cursor.offset()));
    }
    Ok(())
}

/// Where the members of a short name stand, or the first of each object, those that are kept on the
/// way and those that are not.
fn keep(choice: u8, mut cursor: Cursor<'_>, found: &mut Vec<(u32, u64, u64)>) -> Result<(), Error> {
    let mut seek = Seek::new(NAMES[usize::from(choice) % NAMES.len()]);
    seek.take(Taken::Kept, choice >= 128);
    seek.stop_at_ebb(u32::from(choice) % 4, choice % 2 == 0);
    while cursor.next_record()? {
        if let Event::Begin(_) = cursor.begin_value()? {
            seek.begin(1, cursor.span().start);
            loop {
                match cursor.seek_name(&mut seek, 0)? {
                    SeekStep::Member if seek.note(cursor.depth()) || choice < 128 => {
                        // Whether a member is kept depends on what is in sight.
                        let depth = cursor.depth();
                        cursor.peek()?;
                        found.push((0, seek.start_of(depth), cursor.offset()));
                    }
                    SeekStep::Kept => {
                        let kept = (0..).map_while(|number| seek.kept(number));
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

/// Which members of records have some names, and where their values stand.
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

/// The tallies of all records, if none is bad.
fn tallies(choice: u8, bytes: &[u8], config: Config) -> Option<Vec<Tally>> {
    let mut cursor = Cursor::from_view(View::new(bytes), framing(choice), &config);
    let mut tallies = Vec::new();
    while cursor.next_record().ok()? {
        tallies.push(cursor.tally_value().ok()?);
    }
    Some(tallies)
}
