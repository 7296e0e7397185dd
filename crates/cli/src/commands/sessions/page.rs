//! The page of `trommel sessions report`.

use trommel_base::text::grouped;
use trommel_report::{Cell, Sections, Table};
use trommel_session::{
    Error, ErrorClass, ListQuery, Page, Result, Session, SessionRow, Sessions, Turn, UsageReport, UsageRow,
    Watch,
};
use trommel_tool::Redaction;

use super::prices::PriceTable;
use super::totals::{by, money};
use crate::args::{PageArgs, UsageKey};

/// Turns, sessions, and errors on a page.
const ROWS: usize = 2_000;

/// Sessions whose errors are listed.
const ERRORS: usize = 200;

/// A page while it is made.
pub(super) struct SessionPage<'a> {
    prices: Option<&'a PriceTable>,
    redaction: Option<Redaction>,
    page: Sections,
}

impl<'a> SessionPage<'a> {
    /// Creates an empty page.
    pub(super) fn new(prices: Option<&'a PriceTable>, redaction: Option<Redaction>) -> Self {
        Self { prices, redaction, page: Sections::default() }
    }

    /// Adds everything about one session, and the sessions that it spawned.
    pub(super) fn about_session(
        &mut self,
        sessions: &Sessions,
        session: &Session,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let row = SessionRow::from_session(session);
        let name = row.name.clone().unwrap_or_else(|| row.session_id.clone());
        self.page.title = format!("Session {name}");
        let fact = |name: &str, value: Option<String>| value.map(|value| (name.to_owned(), value));
        let facts = [
            fact("Session", Some(row.session_id)),
            fact("Project", Some(row.project)),
            fact("Created", row.created),
            fact("Changed", row.modified),
            fact("Model", row.model),
            fact("Part of", row.parent_id),
        ];
        self.page.facts.extend(facts.into_iter().flatten());
        let turns = session.timeline(Page::new(0, ROWS), watch)?;
        self.turns(&turns.turns);
        if turns.has_more {
            self.page.notes.push(format!("the first {} of {} turns are shown", ROWS, turns.total_count));
        }
        let usage = sessions.usage_rows(session, watch)?;
        self.tools(&usage.report);
        self.errors(std::slice::from_ref(session), watch)?;
        self.tokens(&usage.rows, &[UsageKey::Model, UsageKey::Day]);
        self.left_out(&usage.report);
        Ok(())
    }

    /// Adds everything about the sessions that a query selects.
    pub(super) fn about_sessions(
        &mut self,
        sessions: &Sessions,
        query: &ListQuery,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let listing = sessions.list(query, watch)?;
        let days = query.date_range.clone();
        self.page.title = days.map_or_else(|| "Sessions".to_owned(), |days| format!("Sessions of {days}"));
        let totals = sessions.usage_totals(query, watch)?;
        self.page.facts.push(("Sessions".to_owned(), grouped(listing.total)));
        self.page.facts.push(("With sub-sessions".to_owned(), grouped(totals.sessions)));
        self.page.facts.push(("Responses".to_owned(), grouped(totals.report.llm_requests)));
        self.page.facts.push(("Tokens".to_owned(), grouped(totals.report.total_tokens)));
        self.page.facts.push(("Tool calls".to_owned(), grouped(totals.report.tool_calls)));
        if listing.has_more {
            self.page.notes.push(format!(
                "the latest {} of {} sessions are listed",
                listing.sessions.len(),
                listing.total
            ));
        }
        let keys = [UsageKey::Day, UsageKey::Week, UsageKey::Model, UsageKey::Project];
        self.tokens(&totals.rows, &keys);
        self.sessions(&listing.sessions, &totals.report);
        self.tools(&totals.report);
        let found: Vec<Session> = listing
            .sessions
            .iter()
            .take(ERRORS)
            .filter_map(|row| sessions.find(&format!("{}/{}", row.project, row.session_id)).ok())
            .collect();
        if listing.sessions.len() > ERRORS {
            self.page.notes.push(format!("errors are those of the latest {ERRORS} sessions"));
        }
        self.errors(&found, watch)?;
        self.left_out(&totals.report);
        Ok(())
    }

    /// Formats the page.
    pub(super) fn finish(mut self, args: &PageArgs) -> String {
        if let Some(title) = &args.title {
            title.clone_into(&mut self.page.title);
        }
        self.page.page(args.max_bytes())
    }

    fn turns(&mut self, turns: &[Turn]) {
        let columns = ["Turn", "Started", "Duration", "Responses", "Tool calls", "Errors"];
        let mut table = Table::new("Timeline", &columns);
        "The session has no turns.".clone_into(&mut table.empty);
        let longest = turns.iter().filter_map(|turn| turn.duration_ms).max().unwrap_or(0) as f64;
        let row = |turn: &Turn| {
            let duration = turn.duration_ms.map_or_else(
                || Cell::number(-1.0, if turn.clock_skew { "clocks differ" } else { "" }),
                |duration| Cell::number(duration as f64, seconds(duration)).bar(duration as f64, longest),
            );
            vec![
                number(turn.turn_num),
                optional(turn.user_ts.as_ref()),
                duration,
                number(turn.llm_responses),
                number(turn.tool_calls),
                number(turn.errors),
            ]
        };
        table.rows = turns.iter().map(row).collect();
        self.page.tables.push(table);
    }

