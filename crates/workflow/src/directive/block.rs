//! The lines at the top of a step, one directive each.

use std::ops::Range;

use trommel_base::nearest_one;
use trommel_route::{Pattern, Route, Target, check_name, check_path};

use super::error::DirectiveError;
use super::fault::Fault;
use super::lines::{Directives, Input, Model, Output, Source};
use super::piece::Piece;
use super::value::{Keys, Result, fault, of, split};

/// Characters of a directive's line at most.
const LONGEST: usize = 4_096;

/// Bytes of a `@tools` directive at most, over all its lines.
const LONGEST_TOOLS: usize = 65_536;

pub(super) const NAMES: &[&str] = &["input", "output", "tools", "model", "write-mode", "header"];

/// Directives of other programs, with the reason why there is nothing for them here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("run-on", "trommel has no scheduler"),
    ("cache", "a run leaves only files and variables of its session to the next one"),
    ("recent-runs", "trommel keeps no chat"),
    ("recent-summaries", "trommel keeps no chat"),
];

const INPUT: Keys = Keys {
    of: "@input",
    known: &["output", "write-mode", "scope", "required", "refs-only", "head", "properties"],
};
const OUTPUT: Keys = Keys { of: "@output", known: &["scope", "write-mode"] };
const MODEL: Keys = Keys { of: "@model", known: &["thinking"] };

impl Directives {
    /// Reads the directives at the top of a text, and gives the text below them. An error points at
    /// the place.
    ///
    /// Takes time in proportion to the text, and at most to the square of a line's length where it
    /// is full of parentheses; a line has at most 4,096 characters.
    pub fn parse(text: &str) -> std::result::Result<(Self, &str), DirectiveError> {
        let (directives, body) = Self::parse_within(text, 0..text.len())?;
        Ok((directives, &text[body..]))
    }

    /// The same for a part of a text, whose places errors tell; where the text below begins.
    pub(crate) fn parse_within(
        whole: &str,
        part: Range<usize>,
    ) -> std::result::Result<(Self, usize), DirectiveError> {
        parse(whole, part)
    }
}

/// Reads the directives at the beginning of a part of a text, and where what is below them begins.
fn parse(whole: &str, part: Range<usize>) -> std::result::Result<(Directives, usize), DirectiveError> {
    let text = &whole[part.clone()];
    let mut rest = Piece::new(text, part.start);
    let mut directives = Directives::default();
    let mut body = part.start;
    while !rest.is_empty() {
        let line = first_line(rest);
        let behind = rest.from(line.text.len());
        if line.text.trim().is_empty() {
            rest = behind;
            continue;
        }
        let Some((name, value)) = directive(line) else { break };
        let value =
            if name.text.eq_ignore_ascii_case("tools") { continued(value, rest) } else { value.trim() };
        directives.add(name, value).map_err(|wrong| DirectiveError::new(whole, wrong.span, wrong.kind))?;
        // A value of several lines ends with the line that it ends on.
        let end = value.span().end.saturating_sub(rest.at).max(line.text.trim_end_matches('\n').len());
        let last = rest.from(end);
        rest = last.from(last.text.find('\n').map_or(last.text.len(), |at| at + 1));
        body = rest.at;
    }
    Ok((directives, body))
}

