//! Wraps lines to a width.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Appends a text in lines of at most `width` columns: the first with `lead` before it, the others
/// indented as far.
///
/// Lines break at spaces, which are dropped there and kept elsewhere. A word longer than a line is
/// split between graphemes. A lead that takes more than half of the width becomes part of the text.
pub(crate) fn wrap(lead: &str, text: &str, width: usize, lines: &mut Vec<String>) {
    let whole = [lead, text].concat();
    if whole.width() <= width {
        lines.push(whole.trim_end_matches(' ').to_owned());
        return;
    }
    let indent = lead.width();
    if indent * 2 <= width {
        return fill(lead, text, &" ".repeat(indent), width, lines);
    }
    let text = whole.trim_start_matches(' ');
    let own = " ".repeat((whole.len() - text.len()).min(width / 4));
    fill(&own, text, &format!("{own}  "), width, lines);
}

fn fill(lead: &str, text: &str, indent: &str, width: usize, lines: &mut Vec<String>) {
    let mut line = lead.to_owned();
    let mut taken = lead.width();
    // True if the line has more than its lead.
    let mut begun = false;
    let mut spaces = 0;
    for (at, word) in text.split(' ').enumerate() {
        spaces += usize::from(at > 0);
        if word.is_empty() {
            continue;
        }
        let length = word.width();
        if taken + spaces + length <= width {
            line.extend(std::iter::repeat_n(' ', spaces));
            line.push_str(word);
            taken += spaces + length;
        } else {
            if begun {
                lines.push(std::mem::replace(&mut line, indent.to_owned()));
                taken = indent.len();
            }
            let (mut head, mut rest) = cut(word, width - taken);
            while !rest.is_empty() {
                line.push_str(head);
                lines.push(std::mem::replace(&mut line, indent.to_owned()));
                taken = indent.len();
                (head, rest) = cut(rest, width - taken);
            }
            line.push_str(head);
            taken += head.width();
        }
        begun = true;
        spaces = 0;
    }
    lines.push(line.trim_end_matches(' ').to_owned());
}

/// Splits a word at `room` columns, after at least one character.
///
/// It measures no more than the part that may fit, so that wrapping a long word takes linear time.
fn cut(word: &str, room: usize) -> (&str, &str) {
    // The bound also applies to a character with very many combining marks, which is split.
    let end = word.char_indices().nth(room * 4 + 16).map_or(word.len(), |(at, _)| at);
    let window = &word[..end];
    if window.width() <= room {
        return word.split_at(end);
    }
    let mut width = 0;
    let fits = window.graphemes(true).take_while(|grapheme| {
        width += grapheme.width();
        width <= room
    });
    let length = fits.map(str::len).sum::<usize>();
    let first = word.chars().next().map_or(0, char::len_utf8);
    word.split_at(length.max(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(lead: &str, text: &str, width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        wrap(lead, text, width, &mut lines);
        lines
    }

    #[test]
    fn lines_hang_under_the_first() {
        let text = "must be one of ['openai', 'anthropic', 'langchain']";
        let expected =
            ["Error: must be one of", "       ['openai',", "       'anthropic',", "       'langchain']"];
        assert_eq!(wrapped("Error: ", text, 22), expected);
        assert_eq!(wrapped("Error: ", "short", 22), ["Error: short"]);
        assert_eq!(wrapped("", "", 22), [""]);
        assert_eq!(wrapped("  ", "", 22), [""]);
    }

    #[test]
    fn long_words_are_cut() {
        assert_eq!(wrapped("", &"x".repeat(25), 10), ["x".repeat(10), "x".repeat(10), "x".repeat(5)]);
        assert_eq!(wrapped("> ", "ab 0123456789", 10), ["> ab", "  01234567", "  89"]);
        // A word as long as the line, and words after a long one.
        assert_eq!(wrapped("", "0123456789 b", 10), ["0123456789", "b"]);
        assert_eq!(wrapped("", "0123456789a b", 10), ["0123456789", "a b"]);
    }

    #[test]
    fn spaces_stay_but_at_breaks() {
        assert_eq!(wrapped("", "a  b    c", 6), ["a  b", "c"]);
        assert_eq!(wrapped("", "a  b", 6), ["a  b"]);
        assert_eq!(wrapped("", "abcdef   ", 6), ["abcdef"]);
    }

    #[test]
    fn wide_and_joined_characters_stay_whole() {
        assert_eq!(wrapped("", "日本語日本語", 5), ["日本", "語日", "本語"]);
        let family = "👨\u{200d}👩\u{200d}👧";
        assert_eq!(wrapped("", &family.repeat(3), 5), [family.repeat(2), family.to_owned()]);
        assert_eq!(wrapped("", &"e\u{301}".repeat(7), 5), ["e\u{301}".repeat(5), "e\u{301}".repeat(2)]);
        for line in wrapped("", &"x\u{301}\u{302}".repeat(500), 7) {
            assert!(line.width() <= 7 && line.starts_with('x'));
        }
    }

    #[test]
    fn a_flood_of_marks_ends() {
        let flood = format!("a{}", "\u{301}".repeat(10_000));
        let lines = wrapped("", &flood.repeat(2), 4);
        assert_eq!(lines.concat(), flood.repeat(2));
    }

    #[test]
    fn a_wide_lead_is_text() {
        assert_eq!(wrapped("  a_very_long_name ", "some text", 24), ["  a_very_long_name some", "    text"]);
    }

    #[test]
    fn wrapping_a_long_word_takes_linear_time() {
        let lines = wrapped("", &"x".repeat(1_000_000), 67);
        assert_eq!(lines.len(), 1_000_000_usize.div_ceil(67));
    }
}
