//! Executions, as they were remembered.

use serde::Serialize;

use super::figures::{clock, grouped, milliseconds};
use super::outcome::title;
use super::panel::Section;
use super::{Look, Panel, Show, json};
use crate::{Status, ToolExecution};

/// Executions, the oldest first, numbered from 1 for the first one ever.
///
/// Parameters are shown as they are: what is remembered is redacted before. In JSON `{total, executions}`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct History<'a> {
    total: u64,
    executions: &'a [ToolExecution],
}

impl<'a> History<'a> {
    /// The newest executions of so many in all.
    pub const fn new(executions: &'a [ToolExecution], total: u64) -> Self {
        let shown = executions.len() as u64;
        Self { total: if total < shown { shown } else { total }, executions }
    }
}

impl Show for History<'_> {
    fn panel(&self, look: &Look) -> Panel {
        let first = self.total - self.executions.len() as u64 + 1;
        let mut body = Section::default().led("Total Executions: ", &grouped(self.total)).blank();
        if first > 1 && !self.executions.is_empty() {
            let shown = grouped(self.executions.len() as u64);
            body = body.line(&format!("The last {shown} of them:")).blank();
        }
        let body = body.each((first..).zip(self.executions), |section, (number, execution)| {
            shown(section, number, execution, look)
        });
        Panel::new([Section::default().line("Tool Execution History"), body])
    }
}

fn shown(section: Section, number: u64, execution: &ToolExecution, look: &Look) -> Section {
    const INDENT: &str = "    ";
    const PARAMS: &str = "Params: ";
    let status = execution.status();
    let room = look.room() - INDENT.len() - PARAMS.len();
    let error = execution.result.error.as_ref().filter(|_| status == Status::Failed);
    let head = format!("{:<4}[{}]", format!("#{number} "), clock(execution.started_at, &look.zone));
    section
        .line(&head)
        .led(&format!("{INDENT}Tool: "), &execution.tool_name)
        .led(&format!("{INDENT}{PARAMS}"), &json::members(&execution.parameters, room))
        .led(&format!("{INDENT}Status: "), title(status))
        .maybe(error, |section, error| section.led(&format!("{INDENT}Error: "), &error.message))
        .led(&format!("{INDENT}Duration: "), &milliseconds(execution.duration_ms))
        .blank()
}
