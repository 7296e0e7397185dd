//! Running a step: inputs, tools, the model, outputs.
//!
//! Workflows and context documents share this engine. The inputs of a step are read in the order of
//! their lines, each into its destination or the prompt. Then the model answers, unless it is
//! `none`, and may call the step's tools first. Finally, the answer is written to the step's
//! outputs. An error ends the run and has a position in the document. Errors that can be detected
//! in advance are reported before the first step runs.

mod checks;
mod conversation;
mod inputs;
mod pending;
mod plan;
mod prompt;
mod step_run;
mod tools;

use std::io::Write;

use trommel_route::{Destinations, Origin, Target};
use trommel_tool::{Failure, Manifest};

use crate::directive::Output;
use crate::report::{Progress, StepReport};
use inputs::InputReader;
use prompt::Prompt;
use step_run::{StepResult, at};

pub(crate) use checks::check;
pub(crate) use plan::plan;
pub use plan::{Plan, StepPlan};
pub use prompt::MAX_PROMPT_CHARS;
pub(crate) use step_run::{Setup, StepRun};

/// The source in the manifests of a model's answers.
const MODEL: &str = "model";

impl StepRun<'_> {
    /// Runs the step. After an error, `report` contains the work completed by then.
    pub(crate) fn run(
        &self,
        report: &mut StepReport,
        context: &mut String,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> StepResult<()> {
        let destinations = at(&self.step.span, self.setup.destinations_for(self.document))?;
        let executor = self.executor(&destinations)?;
        let mut prompt = Prompt::default();
        let mut processed = Vec::new();
        for input in &self.step.directives.inputs {
            self.check_cancelled()?;
            let reader = InputReader {
                setup: self.setup,
                destinations: &destinations,
                input,
                document: self.document,
            };
            let found = at(&input.span, reader.items())?;
            processed.push((input, reader.pending(&found.items)));
            let input_report = at(&input.span, reader.read(found, &mut prompt))?;
            for warning in input_report.warnings {
                let warning = self.document.error(&input.span, warning);
                on_progress(Progress::Warning(&warning));
                report.warnings.push(warning);
            }
            if let Some(summary) = inputs::summary(&input_report.manifests) {
                on_progress(Progress::Manifest(&summary));
            }
            report.manifests.extend(input_report.manifests);
        }
        let prompt = prompt.text(&self.document.instructions, &self.step.body);
        self.check_cancelled()?;
        let answer = if self.is_without_model() {
            prompt
        } else {
            let answer = self.converse(&executor, prompt, report, on_progress)?;
            on_progress(Progress::Answer(&answer));
            report.answer = Some(answer.clone());
            answer
        };
        for output in &self.step.directives.outputs {
            if let Some(manifest) = self.write_output(&destinations, output, &answer, context)? {
                on_progress(Progress::Manifest(&manifest));
                report.manifests.push(manifest);
            }
        }
        // Record the files last: if the step fails, they stay pending, and the next run reads them
        // again.
        for (input, processed) in processed {
            let reader = InputReader {
                setup: self.setup,
                destinations: &destinations,
                input,
                document: self.document,
            };
            at(&input.span, reader.remember(&processed))?;
        }
        Ok(())
    }

    /// Writes the answer to an output. Returns `None` if it is added to the document's context.
    fn write_output(
        &self,
        destinations: &Destinations,
        output: &Output,
        answer: &str,
        context: &mut String,
    ) -> StepResult<Option<Manifest>> {
        if output.route.target == Target::Inline {
            if !context.is_empty() {
                context.push_str("\n\n");
            }
            context.push_str(answer);
            return Ok(None);
        }
        let route = self.route(output);
        let mut origin = Origin::of(MODEL);
        origin.header =
            self.step.directives.header.as_ref().map(|header| header.resolve(&destinations.now()));
        let mut writer = at(&output.span, destinations.open(&route, origin))?;
        at(&output.span, writer.write_all(answer.as_bytes()).map_err(|error| Failure::raised(&error)))?;
        at(&output.span, writer.finish()).map(Some)
    }
}