/// The first line, with its end.
fn first_line(rest: Piece<'_>) -> Piece<'_> {
    rest.to(rest.text.find('\n').map_or(rest.text.len(), |at| at + 1))
}

/// The name and the value of a line, if it is a directive.
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

/// A value of `@tools` with the lines that go on with it: those behind a comma, those that begin
/// with one, and those that are indented.
fn continued<'a>(value: Piece<'a>, rest: Piece<'a>) -> Piece<'a> {
    let value = value.trim();
    let start = value.at - rest.at;
    let mut end = start + value.text.len();
    loop {
        let so_far = rest.to(end).from(start);
        let behind = rest.from(end);
        let behind = behind.from(behind.text.find('\n').map_or(behind.text.len(), |at| at + 1));
        let line = first_line(behind);
        let word = line.text.trim();
        let goes_on =
            ends_with_comma(so_far.text) || word.starts_with(',') || line.text.starts_with([' ', '\t']);
        if word.is_empty() || word.starts_with('@') || !goes_on || end - start > LONGEST_TOOLS {
            return so_far;
        }
        end = line.trim_end().span().end - rest.at;
    }
}

/// Whether a line ends with a comma, remarks aside.
fn ends_with_comma(text: &str) -> bool {
    let line = text.lines().next_back().unwrap_or("");
    let bare = line.split(" #").next().unwrap_or(line);
    bare.trim_end().ends_with(',')
}

impl Directives {
    fn add(&mut self, name: Piece<'_>, value: Piece<'_>) -> Result<()> {
        let known = name.text.to_ascii_lowercase().replace('_', "-");
        if known != "tools" && value.text.chars().nth(LONGEST).is_some() {
            return fault(name, Fault::LongLine(LONGEST));
        }
        if value.is_empty() && NAMES.contains(&known.as_str()) {
            return fault(name, Fault::NoValue(known));
        }
        match known.as_str() {
            "input" => self.inputs.push(input(value)?),
            "output" => self.outputs.push(output(value)?),
            "tools" if value.text.len() > LONGEST_TOOLS => {
                return fault(name, Fault::LongTools(LONGEST_TOOLS));
            }
            "tools" => self.tools.add(value)?,
            "model" => self.model = Some(model(value)?),
            "write-mode" => self.write_mode = Some(of(value, value.text.parse())?),
            "header" => self.header = Some(of(value, Pattern::parse(value.text))?),
            _ => return unknown(name, &known),
        }
        Ok(())
    }
}

fn unknown(name: Piece<'_>, known: &str) -> Result<()> {
    if let Some((_, why)) = ELSEWHERE.iter().find(|(other, _)| *other == known) {
        return fault(name, Fault::Elsewhere { name: known.to_owned(), why });
    }
    let near = nearest_one(known, NAMES.iter().copied());
    fault(name, Fault::UnknownDirective { name: name.text.to_owned(), near, known: NAMES })
}

fn input(value: Piece<'_>) -> Result<Input> {
    let taken = split(value, &["file", "variable", "url", "query"], &INPUT)?;
    let Some(scheme) = taken.scheme else {
        return fault(taken.base, Fault::NoScheme);
    };
    let (base, parameters) = (taken.base, &taken.parameters);
    if base.text.trim().is_empty() {
        return fault(value.trim(), Fault::NoName(scheme));
    }
    let source = match scheme {
        "file" => {
            of(base, check_path(base.text))?;
            if base.text.contains("**") {
                return fault(base, Fault::DoubleWildcard);
            }
            Source::File(of(base, Pattern::parse(base.text))?)
        }
        "variable" => {
            of(base, check_name(base.text))?;
            Source::Variable(of(base, Pattern::parse(base.text))?)
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
    // A scope is that of the variable which is written, else of the one which is read.
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
    // What is one destination without its parameters is taken apart with its scheme.
    let taken = split(value, &["file", "variable"], &OUTPUT)?;
    let (base, parameters) = (taken.base, &taken.parameters);
    let target = match taken.scheme {
        Some(scheme) => of(base, Target::parse(&format!("{scheme}:{}", base.text)))?,
        None if base.text.eq_ignore_ascii_case("context") => Target::Inline,
        None => of(base, Target::parse(base.text))?,
    };
    let write_mode = parameters.value("write-mode")?.map(|mode| of(mode, mode.text.parse())).transpose()?;
    let mut route = Route::to(target);
    (route.write_mode, route.scope) = (write_mode, parameters.scope()?);
    Ok(Output { route, span: value.trim().span() })
}

fn model(value: Piece<'_>) -> Result<Model> {
    let taken = split(value, &[], &MODEL)?;
    let name = taken.base.trim();
    if name.is_empty() || name.text.contains(char::is_whitespace) {
        return fault(value.trim(), Fault::ModelName);
    }
    let thinking = taken.parameters.optional("thinking", "true").map(str::to_owned);
    let name = (!name.text.eq_ignore_ascii_case("none")).then(|| name.text.to_owned());
    Ok(Model { name, thinking, span: value.trim().span() })
}
