//! Counts of the real documents, and the schemas that another generator infers for some values.

use super::fields::{Fields, open};
use crate::naive::Kind;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Counts of one file; for lines, sums over the records.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The file.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// The number of records, if the file has one record a line.
    pub records: Option<u64>,
    /// All values, containers included.
    pub values: u64,
    /// Values of each type that occurs.
    pub kinds: BTreeMap<Kind, u64>,
    /// The number of `true` values.
    pub trues: u64,
    /// Members, repeated names included.
    pub members: u64,
    /// The number of open containers at the deepest point: `[]` has 1, a scalar 0.
    pub open_containers: u64,
    /// The number of distinct names, if it is one document.
    pub distinct_names: Option<u64>,
    /// Elements of the longest array, if it is one document.
    pub longest_array: Option<u64>,
    /// Bytes of the longest string after decoding escapes, if it is one document.
    pub longest_string_bytes: Option<u64>,
    /// Bytes of the longest record without its line end, if the file has one record a line.
    pub longest_record_bytes: Option<u64>,
    /// The most frequent names with their counts, if it is one document.
    pub top_names: Vec<(String, u64)>,
}

/// Loads the counts of `stats/expected.json`.
pub fn figures(root: &Path) -> Vec<Figures> {
    open(&root.join("stats/expected.json"), |file| {
        file.members().into_iter().map(|(name, counts)| one(root.join(name), counts)).collect()
    })
}

fn one(path: PathBuf, counts: Fields<'_>) -> Figures {
    let count = |name: &str| counts.need(name).number();
    let optional = |name: &str| counts.get(name).map(Fields::number);
    let kinds = [
        (Kind::Array, count("array")),
        (Kind::Boolean, count("true") + count("false")),
        (Kind::Null, count("null")),
        (Kind::Number, count("number")),
        (Kind::Object, count("object")),
        (Kind::String, count("string")),
    ];
    let top = |row: Fields<'_>| (row.list()[0].text(), row.list()[1].number());
    Figures {
        path,
        bytes: count("bytes"),
        records: optional("records"),
        values: count("values"),
        kinds: kinds.into_iter().filter(|&(_, count)| count > 0).collect(),
        trues: count("true"),
        members: count("members"),
        open_containers: count("max_depth"),
        distinct_names: optional("distinct_names"),
        longest_array: optional("longest_array"),
        longest_string_bytes: optional("longest_string_bytes"),
        longest_record_bytes: optional("longest_record_bytes"),
        top_names: counts
            .get("top_names")
            .map_or_else(Vec::new, |names| names.list().into_iter().map(top).collect()),
    }
}

/// Values, and a JSON Schema that accepts all of them.
#[derive(Clone, Debug)]
pub struct SchemaCase {
    /// Its name.
    pub name: String,
    /// The values.
    pub inputs: Vec<Vec<u8>>,
    /// The schema that `GenSON` infers, one valid choice among many.
    pub expected_schema: Vec<u8>,
}

/// Loads the cases of `schema/genson-cases.json`.
pub fn schema_cases(root: &Path) -> Vec<SchemaCase> {
    let case = |case: Fields<'_>| SchemaCase {
        name: case.need("name").text(),
        inputs: case.need("inputs").raws(),
        expected_schema: case.need("expected_schema").raw(),
    };
    open(&root.join("schema/genson-cases.json"), |file| {
        file.need("cases").list().into_iter().map(case).collect()
    })
}
