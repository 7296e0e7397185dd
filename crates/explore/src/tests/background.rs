//! The guide that is built while the input is explored.

use std::time::{Duration, Instant};

use trommel::reader::Framing;
use trommel_guide::{Guide, Identity, Index, IndexBuilder, Shape};

use super::source;
use crate::app::{App, Builder};
use crate::print::Printer;

/// Builds the guide of a text.
fn builder(text: &str, framing: Framing) -> Builder {
    let source = source(text, framing);
    Box::new(move |_| {
        let document = source.document().map_err(|error| error.to_string())?;
        let index = Index::build(&document, IndexBuilder::new(64), Box::new(|_| Ok(())))
            .map_err(|error| error.to_string())?;
        Ok(Guide::new(Identity::Output([0; 32]), framing, index, Shape::default()))
    })
}

/// Waits for the pass in the background.
fn wait_for(printer: &mut Printer, text: &str) {
    let started = Instant::now();
    while !printer.text().contains(text) {
        assert!(started.elapsed() < Duration::from_mins(1), "no {text:?}: {}", printer.text());
        if let Ok(message) = printer.app.receiver.recv_timeout(Duration::from_millis(20)) {
            printer.app.receive(message);
        }
        printer.draw().unwrap();
    }
}

#[test]
fn a_guide_is_used_once_it_is_built() {
    let text = format!("[{}]", (0..5000).map(|n| format!("[{n}]")).collect::<Vec<_>>().join(","));
    let app = App::new(source(&*text, Framing::Single), Some(builder(&text, Framing::Single)), false);
    let mut printer = Printer::new(app.unwrap(), (100, 14)).unwrap();
    wait_for(&mut printer, "  guide  $");
    assert!(printer.app.source.index().is_some());
    printer.press("G").unwrap();
    assert!(printer.text().contains("  $[4999]\n"), "{}", printer.text());
    printer.press("g").unwrap();
    assert!(printer.text().contains("5,000 100.0%"), "{}", printer.text());
}

/// A first record of more than a megabyte is taken for the only one.
#[test]
fn a_guide_finds_the_records_after_a_long_one() {
    let text = format!("[\"{}\",[{}]]\n[2]\n[3]\n", "x".repeat(100), "0,".repeat(1 << 20) + "0");
    let app = App::new(source(&*text, Framing::Auto), Some(builder(&text, Framing::Auto)), false);
    let mut printer = Printer::new(app.unwrap(), (100, 14)).unwrap();
    wait_for(&mut printer, "  guide  ");
    wait_for(&mut printer, "records");
    printer.press("G").unwrap();
    assert!(printer.text().contains("record 2  $\n"), "{}", printer.text());
}

#[test]
fn a_guide_that_cannot_be_built_is_not_needed() {
    let fails: Builder = Box::new(|_| Err("the disk is full".into()));
    let app = App::new(source("[1,2]", Framing::Single), Some(fails), false).unwrap();
    let mut printer = Printer::new(app, (100, 14)).unwrap();
    wait_for(&mut printer, "no guide: the disk is full");
    printer.press("G").unwrap();
    assert!(printer.text().contains("  $[1]\n"), "{}", printer.text());
}
