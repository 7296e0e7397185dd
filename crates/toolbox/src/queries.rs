//! `query:` inputs of documents: the values that a query selects in a file or a stored output.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use trommel::path::{Duplicates, Query};
use trommel::reader::{Input, MapPolicy, compact};
use trommel::{Analysis, Cancel, Document, Match, framing_of};
use trommel_base::text::excerpt;
use trommel_route::Destinations;
use trommel_store::Store;
use trommel_tool::Failure;
use trommel_workflow::Fetch;

/// The maximum length of a query or file name in a message, in characters.
const MAX_SHOWN_CHARS: usize = 200;

/// Resolves `query: FILE QUERY` and `query: output:ID QUERY` inputs to the values that a `JSONPath`
/// query selects, one per line. Values are streamed, so a document may have any size. Files are
/// below the root of the destinations.
#[derive(Clone)]
pub struct QueryInputs {
    store: Arc<Store>,
    destinations: Destinations,
    cancel: Cancel,
}

impl QueryInputs {
    /// Creates inputs from the outputs of a store and the files of the destinations.
    pub fn new(store: &Arc<Store>, destinations: &Destinations) -> Self {
        Self { store: Arc::clone(store), destinations: destinations.clone(), cancel: Cancel::new() }
    }

    /// Stops reading when the flag is set.
    #[must_use]
    pub fn cancel_with(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Opens a file below the root or a stored output, and determines whether names may repeat.
    fn open(&self, input: &str) -> Result<(Document<'static>, Duplicates), Failure> {
        if let Some(id) = input.strip_prefix("output:") {
            let cannot = |error: trommel_store::Error| {
                Failure::refused(format!("cannot query the output {}: {error}", excerpt(id, MAX_SHOWN_CHARS)))
                    .with("code", error.code())
            };
            let stored = self.store.get(id.trim()).map_err(cannot)?;
            let all = if stored.duplicate_names > 0 { Duplicates::All } else { Duplicates::First };
            return Ok((self.store.document(&stored).map_err(cannot)?, all));
        }
        let file = self.destinations.root()?.read(input)?;
        let opened = Input::from_file(file, MapPolicy::never()).and_then(Document::from_input);
        let document = opened.map_err(|error| Failure::raised(&error))?;
        Ok((document.framing(framing_of(Path::new(input))), Duplicates::First))
    }
}

/// Parses the query of a source.
fn query(text: &str) -> Result<Query, Failure> {
    text.parse().map_err(|error| {
        Failure::refused(format!("the query `{}` is not valid: {error}", excerpt(text, MAX_SHOWN_CHARS)))
    })
}

impl Fetch for QueryInputs {
    fn check(&self, source: &str) -> Result<(), Failure> {
        split_source(source).and_then(|(_, text)| query(text)).map(drop)
    }

    fn fetch(&self, source: &str, to: &mut dyn Write) -> Result<(), Failure> {
        let (input, text) = split_source(source)?;
        let query = query(text)?;
        let (mut document, duplicates) = self.open(input)?;
        let analysis = Analysis::new().extract(query).duplicates(duplicates).cancel_with(&self.cancel);
        let mut line = Vec::new();
        let mut write = |found: &Match<'_>| {
            line.clear();
            compact(found.value, &mut line);
            line.push(b'\n');
            to.write_all(&line)
        };
        match analysis.run_with(&mut document, &mut write) {
            Ok(_) => Ok(()),
            Err(_) if self.cancel.is_cancelled() => Err(Failure::cancelled()),
            Err(error) => {
                Err(Failure::new(format!("cannot query {}: {error}", excerpt(input, MAX_SHOWN_CHARS))))
            }
        }
    }
}

/// Splits a source into its input and its query. The query starts with the first `$` after a space,
/// since a file name may contain `$`.
fn split_source(source: &str) -> Result<(&str, &str), Failure> {
    let at = source.match_indices('$').map(|(at, _)| at);
    let split = at
        .filter_map(|at| source.split_at_checked(at))
        .find(|(input, _)| input.ends_with(char::is_whitespace));
    split.map(|(input, query)| (input.trim(), query.trim())).ok_or_else(|| {
        let message = format!(
            "`{}` is not a query of an input: write query: FILE $.path, or query: output:ID $.path",
            excerpt(source, MAX_SHOWN_CHARS)
        );
        Failure::refused(message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_starts_at_the_first_dollar_after_a_space() {
        assert_eq!(split_source("a b.json $.x[?@.y == '$ z']").unwrap(), ("a b.json", "$.x[?@.y == '$ z']"));
        assert_eq!(split_source("a$b.json  $").unwrap(), ("a$b.json", "$"));
        assert!(split_source("a.json").unwrap_err().message.contains("query: FILE $.path"));
    }
}
