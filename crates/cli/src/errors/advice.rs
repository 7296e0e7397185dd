//! Advice for queries that no suggested query can replace: which command to run instead.

use trommel::path::Query;

/// Returns advice for a text that is not a query and has no suggestion.
pub(super) fn instead(text: &str) -> Option<String> {
    let has_word = |word: &str| {
        let mut parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
        parts.any(|part| part.trim_start_matches('.') == word || part.ends_with(&format!(".{word}")))
    };
    if let Some(condition) = selected(text) {
        return Some(format!("keep records with --where '{condition}'"));
    }
    if has_word("length") || has_word("count") || has_word("size") {
        return Some("count the elements of arrays with `trommel count FILE QUERY --as array-length`".into());
    }
    if has_word("keys") || text.ends_with('~') {
        return Some(
            "print the paths of members with `trommel extract FILE '$.NAME.*' --output paths`".into(),
        );
    }
    if text.contains('{') || text.starts_with('.') && text.contains(", .") {
        return Some("pass one query per field, such as '$.a' '$.b'".into());
    }
    let computes =
        ["+", "|", "//", "map(", "sort", "group", "unique", "_entries", "@csv", "@tsv", " - ", " * ", " / "];
    if computes.iter().any(|word| text.contains(word)) {
        return Some(
            "queries select values; to compute, pipe them to jq: `trommel extract FILE QUERY | jq …`".into(),
        );
    }
    None
}

/// Returns the condition of jq's `select` as a filter, if a filter can express it.
fn selected(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("select(")?;
    let mut open = 1_usize;
    let end = rest.find(|c| {
        open += usize::from(c == '(');
        open -= usize::from(c == ')');
        open == 0
    })?;
    let program = format!("select({})", rest.get(..end)?);
    let error = Query::parse_filter(&program).err()?;
    let filter = error.suggestion()?.apply(&program)?;
    // The advice shows the filter in single quotes.
    // Quoting a quote differs between shells, so a filter with one gets no advice.
    (!filter.contains('\'')).then_some(filter)
}

/// Returns advice about the shell if a text looks like the rest of a query in double quotes.
pub(super) fn quotes(text: &str) -> Option<&'static str> {
    let is_rest = text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit());
    is_rest.then_some("put the query in single quotes: a shell expands `$` in double quotes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jq_programs_get_advice() {
        for (text, advice) in [
            ("select(.level==\"error\")", Some("keep records with --where '@.level==\"error\"'")),
            (".a | select(.b == 1 and (.c | length) > 1)", None),
            ("length($.x)", Some("count the elements of arrays")),
            (".x | length", Some("count the elements of arrays")),
            ("$.a.length()", Some("count the elements of arrays")),
            (".a | keys", Some("print the paths of members")),
            ("$.a.~", Some("print the paths of members")),
            ("{a: .b}", Some("pass one query per field")),
            (".a, .b", Some("pass one query per field")),
            (".a + .b", Some("queries select values")),
            (".[] | map(.x)", Some("queries select values")),
            ("$.", None),
        ] {
            let given = instead(text);
            match advice {
                Some(advice) => assert!(
                    given.as_deref().is_some_and(|given| given.starts_with(advice)),
                    "{text}: {given:?}"
                ),
                None => assert!(given.is_none_or(|given| !given.contains("--where")), "{text}"),
            }
        }
    }

    #[test]
    fn expanded_queries_get_advice_about_quotes() {
        assert!(quotes("0.Name").is_some() && quotes("").is_some());
        assert!(quotes("users").is_none() && quotes("$.a").is_none());
    }
}
