//! Texts that are JSON, and texts that are not; and real documents.

use super::fields::{Fields, open};
use crate::naive::Framing;
use std::path::Path;

/// A text and whether it is JSON.
#[derive(Clone, Debug)]
pub struct JsonText {
    /// Name of its file.
    pub name: String,
    /// The text.
    pub bytes: Vec<u8>,
    /// Whether it is one document or lines of them.
    pub framing: Framing,
    /// What must become of it.
    pub verdict: Verdict,
}

/// What must become of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It is JSON (for lines: every one of them is).
    Accept,
    /// It is not (for lines: one of them is not).
    Refuse,
    /// The standard leaves it open.
    Either,
}

/// The files of `JSONTestSuite/test_parsing`, in the order of their names.
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

/// The files of `simdjson-jsonchecker`, judged by RFC 8259.
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

/// A document that somebody made for a purpose of their own.
#[derive(Clone, Debug)]
pub struct Document {
    /// Name of its file, without the extension.
    pub name: String,
    /// The document.
    pub bytes: Vec<u8>,
}

/// The files of `documents` that hold one document each, in the order of their names.
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
