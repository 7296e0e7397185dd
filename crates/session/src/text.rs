//! Texts of bounded length: truncation, and excerpts.

use std::borrow::Cow;
use std::ops::Range;

use trommel_base::text::{first, is_unsafe};

/// Truncates a text to `max` characters. If characters are removed, the last one is an ellipsis.
pub(crate) fn clipped(text: &str, max_chars: usize) -> Cow<'_, str> {
    if first(text, max_chars).len() == text.len() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", first(text, max_chars.saturating_sub(1))))
}

/// Returns text from a log as a label: truncated, on one line, with a replacement for each unsafe
/// character.
pub(crate) fn label(text: &str, max_chars: usize) -> String {
    let plain = text.chars().take(max_chars + 1).map(|c| if is_unsafe(c) { '\u{fffd}' } else { c });
    clipped(&plain.collect::<String>(), max_chars).into_owned()
}

/// Lists names in a sentence: `a, b and c`.
pub(crate) fn listed(names: &[&str], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., name] => format!("{} {last} {name}", others.join(", ")),
    }
}

/// Returns the range of a text that contains `hit` with `lines` lines around it, in at most `max`
/// characters.
pub(crate) fn around(text: &str, hit: Range<usize>, lines: usize, max_chars: usize) -> Range<usize> {
    let start = text[..hit.start].rmatch_indices('\n').nth(lines).map_or(0, |(at, _)| at + 1);
    let end = text[hit.end..].match_indices('\n').nth(lines).map_or(text.len(), |(at, _)| hit.end + at);
    narrow(text, start..end, hit, max_chars)
}

/// Narrows a range to at most `max` characters, removing from both ends, and from `hit` last.
fn narrow(text: &str, whole: Range<usize>, hit: Range<usize>, max_chars: usize) -> Range<usize> {
    let chars = |range: Range<usize>| text[range].chars().count();
    let hit_end = match text[hit.clone()].char_indices().nth(max_chars) {
        Some((at, _)) => hit.start + at,
        None => hit.end,
    };
    let spare = max_chars - chars(hit.start..hit_end).min(max_chars);
    let (before, after) = (chars(whole.start..hit.start), chars(hit_end..whole.end));
    // Each side gets half of the spare characters, and those that the other side does not need.
    let before = before.min((spare / 2).max(spare.saturating_sub(after)));
    let after = after.min(spare - before);
    let head = &text[whole.start..hit.start];
    let tail = &text[hit_end..whole.end];
    let start = match before {
        0 => hit.start,
        _ => head.char_indices().rev().nth(before - 1).map_or(whole.start, |(at, _)| whole.start + at),
    };
    let end = tail.char_indices().nth(after).map_or(whole.end, |(at, _)| hit_end + at);
    start..end
}

/// For figures that are omitted from JSON if they are zero.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
pub(crate) fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_truncation() {
        assert_eq!(clipped("abc", 3), "abc");
        assert_eq!(clipped("abcd", 3), "ab…");
        assert_eq!(clipped("äöü", 2), "ä…");
        assert_eq!(label("a\nb\u{1b}", 9), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn excerpt_has_surrounding_lines() {
        let text = "one\ntwo\nthree\nfour\nfive";
        let hit = text.find("three").unwrap();
        let part = |lines, max_chars| &text[around(text, hit..hit + 5, lines, max_chars)];
        assert_eq!(part(0, 100), "three");
        assert_eq!(part(1, 100), "two\nthree\nfour");
        assert_eq!(part(9, 100), text);
        assert_eq!(part(9, 5), "three");
        assert_eq!(part(9, 9), "o\nthree\nf");
        assert_eq!(part(9, 3), "thr");
    }

    #[test]
    fn unused_space_goes_to_the_other_side() {
        let text = "ab hit and much more";
        assert_eq!(&text[around(text, 3..6, 0, 10)], "ab hit and");
        let text = "much more and hit";
        assert_eq!(&text[around(text, 14..17, 0, 10)], "re and hit");
    }
}
