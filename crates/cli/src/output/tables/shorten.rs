//! Shortens and wraps texts to a number of columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Cuts a text at its end.
pub(super) fn end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (head, _) = split(text, width.saturating_sub(1));
    format!("{head}…")
}

/// Omits segments in the middle of a path or query. If even the last segment is too long, it is cut
/// at its end.
pub(super) fn path(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let segments = segments(text);
    let [first, .., last] = segments.as_slice() else { return end(text, width) };
    let mut free = width.saturating_sub(first.width() + 1);
    if last.width() > free {
        return format!("{first}…{}", end(last, free.max(2)));
    }
    // The end of a path distinguishes it, so segments are added there first.
    let (mut head, mut tail, mut is_tail) = (1, 0, true);
    while head + tail < segments.len() {
        let next = if is_tail { segments.len() - 1 - tail } else { head };
        if segments[next].width() <= free {
            free -= segments[next].width();
            if is_tail { tail += 1 } else { head += 1 }
        } else if !is_tail {
            break;
        }
        is_tail = !is_tail;
    }
    format!("{}…{}", segments[..head].concat(), segments[segments.len() - tail..].concat())
}

/// Splits a query before each dot and bracket that is outside of brackets.
fn segments(text: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut start, mut escapes) = (0_usize, None, 0, false);
    let mut segments = Vec::new();
    for (at, c) in text.char_indices() {
        // A backslash escapes the next character, unless it is escaped itself.
        let is_escaped = escapes;
        escapes = c == '\\' && !is_escaped;
        match (quote, c) {
            (Some(open), _) if c == open && !is_escaped => quote = None,
            (None, '\'' | '"') if depth > 0 => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        let opens = c == '[' && depth == 1 && quote.is_none();
        // Two dots belong together, and so do dots and a bracket.
        let continues = at > start && text[start..at].bytes().all(|byte| byte == b'.');
        if at > start && !continues && (opens || c == '.' && depth == 0) {
            segments.push(&text[start..at]);
            start = at;
        }
    }
    segments.push(&text[start..]);
    segments
}

/// Breaks a text at spaces into lines of at most `width` columns. Longer words are split.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut word = word;
        while !word.is_empty() {
            let line = lines.last_mut().map_or(0, |line| line.width());
            let gap = usize::from(line > 0);
            if line + gap + word.width() > width && line > 0 {
                lines.push(String::new());
                continue;
            }
            let (head, rest) = split(word, width.saturating_sub(line + gap));
            if let Some(line) = lines.last_mut() {
                line.push_str(if gap > 0 { " " } else { "" });
                line.push_str(head);
            }
            word = rest;
        }
    }
    lines
}

/// Joins items by commas in lines of at most `width` columns, breaking between items only.
pub(super) fn list(items: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let comma = if number + 1 < items.len() { "," } else { "" };
        match lines.last_mut().filter(|line| line.width() + item.width() + 2 <= width) {
            Some(line) => line.extend([" ", item, comma]),
            None => lines.push(format!("{item}{comma}")),
        }
    }
    lines
}

/// Splits a text after at most `width` columns, but not before its first character.
fn split(text: &str, width: usize) -> (&str, &str) {
    let mut taken = 0;
    let past = text.char_indices().find(|(at, c)| {
        taken += c.width().unwrap_or(0);
        taken > width && *at > 0
    });
    text.split_at(past.map_or(text.len(), |(at, _)| at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_the_end() {
        assert_eq!(end("abcdef", 6), "abcdef");
        assert_eq!(end("abcdef", 5), "abcd…");
        assert_eq!(end("日本語", 5), "日本…");
        assert_eq!(end("日本語", 1), "日…");
    }

    #[test]
    fn paths_lose_their_middle() {
        let long = "$.log.entries[*].response.content.size";
        let cases = [
            (38, long),
            (37, "$.log.entries….response.content.size"),
            (30, "$.log.entries[*]….content.size"),
            (20, "$.log….content.size"),
            (12, "$.log….size"),
            (8, "$….size"),
            (6, "$….si…"),
        ];
        for (width, expected) in cases {
            assert_eq!(path(long, width), expected);
            assert!(path(long, width).width() <= width);
        }
        assert_eq!(path("$['a.b.c'][*]['it\\'s [x]'].n", 14), "$['a.b.c']….n");
        assert_eq!(path(&"n".repeat(20), 10), format!("{}…", "n".repeat(9)));
        assert_eq!(path("$.a[?@.b > 1 && @['x]'] == \"[\"].c", 12), "$.a….c");
    }

    #[test]
    fn segments_end_outside_of_brackets() {
        assert_eq!(segments("$.a[*]['b.c[0]'].d"), ["$", ".a", "[*]", "['b.c[0]']", ".d"]);
        assert_eq!(segments("$..a..['b']"), ["$", "..a", "..['b']"]);
        assert_eq!(segments("$[?@.a == ']' && @['\\'']].b"), ["$", "[?@.a == ']' && @['\\'']]", ".b"]);
        assert_eq!(segments(""), [""]);
    }

    #[test]
    fn words_wrap() {
        assert_eq!(wrap("some words and more", 10), ["some words", "and more"]);
        assert_eq!(wrap("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrap("", 4), [""]);
        let items = ["1,234 objects", "5 arrays", "6 strings"].map(str::to_owned);
        assert_eq!(list(&items, 25), ["1,234 objects, 5 arrays,", "6 strings"]);
        assert_eq!(list(&items, 10), ["1,234 objects,", "5 arrays,", "6 strings"]);
    }
}
