//! Files that change while they are read.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::common::{Folder, Run, trommel};

/// Elements of the array in the file.
const ITEMS: usize = 40_000;

/// The change to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// Truncates in the middle of a page, whose rest then reads as zeros.
    Truncate,
    /// Truncates between pages, so that later pages cannot be touched.
    TruncatePages,
    Grow,
    Overwrite,
    Replace,
}

impl Change {
    fn make(self, file: &str, folder: &Folder) {
        let open = || File::options().write(true).open(file).unwrap();
        let length = fs::metadata(file).unwrap().len();
        match self {
            Self::Truncate => open().set_len((length / 2) | 1).unwrap(),
            Self::TruncatePages => open().set_len((length / 2).next_multiple_of(1 << 16)).unwrap(),
            Self::Grow => File::options().append(true).open(file).unwrap().write_all(b"   \n").unwrap(),
            Self::Overwrite => open().write_all_at(b"tru}", length - 100).unwrap(),
            Self::Replace => fs::rename(folder.file("other", b"[]"), file).unwrap(),
        }
    }
}

fn content() -> String {
    let items: Vec<String> =
        (0..ITEMS).map(|item| format!("{{\"item\": {item}, \"pad\": \"xxxxxxxx\"}}")).collect();
    format!("[{}]\n", items.join(",\n"))
}

/// Runs the program, which blocks until its output is read. Changes the file after some bytes of
/// output, then reads the rest.
fn run_while(change: Change, after: usize, option: Option<&str>, content: &str) -> Run {
    let folder = Folder::new(&format!("changing-{change:?}-{after}-{}", option.is_some()));
    let file = folder.file("items.json", content);
    // File systems count modification times in ticks.
    thread::sleep(Duration::from_millis(15));
    let mut child = trommel(["extract", &file, "$[*].item"].into_iter().chain(option))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut out = vec![0; after];
    stdout.read_exact(&mut out).unwrap();
    change.make(&file, &folder);
    stdout.read_to_end(&mut out).unwrap();
    let mut run = Run::of(child.wait_with_output().unwrap());
    run.out = String::from_utf8(out).unwrap();
    run
}

/// R22: a file is truncated, extended, overwritten, or replaced at 20 points. The program gives the
/// correct answer, or status 1 with the reason, with and without `--no-mmap`, and never dies of a
/// signal. A replaced file counts as changed, though its bytes are not.
#[test]
fn r22_changed_while_read() {
    let content = content();
    let expected = (0..ITEMS).map(|item| format!("{item}\n")).collect::<Vec<_>>().concat();
    let mut refused = 0;
    for change in [Change::Truncate, Change::TruncatePages, Change::Grow, Change::Overwrite, Change::Replace]
    {
        for (point, option) in (0..20).flat_map(|point| [(point, None), (point, Some("--no-mmap"))]) {
            let run = run_while(change, 1 + point * expected.len() / 40, option, &content);
            let case = format!("{change:?} after {point}/40, {option:?}: {:?} {}", run.status, run.err);
            match run.status {
                Some(0) => assert!(run.out == expected && run.err.is_empty(), "{case}"),
                Some(1) => {
                    assert!(run.err.starts_with("error"), "{case}");
                    assert!(expected.starts_with(&run.out) || change == Change::Overwrite, "{case}");
                    refused += 1;
                }
                _ => panic!("{case}"),
            }
        }
    }
    assert!(refused > 80, "only {refused} changes were noticed");
}

/// R22: truncating a mapped file gives one line, not a signal.
#[test]
fn r22_truncated_while_mapped() {
    let run = run_while(Change::TruncatePages, 1, None, &content());
    assert_eq!(run.status, Some(1));
    let line = run.err.strip_suffix('\n').unwrap();
    assert!(line.ends_with("items.json changed while it was read; run again with --no-mmap"), "{line}");
    assert_eq!(line.lines().count(), 1);
}
