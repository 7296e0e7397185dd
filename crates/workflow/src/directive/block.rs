//! Parses the block of directives at the top of a step.

use std::ops::Range;

use trommel_base::nearest_one;
use trommel_route::{Pattern, Route, Target, check_name, check_path};

use super::error::DirectiveError;
use super::fault::Fault;
use super::lines::{Directives, Input, Model, Output, Source};
use super::piece::Piece;
use super::value::{Keys, Result, checked, fault, split};

/// The maximum length of a directive's line in characters.
const MAX_LINE_CHARS: usize = 4_096;

/// The maximum length of a `@tools` directive over all its lines in bytes.
const MAX_TOOLS_BYTES: usize = 65_536;

pub(super) const NAMES: &[&str] = &["input", "output", "tools", "model", "write-mode", "header"];

/// Directives of other programs, with the reason why trommel does not support them.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("run-on", "trommel has no scheduler"),
    ("cache", "a run leaves only files and variables of its session to the next one"),
    ("recent-runs", "trommel keeps no chat"),
    ("recent-summaries", "trommel keeps no chat"),
];

const INPUT: Keys = Keys {
    directive: "@input",
    known: &["output", "write-mode", "scope", "required", "refs-only", "head", "properties"],
};
const OUTPUT: Keys = Keys { directive: "@output", known: &["scope", "write-mode"] };
const MODEL: Keys = Keys { directive: "@model", known: &["thinking"] };

impl Directives {
    /// Parses the directives at the top of a text, and returns them with the rest of the text. An
    /// error has the position of the fault.
    ///
    /// Takes time proportional to the text. A line full of parentheses takes time quadratic in its
    /// length, which is at most 4,096 characters.
    pub fn parse(text: &str) -> std::result::Result<(Self, &str), DirectiveError> {
        let (directives, body) = Self::parse_within(text, 0..text.len())?;
        Ok((directives, &text[body..]))
    }

    /// Parses a part of a text, and returns the offset at which the rest begins. Positions in
    /// errors are those of the whole text.
    pub(crate) fn parse_within(
        whole: &str,
        part: Range<usize>,
    ) -> std::result::Result<(Self, usize), DirectiveError> {
        parse(whole, part)
    }
}

/// Parses the directives at the start of `part`; see [`Directives::parse_within`].
fn parse(whole: &str, part: Range<usize>) -> std::result::Result<(Directives, usize), DirectiveError> {
    let text = &whole[part.clone()];
    let mut rest = Piece::new(text, part.start);
    let mut directives = Directives::default();
    let mut body = part.start;
    while !rest.is_empty() {
        let line = first_line(rest);
        let after = rest.from(line.text.len());
        if line.text.trim().is_empty() {
            rest = after;
            continue;
        }
        let Some((name, value)) = directive(line) else { break };
        let value =
            if name.text.eq_ignore_ascii_case("tools") { continued(value, rest) } else { value.trim() };
        directives.add(name, value).map_err(|fault| DirectiveError::new(whole, fault.span, fault.kind))?;
        // A `@tools` value may span several lines: continue after the line in which it ends.
        let end = value.span().end.saturating_sub(rest.at).max(line.text.trim_end_matches('\n').len());
        let last = rest.from(end);
        rest = last.from(last.text.find('\n').map_or(last.text.len(), |at| at + 1));
        body = rest.at;
    }
    Ok((directives, body))
}

