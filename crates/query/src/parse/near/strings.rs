//! Tests of strings in other languages (`startswith`, `contains`, `like`), as calls of `match` and
//! `search`.

use crate::display::write_quoted;
use crate::regexp::Pattern;

/// Returns the call that tests whether a query's string begins with, ends with, contains or matches
/// `text`.
///
/// `name` is the name that another language has for the test, in any case.
pub(super) fn string_test(name: &str, query: &str, text: &str) -> Option<String> {
    let (function, pattern) = match name.to_ascii_lowercase().as_str() {
        "startswith" | "starts_with" => ("search", "^".to_owned() + &literal(text)),
        "endswith" | "ends_with" => ("search", literal(text) + "$"),
        "contains" | "includes" => ("search", literal(text)),
        "like" => ("match", like(text)),
        "test" => ("search", portable(text)?),
        _ => return None,
    };
    call(function, query, &pattern)
}

/// A call of `function` with a query and a string.
pub(super) fn call(function: &str, query: &str, text: &str) -> Option<String> {
    let mut call = format!("{function}({query}, ");
    write_quoted(&mut call, text).ok()?;
    call.push(')');
    Some(call)
}

/// A regular expression of another language as an I-Regexp, if it is one after its classes are
/// written out.
pub(super) fn portable(pattern: &str) -> Option<String> {
    let pattern = pattern.replace("\\d", "[0-9]").replace("\\w", "[A-Za-z0-9_]");
    let pattern = pattern.replace("\\s", "[ \\t\\r\\n]").replace("\\/", "/");
    Pattern::new(&pattern, false).ok()?;
    Some(pattern)
}

/// A pattern that matches just the text.
pub(super) fn literal(text: &str) -> String {
    let mut pattern = String::new();
    text.chars().for_each(|c| push_literal(c, &mut pattern));
    pattern
}

/// The pattern of SQL's `like`: `%` is any text, `_` any character.
fn like(text: &str) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        match c {
            '%' => pattern.push_str(".*"),
            '_' => pattern.push('.'),
            c => push_literal(c, &mut pattern),
        }
    }
    pattern
}

fn push_literal(c: char, pattern: &mut String) {
    match c {
        '(' | ')' | '*' | '+' | '.' | '?' | '[' | ']' | '\\' | '{' | '}' | '|' | '^' => {
            pattern.extend(['\\', c]);
        }
        '$' => pattern.push_str("[$]"),
        _ => pattern.push(c),
    }
}
