//! Real documents, without questions.

use std::path::Path;

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
