//! The turns of a session, one per line: start, duration, tool calls, and errors.

use std::fmt::Write;

use owo_colors::OwoColorize;
use trommel_session::{Timeline, Turn};

use super::super::bar;
use super::times::format_duration;
use super::{Clock, counted};
use crate::output::Stream;
use crate::output::size::grouped;
use crate::output::tables::{heading, width};

/// The columns that are not part of the bar.
const OTHERS: u16 = 62;

/// The columns of the longest bar on a wide and on a narrow terminal.
const BAR: (u16, u16) = (40, 8);

/// Returns the duration of a turn, or 0 if it is unanswered.
fn duration(turn: &Turn) -> u64 {
    // The library reports clock skew instead of negative durations, so no sign is lost.
    turn.duration_ms.map_or(0, i64::unsigned_abs)
}

/// Formats turns, with a heading for each day.
pub(crate) fn timeline(timeline: &Timeline, clock: &Clock, out: Stream) -> String {
    let Timeline { turns, total_count, .. } = timeline;
    if turns.is_empty() {
        return String::new();
    }
    let columns = width(out).map_or(BAR.0, |width| width.saturating_sub(OTHERS).clamp(BAR.1, BAR.0));
    let longest = turns.iter().map(duration).max().unwrap_or(0);
    let mut text = heading(&in_all(turns, *total_count), out);
    let empty = " ".repeat(usize::from(columns));
    let names = format!(
        "{:>6}  {:8}  {:>10}  {empty}  {:>5}  {:>9}",
        "turn", "started", "duration", "tools", "responses"
    );
    // Writing to a string cannot fail.
    let _ = if out.is_colored { writeln!(text, "{}", names.dimmed()) } else { writeln!(text, "{names}") };
    let mut today = String::new();
    let bars = Bars { longest, columns };
    for turn in turns {
        let day = clock.day(turn.user_ts.as_deref());
        if !day.is_empty() && day != today {
            text.push_str(&heading(&day, out));
            today = day;
        }
        text.push_str(&of_turn(turn, bars, clock, out));
    }
    text
}

/// The scale of the bars.
#[derive(Clone, Copy)]
struct Bars {
    /// The duration of the longest bar.
    longest: u64,
    /// The columns of the longest bar.
    columns: u16,
}

/// Summarizes the turns that are shown.
fn in_all(turns: &[Turn], total: u64) -> String {
    let sum = |of: fn(&Turn) -> u64| turns.iter().map(of).fold(0, u64::saturating_add);
    let shown = turns.len() as u64;
    let count = if shown == total {
        counted(total, "turn")
    } else {
        format!("{} of {}", grouped(shown), counted(total, "turn"))
    };
    let tools = counted(sum(|turn| turn.tool_calls), "tool call");
    let responses = counted(sum(|turn| turn.llm_responses), "response");
    let busy = format_duration(i64::try_from(sum(duration)).unwrap_or(i64::MAX));
    let errors = counted(sum(|turn| turn.errors), "error");
    format!("{count}, {busy} of work: {tools}, {responses}, {errors}")
}

fn of_turn(turn: &Turn, bars: Bars, clock: &Clock, out: Stream) -> String {
    let number = |count: u64| if count == 0 { "·".to_owned() } else { grouped(count) };
    let began = clock.of_day(turn.user_ts.as_deref());
    let unknown = if turn.clock_skew { "clock skew" } else { "unanswered" };
    let bar = bar(duration(turn), bars.longest, u64::from(bars.columns));
    let duration = turn.duration_ms.map_or_else(|| unknown.to_owned(), format_duration);
    let rest = " ".repeat(usize::from(bars.columns).saturating_sub(bar.chars().count()));
    let bar = if out.is_colored { bar.cyan().to_string() } else { bar };
    let errors = match turn.errors {
        0 => String::new(),
        errors if out.is_colored => format!("  {}", format!("✗ {}", counted(errors, "error")).red().bold()),
        errors => format!("  ✗ {}", counted(errors, "error")),
    };
    let (tools, responses) = (number(turn.tool_calls), number(turn.llm_responses));
    let turn = grouped(turn.turn_num);
    format!("{turn:>6}  {began:8}  {duration:>10}  {bar}{rest}  {tools:>5}  {responses:>9}{errors}\n")
}
