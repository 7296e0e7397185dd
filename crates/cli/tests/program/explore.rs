//! `trommel explore`: printed screens, and a terminal that is left as it was.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Folder, Home, data, run, trommel};
use crate::terminal::{shown_with_status, terminal};

/// An explorer on a terminal of 100 columns and 50 rows.
struct Session {
    child: Child,
    keys: fs::File,
    shown: Arc<Mutex<String>>,
}

impl Session {
    fn start(mut command: Command) -> Self {
        let (shown, inside) = terminal(100);
        command.env("TERM", "xterm-256color").stdin(inside.try_clone().unwrap());
        let child = command.stdout(inside.try_clone().unwrap()).stderr(inside).spawn().unwrap();
        drop(command);
        let (mut reader, all) = (shown.try_clone().unwrap(), Arc::new(Mutex::new(String::new())));
        let text = Arc::clone(&all);
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut piece) {
                text.lock().unwrap().push_str(&String::from_utf8_lossy(&piece[..count]));
            }
        });
        Self { child, keys: shown, shown: all }
    }

    /// Waits until a text was shown, and forgets what was shown before.
    fn wait_for(&self, text: &str) {
        let started = Instant::now();
        loop {
            let mut shown = self.shown.lock().unwrap();
            if let Some(at) = shown.find(text) {
                shown.drain(..at);
                return;
            }
            assert!(started.elapsed() < Duration::from_secs(30), "no {text:?}: {shown}");
            drop(shown);
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn status(mut self) -> Option<i32> {
        let status = self.child.wait().unwrap();
        self.wait_for("\u{1b}[?1049l");
        status.code()
    }
}

#[test]
fn screens_are_printed() {
    let printed = run(["explore", "users.json", "--print", "90x12", "--keys", "jl"]).ok();
    assert!(printed.contains("users.json") && printed.contains("array"), "{printed}");
    let wrong = run(["explore", "users.json", "--print", "90"]).failed(2);
    assert!(wrong.contains("as in 80x24"), "{wrong}");
    let wrong = run(["explore", "users.json", "--print", "90x12", "--keys", "<Nothing>"]).failed(2);
    assert!(wrong.contains("<Nothing>"), "{wrong}");
    let piped = run(["explore", "users.json"]).failed(2);
    assert!(piped.contains("not a terminal"), "{piped}");
    let missing = run(["explore", "no.json", "--print", "90x12"]).failed(1);
    assert!(missing.contains("no.json"), "{missing}");
}

#[test]
fn stored_and_compressed_inputs_are_explored() {
    let home = Home::new("explore-outputs");
    let id = home.run(["put", "users.json", "--tool", "x"]).ok();
    let printed =
        home.run(["explore", &format!("output:{}", id.trim()), "--print", "90x12", "--keys", "jl"]).ok();
    let plain = run(["explore", "users.json", "--print", "90x12", "--keys", "jl"]).ok();
    assert_eq!(printed.lines().nth(2), plain.lines().nth(2));
    let folder = Folder::new("explore-packed");
    let packed = folder.path("users.json.gz");
    let mut encoder =
        flate2::write::GzEncoder::new(fs::File::create(&packed).unwrap(), flate2::Compression::fast());
    encoder.write_all(&fs::read(data().join("users.json")).unwrap()).unwrap();
    encoder.finish().unwrap();
    let printed = run(["explore", packed.to_str().unwrap(), "--print", "90x12", "--keys", "jl"]).ok();
    assert_eq!(printed.lines().nth(2), plain.lines().nth(2));
}

/// A process of no terminal has no keys.
#[test]
fn keys_need_a_terminal() {
    let explorer = trommel(["explore", "users.json"]);
    let mut apart = Command::new("setsid");
    apart.arg("--wait").arg(explorer.get_program()).args(explorer.get_args());
    apart.current_dir(data()).stdin(Stdio::null());
    let (text, status) = shown_with_status(100, apart);
    assert_eq!(status.code(), Some(2), "{text}");
    assert!(text.contains("the terminal cannot be used") && text.contains("--print 80x24"), "{text}");
}

/// Standard input, guides, outputs, and inputs that are refused.
#[test]
fn inputs_of_every_kind() {
    let home = Home::new("explore-inputs");
    let screen = |args: &[&str]| {
        let all = ["explore", "--print", "90x12", "--keys", "jl"].iter().chain(args);
        home.run(all).ok().lines().nth(2).unwrap().to_owned()
    };
    let plain = screen(&["users.json"]);
    let fed = home.fed(
        ["explore", "-", "--print", "90x12", "--keys", "jl"],
        &fs::read(data().join("users.json")).unwrap(),
    );
    assert_eq!(fed.ok().lines().nth(2).unwrap(), plain);
    assert_eq!(screen(&["users.json", "--no-guide"]), plain);
    // The guide of a file, and that of an output.
    let folder = Folder::new("explore-guided");
    let records = (0..40_000).map(|number| format!("{{\"number\":{number}}}")).collect::<Vec<_>>();
    let file = folder.file("many.json", format!("[{}]", records.join(",")));
    home.run(["guide", "build", &file]).ok();
    let last = home.run(["explore", &file, "--print", "90x12", "--keys", "G"]).ok();
    assert!(last.contains("$[39999]") && last.contains(" guide "), "{last}");
    let id = home.run(["put", &file, "--tool", "x"]).ok();
    let output = format!("output:{}", id.trim());
    let last = home.run(["explore", &output, "--print", "90x12", "--keys", "G"]).ok();
    assert!(last.contains("$[39999]"), "{last}");
    let text = home.fed(["put", "-", "--tool", "x", "--id", "text-1"], b"no JSON\n");
    assert_eq!(text.status, Some(0), "{text:?}");
    home.run(["explore", "output:text-1", "--print", "90x12"]).failed(2);
    home.run(["explore", "output:absent", "--print", "90x12"]).failed(2);
    let directory = home.run(["explore", folder.path("").to_str().unwrap(), "--print", "90x12"]).failed(1);
    assert!(directory.to_lowercase().contains("directory"), "{directory}");
    let packed = folder.file("damaged.json.gz", b"\x1f\x8b\x08\0\0\0\0\0nonsense".as_slice());
    home.run(["explore", &packed, "--print", "90x12"]).failed(1);
}

#[test]
fn a_session_ends_as_it_began() {
    let mut session = Session::start(trommel(["explore", "users.json"]));
    session.wait_for("\u{1b}[?1049h");
    session.wait_for("users");
    session.press("jl");
    session.wait_for("[0]");
    session.press("q");
    assert_eq!(session.status(), Some(0));
}

#[test]
fn signals_restore_the_terminal() {
    for (signal, status) in [(rustix::process::Signal::TERM, 143), (rustix::process::Signal::HUP, 129)] {
        let session = Session::start(trommel(["explore", "users.json"]));
        session.wait_for("users");
        let pid = rustix::process::Pid::from_child(&session.child);
        rustix::process::kill_process(pid, signal).unwrap();
        assert_eq!(session.status(), Some(status));
    }
}

/// The guide that is built in the background serves other commands.
#[test]
fn a_guide_is_left() {
    let home = Home::new("explore-guides");
    let folder = Folder::new("explore-large");
    let file = folder.path("large.json");
    let records = (0..40_000).map(|number| format!("{{\"number\":{number},\"text\":\"some text\"}}"));
    fs::write(&file, format!("[{}]", records.collect::<Vec<_>>().join(","))).unwrap();
    let name = file.to_str().unwrap();
    home.run(["guide", "info", name]).failed(1);
    let mut session = Session::start(home.trommel(["explore", name]));
    session.wait_for("guide");
    let started = Instant::now();
    while home.run(["guide", "info", name]).status != Some(0) {
        assert!(started.elapsed() < Duration::from_secs(30));
        thread::sleep(Duration::from_millis(20));
    }
    session.press("q");
    assert_eq!(session.status(), Some(0));
    let info = home.run(["guide", "info", name, "--json"]).ok();
    assert!(info.contains("\"shape\":true"), "{info}");
}

/// A terminal of tmux, which answers like one of a user.
struct Tmux {
    socket: String,
}

impl Tmux {
    fn run(&self, arguments: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.socket, "-f", "/dev/null"]).args(arguments).env_remove("TMUX");
        let output = tmux.output().unwrap();
        assert!(output.status.success(), "{arguments:?} {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Types keys, and waits for a text on the screen. Returns the screen.
    fn press(&self, keys: &[&str], awaited: &str) -> String {
        for key in keys {
            self.run(&["send-keys", key]);
        }
        let started = Instant::now();
        loop {
            let screen = self.run(&["capture-pane", "-p"]);
            if screen.contains(awaited) {
                return screen;
            }
            assert!(started.elapsed() < Duration::from_secs(30), "{keys:?} no {awaited:?}: {screen}");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // The session may have ended.
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).output();
    }
}

#[test]
fn a_story_in_tmux() {
    if Command::new("tmux").arg("-V").output().is_err() {
        println!("NOT RUN: tmux is not installed");
        return;
    }
    let folder = Folder::new("explore-tmux");
    let file = folder.path("people.json");
    let people = r#"{"people":[{"name":"Ada","age":36},{"name":"Bob","age":24},{"name":"Cy","age":51}]}"#;
    fs::write(&file, people).unwrap();
    let command = trommel(["explore", file.to_str().unwrap()]);
    let arguments = command.get_args().map(|argument| argument.to_str().unwrap()).collect::<Vec<_>>();
    let program = command.get_program().to_str().unwrap();
    let line = format!("TROMMEL_GUIDE=off {program} {}; echo left with $?; cat", arguments.join(" "));
    let tmux = Tmux { socket: format!("trommel-{}", std::process::id()) };
    tmux.run(&["new-session", "-d", "-x", "100", "-y", "20", &line]);
    tmux.press(&[], "people");
    tmux.press(&["jljl"], "age\":51");
    tmux.press(&["/bob", "Enter"], "$['people'][1]['name']");
    let table = tmux.press(&["t", "ls"], "age ▲");
    let order = ["24", "36", "51"].map(|age| table.find(&format!(" {age}")).unwrap());
    assert!(order.is_sorted(), "{table}");
    tmux.press(&["Escape"], "$['people'][1]['name']");
    tmux.press(&[":$..age", "Enter"], "3 results");
    tmux.run(&["resize-window", "-x", "60", "-y", "10"]);
    let narrow = tmux.press(&["Escape"], "$['people'][1]['name']");
    assert!(
        narrow.lines().count() <= 10 && narrow.lines().all(|line| line.chars().count() <= 60),
        "{narrow}"
    );
    tmux.press(&["q"], "left with 0");
}
