//! Errors of routing, and of documents: a directive that is wrong or that failed, its place, and
//! why.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use trommel_route::{Error, ErrorClass};
use trommel_workflow::{DirectiveError, Report, RunError, StepReport};

use super::Failure;
use super::query::around;
use crate::output::escape;

/// Characters of a message.
const MESSAGE: usize = 1_200;

/// A directive that is wrong, or that failed.
#[derive(Debug)]
pub(crate) struct BadStep {
    file: String,
    /// The step, and what is done by then, where the document was run.
    note: Option<String>,
    error: DirectiveError,
}

impl BadStep {
    /// A document that cannot be read.
    pub(crate) fn failure(file: &str, error: DirectiveError) -> Failure {
        Failure::Step(Box::new(Self { file: file.to_owned(), note: None, error }))
    }

    /// A run that ended early.
    pub(crate) fn of_run(file: &str, error: RunError) -> Failure {
        let note = match &error.partial {
            None => "all steps are checked first: nothing was run".to_owned(),
            Some(partial) => progress(&error.done, partial),
        };
        Self::in_step(file, error, &note)
    }

    /// A dry run that ended early.
    pub(crate) fn of_dry_run(file: &str, error: RunError) -> Failure {
        Self::in_step(file, error, "a dry run changes nothing")
    }

    fn in_step(file: &str, error: RunError, note: &str) -> Failure {
        let RunError { step, error, .. } = error;
        let note = Some(format!("in the step `{}`; {note}", escape::short(&step, 100)));
        Failure::Step(Box::new(Self { file: file.to_owned(), note, error: *error }))
    }

    pub(super) fn render(&self, renderer: &Renderer) -> String {
        let DirectiveError { message, line, column, span, text, .. } = &self.error;
        let file = escape::short(&self.file, 200);
        let message = escape::short(message, MESSAGE);
        let title = Level::ERROR.primary_title(format!("{file}:{line}:{column}: {message}")).id("directive");
        let start = text.char_indices().nth(column - 1).map_or(text.len(), |(start, _)| start);
        let end = text.floor_char_boundary((start + span.len()).min(text.len()));
        let (shown, marked) = around(text, start..end);
        let snippet =
            Snippet::source(shown).line_start(*line).annotation(AnnotationKind::Primary.span(marked));
        let mut group = title.element(snippet);
        if let Some(note) = &self.note {
            group = group.element(Level::NOTE.message(note));
        }
        renderer.render(&[group])
    }
}

/// What was done before a step failed: the steps before it, and its own parts.
fn progress(done: &Report, partial: &StepReport) -> String {
    let before = match done.steps.len() {
        0 => String::new(),
        1 => "the step before it is done; ".to_owned(),
        count => format!("the {count} steps before it are done; "),
    };
    let wrote: Vec<_> =
        partial.manifests.iter().map(|manifest| escape::short(&manifest.destination, 100)).collect();
    let calls = match partial.calls {
        0 => String::new(),
        1 => " after 1 tool call".to_owned(),
        count => format!(" after {count} tool calls"),
    };
    let own = match wrote.as_slice() {
        [] => "it wrote nothing".to_owned(),
        [first, second, third, _, ..] => {
            format!("it wrote to {first}, {second}, {third} and {} more places", wrote.len() - 3)
        }
        few => format!("it wrote to {}", few.join(", ")),
    };
    format!("{before}{own}{calls}")
}

/// The error of files or buffers that cannot be had.
pub(super) fn render(error: &Error, renderer: &Renderer) -> String {
    let message = escape::short(&error.to_string(), MESSAGE);
    let title = Level::ERROR.primary_title(message).id(error.code());
    let help = match error.class() {
        ErrorClass::Name => "--session takes letters, digits, `_` and `-`",
        _ => {
            "--root names the folder of files, $TROMMEL_HOME that of everything else; see whether they can be read and written"
        }
    };
    renderer.render(&[title.element(Level::HELP.message(help))])
}
