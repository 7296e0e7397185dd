//! The context of a call.

use serde::Serialize;
use trommel_base::text::grouped;
use trommel_tool::Context;

use crate::figures::seconds;
use crate::json;
use crate::options::DisplayOptions;
use crate::panel::{Panel, Section, Show, padded, widest};

/// The context of a call; in JSON the context itself.
///
/// Metadata is shown verbatim: redact secrets first.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(transparent)]
pub struct ContextView<'a> {
    context: &'a Context,
}

impl<'a> ContextView<'a> {
    /// Shows a context.
    pub const fn new(context: &'a Context) -> Self {
        Self { context }
    }

    /// Labels and values; the conversation and the message only if they are set.
    fn rows(self) -> Vec<(&'static str, String)> {
        let context = self.context;
        let id = |id: &Option<String>| id.clone().unwrap_or_else(|| "none".to_owned());
        let mut rows = vec![
            ("Working Directory:", context.working_dir.display().to_string()),
            ("Session ID:", id(&context.session_id)),
            ("Agent ID:", id(&context.agent_id)),
            ("Dry Run:", context.dry_run.to_string()),
            ("Timeout:", seconds(context.timeout)),
            ("Max Output Size:", format!("{} bytes", grouped(context.max_output_size as u64))),
        ];
        let own = [("Conversation ID:", &context.conversation_id), ("Message ID:", &context.message_id)];
        rows.extend(own.into_iter().filter_map(|(label, id)| Some((label, id.clone()?))));
        rows
    }
}

impl Show for ContextView<'_> {
    fn panel(&self, _: &DisplayOptions) -> Panel {
        let rows = self.rows();
        let column = widest(rows.iter().map(|(label, _)| *label)) + 1;
        let mut body = Section::default()
            .each(rows, |section, (label, value)| section.led(&padded(label, column), &value));
        if !self.context.metadata.is_empty() {
            body = body.blank().line("Metadata:");
        }
        let body = body.each(&self.context.metadata, |section, (name, value)| {
            section.led(&format!("  {name}: "), &json::value(value))
        });
        Panel::new([Section::default().line("Execution Context"), body])
    }
}
