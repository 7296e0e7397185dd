//! Patterns: the grammar of I-Regexp (RFC 9485), matching, and linear time.

use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use trommel_query::{Pattern, RegexCache};
use trommel_testkit::effort::cases;

fn whole(pattern: &str, subject: &str) -> bool {
    Pattern::new(pattern, true).unwrap_or_else(|error| panic!("{pattern}: {error}")).is_match(subject)
}

fn part(pattern: &str, subject: &str) -> bool {
    Pattern::new(pattern, false).unwrap_or_else(|error| panic!("{pattern}: {error}")).is_match(subject)
}

#[test]
fn match_is_anchored_and_search_is_not() {
    for (pattern, subject, in_whole, in_part) in [
        ("a.*", "ab", true, true),
        ("a.*", "bab", false, true),
        ("a|bc", "bc", true, true),
        ("a|bc", "abc", false, true),
        ("", "", true, true),
        ("", "x", false, true),
        ("ab", "ab\n", false, true),
        ("^ab$", "ab", true, true),
        ("^b", "ab", false, false),
        ("a$", "ab", false, false),
        ("a$", "a\n", false, false),
        ("x|^a|b$", "ab", false, true),
    ] {
        assert_eq!(whole(pattern, subject), in_whole, "match {pattern:?} {subject:?}");
        assert_eq!(part(pattern, subject), in_part, "search {pattern:?} {subject:?}");
    }
}

#[test]
fn the_dot_excludes_line_feed_and_carriage_return_only() {
    for subject in ["a", "\u{b}", "\u{85}", "\u{2028}", "\u{2029}", "\0", "😀"] {
        assert!(whole(".", subject), "{subject:?}");
    }
    for subject in ["\n", "\r", "", "ab", "\r\n"] {
        assert!(!whole(".", subject), "{subject:?}");
    }
    assert!(whole("[^a]", "\n"));
}

#[test]
fn constructs_match_as_in_the_rfc() {
    for (pattern, matching, other) in [
        ("a{3}", "aaa", "aa"),
        ("a{2,}", "aaaa", "a"),
        ("a{0,2}b", "aab", "aaab"),
        ("a{0}b", "b", "ab"),
        ("a{002,03}", "aaa", "a"),
        ("(ab|c)+d?", "abcab", "dd"),
        ("()|a", "", "b"),
        ("[a-c-]", "-", "d"),
        ("[-a]", "-", "b"),
        ("[^-]", "a", "-"),
        ("[a^]", "^", "b"),
        ("[.*+?(){}|$]", "$", "a"),
        ("[\\]\\[\\\\\\-\\^]", "]", "a"),
        ("[\\n-\\r]", "\u{b}", "a"),
        ("[&&~~#]", "&", "a"),
        ("[α-ω]", "π", "Π"),
        ("\\.\\?\\*\\+\\(\\)\\[\\]\\{\\}\\|\\\\\\^\\-", ".?*+()[]{}|\\^-", ""),
        ("\\n\\r\\t", "\n\r\t", "nrt"),
        ("\\p{Lu}\\P{Lu}", "Žž", "žŽ"),
        ("\\p{L}", "ß", "1"),
        ("[\\p{Nd}\\P{L}]", "٣", "a"),
        ("\\p{Cn}", "\u{378}", "a"),
        ("\\p{Co}", "\u{e000}", "a"),
        ("\\p{Sc}\\p{Zs}\\p{Pd}\\p{Mn}", "€ -\u{301}", "a"),
        ("#a b # c", "#a b # c", "#ab#c"),
        ("ſ", "ſ", "s"),
        ("/-,\"'%&~@!<>=:;_`", "/-,\"'%&~@!<>=:;_`", ""),
    ] {
        assert!(whole(pattern, matching), "{pattern:?} {matching:?}");
        assert!(!whole(pattern, other), "{pattern:?} {other:?}");
    }
}

