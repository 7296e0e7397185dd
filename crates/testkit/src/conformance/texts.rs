//! Valid and malformed JSON texts, and real documents.

use super::fields::{Fields, open};
use crate::naive::Framing;
use std::path::Path;

/// A text and its expected verdict.
#[derive(Clone, Debug)]
pub struct JsonText {
    /// The name of its file.
    pub name: String,
    /// The text.
    pub bytes: Vec<u8>,
    /// One document, or one document a line.
    pub framing: Framing,
    /// The expected verdict.
    pub verdict: Verdict,
}

/// The expected verdict on a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Valid JSON (for lines: all of them).
    Accept,
    /// Malformed (for lines: at least one of them).
    Refuse,
    /// The standard allows both.
    Either,
}

/// Loads the files of `JSONTestSuite/test_parsing`, in the order of their names.
pub fn parsing(root: &Path) -> Vec<JsonText> {
    let folder = root.join("JSONTestSuite/test_parsing");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().expect("names are text")).collect();
    names.sort();
    let verdict = |name: &str| match name.as_bytes()[0] {
        b'y' => Verdict::Accept,
        b'n' => Verdict::Refuse,
        _ => Verdict::Either,
    };
    names.into_iter().map(|name| text(&folder, verdict(&name), name)).collect()
}

/// Loads the files of `simdjson-jsonchecker`, with verdicts by RFC 8259.
pub fn checker(root: &Path) -> Vec<JsonText> {
    let folder = root.join("simdjson-jsonchecker");
    let entry = |entry: Fields<'_>| {
        let valid = entry.need("rfc8259").text() == "valid";
        text(&folder, if valid { Verdict::Accept } else { Verdict::Refuse }, entry.need("file").text())
    };
    open(&folder.join("manifest.json"), |manifest| manifest.list().into_iter().map(entry).collect())
}

fn text(folder: &Path, verdict: Verdict, name: String) -> JsonText {
    let bytes = std::fs::read(folder.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let lines = Path::new(&name).extension().is_some_and(|extension| extension == "ndjson");
    let framing = if lines { Framing::Lines } else { Framing::Single };
    JsonText { name, bytes, framing, verdict }
}

/// A real-world document.
#[derive(Clone, Debug)]
pub struct Document {
    /// The name of its file, without the extension.
    pub name: String,
    /// The document.
    pub bytes: Vec<u8>,
}

/// Loads the files of `documents` that contain one document each, in the order of their names.
pub fn documents(root: &Path) -> Vec<Document> {
    let folder = root.join("documents");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect();
    paths.sort();
    let read = |path: &Path| {
        let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Document { name: path.file_stem().unwrap().to_string_lossy().into_owned(), bytes }
    };
    paths.iter().map(|path| read(path)).collect()
}
