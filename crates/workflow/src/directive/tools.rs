//! `@tools`: the tools of a step, and the targets of their results.

use std::ops::Range;

use trommel_route::{Route, WriteMode};

use super::fault::Fault;
use super::parameters::{self, List};
use super::piece::Piece;
use super::value::{Keys, Parameters, Result, checked, fault, truth};

const KEYS: Keys = Keys { directive: "a tool", known: &["output", "write-mode", "scope"] };

/// The tools of a step, merged from all its `@tools` lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tools {
    /// The selection: the named tools, all tools, or none.
    pub selection: ToolSelection,
    /// The named tools, each once, in the order of their first mention.
    pub named: Vec<ToolUse>,
}

/// The selection of a step's tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolSelection {
    /// Only the named tools.
    #[default]
    Named,
    /// All registered tools.
    All,
    /// No tools, not even those that a step has by default.
    None,
}

/// A tool of a step, with its routing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolUse {
    /// Its name.
    pub name: String,
    /// The target of its results, which overrides every other rule. `None` lets the model choose,
    /// if it may, and otherwise the length decides.
    pub route: Option<Route>,
    /// The write mode if the model chooses the target.
    pub write_mode: Option<WriteMode>,
    /// The byte range of the entry.
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
    /// Adds the entries of one line.
    pub(super) fn add(&mut self, line: Piece<'_>) -> Result<()> {
        let mut rest = line;
        let mut any = false;
        while let Some(token) = next(rest)? {
            any = true;
            rest = token.rest;
            match token.word() {
                Some(ToolSelection::None) => {
                    *self = Self { selection: ToolSelection::None, named: Vec::new() }
                }
                Some(asked) => self.selection = asked,
                None => self.put(token.read()?),
            }
        }
        if any { Ok(()) } else { fault(line, Fault::NoTool) }
    }

    fn put(&mut self, tool: ToolUse) {
        if self.selection == ToolSelection::None {
            self.selection = ToolSelection::Named;
        }
        match self.named.iter_mut().find(|known| known.name == tool.name) {
            Some(known) => known.add(tool),
            None => self.named.push(tool),
        }
    }
}

/// A tool's name with its parameters, and the text after them.
struct Token<'a> {
    name: Piece<'a>,
    group: Option<Piece<'a>>,
    rest: Piece<'a>,
}

/// Reads the next tool of a line.
fn next(rest: Piece<'_>) -> Result<Option<Token<'_>>> {
    let mut rest = rest;
    loop {
        rest = rest.from(
            rest.text.len() - rest.text.trim_start_matches(|c: char| c == ',' || c.is_whitespace()).len(),
        );
        if !rest.text.starts_with('#') {
            break;
        }
        // A remark extends to the end of its line.
        rest = rest.from(rest.text.find('\n').unwrap_or(rest.text.len()));
    }
    if rest.is_empty() {
        return Ok(None);
    }
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    let length = rest.text.find(|c| !is_part(c)).unwrap_or(rest.text.len());
    if length == 0 {
        let character = rest.to(first_char(rest));
        return fault(character, Fault::ToolName(character.text.to_owned()));
    }
    let (name, after) = (rest.to(length), rest.from(length));
    let spaces = after.text.len() - after.text.trim_start_matches([' ', '\t']).len();
    let group = after.from(spaces);
    if !group.text.starts_with('(') {
        return Ok(Some(Token { name, group: None, rest: after }));
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

/// Returns the length of the first character in bytes.
fn first_char(piece: Piece<'_>) -> usize {
    piece.text.chars().next().map_or(0, char::len_utf8)
}

impl Token<'_> {
    /// Returns the selection if the entry is a keyword and not a tool.
    fn word(&self) -> Option<ToolSelection> {
        if self.group.is_some() {
            return None;
        }
        match self.name.text.to_ascii_lowercase().as_str() {
            "all" => Some(ToolSelection::All),
            "none" => Some(ToolSelection::None),
            word => truth(word).map(|all| if all { ToolSelection::All } else { ToolSelection::None }),
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
            parameters.value("write-mode")?.map(|value| checked(value, value.text.parse())).transpose()?;
        // A scope without a target has no effect, but must be valid.
        parameters.scope()?;
        Ok(ToolUse { name, route, write_mode, span })
    }
}
