//! One session: its metadata and messages.

use std::fmt::Write;

use owo_colors::OwoColorize;
use trommel_session::{CallRow, Details, Member, MessageKind, MessageRow, Nested, Source};

use super::{Clock, Json, NAME};
use crate::output::tables::{Grid, heading, on_one_line};
use crate::output::{Stream, escape};

/// The maximum number of characters of a member of the metadata.
const MEMBER: usize = 300;

/// The maximum number of characters of the arguments of a call.
const ARGUMENTS: usize = 160;

/// Members of the metadata that are times.
const TIMES: [&str; 4] = ["created", "updated", "modified", "forked_at"];

/// Formats a session: metadata, summary of events, and messages.
pub(crate) fn details(details: &Details, messages: &[MessageRow], clock: &Clock, out: Stream) -> String {
    let title = escape::short(&details.session_id, 200);
    let mut text = heading(&title, out) + &described(details, clock, out);
    if let Some(summary) = &details.events_summary {
        text.push('\n');
        text.push_str(&super::summary(summary, clock, out));
    }
    for message in messages {
        text.push('\n');
        text.push_str(&of_message(message, clock, out));
    }
    text
}

/// Formats the scalar members of the metadata, and lists the names of the others.
fn described(details: &Details, clock: &Clock, out: Stream) -> String {
    let mut grid = Grid::unnamed(&[false, false], out);
    grid.row(["project".to_owned(), escape::short(&details.project, MEMBER)]);
    grid.row(["format".to_owned(), details.format.name().to_owned()]);
    let mut others = details.omitted.clone();
    for (name, member) in details.metadata.iter().flat_map(Nested::members) {
        let value = match member {
            Member::Value(json) => Json::of(json),
            Member::Nested(_) => Json::Object(""),
        };
        let value = match value {
            Json::Text(text) if TIMES.contains(&name) => clock.second(Some(&text)),
            Json::Text(text) => on_one_line(&text, MEMBER),
            Json::Plain(json) => json.to_owned(),
            Json::Null => continue,
            Json::Array(_) | Json::Object(_) => {
                others.push(name.to_owned());
                continue;
            }
        };
        let is_shown = (name == "session_id" && value == details.session_id) || name == "project";
        if !is_shown {
            grid.row([escape::short(name, NAME), value]);
        }
    }
    if !others.is_empty() {
        grid.row(["not shown".to_owned(), escape::short(&others.join(", "), MEMBER)]);
    }
    if details.source != Source::Local {
        grid.row(["source".to_owned(), super::source(details.source).to_owned()]);
    }
    if let Some(path) = &details.path {
        grid.row(["path".to_owned(), escape::short(path, MEMBER)]);
    }
    grid.text()
}

/// Formats a message with its turn, role, and time.
fn of_message(message: &MessageRow, clock: &Clock, out: Stream) -> String {
    let MessageRow { turn, role, ts, content, content_chars, .. } = message;
    let name = message.name.as_ref().map_or(String::new(), |name| format!(" {}", escape::short(name, NAME)));
    // The role alone identifies tool results and thinking. Other kinds need a label.
    let kind = match message.kind {
        None | Some(MessageKind::ToolResult | MessageKind::Thinking) => String::new(),
        Some(kind) => format!(" ({})", kind.name().replace('_', " ")),
    };
    let role = format!("{}{name}{kind}", escape::short(role, NAME));
    let (turn, when) = (format!("turn {turn}"), clock.second(ts.as_deref()));
    let mut text = if out.is_colored {
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
    if message.kind == Some(MessageKind::Thinking) || message.thinking_chars.is_some() {
        let chars = message
            .thinking_chars
            .map_or(String::new(), |chars| format!(": {}", super::counted(chars, "character")));
        let _ = writeln!(text, "  (thinking{chars})");
    }
    for line in escape::lines(content.trim_end()).lines() {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(chars) = content_chars {
        let _ = writeln!(text, "  ({} in all)", super::counted(*chars, "character"));
    }
    for CallRow { tool, arguments, truncated, .. } in &message.tool_calls {
        let shown = on_one_line(arguments, ARGUMENTS);
        let cut = if *truncated && !shown.ends_with('…') { "…" } else { "" };
        let _ = writeln!(text, "  → {} {}{cut}", escape::short(tool, NAME), escape::text(&shown));
    }
    if let Some(more) = message.more_tool_calls {
        let _ = writeln!(text, "  → and {} more", super::counted(more, "call"));
    }
    text
}
