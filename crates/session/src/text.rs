//! Texts of bounded length: beginnings, and what surrounds a place.

use std::borrow::Cow;
use std::ops::Range;

use trommel_base::text::{first, is_unsafe};

/// Clips a text to `most` characters, of which the last is an ellipsis where something is left out.
pub(crate) fn clipped(text: &str, most: usize) -> Cow<'_, str> {
    if first(text, most).len() == text.len() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", first(text, most.saturating_sub(1))))
}

/// Returns a text of a log as a label: clipped, on one line, with a mark for each unsafe character.
pub(crate) fn label(text: &str, most: usize) -> String {
    let plain = text.chars().take(most + 1).map(|c| if is_unsafe(c) { '\u{fffd}' } else { c });
    clipped(&plain.collect::<String>(), most).into_owned()
}

/// Lists names in a sentence: `a, b and c`.
pub(crate) fn listed(names: &[&str], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., name] => format!("{} {last} {name}", others.join(", ")),
    }
}

/// The part of a text that shows `hit` with so many lines around it, and at most so many
/// characters.
pub(crate) fn around(text: &str, hit: Range<usize>, lines: usize, most: usize) -> Range<usize> {
    let start = text[..hit.start].rmatch_indices('\n').nth(lines).map_or(0, |(at, _)| at + 1);
    let end = text[hit.end..].match_indices('\n').nth(lines).map_or(text.len(), |(at, _)| hit.end + at);
    narrow(text, start..end, hit, most)
}

/// Takes away from both ends until so many characters are left, those of `hit` last.
fn narrow(text: &str, whole: Range<usize>, hit: Range<usize>, most: usize) -> Range<usize> {
    let chars = |range: Range<usize>| text[range].chars().count();
    let hit_end = match text[hit.clone()].char_indices().nth(most) {
        Some((at, _)) => hit.start + at,
        None => hit.end,
    };
    let spare = most - chars(hit.start..hit_end).min(most);
    let (before, behind) = (chars(whole.start..hit.start), chars(hit_end..whole.end));
    let before = before.min((spare / 2).max(spare.saturating_sub(behind)));
    let behind = behind.min(spare - before);
    let head = &text[whole.start..hit.start];
    let tail = &text[hit_end..whole.end];
    let start = match before {
        0 => hit.start,
        _ => head.char_indices().rev().nth(before - 1).map_or(whole.start, |(at, _)| whole.start + at),
    };
    let end = tail.char_indices().nth(behind).map_or(whole.end, |(at, _)| hit_end + at);
    start..end
}

/// For figures that are left out where there is nothing to tell.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
pub(crate) fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_seen() {
        assert_eq!(clipped("abc", 3), "abc");
        assert_eq!(clipped("abcd", 3), "ab…");
        assert_eq!(clipped("äöü", 2), "ä…");
        assert_eq!(label("a\nb\u{1b}", 9), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn lines_around_a_place() {
        let text = "one\ntwo\nthree\nfour\nfive";
        let hit = text.find("three").unwrap();
        let part = |lines, most| &text[around(text, hit..hit + 5, lines, most)];
        assert_eq!(part(0, 100), "three");
        assert_eq!(part(1, 100), "two\nthree\nfour");
        assert_eq!(part(9, 100), text);
        assert_eq!(part(9, 5), "three");
        assert_eq!(part(9, 9), "o\nthree\nf");
        assert_eq!(part(9, 3), "thr");
    }

    #[test]
    fn room_that_one_side_does_not_need_goes_to_the_other() {
        let text = "ab hit and much more";
        assert_eq!(&text[around(text, 3..6, 0, 10)], "ab hit and");
        let text = "much more and hit";
        assert_eq!(&text[around(text, 14..17, 0, 10)], "re and hit");
    }
}
