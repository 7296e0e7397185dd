//! Executions from the history.

use serde::Serialize;
use trommel_base::text::grouped;
use trommel_tool::{Status, ToolExecution};

use crate::figures::{clock, milliseconds};
use crate::json;
use crate::options::DisplayOptions;
use crate::panel::{Panel, Section, Show};

/// Executions, oldest first, numbered from 1 for the first one ever.
///
/// Parameters are shown verbatim: the history is redacted already. In JSON `{total, executions}`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct History<'a> {
    total: u64,
    executions: &'a [ToolExecution],
}

impl<'a> History<'a> {
    /// Shows the newest executions out of `total`.
    pub const fn new(executions: &'a [ToolExecution], total: u64) -> Self {
        let shown = executions.len() as u64;
        Self { total: if total < shown { shown } else { total }, executions }
    }
}

impl Show for History<'_> {
    fn panel(&self, options: &DisplayOptions) -> Panel {
        let first = self.total - self.executions.len() as u64 + 1;
        let mut body = Section::default().led("Total Executions: ", &grouped(self.total)).blank();
        if first > 1 && !self.executions.is_empty() {
            let shown = grouped(self.executions.len() as u64);
            body = body.line(&format!("The last {shown} of them:")).blank();
        }
        let body = body.each((first..).zip(self.executions), |section, (number, execution)| {
            shown(section, number, execution, options)
        });
        Panel::new([Section::default().line("Tool Execution History"), body])
    }
}

fn shown(section: Section, number: u64, execution: &ToolExecution, options: &DisplayOptions) -> Section {
    const INDENT: &str = "    ";
    const PARAMS: &str = "Params: ";
    let status = execution.status();
    let room = options.room() - INDENT.len() - PARAMS.len();
    let error = if status == Status::Failed { execution.result.error.as_ref() } else { None };
    let head = format!("{:<4}[{}]", format!("#{number} "), clock(execution.started_at, &options.zone));
    section
        .line(&head)
        .led(&format!("{INDENT}Tool: "), &execution.tool_name)
        .led(&format!("{INDENT}{PARAMS}"), &json::members(&execution.parameters, room))
        .led(&format!("{INDENT}Status: "), status.title())
        .maybe(error, |section, error| section.led(&format!("{INDENT}Error: "), &error.message))
        .led(&format!("{INDENT}Duration: "), &milliseconds(execution.duration_ms))
        .blank()
}
