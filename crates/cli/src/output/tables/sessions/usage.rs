//! Token usage of models, and calls of tools.

use trommel_session::{Exclusion, ModelUsage, SessionUsage, ToolCalls, Usage, UsageReport};

use super::NAME;
use crate::output::size::grouped;
use crate::output::tables::{Grid, heading};
use crate::output::{Stream, escape};

/// Formats the tokens of a row. Input excludes the cache, so that the columns add up to the total.
fn tokens(usage: &Usage) -> [String; 5] {
    [usage.input, usage.output, usage.cache_read, usage.cache_write, usage.total()].map(grouped)
}

/// Formats tokens by model, calls by tool, both by session, and what was not counted.
pub(crate) fn usage(report: &UsageReport, out: Stream) -> String {
    let mut sections = vec![heading("Models", out) + &models(report, out)];
    if !report.by_tool.is_empty() {
        sections.push(heading("Tools", out) + &tools(report, out));
    }
    if report.by_session.len() > 1 {
        sections.push(heading("Sessions", out) + &sessions(&report.by_session, out));
    }
    if !report.left_out.is_empty() {
        sections.push(heading("Not counted", out) + &left_out(&report.left_out, out));
    }
    let mut text = sections.join("\n");
    if report.approximate {
        text.push_str(
            "\nThe figures are approximate and may be too large: too many responses to distinguish.\n",
        );
    }
    text
}

fn models(report: &UsageReport, out: Stream) -> String {
    let names = ["model", "provider", "requests", "input", "output", "cache read", "cache write", "total"];
    let mut grid = Grid::new(&names, &[false, false, true, true, true, true, true, true], out);
    for ModelUsage { model, provider, requests, usage, .. } in &report.by_model {
        let names = [escape::short(model, NAME), escape::short(provider, NAME), grouped(*requests)];
        grid.row(names.into_iter().chain(tokens(usage)));
    }
    let totals = [report.total_input_tokens, report.total_output_tokens];
    let cached = [report.cache_read_tokens, report.cache_write_tokens, report.total_tokens];
    let names = ["total".to_owned(), String::new(), grouped(report.llm_requests)];
    grid.row(names.into_iter().chain(totals.into_iter().chain(cached).map(grouped)));
    grid.text()
}

fn tools(report: &UsageReport, out: Stream) -> String {
    let mut grid = Grid::new(&["tool", "calls"], &[false, true], out);
    for ToolCalls { tool, calls, .. } in &report.by_tool {
        grid.row([escape::short(tool, NAME), grouped(*calls)]);
    }
    grid.row(["total".to_owned(), grouped(report.tool_calls)]);
    grid.text()
}

fn sessions(rows: &[SessionUsage], out: Stream) -> String {
    let names = ["session", "requests", "input", "output", "cache read", "cache write", "total", "tools"];
    let mut grid = Grid::new(&names, &[false, true, true, true, true, true, true, true], out);
    for SessionUsage { session_id, requests, usage, tool_calls, .. } in rows {
        let id = [escape::short(session_id, NAME), grouped(*requests)];
        grid.row(id.into_iter().chain(tokens(usage)).chain([grouped(*tool_calls)]));
    }
    grid.text()
}

fn left_out(rows: &[Exclusion], out: Stream) -> String {
    let mut grid = Grid::new(&["item", "count", "reason"], &[false, true, false], out).wrapped();
    for Exclusion { what, count, why, .. } in rows {
        grid.row([escape::short(what, NAME), grouped(*count), escape::short(why, 200)]);
    }
    grid.text()
}
