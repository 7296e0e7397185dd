//! Pages of the list, read from the index alone.

use std::collections::BTreeSet;

use rusqlite::types::Value;
use rusqlite::{Transaction, params_from_iter};

use crate::db::{Fault, TransactionResult};
use crate::error::Result;
use crate::filter::{Filter, Page, Row, SortBy, SortOrder};
use crate::rows::{self, Record, record};
use crate::store::Store;

/// Maximum number of attempts to read a page whose files keep changing.
const MAX_ATTEMPTS: u32 = 3;

/// A page, and the stamps that the descriptions had when they were indexed.
struct StampedPage {
    page: Page,
    stamps: Vec<String>,
}

/// Maximum number of tool names that are returned.
const MAX_TOOL_NAMES: u32 = 1_000;

impl Store {
    /// Returns the names of all tools with stored outputs, sorted, at most 1,000. No file is
    /// opened.
    pub fn tool_names(&self) -> Result<Vec<String>> {
        self.index().read(|transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT DISTINCT tool_name FROM output WHERE tool_name IS NOT NULL ORDER BY tool_name LIMIT ?1",
            )?;
            let names = statement.query_map([MAX_TOOL_NAMES], |row| row.get(0))?;
            Ok(names.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// Returns a page of the outputs that match a filter.
    ///
    /// No payload is opened. Each row of the page is validated against its checksum, the filter,
    /// and the sort order.
    ///
    /// The size and times of each `meta.json` on the page are compared with those in the index. A
    /// changed file is read again, so that damage is visible at once. A damaged index is rebuilt
    /// first.
    pub fn list(&self, filter: &Filter) -> Result<Page> {
        let search = Search::new(filter)?;
        // Outputs that were synchronized already. Some, such as those without a payload, have no
        // stable stamp and would appear stale every time.
        let mut seen = BTreeSet::new();
        for _ in 1..MAX_ATTEMPTS {
            let (page, stale) = self.read_page(&search, filter, &seen)?;
            if stale.is_empty() {
                return Ok(page);
            }
            if self.sync(&stale).is_err() {
                break;
            }
            seen.extend(stale);
        }
        // The index cannot be changed, as on a full disk, or changes constantly. Correct the rows
        // of this page in memory instead.
        let (page, stale) = self.read_page(&search, filter, &seen)?;
        Ok(self.refresh_rows(page, &stale.into_iter().collect()))
    }

    /// Reads a page from the index. Also returns the rows whose files changed since, except those
    /// in `seen`.
    fn read_page(
        &self,
        search: &Search,
        filter: &Filter,
        seen: &BTreeSet<String>,
    ) -> Result<(Page, Vec<String>)> {
        let StampedPage { page, stamps } =
            self.index().read(|transaction| search.run(transaction, filter))?;
        let stale = page.rows.iter().zip(stamps).filter(|(row, stamp)| {
            !seen.contains(&row.id)
                && rows::current_stamp(self.layout(), &row.id).as_deref() != Some(stamp.as_str())
        });
        let stale = stale.map(|(row, _)| row.id.clone()).collect();
        Ok((page, stale))
    }

    /// Replaces the stale rows of a page by the current state of their files.
    fn refresh_rows(&self, mut page: Page, stale: &BTreeSet<String>) -> Page {
        let before = page.rows.len();
        let current = |row: Row| {
            let is_stale = stale.contains(&row.id);
            if is_stale { rows::read_entry(self.layout(), &row.id).map(|entry| entry.row) } else { Some(row) }
        };
        page.rows = page.rows.into_iter().filter_map(current).collect();
        page.total = page.total.saturating_sub((before - page.rows.len()) as u64);
        page
    }

    /// Synchronizes the rows of some outputs with their files.
    pub(crate) fn sync(&self, ids: &[String]) -> Result<()> {
        self.index().lock()?.transaction(|transaction| {
            ids.iter().try_for_each(|id| rows::sync(transaction, self.layout(), id))
        })
    }
}

/// A filter translated to SQL.
struct Search {
    condition: String,
    values: Vec<Value>,
    /// The exclusive bounds of the creation time.
    times: (Option<i64>, Option<i64>),
    order: &'static str,
    /// The SQL index that has the rows in this order.
    index: &'static str,
}

/// Minimum number of matching outputs for scanning in sort order until the page is full. Fewer are
/// collected first and then sorted, which is faster.
const ORDERED_SCAN_MIN: u64 = 4_000;

impl Search {
    fn new(filter: &Filter) -> Result<Self> {
        let (after, before) = filter.times()?;
        let mut conditions = Vec::new();
        let mut values = Vec::new();
        let mut add = |condition, value: Option<Value>| {
            if let Some(value) = value {
                conditions.push(condition);
                values.push(value);
            }
        };
        add("conversation_id = ?", filter.conversation_id.clone().map(Value::Text));
        add("tool_name = ?", filter.tool_name.clone().map(Value::Text));
        add("success = ?", filter.success.map(|success| Value::Integer(success.into())));
        add("created_at > ?", after.map(Value::Integer));
        add("created_at < ?", before.map(Value::Integer));
        let condition = match conditions.as_slice() {
            [] => String::new(),
            conditions => format!("WHERE {}", conditions.join(" AND ")),
        };
        let (order, index) = order(filter.sort_by, filter.sort_order);
        Ok(Self { condition, values, times: (after, before), order, index })
    }

    fn run(&self, transaction: &Transaction<'_>, filter: &Filter) -> TransactionResult<StampedPage> {
        let total = self.total(transaction)?;
        let mut found =
            StampedPage { page: Page { rows: Vec::new(), total, has_more: false }, stamps: Vec::new() };
        if filter.offset < total && filter.limit > 0 {
            self.page(transaction, filter, &mut found)?;
        }
        let listed = filter.offset.saturating_add(found.page.rows.len() as u64);
        found.page.has_more = listed < total;
        Ok(found)
    }

    /// True if a row matches the filter.
    fn matches(&self, record: &Record, filter: &Filter) -> bool {
        let is = |wanted: &Option<String>, found: &Option<String>| wanted.is_none() || wanted == found;
        is(&filter.conversation_id, &record.conversation_id)
            && is(&filter.tool_name, &record.tool_name)
            && filter.success.is_none_or(|success| record.success == Some(success.into()))
            && self.times.0.is_none_or(|after| record.created_at > after)
            && self.times.1.is_none_or(|before| record.created_at < before)
    }

    fn total(&self, transaction: &Transaction<'_>) -> TransactionResult<u64> {
        if self.values.is_empty() {
            return Ok(rows::totals(transaction)?.count);
        }
        let sql = format!("SELECT count(*) FROM output {}", self.condition);
        let mut statement = transaction.prepare_cached(&sql)?;
        Ok(statement.query_row(params_from_iter(&self.values), |row| rows::unsigned(row, 0))?)
    }

    fn page(
        &self,
        transaction: &Transaction<'_>,
        filter: &Filter,
        found: &mut StampedPage,
    ) -> TransactionResult<()> {
        // The inner query reads narrow rows only. The wide columns are joined for the rows of this
        // page alone.
        let index = if found.page.total >= ORDERED_SCAN_MIN { self.index } else { "" };
        let (condition, order) = (&self.condition, self.order);
        let sql = format!(
            "SELECT {} FROM (SELECT number FROM output {index} {condition} ORDER BY {order} LIMIT ? OFFSET ?)
             AS page LEFT JOIN output USING (number) LEFT JOIN shown ON shown.output = number ORDER BY {order}",
            record::COLUMNS
        );
        let bound = |count: u64| Value::Integer(i64::try_from(count).unwrap_or(i64::MAX));
        let values = self.values.iter().cloned().chain([bound(filter.limit), bound(filter.offset)]);
        let mut statement = transaction.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut last: Option<Record> = None;
        while let Some(row) = rows.next()? {
            let record = Record::read(row)?;
            let is_in_order = last.as_ref().is_none_or(|last| precedes(last, &record, filter));
            if !is_in_order || !self.matches(&record, filter) {
                return Err(Fault::Damaged("a list contains a row that does not match".into()));
            }
            found.stamps.push(record.stamp.clone());
            let row = serde_json::from_str(&record.row);
            found.page.rows.push(row.map_err(|error| Fault::Damaged(error.to_string()))?);
            last = Some(record);
        }
        let expected = filter.limit.min(found.page.total.saturating_sub(filter.offset));
        if found.page.rows.len() as u64 != expected {
            return Err(Fault::Damaged("a list has fewer rows than it counts".into()));
        }
        Ok(())
    }
}

/// True if `one` comes before `other` in the requested order.
fn precedes(one: &Record, other: &Record, filter: &Filter) -> bool {
    let order = match filter.sort_by {
        SortBy::CreatedAt => one.created_at.cmp(&other.created_at),
        SortBy::Size => one.size.cmp(&other.size),
        SortBy::ToolName => one.tool_name.cmp(&other.tool_name),
    };
    let order = if filter.sort_order == SortOrder::Desc { order.reverse() } else { order };
    order.then(other.created_at.cmp(&one.created_at)).then(one.id.cmp(&other.id)).is_lt()
}

/// The ORDER BY terms, and the SQL index that provides the order.
const fn order(by: SortBy, order: SortOrder) -> (&'static str, &'static str) {
    match (by, order) {
        (SortBy::CreatedAt, SortOrder::Asc) => ("created_at, id", "INDEXED BY by_created_asc"),
        (SortBy::CreatedAt, SortOrder::Desc) => ("created_at DESC, id", "INDEXED BY by_created_desc"),
        (SortBy::Size, SortOrder::Asc) => ("size, created_at DESC, id", "INDEXED BY by_size_asc"),
        (SortBy::Size, SortOrder::Desc) => ("size DESC, created_at DESC, id", "INDEXED BY by_size_desc"),
        (SortBy::ToolName, SortOrder::Asc) => ("tool_name, created_at DESC, id", "INDEXED BY by_tool_asc"),
        (SortBy::ToolName, SortOrder::Desc) => {
            ("tool_name DESC, created_at DESC, id", "INDEXED BY by_tool_desc")
        }
    }
}
