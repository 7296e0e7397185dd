//! The shorthand form of queries: `$.users[*].tags`.

use crate::tree::Query;

impl Query {
    /// Returns the query in shorthand form, which parses to the same query.
    ///
    /// Names follow a dot where RFC 9535 allows it, also inside filters, and strings are in double
    /// quotes. Everything else is as in the canonical form.
    pub fn shorthand(&self) -> String {
        format!("{self:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviates_where_the_grammar_allows() {
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
