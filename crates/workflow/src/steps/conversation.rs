//! A model's way to its answer, with the tools it asks for.

use std::ops::Range;

use serde_json::Value;
use trommel_route::{NOT_ROUTED, full_notice, notice};
use trommel_tool::{Executor, Failure, Metadata, ToolExecution};

use super::work::{Done, Work, at};
use crate::error::ErrorKind;
use crate::model::{Message, Request, ToolCall};
use crate::report::{CallReport, Progress, StepReport};

impl Work<'_> {
    /// Asks the model until it answers.
    pub(super) fn converse(
        &self,
        executor: &Executor,
        prompt: String,
        report: &mut StepReport,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Done<String> {
        let directive = self.step.directives.model.as_ref();
        let span = directive.map_or(&self.step.span, |model| &model.span);
        let model = at(span, self.setup.chosen_model())?;
        let tools = executor.registry().tools();
        let tools: Vec<&Metadata> = tools.iter().map(|tool| tool.metadata()).collect();
        let mut messages = vec![Message::Prompt(prompt)];
        for round in 0..=self.setup.rounds {
            self.check()?;
            let request = Request {
                model: directive.and_then(|model| model.name.as_deref()),
                thinking: directive.and_then(|model| model.thinking.as_deref()),
                messages: &messages,
                tools: &tools,
                cancel: &self.setup.context.cancel,
            };
            tell(Progress::Asking);
            let reply = at(span, model.answer(&request))?;
            if reply.calls.is_empty() {
                if reply.text.trim().is_empty() {
                    return at(span, Err(ErrorKind::EmptyAnswer));
                }
                return Ok(reply.text);
            }
            // These calls would have no answer.
            if round == self.setup.rounds {
                break;
            }
            let calls = reply.calls.clone();
            messages.push(Message::Reply(reply));
            for call in calls {
                let content = self.call(executor, &call, report, tell)?;
                messages.push(Message::Tool { id: call.id, content });
                self.check()?;
            }
        }
        at(span, Err(ErrorKind::NoAnswer { rounds: self.setup.rounds }))
    }

    /// Calls a tool; the text that the model gets. A result that did not get where a directive
    /// sends it ends the step: it is lost.
    fn call(
        &self,
        executor: &Executor,
        call: &ToolCall,
        report: &mut StepReport,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Done<String> {
        let mut execution = executor.call(&call.name, call.arguments.clone(), &self.setup.context);
        report.calls += 1;
        name_source(&mut execution);
        report.tool_calls.push(CallReport::of(&execution));
        tell(Progress::Call(&execution));
        if let Some(manifest) = execution.result.manifest() {
            tell(Progress::Manifest(manifest));
            report.manifests.push(manifest.clone());
        }
        match &execution.result.error {
            Some(error) if is_lost(&execution) => {
                at(&self.span_of(&execution, executor), Err(Failure::new(error.message.clone())))
            }
            _ => Ok(told(&execution)),
        }
    }

    /// The bytes of the document that give the step a tool.
    fn span_of(&self, execution: &ToolExecution, executor: &Executor) -> Range<usize> {
        let is_it = |name: &str| {
            executor.registry().get(name).is_some_and(|tool| tool.metadata().name == execution.tool_name)
        };
        let named = self.step.directives.tools.named.iter().rev();
        let named = named.filter(|named| named.route.is_some()).find(|named| is_it(&named.name));
        named.map_or_else(|| self.step.span.clone(), |named| named.span.clone())
    }
}

/// True if a directive, or its length, sends the result somewhere, and it did not get there.
fn is_lost(execution: &ToolExecution) -> bool {
    execution.result.metadata.get(NOT_ROUTED).and_then(Value::as_bool).unwrap_or(false)
}

/// A manifest that does not say whose it is, is the tool's.
fn name_source(execution: &mut ToolExecution) {
    use trommel_tool::Delivered;
    if let Delivered::Kept(manifest) | Delivered::Stored(manifest) = &mut execution.result.delivered
        && manifest.source.is_empty()
    {
        manifest.source.clone_from(&execution.tool_name);
    }
}

/// The text that the model gets for a call: the result, else where it is, else the error.
fn told(execution: &ToolExecution) -> String {
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
