//! The result of a call.

use serde::Serialize;
use serde::ser::SerializeStruct;
use trommel_base::text::grouped;
use trommel_tool::{
    Delivered, Manifest, Metadata, Output, REDACTED, Redaction, Status, ToolError, ToolExecution, ToolResult,
};

use crate::figures::milliseconds;
use crate::json;
use crate::options::DisplayOptions;
use crate::panel::{Panel, Section, Show};

/// The result of a call.
///
/// In JSON: `tool`, `status`, the `command` if there is one, and the `result`.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    execution: &'a ToolExecution,
    tool: Option<&'a Metadata>,
}

impl<'a> Outcome<'a> {
    /// Shows the result of a call; `tool` is the metadata of its tool, if that is known.
    pub const fn new(execution: &'a ToolExecution, tool: Option<&'a Metadata>) -> Self {
        Self { execution, tool }
    }

    fn result(&self) -> &'a ToolResult {
        &self.execution.result
    }

    fn command(&self) -> Option<String> {
        command(self.execution, self.tool)
    }

    fn body(&self, options: &DisplayOptions) -> Section {
        match self.execution.status() {
            Status::DryRun => Section::default().line(self.text()),
            Status::Success => match &self.result().delivered {
                Delivered::Stored(manifest) => stored(manifest),
                Delivered::Away => Section::default().line("Output:").line("(delivered elsewhere)"),
                _ => self.output(options),
            },
            _ => self.error(),
        }
    }

    fn text(&self) -> &'a str {
        self.result().output.as_ref().map_or("", Output::as_str)
    }

    fn output(&self, options: &DisplayOptions) -> Section {
        let section = Section::default().line("Output:");
        match &self.result().output {
            Some(Output::Json(raw)) => {
                let on_one_line = json::inline(raw.get());
                let fits = on_one_line.chars().count() <= options.room();
                section.line(&if fits { on_one_line } else { json::pretty(raw.get()) })
            }
            Some(output) if !output.is_nothing() => {
                let text = output.as_str();
                section.line(text.strip_suffix('\n').unwrap_or(text))
            }
            _ => section.line("(none)"),
        }
    }

    fn error(&self) -> Section {
        let error = self.result().error.clone().unwrap_or_default();
        Section::default()
            .led("Error: ", &error.message)
            .maybe(self.command(), |section, command| section.led("Command: ", &command))
            .each(causes(&error), |section, cause| section.led("Caused by: ", cause))
            .each(error.advice(), |section, line| labelled(section, &line))
    }

    fn end(&self) -> Section {
        let warning = self.result().metadata.get("warning").map(json::value);
        Section::default()
            .maybe(warning, |section, warning| section.led("Warning: ", &warning))
            .led("Duration: ", &milliseconds(self.execution.duration_ms))
    }
}

impl Show for Outcome<'_> {
    fn panel(&self, options: &DisplayOptions) -> Panel {
        let head = Section::default()
            .led("Tool: ", &self.execution.tool_name)
            .led("Status: ", &marked(self.execution.status()));
        Panel::new([head, self.body(options), self.end()])
    }
}

impl Serialize for Outcome<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Outcome", 4)?;
        object.serialize_field("tool", &self.execution.tool_name)?;
        object.serialize_field("status", self.execution.status().name())?;
        match self.command() {
            Some(command) => object.serialize_field("command", &command)?,
            None => object.skip_field("command")?,
        }
        object.serialize_field("result", self.result())?;
        object.end()
    }
}

/// The manifest of a stored result.
fn stored(manifest: &Manifest) -> Section {
    let Manifest { id, destination, kind, size_chars, size_bytes, items, preview, next_calls, .. } = manifest;
    let size = format!("{} bytes, {} characters", grouped(*size_bytes), grouped(*size_chars));
    let mut section = Section::default()
        .led("Output stored: ", id)
        .led("Destination: ", destination)
        .led("Kind: ", kind)
        .led("Size: ", &size)
        .maybe(*items, |section, items| section.led("Items: ", &grouped(items)));
    if !preview.is_empty() {
        section = section.blank().line("Preview:").led("  ", preview);
    }
    if !next_calls.is_empty() {
        section = section.blank().line("Next calls:");
    }
    section.each(next_calls, |section, call| section.led("  • ", call))
}

/// The causes of an error that its message does not repeat.
pub(crate) fn causes(error: &ToolError) -> impl Iterator<Item = &String> {
    error.causes.iter().filter(|cause| **cause != error.message)
}

/// Adds a line `Label: text`, or one with a bullet, with its text as a hanging indent.
pub(crate) fn labelled(section: Section, line: &str) -> Section {
    if let Some(text) = line.strip_prefix("  • ") {
        return section.led("  • ", text);
    }
    let label = line.split_once(": ").map(|(label, _)| label.len() + 2);
    // A label is a few words: a sentence may contain a colon as well.
    match label.filter(|length| *length <= 20).and_then(|length| line.split_at_checked(length)) {
        Some((label, text)) => section.led(label, text),
        None => section.line(line),
    }
}

/// The argument that displays show as the command, with its secrets redacted.
pub(crate) fn command(execution: &ToolExecution, tool: Option<&Metadata>) -> Option<String> {
    let argument = tool?.command.as_deref()?;
    let (redaction, value) = (Redaction::new(), execution.parameters.get(argument)?);
    if redaction.is_secret(argument) {
        return Some(REDACTED.to_owned());
    }
    Some(redaction.text(&json::value(value)).into_owned())
}

/// A status with its mark.
fn marked(status: Status) -> String {
    let mark = match status {
        Status::Success => '✓',
        Status::DryRun => '◐',
        Status::TimedOut => '⏱',
        Status::Cancelled => '⊘',
        _ => '✗',
    };
    format!("{mark} {}", status.title())
}
