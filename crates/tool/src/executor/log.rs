//! The log of calls, under the target `tools`.

use std::time::Duration;

use serde_json::{Map, Value};
use tracing::{Level, debug, enabled, error, info, warn};

use crate::contract::context::Context;
use crate::contract::error::ErrorKind;
use crate::contract::output::Output;
use crate::contract::result::ToolResult;
use crate::text::one_line_json;

/// The `tracing` target of all log lines.
pub const LOG_TARGET: &str = "tools";

/// Maximum characters of the parameters in a line.
const MAX_PARAMETERS: usize = 4_000;

/// Logs the start of a call.
pub(crate) fn started(tool: &str) {
    if enabled!(target: LOG_TARGET, Level::DEBUG) {
        debug!(target: LOG_TARGET, "Executing tool: {tool}");
    } else {
        info!(target: LOG_TARGET, "Executing tool: {tool}");
    }
}

/// Logs the arguments and the context.
pub(crate) fn details(parameters: &Map<String, Value>, context: &Context) {
    if enabled!(target: LOG_TARGET, Level::DEBUG) {
        debug!(target: LOG_TARGET, "Parameters: {}", one_line_json(parameters, MAX_PARAMETERS));
        let folder = context.working_dir.display();
        debug!(target: LOG_TARGET, "Context: working_dir={folder}, timeout={}", seconds(context.timeout));
    }
}

/// Logs the result of a call.
pub(crate) fn finished(tool: &str, result: &ToolResult) {
    let size = match result.manifest() {
        Some(manifest) => manifest.size_bytes,
        None => result.output.as_ref().map_or(0, |output: &Output| output.as_str().len() as u64),
    };
    let success = if result.success { "True" } else { "False" };
    let duration = result.duration_ms.round();
    debug!(target: LOG_TARGET, "Result: success={success}, output_size={size}, duration_ms={duration}");
    match &result.error {
        None => info!(target: LOG_TARGET, "Tool {tool} succeeded"),
        Some(raised) if raised.kind == ErrorKind::Panicked || !raised.causes.is_empty() => {
            error!(target: LOG_TARGET, "Tool {tool} raised exception: {}", raised.message);
            if !raised.causes.is_empty() {
                error!(target: LOG_TARGET, "Caused by:\n  {}", raised.causes.join("\n  "));
            }
        }
        Some(failed) => warn!(target: LOG_TARGET, "Tool {tool} failed: {}", failed.message),
    }
}

/// Logs a problem that does not change the result.
pub(crate) fn warned(tool: &str, warning: &str) {
    warn!(target: LOG_TARGET, "Tool {tool}: {warning}");
}

/// A duration in seconds: `120`, `0.5`, `none`.
pub(crate) fn seconds(span: Duration) -> String {
    if span == Duration::MAX {
        return "none".to_owned();
    }
    if span.subsec_nanos() == 0 { span.as_secs().to_string() } else { span.as_secs_f64().to_string() }
}
