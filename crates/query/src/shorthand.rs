//! The short spelling of queries, for people: `$.users[*].tags`.

use crate::tree::Query;

impl Query {
    /// The query in its short spelling: names after a dot where RFC 9535 allows it, inside filters
    /// too, and strings in double quotes; everything else as in the canonical form. Parses to the
    /// same query.
    pub fn shorthand(&self) -> String {
        format!("{self:#}")
    }
}

/// Whether a name can stand after a dot (section 2.5.1.1).
pub(crate) fn is_shorthand(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
    name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_where_it_may_be() {
        for (text, short) in [
            ("$", "$"),
            ("$['users'][*]['tags'][0]", "$.users[*].tags[0]"),
            ("$..['a']..*", "$..a..[*]"),
            ("$['a b']['☺']['9']", "$['a b'].☺['9']"),
            ("$['a','b']", "$['a', 'b']"),
            ("$['a'][1:][:-2:3]", "$.a[1:][:-2:3]"),
            (
                r#"$[?@['a']['b c'] == 'it\'s "x"' || !(@.d && count($..e) > 1)]"#,
                r#"$[?@.a['b c'] == "it's \"x\"" || !(@.d && count($..e) > 1)]"#,
            ),
            (
                "$[?match(@['a'], 'x.*') && length(@['b']) > count(@['c'][*])]",
                r#"$[?match(@.a, "x.*") && length(@.b) > count(@.c[*])]"#,
            ),
        ] {
            let query: Query = text.parse().unwrap();
            assert_eq!(query.shorthand().replace(' ', ""), short.replace(' ', ""), "{text}");
            assert_eq!(query.shorthand().parse::<Query>().unwrap(), query);
        }
    }
}
