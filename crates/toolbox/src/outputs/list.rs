//! `tool_outputs.list`: which outputs there are. No payload is read.

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use trommel_base::nearest;
use trommel_store::{Filter, Page, Row, SortBy, SortOrder, Summary};
use trommel_tool::{Call, Failure, Metadata, Output, Tool};

use super::job::Basis;
use super::page::{Cut, Next, Reason, Sheet};
use super::text::{chars, first, push_string, safe_json, shown};
use super::{Asked, DEFAULT_CHARS, Shared, metadata, note, warning};

/// The tool.
pub(crate) struct List {
    metadata: Metadata,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
struct Arguments {
    conversation_id: Option<String>,
    tool_name: Option<String>,
    success: Option<bool>,
    after: Option<i64>,
    before: Option<i64>,
    limit: Option<u64>,
    offset: Option<u64>,
    #[serde(default)]
    sort_by: SortBy,
    #[serde(default)]
    sort_order: SortOrder,
    include_preview: Option<bool>,
    preview_length: Option<usize>,
    max_chars: Option<usize>,
}

impl Arguments {
    fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        filter.conversation_id.clone_from(&self.conversation_id);
        filter.tool_name.clone_from(&self.tool_name);
        filter.success = self.success;
        filter.after = self.after;
        filter.before = self.before;
        filter.limit = self.limit.unwrap_or(filter.limit);
        filter.offset = self.offset.unwrap_or(filter.offset);
        filter.sort_by = self.sort_by;
        filter.sort_order = self.sort_order;
        filter
    }
}

impl List {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: metadata::list(), shared: Arc::clone(shared) }
    }
}

impl List {
    /// What to say of a tool of which no output is stored, with the nearest one of which some are.
    fn unknown_tool(&self, name: &str) -> Option<String> {
        const SHOWN: usize = 120;
        let known =
            self.shared.store.tool_names().ok().filter(|known| !known.iter().any(|known| known == name))?;
        let shown_name = shown(name, SHOWN);
        let nothing = format!("no output of a tool `{shown_name}` is stored");
        Some(match nearest(name, known.iter().map(String::as_str), 1).first() {
            Some(near) => format!("{nothing}; the nearest tool name is `{}`", shown(near, SHOWN)),
            None => nothing,
        })
    }
}

/// Characters of a preview, unless the call says otherwise.
const PREVIEW: usize = 100;

impl Tool for List {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let started = Instant::now();
        let arguments: Arguments = call.parse()?;
        let max_chars = arguments.max_chars.unwrap_or(DEFAULT_CHARS);
        let asked = Asked::listing(&self.metadata.name, max_chars);
        call.check()?;
        let filter = arguments.filter();
        let page = self.shared.store.list(&filter).map_err(|error| asked.doing.store(&error))?;
        let preview = arguments.include_preview.unwrap_or(true);
        let preview = preview.then(|| arguments.preview_length.unwrap_or(PREVIEW));
        note(call, Basis::known(0), started.elapsed());
        let mut listed = Listed::new(&page, filter.offset, preview);
        if page.total == 0 {
            let told = filter.tool_name.as_deref().and_then(|name| self.unknown_tool(name));
            listed.warning = warning(told.as_ref(), asked.max_chars).map(str::to_owned);
        }
        asked.fit(&listed)
    }
}

/// An output as it is listed.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    tool_name: &'a str,
    /// Null where there is none; left out of a row that has only what it must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    conversation_id: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<&'a str>,
    created_at: i64,
    success: bool,
    size_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a Summary>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    corrupted: bool,
}

impl<'a> Line<'a> {
    fn new(row: &'a Row, preview: Option<usize>) -> Self {
        let preview = preview.zip(row.preview.as_deref());
        Self {
            id: &row.id,
            tool_name: &row.tool_name,
            conversation_id: Some(row.conversation_id.as_deref().map_or(Value::Null, Value::from)),
            message_id: row.message_id.as_deref(),
            created_at: row.created_at,
            success: row.success,
            size_bytes: row.size_bytes,
            preview: preview.map(|(most, preview)| first(preview, most)),
            summary: row.summary.as_ref(),
            corrupted: row.corrupted,
        }
    }

    /// Only what a row must have.
    fn bare(row: &'a Row) -> Self {
        let all = Self::new(row, None);
        Self { conversation_id: None, message_id: None, summary: None, ..all }
    }

    fn text(&self) -> String {
        safe_json(&serde_json::to_string(self).unwrap_or_default())
    }
}

/// `{"outputs": […], "total": …, "has_more": …}`
struct Listed {
    rows: Vec<(String, usize)>,
    /// The first row with only what it must have.
    bare: Option<String>,
    total: u64,
    has_more: bool,
    offset: u64,
    warning: Option<String>,
}

impl Listed {
    fn new(page: &Page, offset: u64, preview: Option<usize>) -> Self {
        let rows = page.rows.iter().map(|row| {
            let text = Line::new(row, preview).text();
            let count = chars(&text);
            (text, count)
        });
        Self {
            rows: rows.collect(),
            bare: page.rows.first().map(|row| Line::bare(row).text()),
            total: page.total,
            has_more: page.has_more,
            offset,
            warning: None,
        }
    }
}

impl Sheet for Listed {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn least(&self, unit: usize) -> usize {
        self.rows.get(unit).map_or(0, |(_, chars)| *chars)
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let rows = self.rows.get(..shown).unwrap_or_default().iter().enumerate();
        let rows = rows.map(|(at, (row, _))| first.filter(|_| at == 0).unwrap_or(row));
        let rows = rows.collect::<Vec<_>>().join(",");
        let left = shown < self.rows.len();
        let (total, has_more) = (self.total, self.has_more || left);
        let mut out = format!(r#"{{"outputs":[{rows}],"total":{total},"has_more":{has_more}"#);
        let returned = shown as u64;
        let next = has_more.then_some(Next::Number(self.offset.saturating_add(returned)));
        let reason = if left || first.is_some() { Reason::MaxChars } else { Reason::Limit };
        if has_more || first.is_some() {
            Cut { reason, returned, next }.push(&mut out);
        }
        if let Some(warning) = &self.warning {
            out.push_str(r#","warning":"#);
            push_string(warning, &mut out);
        }
        out.push('}');
        out
    }

    fn stand_in(&self, room: usize) -> Option<String> {
        self.bare.clone().filter(|bare| chars(bare) <= room)
    }
}
