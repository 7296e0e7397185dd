//! `@tools`: which tools a step has, and where the result of each goes.

use std::ops::Range;

use trommel_route::{Route, WriteMode};

use super::fault::Fault;
use super::parameters::{self, List};
use super::piece::Piece;
use super::value::{Keys, Parameters, Result, fault, of, truth};

const KEYS: Keys = Keys { of: "a tool", known: &["output", "write-mode", "scope"] };

/// Which tools a step has: those of all its `@tools` lines together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tools {
    /// Whether it has those that are named, or all.
    pub asked: Asked,
    /// The tools that are named, each once, in the order in which they are named first.
    pub named: Vec<ToolUse>,
}

/// Which tools are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Asked {
    /// Those that are named.
    #[default]
    Named,
    /// All that there are.
    All,
    /// None, and none of those that a step has by itself.
    None,
}

/// One tool, as a step has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolUse {
    /// Its name.
    pub name: String,
    /// Where its results go: a hard rule. Nothing leaves it to the model where that may choose, and
    /// to the length.
    pub route: Option<Route>,
    /// How it is written to where the model chooses.
    pub write_mode: Option<WriteMode>,
    /// The bytes of the text that say so.
    pub span: Range<usize>,
}

impl ToolUse {
    /// Merges a later entry of the same tool: the last `output` applies, with its other parameters,
    /// and the last `write-mode`.
    pub(crate) fn add(&mut self, later: Self) {
        if later.route.is_some() {
            *self = later;
        } else if later.write_mode.is_some() {
            if let Some(route) = &mut self.route {
                route.write_mode = later.write_mode;
            }
            (self.write_mode, self.span) = (later.write_mode, later.span);
        }
    }
}

impl Tools {
    /// Adds what one line says.
    pub(super) fn add(&mut self, line: Piece<'_>) -> Result<()> {
        let mut rest = line;
        let mut any = false;
        while let Some(token) = next(rest)? {
            any = true;
            rest = token.rest;
            match token.word() {
                Some(Asked::None) => *self = Self { asked: Asked::None, named: Vec::new() },
                Some(asked) => self.asked = asked,
                None => self.put(token.read()?),
            }
        }
        if any { Ok(()) } else { fault(line, Fault::NoTool) }
    }

    fn put(&mut self, tool: ToolUse) {
        if self.asked == Asked::None {
            self.asked = Asked::Named;
        }
        match self.named.iter_mut().find(|known| known.name == tool.name) {
            Some(known) => known.add(tool),
            None => self.named.push(tool),
        }
    }
}

/// A tool's name with its parameters, and what follows.
struct Token<'a> {
    name: Piece<'a>,
    group: Option<Piece<'a>>,
    rest: Piece<'a>,
}

/// The next tool of a line.
fn next(rest: Piece<'_>) -> Result<Option<Token<'_>>> {
    let mut rest = rest;
    loop {
        rest = rest.from(
            rest.text.len() - rest.text.trim_start_matches(|c: char| c == ',' || c.is_whitespace()).len(),
        );
        if !rest.text.starts_with('#') {
            break;
        }
        // A remark, to the end of its line.
        rest = rest.from(rest.text.find('\n').unwrap_or(rest.text.len()));
    }
    if rest.is_empty() {
        return Ok(None);
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    let length = rest.text.find(|c| !is_part(c)).unwrap_or(rest.text.len());
    if length == 0 {
        let wrong = rest.to(first_char(rest));
        return fault(wrong, Fault::ToolName(wrong.text.to_owned()));
    }
    let (name, behind) = (rest.to(length), rest.from(length));
    let spaces = behind.text.len() - behind.text.trim_start_matches([' ', '\t']).len();
    let group = behind.from(spaces);
    if !group.text.starts_with('(') {
        return Ok(Some(Token { name, group: None, rest: behind }));
    }
    match parameters::read(group) {
        List::Whole(_, rest) if group.to(group.text.len() - rest.text.len()).text.contains('\n') => {
            fault(group.to(1), Fault::ToolLines)
        }
        List::Whole(_, rest) => Ok(Some(Token { name, group: Some(group), rest })),
        List::Malformed { at, rest } => fault(
            at.to(at.text.len().saturating_sub(rest.text.len() + 1).max(first_char(at))),
            Fault::MalformedTool,
        ),
        List::Open => fault(group.to(1), Fault::OpenTool),
    }
}

/// The bytes of the first character.
fn first_char(piece: Piece<'_>) -> usize {
    piece.text.chars().next().map_or(0, char::len_utf8)
}

impl Token<'_> {
    /// What it says if it names no tool.
    fn word(&self) -> Option<Asked> {
        if self.group.is_some() {
            return None;
        }
        match self.name.text.to_ascii_lowercase().as_str() {
            "all" => Some(Asked::All),
            "none" => Some(Asked::None),
            word => truth(word).map(|all| if all { Asked::All } else { Asked::None }),
        }
    }

    fn read(&self) -> Result<ToolUse> {
        let (name, span) = (self.name.text.to_owned(), self.name.at..self.rest.at);
        let Some(group) = self.group else {
            return Ok(ToolUse { name, route: None, write_mode: None, span });
        };
        let List::Whole(list, _) = parameters::read(group) else {
            return fault(group, Fault::MalformedTool);
        };
        let parameters = Parameters::new(list, &KEYS)?;
        let route = parameters.route()?;
        let write_mode =
            parameters.value("write-mode")?.map(|value| of(value, value.text.parse())).transpose()?;
        // A scope without a destination is checked as well.
        parameters.scope()?;
        Ok(ToolUse { name, route, write_mode, span })
    }
}
