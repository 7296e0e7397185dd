//! The known names that resemble an unknown one.

use std::cmp::Ordering;

/// The least similarity at which one name is suggested for another.
const LIKENESS: f64 = 0.72;

/// Shortest word that is looked for inside another.
const WORD: usize = 3;

/// Returns the names most similar to a word, the most similar first, at most `max`. Returns none rather than a far-fetched one.
///
/// A name with dots is as similar to a word as its last part is, with or without the parts before it.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, max: usize) -> Vec<&'a str> {
    let plain_word = plain(word);
    let scored = known.into_iter().map(|name| (likeness_of_parts(&plain_word, name), name));
    let mut near = scored.filter(|(score, _)| *score >= LIKENESS).collect::<Vec<_>>();
    near.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal).then_with(|| a.1.cmp(b.1)));
    near.into_iter().take(max).map(|(_, name)| name).collect()
}

/// Returns the name most similar to a word.
pub fn nearest_one<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(word, known, 1).into_iter().next()
}

/// A name without what people forget: case, and what stands between words. Very long ones resemble nothing.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric()).take(128);
    letters.flat_map(char::to_lowercase).collect()
}

/// The likeness of a word to a name, of which the parts before the last dot count for nothing where the word has them too,
/// and may be left out.
fn likeness_of_parts(word: &str, name: &str) -> f64 {
    let whole = plain(name);
    let Some((front, last)) = name.rsplit_once('.') else { return likeness(word, &whole) };
    let (front, last) = (plain(front), plain(last));
    match word.strip_prefix(&front).filter(|rest| !front.is_empty() && !rest.is_empty()) {
        Some(rest) => likeness(rest, &last),
        None => likeness(word, &whole).max(likeness(word, &last)),
    }
}

/// From 0 for nothing in common to 1 for equal.
fn likeness(a: &str, b: &str) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let edits = strsim::normalized_damerau_levenshtein(a, b);
    let letters = |word: &str| word.chars().count();
    let is_inside = letters(short) >= WORD && (long.ends_with(short) || long.starts_with(short));
    // In a short word one slip weighs more than it should.
    let is_slip = letters(long) >= WORD
        && short.chars().next() == long.chars().next()
        && strsim::damerau_levenshtein(a, b) == 1;
    match (is_inside, is_slip) {
        (true, _) => edits.max(0.75 + 0.25 * short.len() as f64 / long.len() as f64),
        (false, true) => edits.max(LIKENESS),
        _ => edits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [&str; 6] =
        ["Bash", "Read", "Task", "WebSearch", "tool_outputs.extract", "tool_outputs.list"];

    #[test]
    fn slips_are_understood() {
        assert_eq!(nearest_one("Raed", TOOLS), Some("Read"));
        assert_eq!(nearest_one("bash", TOOLS), Some("Bash"));
        assert_eq!(nearest_one("web_search", TOOLS), Some("WebSearch"));
        assert_eq!(nearest_one("extract", TOOLS), Some("tool_outputs.extract"));
        assert_eq!(nearest_one("extractt", TOOLS), Some("tool_outputs.extract"));
        assert_eq!(nearest("tool_outputs.lst", TOOLS, 3), ["tool_outputs.list"]);
        assert_eq!(nearest_one("openal", ["openai", "anthropic"]), Some("openai"));
        assert_eq!(nearest_one("ad", ["add", "all"]), Some("add"));
    }

    #[test]
    fn a_common_front_makes_no_likeness() {
        let tools = ["tool_outputs.stats", "tool_outputs.extract", "tool_outputs.list", "buffer_ops"];
        for word in ["extarct", "tool_outputs.extarct", "tool_outputs_extarct"] {
            assert_eq!(nearest(word, tools, 3), ["tool_outputs.extract"], "{word}");
        }
        assert_eq!(nearest("tool_outputs.unknown", tools, 3), [""; 0]);
    }

    #[test]
    fn silly_ones_are_not_suggested() {
        assert_eq!(nearest_one("UnknownTool", TOOLS), None);
        assert_eq!(nearest_one("x", TOOLS), None);
        assert_eq!(nearest_one("", TOOLS), None);
        assert_eq!(nearest_one("unknown", ["openai", "anthropic", "langchain"]), None);
        assert_eq!(nearest_one("id", ["paths", "limit", "in"]), None);
        assert_eq!(nearest_one("get", ["set", "goto"]), None);
    }

    #[test]
    fn the_likest_come_first_and_equals_by_name() {
        assert_eq!(nearest("path", ["paths", "pat", "path_b", "path_a"], 3), ["path_a", "path_b", "paths"]);
    }
}
