//! The value of a directive: what it is about, and its parameters in parentheses at the end.
//!
//! A name may hold parentheses itself, as `note (1)` does. What stands in parentheses at the end of the line is taken for
//! parameters only if their keys are known; what looks like parameters that went wrong is an error and no name.

use std::ops::Range;

use super::parameters::{self, List, Parameter};
use super::piece::Piece;
use crate::error::{Result as Routed, shown};
use crate::mode::Scope;
use crate::near;
use crate::target::{Route, Target};

/// What is wrong, and with which bytes.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) span: Range<usize>,
    pub(super) message: String,
}

pub(super) type Result<T> = std::result::Result<T, Fault>;

/// An error about a piece.
pub(super) fn fault<T>(piece: Piece<'_>, message: impl Into<String>) -> Result<T> {
    Err(Fault { span: piece.span(), message: message.into() })
}

/// What is said of a piece that is read by somebody else.
pub(super) fn of<T>(piece: Piece<'_>, read: Routed<T>) -> Result<T> {
    read.or_else(|error| fault(piece, error.to_string()))
}

/// A directive's value taken apart.
#[derive(Debug)]
pub(super) struct Value<'a> {
    /// What stands before the first colon, if it is one of those asked for.
    pub(super) scheme: Option<&'static str>,
    pub(super) base: Piece<'a>,
    pub(super) parameters: Parameters<'a>,
}

/// Takes a value apart: one of these schemes may stand at its beginning, these keys may stand in its parentheses.
pub(super) fn split<'a>(
    value: Piece<'a>,
    schemes: &[&'static str],
    known: &'static [&'static str],
) -> Result<Value<'a>> {
    let value = value.trim();
    let (scheme, body) = scheme_of(value, schemes);
    if let Some((inside, behind)) = body.quoted() {
        if behind.is_over() {
            return Ok(named(scheme, inside, schemes, Parameters { list: Vec::new(), known }));
        }
        let group = behind.trim_start();
        if group.text.starts_with('(')
            && let List::Whole(list, rest) = parameters::read(group)
            && rest.is_over()
        {
            let parameters = Parameters { list, known };
            parameters.check(true)?;
            return Ok(named(scheme, inside, schemes, parameters));
        }
    }
    for (at, _) in body.text.match_indices('(') {
        let group = body.from(at);
        if let Some(parameters) = parameters_at(group, known)? {
            return Ok(Value { scheme, base: body.to(at).trim_end(), parameters });
        }
    }
    Ok(Value { scheme, base: body, parameters: Parameters { list: Vec::new(), known } })
}

/// The scheme may stand within the quotes as well.
fn named<'a>(
    scheme: Option<&'static str>,
    inside: Piece<'a>,
    schemes: &[&'static str],
    parameters: Parameters<'a>,
) -> Value<'a> {
    let (scheme, base) = if scheme.is_some() { (scheme, inside) } else { scheme_of(inside, schemes) };
    Value { scheme, base, parameters }
}

fn scheme_of<'a>(value: Piece<'a>, schemes: &[&'static str]) -> (Option<&'static str>, Piece<'a>) {
    let found = value.text.split_once(':').and_then(|(head, _)| {
        let scheme = schemes.iter().find(|scheme| scheme.eq_ignore_ascii_case(head.trim()))?;
        Some((*scheme, head.len() + 1))
    });
    found.map_or((None, value), |(scheme, length)| (Some(scheme), value.from(length).trim_start()))
}

/// The parameters that a parenthesis begins, if they are some and end the line.
fn parameters_at<'a>(group: Piece<'a>, known: &'static [&'static str]) -> Result<Option<Parameters<'a>>> {
    match parameters::read(group) {
        List::Whole(list, rest) if rest.is_over() => {
            let parameters = Parameters { list, known };
            Ok(parameters.check(false)?.then_some(parameters))
        }
        List::Malformed { at, rest } if rest.is_over() && begins_known(group, known) => fault(
            at.to(at.text.len().saturating_sub(rest.text.len() + 1)),
            "these parameters cannot be read from here on: a value that holds a comma or a quote stands in quotes, \
             output=\"file:a, b.md\"",
        ),
        List::Open if begins_known(group, known) => {
            fault(group, "the parenthesis is not closed: the parameters end with `)` on the same line")
        }
        _ => Ok(None),
    }
}

