//! Documents: frontmatter, and one step per heading `## NAME`.
//!
//! Workflows and context documents have the same form. Frontmatter is enclosed in `---` lines at
//! the top and consists of flat `key: value` lines, not general YAML. Unknown keys are kept for the
//! host. The text under a heading with the word "instructions" is put before the text of every
//! step. Headings in code, quotations, and lists do not count.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};
use serde_json::{Map, Value};

use trommel_route::Now;

use crate::directive::{DirectiveError, Directives, Fault, stray};

/// The maximum size of a document in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 16 << 20;

/// A document with its steps.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Document {
    /// The frontmatter.
    pub properties: Map<String, Value>,
    /// The name under which `{pending}` remembers processed files; empty if it is not set.
    pub name: String,
    /// Lines that look like directives but are read as text, with their positions; at most 20.
    pub warnings: Vec<DirectiveError>,
    /// The text that is put before the text of every step.
    pub instructions: String,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The whole text, to which positions in errors refer.
    pub(crate) text: String,
}

/// One step, or one section of a context document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// Its heading.
    pub name: String,
    /// The line of its heading, from 1.
    pub line: usize,
    /// The directives at its top.
    pub directives: Directives,
    /// The text below the directives.
    pub body: String,
    /// The byte range of its heading.
    pub(crate) span: Range<usize>,
}

impl Document {
    /// Parses a document. An error has the position of the first fault; nothing has run by then.
    pub fn parse(text: &str) -> Result<Self, DirectiveError> {
        let fail = |span: Range<usize>, kind: Fault| Err(DirectiveError::new(text, span, kind));
        if text.len() > MAX_DOCUMENT_BYTES {
            return fail(0..0, Fault::LongDocument(MAX_DOCUMENT_BYTES));
        }
        let (properties, start) = frontmatter(text)?;
        if let Some(engine) = properties.get("workflow_engine").filter(|engine| *engine != "step") {
            return fail(0..3, Fault::UnknownEngine(engine.to_string()));
        }
        let headings = headings(text, start);
        let ends = headings.iter().skip(1).map(|heading| heading.span.start).chain([text.len()]);
        let mut document = Self {
            properties,
            name: String::new(),
            warnings: Vec::new(),
            instructions: String::new(),
            steps: Vec::new(),
            text: text.to_owned(),
        };
        let first = headings.first().map_or(text.len(), |heading| heading.span.start);
        stray::find(text, start..first, &mut document.warnings);
        let (mut line, mut counted) = (1, 0);
        for (heading, end) in headings.iter().zip(ends) {
            let passed = &text[counted..heading.span.start];
            line += passed.matches('\n').count();
            counted = heading.span.start;
            document.add(heading, end, line)?;
        }
        if document.steps.is_empty() {
            return fail(start..start, Fault::NoStep);
        }
        if let Err(error) = document.now(Now::local()) {
            return fail(0..3, Fault::Route { class: error.class(), why: error.to_string() });
        }
        Ok(document)
    }

    /// Sets the name under which `{pending}` remembers processed files. Documents with the same
    /// name share that memory, so pass something unique, such as the canonical path.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    fn add(&mut self, heading: &Heading, end: usize, line: usize) -> Result<(), DirectiveError> {
        let part = heading.span.end..end;
        if heading.name.to_lowercase().contains("instructions") {
            stray::find(&self.text, part.clone(), &mut self.warnings);
            let body = self.text[part].trim();
            if !self.instructions.is_empty() {
                self.instructions.push_str("\n\n");
            }
            self.instructions.push_str(body);
            return Ok(());
        }
        let (directives, body) = Directives::parse_within(&self.text, part)?;
        stray::find(&self.text, body..end, &mut self.warnings);
        let body = self.text[body..end].trim().to_owned();
        let span = heading.span.start..heading.span.end;
        self.steps.push(Step { name: heading.name.clone(), line, directives, body, span });
        Ok(())
    }

    /// Returns a time with the document's first day of the week (`week_start_day`).
    pub(crate) fn now(&self, now: Now) -> trommel_route::Result<Now> {
        match self.properties.get("week_start_day").and_then(Value::as_str) {
            Some(day) => now.week_starts(day),
            None => Ok(now),
        }
    }

    /// Creates an error about a part of the document.
    pub(crate) fn error(&self, span: &Range<usize>, message: String) -> DirectiveError {
        DirectiveError::new(&self.text, span.clone(), Fault::Step(message))
    }
}

