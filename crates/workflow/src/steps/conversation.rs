//! The conversation with a model: requests and tool calls until it answers.

use std::ops::Range;

use serde_json::Value;
use trommel_route::{NOT_ROUTED, full_notice, notice};
use trommel_tool::{Executor, Failure, Metadata, ToolExecution};

use super::step_run::{StepResult, StepRun, at};
use crate::error::ErrorKind;
use crate::model::{Message, Request, ToolCall};
use crate::report::{CallReport, Progress, StepReport};

impl StepRun<'_> {
    /// Asks the model, and calls the tools that it requests, until it answers.
    pub(super) fn converse(
        &self,
        executor: &Executor,
        prompt: String,
        report: &mut StepReport,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> StepResult<String> {
        let directive = self.step.directives.model.as_ref();
        let span = directive.map_or(&self.step.span, |model| &model.span);
        let model = at(span, self.setup.chosen_model())?;
        let tools = executor.registry().tools();
        let tools: Vec<&Metadata> = tools.iter().map(|tool| tool.metadata()).collect();
        let mut messages = vec![Message::Prompt(prompt)];
        for round in 0..=self.setup.rounds {
            self.check_cancelled()?;
            let request = Request {
                model: directive.and_then(|model| model.name.as_deref()),
                thinking: directive.and_then(|model| model.thinking.as_deref()),
                messages: &messages,
                tools: &tools,
                cancel: &self.setup.context.cancel,
            };
            on_progress(Progress::Asking);
            let reply = at(span, model.answer(&request))?;
            if reply.calls.is_empty() {
                if reply.text.trim().is_empty() {
                    return at(span, Err(ErrorKind::EmptyAnswer));
                }
                return Ok(reply.text);
            }
            // No request follows the last round, so the results of these calls would not be used.
            if round == self.setup.rounds {
                break;
            }
            let calls = reply.calls.clone();
            messages.push(Message::Reply(reply));
            for call in calls {
                let content = self.call(executor, &call, report, on_progress)?;
                messages.push(Message::Tool { id: call.id, content });
                self.check_cancelled()?;
            }
        }
        at(span, Err(ErrorKind::NoAnswer { rounds: self.setup.rounds }))
    }

    /// Calls a tool, and returns the text for the model. If the result does not reach the
    /// destination that a directive selected, it is lost, and the step fails.
    fn call(
        &self,
        executor: &Executor,
        call: &ToolCall,
        report: &mut StepReport,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> StepResult<String> {
        let mut execution = executor.call(&call.name, call.arguments.clone(), &self.setup.context);
        report.calls += 1;
        name_source(&mut execution);
        report.tool_calls.push(CallReport::of(&execution));
        on_progress(Progress::Call(&execution));
        if let Some(manifest) = execution.result.manifest() {
            on_progress(Progress::Manifest(manifest));
            report.manifests.push(manifest.clone());
        }
        match &execution.result.error {
            Some(error) if is_lost(&execution) => {
                at(&self.span_of(&execution, executor), Err(Failure::new(error.message.clone())))
            }
            _ => Ok(model_text(&execution)),
        }
    }

    /// Returns the span of the directive that routes this tool, or else of the step.
    fn span_of(&self, execution: &ToolExecution, executor: &Executor) -> Range<usize> {
        let is_called_tool = |name: &str| {
            executor.registry().get(name).is_some_and(|tool| tool.metadata().name == execution.tool_name)
        };
        // Both spellings of a name refer to one tool. The last entry with a route applies.
        let named = self.step.directives.tools.named.iter().rev();
        let named = named.filter(|named| named.route.is_some()).find(|named| is_called_tool(&named.name));
        named.map_or_else(|| self.step.span.clone(), |named| named.span.clone())
    }
}

/// True if a directive or the length of the result selected a destination that it did not reach.
fn is_lost(execution: &ToolExecution) -> bool {
    execution.result.metadata.get(NOT_ROUTED).and_then(Value::as_bool).unwrap_or(false)
}

/// Sets the tool as the source of a manifest that names no source.
fn name_source(execution: &mut ToolExecution) {
    use trommel_tool::Delivered;
    if let Delivered::Kept(manifest) | Delivered::Stored(manifest) = &mut execution.result.delivered
        && manifest.source.is_empty()
    {
        manifest.source.clone_from(&execution.tool_name);
    }
}

/// Returns the text for the model: the error, the result, or the notice of its destination.
fn model_text(execution: &ToolExecution) -> String {
    let result = &execution.result;
    if let Some(error) = &result.error {
        let kind = if error.kind == trommel_tool::ErrorKind::NotFound { "unknown tool" } else { "error" };
        return format!("[{kind}] {error}");
    }
    match (&result.output, result.manifest()) {
        (Some(output), _) => output.as_str().to_owned(),
        (None, Some(manifest)) if manifest.preview.is_empty() => {
            let next = manifest.next_calls.iter().map(|call| format!("\nnext: {call}"));
            notice(manifest) + &next.collect::<String>()
        }
        (None, Some(manifest)) => full_notice(manifest),
        (None, None) => "[no output]".to_owned(),
    }
}
