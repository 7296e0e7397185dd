//! Warns of lines that look like directives but are read as text.
//!
//! Directives are read only at the top of a step. Elsewhere, in a list item, or written as `@
//! model`, they are text and go to the model. That is allowed, because a prompt may talk about
//! directives, but it is rarely intended.

use std::ops::Range;

use super::block::NAMES;
use super::error::DirectiveError;
use super::fault::Fault;
use super::piece::Piece;

/// The maximum number of warnings per document.
const MAX_WARNINGS: usize = 20;

/// Adds a warning for each line of the part that looks like a directive, at most 20 per document.
/// Skips code blocks and quotations.
pub(crate) fn find(whole: &str, part: Range<usize>, warnings: &mut Vec<DirectiveError>) {
    let mut rest = Piece::new(&whole[part.clone()], part.start);
    let mut fence: Option<&str> = None;
    while !rest.is_empty() && warnings.len() < MAX_WARNINGS {
        let line = rest.to(rest.text.find('\n').map_or(rest.text.len(), |at| at + 1));
        rest = rest.from(line.text.len());
        let bare = line.text.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, Some(mark)) => fence = Some(mark),
            (None, None) => {
                if let Some((directive, why)) = stray(line) {
                    let kind = Fault::Stray { why, is_last: warnings.len() + 1 == MAX_WARNINGS };
                    warnings.push(DirectiveError::new(whole, directive.span(), kind));
                }
            }
        }
    }
}

/// Returns the part of a line that looks like a directive, and the reason why it is not one.
fn stray(line: Piece<'_>) -> Option<(Piece<'_>, &'static str)> {
    // Deeper indentation is a code block.
    if line.text.starts_with("    ") || line.text.starts_with('\t') {
        return None;
    }
    let line = line.trim();
    let item = line.text.strip_prefix(['-', '*', '+']).or_else(|| {
        let first = line.text.chars().next()?;
        let rest = line.text.trim_start_matches(|c: char| c.is_ascii_digit());
        if first.is_ascii_digit() { rest.strip_prefix(['.', ')']) } else { None }
    });
    let item = item.filter(|item| item.starts_with([' ', '\t']));
    let directive = item.map_or(line, |item| line.from(line.text.len() - item.len()).trim_start());
    let after = directive.text.strip_prefix('@')?;
    let name = after.trim_start();
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let (name, rest) = name.split_at(name.find(|c| !is_part(c)).unwrap_or(name.len()));
    let is_known = NAMES.contains(&name.to_ascii_lowercase().replace('_', "-").as_str());
    if !is_known || !(rest.is_empty() || rest.starts_with(|c: char| c == ':' || c.is_whitespace())) {
        return None;
    }
    let why = if item.is_some() {
        "directives cannot be list items; put it at the top of the step, without a bullet"
    } else if after.starts_with(char::is_whitespace) {
        "remove the space after `@`"
    } else {
        "directives go right below the step's heading, before any text or comment"
    };
    Some((directive, why))
}
