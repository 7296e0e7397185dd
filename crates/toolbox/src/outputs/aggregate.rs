//! `tool_outputs.aggregate`: groups records by values.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use trommel::groups::{AggregateKind, Group, GroupSort, Groups};
use trommel::path::Query;
use trommel::reader::Validation;
use trommel::{Answer, Measure};
use trommel_answer::GroupsText;
use trommel_base::text::excerpt;
use trommel_hints::UnmatchedQuery as HintQuery;
use trommel_store::Stored;
use trommel_tool::{Call, Failure, Metadata, Output, ResultMode, Tool};

use super::arguments::{Cursor, Each, Id, MaxChars, Where};
use super::cache::Cache;
use super::cursor::Binding;
use super::damage::warning;
use super::describe::{self, PATHS, Results, metadata};
use super::filters::Filters;
use super::groups::NamedPath;
use super::hints::EmptyResult;
use super::item::Item;
use super::job::{AnswerCoverage, Job};
use super::page::{DEFAULT_CHARS, Next, PagedAnswer, Reason, Truncation, push_warning, unit_text};
use super::shared::{CallSubject, Shared, note};
use super::source::Source;
use crate::text::{chars, safe_json};

/// The tool `tool_outputs.aggregate`.
pub(super) struct Aggregate {
    metadata: Metadata,
    shared: Arc<Shared>,
    /// Groups, by output and arguments.
    cache: Cache<Arc<Groups>>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    id: Id,
    /// Paths whose values form the key of a record
    #[schemars(length(min = 1))]
    by: Vec<String>,
    /// Paths of numbers to add up
    #[serde(default)]
    sum: Vec<String>,
    /// Paths of numbers to average
    #[serde(default)]
    mean: Vec<String>,
    /// Paths of values to take the smallest of
    #[serde(default)]
    min: Vec<String>,
    /// Paths of values to take the largest of
    #[serde(default)]
    max: Vec<String>,
    /// Paths whose distinct values to count
    #[serde(default)]
    distinct: Vec<String>,
    /// Return only the first groups
    #[schemars(range(min = 1))]
    top: Option<u64>,
    /// count (most frequent first), key, or a figure such as sum:ms (largest first)
    #[serde(default = "by_count")]
    sort: String,
    each: Option<Each>,
    #[serde(default, rename = "where")]
    filters: Where,
    cursor: Option<Cursor>,
    #[serde(default)]
    max_chars: MaxChars<DEFAULT_CHARS>,
}

/// The default of `sort`.
fn by_count() -> String {
    "count".into()
}

impl Aggregate {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: describe(), shared: Arc::clone(shared), cache: Cache::new(20, 16 << 20) }
    }
}

/// The description in exports.
const BRIEF: &str = "Group records by the values at `by`, like GROUP BY: counts, and `sum`, `mean`, `min`, `max`, `distinct` of paths. `sort`: \
    count, key, or a figure (sum:NAME); `top`: first groups. A path may be named, NAME=$.path.";

fn describe() -> Metadata {
    let first = "Group records by values, like SQL's GROUP BY: the count of each group, and exact sums, means, minimums, \
        maximums, and distinct counts.";
    let keys = "A path may be named, NAME=$.path; otherwise its last name is used. Values are equal as in JSON (1 = 1.0); a \
        missing one is absent from `key`; several in one record form an array. Figures cover all values of a path, and leave out nulls.";
    let number = json!({ "type": "object", "additionalProperties": { "type": ["number", "null"] } });
    let any = json!({ "type": "object" });
    let properties = json!({
        "groups": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "key": any,
                    "count": { "type": "integer" },
                    "sum": number,
                    "mean": number,
                    "min": any,
                    "max": any,
                    "distinct": { "type": "object", "additionalProperties": { "type": "integer" } },
                    "distinct_error": {
                        "type": "object",
                        "description": "Bounds of the relative errors of distinct counts above 4096"
                    }
                }
            }
        },
        "total": { "type": "integer", "description": "Number of records" },
        "total_groups": { "type": "integer", "description": "Number of groups, returned or not" }
    });
    let required = &["groups", "total", "total_groups"];
    let results = Results { properties, required, next: describe::Next::Cursor };
    metadata::<Arguments>("tool_outputs.aggregate", &[first, keys, PATHS], results)
        .brief(BRIEF)
        .result_mode(ResultMode::Inline)
}

