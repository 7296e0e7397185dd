//! What the explorer says when it cannot do what it is asked for.

use std::io;
use std::sync::{Arc, Mutex};

use trommel::reader::Framing;

use super::{SHOP, printer, screen, source, source_of};
use crate::app::App;
use crate::print::Printer;
use crate::view::View;
use crate::{Error, Explorer, Source};

/// The line at the bottom after some keys.
fn bottom(text: impl Into<Vec<u8>>, framing: Framing, keys: &str) -> String {
    let mut printer = printer(source(text, framing), (100, 14));
    printer.press(keys).unwrap();
    printer.text().lines().last().unwrap().to_owned()
}

#[test]
fn keys_that_do_not_apply() {
    let lines = "{\"a\":1}\n{\"a\":2}\n";
    for (text, framing, keys, said) in [
        (SHOP, Framing::Auto, "n", "nothing was searched: / searches"),
        (SHOP, Framing::Auto, "s", "only a table can be sorted: t shows an array as a table"),
        (SHOP, Framing::Auto, "t", "a table shows an array: select one"),
        (SHOP, Framing::Auto, "f@.<Enter>", "expected"),
        (lines, Framing::Lines, "ts", "records cannot be sorted"),
        (lines, Framing::Lines, ":$[?@.a == 9]<Enter>", "0 results"),
        ("{\"a\":1}\n", Framing::Lines, ":$.a<Enter>", "1 result  Enter goes to one"),
        ("{\"a\":1}\n{\n", Framing::Lines, ":$.a<Enter>", "1 result; skipped 1 malformed record"),
    ] {
        let shown = bottom(text, framing, keys);
        assert!(shown.contains(said), "{keys}: {shown}");
    }
    // Results of nothing cannot be entered.
    assert!(screen(SHOP, ":$.none<Enter><Enter>").contains("0 results"));
}

#[test]
fn values_without_children() {
    let shown = screen("17", "lj<Enter>");
    assert!(shown.contains("  $                               number"), "{shown}");
    assert!(bottom("17", Framing::Auto, "f@ > 1<Enter>").contains("a filter selects elements"));
    let table = screen("[1, [2], \"x\"]", "t");
    assert!(table.contains("       1  [2]"), "{table}");
}

