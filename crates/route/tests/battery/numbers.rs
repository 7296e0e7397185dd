//! Numbered files and buffers, in large numbers.

use std::fs::{self, File};
use std::time::{Duration, Instant};

use trommel_route::{Scope, WriteMode};

use crate::support::{Bench, put, route};

/// The average time of a write after `taken` numbers are taken.
fn each(bench: &Bench, target: &str, taken: u32) -> Duration {
    let since = Instant::now();
    for number in taken..taken + 20 {
        let manifest = bench.put(target, WriteMode::New, "x");
        assert!(manifest.id.contains(&format!("_{number:03}")), "{}", manifest.id);
    }
    since.elapsed() / 20
}

/// With ten thousand numbers taken, a write takes about as long as with none.
#[test]
fn numbers_are_found_in_constant_time() {
    let bench = Bench::new();
    fs::create_dir(bench.root().join("few")).unwrap();
    fs::create_dir(bench.root().join("many")).unwrap();
    (0..10_000)
        .for_each(|number| drop(File::create(bench.root().join(format!("many/x_{number:03}.md"))).unwrap()));
    let few = each(&bench, "file:few/x", 0);
    let many = each(&bench, "file:many/x", 10_000);
    assert!(many < few * 4 + Duration::from_millis(2), "{few:?} became {many:?}");
    let since = Instant::now();
    for number in 0..10_000 {
        assert_eq!(bench.put("variable:v", WriteMode::New, "x").id, format!("v_{number:03}"));
    }
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
}

#[test]
fn handles_freed_numbers_and_concurrent_writers() {
    let bench = Bench::new();
    for target in ["file:x", "variable:x"] {
        let session = route(target).write_mode(WriteMode::New).scope(Scope::Session);
        let names: Vec<_> = (0..9).map(|_| put(&bench.destinations, &session, "x").unwrap().id).collect();
        assert_eq!(names.iter().collect::<std::collections::BTreeSet<_>>().len(), 9);
    }
    fs::remove_file(bench.root().join("x_000.md")).unwrap();
    assert_eq!(bench.put("file:x", WriteMode::New, "y").id, "x_000.md");
    fs::remove_file(bench.root().join("x_004.md")).unwrap();
    let id = bench.put("file:x", WriteMode::New, "y").id;
    assert!(["x_004.md", "x_009.md"].contains(&id.as_str()), "{id}");
}
