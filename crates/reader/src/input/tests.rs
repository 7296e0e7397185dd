//! Tests of missing, irregular, and changing files, and of the memory that maps take. They are here
//! and not in the batteries because mapping needs a trusted policy.

mod pseudo;

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use super::*;
use crate::{Config, Cursor, Framing, Span, Syntax, Validation};

const MAPPED: MapPolicy = MapPolicy::FOR_TESTS;
const POLICIES: [MapPolicy; 2] = [MapPolicy::never(), MAPPED];

/// A temporary folder, and a path in it.
fn path_of(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

fn file(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let (folder, path) = path_of("input.json");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn read_all(input: &Input<'_>, framing: Framing) -> Result<u64> {
    let mut cursor = Cursor::from_input(input, framing, &Config::new());
    while cursor.next_record()? {
        while cursor.advance()?.is_some() {}
    }
    Ok(cursor.offset())
}

#[test]
fn irregular_files_are_refused() {
    let (folder, missing) = path_of("missing");
    let kind = |path: &Path, policy| Input::open(path, policy).unwrap_err().kind();
    for policy in POLICIES {
        assert_eq!(kind(&missing, policy), io::ErrorKind::NotFound);
        assert_eq!(kind(folder.path(), policy), io::ErrorKind::IsADirectory);
    }
}

/// A pipe is refused at once; opening it would wait for its other end.
#[cfg(target_os = "linux")]
#[test]
fn pipes_and_devices_are_refused() {
    let (_folder, pipe) = path_of("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for policy in POLICIES {
        for path in [pipe.as_path(), Path::new("/dev/null")] {
            assert_eq!(Input::open(path, policy).unwrap_err().kind(), io::ErrorKind::Unsupported);
        }
    }
}

#[test]
fn an_empty_file_is_an_empty_input() {
    let (_folder, path) = file(b"");
    for policy in POLICIES {
        let input = Input::open(&path, policy).unwrap();
        assert!(input.is_empty() && input.view().is_none());
        let error = read_all(&input, Framing::Auto).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Syntax(Syntax::Empty), 0));
        assert_eq!(read_all(&input, Framing::Lines).unwrap(), 0);
        input.verify(false).unwrap();
    }
}

/// Mapped files, files read in windows, and bytes in memory return the same bytes, repeatedly.
#[test]
fn all_storages_return_the_same_bytes() {
    let text: Vec<u8> = (0..5_000).flat_map(|number| format!("[{number}, \"é\"]\n").into_bytes()).collect();
    let (_folder, path) = file(&text);
    let inputs = [
        Input::open(&path, POLICIES[0]).unwrap(),
        Input::open(&path, MAPPED).unwrap(),
        Input::from_bytes(text.clone()),
    ];
    let is_viewed = inputs.each_ref().map(|input| input.view().is_some());
    assert_eq!(is_viewed, [false, true, true]);
    for input in &inputs {
        assert_eq!(input.len(), text.len() as u64);
        for _ in 0..2 {
            let mut read = Vec::new();
            input.reader().read_to_end(&mut read).unwrap();
            assert_eq!(read, text);
            assert_eq!(read_all(input, Framing::Lines).unwrap(), text.len() as u64);
            assert!(input.view().is_none_or(|view| view.bytes() == text));
        }
        input.verify(false).unwrap();
    }
    // An open file is read from its start, and its own position stays.
    let mut file = File::open(&path).unwrap();
    file.read_exact(&mut [0; 10]).unwrap();
    let input = Input::from_file(file.try_clone().unwrap(), POLICIES[0]).unwrap();
    assert_eq!(read_all(&input, Framing::Lines).unwrap(), text.len() as u64);
    assert_eq!(io::Seek::stream_position(&mut file).unwrap(), 10);
}

/// R22: detects a file that was truncated, appended to, overwritten in place, replaced by a rename,
/// or only removed.
#[test]
fn changes_are_noticed() {
    type Change = fn(&Path);
    let changes: [(Change, u64, bool); 5] = [
        (|path| OpenOptions::new().write(true).open(path).unwrap().set_len(3).unwrap(), 3, false),
        (|path| OpenOptions::new().append(true).open(path).unwrap().write_all(b"\n3").unwrap(), 7, true),
        (|path| OpenOptions::new().write(true).open(path).unwrap().write_all(b"[9").unwrap(), 7, false),
        (
            |path| {
                let other = path.with_extension("other");
                fs::write(&other, b"[1]\n[2]").unwrap();
                fs::rename(other, path).unwrap();
            },
            7,
            false,
        ),
        (|path| fs::remove_file(path).unwrap(), 7, false),
    ];
    for policy in POLICIES {
        for (change, offset, is_growth) in changes {
            let (_folder, path) = file(b"[1]\n[2]");
            let input = Input::open(&path, policy).unwrap();
            input.verify(false).unwrap();
            // A change within the resolution of the file system's clock could go unnoticed.
            sleep(Duration::from_millis(20));
            change(&path);
            let error = input.verify(false).unwrap_err();
            assert_eq!((error.kind(), error.offset()), (ErrorKind::SourceChanged, offset));
            assert_eq!(input.verify(true).is_ok(), is_growth);
        }
    }
}

