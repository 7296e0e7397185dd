//! `tool_outputs.list`: lists the stored outputs. It reads no payload.

use std::sync::Arc;
use std::time::Instant;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use trommel_base::nearest_one;
use trommel_base::text::{excerpt, first};
use trommel_store::{Filter, Kind, Page, Row, SortBy, SortOrder, Summary};
use trommel_tool::{Call, Failure, Metadata, Output, ResultMode, Tool};

use super::arguments::MaxChars;
use super::describe::{self, Results, metadata};
use super::job::AnswerCoverage;
use super::page::{DEFAULT_CHARS, Next, PagedAnswer, Reason, Truncation, push_warning, unit_text};
use super::shared::{CallSubject, Shared, note, warning};
use crate::schema;
use crate::text::{self, chars};

/// The tool `tool_outputs.list`.
pub(super) struct List {
    metadata: Metadata,
    shared: Arc<Shared>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Filter by conversation ID
    conversation_id: Option<String>,
    /// Filter by tool name
    tool_name: Option<String>,
    /// Filter by success status
    success: Option<bool>,
    /// Unix timestamp - only show outputs created after this time
    after: Option<i64>,
    /// Unix timestamp - only show outputs created before this time
    before: Option<i64>,
    /// Maximum number of results
    #[serde(default = "limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u64,
    /// Number of results to skip
    #[serde(default)]
    offset: u64,
    /// Sort field
    #[serde(default)]
    #[schemars(schema_with = "sort_fields")]
    sort_by: SortBy,
    /// Sort order
    #[serde(default)]
    #[schemars(schema_with = "sort_orders")]
    sort_order: SortOrder,
    /// Include preview of output data
    #[serde(default = "yes")]
    include_preview: bool,
    /// Characters to include in preview
    #[serde(default = "preview")]
    #[schemars(range(max = 500))]
    preview_length: usize,
    #[serde(default)]
    max_chars: MaxChars<DEFAULT_CHARS>,
}

fn limit() -> u64 {
    20
}

fn yes() -> bool {
    true
}

fn preview() -> usize {
    100
}

fn sort_fields(_: &mut SchemaGenerator) -> Schema {
    schema::one_of(&[SortBy::CreatedAt, SortBy::Size, SortBy::ToolName])
}

fn sort_orders(_: &mut SchemaGenerator) -> Schema {
    schema::one_of(&[SortOrder::Asc, SortOrder::Desc])
}

impl Arguments {
    fn filter(&self) -> Filter {
        let mut filter = Filter::default();
        filter.conversation_id.clone_from(&self.conversation_id);
        filter.tool_name.clone_from(&self.tool_name);
        filter.success = self.success;
        filter.after = self.after;
        filter.before = self.before;
        filter.limit = self.limit;
        filter.offset = self.offset;
        filter.sort_by = self.sort_by;
        filter.sort_order = self.sort_order;
        filter
    }
}

impl List {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: describe(), shared: Arc::clone(shared) }
    }

    /// Returns the warning that a tool has no stored output. It names the nearest tool that has
    /// some.
    fn unknown_tool(&self, name: &str) -> Option<String> {
        const MAX_NAME_CHARS: usize = 120;
        let known = self.shared.store.tool_names().ok()?;
        if known.iter().any(|known| known == name) {
            return None;
        }
        let warning = format!("no output of a tool `{}` is stored", excerpt(name, MAX_NAME_CHARS));
        Some(match nearest_one(name, known.iter().map(String::as_str)) {
            Some(nearest) => {
                format!("{warning}; the nearest tool name is `{}`", excerpt(nearest, MAX_NAME_CHARS))
            }
            None => warning,
        })
    }
}

/// The description in exports.
const BRIEF: &str = "List stored outputs, newest first: id, tool, size, summary, preview. `after`, `before`: Unix times. Continue at `offset`. \
    For all tool_outputs: an `id` may be its first 6 characters; paths are JSONPath ($.a[*].b, $..price, $.a[?@.n > 1], $[-1]); in JSON Lines, or \
    with `each`, a path such as $.records[*], `$` is each record; `where` keeps records (@.level == \"error\"). If an answer has `truncated`, \
    pass its `next` as `cursor`, with the `id` alone.";

fn describe() -> Metadata {
    let first = "List stored tool outputs with filtering, sorting, and preview capabilities.";
    let contents = "Each row has the id that the other tool_outputs tools take, and a summary of what is stored: `type` (of the \
        root; `records` of a stream; `text` if not JSON), `keys` (members of an object), `items` (elements of the array, or of the \
        longest array directly in the object), and `records`. Newest first unless sorted otherwise. `after` and `before` are Unix times, both \
        exclusive: seconds up to 10^11, milliseconds above; `created_at` is in milliseconds. If more \
        outputs match, `truncated.next` is the `offset` to continue with. A row with `corrupted` is an output with damaged metadata.";
    let properties = json!({
        "outputs": {
            "type": "array",
            "items": row()
        },
        "total": {
            "type": "integer",
            "description": "Total matching outputs"
        },
        "has_more": {
            "type": "boolean",
            "description": "Whether more results exist"
        }
    });
    let required = &["outputs", "total", "has_more"];
    let results = Results { properties, required, next: describe::Next::Number };
    metadata::<Arguments>("tool_outputs.list", &[first, contents], results)
        .brief(BRIEF)
        .result_mode(ResultMode::Inline)
}

