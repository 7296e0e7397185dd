//! Pages of the list, from the index alone.

use std::collections::BTreeSet;

use rusqlite::types::Value;
use rusqlite::{Row as SqlRow, Transaction, params_from_iter};

use crate::db::Done;
use crate::error::Result;
use crate::filter::{Filter, Page, Row, SortBy, SortOrder};
use crate::rows;
use crate::store::Store;

/// How often a page is read again when files of its rows were changed behind the index's back.
const TRIES: u32 = 3;

/// The rows of a page, and what their metadata looked like when they were indexed.
struct Found {
    page: Page,
    stamps: Vec<String>,
}

impl Store {
    /// A page of the outputs that pass a filter.
    ///
    /// No payload is opened. Of each row on the page it is checked, by its times and size, that `meta.json` is what it was
    /// when it was indexed; where not, it is read again, so that damage shows at once.
    pub fn list(&self, filter: &Filter) -> Result<Page> {
        let search = Search::new(filter)?;
        // What was looked at already is as it was then; it may be that it is to be looked at each time.
        let mut seen = BTreeSet::new();
        for _ in 1..TRIES {
            let (page, stale) = self.look_up(&search, filter, &seen)?;
            if stale.is_empty() {
                return Ok(page);
            }
            if self.sync(&stale).is_err() {
                break;
            }
            seen.extend(stale);
        }
        // Where the index cannot be changed now, as on a disk that is full, or is changed all the time, the page is put right
        // alone.
        let (page, stale) = self.look_up(&search, filter, &seen)?;
        Ok(self.put_right(page, &stale.into_iter().collect()))
    }

    /// A page as it is in the index, and the rows of it whose files are not what they were, but for those that were seen.
    fn look_up(
        &self,
        search: &Search,
        filter: &Filter,
        seen: &BTreeSet<String>,
    ) -> Result<(Page, Vec<String>)> {
        let Found { page, stamps } = self.index().read(|transaction| search.run(transaction, filter))?;
        let stale = page.rows.iter().zip(stamps).filter(|(row, stamp)| {
            !seen.contains(&row.id)
                && rows::current_stamp(self.layout(), &row.id).as_deref() != Some(stamp.as_str())
        });
        let stale = stale.map(|(row, _)| row.id.clone()).collect();
        Ok((page, stale))
    }

    /// The page with some rows as their files are now.
    fn put_right(&self, mut page: Page, stale: &BTreeSet<String>) -> Page {
        let before = page.rows.len();
        let current = |row: Row| {
            let is_stale = stale.contains(&row.id);
            if is_stale { rows::look(self.layout(), &row.id).map(|entry| entry.row) } else { Some(row) }
        };
        page.rows = page.rows.into_iter().filter_map(current).collect();
        page.total = page.total.saturating_sub((before - page.rows.len()) as u64);
        page
    }

    /// Brings the rows of some outputs in line with their files.
    pub(crate) fn sync(&self, ids: &[String]) -> Result<()> {
        self.index().lock()?.transaction(|transaction| {
            for id in ids {
                rows::sync(transaction, self.layout(), id)?;
            }
            Ok(())
        })
    }
}

/// A filter in the words of SQL.
struct Search {
    condition: String,
    values: Vec<Value>,
    order: &'static str,
    /// The index that has rows in this order.
    index: &'static str,
}

/// When so many outputs pass the filter, they are gone through in their order until the page is full; fewer are found first, and
/// sorted.
const MANY: u64 = 4_000;

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
        Ok(Self { condition, values, order, index })
    }

    fn run(&self, transaction: &Transaction<'_>, filter: &Filter) -> Done<Found> {
        let total = self.total(transaction)?;
        let mut found = Found { page: Page { rows: Vec::new(), total, has_more: false }, stamps: Vec::new() };
        if filter.offset < total && filter.limit > 0 {
            self.page(transaction, filter, &mut found)?;
        }
        let shown = filter.offset.saturating_add(found.page.rows.len() as u64);
        found.page.has_more = shown < total;
        Ok(found)
    }

    fn total(&self, transaction: &Transaction<'_>) -> Done<u64> {
        if self.values.is_empty() {
            return Ok(rows::totals(transaction)?.count);
        }
        let sql = format!("SELECT count(*) FROM output {}", self.condition);
        let mut statement = transaction.prepare_cached(&sql)?;
        let count: i64 = statement.query_row(params_from_iter(&self.values), |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    fn page(&self, transaction: &Transaction<'_>, filter: &Filter, found: &mut Found) -> Done<()> {
        // The page is found among the slim rows; what is shown is looked up for its rows alone.
        let index = if found.page.total >= MANY { self.index } else { "" };
        let (condition, order) = (&self.condition, self.order);
        let sql = format!(
            "SELECT stamp, row FROM (SELECT number FROM output {index} {condition} ORDER BY {order} LIMIT ? OFFSET ?)
             AS page JOIN output USING (number) JOIN shown ON shown.output = number ORDER BY {order}"
        );
        let bound = |count: u64| Value::Integer(i64::try_from(count).unwrap_or(i64::MAX));
        let values = self.values.iter().cloned().chain([bound(filter.limit), bound(filter.offset)]);
        let mut statement = transaction.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(values), shown)?;
        for row in rows {
            let (stamp, row) = row?;
            found.stamps.push(stamp);
            found.page.rows.push(row);
        }
        Ok(())
    }
}

/// The order of rows, and the index that has it.
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

fn shown(row: &SqlRow<'_>) -> rusqlite::Result<(String, Row)> {
    let text: String = row.get(1)?;
    let unreadable =
        |error| rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, Box::new(error));
    Ok((row.get(0)?, serde_json::from_str(&text).map_err(unreadable)?))
}
