//! The turns of a session, one a line: when each began, how long it took, what it took, and whether something went wrong.

use std::fmt::Write;

use owo_colors::OwoColorize;
use serde::Deserialize;

use super::times::took;
use super::{Clock, bar, counted};
use crate::output::is_coloured;
use crate::output::size::grouped;
use crate::output::tables::{heading, width};

/// Columns that are taken by all but the bar.
const OTHERS: u16 = 62;

/// Columns of the longest bar where there is room for any, and where there is little.
const BAR: (u16, u16) = (40, 8);

#[derive(Deserialize)]
struct Timeline {
    turns: Vec<Row>,
    total_count: u64,
}

#[derive(Deserialize)]
struct Row {
    turn_num: u64,
    user_ts: Option<String>,
    duration_ms: Option<i64>,
    #[serde(default)]
    clock_skew: bool,
    tool_calls: u64,
    llm_responses: u64,
    errors: u64,
}

impl Row {
    /// How long it took; nothing where it was not answered.
    fn took(&self) -> u64 {
        self.duration_ms.and_then(|duration| u64::try_from(duration).ok()).unwrap_or(0)
    }
}

/// Turns, with the day where it changes.
pub(crate) fn timeline(answer: &str, clock: &Clock) -> serde_json::Result<String> {
    let Timeline { turns, total_count } = serde_json::from_str(answer)?;
    if turns.is_empty() {
        return Ok(String::new());
    }
    let columns = width().map_or(BAR.0, |width| width.saturating_sub(OTHERS).clamp(BAR.1, BAR.0));
    let longest = turns.iter().map(Row::took).max().unwrap_or(0);
    let mut text = heading(&in_all(&turns, total_count));
    let empty = " ".repeat(usize::from(columns));
    let names =
        format!("{:>6}  {:8}  {:>10}  {empty}  {:>5}  {:>9}", "turn", "began", "took", "tools", "responses");
    // Writing to a string cannot fail.
    let _ = if is_coloured() { writeln!(text, "{}", names.dimmed()) } else { writeln!(text, "{names}") };
    let mut today = String::new();
    for turn in &turns {
        let day = clock.day(turn.user_ts.as_deref());
        if !day.is_empty() && day != today {
            text.push_str(&heading(&day));
            today = day;
        }
        text.push_str(&of_turn(turn, longest, columns, clock));
    }
    Ok(text)
}

/// All turns that are shown, in a few words.
fn in_all(turns: &[Row], total: u64) -> String {
    let sum = |of: fn(&Row) -> u64| turns.iter().map(of).fold(0, u64::saturating_add);
    let shown = turns.len() as u64;
    let count = if shown == total {
        counted(total, "turn")
    } else {
        format!("{} of {}", grouped(shown), counted(total, "turn"))
    };
    let tools = counted(sum(|turn| turn.tool_calls), "tool call");
    let responses = counted(sum(|turn| turn.llm_responses), "response");
    let busy = took(i64::try_from(sum(Row::took)).unwrap_or(i64::MAX));
    let errors = counted(sum(|turn| turn.errors), "error");
    format!("{count}, {busy} at work: {tools}, {responses}, {errors}")
}

fn of_turn(turn: &Row, longest: u64, columns: u16, clock: &Clock) -> String {
    let number = |count: u64| if count == 0 { "·".to_owned() } else { grouped(count) };
    let began = clock.of_day(turn.user_ts.as_deref());
    let unknown = if turn.clock_skew { "clock skew" } else { "unanswered" };
    let duration = turn.duration_ms.map_or_else(|| unknown.to_owned(), took);
    let bar = bar(turn.took(), longest, u64::from(columns));
    let rest = " ".repeat(usize::from(columns).saturating_sub(bar.chars().count()));
    let bar = if is_coloured() { bar.cyan().to_string() } else { bar };
    let errors = match turn.errors {
        0 => String::new(),
        errors if is_coloured() => format!("  {}", format!("✗ {}", counted(errors, "error")).red().bold()),
        errors => format!("  ✗ {}", counted(errors, "error")),
    };
    let (tools, responses) = (number(turn.tool_calls), number(turn.llm_responses));
    let turn = grouped(turn.turn_num);
    format!("{turn:>6}  {began:8}  {duration:>10}  {bar}{rest}  {tools:>5}  {responses:>9}{errors}\n")
}