#[test]
fn rejects_invalid_i_regexps() {
    for (pattern, offset, message) in [
        ("a\\d", 1, "[0-9]"),
        ("\\w", 0, "[A-Za-z0-9_]"),
        ("\\s", 0, "\\t"),
        ("\\b", 0, "\\b"),
        ("\\$", 0, "\\$"),
        ("\\/", 0, "\\/"),
        ("\\1", 0, "\\1"),
        ("\\u0041", 0, "\\u"),
        ("a\\", 1, "ends"),
        ("*a", 0, "repeat"),
        ("a**", 2, "repeat"),
        ("a*?", 2, "repeat"),
        ("a+?", 2, "repeat"),
        ("a{1}{2}", 4, "repeat"),
        ("(*a)", 1, "repeat"),
        ("a|+", 2, "repeat"),
        ("(?i)a", 1, "no flags"),
        ("(?:a)", 1, "plain groups"),
        ("(?=a)", 1, "plain groups"),
        ("a{,2}", 1, "{n}"),
        ("a{2,1}", 1, "{n}"),
        ("a{}", 1, "{n}"),
        ("a{1", 1, "{n}"),
        ("a{1,2", 1, "{n}"),
        ("a}", 1, "\\}"),
        ("a]", 1, "\\]"),
        ("[", 0, "not closed"),
        ("[a", 0, "not closed"),
        ("[a-", 3, "ends"),
        ("[]", 0, "empty"),
        ("[^]", 0, "empty"),
        ("[]a]", 0, "empty"),
        ("[b-a]", 1, "reversed"),
        ("[a-b-c]", 4, "first or last"),
        ("[a-\\p{L}]", 2, "first or last"),
        ("[+--]", 3, "first or last"),
        ("[[a]]", 1, "\\["),
        ("[a-[]", 3, "\\["),
        ("[[:alpha:]]", 1, "\\["),
        ("[\\d]", 1, "[0-9]"),
        ("(a", 2, "ends"),
        ("a)", 1, "unmatched closing parenthesis"),
        ("\\p{Greek}", 0, "\\p"),
        ("\\p{Cs}", 0, "\\p"),
        ("\\pL", 0, "\\p"),
        ("\\p{Lul}", 0, "\\p"),
        ("\\p{}", 0, "\\p"),
        ("\\p{L", 0, "\\p"),
    ] {
        for whole in [false, true] {
            let error = Pattern::new(pattern, whole).expect_err(pattern);
            assert_eq!(error.offset(), offset, "{pattern}: {error}");
            assert!(error.to_string().contains(message), "{pattern}: {error}");
        }
    }
}

#[test]
fn rejects_large_patterns() {
    thread::Builder::new()
        .stack_size(256 << 10)
        .spawn(|| {
            let deep = "(".repeat(30_000) + &")".repeat(30_000);
            let long = "a".repeat(70_000);
            let patterns = [
                "a{1000000}",
                "(((a{500}){500}){500}){500}",
                "(\\p{L}{200}){200}",
                "a{99999999999999999999}",
            ];
            for pattern in patterns.into_iter().chain([deep.as_str(), &long]) {
                let error = Pattern::new(pattern, true).expect_err("large");
                assert!(error.to_string().contains("too large"), "{error}");
            }
            assert!(whole(&("(".repeat(50) + "a" + &")".repeat(50)), "a"));
            assert!(part("\\p{L}{1,20}", &"é".repeat(40)));
        })
        .expect("the thread starts")
        .join()
        .expect("the stack does not overflow");
}

