//! Translates string tests of other languages (`startswith`, `contains`, `like`) to calls of
//! `match` and `search`.

use crate::regexp::Pattern;
use trommel_base::quote::write_quoted;

/// Returns the call that tests whether a query's string begins with, ends with, contains, or
/// matches `text`.
///
/// `name` is the name of the test in another language, in any case.
pub(super) fn string_test(name: &str, query: &str, text: &str) -> Option<String> {
    let (function, pattern) = match name.to_ascii_lowercase().as_str() {
        "startswith" | "starts_with" => ("search", "^".to_owned() + &literal(text)),
        "endswith" | "ends_with" => ("search", literal(text) + "$"),
        "contains" | "includes" => ("search", literal(text)),
        "like" => ("match", like(text)),
        "test" => ("search", to_i_regexp(text)?),
        _ => return None,
    };
    call(function, query, &pattern)
}

/// Returns a call of `function` with a query and a string.
pub(super) fn call(function: &str, query: &str, text: &str) -> Option<String> {
    let mut call = format!("{function}({query}, ");
    write_quoted(&mut call, text).ok()?;
    call.push(')');
    Some(call)
}

/// Translates the character classes of another regex engine. Returns `None` if the result is not an
/// I-Regexp.
pub(super) fn to_i_regexp(pattern: &str) -> Option<String> {
    let pattern = pattern.replace("\\d", "[0-9]").replace("\\w", "[A-Za-z0-9_]");
    let pattern = pattern.replace("\\s", "[ \\t\\r\\n]").replace("\\/", "/");
    Pattern::new(&pattern, false).ok()?;
    Some(pattern)
}

/// Returns a pattern that matches exactly the text.
pub(super) fn literal(text: &str) -> String {
    let mut pattern = String::new();
    text.chars().for_each(|c| push_literal(c, &mut pattern));
    pattern
}

/// Translates a pattern of SQL's `like`: `%` matches any text, and `_` any character.
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
        // I-Regexp has no escape for `$`.
        '$' => pattern.push_str("[$]"),
        _ => pattern.push(c),
    }
}
