//! Errors of the tool that reads stored outputs. Messages name options of the command line.

use annotate_snippets::{Level, Renderer};
use serde_json::Value;
use trommel_tool::{ErrorKind, Fault, ToolExecution};

use crate::output::escape;

/// The maximum number of characters of a message.
const MESSAGE: usize = 1_600;

/// The maximum number of characters of an ID.
const ID: usize = 80;

/// Names options in the message of a failed call if its metadata reports an invalid argument.
pub(crate) fn in_options(execution: &mut ToolExecution) {
    let about = about(execution);
    let Some(error) = &mut execution.result.error else { return };
    if let Some(about) = about {
        error.message = about;
    } else if let Some(message) = error.message.strip_prefix(&format!("{}: ", execution.tool_name)) {
        // Tools name themselves before the message; the user has just typed the command.
        error.message = message.to_owned();
    }
}

/// Returns the message about an invalid argument.
fn about(execution: &ToolExecution) -> Option<String> {
    let (given, metadata) = (&execution.parameters, &execution.result.metadata);
    let why = match metadata.get("code")?.as_str()? {
        "bad_cursor" => {
            "the cursor belongs to another output or query, or to a later release; omit --cursor to start over"
                .to_owned()
        }
        "not_json" if given.get("record").is_some() => {
            "it is text, not JSON, and has no records; omit --record".to_owned()
        }
        "not_json" => "it is text, not JSON, and has no paths; omit QUERY, or pass $".to_owned(),
        "max_chars" => {
            let (needed, given) = (metadata.get("needed")?, given.get("max_chars")?);
            format!("{given} characters cannot hold one item; pass --max-chars {needed} or more")
        }
        "not_text" => {
            "it is JSON, and lines and offsets are for text; read a value by a query, or a record with --record"
                .to_owned()
        }
        "not_a_stream" => "it is one document, not a stream of records; omit --record".to_owned(),
        _ => return None,
    };
    let id = escape::short(given.get("id")?.as_str()?, ID);
    Some(format!("cannot read output {id}: {why}"))
}

/// Renders a refused request or a failure of the tool.
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
    let see = error.kind.is_request().then(|| Level::HELP.message("see `trommel read --help`"));
    renderer.render(&[title.elements(notes.chain(see))])
}
