//! Parses any text as a query. An error has a span within the text, and a query has a canonical
//! form that parses to the same query.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trommel_query::Query;

fuzz_target!(|text: &str| {
    match text.parse::<Query>() {
        Ok(query) => {
            assert_eq!(query.to_string().parse().as_ref(), Ok(&query), "canonical");
            assert_eq!(query.shorthand().parse().as_ref(), Ok(&query), "shorthand");
        }
        Err(error) => {
            assert!(text.get(error.span()).is_some(), "{:?}", error.span());
            assert!(error.to_string().len() < 2000);
            if let Some(suggestion) = error.suggestion() {
                assert!(suggestion.apply(text).is_some());
            }
        }
    }
});
