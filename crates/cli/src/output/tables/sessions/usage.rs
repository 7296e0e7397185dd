//! What models and tools were used.

use serde::Deserialize;

use super::NAME;
use crate::output::escape;
use crate::output::size::grouped;
use crate::output::tables::{Grid, heading};

#[derive(Deserialize)]
struct Report {
    llm_requests: u64,
    total_input_tokens: u64,
    total_output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    total_tokens: u64,
    tool_calls: u64,
    by_model: Vec<ModelRow>,
    by_tool: Vec<ToolRow>,
    #[serde(default)]
    by_session: Vec<SessionRow>,
    left_out: Vec<LeftOut>,
    #[serde(default)]
    approximate: bool,
}

#[derive(Deserialize)]
struct ModelRow {
    model: String,
    #[serde(default)]
    provider: String,
    requests: u64,
    #[serde(flatten)]
    tokens: Tokens,
}

#[derive(Deserialize)]
struct Tokens {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    total: u64,
}

#[derive(Deserialize)]
struct ToolRow {
    tool: String,
    calls: u64,
}

#[derive(Deserialize)]
struct SessionRow {
    session_id: String,
    requests: u64,
    #[serde(flatten)]
    tokens: Tokens,
    tool_calls: u64,
}

#[derive(Deserialize)]
struct LeftOut {
    what: String,
    count: u64,
    why: String,
}

impl Tokens {
    fn cells(&self) -> [String; 5] {
        [self.input, self.output, self.cache_read, self.cache_write, self.total].map(grouped)
    }
}

/// Tokens by model, calls by tool, both by session, and what was not counted.
pub(crate) fn usage(answer: &str) -> serde_json::Result<String> {
    let report: Report = serde_json::from_str(answer)?;
    let mut sections = vec![heading("Models") + &models(&report)];
    if !report.by_tool.is_empty() {
        sections.push(heading("Tools") + &tools(&report));
    }
    if report.by_session.len() > 1 {
        sections.push(heading("Sessions") + &sessions(&report.by_session));
    }
    if !report.left_out.is_empty() {
        sections.push(heading("Not counted") + &left_out(&report.left_out));
    }
    let mut text = sections.join("\n");
    if report.approximate {
        text.push_str("\nThe figures are approximate, and may be too large: there are too many responses to distinguish.\n");
    }
    Ok(text)
}

fn models(report: &Report) -> String {
    // Input is without the cache, so that the figures of a row add up to its total.
    let names = ["model", "provider", "requests", "input", "output", "cache read", "cache write", "total"];
    let mut grid = Grid::new(&names, &[false, false, true, true, true, true, true, true]);
    for ModelRow { model, provider, requests, tokens } in &report.by_model {
        let names = [escape::short(model, NAME), escape::short(provider, NAME), grouped(*requests)];
        grid.row(names.into_iter().chain(tokens.cells()));
    }
    let totals = [report.total_input_tokens, report.total_output_tokens];
    let cached = [report.cache_read_tokens, report.cache_write_tokens, report.total_tokens];
    let names = ["total".to_owned(), String::new(), grouped(report.llm_requests)];
    grid.row(names.into_iter().chain(totals.into_iter().chain(cached).map(grouped)));
    grid.text()
}

fn tools(report: &Report) -> String {
    let mut grid = Grid::new(&["tool", "calls"], &[false, true]);
    for ToolRow { tool, calls } in &report.by_tool {
        grid.row([escape::short(tool, NAME), grouped(*calls)]);
    }
    grid.row(["total".to_owned(), grouped(report.tool_calls)]);
    grid.text()
}

fn sessions(rows: &[SessionRow]) -> String {
    let names = ["session", "requests", "input", "output", "cache read", "cache write", "total", "tools"];
    let mut grid = Grid::new(&names, &[false, true, true, true, true, true, true, true]);
    for SessionRow { session_id, requests, tokens, tool_calls } in rows {
        let id = [escape::short(session_id, NAME), grouped(*requests)];
        grid.row(id.into_iter().chain(tokens.cells()).chain([grouped(*tool_calls)]));
    }
    grid.text()
}

fn left_out(rows: &[LeftOut]) -> String {
    let mut grid = Grid::new(&["what", "how many", "why"], &[false, true, false]);
    for LeftOut { what, count, why } in rows {
        grid.row([escape::short(what, NAME), grouped(*count), escape::short(why, 200)]);
    }
    grid.text()
}