impl Tool for Aggregate {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let subject = CallSubject::new(&self.metadata.name, "group", &arguments.id.0, arguments.max_chars.0)
            .from(arguments.cursor.as_ref());
        let stored = self.shared.json(subject.action)?;
        let request = Request::new(&self.shared, subject, &arguments)?;
        let (filters, each) = (&arguments.filters, arguments.each.as_ref());
        let filters = &Filters::new(&self.shared, subject.action, filters, each)?;
        let key = request.key(&stored) + &filters.key();
        let top = arguments.top.map_or(usize::MAX, |top| usize::try_from(top).unwrap_or(usize::MAX));
        let binding = Binding::new(&self.metadata.name, &stored.id, &stored.digest).and(&key);
        let binding = binding.and(request.names()).and(&arguments.sort).and(top.to_le_bytes());
        let start = usize::try_from(subject.unit(&binding)?).unwrap_or(usize::MAX);
        let mut source = self.shared.open(subject.action, stored)?;
        let job = Job::new(call);
        let run = GroupRun { tool: self, subject, request: &request, filters, job: &job };
        let page = Page { start, top, binding: &binding };
        let (output, coverage) = run.answer(&mut source, key, page)?;
        note(call, coverage, job.elapsed());
        Ok(output)
    }
}

/// The request of a call, with the texts of its queries.
struct Request<'a> {
    texts: Vec<&'a str>,
    queries: Vec<Arc<Query>>,
    group: Group,
    sort: GroupSort,
}

impl<'a> Request<'a> {
    fn new(shared: &Shared, subject: CallSubject<'_>, arguments: &'a Arguments) -> Result<Self, Failure> {
        let Arguments { by, sum, mean, min, max, distinct, sort, .. } = arguments;
        let action = subject.action;
        if by.is_empty() {
            return Err(action.refuse("no_keys", "`by` is empty; give at least one path, such as $.level"));
        }
        let lists = [(None, by)]
            .into_iter()
            .chain(AggregateKind::ALL.into_iter().map(Some).zip([sum, mean, min, max, distinct]));
        let (mut texts, mut queries, mut group) = (Vec::new(), Vec::new(), Group::new());
        for (kind, text) in lists.flat_map(|(kind, list)| list.iter().map(move |text| (kind, text))) {
            let named = NamedPath::parse(text);
            let query = shared.query(action, "the path", named.path)?;
            let name = named.name_for(&query).to_owned();
            group = match kind {
                None => group.by(name, (*query).clone()),
                Some(kind) => group.aggregate(kind, name, (*query).clone()),
            };
            texts.push(named.path);
            queries.push(query);
        }
        if let Some(name) = group.repeated_name() {
            let why = format!("two paths have the name `{}`; name one, as in NAME=$.path", excerpt(name, 80));
            return Err(action.refuse("duplicate_name", why));
        }
        let sort = group.order(sort).ok_or_else(|| {
            let known = excerpt(&group.orders().join(", "), 400);
            let why = format!("`sort` is `{}`; use one of {known}", excerpt(sort, 80));
            action.refuse("unknown_order", why)
        })?;
        Ok(Self { texts, queries, group, sort })
    }

    /// Returns the cache key of the groups, without the filters on records.
    fn key(&self, stored: &Stored) -> String {
        let keys = self.group.keys.iter().map(|key| format!("by {}", key.query));
        let figures = self.group.aggregates.iter();
        let figures = figures.map(|figure| format!("{} {}", figure.kind.name(), figure.query));
        let queries: Vec<String> = keys.chain(figures).collect();
        format!("{} {}", stored.digest, queries.join("\n"))
    }

    /// Returns the names in the answer as one text.
    fn names(&self) -> String {
        let keys = self.group.keys.iter().map(|key| key.name.as_str());
        let names: Vec<&str> =
            keys.chain(self.group.aggregates.iter().map(|one| one.name.as_str())).collect();
        names.join("\n")
    }
}

/// The part of the answer to return: its first group, the number of groups, and the binding of its
/// cursors.
#[derive(Clone, Copy)]
struct Page<'a> {
    start: usize,
    top: usize,
    binding: &'a Binding,
}

/// One call of `tool_outputs.aggregate`.
struct GroupRun<'a> {
    tool: &'a Aggregate,
    subject: CallSubject<'a>,
    request: &'a Request<'a>,
    filters: &'a Filters<'a>,
    job: &'a Job,
}

