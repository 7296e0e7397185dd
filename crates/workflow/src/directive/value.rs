//! The value of a directive: a name, and its parameters in parentheses at the end.
//!
//! A name may contain parentheses, as `note (1)` does. Parentheses at the end of the line are
//! parameters, and unknown keys in them are an error, so a misspelled parameter never becomes part
//! of a name. Quotes allow any name.

use std::ops::Range;

use trommel_base::nearest_one;
use trommel_route::{Result as Routed, Route, Scope, Target, WriteMode};

use super::fault::{Fault, ParameterHint};
use super::parameters::{self, List, Parameter};
use super::piece::Piece;

/// A fault, and its byte range.
#[derive(Debug)]
pub(super) struct ValueFault {
    pub(super) span: Range<usize>,
    pub(super) kind: Fault,
}

pub(super) type Result<T> = std::result::Result<T, ValueFault>;

/// Creates a fault of a piece.
pub(super) fn fault<T>(piece: Piece<'_>, kind: Fault) -> Result<T> {
    Err(ValueFault { span: piece.span(), kind })
}

/// Converts an error of routing to a fault of the piece.
pub(super) fn checked<T>(piece: Piece<'_>, read: Routed<T>) -> Result<T> {
    read.or_else(|error| fault(piece, Fault::Route { class: error.class(), why: error.to_string() }))
}

/// The parameters of a directive.
#[derive(Debug)]
pub(super) struct Keys {
    /// The directive's name in messages.
    pub(super) directive: &'static str,
    pub(super) known: &'static [&'static str],
}

impl Keys {
    fn has(&self, word: &str) -> bool {
        self.known.contains(&word.trim().to_ascii_lowercase().replace('_', "-").as_str())
    }

    /// Finds a known key that is followed by a single `=`, where a parameter could begin: at the
    /// start, or after a space or one of `(,;[`.
    fn mentioned<'a>(&self, piece: Piece<'a>) -> Option<Piece<'a>> {
        piece.text.match_indices('=').find_map(|(equals, _)| {
            let before = piece.text.get(..equals)?.trim_end();
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
            let start = before.rfind(|c| !is_part(c)).map_or(0, |at| {
                at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
            });
            let begins = before.get(..start)?.chars().next_back();
            let begins = begins.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | ',' | ';' | '['));
            // In a query, `==` is a comparison.
            let is_single = !piece.text.get(equals + 1..)?.starts_with('=');
            (begins && is_single && self.has(before.get(start..)?)).then(|| piece.from(start))
        })
    }
}

/// The parts of a directive's value.
#[derive(Debug)]
pub(super) struct Value<'a> {
    /// The word before the first colon, if it is one of the expected schemes.
    pub(super) scheme: Option<&'static str>,
    pub(super) base: Piece<'a>,
    pub(super) parameters: Parameters<'a>,
}

/// Splits a value into its scheme (one of `schemes`), its name, and its parameters (with the keys
/// of `keys`).
pub(super) fn split<'a>(
    value: Piece<'a>,
    schemes: &[&'static str],
    keys: &'static Keys,
) -> Result<Value<'a>> {
    let value = value.trim();
    let (scheme, body) = scheme_of(value, schemes);
    // A query has quotes and parentheses of its own.
    let is_query = scheme == Some("query");
    if let Some((inside, after)) = body.quoted()
        && let Some(parameters) = after_quotes(after, is_query, keys)?
    {
        return Ok(named(scheme, inside, schemes, parameters));
    }
    let mut at = 0;
    let mut unclosed = None;
    while let Some(found) = body.from(at).text.find('(') {
        let start = at + found;
        let group = body.from(start);
        let before = &body.text[..start];
        let group = Group {
            piece: group,
            is_apart: before.is_empty() || before.ends_with(char::is_whitespace),
            is_query,
        };
        match group.read(keys)? {
            Read::Parameters(parameters) => {
                return Ok(Value { scheme, base: body.to(start).trim_end(), parameters });
            }
            Read::Name(length) => at = start + length,
            Read::Unclosed => {
                unclosed = unclosed.or(Some(group.piece));
                at = start + 1;
            }
        }
    }
    if let Some(group) = unclosed {
        return fault(group, Fault::OpenParenthesis);
    }
    // If a query ends in quoted text, a key in that text belongs to the query.
    let mentioned = keys.mentioned(body).filter(|found| !is_query || !found.text.contains(['"', '\'', ']']));
    if let Some(found) = mentioned {
        return fault(found, Fault::OutsideParentheses);
    }
    Ok(Value { scheme, base: body, parameters: Parameters { list: Vec::new(), keys } })
}