/// Returns the first line with its line break.
fn first_line(rest: Piece<'_>) -> Piece<'_> {
    rest.to(rest.text.find('\n').map_or(rest.text.len(), |at| at + 1))
}

/// Returns the name and the value if the line is a directive.
fn directive(line: Piece<'_>) -> Option<(Piece<'_>, Piece<'_>)> {
    let trimmed = line.trim_start();
    let name = trimmed.text.strip_prefix('@')?;
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let length = name.find(|c| !is_part(c)).unwrap_or(name.len());
    let name = trimmed.from(1).to(length);
    let value = trimmed.from(1 + length);
    let value = if value.text.starts_with(':') { value.from(1) } else { value };
    let is_directive = value.is_empty() || value.text.starts_with(char::is_whitespace);
    is_directive.then_some((name, value))
}

/// Extends a value of `@tools` by its continuation lines: lines after a comma, lines that start
/// with one, and indented lines.
fn continued<'a>(value: Piece<'a>, rest: Piece<'a>) -> Piece<'a> {
    let value = value.trim();
    let start = value.at - rest.at;
    let mut end = start + value.text.len();
    loop {
        let so_far = rest.to(end).from(start);
        let after = rest.from(end);
        let after = after.from(after.text.find('\n').map_or(after.text.len(), |at| at + 1));
        let line = first_line(after);
        let word = line.text.trim();
        let continues =
            ends_with_comma(so_far.text) || word.starts_with(',') || line.text.starts_with([' ', '\t']);
        if word.is_empty() || word.starts_with('@') || !continues || end - start > MAX_TOOLS_BYTES {
            return so_far;
        }
        end = line.trim_end().span().end - rest.at;
    }
}

/// True if the last line ends with a comma, ignoring a remark.
fn ends_with_comma(text: &str) -> bool {
    let line = text.lines().next_back().unwrap_or("");
    let bare = line.split(" #").next().unwrap_or(line);
    bare.trim_end().ends_with(',')
}

impl Directives {
    fn add(&mut self, name: Piece<'_>, value: Piece<'_>) -> Result<()> {
        let known = name.text.to_ascii_lowercase().replace('_', "-");
        if known != "tools" && value.text.chars().nth(MAX_LINE_CHARS).is_some() {
            return fault(name, Fault::LongLine(MAX_LINE_CHARS));
        }
        if value.is_empty() && NAMES.contains(&known.as_str()) {
            return fault(name, Fault::NoValue(known));
        }
        match known.as_str() {
            "input" => self.inputs.push(input(value)?),
            "output" => self.outputs.push(output(value)?),
            "tools" if value.text.len() > MAX_TOOLS_BYTES => {
                return fault(name, Fault::LongTools(MAX_TOOLS_BYTES));
            }
            "tools" => self.tools.add(value)?,
            "model" => self.model = Some(model(value)?),
            "write-mode" => self.write_mode = Some(checked(value, value.text.parse())?),
            "header" => self.header = Some(checked(value, Pattern::parse(value.text))?),
            _ => return unknown(name, &known),
        }
        Ok(())
    }
}

fn unknown(name: Piece<'_>, known: &str) -> Result<()> {
    if let Some((_, why)) = UNSUPPORTED.iter().find(|(other, _)| *other == known) {
        return fault(name, Fault::Unsupported { name: known.to_owned(), why });
    }
    let near = nearest_one(known, NAMES.iter().copied());
    fault(name, Fault::UnknownDirective { name: name.text.to_owned(), near, known: NAMES })
}

fn input(value: Piece<'_>) -> Result<Input> {
    let parts = split(value, &["file", "variable", "url", "query"], &INPUT)?;
    let Some(scheme) = parts.scheme else {
        return fault(parts.base, Fault::NoScheme);
    };
    let (base, parameters) = (parts.base, &parts.parameters);
    if base.text.trim().is_empty() {
        return fault(value.trim(), Fault::NoName(scheme));
    }
    let source = match scheme {
        "file" => {
            checked(base, check_path(base.text))?;
            if base.text.contains("**") {
                return fault(base, Fault::DoubleWildcard);
            }
            Source::File(checked(base, Pattern::parse(base.text))?)
        }
        "variable" => {
            checked(base, check_name(base.text))?;
            Source::Variable(checked(base, Pattern::parse(base.text))?)
        }
        "url" => Source::Url(base.text.to_owned()),
        _ => Source::Query(base.text.to_owned()),
    };
    let head = match parameters.value("head")? {
        None => None,
        Some(head) => match head.text.parse() {
            Ok(chars) if chars > 0 => Some(chars),
            _ => return fault(head, Fault::Head),
        },
    };
    let properties = parameters.optional("properties", "").map(|names| {
        names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    });
    let mut route = parameters.route()?;
    // The scope belongs to the written variable, or else to the variable that is read.
    let mut scope = parameters.scope()?;
    if let Some(route) = &mut route {
        match route.target {
            Target::Variable(_) => scope = None,
            _ => route.scope = None,
        }
    }
    Ok(Input {
        source,
        route,
        scope,
        required: parameters.flag("required")?,
        refs_only: parameters.flag("refs-only")?,
        properties,
        head,
        span: value.trim().span(),
    })
}

fn output(value: Piece<'_>) -> Result<Output> {
    // The target is split from its parameters first, and then parsed together with its scheme.
    let parts = split(value, &["file", "variable"], &OUTPUT)?;
    let (base, parameters) = (parts.base, &parts.parameters);
    let target = match parts.scheme {
        Some(scheme) => checked(base, Target::parse(&format!("{scheme}:{}", base.text)))?,
        None if base.text.eq_ignore_ascii_case("context") => Target::Inline,
        None => checked(base, Target::parse(base.text))?,
    };
    let write_mode =
        parameters.value("write-mode")?.map(|mode| checked(mode, mode.text.parse())).transpose()?;
    let mut route = Route::to(target);
    (route.write_mode, route.scope) = (write_mode, parameters.scope()?);
    Ok(Output { route, span: value.trim().span() })
}

fn model(value: Piece<'_>) -> Result<Model> {
    let parts = split(value, &[], &MODEL)?;
    let name = parts.base.trim();
    if name.is_empty() || name.text.contains(char::is_whitespace) {
        return fault(value.trim(), Fault::ModelName);
    }
    let thinking = parts.parameters.optional("thinking", "true").map(str::to_owned);
    let name = (!name.text.eq_ignore_ascii_case("none")).then(|| name.text.to_owned());
    Ok(Model { name, thinking, span: value.trim().span() })
}