/// Returns the byte range of the frontmatter, and the offset at which the rest begins.
pub(crate) fn frontmatter_span(text: &str) -> Option<(Range<usize>, usize)> {
    let begin = text.strip_prefix('\u{feff}').map_or(0, |_| '\u{feff}'.len_utf8());
    let first = text.get(begin..)?.lines().next()?;
    if first.trim_end() != "---" {
        return None;
    }
    let start = begin + text.get(begin..)?.find('\n')? + 1;
    let mut at = start;
    for line in text.get(start..)?.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((start..at, at + line.len()));
        }
        at += line.len();
    }
    None
}

fn frontmatter(text: &str) -> Result<(Map<String, Value>, usize), DirectiveError> {
    let Some((inside, rest)) = frontmatter_span(text) else {
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        let opens =
            text.trim_start_matches('\u{feff}').lines().next().is_some_and(|line| line.trim_end() == "---");
        let below = || text.lines().nth(1).is_some_and(|line| line.contains(':'));
        if opens && below() {
            return Err(DirectiveError::new(text, 0..3, Fault::OpenFrontmatter));
        }
        // A byte order mark is not part of the text, so a heading may follow it directly.
        return Ok((Map::new(), mark));
    };
    let mut properties = Map::new();
    let mut last = None;
    let mut at = inside.start;
    for line in text[inside].split_inclusive('\n') {
        let bare = line.trim();
        let is_continued = line.starts_with([' ', '\t']) || bare.starts_with('-');
        match (member(line), &last) {
            _ if bare.is_empty() || bare.starts_with('#') => {}
            (Some((key, value)), _) => {
                properties.insert(key.to_owned(), property(value));
                last = Some(key.to_owned());
            }
            (None, Some(key)) if is_continued => append_line(&mut properties, key, bare),
            _ => {
                let span = at..at + line.trim_end().len();
                return Err(DirectiveError::new(text, span, Fault::FrontmatterLine));
            }
        }
        at += line.len();
    }
    Ok((properties, rest))
}

/// Returns the key and the value of a line of frontmatter; `None` for a line that continues a value
/// (an indented line or a list item). A key may be quoted.
pub(crate) fn member(line: &str) -> Option<(&str, &str)> {
    if line.starts_with([' ', '\t', '-']) {
        return None;
    }
    let quote = line.chars().next().filter(|first| matches!(first, '"' | '\''));
    let quoted = quote.and_then(|quote| {
        let (key, after) = line.get(1..)?.split_once(quote)?;
        Some((key, after.trim_start().strip_prefix(':')?.trim()))
    });
    quoted.or_else(|| line.split_once(':').map(|(key, value)| (key.trim(), value.trim())))
}

/// Parses the value of a line. Unlike in YAML, a value may contain colons, as in `cron: 0 8 * * *`.
fn property(text: &str) -> Value {
    let bare = unquoted(text);
    if bare.len() < text.len() {
        return bare.into();
    }
    let text = text.split_once(" #").map_or(text, |(before, _)| before.trim_end());
    match text {
        "true" => true.into(),
        "false" => false.into(),
        _ => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
    }
}

fn unquoted(text: &str) -> &str {
    let within = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(text)
}

/// Appends a continuation line verbatim to the value before it.
fn append_line(properties: &mut Map<String, Value>, key: &str, line: &str) {
    if let Some(value) = properties.get_mut(key) {
        let before = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        *value = if before.is_empty() { line.into() } else { format!("{before}\n{line}").into() };
    }
}

struct Heading {
    name: String,
    span: Range<usize>,
}