#[test]
fn long_values_are_written_but_not_copied() {
    let long = format!("[\"{}\"]", "x".repeat(200_000));
    assert!(bottom(&*long, Framing::Auto, "jyv").contains("too long to copy: w writes it to a file"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.json");
    let said = bottom(&*long, Framing::Auto, &format!("w{}<Enter>", path.display()));
    assert!(said.starts_with("wrote "), "{said}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), long);
    let missing = folder.path().join("no/value.json");
    let said = bottom(&*long, Framing::Auto, &format!("w{}<Enter>", missing.display()));
    assert!(said.contains("No such file"), "{said}");
}

#[test]
fn limits_are_said() {
    let numbers = (0..20_000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let said = bottom(format!("[{numbers}]"), Framing::Auto, ":$[*]<Enter>");
    assert!(said.contains("the first 10000; there are more"), "{said}");
    let objects = (0..200_001).rev().map(|number| format!(r#"{{"n":{number}}}"#)).collect::<Vec<_>>();
    let said = bottom(format!("[{}]", objects.join(",")), Framing::Auto, "ts");
    assert!(said.contains("sorted the first 200000 of 200001 elements"), "{said}");
}

#[test]
fn descriptions_count_what_is_missing() {
    let text = r#"{"a":[{"b":1,"c":2},{"b":3},{"b":4,"b":5}]}"#;
    let shown = screen(text, "d");
    assert!(shown.contains("duplicates  1 name occurs twice in an object"), "{shown}");
    let mut printer = printer(source(text, Framing::Auto), (100, 24));
    printer.press("d").unwrap();
    let shown = printer.text();
    let row =
        |path: &str| shown.lines().find(|line| line.ends_with(path)).unwrap_or_else(|| panic!("{shown}"));
    let counts = row(".c").split_whitespace().take(2).collect::<Vec<_>>();
    assert_eq!(counts, ["1", "2"], "{shown}");
    let inner = (0..60).map(|number| format!("\"b{number}\":1")).collect::<Vec<_>>().join(",");
    let outer = (0..60).map(|number| format!("\"a{number}\":{{{inner}}}")).collect::<Vec<_>>();
    let wide = format!("{{{}}}", outer.join(","));
    let mut printer = super::printer(source(wide, Framing::Auto), (100, 14));
    printer.press("d<End>").unwrap();
    assert!(printer.text().contains(" paths\n"), "{}", printer.text());
}

/// A task that is cancelled leaves what it has found so far.
#[test]
fn tasks_are_cancelled() {
    let mut printer = printer(source("[[1],{\"n\":2}]", Framing::Auto), (100, 14));
    printer.type_ahead(":$..n<Enter><Esc>").unwrap();
    printer.draw().unwrap();
    assert!(printer.text().contains("query: cancelled"), "{}", printer.text());
    let Some(View::Results(results)) = printer.app.views.last() else { panic!("no results") };
    assert_eq!(results.ended.as_deref(), Some("cancelled: more results may follow"));
    printer.press("<Esc>t").unwrap();
    printer.type_ahead("s<Esc>").unwrap();
    printer.draw().unwrap();
    let Some(View::Table(table)) = printer.app.views.last() else { panic!("no table") };
    assert!(table.order.is_none() && printer.text().contains("sort: cancelled"), "{}", printer.text());
}

/// An input that is truncated while it is explored.
#[test]
fn inputs_that_become_shorter() {
    let text = format!("[[1,2,3],{}]", "[4,5,6],".repeat(1000).trim_end_matches(','));
    let bytes = Arc::new(Mutex::new(text.into_bytes()));
    let app = App::new(source_of(&bytes, Framing::Single), None, false).unwrap();
    let mut printer = Printer::new(app, (100, 14)).unwrap();
    printer.press("G").unwrap();
    bytes.lock().unwrap().truncate(20);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("value.json");
    printer.press(&format!("w{}<Enter>", path.display())).unwrap();
    assert!(printer.text().contains("the input has become shorter"), "{}", printer.text());
    assert!(!path.exists());
    printer.press("d").unwrap();
    assert!(printer.text().contains("the input has become shorter"), "{}", printer.text());
}

#[test]
fn errors_have_their_cause() {
    let missing = || Source::new("no.json", Framing::Auto, || Err(io::ErrorKind::NotFound.into()));
    let failed = Explorer::new(missing()).print((80, 10), "").unwrap_err();
    assert!(failed.to_string().starts_with("cannot open the input: "), "{failed}");
    assert!(std::error::Error::source(&failed).is_some());
    let failed = Explorer::new(missing()).follow(true).run().unwrap_err();
    assert!(matches!(failed, Error::Input(_)), "{failed}");
    let explorer = Explorer::new(source("[]", Framing::Auto));
    assert!(format!("{explorer:?}").contains("data.json"), "{explorer:?}");
    let failed = explorer.print((80, 10), "<Nothing>").unwrap_err();
    assert_eq!(failed.to_string(), "no key has the name <Nothing>; write < as <lt>");
    assert!(std::error::Error::source(&failed).is_none());
    let failed = Error::Terminal(io::Error::other("gone"));
    assert_eq!(failed.to_string(), "the terminal cannot be used: gone");
}

/// The opener fails after the first screen.
#[test]
fn inputs_that_disappear() {
    let is_gone = Arc::new(Mutex::new(false));
    let gone = Arc::clone(&is_gone);
    let source = Source::new("data.json", Framing::Auto, move || {
        if *gone.lock().unwrap() {
            return Err(io::Error::other("the disk is gone"));
        }
        trommel::reader::Input::from_seekable(io::Cursor::new("{\"a\":[1,2]}"))
    });
    let mut printer = printer(source, (100, 14));
    *is_gone.lock().unwrap() = true;
    for keys in [":$..a<Enter>", "<Esc>/x<Enter>", "<Esc>/X<Enter>", "d", "jyv"] {
        printer.press(keys).unwrap();
        assert!(printer.text().contains("the disk is gone"), "{keys} {}", printer.text());
    }
    printer.press("<Esc>l").unwrap();
    assert!(printer.text().contains("    ! the disk is gone"), "{}", printer.text());
    printer.press("t").unwrap();
    assert!(printer.text().contains("\n! the disk is gone"), "{}", printer.text());
}
