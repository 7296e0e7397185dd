//! Lists of parameters in parentheses: `(output=variable:foo, write-mode=replace, required)`.
//!
//! A quoted value may contain commas and parentheses; an unquoted one may contain balanced
//! parentheses. A quote counts only at the start of a value, so `bob's notes` needs no quotes.

use super::piece::Piece;

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter<'a> {
    pub(super) key: Piece<'a>,
    /// The text after `=`, without its quotes; `None` for a key without a value.
    pub(super) value: Option<Piece<'a>>,
    /// True if the value was quoted, so that its contents are taken literally.
    pub(super) is_quoted: bool,
}

impl Parameter<'_> {
    /// Returns the key in its canonical form: in lower case, with `-`.
    pub(super) fn name(&self) -> String {
        self.key.text.to_ascii_lowercase().replace('_', "-")
    }
}

/// The result of reading a list of parameters.
#[derive(Debug)]
pub(super) enum List<'a> {
    /// A list, and the text after it.
    Whole(Vec<Parameter<'a>>, Piece<'a>),
    /// The list is closed, but malformed from `at` on.
    Malformed { at: Piece<'a>, rest: Piece<'a> },
    /// It is not closed.
    Open,
}

/// Reads a list. The piece starts with the opening parenthesis.
pub(super) fn read(piece: Piece<'_>) -> List<'_> {
    let mut parameters = Vec::new();
    let mut rest = piece.from(1);
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.text.strip_prefix(')') {
            return List::Whole(parameters, rest.from(rest.text.len() - after.len()));
        }
        if rest.is_empty() {
            return List::Open;
        }
        let Some((parameter, after)) = item(rest) else { return malformed(piece, rest) };
        parameters.push(parameter);
        let after = after.trim_start();
        rest = match after.text.chars().next() {
            Some(',') => after.from(1),
            Some(')') => after,
            None => return List::Open,
            Some(_) => return malformed(piece, after),
        };
    }
}

/// Returns a malformed list with the text after its closing parenthesis, ignoring quotes.
fn malformed<'a>(piece: Piece<'a>, at: Piece<'a>) -> List<'a> {
    match closing(piece.from(1)) {
        Some(end) => List::Malformed { at, rest: piece.from(1 + end + 1) },
        None => List::Open,
    }
}

/// Reads one parameter, and returns it with the text after it.
fn item(piece: Piece<'_>) -> Option<(Parameter<'_>, Piece<'_>)> {
    if let Some((inside, after)) = piece.quoted() {
        return Some((Parameter { key: inside.trim(), value: None, is_quoted: true }, after));
    }
    let end = plain(piece, true)?;
    let whole = piece.to(end);
    let Some(equals) = whole.text.find('=') else {
        return Some((Parameter { key: whole.trim(), value: None, is_quoted: false }, piece.from(end)));
    };
    let key = whole.to(equals).trim();
    let value = piece.from(equals + 1).trim_start();
    if let Some('"' | '\'') = value.text.chars().next() {
        let (inside, after) = value.quoted()?;
        Some((Parameter { key, value: Some(inside), is_quoted: true }, after))
    } else {
        let end = plain(value, false)?;
        let parameter = Parameter { key, value: Some(value.to(end).trim()), is_quoted: false };
        Some((parameter, value.from(end)))
    }
}

/// Returns the end of an unquoted value: before a comma, before the parenthesis that closes the
/// list, or, if a key precedes the value, before a quote that starts it.
fn plain(piece: Piece<'_>, keyed: bool) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before_value = false;
    for (at, c) in piece.text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' | ',' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            // The caller reads the quoted value itself.
            '"' | '\'' if before_value => return Some(at),
            _ => {}
        }
        before_value = keyed && (c == '=' || (before_value && c.is_whitespace()));
    }
    None
}

/// Returns the offset of the parenthesis that closes the group before `piece`.
fn closing(piece: Piece<'_>) -> Option<usize> {
    let mut depth = 0_usize;
    piece.text.char_indices().find_map(|(at, c)| match c {
        '(' => {
            depth += 1;
            None
        }
        ')' if depth == 0 => Some(at),
        ')' => {
            depth -= 1;
            None
        }
        _ => None,
    })
}