/// R22: appended bytes are not read. Truncation during reading is an error, never a shorter result.
#[test]
fn readers_stop_at_the_initial_length() {
    let text = format!("[{}0]", "1,".repeat(100_000));
    let (_folder, path) = file(text.as_bytes());
    let input = Input::open(&path, MapPolicy::never()).unwrap();
    let writer = OpenOptions::new().append(true).open(&path).unwrap();
    (&writer).write_all(b",[").unwrap();
    assert_eq!(read_all(&input, Framing::Single).unwrap(), text.len() as u64);
    for length in [100_001, 100_000, 0] {
        writer.set_len(length).unwrap();
        let error = read_all(&input, Framing::Single).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::SourceChanged, length));
        assert_eq!(error.message(), "the file became shorter while it was read");
        assert!(error.help().is_some());
    }
    let mut cursor = Cursor::from_input(&input, Framing::Single, &Config::new().window(1000));
    assert_eq!(cursor.advance().unwrap_err().kind(), ErrorKind::SourceChanged);
}

/// Tests that measure memory hold this lock, so that they run one at a time.
#[cfg(target_os = "linux")]
static MEASURING: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Memory of this process that is backed by files, in KiB.
#[cfg(target_os = "linux")]
fn resident_file_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let field = |name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
    };
    field("RssFile:") + field("RssShmem:")
}

/// R7: pages of a map that the cursor has passed are released: for any content, also during a hold,
/// and again when they are read again.
#[cfg(target_os = "linux")]
#[test]
fn a_map_takes_no_memory() {
    const MIB: usize = 1 << 20;
    let _alone = MEASURING.lock();
    let items = format!("[{}0]", "[1,\"text\"],".repeat(24 * MIB / 11));
    let string = format!("[\"{}\"]", "é ".repeat(8 * MIB));
    for (text, validation) in
        [(&items, Validation::Strict), (&items, Validation::Structural), (&string, Validation::Strict)]
    {
        let (_folder, path) = file(text.as_bytes());
        let input = Input::open(&path, MAPPED).unwrap();
        let before = resident_file_memory();
        let watch = move |_| {
            let now = resident_file_memory();
            assert!(now < before + 8 * 1024, "{validation:?}: {before} KiB, then {now} KiB");
            Ok(())
        };
        let config = Config::new().validation(validation);
        let mut cursor = Cursor::from_input(&input, Framing::Single, &config).monitored(Box::new(watch));
        cursor.count_chars();
        cursor.next_record().unwrap();
        let mark = cursor.hold();
        for _ in 0..2 {
            assert_eq!(cursor.skip_value().unwrap().len(), text.len() as u64);
            assert_eq!(cursor.chars(text.len() as u64), text.chars().count() as u64);
            watch(0).unwrap();
            cursor.rewind(&mark);
            assert_eq!(cursor.chars(0), 0);
            input.view().unwrap().release(Span::new(0, text.len() as u64));
        }
        let view = input.view().unwrap();
        assert_eq!(view.bytes(), text.as_bytes());
        view.release(Span::new(0, text.len() as u64));
        watch(0).unwrap();
        assert!(view.bytes().ends_with(b"]"));
    }
}

/// R7: counting the lines before an error at the end of a file does not keep the file in memory.
#[cfg(target_os = "linux")]
#[test]
fn a_place_takes_no_memory() {
    let _alone = MEASURING.lock();
    let text = "[1,\n".repeat(8 << 20);
    let (_folder, path) = file(text.as_bytes());
    let input = Input::open(&path, MAPPED).unwrap();
    let mut cursor = Cursor::from_input(&input, Framing::Single, &Config::new());
    let before = resident_file_memory();
    let position = cursor.line_column(text.len() as u64).unwrap();
    assert_eq!((position.line, position.column), ((8 << 20) + 1, 1));
    let now = resident_file_memory();
    assert!(now < before + 8 * 1024, "{before} KiB, then {now} KiB");
}

/// R7: releasing adjacent parts one after the other keeps no page between them.
#[cfg(target_os = "linux")]
#[test]
fn adjacent_parts_release_every_page() {
    let _alone = MEASURING.lock();
    let text = vec![b' '; 16 << 20];
    let (_folder, path) = file(&text);
    let input = Input::open(&path, MAPPED).unwrap();
    let view = input.view().unwrap();
    let before = resident_file_memory();
    assert_eq!(view.bytes(), text);
    let mut at = 0;
    while at < text.len() as u64 {
        view.release(Span::new(at, at + 10_001));
        at += 10_001;
    }
    let now = resident_file_memory();
    assert!(now < before + 256, "{before} KiB, then {now} KiB");
}

