//! Invalid arguments.

use serde::Serialize;
use trommel_tool::{Fault, ToolError};

use crate::options::DisplayOptions;
use crate::outcome::labelled;
use crate::panel::{Panel, Section, Show};

/// The faults of a call's arguments.
///
/// In JSON `{tool, message, faults}`.
#[derive(Clone, Copy, Debug)]
pub struct ValidationFailed<'a> {
    tool: &'a str,
    error: &'a ToolError,
}

impl<'a> ValidationFailed<'a> {
    /// Shows the faults of the arguments of a call.
    pub const fn new(tool: &'a str, error: &'a ToolError) -> Self {
        Self { tool, error }
    }
}

impl Show for ValidationFailed<'_> {
    fn panel(&self, _: &DisplayOptions) -> Panel {
        let head = Section::default().line("Validation Error");
        let mut body = Section::default().led("Tool: ", self.tool);
        if self.error.faults.is_empty() {
            body = body.led("Error: ", &self.error.message);
        }
        let faults = &self.error.faults;
        for (at, fault) in faults.iter().enumerate() {
            if at > 0 {
                body = body.blank();
            }
            let details = details(fault, faults.get(at + 1));
            body = body.led("Error: ", &fault.message);
            if !details.is_empty() {
                body = body.blank();
            }
            body = body.each(details, |section, line| labelled(section, &line));
        }
        Panel::new([head, body])
    }
}

/// The lines below a fault. Several missing parameters share one list of the required ones, after
/// the last.
fn details(fault: &Fault, next: Option<&Fault>) -> Vec<String> {
    let is_said_later = next.is_some_and(|next| next.required == fault.required);
    if !is_said_later {
        return fault.details();
    }
    let mut fault = fault.clone();
    fault.required.clear();
    fault.details()
}

impl Serialize for ValidationFailed<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'b> {
            tool: &'b str,
            message: &'b str,
            faults: &'b [Fault],
        }
        Fields { tool: self.tool, message: &self.error.message, faults: &self.error.faults }
            .serialize(serializer)
    }
}
