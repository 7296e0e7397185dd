//! Parses any text as a step and as a document. An error has a span within the text, and a
//! directive has a canonical form that parses to the same directive.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trommel_workflow::{DirectiveError, Directives, Document};

fuzz_target!(|text: &str| {
    match Directives::parse(text) {
        Ok((directives, body)) => {
            assert!(text.ends_with(body));
            let written = directives.to_string();
            let again = Directives::parse(&written);
            let (again, rest) = again.unwrap_or_else(|error| panic!("{written}\n{error}"));
            assert_eq!((again.to_string().as_str(), rest), (written.as_str(), ""));
        }
        Err(error) => check(text, &error),
    }
    if let Err(error) = Document::parse(text) {
        check(text, &error);
    }
});

/// Asserts that the span of an error is within the text, and that its message is bounded.
fn check(text: &str, error: &DirectiveError) {
    assert!(text.get(error.span.clone()).is_some(), "{:?}", error.span);
    assert!(error.line >= 1 && error.line <= text.matches('\n').count() + 1);
    assert!(error.to_string().chars().count() < 4_000);
}
