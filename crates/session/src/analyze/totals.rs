//! Usage by day, project, and model.

use std::cmp::Reverse;
use std::collections::HashMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::usage::UsageReport;
use crate::time::Days;
use crate::usage::Usage;

/// The maximum number of rows. Further ones are counted in a row of their model without day and
/// project.
const MAX_ROWS: usize = if cfg!(test) { 4 } else { 200_000 };

/// The usage of many sessions.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct UsageTotals {
    /// The number of sessions.
    pub sessions: u64,
    /// The usage by day, project, and model, ordered by descending tokens.
    pub rows: Vec<UsageRow>,
    /// The usage by model, tool, and session, and the records that were excluded.
    #[serde(flatten)]
    pub report: UsageReport,
}

/// The usage of a model on one day in one project.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct UsageRow {
    /// The day, in the time zone of the sessions. None if the log has no time.
    #[serde(serialize_with = "as_text")]
    pub day: Option<Date>,
    /// The project.
    pub project: String,
    /// The model.
    pub model: String,
    /// The provider, if known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub provider: String,
    /// The number of responses.
    pub requests: u64,
    /// The tokens.
    #[serde(flatten)]
    pub usage: Usage,
}

/// A row while it is counted: the day, the number of the project, model, and provider.
type Key = (Option<Date>, Option<usize>, String, String);

/// A response of a model.
pub(super) struct Response<'a> {
    /// The number of the log.
    pub(super) log: usize,
    pub(super) model: &'a str,
    pub(super) provider: &'a str,
    pub(super) time: Option<Timestamp>,
}

/// Counts usage by day, project, and model.
#[derive(Debug)]
pub(super) struct Totals {
    zone: TimeZone,
    days: Option<Days>,
    projects: Vec<String>,
    /// The number of each log's project.
    logs: Vec<usize>,
    rows: HashMap<Key, (u64, Usage)>,
}

impl Totals {
    pub(super) fn new(zone: TimeZone, days: Option<Days>) -> Self {
        Self { zone, days, projects: Vec::new(), logs: Vec::new(), rows: HashMap::new() }
    }

    /// Begins the next log, of a session in this project.
    pub(super) fn begin_log(&mut self, project: &str) {
        let known = self.projects.iter().position(|known| known == project);
        let number = known.unwrap_or(self.projects.len());
        if known.is_none() {
            self.projects.push(project.to_owned());
        }
        self.logs.push(number);
    }

    /// Forgets the last log, which could not be read.
    pub(super) fn drop_log(&mut self) {
        self.logs.pop();
    }

    /// True if a time is outside of the requested days. Records without a time are inside.
    pub(super) fn is_outside(&self, time: Option<Timestamp>) -> bool {
        let outside = |days: Days| time.is_some_and(|time| !days.overlaps(Some(time), None));
        self.days.is_some_and(outside)
    }

    /// Adds a response, with its tokens if they are known.
    pub(super) fn add(&mut self, response: &Response<'_>, usage: Option<Usage>) {
        let day = response.time.map(|time| self.zone.to_datetime(time).date());
        let project = self.logs.get(response.log).copied();
        let mut key = (day, project, response.model.to_owned(), response.provider.to_owned());
        if self.rows.len() >= MAX_ROWS && !self.rows.contains_key(&key) {
            (key.0, key.1) = (None, None);
        }
        let (requests, sum) = self.rows.entry(key).or_default();
        *requests += 1;
        if let Some(usage) = usage {
            sum.add(usage);
        }
    }

    pub(super) fn into_rows(self) -> Vec<UsageRow> {
        let projects = self.projects;
        let project = |number: Option<usize>| number.and_then(|number| projects.get(number).cloned());
        let row = |((day, number, model, provider), (requests, usage)): (Key, (u64, Usage))| {
            let project = project(number).unwrap_or_else(|| "(others)".to_owned());
            UsageRow { day, project, model, provider, requests, usage }
        };
        let mut rows: Vec<UsageRow> = self.rows.into_iter().map(row).collect();
        rows.sort_by(|a, b| {
            let tokens = |row: &UsageRow| Reverse(row.usage.total());
            let names =
                |row: &UsageRow| (row.day, row.project.clone(), row.model.clone(), row.provider.clone());
            tokens(a).cmp(&tokens(b)).then_with(|| names(a).cmp(&names(b)))
        });
        rows
    }
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn as_text<S: serde::Serializer>(day: &Option<Date>, serializer: S) -> Result<S::Ok, S::Error> {
    match day {
        Some(day) => serializer.collect_str(day),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_days_of_the_time_zone_and_a_limit() {
        let mut totals = Totals::new(TimeZone::fixed(jiff::tz::offset(2)), None);
        totals.begin_log("p");
        let usage = Usage { output: 2, ..Usage::default() };
        let time = |text: &str| Some(text.parse().unwrap());
        let add = |totals: &mut Totals, time| {
            totals.add(&Response { log: 0, model: "m", provider: "", time }, Some(usage));
        };
        add(&mut totals, time("2026-11-26T22:30:00Z"));
        add(&mut totals, time("2026-11-27T10:00:00Z"));
        add(&mut totals, None);
        for day in 1..10 {
            add(&mut totals, time(&format!("2026-01-0{day}T00:00:00Z")));
        }
        let rows = totals.into_rows();
        assert_eq!(rows.iter().map(|row| row.requests).sum::<u64>(), 12);
        let found = rows.iter().find(|row| row.day == Some(jiff::civil::date(2026, 11, 27))).unwrap();
        assert_eq!((found.requests, found.usage.output, found.project.as_str()), (2, 4, "p"));
        assert!(rows.iter().any(|row| row.project == "(others)" && row.day.is_none() && row.requests > 1));
    }
}
