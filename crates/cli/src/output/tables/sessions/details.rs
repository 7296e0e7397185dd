//! One session: what it says of itself, and what was said in it.

use std::fmt::Write;

use owo_colors::OwoColorize;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::figures::{SummaryRow, of_summary};
use super::{Clock, NAME};
use crate::output::tables::{Grid, heading, on_one_line};
use crate::output::{escape, is_coloured};

/// Characters of a member of the description.
const MEMBER: usize = 300;

/// Characters of the arguments of a call.
const ARGUMENTS: usize = 160;

#[derive(Deserialize)]
struct Details {
    session_id: String,
    project: String,
    metadata: Option<Map<String, Value>>,
    #[serde(default)]
    omitted: Vec<String>,
    transcript: Option<Vec<Message>>,
    events_summary: Option<SummaryRow>,
    format: String,
    source: String,
    path: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    turn: u64,
    role: String,
    kind: Option<String>,
    ts: Option<String>,
    content: String,
    content_chars: Option<u64>,
    thinking_chars: Option<u64>,
    #[serde(default)]
    tool_calls: Vec<Call>,
    more_tool_calls: Option<u64>,
    name: Option<String>,
}

#[derive(Deserialize)]
struct Call {
    tool: String,
    arguments: String,
    #[serde(default)]
    truncated: bool,
}

/// What is known of a session.
pub(crate) fn details(answer: &str, clock: &Clock) -> serde_json::Result<String> {
    let details: Details = serde_json::from_str(answer)?;
    let mut text = heading(&escape::short(&details.session_id, 200)) + &described(&details, clock);
    if let Some(summary) = &details.events_summary {
        text.push('\n');
        text.push_str(&of_summary(summary, clock));
    }
    for message in details.transcript.iter().flatten() {
        text.push('\n');
        text.push_str(&of_message(message, clock));
    }
    Ok(text)
}

/// The members of the description that are no lists and no objects, and the names of the others.
fn described(details: &Details, clock: &Clock) -> String {
    let mut grid = Grid::unnamed(&[false, false]);
    let program = match details.format.as_str() {
        "amplifier" => "Amplifier",
        "claude_code" => "Claude Code",
        _ => "a chat",
    };
    grid.row(["project".to_owned(), escape::short(&details.project, MEMBER)]);
    grid.row(["log of".to_owned(), program.to_owned()]);
    let mut others = details.omitted.clone();
    for (name, value) in details.metadata.iter().flatten() {
        let value = match value {
            Value::String(text)
                if ["created", "updated", "modified", "forked_at"].contains(&name.as_str()) =>
            {
                clock.second(Some(text))
            }
            Value::String(text) => on_one_line(text, MEMBER),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Null => continue,
            Value::Array(_) | Value::Object(_) => {
                others.push(name.clone());
                continue;
            }
        };
        let is_told = (name == "session_id" && value == details.session_id) || name == "project";
        if !is_told {
            grid.row([escape::short(name, NAME), value]);
        }
    }
    if !others.is_empty() {
        grid.row(["not shown".to_owned(), escape::short(&others.join(", "), MEMBER)]);
    }
    if details.source != "local" {
        grid.row(["source".to_owned(), escape::short(&details.source, NAME)]);
    }
    if let Some(path) = &details.path {
        grid.row(["path".to_owned(), escape::short(path, MEMBER)]);
    }
    grid.text()
}

/// Who said what, and when.
fn of_message(message: &Message, clock: &Clock) -> String {
    let Message { turn, role, ts, content, content_chars, .. } = message;
    let name = message.name.as_ref().map_or(String::new(), |name| format!(" {}", escape::short(name, NAME)));
    // A result and thinking show by themselves; other kinds are none of the user's words.
    let kind = match message.kind.as_deref() {
        None | Some("tool_result" | "thinking") => String::new(),
        Some(kind) => format!(" ({})", escape::short(&kind.replace('_', " "), NAME)),
    };
    let role = format!("{}{name}{kind}", escape::short(role, NAME));
    let (turn, when) = (format!("turn {turn}"), clock.second(ts.as_deref()));
    let mut text = if is_coloured() {
        let role = if role == "user" && message.kind.is_none() {
            role.green().bold().to_string()
        } else {
            role.bold().to_string()
        };
        format!("{}  {role}  {}", turn.cyan(), when.dimmed())
    } else {
        format!("{turn}  {role}  {when}").trim_end().to_owned()
    };
    text.push('\n');
    // Writing to a string cannot fail.
    if message.kind.as_deref() == Some("thinking") || message.thinking_chars.is_some() {
        let chars = message.thinking_chars.map(|chars| format!(": {}", super::counted(chars, "character")));
        let _ = writeln!(text, "  (thought{})", chars.unwrap_or_default());
    }
    for line in escape::lines(content.trim_end()).lines() {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(chars) = content_chars {
        let _ = writeln!(text, "  ({} in all)", super::counted(*chars, "character"));
    }
    for Call { tool, arguments, truncated } in &message.tool_calls {
        let shown = on_one_line(arguments, ARGUMENTS);
        let cut = if *truncated && !shown.ends_with('…') { "…" } else { "" };
        let _ = writeln!(text, "  → {} {}{cut}", escape::short(tool, NAME), escape::text(&shown));
    }
    if let Some(more) = message.more_tool_calls {
        let _ = writeln!(text, "  → and {} more", super::counted(more, "call"));
    }
    text
}
