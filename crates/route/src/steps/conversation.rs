//! A model's way to its answer, with the tools it asks for.

use trommel_tool::{ErrorKind, Executor, Failure, Metadata, ToolExecution};

use super::{Done, Progress, StepReport, Work, at};
use crate::model::{Message, Request, ToolCall};
use crate::notice::{full_notice, notice};

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
        let Some(model) = &self.runner.model else {
            let message =
                "the step asks a model, and none is set up: name one to the program, or write `@model none`";
            return at(span, Err(Failure::refused(message)));
        };
        let tools = executor.registry().tools();
        let tools: Vec<&Metadata> = tools.iter().map(|tool| tool.metadata()).collect();
        let mut messages = vec![Message::Prompt(prompt)];
        for _ in 0..=self.runner.rounds {
            self.check()?;
            let request = Request {
                model: directive.and_then(|model| model.name.as_deref()),
                thinking: directive.and_then(|model| model.thinking.as_deref()),
                messages: &messages,
                tools: &tools,
                cancel: &self.runner.context.cancel,
            };
            let reply = at(span, model.answer(&request))?;
            if reply.calls.is_empty() {
                return Ok(reply.text);
            }
            let calls = reply.calls.clone();
            messages.push(Message::Reply(reply));
            for call in calls {
                let content = self.call(executor, &call, report, tell);
                messages.push(Message::Tool { id: call.id, content });
                self.check()?;
            }
        }
        let rounds = self.runner.rounds;
        at(
            span,
            Err(Failure::new(format!(
                "the model has asked for tools {rounds} times without an answer: ask for less in one step"
            ))),
        )
    }

    /// Calls a tool; what the model is told.
    fn call(
        &self,
        executor: &Executor,
        call: &ToolCall,
        report: &mut StepReport,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> String {
        let mut execution = executor.call(&call.name, call.arguments.clone(), &self.runner.context);
        report.calls += 1;
        name_source(&mut execution);
        tell(Progress::Call(&execution));
        if let Some(manifest) = execution.result.manifest() {
            tell(Progress::Manifest(manifest));
            report.manifests.push(manifest.clone());
        }
        told(&execution)
    }
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

/// What a model is told of a call: the result, else where it is, else what went wrong.
fn told(execution: &ToolExecution) -> String {
    let result = &execution.result;
    if let Some(error) = &result.error {
        let kind = if error.kind == ErrorKind::NotFound { "unknown tool" } else { "error" };
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
