//! Translates jq programs that a query or a filter can express: paths, `select` after an iteration,
//! objects of plain names, and conditions.

use super::repair::MAX_REPAIR_LEN;
use super::strings::string_test;
use crate::parse::parser::{is_name_char, is_name_first};
use trommel_base::quote::write_quoted;

/// Returns the query that selects the values of a jq program. Returns `None` if the text has no
/// syntax that is specific to jq, or if no query can express it.
///
/// The result may need further repairs, such as quotes around names.
pub(in crate::parse) fn query(text: &str) -> Option<String> {
    if text.len() > MAX_REPAIR_LEN {
        return None;
    }
    let text = text.trim();
    // `[.a[] | .b]` collects into an array the values that a query returns one by one.
    if let Some(inner) = text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        let inner = inner.trim();
        let collected = inner.starts_with('.').then(|| query(inner).or_else(|| path(inner)))?;
        return collected.map(rooted);
    }
    let stages = split(text, "|");
    let has_own_words = stages.len() > 1 || text.starts_with('{') || split(text, "?").len() > 1;
    if !has_own_words {
        return None;
    }
    let mut segments = String::new();
    for stage in stages {
        let stage = stage.trim();
        if let Some(condition) = argument(stage, "select") {
            let collection = segments.strip_suffix("[*]")?;
            segments = format!("{collection}[?{}]", self::condition(condition)?);
        } else if let Some(names) = object(stage) {
            segments.push_str(&names);
        } else {
            segments.push_str(&path(stage)?);
        }
    }
    Some(rooted(segments))
}

/// Translates a condition of jq to a filter, with or without `select` around it.
pub(in crate::parse) fn filter(text: &str) -> Option<String> {
    if text.len() > MAX_REPAIR_LEN {
        return None;
    }
    let text = text.trim();
    match argument(text, "select") {
        Some(inner) => condition(inner),
        None if split(text, "||").len() == 1 && split(text, "|").len() > 1 => condition(text),
        None => None,
    }
}

/// Adds `$` before a query, unless it is there.
fn rooted(query: String) -> String {
    if query.starts_with('$') { query } else { format!("${query}") }
}

/// Translates a jq path to segments: `.a[]?` becomes `.a[*]`.
fn path(text: &str) -> Option<String> {
    if text == "." {
        return Some(String::new());
    }
    let is_path = text.starts_with(['.', '$']) && split(text, ",").len() == 1;
    let parts = if is_path { split(text, "?") } else { return None };
    let plain = |c: char| is_name_char(c) || ".$[]'\"-*".contains(c);
    let outside = |part: &&str| split(part, " ").len() == 1 && part.starts_with(plain) || part.is_empty();
    if !parts.iter().all(outside) || ["+", "/", "{", "("].iter().any(|word| split(text, word).len() > 1) {
        return None;
    }
    Some(parts.concat().replace("[]", "[*]"))
}

/// Translates `{a, b}` to `['a', 'b']`.
fn object(text: &str) -> Option<String> {
    let names = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut selectors = String::new();
    for name in names.split(',').map(str::trim) {
        if !name.starts_with(is_name_first) || !name.chars().all(is_name_char) {
            return None;
        }
        selectors.push_str(if selectors.is_empty() { "[" } else { ", " });
        write_quoted(&mut selectors, name).ok()?;
    }
    Some(selectors + "]")
}

/// Translates the condition of `select` to a filter. A pipe binds looser than `or`, and `or` looser
/// than `and`.
fn condition(text: &str) -> Option<String> {
    let text = text.trim();
    match split(text, "|").as_slice() {
        [_] => {}
        [left, right] if right.trim() == "not" => return condition(left).map(|inner| format!("!({inner})")),
        [left, right] => return piped(left.trim(), right.trim()),
        _ => return None,
    }
    for (word, operator) in [(" or ", " || "), (" and ", " && ")] {
        let parts = split(text, word);
        if parts.len() > 1 {
            return Some(parts.into_iter().map(condition).collect::<Option<Vec<_>>>()?.join(operator));
        }
    }
    match argument(text, "") {
        Some(inner) => condition(inner).map(|inner| format!("({inner})")),
        None => Some(comparison(text)),
    }
}

/// Translates a comparison, or a value alone, which jq tests for being present, not null, and not
/// false.
fn comparison(text: &str) -> String {
    let text = text.trim();
    if !text.starts_with('.') || text.contains(['=', '<', '>', '!', ' ', '(']) {
        return current(text);
    }
    let query = current(text);
    format!("{query} && {query} != null && {query} != false")
}

/// Translates `.a | test("x")` and `.a | length > 1`. `path` is the left side, and `text` the right
/// side.
fn piped(path: &str, text: &str) -> Option<String> {
    let is_single = [" and ", " or "].iter().all(|word| split(text, word).len() == 1);
    if !path.starts_with('.') || path.contains(' ') || !is_single {
        return None;
    }
    let query = &current(path);
    if let Some(rest) = text.strip_prefix("length") {
        return Some(format!("length({query}){rest}"));
    }
    let (name, rest) = text.split_once('(')?;
    let quoted = rest.strip_suffix(')')?.trim();
    let quote = quoted.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let plain = quoted.strip_prefix(quote)?.strip_suffix(quote)?;
    // The two languages escape differently, so only strings without escapes are translated.
    if plain.contains(['\\', quote]) {
        return None;
    }
    string_test(name.trim(), query, plain)
}

/// Translates a path that begins at the current value: `.a` becomes `@.a`.
fn current(text: &str) -> String {
    match text.strip_prefix('.') {
        Some(rest) if rest.is_empty() || rest.starts_with([' ', '=', '<', '>', '!']) => format!("@{rest}"),
        Some(_) => format!("@{text}"),
        None => text.to_owned(),
    }
}

/// Returns the text in the parentheses of a call, if the call is the whole text.
fn argument<'t>(text: &'t str, function: &str) -> Option<&'t str> {
    let inner = text.strip_prefix(function)?.trim_start().strip_prefix('(')?.strip_suffix(')')?;
    // `(a) or (b)` is not a call: its first parenthesis closes before the end.
    let mut open = 0_i32;
    let is_whole = inner.chars().all(|c| {
        open += i32::from(c == '(') - i32::from(c == ')');
        open >= 0
    });
    is_whole.then_some(inner)
}

/// Splits a text at the separators that are outside of strings, brackets, and parentheses.
fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut quote, mut skip) = (0, 0_usize, None, 0);
    for (at, c) in text.char_indices() {
        if at < skip {
            continue;
        }
        match (quote, c) {
            // An escaped quote does not end the string.
            (Some(_), '\\') => skip = at + 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, _) if depth == 0 && text[at..].starts_with(separator) => {
                parts.push(&text[start..at]);
                start = at + separator.len();
                skip = start;
            }
            (None, '[' | '(' | '{') => depth += 1,
            (None, ']' | ')' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
