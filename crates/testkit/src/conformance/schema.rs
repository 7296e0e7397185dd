//! Inputs and the schema that another generator makes of them.

use super::fields::{Fields, open};
use std::path::Path;

/// Values, and a JSON Schema that takes them all.
#[derive(Clone, Debug)]
pub struct SchemaCase {
    /// Its name.
    pub name: String,
    /// The values.
    pub inputs: Vec<Vec<u8>>,
    /// The schema as `GenSON` spells it, one right choice among many.
    pub expected_schema: Vec<u8>,
}

/// The cases of `schema/genson-cases.json`.
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
