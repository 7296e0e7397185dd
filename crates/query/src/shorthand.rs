//! The short spelling of queries, for people: `$.users[*].tags`.

use std::fmt::Write;

use crate::tree::{Query, Segment, Segments, Selector};

impl Query {
    /// The query in its short spelling: names after a dot where RFC 9535 allows it, everything else as in the canonical
    /// form. Parses to the same query.
    pub fn shorthand(&self) -> String {
        let mut text = String::from("$");
        for segment in self.segments().iter() {
            match segment.selectors.as_slice() {
                [Selector::Name(name)] if is_shorthand(name) => {
                    text.push_str(if segment.descendant { ".." } else { "." });
                    text.push_str(name);
                }
                [Selector::Wildcard] => text.push_str(if segment.descendant { "..[*]" } else { "[*]" }),
                _ => push_canonical(segment, &mut text),
            }
        }
        text
    }
}

/// Whether a name can stand after a dot (section 2.5.1.1).
fn is_shorthand(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
    name.starts_with(first) && name.chars().all(|c| first(c) || c.is_ascii_digit())
}

fn push_canonical(segment: &Segment, text: &mut String) {
    let alone = Query::from_segments(Segments(vec![segment.clone()])).to_string();
    let _ = write!(text, "{}", alone.strip_prefix('$').unwrap_or(&alone));
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
        ] {
            let query: Query = text.parse().unwrap();
            assert_eq!(query.shorthand().replace(' ', ""), short.replace(' ', ""), "{text}");
            assert_eq!(query.shorthand().parse::<Query>().unwrap(), query);
        }
    }
}
