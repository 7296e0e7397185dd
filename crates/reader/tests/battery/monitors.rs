//! Tests of the monitor: progress and cancellation.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use trommel_reader::{Config, Cursor, Error, ErrorKind, Framing, Validation, View};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::repeat::Repeat;

const MIB: u64 = 1 << 20;

fn text(bytes: u64, layout: &str) -> Vec<u8> {
    let item = match layout {
        "string" => return [b"\"", "xé".repeat(bytes as usize / 3).as_bytes(), b"\""].concat(),
        "number" => return "7".repeat(bytes as usize).into_bytes(),
        "space" => return [b" ".repeat(bytes as usize), b"1".to_vec()].concat(),
        "lines" => "{\"a\":[1,2,3]}\n",
        _ => "[1,\"text\",{\"a\":null}],",
    };
    let body = item.repeat(bytes as usize / item.len());
    if layout == "lines" { body.into_bytes() } else { format!("[{body}0]").into_bytes() }
}

/// Reads a cursor to its end, and returns the offsets of the monitor's calls.
fn calls(mut cursor: Cursor<'_>, calls: &Mutex<Vec<u64>>) -> Vec<u64> {
    while cursor.next_record().unwrap() {
        cursor.skip_value().unwrap();
    }
    drop(cursor);
    std::mem::take(&mut calls.lock().unwrap())
}

/// R31, R32: the monitor is called for every MiB and at the end, with offsets that never decrease,
/// for any content.
#[test]
fn is_called_for_every_mib() {
    for layout in ["items", "string", "number", "space", "lines"] {
        let text = text(5 * MIB, layout);
        let framing = if layout == "lines" { Framing::Lines } else { Framing::Auto };
        for validation in [Validation::Strict, Validation::Structural] {
            let config = Config::new().validation(validation);
            let heard = Arc::new(Mutex::new(Vec::new()));
            let monitor = || {
                let heard = Arc::clone(&heard);
                Box::new(move |offset| {
                    heard.lock().unwrap().push(offset);
                    Ok(())
                })
            };
            let slice = Cursor::from_view(View::new(&text), framing, &config).monitored(monitor());
            let slice = calls(slice, &heard);
            let reader = Chunks::new(text.as_slice(), &[100_000]);
            let stream = calls(Cursor::from_reader(reader, framing, &config).monitored(monitor()), &heard);
            for offsets in [&slice, &stream] {
                let steps = [&[0], offsets.as_slice()].concat();
                assert!(
                    steps.windows(2).all(|pair| pair[0] <= pair[1] && pair[1] - pair[0] <= MIB),
                    "{layout}"
                );
                assert_eq!(offsets.last(), Some(&(text.len() as u64)), "{layout}");
            }
            assert!(slice.len() < 50, "{layout}: a call is not free");
        }
    }
}

/// R31: bytes that are read again after a rewind count.
#[test]
fn is_called_for_bytes_that_are_read_again() {
    for bytes in [100_000, 3 * MIB] {
        let text = text(bytes, "items");
        for streamed in [false, true] {
            let calls = Arc::new(AtomicU64::new(0));
            let counted = Arc::clone(&calls);
            let config = Config::new().validation(Validation::Structural);
            let cursor = if streamed {
                Cursor::from_reader(text.as_slice(), Framing::Single, &config)
            } else {
                Cursor::new(&text, &config)
            };
            let mut cursor = cursor.monitored(Box::new(move |_| {
                counted.fetch_add(1, Relaxed);
                Ok(())
            }));
            cursor.next_record().unwrap();
            let mark = cursor.hold();
            let rounds = 40 * MIB / bytes;
            for _ in 0..rounds {
                cursor.skip_value().unwrap();
                cursor.rewind(&mark);
            }
            assert!(calls.load(Relaxed) >= 39, "{bytes} {streamed} {calls:?}");
        }
    }
}

/// R31: an error of the monitor ends the reading within a MiB, and is final.
#[test]
fn ends_the_reading() {
    for framing in [Framing::Single, Framing::Lines, Framing::Concatenated] {
        for streamed in [false, true] {
            let text = text(4 * MIB, "items");
            let stop =
                |offset| if offset > MIB { Err(Error::plain(ErrorKind::Cancelled, offset)) } else { Ok(()) };
            let config = Config::new();
            let cursor = if streamed {
                Cursor::from_reader(text.as_slice(), framing, &config)
            } else {
                Cursor::from_view(View::new(&text), framing, &config)
            };
            let mut cursor = cursor.monitored(Box::new(stop));
            cursor.next_record().unwrap();
            let error = cursor.skip_value().unwrap_err();
            assert!(error.is_cancelled() && !error.is_syntax() && error.offset() <= 2 * MIB + 1, "{error}");
            assert!(cursor.offset() <= error.offset(), "the cursor stands where it was");
            for again in [cursor.advance().err(), cursor.next_record().err(), cursor.next_record().err()] {
                assert!(again.unwrap().is_cancelled());
            }
        }
    }
}

/// R31: an endless stream can be cancelled.
#[test]
fn ends_an_endless_stream() {
    for (head, item) in [("[", "1,"), ("[\"", "x"), ("{\"a\":\"", "\\n"), ("", " "), ("", "1")] {
        let text = Repeat::new(head, item, "", "", u64::MAX / 16);
        let mut calls = 0;
        let stop = move |offset| {
            calls += 1;
            if calls > 100 { Err(Error::plain(ErrorKind::Cancelled, offset)) } else { Ok(()) }
        };
        let mut cursor = Cursor::from_reader(text, Framing::Auto, &Config::new()).monitored(Box::new(stop));
        let error = cursor.skip_value().unwrap_err();
        assert!(error.is_cancelled(), "{head}{item} {error}");
    }
}
