//! Running a step: inputs, tools, the model, outputs.
//!
//! One engine for workflows and for context documents. A step's inputs are read in the order of
//! their lines, and go where they are routed, or into the prompt; then the model answers, unless it
//! is `none`, and may call the step's tools on the way; then its answer goes to the step's outputs.
//! An error ends the run, with its place in the document; what can be checked is checked for all
//! steps before the first one runs.

mod checks;
mod conversation;
mod inputs;
mod pending;
mod plan;
mod prompt;
mod tools;
mod work;

use std::io::Write;

use trommel_route::{Destinations, Origin, Target};
use trommel_tool::{Failure, Manifest};

use crate::directive::Output;
use crate::report::{Progress, StepReport};
use inputs::Reading;
use prompt::Prompt;
use work::{Done, at};

pub(crate) use checks::check;
pub(crate) use plan::plan;
pub use plan::{Plan, StepPlan};
pub use prompt::PROMPT_CHARS;
pub(crate) use work::{Setup, Work};

/// The source of a model's answers.
const MODEL: &str = "model";

impl Work<'_> {
    /// Runs the step, and puts into the report what is done by then.
    pub(crate) fn run(
        &self,
        report: &mut StepReport,
        context: &mut String,
        tell: &mut dyn FnMut(Progress<'_>),
    ) -> Done<()> {
        let places = at(&self.step.span, self.setup.places(self.document))?;
        let executor = self.executor(&places)?;
        let mut prompt = Prompt::default();
        let mut had = Vec::new();
        for input in &self.step.directives.inputs {
            self.check()?;
            let reading = Reading { setup: self.setup, places: &places, input, document: self.document };
            let found = at(&input.span, reading.items())?;
            had.push((input, reading.pending(&found.items)));
            let read = at(&input.span, reading.run(found, &mut prompt))?;
            for warning in read.warnings {
                let warning = self.document.error(&input.span, warning);
                tell(Progress::Warning(&warning));
                report.warnings.push(warning);
            }
            if let Some(summary) = inputs::summary(&read.manifests) {
                tell(Progress::Manifest(&summary));
            }
            report.manifests.extend(read.manifests);
        }
        let prompt = prompt.text(&self.document.instructions, &self.step.body);
        self.check()?;
        let answer = if self.is_without_model() {
            prompt
        } else {
            let answer = self.converse(&executor, prompt, report, tell)?;
            tell(Progress::Answer(&answer));
            report.answer = Some(answer.clone());
            answer
        };
        for output in &self.step.directives.outputs {
            if let Some(manifest) = self.put(&places, output, &answer, context)? {
                tell(Progress::Manifest(&manifest));
                report.manifests.push(manifest);
            }
        }
        // Only now, so that a step that fails has them again.
        for (input, had) in had {
            let read = Reading { setup: self.setup, places: &places, input, document: self.document };
            at(&input.span, read.remember(&had))?;
        }
        Ok(())
    }

    /// Writes an answer to an output.
    fn put(
        &self,
        places: &Destinations,
        output: &Output,
        answer: &str,
        context: &mut String,
    ) -> Done<Option<Manifest>> {
        if output.route.target == Target::Inline {
            if !context.is_empty() {
                context.push_str("\n\n");
            }
            context.push_str(answer);
            return Ok(None);
        }
        let route = self.route(output);
        let mut origin = Origin::of(MODEL);
        origin.header = self.step.directives.header.as_ref().map(|header| header.resolve(&places.now()));
        let mut parcel = at(&output.span, places.open(&route, origin))?;
        at(&output.span, parcel.write_all(answer.as_bytes()).map_err(|error| Failure::raised(&error)))?;
        at(&output.span, parcel.finish()).map(Some)
    }
}