/// Returns the parameters after a quoted name; `None` if the quotes belong to a longer name.
fn after_quotes<'a>(after: Piece<'a>, is_query: bool, keys: &'static Keys) -> Result<Option<Parameters<'a>>> {
    if after.is_over() {
        return Ok(Some(Parameters { list: Vec::new(), keys }));
    }
    let group = after.trim_start();
    if group.text.starts_with('(') {
        return match parameters::read(group) {
            List::Whole(list, rest) if rest.is_over() => {
                let parameters = Parameters { list, keys };
                parameters.check()?;
                Ok(Some(parameters))
            }
            _ if is_query => Ok(None),
            List::Whole(_, rest) => fault(rest.trim(), Fault::AfterParameters),
            List::Malformed { at, rest } => malformed(at, rest),
            List::Open => fault(group, Fault::OpenParenthesis),
        };
    }
    if !is_query && after.text.starts_with(char::is_whitespace) {
        return fault(group, Fault::AfterQuotes);
    }
    Ok(None)
}

fn malformed<T>(at: Piece<'_>, rest: Piece<'_>) -> Result<T> {
    fault(at.to(at.text.len().saturating_sub(rest.text.len() + 1)), Fault::Malformed)
}

/// A parenthesis in a value without quotes, and the text after it.
#[derive(Clone, Copy)]
struct Group<'a> {
    piece: Piece<'a>,
    /// True if white space precedes it.
    is_apart: bool,
    is_query: bool,
}

/// The meaning of a parenthesis.
enum Read<'a> {
    Parameters(Parameters<'a>),
    /// A part of the name, with this length in bytes.
    Name(usize),
    Unclosed,
}

impl<'a> Group<'a> {
    /// Decides between parameters and a part of the name. Ambiguous text is an error.
    fn read(self, keys: &'static Keys) -> Result<Read<'a>> {
        let length = |rest: Piece<'_>| self.piece.text.len() - rest.text.len();
        match parameters::read(self.piece) {
            List::Whole(list, rest) => {
                let parameters = Parameters { list, keys };
                if self.is_parameters(&parameters, rest)? {
                    parameters.check()?;
                    return Ok(Read::Parameters(parameters));
                }
                Ok(Read::Name(length(rest)))
            }
            List::Malformed { at, rest } => {
                let inside = self.piece.from(1).to(length(rest).saturating_sub(2));
                let is_apart = self.is_apart && !self.is_query && rest.is_over();
                if is_apart || keys.mentioned(inside).is_some() {
                    return malformed(at, rest);
                }
                Ok(Read::Name(length(rest)))
            }
            List::Open
                if keys.mentioned(self.piece.from(1)).is_some_and(|found| found.at == self.piece.at + 1) =>
            {
                fault(self.piece, Fault::OpenParenthesis)
            }
            List::Open if self.is_apart && !self.is_query => Ok(Read::Unclosed),
            List::Open => Ok(Read::Name(1)),
        }
    }

    fn is_parameters(self, parameters: &Parameters<'a>, rest: Piece<'a>) -> Result<bool> {
        let Parameters { list, .. } = parameters;
        if parameters.look_known() {
            // A bare word may be part of the name, such as `(head)` in the middle of one.
            let is_name = list.iter().all(|parameter| parameter.value.is_none())
                && !rest.text.starts_with([' ', '\t', ')', '#']);
            if rest.is_over() || is_name {
                return Ok(rest.is_over());
            }
            return fault(rest.trim(), Fault::AfterParameters);
        }
        // `note (1)` is the name of a copy, and keys are never numbers.
        let is_number = matches!(list.as_slice(), [one] if one.value.is_none() && one.key.text.bytes().all(|byte| byte.is_ascii_digit()));
        if self.is_query || is_number {
            return Ok(false);
        }
        let is_mode = |parameter: &Parameter<'_>| {
            parameter.key.text.parse::<WriteMode>().is_ok() || parameter.key.text.parse::<Scope>().is_ok()
        };
        if rest.is_over() {
            // Without white space before it, the parenthesis is part of the name, as in an address
            // that ends with `Rust_(language)`.
            return Ok(self.is_apart || list.iter().any(is_mode));
        }
        let unexpected = rest.text.strip_prefix(')').map(|_| rest.from(1)).is_some_and(Piece::is_over);
        if self.is_apart && unexpected {
            return fault(rest.to(1), Fault::ExtraParenthesis);
        }
        Ok(false)
    }
}

/// Builds a value from a quoted name, which may include its scheme.
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

