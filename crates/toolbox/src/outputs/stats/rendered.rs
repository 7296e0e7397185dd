//! Statistics rendered as members and rows, from which pages are assembled.

use serde::Serialize;
use trommel::statistics::{Schema, Summary, ValuesSummary};
use trommel::{PathStats, StatsAnswer};
use trommel_answer::size;

use crate::text::{safe_json, string};

/// A section of the answer, in the order of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// The top-level members of the answer.
    Top,
    Size,
    Structure,
    Types,
    Arrays,
    Objects,
    Fields,
    Schema,
    ByPath,
    Values,
}

impl Section {
    pub(super) const ALL: [Self; 10] = [
        Self::Top,
        Self::Size,
        Self::Structure,
        Self::Types,
        Self::Arrays,
        Self::Objects,
        Self::Fields,
        Self::Schema,
        Self::ByPath,
        Self::Values,
    ];

    /// True if every answer has the section.
    pub(super) fn is_required(self) -> bool {
        matches!(self, Self::Size | Self::Structure | Self::Types)
    }

    /// Returns the text before and after the units of the section.
    pub(super) fn brackets(self) -> (&'static str, &'static str) {
        match self {
            Self::Top => ("", ""),
            Self::Size => (r#""size":{"#, "}"),
            Self::Structure => (r#""structure":{"#, "}"),
            Self::Types => (r#""types":{"#, "}"),
            Self::Arrays => (r#""arrays":["#, "]"),
            Self::Objects => (r#""objects":["#, "]"),
            Self::Fields => (r#""fields":["#, "]"),
            Self::Schema => (r#""schema":"#, ""),
            Self::ByPath => (r#""by_path":["#, "]"),
            Self::Values => (r#""values":["#, "]"),
        }
    }
}

/// A row of a section.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) section: Section,
    /// The path that the row describes.
    pub(super) path: String,
    pub(super) text: String,
}

/// Rendered statistics of an output.
#[derive(Debug)]
pub(crate) struct RenderedStats {
    /// The figures, each with the section that it is a member of.
    pub(super) head: Vec<(Section, String)>,
    pub(super) rows: Vec<Row>,
    /// The sections that were computed and have no rows.
    pub(super) empty: Vec<Section>,
    /// For each requested path, true if it selects a value.
    pub(super) matched: Vec<bool>,
    /// True if every figure is exact.
    pub(super) exact: bool,
}

impl RenderedStats {
    pub(super) fn new(answer: &StatsAnswer) -> Result<Self, serde_json::Error> {
        let StatsAnswer { bytes, characters, summary, records, by_path, .. } = answer;
        let mut rendered = Self {
            head: Vec::new(),
            rows: Vec::new(),
            empty: Vec::new(),
            matched: by_path.iter().map(|part| part.summary.structure.total_values > 0).collect(),
            exact: is_exact(summary) && by_path.iter().all(|part| is_exact(&part.summary)),
        };
        if by_path.is_empty() {
            rendered.matched.push(summary.structure.total_values > 0);
        }
        if let Some(records) = records {
            rendered.head.push((Section::Top, format!(r#""records":{records}"#)));
        }
        if !summary.capped.is_empty() {
            rendered.head.push((Section::Top, format!(r#""capped":{}"#, json(&summary.capped)?)));
        }
        for member in size_members(*bytes, *characters) {
            rendered.head.push((Section::Size, member));
        }
        rendered.push_members(Section::Structure, &summary.structure)?;
        rendered.push_members(Section::Types, &summary.types)?;
        rendered.push_rows(Section::Arrays, summary.arrays.as_deref(), |row| &row.path)?;
        rendered.push_rows(Section::Objects, summary.objects.as_deref(), |row| &row.path)?;
        rendered.push_rows(Section::Fields, summary.fields.as_deref(), |row| &row.path)?;
        if let Some(schema) = summary.schema.clone() {
            rendered.push_row(Section::Schema, "$", safe_json(&Schema::into_json(schema)));
        }
        for part in by_path {
            rendered.push_row(Section::ByPath, &part.path, part_json(part)?);
        }
        rendered.push_rows(Section::Values, summary.values.as_deref(), |row| &row.path)?;
        Ok(rendered)
    }

    /// Returns the approximate memory use in bytes.
    pub(super) fn weight(&self) -> usize {
        let head = self.head.iter().map(|(_, member)| member.len());
        let rows = self.rows.iter().map(|row| row.path.len() + row.text.len());
        head.chain(rows).map(|length| length + 64).sum()
    }

    fn push_members(&mut self, section: Section, figures: &impl Serialize) -> Result<(), serde_json::Error> {
        // Figures are integers and words, so the round trip through `Value` does not change them.
        let members: serde_json::Map<String, serde_json::Value> =
            serde_json::from_value(serde_json::to_value(figures)?)?;
        for (name, value) in members {
            self.head.push((section, format!("{}:{value}", string(&name))));
        }
        Ok(())
    }

    fn push_row(&mut self, section: Section, path: &str, text: String) {
        self.rows.push(Row { section, path: path.to_owned(), text });
    }

    fn push_rows<T: Serialize>(
        &mut self,
        section: Section,
        rows: Option<&[T]>,
        path: impl Fn(&T) -> &String,
    ) -> Result<(), serde_json::Error> {
        let Some(rows) = rows else { return Ok(()) };
        if rows.is_empty() {
            self.empty.push(section);
        }
        for row in rows {
            self.push_row(section, path(row), json(row)?);
        }
        Ok(())
    }
}

fn json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string(value).map(|text| safe_json(&text))
}

fn size_members(bytes: u64, characters: u64) -> [String; 3] {
    [
        format!(r#""bytes":{bytes}"#),
        format!(r#""characters":{characters}"#),
        format!(r#""formatted":"{}""#, size(bytes)),
    ]
}

/// Renders the figures of one of several paths.
fn part_json(part: &PathStats) -> Result<String, serde_json::Error> {
    let PathStats { path, bytes, characters, summary, .. } = part;
    let size = size_members(*bytes, *characters).join(",");
    let summary_text = json(summary)?;
    // The opening brace is dropped, because the members of the summary continue the object of the
    // path.
    let members = &summary_text[1..];
    let schema = match summary.schema.clone() {
        Some(schema) => format!(r#""schema":{},"#, safe_json(&Schema::into_json(schema))),
        None => String::new(),
    };
    Ok(format!(r#"{{"path":{},"size":{{{size}}},{schema}{members}"#, string(path)))
}

fn is_exact(summary: &Summary) -> bool {
    let exact = |row: &ValuesSummary| {
        let numbers = row.numbers.as_ref().is_some_and(|numbers| numbers.approximate);
        let quantiles = row.quantiles.as_ref().is_some_and(|quantiles| quantiles.approximate);
        !(numbers || quantiles || row.distinct.approximate || row.frequent.approximate)
    };
    !summary.capped.duplicate_names && summary.values.iter().flatten().all(exact)
}
