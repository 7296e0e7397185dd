//! The state of a registry, and its errors.

use serde::Serialize;
use trommel_base::text::grouped;
use trommel_tool::{RegistryError, RegistryState};

use crate::figures::counted;
use crate::options::DisplayOptions;
use crate::outcome::labelled;
use crate::panel::{Panel, Section, Show, padded, widest};
use crate::problems::ToolNotFound;

/// The state of a registry; in JSON the state itself.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub struct RegistryView<'a> {
    state: &'a RegistryState,
}

impl<'a> RegistryView<'a> {
    /// Shows the state of a registry.
    pub const fn new(state: &'a RegistryState) -> Self {
        Self { state }
    }
}

impl Show for RegistryView<'_> {
    fn panel(&self, _: &DisplayOptions) -> Panel {
        let state = self.state;
        let rows = state.by_category.iter();
        let rows: Vec<_> =
            rows.map(|(category, count)| (format!("{}:", category.heading()), *count)).collect();
        let column = widest(rows.iter().map(|(label, _)| label.as_str())) + 2;
        let names = if state.names.is_empty() { "(none)".to_owned() } else { state.names.join(", ") };
        let body = Section::default()
            .led("Instance ID: ", &state.instance_id)
            .led("Total Tools: ", &grouped(state.total as u64))
            .blank()
            .line("By Category:")
            .each(rows, |section, (label, count)| {
                section.led(&format!("  {}", padded(&label, column)), &counted(count, "tool"))
            })
            .blank()
            .line("Registered Tools:")
            .led("  ", &names);
        Panel::new([Section::default().line("Tool Registry State"), body])
    }
}

/// A failure to register or deregister a tool.
///
/// In JSON `{message, advice}`.
#[derive(Clone, Copy, Debug)]
pub struct RegistrationFailed<'a> {
    error: &'a RegistryError,
}

impl<'a> RegistrationFailed<'a> {
    /// Shows the error of a registry.
    pub const fn new(error: &'a RegistryError) -> Self {
        Self { error }
    }
}

impl Show for RegistrationFailed<'_> {
    fn panel(&self, options: &DisplayOptions) -> Panel {
        if let RegistryError::NotRegistered { name, suggestions } = self.error {
            return ToolNotFound::new(name, suggestions).panel(options);
        }
        let advice = self.error.advice();
        let mut body = Section::default().line(&self.error.to_string());
        if !advice.is_empty() {
            body = body.blank();
        }
        let body = body.each(advice, |section, line| labelled(section, &line));
        Panel::new([Section::default().line("Error: Registration Failed"), body])
    }
}

impl Serialize for RegistrationFailed<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields {
            message: String,
            advice: Vec<String>,
        }
        Fields { message: self.error.to_string(), advice: self.error.advice() }.serialize(serializer)
    }
}
