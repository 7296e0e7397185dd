//! Files and queries among the arguments, and arguments that are neither.

use std::fs;

use crate::common::{Folder, Home, Run, data, line, piped, run, trommel};

/// The commands that take queries, with the arguments that they need.
const QUERIED: [&[&str]; 5] =
    [&["extract"], &["count"], &["sample", "-n", "1", "--seed", "1"], &["stats"], &["group"]];

/// An argument that is neither a file nor a query is a usage error, before anything is read.
#[test]
fn resembled_queries_are_corrected_before_anything_is_read() {
    let single_quotes = "single quotes";
    for (argument, help) in [
        (".a", "write `$.a`"),
        (".a.b", "write `$.a.b`"),
        ("a[0]", "write `$.a[0]`"),
        ("n=.a", "write `n=$.a`"),
        ("n=@.a", "write `n=$.a`"),
        ("@.a", "write `$.a`"),
        (".a[]", "write `$.a[*]`"),
        (".a[] | select(.b==\"x\")", "write `$.a[?@.b==\"x\"]`"),
        (".request.log", "write `$.request.log`"),
        // What a shell leaves of a query in double quotes.
        (".x", "write `$.x`"),
        ("[0]", "write `$[0]`"),
        ("[0].x", "write `$[0].x`"),
        ("0", single_quotes),
        ("0.x", single_quotes),
        ("", single_quotes),
        ("=$.a", "empty name before ="),
    ] {
        for command in QUERIED {
            // The malformed file comes first, and is not read.
            let err = run(command.iter().chain(&["bad.json", argument])).failed(2);
            assert!(err.contains(help), "{command:?} {argument}: {err}");
            assert!(!err.contains("bad.json:"), "{command:?} {argument}: {err}");
        }
    }
}

/// Queries are checked before any file is read.
#[test]
fn invalid_queries_among_files_are_errors_of_the_query() {
    for command in QUERIED {
        for query in ["$.a[", "$a", "n=$.a[?", "$.a b"] {
            let err = run(command.iter().chain(&["bad.json", query, "users.json"])).failed(2);
            assert!(err.starts_with("error[query"), "{command:?} {query}: {err}");
        }
    }
}

/// A missing file stays a missing file, although it may be a misspelled query.
#[test]
fn missing_files_are_not_taken_for_queries() {
    let folder = Folder::new("arguments-missing");
    for name in
        ["a.json", "2026-01-01.jsonl", "1.json", ".hidden.json", "a (1).json", "part[0-9].json", "x=y.json"]
    {
        let err = run(["count", folder.path(name).to_str().unwrap()]).failed(1);
        assert!(err.contains("cannot open"), "{name}: {err}");
        let mut command = trommel(["count", name]);
        let err = Run::of(command.current_dir(folder.path("")).output().unwrap()).failed(1);
        assert!(err.contains("cannot open") && !err.contains("a query"), "{name}: {err}");
    }
    assert!(line("count missing").failed(1).contains("a query is written `$.missing`"));
}

/// A file that exists is a file, even if its name looks like a query.
#[test]
fn existing_files_are_files() {
    let folder = Folder::new("arguments-existing");
    let within = |args: &[&str]| Run::of(trommel(args).current_dir(folder.path("")).output().unwrap());
    for name in [".a", "a[0]", "0", "n=.a", "@.a", "$x.json", "-", "cost=$5.json", "a | b"] {
        folder.file(name, "{\"id\":1}");
        let path = format!("./{name}");
        assert_eq!(within(&["extract", &path, "$.id"]).ok(), "1\n", "{name}");
        assert_eq!(within(&["extract", "$.id", &path]).ok(), "1\n", "{name}");
        if !name.contains('$') && name != "-" {
            assert_eq!(within(&["extract", name, "$.id"]).ok(), "1\n", "{name}");
        }
    }
    for name in ["$x.json", "cost=$5.json"] {
        let err = within(&["count", name]).failed(2);
        assert!(err.contains(&format!("write ./{name}")) || err.contains("error[query"), "{name}: {err}");
    }
    let err = within(&["count", "cost=$5.json"]).failed(2);
    assert!(err.contains("for the file, write ./cost=$5.json"), "{err}");
}

/// Options may come between the arguments.
#[test]
fn options_come_anywhere() {
    let expected = line("count users.json users=$.users[*] $.meta").ok();
    for args in [
        "count --json users=$.users[*] users.json $.meta",
        "count users=$.users[*] --strict users.json -j 2 $.meta",
        "count users=$.users[*] $.meta users.json -e",
        "count -n 100 -- users=$.users[*] $.meta users.json",
    ] {
        assert_eq!(line(args).ok(), expected, "{args}");
    }
    assert_eq!(line("extract -o paths users.json -n 1 $.users[*].name").ok(), "$['users'][0]['name']\n");
}

#[test]
fn commands_without_queries_refuse_them() {
    for (args, help) in [
        ("check users.json $.users", "check takes no query"),
        ("schema users.json $.users", "`trommel stats FILE '$.users' --schema`"),
        ("sample users.json $.users $.meta -n 1", "sample takes one query, and 2 are given"),
    ] {
        let err = line(args).failed(2);
        assert!(err.contains(help), "{args}: {err}");
    }
}

/// Two counts of one name are an error, wherever the files are.
#[test]
fn names_of_counts_are_unique() {
    for args in ["n=$.a users.json n=$.b", "$.a users.json log.jsonl $.a"] {
        let err = line(&format!("count {args}")).failed(2);
        assert!(err.contains("two counts are named"), "{args}: {err}");
    }
}

/// `-o` is a form. A value that looks like a file gets the advice to redirect.
#[test]
fn output_is_a_form_and_not_a_file() {
    for (args, help) in [
        ("extract users.json $.meta -o out.json", "to write to a file, add > out.json"),
        ("extract users.json $.meta --output dir/out", "to write to a file, add > dir/out"),
        ("extract users.json $.meta --output raw", "verbatim"),
        ("stats users.json -o out.json", "to write to a file, add > FILE"),
        ("count users.json -H", "extract and sample take -H"),
        ("extract users.json --by-file", "count, group, stats, and schema take --by-file"),
    ] {
        let err = line(args).failed(2);
        assert!(err.contains(help), "{args}: {err}");
    }
}

#[test]
fn standard_input_is_the_input_without_files() {
    let log = fs::read(data().join("log.jsonl")).unwrap();
    for command in ["stats", "schema", "check", "count", "extract", "sample -n 1 --seed 1"] {
        let words: Vec<&str> = command.split(' ').collect();
        let (without, with) = (piped(&words, &log), piped(words.iter().chain(&["-"]), &log));
        assert_eq!(without, with, "{command}");
        assert_eq!(without.status, Some(0), "{command}");
    }
    let twice = line("count - users.json -").failed(2);
    assert!(twice.contains("- is given twice"), "{twice}");
}

/// An unknown ID among several inputs is a usage error, before anything is read.
#[test]
fn unknown_outputs_are_refused_before_anything_is_read() {
    let home = Home::new("arguments-unknown");
    home.put("known-output", "{\"id\":1}");
    for order in [["output:known-output", "output:nothing-like-it"], ["output:nothing-like-it", "users.json"]]
    {
        for command in [&["extract"][..], &["count"], &["check"], &["stats", "--by-file"]] {
            let err = home.run(command.iter().chain(&order)).failed(2);
            assert!(err.contains("nothing-like-it") && err.contains("trommel list"), "{command:?}: {err}");
        }
    }
}
