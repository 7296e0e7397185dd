//! Nothing outside of the root is read or written, for any path and under concurrent changes.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use trommel_route::{ErrorClass, WriteMode};

use crate::support::{Bench, put, route};

/// A file outside the root, which must not change.
const SECRET: &str = "outside";

/// A root with links that lead out of it.
fn surrounded() -> Bench {
    let bench = Bench::new();
    let outside = bench.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.md"), SECRET).unwrap();
    bench.write("inner/real.md", "real");
    let root = bench.root();
    symlink(&outside, root.join("absolute")).unwrap();
    symlink("../outside", root.join("relative")).unwrap();
    symlink("../outside/secret.md", root.join("file.md")).unwrap();
    symlink(outside.join("new.md"), root.join("dangling.md")).unwrap();
    symlink("inner/../../outside", root.join("climbing")).unwrap();
    symlink("circle.md", root.join("circle.md")).unwrap();
    symlink("/proc/self", root.join("process")).unwrap();
    symlink("/dev/zero", root.join("zero.md")).unwrap();
    symlink("inner/real.md", root.join("inside.md")).unwrap();
    symlink("inner", root.join("within")).unwrap();
    fs::create_dir(root.join("folder.md")).unwrap();
    assert!(Command::new("mkfifo").arg(root.join("pipe.md")).status().unwrap().success());
    bench
}

/// Paths that must be refused.
fn escapes() -> Vec<String> {
    let mut escapes: Vec<String> = [
        "../outside/secret.md",
        "..",
        "../",
        "inner/../../outside/secret.md",
        "inner/../../../etc/passwd",
        "/etc/passwd",
        "//etc/passwd",
        "\\etc\\passwd",
        "..\\outside\\secret.md",
        "inner\\..\\..\\x.md",
        "./../outside/secret.md",
        "absolute/secret.md",
        "relative/secret.md",
        "climbing/secret.md",
        "file.md",
        "dangling.md",
        "circle.md",
        "zero.md",
        "process/environ",
        "process/cwd/x.md",
        "process/root/etc/passwd",
        "process/fd/0",
        "pipe.md",
        "absolute/new.md",
        "folder.md",
        "relative/deep/new.md",
        "climbing/new.md",
        "inner/",
        "within/",
        "a\0b.md",
        "a\u{202e}b.md",
        "a\nb.md",
        "inner/real.md/x.md",
        "absolute/../absolute/secret.md",
        "own/x.md",
        "within/../../outside/secret.md",
    ]
    .map(str::to_owned)
    .into();
    for depth in 1..=40 {
        escapes.push(format!("{}outside/secret.md", "../".repeat(depth)));
        escapes.push(format!("{}{}outside/secret.md", "inner/".repeat(depth), "../".repeat(depth + 1)));
        escapes.push(format!("absolute/{}secret.md", "./".repeat(depth)));
        escapes.push(format!("{}/secret.md", "/".repeat(depth)));
        escapes.push(format!("{}x.md", "y".repeat(300 * depth)));
    }
    escapes
}

/// R23: 200 paths that lead out of the root, to pipes, to devices, or nowhere. Nothing outside is
/// read or written.
#[test]
fn r23_no_path_leads_out_of_the_root() {
    let bench = surrounded();
    let files = bench.destinations.root().unwrap();
    let mut refused = 0;
    for path in escapes() {
        if let Ok(mut file) = files.read(&path) {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut file, &mut text).unwrap();
            panic!("{path:?} was read: {text:?}");
        }
        for mode in WriteMode::ALL {
            let Ok(target) = trommel_route::Target::parse(&format!("file:{path}")) else { continue };
            let written = put(&bench.destinations, &trommel_route::Route::to(target).write_mode(mode), "x");
            // A numbered file has a new name next to the link, so it is inside the root.
            assert!(written.is_err() || mode == WriteMode::New, "{path:?} was written: {written:?}");
        }
        refused += 1;
    }
    assert!(refused >= 200);
    let outside = bench.folder.path().join("outside");
    let left: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(
        (left, fs::read_to_string(outside.join("secret.md")).unwrap().as_str()),
        (vec!["secret.md".into()], SECRET)
    );
}

#[test]
fn follows_links_inside_the_root() {
    let bench = surrounded();
    bench.put("file:inside", WriteMode::Append, "more");
    bench.put("file:within/new", WriteMode::Replace, "new");
    bench.put("file:inside", WriteMode::Replace, "other");
    assert_eq!(bench.file("inner/real.md").as_deref(), Some("other"));
    assert!(bench.root().join("inside.md").symlink_metadata().unwrap().is_symlink());
    assert_eq!(bench.file("inner/new.md").as_deref(), Some("new"));
    let error = |path: &str| bench.destinations.root().unwrap().read(path).unwrap_err();
    assert_eq!(error("absolute/secret.md").class(), ErrorClass::Outside);
    assert!(error("absolute/secret.md").to_string().contains("leads outside the root"));
    assert_eq!(
        (error("pipe.md").class(), error("circle.md").class()),
        (ErrorClass::Outside, ErrorClass::Outside)
    );
}

/// R23: a folder is repeatedly replaced by a link to the outside. Every write happens inside or
/// fails.
#[test]
fn r23_nothing_is_written_through_changing_links() {
    let bench = surrounded();
    let (root, outside) = (bench.root(), bench.folder.path().join("outside"));
    fs::create_dir(root.join("swapped")).unwrap();
    let (stop, exchanged) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let exchanging = {
        let (root, outside) = (root.clone(), outside.clone());
        let (stop, exchanged) = (Arc::clone(&stop), Arc::clone(&exchanged));
        thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                fs::rename(root.join("swapped"), root.join("aside")).unwrap();
                // A writer may have created the folder in between.
                if symlink(&outside, root.join("swapped")).is_ok() {
                    exchanged.store(true, Ordering::Relaxed);
                }
                let _ = fs::remove_file(root.join("swapped"));
                let _ = fs::remove_dir_all(root.join("swapped"));
                if fs::rename(root.join("aside"), root.join("swapped")).is_err() {
                    fs::remove_dir_all(root.join("aside")).unwrap();
                    fs::create_dir_all(root.join("swapped")).unwrap();
                }
            }
        })
    };
    let tries = if std::env::var_os("TROMMEL_DEEP").is_some() { 100_000 } else { 300 };
    let mut written = 0;
    // On a busy machine, few attempts meet the folder, so continue until each side succeeded once.
    let is_done = |number, written| number >= tries && written > 0 && exchanged.load(Ordering::Relaxed);
    for number in 0..200 * tries {
        if is_done(number, written) {
            break;
        }
        let mode = WriteMode::ALL[number % 3];
        let to = format!("file:swapped/{}", ["secret", "other"][number % 2]);
        written += u32::from(put(&bench.destinations, &route(&to).write_mode(mode), "inside").is_ok());
        if let Ok(mut file) = bench.destinations.root().unwrap().read("swapped/secret.md") {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut file, &mut text).unwrap();
            assert!(!text.contains(SECRET));
        }
    }
    stop.store(true, Ordering::Relaxed);
    exchanging.join().unwrap();
    assert!(is_done(tries, written), "{written} writes");
    let left: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(
        (left, fs::read_to_string(outside.join("secret.md")).unwrap().as_str()),
        (vec!["secret.md".into()], SECRET)
    );
}
