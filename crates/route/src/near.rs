//! The name that may have been meant.

/// Least likeness of two names for one to be suggested for the other.
const LIKENESS: f64 = 0.7;

/// The name most like a word; none rather than a silly one.
pub(crate) fn one<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: String = word.chars().take(128).flat_map(char::to_lowercase).collect();
    let scored = known.into_iter().map(|name| (strsim::normalized_damerau_levenshtein(&word, name), name));
    let best = scored.fold(None, |best: Option<(f64, &str)>, one| match best {
        Some(best) if best.0 >= one.0 => Some(best),
        _ => Some(one),
    });
    best.filter(|(score, _)| *score >= LIKENESS).map(|(_, name)| name)
}