    fn sessions(&mut self, rows: &[SessionRow], usage: &UsageReport) {
        let columns = ["Session", "Project", "Changed", "Turns", "Model", "Tokens", "Tool calls"];
        let mut table = Table::new("Sessions", &columns);
        "No sessions.".clone_into(&mut table.empty);
        let used = usage.by_session.iter().map(|used| (used.session_id.as_str(), used));
        let used: std::collections::HashMap<_, _> = used.collect();
        let most = usage.by_session.iter().map(|used| used.usage.total()).max().unwrap_or(0) as f64;
        let row = |row: &SessionRow| {
            let used = used.get(row.session_id.as_str());
            // A single session has no row of its own.
            let alone = (rows.len() == 1).then_some((usage.total_tokens, usage.tool_calls));
            let (tokens, calls) =
                used.map(|used| (used.usage.total(), used.tool_calls)).or(alone).unwrap_or((0, 0));
            let name = row.name.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
            vec![
                Cell::text(format!("{}{name}", row.session_id)),
                Cell::text(&row.project),
                optional(row.modified.as_ref()),
                row.turn_count.map_or_else(|| Cell::number(-1.0, ""), number),
                optional(row.model.as_ref()),
                number(tokens).bar(tokens as f64, most),
                number(calls),
            ]
        };
        table.rows = rows.iter().take(ROWS).map(row).collect();
        self.page.tables.push(table);
    }

    fn tools(&mut self, usage: &UsageReport) {
        let mut table = Table::new("Tools", &["Tool", "Calls"]);
        "No tools were called.".clone_into(&mut table.empty);
        let most = usage.by_tool.iter().map(|tool| tool.calls).max().unwrap_or(0) as f64;
        table.rows = usage
            .by_tool
            .iter()
            .map(|tool| vec![Cell::text(&tool.tool), number(tool.calls).bar(tool.calls as f64, most)])
            .collect();
        self.page.tables.push(table);
    }

    fn errors(&mut self, sessions: &[Session], watch: &Watch<'_>) -> Result<()> {
        let mut table = Table::new("Errors", &["Time", "Session", "Event", "Message"]);
        "No errors.".clone_into(&mut table.empty);
        for session in sessions {
            let left = ROWS.saturating_sub(table.rows.len());
            if left == 0 {
                self.page.notes.push(format!("the first {ROWS} errors are shown"));
                break;
            }
            let errors = match session.errors(Page::new(0, left), watch) {
                Err(error) if is_missing(&error) => continue,
                errors => errors?,
            };
            for error in errors.errors {
                let message = error.message;
                let message = match &self.redaction {
                    Some(redaction) => redaction.text(&message).into_owned(),
                    None => message,
                };
                table.rows.push(vec![
                    optional(error.ts.as_ref()),
                    Cell::text(session.id()),
                    Cell::text(error.event),
                    Cell::text(message),
                ]);
            }
        }
        self.page.tables.push(table);
        Ok(())
    }

    fn tokens(&mut self, rows: &[UsageRow], keys: &[UsageKey]) {
        for key in keys {
            let (title, column) = match key {
                UsageKey::Day => ("Tokens by day", "Day"),
                UsageKey::Week => ("Tokens by week", "Week"),
                UsageKey::Month => ("Tokens by month", "Month"),
                UsageKey::Project => ("Tokens by project", "Project"),
                UsageKey::Model => ("Tokens by model", "Model"),
            };
            let cost = self.prices.map(|prices| format!("Cost {}", prices.currency));
            let mut columns =
                vec![column, "Responses", "Input", "Output", "Cache read", "Cache write", "Total"];
            columns.extend(cost.as_deref());
            let mut table = Table::new(title, &columns);
            "No responses of models.".clone_into(&mut table.empty);
            let mut totals = by(*key, rows, self.prices);
            let most = totals.first().map_or(0, |total| total.tokens) as f64;
            if !matches!(key, UsageKey::Project | UsageKey::Model) {
                totals.sort_by(|left, right| left.name.cmp(&right.name));
            }
            let row = |total: super::totals::Total| {
                let mut cells = vec![
                    Cell::text(total.name),
                    number(total.requests),
                    number(total.input),
                    number(total.output),
                    number(total.cache_read),
                    number(total.cache_write),
                    number(total.tokens).bar(total.tokens as f64, most),
                ];
                let cost = total.cost.map_or_else(|| Cell::text(""), |cost| Cell::number(cost, money(cost)));
                cells.extend(self.prices.map(|_| cost));
                cells
            };
            table.rows = totals.into_iter().map(row).collect();
            self.page.tables.push(table);
        }
        if let Some(prices) = self.prices {
            let unknown = rows.iter().filter(|row| prices.cost(&row.model, &row.usage).is_none());
            let mut unknown: Vec<&str> = unknown.map(|row| row.model.as_str()).collect();
            unknown.sort_unstable();
            unknown.dedup();
            if !unknown.is_empty() {
                self.page.notes.push(format!("no price, so not part of the costs: {}", unknown.join(", ")));
            }
        }
    }

    fn left_out(&mut self, usage: &UsageReport) {
        let mut table = Table::new("Not counted", &["Records", "Count", "Reason"]);
        let row = |left: &trommel_session::Exclusion| {
            vec![Cell::text(&left.what), number(left.count), Cell::text(left.why)]
        };
        table.rows = usage.left_out.iter().map(row).collect();
        self.page.tables.push(table);
    }
}

fn is_missing(error: &Error) -> bool {
    error.class() == ErrorClass::NotFound
}

fn optional(text: Option<&String>) -> Cell {
    Cell::text(text.map_or("", String::as_str))
}

fn number(number: u64) -> Cell {
    Cell::number(number as f64, grouped(number))
}

fn seconds(milliseconds: i64) -> String {
    format!("{:.1} s", milliseconds as f64 / 1000.0)
}
