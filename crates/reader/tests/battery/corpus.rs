//! The documents of the batteries.

use std::path::Path;

use trommel_reader::{Framing, View};
use trommel_testkit::conformance;

/// A text with its framing.
pub(crate) struct Text {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) framing: Framing,
}

impl Text {
    pub(crate) fn view(&self) -> View<'_> {
        View::new(&self.bytes)
    }
}

/// The documents of `testdata/documents`, made for this project.
pub(crate) fn own() -> Vec<Text> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/documents");
    let mut texts: Vec<_> = folder_texts(&folder).collect();
    texts.retain(|text| text.name != "README.md");
    assert!(texts.len() > 20, "the documents are part of the repository");
    texts.sort_by(|a, b| a.name.cmp(&b.name));
    texts
}

/// The real documents of the conformance suites up to a size in bytes; none if the suites are
/// absent.
pub(crate) fn real(most: usize) -> Vec<Text> {
    let Some(root) = conformance::root() else { return Vec::new() };
    let mut texts: Vec<_> = folder_texts(&root.join("documents")).collect();
    texts.retain(|text| text.bytes.len() <= most);
    texts
}

fn folder_texts(folder: &Path) -> impl Iterator<Item = Text> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| {
        let path = entry.unwrap().path();
        let framing = match path.extension().and_then(|extension| extension.to_str()) {
            Some("jsonl") => Framing::Lines,
            Some("jsonseq") => Framing::JsonSeq,
            Some("concatenated") => Framing::Concatenated,
            _ => Framing::Single,
        };
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        Text { name, bytes: std::fs::read(&path).unwrap(), framing }
    })
}
