//! A panic leaves the terminal as it was. The test starts itself on a terminal.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::io::Read;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, io};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};
use trommel::reader::{Framing, Input};
use trommel_explore::{Explorer, Source};

/// Set for the process that panics.
const INSIDE: &str = "TROMMEL_EXPLORE_PANICS";

/// The source is opened for the first rows. It panics then, on a thread that reads.
fn explore() {
    let opened = AtomicUsize::new(0);
    let source = Source::new("data.json", Framing::Single, move || {
        assert!(opened.fetch_add(1, Ordering::Relaxed) < 3, "a panic of the source");
        Ok(Input::from_bytes("{\"a\": [1, 2]}"))
    });
    let ended = Explorer::new(source).run().map_err(io::Error::other).unwrap();
    panic!("it ended with {ended:?}");
}

#[test]
fn a_panic_restores_the_terminal() {
    if env::var_os(INSIDE).is_some() {
        return explore();
    }
    let shown = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&shown).unwrap();
    unlockpt(&shown).unwrap();
    let name = ptsname(&shown, Vec::new()).unwrap();
    let inside = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    tcsetwinsize(&inside, Winsize { ws_row: 20, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let before = tcgetattr(&inside).unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["a_panic_restores_the_terminal", "--exact", "--nocapture"]).env(INSIDE, "1");
    command.stdin(inside.try_clone().unwrap()).stdout(inside.try_clone().unwrap());
    let mut child = command.stderr(inside.try_clone().unwrap()).spawn().unwrap();
    drop(command);
    let status = child.wait().unwrap();
    let after = tcgetattr(&inside).unwrap();
    drop(inside);
    let (mut terminal, mut bytes, mut piece) = (File::from(shown), Vec::new(), [0; 4096]);
    // Reading from a terminal without a writer is an error.
    while let Ok(count @ 1..) = terminal.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
    }
    let text = String::from_utf8_lossy(&bytes);
    let (left, message) = (text.rfind("\u{1b}[?1049l").unwrap(), text.find("a panic of the source").unwrap());
    assert!(text.contains("\u{1b}[?1049h") && left < message, "{text:?}");
    assert!(text[left..].contains("\u{1b}[?25h"), "the cursor is hidden: {text:?}");
    assert_eq!(status.code(), Some(101));
    assert_eq!((after.local_modes, after.input_modes), (before.local_modes, before.input_modes));
}
