//! Errors of the tools that commands call, with the tool's arguments named as the command's
//! options.

use annotate_snippets::{Level, Renderer};
use serde_json::Value;
use trommel_tool::{ErrorKind, Fault, ToolExecution};

use crate::output::escape;

/// Characters of a message.
const MESSAGE: usize = 1_600;

/// Arguments of the buffers' tool, longer phrases first.
const BUFFERS: &[(&str, &str)] = &[
    ("`start_line` and `end_line`", "--lines FIRST:LAST"),
    ("`offset` and `length`", "--offset and --length"),
    ("pass plain", "pass --plain"),
    ("the operation list shows", "`trommel buffers list` shows"),
    ("start_line", "--lines"),
    ("end_line", "--lines"),
    ("write_mode", "--write-mode"),
    ("max_chars", "--max-chars"),
    ("start", "--lines"),
    ("end", "--lines"),
    ("offset", "--offset"),
    ("length", "--length"),
    ("context", "--context"),
    ("plain", "--plain"),
    ("target", "NAME"),
    ("query", "PATTERN"),
    ("scope", "--session"),
    ("destination", "PATH"),
    ("operation", "the operation"),
];

/// Arguments of the list of outputs.
const OUTPUTS: &[(&str, &str)] = &[
    ("conversation_id", "--conversation"),
    ("tool_name", "--tool"),
    ("sort_by", "--sort-by"),
    ("sort_order", "--sort-order"),
    ("preview_length", "--preview-length"),
    ("include_preview", "--no-preview"),
    ("success", "--success"),
    ("after", "--after"),
    ("before", "--before"),
    ("limit", "--limit"),
    ("offset", "--offset"),
];

/// Arguments of a page.
const PAGES: &[(&str, &str)] =
    &[("max_chars", "--max-chars"), ("cursor", "--cursor"), ("path", "QUERY"), ("id", "FILE")];

/// The command that calls a tool, and the tool's arguments as its options.
struct Words {
    command: &'static str,
    options: &'static [(&'static str, &'static str)],
}

impl Words {
    fn of(tool: &str) -> Option<Self> {
        let (command, options) = match tool {
            "buffer_ops" => ("buffers", BUFFERS),
            "tool_outputs.list" => ("list", OUTPUTS),
            "tool_outputs.read" => ("read", PAGES),
            _ => return None,
        };
        Some(Self { command, options })
    }
}

/// Rewrites the error of a call in the words of the command that made it.
pub(crate) fn translate(execution: &mut ToolExecution) {
    let Some(words) = Words::of(&execution.tool_name) else { return };
    let Some(error) = &mut execution.result.error else { return };
    let given = execution.parameters.iter().filter(|(name, _)| *name != "operation");
    let given: Vec<&str> = given.filter_map(|(_, value)| value.as_str()).collect();
    let translated = |text: &str| in_options(text, words.options, &given);
    // Tools name themselves and the operation before the message; the user has just typed both.
    let rest = error.message.strip_prefix(&execution.tool_name).and_then(|rest| rest.split_once(": "));
    let message = rest.map_or(&*error.message, |(_, message)| message);
    error.message = translated(message);
    for fault in &mut error.faults {
        let option = words.options.iter().find(|(name, _)| *name == fault.path);
        fault.message = match option {
            Some((name, option)) => replace_words(&fault.message, name, option),
            None => translated(&fault.message),
        };
    }
    if !error.faults.is_empty() {
        let messages: Vec<&str> = error.faults.iter().map(|fault| fault.message.as_str()).collect();
        error.message = messages.join("; ");
    }
    for text in error.suggestions.iter_mut().chain(&mut error.causes) {
        *text = translated(text);
    }
}

/// A text with the tool's arguments named as options.
///
/// A name that the caller gave as a value, such as a buffer named `start_line`, stays.
fn in_options(text: &str, options: &[(&str, &str)], given: &[&str]) -> String {
    let is_given = |name: &str| given.iter().any(|value| value.contains(name));
    let mut text = text.to_owned();
    for (name, option) in options {
        if is_given(name) {
            continue;
        }
        text = text.replace(&format!("`{name}`"), option);
        // A plain word such as `by` is an argument in backticks only.
        if name.contains(['_', ' ']) {
            text = replace_words(&text, name, option);
        }
    }
    text
}

/// Replaces a name where it is not a part of a longer one.
fn replace_words(text: &str, name: &str, option: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(name) {
        let alone = !before.ends_with(is_part) && !after.starts_with(is_part);
        replaced.extend([before, if alone { option } else { name }]);
        rest = after;
    }
    replaced + rest
}

/// A request that a tool refused, or work of a tool that failed.
pub(super) fn render(execution: &ToolExecution, renderer: &Renderer) -> String {
    let error = execution.result.error.clone().unwrap_or_default();
    let code = execution.result.metadata.get("code").and_then(Value::as_str);
    let code = code.unwrap_or(match error.kind {
        ErrorKind::InvalidArguments => "usage",
        ErrorKind::TimedOut => "timed_out",
        ErrorKind::Cancelled => "cancelled",
        _ => "failed",
    });
    let short = |text: &str| escape::short(text, MESSAGE);
    let title = Level::ERROR.primary_title(short(&error.message)).id(code);
    let details = error.faults.iter().flat_map(Fault::details);
    let causes = error.causes.iter().map(|cause| format!("caused by: {cause}"));
    let notes = details.chain(causes).map(|note| Level::NOTE.message(short(&note)));
    let meant =
        (!error.suggestions.is_empty()).then(|| format!("did you mean {}?", error.suggestions.join(", ")));
    let see = error.kind.is_request().then(|| see(execution)).flatten();
    let helps = meant.into_iter().chain(see).map(|help| Level::HELP.message(short(&help)));
    renderer.render(&[title.elements(notes.chain(helps))])
}

/// Where to read about the command that made a call.
fn see(execution: &ToolExecution) -> Option<String> {
    let Words { command, options } = Words::of(&execution.tool_name)?;
    let Some(operation) = execution.parameters.get("operation").and_then(Value::as_str) else {
        return Some(format!("see `trommel {command} --help`"));
    };
    let option = options.iter().find(|(name, _)| *name == operation);
    let operation = option.map_or(operation, |(_, option)| option);
    Some(format!("see `trommel {command} {operation} --help`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, given: &[&str]) -> String {
        in_options(text, BUFFERS, given)
    }

    #[test]
    fn arguments_become_options() {
        for (text, expected) in [
            (
                "pass `start_line` and `end_line`, or `offset` and `length`",
                "pass --lines FIRST:LAST, or --offset and --length",
            ),
            ("x is there: pass `write_mode` append", "x is there: pass --write-mode append"),
            ("to search for the text, pass plain", "to search for the text, pass --plain"),
            ("a plain start of a query", "a plain start of a query"),
            ("restart_line and start_lines", "restart_line and start_lines"),
        ] {
            assert_eq!(shown(text, &[]), expected);
        }
    }

    #[test]
    fn values_of_the_caller_stay() {
        let shown = shown("there is no buffer `start_line`", &["start_line"]);
        assert_eq!(shown, "there is no buffer `start_line`");
    }
}