/// Finds the headings `## NAME` at the top level of the document.
fn headings(text: &str, start: usize) -> Vec<Heading> {
    let part = &text[start..];
    let mut inside = 0_usize;
    let mut found = Vec::new();
    for (event, range) in Parser::new(part).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level: HeadingLevel::H2, .. }) if inside == 0 => {
                let whole = &part[range.clone()];
                if let Some(name) = whole.trim_start().strip_prefix("##") {
                    let name = name.trim().trim_end_matches('#').trim_end().to_owned();
                    found.push(Heading { name, span: start + range.start..start + range.end });
                }
            }
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => inside += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => inside = inside.saturating_sub(1),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_heading_starts_a_step() {
        let text = "---\nworkflow_engine: step\nweek_start_day: sunday\nenabled: true\n---\n# Title\nintro\n## My Instructions\nBe brief.\n\n\
            ## First\n@model none\n\nDo it.\n\n```\n## not a heading\n```\n> ## neither\n\n## Second ##\n@input file:a (required)\nmore\n";
        let document = Document::parse(text).unwrap();
        assert_eq!(document.properties["enabled"], Value::Bool(true));
        assert_eq!(document.instructions, "Be brief.");
        let steps: Vec<_> = document.steps.iter().map(|step| (step.name.as_str(), step.line)).collect();
        assert_eq!(steps, [("First", 11), ("Second", 21)]);
        assert_eq!(document.steps[0].body, "Do it.\n\n```\n## not a heading\n```\n> ## neither");
        assert!(document.steps[1].directives.inputs[0].required);
    }

    #[test]
    fn frontmatter_is_flat() {
        let text = "\u{feff}---\nworkflow_engine: step # the one\nschedule: cron: 0 8 * * *\n\n# a remark\n\"quoted\": 'a: # b'\n\
            enabled: false\npassthrough_runs: 3\ntags:\n  - a\n- b\nempty:\nnumber: 1.5\n---\n## x\n";
        let properties = Document::parse(text).unwrap().properties;
        let expected = serde_json::json!({
            "workflow_engine": "step", "schedule": "cron: 0 8 * * *", "quoted": "a: # b", "enabled": false,
            "passthrough_runs": 3, "tags": "- a\n- b", "empty": "", "number": "1.5"
        });
        assert_eq!(Value::Object(properties), expected);
    }

    #[test]
    fn keeps_the_first_step_after_a_byte_order_mark() {
        let document = Document::parse("\u{feff}## One\n@model none\n\na\n\n## Two\n@model none\n").unwrap();
        let steps: Vec<_> = document.steps.iter().map(|step| (step.name.as_str(), step.line)).collect();
        assert_eq!(steps, [("One", 1), ("Two", 6)]);
        assert!(document.steps[0].directives.model.is_some());
        assert_eq!(Document::parse("\u{feff}## One\n@model none\n").unwrap().steps.len(), 1);
    }

    #[test]
    fn warns_of_directives_that_are_read_as_text() {
        let text = "@input file:x\n# Title\n## One\n- @model none\n@ model none\n  1. @tools all\n\n## Two\n<!-- c -->\n@model none\n\n\
            ```\n@model none\n```\n    @input file:code\n> @input file:quoted\n@nobody knows @input\n@modelled on x\nSee @input file:y.\n";
        let document = Document::parse(text).unwrap();
        let found: Vec<_> = document
            .warnings
            .iter()
            .map(|warning| (warning.line, warning.column, warning.text.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                (1, 1, "@input file:x"),
                (4, 3, "- @model none"),
                (5, 1, "@ model none"),
                (6, 6, "  1. @tools all"),
                (10, 1, "@model none")
            ]
        );
        assert!(document.warnings[1].message.contains("list items"), "{}", document.warnings[1]);
        assert!(document.warnings[2].message.contains("space after `@`"), "{}", document.warnings[2]);
        assert!(
            document.warnings[4].message.contains("before any text or comment"),
            "{}",
            document.warnings[4]
        );
        let many = Document::parse(&format!("## x\ntext\n{}", "@model none\n".repeat(50_000))).unwrap();
        assert_eq!(many.warnings.len(), 20);
        assert!(many.warnings[19].message.contains("further lines"));
    }

    #[test]
    fn many_headings_take_linear_time() {
        let document = Document::parse(&"##\n".repeat(200_000)).unwrap();
        assert_eq!((document.steps.len(), document.steps[199_999].line), (200_000, 200_000));
    }

    #[test]
    fn r45_errors_have_their_line() {
        for (text, line, said) in [
            ("no step", 1, "no step"),
            ("---\na: b\nc\n---\n## x\n", 3, "must be `key: value`"),
            ("---\n - b\n---\n## x\n", 2, "must be `key: value`"),
            ("---\na: b\n## x\n", 1, "not closed"),
            ("---\nworkflow_engine: other\n---\n## x\n", 1, "unknown workflow engine"),
            ("---\nweek_start_day: never\n---\n## x\n", 1, "monday"),
            ("## x\n\n@inptu file:y\n", 3, "Did you mean @input?"),
            ("## x\n@model none\n\n## y\n@input file:\n", 5, "a name is missing"),
        ] {
            let error = Document::parse(text).unwrap_err();
            assert!(error.message.contains(said), "{text}: {error}");
            assert_eq!(error.line, line, "{text}: {error}");
        }
    }
}
