//! The queries of other implementations' tests, and queries over real documents.

use super::fields::{Fields, open};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// A query and its expected selection.
#[derive(Clone, Debug)]
pub struct PathCase {
    /// Its name.
    pub name: String,
    /// The project it comes from.
    pub source: String,
    /// The query.
    pub query: String,
    /// The expected selection; `None` if the query must be rejected.
    pub selection: Option<Selection>,
}

/// The expected result of a query.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The document.
    pub document: Input,
    /// The length of the node list, duplicates included.
    pub count: u64,
    /// The number of distinct nodes.
    pub distinct_count: u64,
    /// The normalized paths in the order of the RFC, duplicates included.
    pub paths: Expected<String>,
    /// The same paths ordered by the start of the nodes.
    pub paths_document_order: Expected<String>,
    /// The bytes of the values in the order of the RFC; `None` if they are large.
    pub nodes: Option<Vec<Vec<u8>>>,
    /// The spans of the distinct nodes, ordered by their start.
    pub spans: Expected<(u64, u64)>,
}

/// The source of a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The text itself.
    Text(Vec<u8>),
    /// A file of the suite.
    File(PathBuf),
}

impl Input {
    /// Returns the document's bytes.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone(),
            Self::File(path) => {
                std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
            }
        }
    }
}

/// An expected list, in one of the forms that the suite uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected<T> {
    /// Not specified by the suite.
    Unknown,
    /// The list itself.
    Listed(Vec<T>),
    /// The SHA-256 of the list in the suite's notation, in hexadecimal.
    Digest(String),
}

/// Types that the suite lists, with the notation that its digests are computed from.
pub trait Notation: Sized + PartialEq {
    /// Formats a list in the suite's notation for digests.
    fn notation(list: &[Self]) -> String;
}

impl Notation for String {
    fn notation(list: &[Self]) -> String {
        list.join("\n")
    }
}

impl Notation for (u64, u64) {
    fn notation(list: &[Self]) -> String {
        let pairs: Vec<_> = list.iter().map(|(start, end)| format!("[{start},{end}]")).collect();
        format!("[{}]", pairs.join(","))
    }
}

impl<T: Notation> Expected<T> {
    /// Returns true if `found` matches the expectation. An unspecified list matches anything.
    pub fn agrees(&self, found: &[T]) -> bool {
        match self {
            Self::Unknown => true,
            Self::Listed(list) => list == found,
            Self::Digest(expected) => {
                let digits: Vec<_> =
                    Sha256::digest(T::notation(found)).iter().map(|byte| format!("{byte:02x}")).collect();
                *expected == digits.concat()
            }
        }
    }

    fn read<'a>(case: Fields<'a>, name: &str, list: impl Fn(Fields<'a>) -> Vec<T>) -> Self {
        match (case.get(name), case.get(&format!("{name}_sha256"))) {
            (Some(field), _) => Self::Listed(list(field)),
            (None, Some(digest)) => Self::Digest(digest.text()),
            (None, None) => Self::Unknown,
        }
    }
}

/// Loads the cases of `jsonpath/cases.json`.
pub fn path_cases(root: &Path) -> Vec<PathCase> {
    cases(&root.join("jsonpath"), "cases.json")
}

/// Loads the cases of `jsonpath/real-documents.json`.
pub fn real_documents(root: &Path) -> Vec<PathCase> {
    cases(&root.join("jsonpath"), "real-documents.json")
}

fn cases(folder: &Path, file: &str) -> Vec<PathCase> {
    open(&folder.join(file), |file| {
        file.need("cases").list().into_iter().map(|case| path_case(folder, case)).collect()
    })
}

fn path_case(folder: &Path, case: Fields<'_>) -> PathCase {
    PathCase {
        name: case.need("name").text(),
        source: case.need("source").text(),
        query: case.need("query").text(),
        selection: case.get("invalid").is_none().then(|| selection(folder, case)),
    }
}

fn selection(folder: &Path, case: Fields<'_>) -> Selection {
    let document = match case.get("document") {
        Some(document) => Input::Text(document.raw()),
        None => Input::File(folder.join(case.need("document_file").text())),
    };
    let count = case.need("count").number();
    let paths = Expected::read(case, "paths", Fields::texts);
    let paths_document_order = match Expected::read(case, "paths_document_order", Fields::texts) {
        Expected::Unknown => paths.clone(),
        other => other,
    };
    let pair = |pair: Fields<'_>| (pair.list()[0].number(), pair.list()[1].number());
    Selection {
        document,
        count,
        distinct_count: case.get("distinct_count").map_or(count, Fields::number),
        paths,
        paths_document_order,
        nodes: case.get("nodes").map(Fields::raws),
        spans: Expected::read(case, "spans", |field| field.list().into_iter().map(pair).collect()),
    }
}
