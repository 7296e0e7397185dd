//! Suggestions: the known names that resemble an unknown one.

use std::collections::BTreeSet;

/// Minimum similarity of a suggestion.
const MIN_SIMILARITY: f64 = 0.72;

/// Minimum length of a word that counts as a prefix or suffix of another, in characters.
const MIN_AFFIX: usize = 3;

/// Returns at most `max` names that resemble a word, the most similar first; equally similar ones
/// in alphabetical order. Returns none rather than a far-fetched one.
///
/// Case and the separators between the words of a name do not matter. For a name with dots, the
/// last part may match on its own, with or without the parts before it.
/// similar to a word as its last part is, with or without the parts before it.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, max: usize) -> Vec<&'a str> {
    let word = Word { raw: word, normalized: normalized(word) };
    let scored = known.into_iter().map(|name| (word.similarity(name), name));
    let mut near = scored.filter(|(score, _)| *score >= MIN_SIMILARITY).collect::<Vec<_>>();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    near.into_iter().take(max).map(|(_, name)| name).collect()
}

/// Returns the name most similar to a word.
pub fn nearest_one<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(word, known, 1).into_iter().next()
}

/// A name in lower case, without separators. Characters after the 128th are ignored.
fn normalized(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric()).take(128);
    letters.flat_map(char::to_lowercase).collect()
}

/// An unknown word.
struct Word<'a> {
    raw: &'a str,
    normalized: String,
}

impl Word<'_> {
    /// The similarity to a name.
    fn similarity(&self, name: &str) -> f64 {
        let whole = normalized(name);
        let Some((front, last)) = name.rsplit_once('.') else { return similarity(&self.normalized, &whole) };
        let (front, last) = (normalized(front), normalized(last));
        if let Some(rest) = self.after(&front) {
            return similarity(&normalized(rest), &last);
        }
        // A word with a dot has a prefix of its own; and the last part of a file name is only its
        // type.
        let alone = if self.raw.contains('.') || last.len() < self.normalized.len() {
            edits(&self.normalized, &last)
        } else {
            similarity(&self.normalized, &last)
        };
        similarity(&self.normalized, &whole).max(alone)
    }

    /// Returns the rest of the word after the parts of `front` and a separator.
    fn after(&self, front: &str) -> Option<&str> {
        let mut front = front.chars().peekable();
        front.peek()?;
        for (at, c) in self.raw.char_indices() {
            if !c.is_alphanumeric() {
                if front.peek().is_none() {
                    return Some(&self.raw[at..]).filter(|rest| rest.contains(char::is_alphanumeric));
                }
                continue;
            }
            if !c.to_lowercase().all(|lower| front.next() == Some(lower)) {
                return None;
            }
        }
        None
    }
}

/// The similarity of two normalized names: from 0 for nothing in common to 1 for equal.
fn similarity(a: &str, b: &str) -> f64 {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    // A prefix or suffix scores at least 0.75, whatever the edit distance: `user` suggests `users`,
    // `extract` suggests `extract_all`.
    let is_inside = short.chars().count() >= MIN_AFFIX && (long.ends_with(short) || long.starts_with(short));
    let inside = if is_inside { 0.75 + 0.25 * short.len() as f64 / long.len() as f64 } else { 0.0 };
    inside.max(edits(a, b))
}

/// The similarity by edit distance; 0 if the words differ too much.
fn edits(a: &str, b: &str) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    if a == b {
        return 1.0;
    }
    let (count_a, count_b) = (a.chars().count(), b.chars().count());
    let (least, most) = (count_a.min(count_b), count_a.max(count_b));
    match most {
        // In a short word another letter makes another word: `get` and `set`, `id` and `idx`. Only
        // a doubled letter, a missing double, or two swapped letters count.
        3 if letters(a) == letters(b) && strsim::damerau_levenshtein(a, b) == 1 => MIN_SIMILARITY,
        0..=3 => 0.0,
        4 if a.chars().next() != b.chars().next() => 0.0,
        // The difference in length alone exceeds the allowed edits.
        _ if (least as f64) < MIN_SIMILARITY * most as f64 => 0.0,
        _ => strsim::normalized_damerau_levenshtein(a, b),
    }
}