/// R40: ten patterns that take exponential time in backtracking engines, on 1 MB that nearly
/// matches.
#[test]
fn evil_patterns_are_linear() {
    let most = cases(5000, 100);
    let many = |text: &str| text.repeat((1 << 20) / text.len()) + "!";
    for (pattern, subject) in [
        ("(a+)+", many("a")),
        ("([a-zA-Z]+)*", many("aZ")),
        ("(a|aa)+", many("a")),
        ("(a|a?)+", many("a")),
        ("(.*a){12}", many("a")),
        ("(a*)*b", many("a")),
        ("([a-z]+\\.)+[a-z]+@x", many("ab.")),
        ("(x+x+)+y", many("x")),
        ("((a*)*|b*)*c", many("ab")),
        ("(\\p{L}+|\\p{N}+)*#", many("é1")),
    ] {
        for whole in [true, false] {
            let start = Instant::now();
            let compiled = Pattern::new(pattern, whole).expect("the pattern is valid");
            let found = compiled.is_match(&subject);
            let took = start.elapsed();
            assert!(took < Duration::from_millis(most), "{pattern}: {took:?}");
            assert!(!(found && whole), "{pattern} must not match to the end");
        }
    }
}

/// Patterns from data: the cache stays within its limits for any number of patterns, and all
/// answers are correct.
#[test]
fn patterns_from_data_are_cached() {
    let mut cache = RegexCache::new();
    for round in 0..3 {
        for number in 0..300 {
            let (pattern, subject) = (format!("x{number}"), format!("ax{number}"));
            assert!(cache.is_match(&pattern, &subject, false), "{round}");
            assert!(!cache.is_match(&pattern, &subject, true));
            assert!(cache.is_match(&pattern, &subject[1..], true));
        }
        for wrong in ["(", "\\d", "a**", &"a".repeat(1 << 20)] {
            assert!(!cache.is_match(wrong, wrong, false));
            assert!(!cache.is_match(wrong, wrong, true));
        }
    }
}

/// The grammar of RFC 9485, section 4, implemented literally: every derivation of a text is tried.
/// The ABNF derives `[^]` in two ways. As in `Pattern`, the caret is a negation here.
mod grammar {
    type Rest<'t> = &'t [char];

    pub(crate) fn is_valid(text: &str) -> bool {
        let text = text.chars().collect::<Vec<_>>();
        i_regexp(&text).contains(&0)
    }

    /// Returns the lengths of the remaining texts, for each way to derive an `i-regexp` from the
    /// start.
    fn i_regexp(text: Rest<'_>) -> Vec<usize> {
        let mut ends = branch(text);
        let mut next = 0;
        while next < ends.len() {
            let rest = &text[text.len() - ends[next]..];
            if rest.first() == Some(&'|') {
                add(&mut ends, branch(&rest[1..]));
            }
            next += 1;
        }
        ends
    }

    fn branch(text: Rest<'_>) -> Vec<usize> {
        let mut ends = vec![text.len()];
        let mut next = 0;
        while next < ends.len() {
            let rest = &text[text.len() - ends[next]..];
            for after_atom in atom(rest) {
                add(&mut ends, vec![after_atom]);
                add(&mut ends, quantifier(&rest[rest.len() - after_atom..]));
            }
            next += 1;
        }
        ends
    }

    fn quantifier(text: Rest<'_>) -> Vec<usize> {
        match text {
            ['*' | '+' | '?', rest @ ..] => vec![rest.len()],
            ['{', rest @ ..] => {
                let body = rest.iter().take_while(|c| **c != '}').collect::<String>();
                let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let valid = match body.split_once(',') {
                    None => digits(&body),
                    Some((least, most)) => digits(least) && (most.is_empty() || digits(most)),
                };
                if valid && rest.len() > body.len() { vec![rest.len() - body.len() - 1] } else { vec![] }
            }
            _ => vec![],
        }
    }

    fn atom(text: Rest<'_>) -> Vec<usize> {
        match text {
            ['.', rest @ ..] => vec![rest.len()],
            ['(', rest @ ..] => {
                let inner = i_regexp(rest).into_iter();
                let closed = inner.filter(|left| *left > 0 && rest[rest.len() - left] == ')');
                closed.map(|left| left - 1).collect()
            }
            ['[', '^', rest @ ..] | ['[', rest @ ..] => class(rest),
            ['\\', ..] => escape(text).into_iter().chain(category(text)).collect(),
            [c, rest @ ..] if !"()*+.?[\\]{|}".contains(*c) => vec![rest.len()],
            _ => vec![],
        }
    }

