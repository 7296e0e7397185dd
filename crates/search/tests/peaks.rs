//! Memory: the peak of a search does not depend on the length of the input, its lines, and its
//! strings.
//!
//! The counts are those of the whole process, so this binary has one test.

use std::io::{self, Read};
use std::ops::ControlFlow;

use trommel::reader::Framing;
use trommel_search::{PatternSearch, SearchContent, SearchPattern, SearchPosition, SearchSource};
use trommel_testkit::alloc::CountingAllocator;
use trommel_testkit::repeat::Repeat;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// The memory that a search may take.
const ALLOWED: usize = 64 << 20;

/// A document that is repeated to any length.
struct Repeated(Repeat);

impl SearchSource for Repeated {
    fn reader_at(&self, offset: u64) -> io::Result<Box<dyn Read + Send + '_>> {
        let mut reader = self.0.clone();
        io::copy(&mut reader.by_ref().take(offset), &mut io::sink())?;
        Ok(Box::new(reader))
    }
}

fn json(framing: Framing) -> SearchContent {
    SearchContent::Json(framing)
}

#[test]
fn memory_does_not_depend_on_the_input() {
    let record = r#"{"id": 1, "text": "some needle", "list": [1, "\u0061", {"x": "a\nb"}]}"#;
    let string = |item: &str| Repeat::new("[\"", &item.repeat(1 << 10), "", " needle\"]", 18 << 10);
    let cases = [
        ("lines", Repeat::lines(record, 150_000), SearchContent::Text),
        ("records", Repeat::lines(record, 150_000), json(Framing::Lines)),
        ("a document", Repeat::records(record, 150_000), json(Framing::Single)),
        ("a long line", string("x"), SearchContent::Text),
        ("a long string", string("x"), json(Framing::Single)),
        ("a long string of escapes", string(r"\n"), json(Framing::Single)),
        ("a long record", string("x"), json(Framing::Lines)),
        (
            "a long malformed record",
            Repeat::new("[", &"x".repeat(1 << 10), "", " needle", 18 << 10),
            json(Framing::Lines),
        ),
        (
            "long lines of context",
            Repeat::new("", &format!("{}\n", "x".repeat(1 << 20)), "needle\n", "", 40),
            SearchContent::Text,
        ),
    ];
    for (name, input, content) in cases {
        let source = Repeated(input);
        for pattern in ["needle", r"n\w+e\b", "[^ ]needle$"] {
            let pattern = SearchPattern::regex(pattern, false).unwrap();
            let search = PatternSearch::new(pattern).context(100);
            let mut found = 0;
            let (_, usage) = ALLOCATOR.measure(|| {
                let sink = &mut |_| {
                    found += 1;
                    Ok(ControlFlow::Continue(()))
                };
                search.run(&source, content, SearchPosition::default(), sink).unwrap()
            });
            assert!(usage.peak < ALLOWED, "{name}: {} bytes for {found} matches", usage.peak);
        }
    }
}
