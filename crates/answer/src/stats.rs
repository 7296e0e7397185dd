//! Statistics as JSON.

use serde::Serialize;
use serde_json::value::RawValue;
use trommel::StatsAnswer;
use trommel::statistics::{Schema, Summary};

use crate::size::size;

/// Statistics with the members of the tool `tool_outputs.stats`: `size`, `structure`, `types`, and
/// so on.
#[derive(Debug, Serialize)]
pub struct StatsText<'a> {
    #[serde(flatten)]
    whole: Part<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    by_path: Vec<ByPath<'a>>,
}

/// The statistics of one query among several.
#[derive(Debug, Serialize)]
struct ByPath<'a> {
    path: &'a str,
    #[serde(flatten)]
    part: Part<'a>,
}

/// The statistics of the whole, or of one query's values.
#[derive(Debug, Serialize)]
struct Part<'a> {
    size: Size,
    #[serde(flatten)]
    summary: &'a Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<Box<RawValue>>,
}

#[derive(Debug, Serialize)]
struct Size {
    bytes: u64,
    characters: u64,
    formatted: String,
}

impl<'a> StatsText<'a> {
    /// The text of an answer.
    ///
    /// # Errors
    /// If a schema is not valid JSON, which is a defect of the engine.
    pub fn new(answer: &'a StatsAnswer) -> serde_json::Result<Self> {
        let by_path = answer.by_path.iter().map(|path| {
            let part = Part::new(path.bytes, path.characters, &path.summary)?;
            Ok(ByPath { path: &path.path, part })
        });
        Ok(Self {
            whole: Part::new(answer.bytes, answer.characters, &answer.summary)?,
            records: answer.records,
            by_path: by_path.collect::<serde_json::Result<_>>()?,
        })
    }
}

impl<'a> Part<'a> {
    fn new(bytes: u64, characters: u64, summary: &'a Summary) -> serde_json::Result<Self> {
        let size = Size { bytes, characters, formatted: size(bytes) };
        let schema = summary.schema.clone().map(Schema::into_json).map(RawValue::from_string).transpose()?;
        Ok(Self { size, summary, schema })
    }
}