/// The parameters of a directive.
#[derive(Debug)]
pub(super) struct Parameters<'a> {
    list: Vec<Parameter<'a>>,
    keys: &'static Keys,
}

impl<'a> Parameters<'a> {
    pub(super) fn new(list: Vec<Parameter<'a>>, keys: &'static Keys) -> Result<Self> {
        let parameters = Self { list, keys };
        parameters.check()?;
        Ok(parameters)
    }

    /// True if a parameter has a known key, or one that resembles it.
    fn look_known(&self) -> bool {
        self.list.iter().any(|parameter| {
            // A key is one word: `@.head` in a query does not resemble `head`.
            let is_word = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
            let is_near = || {
                let name = parameter.name();
                is_word(&name) && nearest_one(&name, self.keys.known.iter().copied()).is_some()
            };
            self.keys.has(parameter.key.text)
                || self.with_colon(parameter).is_some()
                || (parameter.value.is_some() && is_near())
        })
    }

    /// Returns key and value if a known key is followed by a colon instead of `=`.
    fn with_colon(&self, parameter: &Parameter<'a>) -> Option<(&'a str, &'a str)> {
        let (key, value) = parameter.key.text.split_once(':')?;
        (parameter.value.is_none() && self.keys.has(key)).then_some((key.trim(), value.trim()))
    }

    /// Fails if a parameter is unknown, occurs twice, or contains another one.
    fn check(&self) -> Result<()> {
        for (index, parameter) in self.list.iter().enumerate() {
            let name = parameter.name();
            if !self.keys.has(&name) {
                return fault(parameter.key, self.unknown(parameter));
            }
            if self.list.iter().take(index).any(|other| other.name() == name) {
                return fault(parameter.key, Fault::Twice(name));
            }
            if let (Some(value), false) = (parameter.value, parameter.is_quoted)
                && let Some(found) = self.keys.mentioned(value)
            {
                return fault(found, Fault::NoComma);
            }
        }
        Ok(())
    }

    fn unknown(&self, parameter: &Parameter<'a>) -> Fault {
        if let Some((key, value)) = self.with_colon(parameter) {
            return Fault::Colon { key: key.to_owned(), value: value.to_owned() };
        }
        let Keys { directive, known } = *self.keys;
        let near = match parameter.key.text.parse::<WriteMode>() {
            Ok(mode) if known.contains(&"write-mode") => Some(ParameterHint::Mode(mode)),
            _ => nearest_one(&parameter.name(), known.iter().copied()).map(ParameterHint::Key),
        };
        Fault::UnknownParameter { key: parameter.key.text.to_owned(), near, directive, known }
    }

    fn find(&self, name: &str) -> Option<&Parameter<'a>> {
        self.list.iter().find(|parameter| parameter.name() == name)
    }

    /// Returns the value of a key; a key without a value is an error.
    pub(super) fn value(&self, name: &str) -> Result<Option<Piece<'a>>> {
        match self.find(name) {
            None => Ok(None),
            Some(Parameter { value: Some(value), .. }) if !value.is_empty() => Ok(Some(*value)),
            Some(Parameter { key, .. }) => fault(*key, Fault::NoParameterValue(name.to_owned())),
        }
    }

    /// Returns the value of a flag: true for a key alone, else its `true` or `false`.
    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        let Some(parameter) = self.find(name) else { return Ok(false) };
        let Some(value) = parameter.value else { return Ok(true) };
        truth(value.text).map_or_else(|| fault(value, Fault::NotBoolean(name.to_owned())), Ok)
    }

    /// Returns the value of a key; `alone` for a key without a value.
    pub(super) fn optional(&self, name: &str, alone: &'a str) -> Option<&'a str> {
        self.find(name).map(|parameter| parameter.value.map_or(alone, |value| value.text))
    }

    /// Returns the target of a content, if `output` is set. `write-mode` and `scope` belong to it.
    pub(super) fn route(&self) -> Result<Option<Route>> {
        let write_mode =
            self.value("write-mode")?.map(|value| checked(value, value.text.parse())).transpose()?;
        let Some(output) = self.value("output")? else { return Ok(None) };
        let mut route = Route::to(checked(output, Target::parse(output.text))?);
        (route.write_mode, route.scope) = (write_mode, self.scope()?);
        Ok(Some(route))
    }

    pub(super) fn scope(&self) -> Result<Option<Scope>> {
        self.value("scope")?.map(|value| checked(value, value.text.parse())).transpose()
    }
}

/// Parses a word for true or false.
pub(super) fn truth(word: &str) -> Option<bool> {
    match word.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}