/// The set of letters of a word.
fn letters(word: &str) -> BTreeSet<char> {
    word.chars().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [&str; 6] =
        ["Bash", "Read", "Task", "WebSearch", "tool_outputs.extract", "tool_outputs.list"];

    #[test]
    fn suggests_the_intended_name() {
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
    fn a_common_prefix_is_not_a_similarity() {
        let tools = ["tool_outputs.stats", "tool_outputs.extract", "tool_outputs.list", "buffer_ops"];
        for word in ["extarct", "tool_outputs.extarct", "tool_outputs_extarct"] {
            assert_eq!(nearest(word, tools, 3), ["tool_outputs.extract"], "{word}");
        }
        assert_eq!(nearest("tool_outputs.unknown", tools, 3), [""; 0]);
    }

    #[test]
    fn rejects_far_fetched_suggestions() {
        assert_eq!(nearest_one("UnknownTool", TOOLS), None);
        assert_eq!(nearest_one("x", TOOLS), None);
        assert_eq!(nearest_one("", TOOLS), None);
        assert_eq!(nearest_one("unknown", ["openai", "anthropic", "langchain"]), None);
        assert_eq!(nearest_one("id", ["paths", "limit", "in"]), None);
        assert_eq!(nearest_one("get", ["set", "goto"]), None);
    }

    #[test]
    fn sorts_by_similarity_then_by_name() {
        assert_eq!(nearest("path", ["paths", "pat", "path_b", "path_a"], 3), ["path_a", "path_b", "paths"]);
    }

    #[test]
    fn finds_members_of_documents() {
        for (word, name) in [
            ("prise", "price"),
            ("emial", "email"),
            ("user", "users"),
            ("Total", "total"),
            ("userName", "user_name"),
            ("adress", "address"),
            ("nam", "name"),
            ("nane", "name"),
            ("mgs", "msg"),
            ("ID", "id"),
            ("created_ta", "created_at"),
        ] {
            assert_eq!(nearest_one(word, ["x", "other", name]), Some(name), "{word}");
        }
        assert_eq!(nearest_one("items", ["item", "itemz"]), Some("item"));
        for (word, names) in [
            ("nope", &["name", "nodes"][..]),
            ("fork", &["work"]),
            ("a", &["b"]),
            ("id", &["ip", "in", "idx"]),
            ("get", &["set", "got it"]),
            ("level", &["label", "lever arm"]),
            ("", &["a"]),
            ("quantity", &["quality control"]),
        ] {
            assert_eq!(nearest_one(word, names.iter().copied()), None, "{word}");
        }
    }

    #[test]
    fn finds_ids() {
        let ids = ["conv-export-1", "conv-export-2", "zzz"];
        assert_eq!(nearest("conv-exprot-1", ids, 3), ["conv-export-1", "conv-export-2"]);
        assert_eq!(nearest("CONV-EXPORT-2", ids, 3), ["conv-export-2", "conv-export-1"]);
        assert_eq!(nearest("something-else", ids, 3), [""; 0]);
    }

    #[test]
    fn finds_files_and_parameters() {
        let notes = ["notes/1.md", "notes/2.md", "notes/nite1.md"];
        assert_eq!(nearest_one("notes/11.md", notes), Some("notes/1.md"));
        assert_eq!(nearest_one("notes/nite2.md", notes), Some("notes/nite1.md"));
        assert_eq!(
            nearest_one("report.json", ["zzz.json", "b.json"]),
            None,
            "a file type alone is not a name"
        );
        assert_eq!(nearest_one("reportjson", ["b.json"]), None);
        let parameters = ["output", "write-mode", "required", "today", "found"];
        for (word, name) in
            [("ouput", "output"), ("outptu", "output"), ("todya", "today"), ("fuond", "found")]
        {
            assert_eq!(nearest_one(word, parameters), Some(name));
        }
        assert_eq!(nearest_one("search_result", ["search_results"]), Some("search_results"));
        assert_eq!(nearest_one("kep", ["kept"]), Some("kept"));
    }

    #[test]
    fn finds_settings() {
        let known = ["endpoint", "database", "key"];
        assert_eq!(nearest_one("endpiont", known), Some("endpoint"));
        assert_eq!(nearest_one("databse", known), Some("database"));
        assert_eq!(nearest_one("telemetry", known), None);
    }
}
