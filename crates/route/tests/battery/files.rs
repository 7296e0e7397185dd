//! Files: write modes, names, permissions, and wildcards.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use trommel_route::{ErrorClass, Origin, WriteMode};

use crate::support::{Bench, put, route};

#[test]
fn appends_on_separate_lines() {
    let bench = Bench::new();
    bench.put("file:new/a", WriteMode::Append, "one");
    assert_eq!(bench.file("new/a.md").as_deref(), Some("one\n"));
    bench.put("file:new/a", WriteMode::Append, "two\n");
    bench.put("file:new/a", WriteMode::Append, "");
    assert_eq!(bench.file("new/a.md").as_deref(), Some("one\ntwo\n"));
    bench.write("b.txt", "no end");
    bench.put("file:b.txt", WriteMode::Append, "more");
    assert_eq!(bench.file("b.txt").as_deref(), Some("no end\nmore\n"));
}

#[test]
fn replacement_is_verbatim() {
    let bench = Bench::new();
    bench.write("a.md", "old and long");
    fs::set_permissions(bench.root().join("a.md"), fs::Permissions::from_mode(0o640)).unwrap();
    bench.put("file:a", WriteMode::Replace, "new");
    assert_eq!(bench.file("a.md").as_deref(), Some("new"));
    let mode = |path: &str| fs::metadata(bench.root().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("a.md"), 0o640);
    bench.put("file:folder/b", WriteMode::Replace, "");
    assert_eq!((mode("folder/b.md"), mode("folder")), (0o600, 0o700));
    assert_eq!(bench.files(), ["a.md", "folder/b.md"]);
}

#[test]
fn new_files_get_the_first_free_number() {
    let bench = Bench::new();
    bench.write("a_001.md", "there");
    let written: Vec<_> =
        (0..3).map(|n| bench.put("file:a", WriteMode::New, &n.to_string()).destination).collect();
    assert_eq!(written, ["file:a_000.md", "file:a_002.md", "file:a_003.md"]);
    assert_eq!(bench.put("file:x/b.tar.gz", WriteMode::New, "").id, "x/b.tar_000.gz");
    assert_eq!(bench.file("a_001.md").as_deref(), Some("there"));
}

#[test]
fn writes_dates_and_headers() {
    let bench = Bench::new();
    bench.put("file:results/{today}", WriteMode::Append, "x");
    assert_eq!(bench.file("results/2026-03-04.md").as_deref(), Some("x\n"));
    let mut origin = Origin::of("model");
    origin.header = Some("Report".into());
    for (target, text) in [("file:r", "# Report\n\nx\n"), ("variable:r", "x\n")] {
        let mut write = bench.destinations.open(&route(target), origin.clone()).unwrap();
        std::io::Write::write_all(&mut write, b"x\n").unwrap();
        write.finish().unwrap();
        assert_eq!(
            bench.file("r.md").or_else(|| bench.variable("r")).as_deref(),
            Some(text).filter(|_| target == "file:r").or(Some("# Report\n\nx\n"))
        );
    }
    assert_eq!(bench.variable("r").as_deref(), Some("x\n"));
}

#[test]
fn wildcards_match_files() {
    let bench = Bench::new();
    for path in ["n/b.md", "n/a.md", "n/.hidden.md", "n/c.txt", "n/deep/d.md", "n/[x].md", "e.md"] {
        bench.write(path, path);
    }
    let files = bench.destinations.root().unwrap();
    let find = |path: &str| files.find(path).unwrap();
    assert_eq!(find("n/*.md"), ["n/[x].md", "n/a.md", "n/b.md"]);
    assert_eq!(find("n/?.*"), ["n/a.md", "n/b.md", "n/c.txt"]);
    assert_eq!(find("n/[ab].md"), ["n/a.md", "n/b.md"]);
    assert_eq!(find("n/[x].md"), ["n/[x].md"]);
    assert_eq!(find("n/.h*"), ["n/.hidden.md"]);
    assert_eq!(find("*"), ["e.md"]);
    assert_eq!(find("e"), ["e.md"]);
    assert!(find("none").is_empty() && find("none/*").is_empty());
    assert_eq!(files.find("*/a.md").unwrap_err().class(), ErrorClass::Pattern);
    assert_eq!(files.find("n/[.md*").unwrap_err().class(), ErrorClass::Pattern);
    assert_eq!(files.find("../*").unwrap_err().class(), ErrorClass::Outside);
}

/// R45: the error for an unwritable path has the path, the cause, and advice.
#[test]
fn r45_unwritable_paths_are_explained() {
    let bench = Bench::new();
    bench.write("file", "x");
    fs::create_dir(bench.root().join("folder.md")).unwrap();
    let error = |target: &str| put(&bench.destinations, &route(target), "x").unwrap_err();
    assert_eq!(error("file:folder").class(), ErrorClass::Outside);
    assert!(error("file:folder").to_string().contains("it is not a regular file"));
    let below = error("file:file/x");
    assert!(below.to_string().contains("file"), "{below}");
    assert_eq!(error("file:own/x").class(), ErrorClass::Outside, "the program's own folder");
    assert!(bench.root().join("own").symlink_metadata().is_err());
}