/// Bytes that a stream holds in its temporary file take no memory.
#[cfg(target_os = "linux")]
#[test]
fn a_spool_takes_no_memory() {
    let _alone = MEASURING.lock();
    let text = format!("[{}0]", "[1,\"text\"],".repeat(2 << 20));
    let before = resident_file_memory();
    let watch = move |_| {
        let now = resident_file_memory();
        assert!(now < before + 12 * 1024, "{before} KiB, then {now} KiB");
        Ok(())
    };
    let limits = crate::Limits { held_bytes: 1 << 20, ..crate::Limits::default() };
    let config = Config::new().limits(limits).validation(Validation::Structural);
    let mut cursor =
        Cursor::from_reader(text.as_bytes(), Framing::Single, &config).monitored(Box::new(watch));
    cursor.next_record().unwrap();
    let mark = cursor.hold();
    for _ in 0..3 {
        assert_eq!(cursor.skip_value().unwrap().len(), text.len() as u64);
        cursor.rewind(&mark);
    }
    // Dropping the held bytes at the end counts their lines.
    cursor.skip_value().unwrap();
    cursor.release();
    assert!(!cursor.next_record().unwrap());
    watch(0).unwrap();
}

#[test]
fn views_keep_absolute_offsets() {
    let view = View::at(b"0123456789", 100);
    assert_eq!((view.bytes().len(), view.base()), (10, 100));
    assert_eq!(view.get(Span::new(100, 110)), Some(&b"0123456789"[..]));
    assert_eq!(view.get(Span::new(109, 110)), Some(&b"9"[..]));
    for outside in [Span::new(99, 101), Span::new(109, 111), Span::new(0, 10), Span::new(105, 104)] {
        assert!(view.get(outside).is_none() && view.narrow(outside).is_none());
    }
    let part = view.narrow(Span::new(103, 106)).unwrap().narrow(Span::new(104, 105)).unwrap();
    assert_eq!((part.bytes(), part.base()), (&b"4"[..], 104));
}

/// Every part except the last one consists of whole lines and is large enough. Together, the parts
/// are the whole text.
#[test]
fn partitions_are_whole_lines() {
    let text = "12345\n\n1\n\r\n12345678\nlast";
    for target in 0..30 {
        for text in [text, text.trim_end_matches("last"), "", "no line end"] {
            let parts: Vec<View<'_>> = View::at(text.as_bytes(), 7).partitions(target).collect();
            let mut offset = 7;
            for (index, part) in parts.iter().enumerate() {
                assert_eq!(part.base(), offset);
                assert!(!part.bytes().is_empty());
                let is_last = index + 1 == parts.len();
                assert!(is_last || part.bytes().len() > target && part.bytes().ends_with(b"\n"), "{target}");
                offset += part.bytes().len() as u64;
            }
            assert_eq!(offset, 7 + text.len() as u64);
        }
    }
}

/// A byte is found within the range alone, from any offset.
#[test]
fn bytes_are_found_in_ranges() {
    let text = b"a,b,c,d";
    let of = |input: Input<'static>| input.range(Span::new(2, 5)).unwrap();
    let ranges = [of(Input::from_bytes(text)), of(Input::from_seekable(std::io::Cursor::new(text)).unwrap())];
    for input in ranges {
        let found = |from| input.find(b',', from).unwrap();
        assert_eq!([0, 2, 3, 4, 5, 7, 99].map(found), [Some(3), Some(3), Some(3), None, None, None, None]);
        assert_eq!((input.start(), input.len(), input.reaches_end()), (2, 3, false));
        let mut bytes = Vec::new();
        input.reader().read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, b"b,c");
        assert!(input.range(Span::new(1, 3)).is_none());
    }
}

/// Debug output names the kind and the range, never the content.
#[test]
fn debug_output_has_no_content() {
    let (_folder, path) = file(b"[\"secret\"]");
    let opened = |policy| Input::open(&path, policy).unwrap();
    for (input, kind) in [
        (Input::from_bytes(b"[\"secret\"]"), "\"bytes\""),
        (Input::from_seekable(std::io::Cursor::new(b"[\"secret\"]")).unwrap(), "\"seekable reader\""),
        (opened(MapPolicy::never()), "\"file\""),
        (opened(MAPPED), "\"mapped file\""),
    ] {
        let shown = format!("{input:?}");
        assert!(shown.contains(kind) && !shown.contains("secret"), "{kind}: {shown}");
    }
}
