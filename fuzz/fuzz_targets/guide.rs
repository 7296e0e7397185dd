//! Guides: stored bytes are read or refused, and a document has the same answers with its guide as
//! without. The input is a number that selects the query and options, and stored bytes, a document,
//! or the steps from each name of an object to the next.
#![no_main]

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use trommel::path::{Order, Query};
use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Document, Match};
use trommel_guide::{Guide, Index, IndexBuilder};

const QUERIES: [&str; 12] = [
    "$.a",
    "$[3]",
    "$[-1]",
    "$..a",
    "$[*]",
    "$.a[*].b",
    "$[1:9:2]",
    "$[-3:]",
    "$..a..b",
    "$['a','b']",
    "$[?@.a]",
    "$[*][*]",
];

/// Names that are numbers, as they are or filled with zeros.
struct Names {
    are_filled: bool,
}

impl Names {
    fn name(&self, number: u32) -> String {
        if self.are_filled { format!("{number:06}") } else { number.to_string() }
    }

    /// An object with a member for each byte, and the last number. Most steps lead forward, so that
    /// long runs of names ascend; others repeat a name, or lead back.
    fn object(&self, steps: &[u8]) -> (String, u32) {
        let (mut number, mut members) = (1, Vec::new());
        for step in steps {
            number = match step & 7 {
                7 => u32::saturating_sub(number, 5),
                forward => number + u32::from(forward),
            };
            let name = match step >> 3 {
                31 => format!("\\u0030{number}"),
                _ => self.name(number),
            };
            let value = match step >> 3 & 3 {
                0 => format!("{{\"{name}\":[{number}],\"b\":0}}"),
                1 => format!("\"the text of member {number}, with \\\"quotes\\\" and {{\""),
                2 => format!("[{number},{{\"{name}\":{{}}}}]"),
                _ => number.to_string(),
            };
            members.push(format!("\"{name}\":{value}"));
        }
        (format!("{{{}}}", members.join(",")), number)
    }
}

/// The document and the query that an input selects.
fn document_and_query(choice: u8, selected: u8, bytes: &[u8]) -> (Cow<'_, [u8]>, String) {
    let choice = usize::from(choice & 15);
    let Some(of_names) = choice.checked_sub(QUERIES.len()) else {
        return (Cow::Borrowed(bytes), QUERIES[choice].to_owned());
    };
    let names = Names { are_filled: selected & 1 == 1 };
    let (object, last) = names.object(bytes);
    let name = names.name(last * u32::from(selected) / 250);
    let (text, query) = match of_names {
        0 => (object, format!("$['{name}']")),
        1 => (format!("[0,{object},{object}]"), format!("$[*]['{name}'].b")),
        2 => (format!("{{\"a\":{object},\"z\":[]}}"), format!("$..['{name}']")),
        _ => (format!("{object}\n{object}"), format!("$['{name}','{}']", names.name(last / 2))),
    };
    (Cow::Owned(text.into_bytes()), query)
}

fuzz_target!(|input: &[u8]| {
    let [choice, spacing, window, bytes @ ..] = input else { return };
    if let Ok(guide) = Guide::from_bytes(bytes) {
        assert_eq!(guide.to_bytes(), bytes);
    }
    let (document, query) = document_and_query(*choice, *window, bytes);
    let bytes = &*document;
    let framing = if choice & 128 == 0 { Framing::Auto } else { Framing::Lines };
    let open = || {
        let document = match choice & 64 {
            0 => Document::from_bytes(bytes),
            _ => Document::from_seekable(io::Cursor::new(bytes)).unwrap(),
        };
        document.framing(framing)
    };
    let builder = IndexBuilder::new(u64::from(*spacing) + 1);
    let Ok(index) = Index::build(&open(), builder, Box::new(|_| Ok(()))) else { return };
    let query: Query = query.parse().unwrap();
    let order = if choice & 16 == 0 { Order::Rfc } else { Order::Document };
    let validation = if choice & 32 == 0 { Validation::Strict } else { Validation::Structural };
    let analysis =
        Analysis::new().window(usize::from(*window) + 1).order(order).validation(validation).threads(1);
    let values = |document: &mut Document<'_>| {
        let mut found = Vec::new();
        let asked = analysis.clone().extract(query.clone());
        let ran = asked.run_with(document, &mut |one: &Match<'_>| {
            found.push((one.record, one.span, one.value.to_vec()));
            Ok(())
        });
        (ran.unwrap().coverage.bytes_read, found)
    };
    let count = |document: &mut Document<'_>| {
        analysis.clone().count(query.clone()).run(document).unwrap().answers[0].count()
    };
    let guide = Arc::new(index);
    let guided = || open().guided_by(Arc::clone(&guide) as _);
    assert_eq!(values(&mut guided()), values(&mut open()), "{query}");
    assert_eq!(count(&mut guided()), count(&mut open()), "{query}");
});