fn row() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string" },
            "tool_name": { "type": "string" },
            "conversation_id": { "type": ["string", "null"] },
            "message_id": { "type": "string" },
            "created_at": { "type": "integer" },
            "success": { "type": "boolean" },
            "size_bytes": { "type": "integer" },
            "preview": { "type": "string" },
            "summary": {
                "type": "object",
                "properties": {
                    "type": { "type": "string" },
                    "keys": { "type": "integer" },
                    "items": { "type": "integer" },
                    "records": { "type": "integer", "description": "Records of a stream, in place of items" },
                    "damaged_records": { "type": "integer", "description": "Records that queries skip" }
                }
            },
            "corrupted": { "type": "boolean", "description": "Whether the metadata of the output is damaged" }
        },
        "required": ["id", "tool_name", "created_at", "success", "size_bytes"]
    })
}

impl Tool for List {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let started = Instant::now();
        let arguments: Arguments = call.parse()?;
        let subject = CallSubject::listing(&self.metadata.name, arguments.max_chars.0);
        call.check()?;
        let filter = arguments.filter();
        let page = self.shared.store.list(&filter).map_err(|error| subject.action.store(&error))?;
        let preview = arguments.include_preview.then_some(arguments.preview_length);
        note(call, AnswerCoverage::known(0), started.elapsed());
        let mut listed = ListPage::new(&page, filter.offset, preview);
        if page.total == 0 {
            let unknown = filter.tool_name.as_deref().and_then(|name| self.unknown_tool(name));
            listed.warning = warning(unknown.as_ref(), subject.max_chars).map(str::to_owned);
        }
        subject.fit(&listed)
    }
}

/// A stored output, serialized as a row of `tool_outputs.list`.
#[derive(Clone, Debug, Serialize)]
pub struct ListedOutput<'a> {
    id: &'a str,
    tool_name: &'a str,
    /// JSON null if the output has no conversation. `None` in a minimal row.
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
    summary: Option<ListedSummary<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    corrupted: bool,
}

/// The summary of a payload. A stream of records has their number in place of items.
#[derive(Clone, Debug, Serialize)]
struct ListedSummary<'a> {
    r#type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    damaged_records: Option<u64>,
}

impl<'a> ListedSummary<'a> {
    fn new(row: &Row, summary: &'a Summary) -> Self {
        let Summary { type_, keys, items, .. } = summary;
        if row.kind == Some(Kind::JsonLines) {
            let damaged_records = (row.damaged_records > 0).then_some(row.damaged_records);
            return Self { r#type: "records", keys: None, items: None, records: *items, damaged_records };
        }
        Self { r#type: type_, keys: *keys, items: *items, records: None, damaged_records: None }
    }
}

impl<'a> ListedOutput<'a> {
    /// Creates a row from a row of the store, with at most `preview` characters of its preview.
    pub fn new(row: &'a Row, preview: Option<usize>) -> Self {
        let preview = preview.zip(row.preview.as_deref());
        Self {
            id: &row.id,
            tool_name: &row.tool_name,
            conversation_id: Some(row.conversation_id.as_deref().map_or(Value::Null, Value::from)),
            message_id: row.message_id.as_deref(),
            created_at: row.created_at,
            success: row.success,
            size_bytes: row.size_bytes,
            preview: preview.map(|(max_chars, preview)| first(preview, max_chars)),
            summary: row.summary.as_ref().map(|summary| ListedSummary::new(row, summary)),
            corrupted: row.corrupted,
        }
    }

    /// Creates a row of only the required members.
    fn bare(row: &'a Row) -> Self {
        let all = Self::new(row, None);
        Self { conversation_id: None, message_id: None, summary: None, ..all }
    }

    fn text(&self) -> String {
        text::json(self)
    }
}

/// `{"outputs": […], "total": …, "has_more": …}`
struct ListPage {
    rows: Vec<(String, usize)>,
    /// The first row with only its required members.
    bare: Option<String>,
    total: u64,
    has_more: bool,
    offset: u64,
    warning: Option<String>,
}

impl ListPage {
    fn new(page: &Page, offset: u64, preview: Option<usize>) -> Self {
        let rows = page.rows.iter().map(|row| {
            let text = ListedOutput::new(row, preview).text();
            let count = chars(&text);
            (text, count)
        });
        Self {
            rows: rows.collect(),
            bare: page.rows.first().map(|row| ListedOutput::bare(row).text()),
            total: page.total,
            has_more: page.has_more,
            offset,
            warning: None,
        }
    }
}

impl PagedAnswer for ListPage {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn min_chars(&self, unit: usize) -> usize {
        self.rows[unit].1
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let rows = self.rows[..shown].iter().enumerate();
        let rows = rows.map(|(at, (row, _))| unit_text(at, row, first));
        let rows = rows.collect::<Vec<_>>().join(",");
        let left = shown < self.rows.len();
        let (total, has_more) = (self.total, self.has_more || left);
        let mut out = format!(r#"{{"outputs":[{rows}],"total":{total},"has_more":{has_more}"#);
        let returned = shown as u64;
        let next = has_more.then_some(Next::Number(self.offset.saturating_add(returned)));
        let reason = if left || first.is_some() { Reason::MaxChars } else { Reason::Limit };
        if has_more || first.is_some() {
            Truncation { reason, returned, next }.push(&mut out);
        }
        push_warning(self.warning.as_deref(), &mut out);
        out.push('}');
        out
    }

    fn stand_in(&self, max_chars: usize) -> Option<String> {
        self.bare.clone().filter(|bare| chars(bare) <= max_chars)
    }
}