/// Whether what stands behind a parenthesis begins with a known key and `=`.
fn begins_known(group: Piece<'_>, known: &[&str]) -> bool {
    let key =
        group.from(1).text.split_once('=').map(|(key, _)| key.trim().to_ascii_lowercase().replace('_', "-"));
    key.is_some_and(|key| known.contains(&key.as_str()))
}

/// The parameters of a directive.
#[derive(Debug)]
pub(super) struct Parameters<'a> {
    list: Vec<Parameter<'a>>,
    known: &'static [&'static str],
}

impl<'a> Parameters<'a> {
    pub(super) fn new(list: Vec<Parameter<'a>>, known: &'static [&'static str]) -> Result<Self> {
        let parameters = Self { list, known };
        parameters.check(true)?;
        Ok(parameters)
    }

    /// Whether these are parameters. What is one in part, or nearly, is an error.
    fn check(&self, surely: bool) -> Result<bool> {
        let is_known = |parameter: &Parameter<'_>| self.known.contains(&parameter.name().as_str());
        let any = surely || self.list.iter().any(is_known);
        for (index, parameter) in self.list.iter().enumerate() {
            let name = parameter.name();
            if !is_known(parameter) {
                let meant = near::one(&name, self.known.iter().copied());
                if any || (parameter.value.is_some() && meant.is_some()) {
                    return fault(parameter.key, self.unknown(parameter, meant));
                }
            } else if self.list.iter().take(index).any(|other| other.name() == name) {
                return fault(parameter.key, format!("`{name}` is given twice"));
            }
        }
        Ok(any)
    }

    fn unknown(&self, parameter: &Parameter<'_>, meant: Option<&str>) -> String {
        let key = shown(parameter.key.text);
        let meant = meant.map_or(String::new(), |meant| format!(" Did you mean `{meant}`?"));
        format!(
            "there is no parameter `{key}`.{meant} There are {}; a value that holds a comma stands in quotes",
            self.known.join(", ")
        )
    }

    fn find(&self, name: &str) -> Option<&Parameter<'a>> {
        self.list.iter().find(|parameter| parameter.name() == name)
    }

    /// The value of a key, which must have one.
    pub(super) fn value(&self, name: &str) -> Result<Option<Piece<'a>>> {
        match self.find(name) {
            None => Ok(None),
            Some(Parameter { value: Some(value), .. }) if !value.is_empty() => Ok(Some(*value)),
            Some(Parameter { key, .. }) => fault(*key, format!("a value is missing: {name}=…")),
        }
    }

    /// Whether a key is there, and says neither `false`, `no`, `off` nor `0`.
    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        let Some(parameter) = self.find(name) else { return Ok(false) };
        let Some(value) = parameter.value else { return Ok(true) };
        truth(value.text).map_or_else(|| fault(value, format!("`{name}` is true or false")), Ok)
    }

    /// A key that may stand alone: its value, or what it then says.
    pub(super) fn optional(&self, name: &str, alone: &'a str) -> Option<&'a str> {
        self.find(name).map(|parameter| parameter.value.map_or(alone, |value| value.text))
    }

    /// Where a content goes, if `output` is there. `write-mode` and `scope` belong to it.
    pub(super) fn route(&self) -> Result<Option<Route>> {
        let write_mode = self.value("write-mode")?.map(|value| of(value, value.text.parse())).transpose()?;
        let Some(output) = self.value("output")? else { return Ok(None) };
        let target = of(output, Target::parse(output.text))?;
        Ok(Some(Route { target, write_mode, scope: self.scope()? }))
    }

    pub(super) fn scope(&self) -> Result<Option<Scope>> {
        self.value("scope")?.map(|value| of(value, value.text.parse())).transpose()
    }
}

/// What a word says, if it is one for true or false.
pub(super) fn truth(word: &str) -> Option<bool> {
    match word.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}
