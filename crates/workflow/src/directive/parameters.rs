//! Lists of parameters in parentheses: `(output=variable:foo, write-mode=replace, required)`.
//!
//! A value may be quoted, and then hold commas and parentheses; without quotes it may hold
//! parentheses that are balanced. A quote counts where a value begins and nowhere else, so that
//! `bob's notes` needs none.

use super::piece::Piece;

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter<'a> {
    pub(super) key: Piece<'a>,
    /// The text after `=`, without its quotes; nothing for a bare key.
    pub(super) value: Option<Piece<'a>>,
    /// True if the value was in quotes, so that it means itself whatever is in it.
    pub(super) is_quoted: bool,
}

impl Parameter<'_> {
    /// The key as it is compared: in small letters, with `-`.
    pub(super) fn name(&self) -> String {
        self.key.text.to_ascii_lowercase().replace('_', "-")
    }
}

/// What stands behind an opening parenthesis.
#[derive(Debug)]
pub(super) enum List<'a> {
    /// A list, and what follows it.
    Whole(Vec<Parameter<'a>>, Piece<'a>),
    /// It is closed, but what stands in it is no list from this place on.
    Malformed { at: Piece<'a>, rest: Piece<'a> },
    /// It is not closed.
    Open,
}

/// Reads a list; the piece begins with its parenthesis.
pub(super) fn read(piece: Piece<'_>) -> List<'_> {
    let mut parameters = Vec::new();
    let mut rest = piece.from(1);
    loop {
        rest = rest.trim_start();
        if let Some(behind) = rest.text.strip_prefix(')') {
            return List::Whole(parameters, rest.from(rest.text.len() - behind.len()));
        }
        if rest.is_empty() {
            return List::Open;
        }
        let Some((parameter, behind)) = item(rest) else { return malformed(piece, rest) };
        parameters.push(parameter);
        let behind = behind.trim_start();
        rest = match behind.text.chars().next() {
            Some(',') => behind.from(1),
            Some(')') => behind,
            None => return List::Open,
            Some(_) => return malformed(piece, behind),
        };
    }
}

/// What is no list, with what follows the parenthesis that closes it, quotes aside.
fn malformed<'a>(piece: Piece<'a>, at: Piece<'a>) -> List<'a> {
    match closing(piece.from(1)) {
        Some(end) => List::Malformed { at, rest: piece.from(1 + end + 1) },
        None => List::Open,
    }
}

/// One parameter, and what follows it.
fn item(piece: Piece<'_>) -> Option<(Parameter<'_>, Piece<'_>)> {
    if let Some((inside, behind)) = piece.quoted() {
        return Some((Parameter { key: inside.trim(), value: None, is_quoted: true }, behind));
    }
    let end = plain(piece, true)?;
    let whole = piece.to(end);
    let Some(equals) = whole.text.find('=') else {
        return Some((Parameter { key: whole.trim(), value: None, is_quoted: false }, piece.from(end)));
    };
    let key = whole.to(equals).trim();
    let value = piece.from(equals + 1).trim_start();
    if let Some('"' | '\'') = value.text.chars().next() {
        let (inside, behind) = value.quoted()?;
        Some((Parameter { key, value: Some(inside), is_quoted: true }, behind))
    } else {
        let end = plain(value, false)?;
        let parameter = Parameter { key, value: Some(value.to(end).trim()), is_quoted: false };
        Some((parameter, value.from(end)))
    }
}

/// Where a value without quotes ends: before a comma, the parenthesis that closes the list, or,
/// where there is a key before the value, a quote that begins it.
fn plain(piece: Piece<'_>, keyed: bool) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before_value = false;
    for (at, c) in piece.text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' | ',' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            // What is quoted is read as such by whoever asked.
            '"' | '\'' if before_value => return Some(at),
            _ => {}
        }
        before_value = keyed && (c == '=' || (before_value && c.is_whitespace()));
    }
    None
}

/// The parenthesis that closes what is open before a text.
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
