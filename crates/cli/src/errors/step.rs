//! A directive that is wrong or that failed: its place in the document, and why.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use trommel_route::{DirectiveError, RunError};

use super::Failure;
use super::query::around;
use crate::output::escape;

/// Characters of a message.
const MESSAGE: usize = 1_200;

/// A directive that is wrong, or that failed.
#[derive(Debug)]
pub(crate) struct BadStep {
    file: String,
    /// The step's heading, where the document was run.
    step: Option<String>,
    error: DirectiveError,
}

impl BadStep {
    /// A document that cannot be read.
    pub(crate) fn failure(file: &str, error: DirectiveError) -> Failure {
        Failure::Step(Box::new(Self { file: file.to_owned(), step: None, error }))
    }

    /// A run that ended early.
    pub(crate) fn of_run(file: &str, error: RunError) -> Failure {
        let RunError { step, error, .. } = error;
        Failure::Step(Box::new(Self { file: file.to_owned(), step: Some(step), error }))
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
        if let Some(step) = &self.step {
            let note = format!("in the step `{}`; the steps before it are done", escape::short(step, 100));
            group = group.element(Level::NOTE.message(note));
        }
        renderer.render(&[group])
    }
}
