//! The usage of many sessions by day, week, month, project, and model.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use jiff::civil::Date;
use serde::Serialize;
use trommel_session::{Usage, UsageRow, UsageTotals};

use super::prices::PriceTable;
use crate::args::UsageKey;
use crate::output::size::grouped;
use crate::output::tables::{Grid, heading};
use crate::output::{Stream, escape};

/// The maximum number of characters of a name.
const NAME: usize = 200;

/// Rows of a table on a terminal.
const ROWS: usize = 40;

/// Totals by each requested key.
#[derive(Debug, Serialize)]
pub(super) struct TotalUsageAnswer {
    /// The currency of the costs, if prices are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    /// The cost of everything that has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost: Option<f64>,
    /// The models without a price.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) without_price: Vec<String>,
    /// For each key, the totals, ordered by descending tokens.
    #[serde(rename = "totals")]
    pub(super) by_key: IndexMap<&'static str, Vec<Total>>,
    #[serde(flatten)]
    pub(super) totals: UsageTotals,
}

/// The usage of one day, week, month, project, or model.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Total {
    /// The day, week, month, project, or model.
    pub(super) name: String,
    pub(super) requests: u64,
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
    /// The sum of the four.
    #[serde(rename = "total")]
    pub(super) tokens: u64,
    /// The cost of everything that has a price, if prices are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost: Option<f64>,
}

impl Total {
    fn add(&mut self, row: &UsageRow, prices: Option<&PriceTable>) {
        let Usage { input, output, cache_read, cache_write, .. } = row.usage;
        self.requests += row.requests;
        let pairs = [
            (&mut self.input, input),
            (&mut self.output, output),
            (&mut self.cache_read, cache_read),
            (&mut self.cache_write, cache_write),
            (&mut self.tokens, row.usage.total()),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
        let cost = prices.and_then(|prices| prices.cost(&row.model, &row.usage));
        self.cost = self.cost.map_or(cost, |sum| Some(sum + cost.unwrap_or(0.0)));
    }
}

impl TotalUsageAnswer {
    pub(super) fn new(totals: UsageTotals, keys: &[UsageKey], prices: Option<&PriceTable>) -> Self {
        let by_key = keys.iter().map(|key| (key.name(), by(*key, &totals.rows, prices)));
        let unknown =
            |row: &&UsageRow| prices.is_some_and(|prices| prices.cost(&row.model, &row.usage).is_none());
        let mut without_price: Vec<String> =
            totals.rows.iter().filter(unknown).map(|row| row.model.clone()).collect();
        without_price.sort_unstable();
        without_price.dedup();
        let costs = totals.rows.iter().filter_map(|row| prices?.cost(&row.model, &row.usage));
        let cost = prices.map(|_| costs.fold(0.0, |sum, cost| sum + cost));
        Self {
            currency: prices.map(|prices| prices.currency.clone()),
            cost,
            without_price,
            by_key: by_key.collect(),
            totals,
        }
    }

    /// Formats the totals as tables.
    pub(super) fn tables(&self, out: Stream) -> String {
        let mut sections = Vec::new();
        for (key, totals) in &self.by_key {
            sections.push(heading(&title(key), out) + &self.table(key, totals, out));
        }
        let mut text = sections.join("\n");
        if !self.without_price.is_empty() {
            let names: Vec<String> =
                self.without_price.iter().take(10).map(|name| escape::short(name, NAME)).collect();
            text = format!("{text}no price, so not part of the costs: {}\n", names.join(", "));
        }
        text
    }

    fn table(&self, key: &'static str, totals: &[Total], out: Stream) -> String {
        let currency =
            self.currency.as_deref().map(|currency| format!("cost {currency}").trim_end().to_owned());
        let mut names = vec![key, "requests", "input", "output", "cache read", "cache write", "total"];
        names.extend(currency.as_deref());
        let mut right = vec![true; names.len()];
        right[0] = false;
        let mut grid = Grid::new(&names, &right, out);
        let row = |total: &Total| {
            let Total { requests, input, output, cache_read, cache_write, tokens, .. } = *total;
            let figures = [requests, input, output, cache_read, cache_write, tokens].map(grouped);
            let cost = currency.as_ref().map(|_| total.cost.map_or_else(String::new, money));
            [escape::short(&total.name, NAME)].into_iter().chain(figures).chain(cost).collect::<Vec<_>>()
        };
        totals.iter().take(ROWS).for_each(|total| grid.row(row(total)));
        let mut all = Total { name: "total".to_owned(), cost: self.cost, ..Total::default() };
        self.totals.rows.iter().for_each(|row| all.add(row, None));
        grid.row(row(&all));
        let more = totals.len().saturating_sub(ROWS);
        let more =
            if more > 0 { format!("{} more; --json has all\n", grouped(more as u64)) } else { String::new() };
        grid.text() + &more
    }
}

fn title(key: &str) -> String {
    let mut letters = key.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect::<String>() + "s")
}

/// Totals by a key, ordered by descending tokens.
pub(super) fn by(key: UsageKey, rows: &[UsageRow], prices: Option<&PriceTable>) -> Vec<Total> {
    let mut totals: BTreeMap<String, Total> = BTreeMap::new();
    for row in rows {
        totals.entry(name(key, row)).or_default().add(row, prices);
    }
    let mut totals: Vec<Total> = totals.into_iter().map(|(name, total)| Total { name, ..total }).collect();
    totals.sort_by_key(|total| std::cmp::Reverse(total.tokens));
    totals
}

fn name(key: UsageKey, row: &UsageRow) -> String {
    let day = |format: &dyn Fn(Date) -> String| row.day.map_or_else(|| "unknown".to_owned(), format);
    match key {
        UsageKey::Day => day(&|day| day.to_string()),
        UsageKey::Week => day(&|day| {
            let week = day.iso_week_date();
            format!("{}-W{:02}", week.year(), week.week())
        }),
        UsageKey::Month => day(&|day| format!("{:04}-{:02}", day.year(), day.month())),
        UsageKey::Project => row.project.clone(),
        UsageKey::Model => row.model.clone(),
    }
}

/// An amount of money: two decimals, or more for small amounts.
pub(super) fn money(amount: f64) -> String {
    if amount > 0.0 && amount < 0.01 { format!("{amount:.4}") } else { format!("{amount:.2}") }
}
