//! `query:` inputs of documents: the values that a query selects in a file or a stored output.

use std::io::Write;
use std::sync::Arc;

use trommel::path::{Duplicates, Query};
use trommel::reader::{Framing, Input, MapPolicy, compact};
use trommel::{Analysis, Cancel, Document, Found};
use trommel_base::text::shown;
use trommel_route::Destinations;
use trommel_store::Store;
use trommel_tool::Failure;
use trommel_workflow::Fetch;

/// Characters of a query, or of a name, in a message.
const SHOWN: usize = 200;

/// Answers `query: FILE QUERY` and `query: output:ID QUERY` with the values that the `JSONPath`
/// query selects, one a line, as they come: a document of any size is never held. Files are those
/// below the root of the places.
#[derive(Clone)]
pub struct Queries {
    store: Arc<Store>,
    places: Destinations,
    cancel: Cancel,
}

impl Queries {
    /// Questions the outputs of a store and the files of these places.
    pub fn new(store: &Arc<Store>, places: &Destinations) -> Self {
        Self { store: Arc::clone(store), places: places.clone(), cancel: Cancel::new() }
    }

    /// Ends what is being read when the flag is raised.
    #[must_use]
    pub fn cancel_with(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// A file below the root, or a stored output, and whether names may be repeated in it.
    fn open(&self, input: &str) -> Result<(Document, Duplicates), Failure> {
        if let Some(id) = input.strip_prefix("output:") {
            let cannot = |error: trommel_store::Error| {
                Failure::refused(format!("cannot query the output {}: {error}", shown(id, SHOWN)))
                    .with("code", error.code())
            };
            let stored = self.store.get(id.trim()).map_err(cannot)?;
            let all = if stored.duplicate_names > 0 { Duplicates::All } else { Duplicates::First };
            return Ok((self.store.document(&stored).map_err(cannot)?, all));
        }
        let file = self.places.root()?.read(input)?;
        let opened = Input::from_file(file, MapPolicy::never()).and_then(Document::from_input);
        let document = opened.map_err(|error| Failure::raised(&error))?;
        let is_lines = [".jsonl", ".ndjson"].iter().any(|ending| {
            let name = input.trim_end_matches(".gz").trim_end_matches(".zst");
            name.ends_with(ending)
        });
        Ok((if is_lines { document.framing(Framing::Lines) } else { document }, Duplicates::First))
    }
}

/// The query of a source.
fn query(text: &str) -> Result<Query, Failure> {
    text.parse().map_err(|error| {
        Failure::refused(format!("the query `{}` is not valid: {error}", shown(text, SHOWN)))
    })
}

impl Fetch for Queries {
    fn check(&self, source: &str) -> Result<(), Failure> {
        parts(source).and_then(|(_, text)| query(text)).map(drop)
    }

    fn fetch(&self, source: &str, to: &mut dyn Write) -> Result<(), Failure> {
        let (input, text) = parts(source)?;
        let query = query(text)?;
        let (mut document, duplicates) = self.open(input)?;
        let analysis = Analysis::new().extract(query).duplicates(duplicates).cancel_with(&self.cancel);
        let mut line = Vec::new();
        let mut write = |found: &Found<'_>| {
            line.clear();
            compact(found.value, &mut line);
            line.push(b'\n');
            to.write_all(&line)
        };
        match analysis.run_with(&mut document, &mut write) {
            Ok(_) => Ok(()),
            Err(_) if self.cancel.is_cancelled() => Err(Failure::cancelled()),
            Err(error) => Err(Failure::new(format!("cannot query {}: {error}", shown(input, SHOWN)))),
        }
    }
}

/// What is asked, and the query, which begins with `$`.
fn parts(source: &str) -> Result<(&str, &str), Failure> {
    let at = source.match_indices('$').map(|(at, _)| at);
    let split = at
        .filter_map(|at| source.split_at_checked(at))
        .find(|(input, _)| input.ends_with(char::is_whitespace));
    split.map(|(input, query)| (input.trim(), query.trim())).ok_or_else(|| {
        let message = format!(
            "`{}` is not a query of an input: write query: FILE $.path, or query: output:ID $.path",
            shown(source, SHOWN)
        );
        Failure::refused(message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_begins_with_the_first_dollar_behind_a_space() {
        assert_eq!(parts("a b.json $.x[?@.y == '$ z']").unwrap(), ("a b.json", "$.x[?@.y == '$ z']"));
        assert_eq!(parts("a$b.json  $").unwrap(), ("a$b.json", "$"));
        assert!(parts("a.json").unwrap_err().message.contains("query: FILE $.path"));
    }
}