    fn class(text: Rest<'_>) -> Vec<usize> {
        let mut ends = item(text);
        if let ['-', rest @ ..] = text {
            add(&mut ends, vec![rest.len()]);
        }
        let mut next = 0;
        while next < ends.len() {
            let more = item(&text[text.len() - ends[next]..]);
            add(&mut ends, more);
            next += 1;
        }
        let closed = ends.into_iter().filter_map(|left| match &text[text.len() - left..] {
            [']', rest @ ..] | ['-', ']', rest @ ..] => Some(rest.len()),
            _ => None,
        });
        closed.collect()
    }

    fn item(text: Rest<'_>) -> Vec<usize> {
        let mut ends = category(text);
        for left in class_char(text) {
            add(&mut ends, vec![left]);
            if let ['-', rest @ ..] = &text[text.len() - left..] {
                add(&mut ends, class_char(rest));
            }
        }
        ends
    }

    fn class_char(text: Rest<'_>) -> Vec<usize> {
        match text {
            ['\\', ..] => escape(text),
            ['-' | '[' | ']', ..] | [] => vec![],
            [_, rest @ ..] => vec![rest.len()],
        }
    }

    fn escape(text: Rest<'_>) -> Vec<usize> {
        match text {
            ['\\', c, rest @ ..] if "()*+-.?[\\]^nrt{|}".contains(*c) => vec![rest.len()],
            _ => vec![],
        }
    }

    fn category(text: Rest<'_>) -> Vec<usize> {
        const ALL: &str = "L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps Z Zl Zp Zs S Sc Sk Sm So C Cc Cf Cn Co";
        match text {
            ['\\', 'p' | 'P', '{', rest @ ..] => {
                let name = rest.iter().take_while(|c| **c != '}').collect::<String>();
                let known = ALL.split(' ').any(|category| category == name) && rest.len() > name.len();
                if known { vec![rest.len() - name.len() - 1] } else { vec![] }
            }
            _ => vec![],
        }
    }

    fn add(ends: &mut Vec<usize>, more: Vec<usize>) {
        for end in more {
            if !ends.contains(&end) {
                ends.push(end);
            }
        }
    }
}

fn pattern() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "b", "z", ".", "*", "+", "?", "|", "(", ")", "[", "]", "{", "}", "-", "^", "$", "\\", "\\p{L}",
        "\\P{Nd}", "\\p{Xx}", "{2}", "{1,}", "{1,3}", ",", "[a-z]", "[^", "n", "d", "é", " ", "\\.", "&&",
        "~",
    ]);
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(10_000, 200_000) as u32, ..ProptestConfig::default() })]

    /// `Pattern` accepts exactly the texts that the grammar derives, except for reversed bounds and
    /// ranges, which the grammar cannot exclude.
    #[test]
    fn accepts_exactly_the_grammar(text in pattern()) {
        let valid = grammar::is_valid(&text);
        match Pattern::new(&text, true) {
            Ok(_) => prop_assert!(valid, "{} is not an I-Regexp", text),
            Err(error) => {
                let is_reversed = ["reversed", "n up to m"].iter().any(|said| error.to_string().contains(said));
                prop_assert!(!valid || is_reversed, "{}: {}", text, error);
                prop_assert!(text.get(error.offset()..).is_some());
            }
        }
    }

    /// A text with all special characters escaped matches only itself.
    #[test]
    fn escaped_texts_match_themselves(text in any::<String>(), other in any::<String>()) {
        let escaped = text.chars().fold(String::new(), |mut pattern, c| {
            if "()*+.?[\\]{|}^".contains(c) {
                pattern.push('\\');
            }
            if c == '$' { pattern.push_str("[$]") } else { pattern.push(c) }
            pattern
        });
        prop_assert!(whole(&escaped, &text));
        prop_assert_eq!(whole(&escaped, &other), text == other);
        prop_assert!(part(&escaped, &[other.as_str(), &text, &other].concat()));
    }
}
