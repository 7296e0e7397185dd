//! Errors of routing and of documents: an invalid or failed directive, its position, and the
//! reason.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use trommel_route::{Error, ErrorClass};
use trommel_workflow::{DirectiveError, Report, RunError, StepReport};

use super::Failure;
use super::query::around;
use crate::output::escape;

/// The maximum number of characters of a message.
const MESSAGE: usize = 1_200;

/// A directive that is invalid or that failed.
#[derive(Debug)]
pub(crate) struct StepError {
    file: String,
    /// The step, and the progress of the run, if the document was run.
    note: Option<String>,
    error: DirectiveError,
}

impl StepError {
    /// Returns the failure of a document that cannot be parsed.
    pub(crate) fn failure(file: &str, error: DirectiveError) -> Failure {
        Failure::Step(Box::new(Self { file: file.to_owned(), note: None, error }))
    }

    /// Returns the failure of a run.
    pub(crate) fn of_run(file: &str, error: RunError) -> Failure {
        let note = match &error.partial {
            None => "all steps are checked first; nothing was run".to_owned(),
            Some(partial) => progress(&error.done, partial),
        };
        Self::in_step(file, error, &note)
    }

    /// Returns the failure of a dry run.
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
        // Columns count characters, snippets take bytes.
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

/// Describes the progress before a step failed: the steps before it, and its own writes and calls.
fn progress(done: &Report, partial: &StepReport) -> String {
    let before = match done.steps.len() {
        0 => String::new(),
        1 => "1 earlier step is complete; ".to_owned(),
        count => format!("{count} earlier steps are complete; "),
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
            format!("it wrote to {first}, {second}, {third}, and {} more destinations", wrote.len() - 3)
        }
        few => format!("it wrote to {}", few.join(", ")),
    };
    format!("{before}{own}{calls}")
}

/// Renders an error of files or buffers.
pub(super) fn render(error: &Error, renderer: &Renderer) -> String {
    let message = escape::short(&error.to_string(), MESSAGE);
    let title = Level::ERROR.primary_title(message).id(error.code());
    let help = match error.class() {
        ErrorClass::Name => "use letters, digits, `_`, and `-` in --session",
        _ => {
            "check that the folders in --root (files) and $TROMMEL_HOME (everything else) are readable and writable"
        }
    };
    renderer.render(&[title.element(Level::HELP.message(help))])
}