impl GroupRun<'_> {
    fn answer(
        &self,
        source: &mut Source<'_>,
        key: String,
        page: Page<'_>,
    ) -> Result<(Output, AnswerCoverage), Failure> {
        let (total, group) = (source.stored.size_bytes, &self.request.group);
        let (groups, coverage) = self.groups(source, key)?;
        let keys = (0..group.keys.len()).map(|key| groups.has_key(key));
        let figures = (0..group.aggregates.len()).map(|figure| groups.has_values(figure));
        let matched: Vec<bool> = keys.chain(figures).collect();
        let all = self.request.texts.iter().zip(&self.request.queries);
        let all: Vec<_> = all.map(|(text, query)| HintQuery::new(text, query)).collect();
        let none = all.iter().zip(&matched).filter(|(_, matched)| !**matched);
        let empty: Vec<_> = none.map(|(hint_query, _)| *hint_query).collect();
        let is_empty = groups.is_empty();
        let empty_result = EmptyResult { filters: self.filters, all: &all, is_empty, empty: &empty };
        let hint = empty_result.hint(&self.tool.shared, source, self.job);
        let one = if groups.total() == 1 { self.filters.one_record("group", source, self.job) } else { None };
        let hints: Vec<String> = hint.into_iter().chain(one).collect();
        let hint = (!hints.is_empty()).then(|| hints.join("; "));
        let mut answer = GroupsPage::new(group, &groups, self.request.sort, page, self.subject.max_chars);
        answer.warning = warning(&source.stored, hint, self.subject.max_chars);
        self.job.finished(total);
        Ok((self.subject.fit(&answer)?, coverage))
    }

    /// Returns the groups. A pass over the output computes them, unless they are cached.
    #[expect(clippy::expect_used, reason = "a report has an answer for each measure, of its kind")]
    fn groups(&self, source: &mut Source<'_>, key: String) -> Result<(Arc<Groups>, AnswerCoverage), Failure> {
        let total = source.stored.size_bytes;
        if let Some(known) = self.tool.cache.get(&key) {
            return Ok((known, AnswerCoverage::known(total)));
        }
        let analysis = self.filters.narrow(self.job.analysis(source, Validation::Structural));
        let analysis = analysis.ask(Measure::Group(self.request.group.clone()));
        let report = analysis.run(&mut source.document);
        let report = report.map_err(|error| self.subject.action.engine(&error))?;
        let groups = report.answers.into_iter().find_map(|answer| match answer {
            Answer::Group(groups) => Some(Arc::from(groups)),
            _ => None,
        });
        let groups: Arc<Groups> = groups.expect("the measure is a grouping");
        let weight = groups.bytes() + key.len();
        self.tool.cache.put(key, Arc::clone(&groups), weight);
        Ok((groups, AnswerCoverage::of(&report.coverage, total)))
    }
}

/// `{"groups": […], "total": …, "total_groups": …}`
struct GroupsPage<'a> {
    /// As many groups as may fit on the page.
    items: Vec<Item>,
    /// The number of groups from the first one of the page on.
    left: usize,
    totals: String,
    page: Page<'a>,
    warning: Option<String>,
}

impl<'a> GroupsPage<'a> {
    fn new(group: &Group, groups: &Groups, sort: GroupSort, page: Page<'a>, max_chars: usize) -> Self {
        let text = GroupsText::new(group, groups);
        let written = |bytes: Vec<u8>| safe_json(&String::from_utf8_lossy(&bytes));
        let rows = groups.rows(sort, Some(page.top));
        let left = rows.get(page.start..).unwrap_or(&[]);
        let (mut items, mut length) = (Vec::new(), 0);
        for row in left {
            let mut bytes = Vec::new();
            text.push_row(row, &mut bytes);
            let item = Item::of_text(written(bytes), max_chars, "$");
            length += chars(item.text());
            items.push(item);
            if length > max_chars {
                break;
            }
        }
        let mut totals = Vec::new();
        text.push_totals(&mut totals);
        Self { items, left: left.len(), totals: written(totals), page, warning: None }
    }
}

impl PagedAnswer for GroupsPage<'_> {
    fn len(&self) -> usize {
        self.left
    }

    fn min_chars(&self, unit: usize) -> usize {
        // The groups before those that were not rendered fill the page.
        self.items.get(unit).map_or(usize::MAX >> 1, |item| chars(item.text()))
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let items = self.items[..shown].iter().enumerate();
        let items: Vec<&str> = items.map(|(at, item)| unit_text(at, item.text(), first)).collect();
        let mut out = format!(r#"{{"groups":[{}],{}"#, items.join(","), self.totals);
        let is_cut = first.is_some() || self.items[..shown].iter().any(Item::is_large);
        if shown < self.left || is_cut {
            let position = (self.page.start + shown) as u64;
            let next = (shown < self.left).then(|| Next::Cursor(self.page.binding.cursor(&[position])));
            Truncation { reason: Reason::MaxChars, returned: shown as u64, next }.push(&mut out);
        }
        push_warning(self.warning.as_deref(), &mut out);
        out.push('}');
        out
    }

    fn stand_in(&self, max_chars: usize) -> Option<String> {
        self.items.first().and_then(|item| item.mark(max_chars))
    }
}
