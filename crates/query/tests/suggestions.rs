//! R45 (queries): suggestions for texts in the notation of jq, SQL, and shells. Every suggested
//! text parses.

use proptest::prelude::*;
use trommel_query::Query;
use trommel_testkit::effort::cases;

/// Texts with the text after the suggested change, or `None` if no query can express it.
const HABITS: &[(&str, Option<&str>)] = &[
    // paths of jq
    (".a.b", Some("$.a.b")),
    (".a[]", Some("$.a[*]")),
    (".[]", Some("$[*]")),
    (".[0]", Some("$[0]")),
    (".[].name", Some("$[*].name")),
    (".a[].b[]", Some("$.a[*].b[*]")),
    (".a?", Some("$.a")),
    (".a[]?", Some("$.a[*]")),
    (".foo[]?.bar?", Some("$.foo[*].bar")),
    (".a.\"b c\"", Some("$.a[\"b c\"]")),
    (".[\"a\"]", Some("$[\"a\"]")),
    (".. | .id?", Some("$..id")),
    (".statuses[] | .id", Some("$.statuses[*].id")),
    (".a | .b | .c", Some("$.a.b.c")),
    ("[.a[] | .b]", Some("$.a[*].b")),
    ("[.a[].b]", Some("$.a[*].b")),
    ("$.a | .b", Some("$.a.b")),
    // select
    (".[] | select(.x==\"y\") | .id", Some("$[?@.x==\"y\"].id")),
    (".statuses[] | select(.lang==\"ja\") | .id", Some("$.statuses[?@.lang==\"ja\"].id")),
    (".a[] | select(.b > 1 and .c == true)", Some("$.a[?@.b > 1 && @.c == true]")),
    (".a[] | select((.b == 1) or .c < 2)", Some("$.a[?(@.b == 1) || @.c < 2]")),
    (".a[] | select(. == \"x\")", Some("$.a[?@ == \"x\"]")),
    (".a[] | select(.b | test(\"^x\"))", Some("$.a[?search(@.b, '^x')]")),
    (".a[] | select(.b | test(\"x.*y\"))", Some("$.a[?search(@.b, 'x.*y')]")),
    (".a[] | select(.b | startswith(\"x.\")) | .c", Some("$.a[?search(@.b, '^x\\\\.')].c")),
    (".a[] | select(.b | endswith(\"x\"))", Some("$.a[?search(@.b, 'x$')]")),
    (".a[] | select(.b | contains(\"x\"))", Some("$.a[?search(@.b, 'x')]")),
    (".a[] | select(.b | length > 3)", Some("$.a[?length(@.b) > 3]")),
    (".a[] | select(.b)", Some("$.a[?@.b && @.b != null && @.b != false]")),
    (".a[] | select(.b == 1 | not)", Some("$.a[?!(@.b == 1)]")),
    ("select(.level==\"error\")", None),
    (".a | select(.b == 1)", None),
    // objects
    ("{a,b}", Some("$['a', 'b']")),
    (".users[] | {id, name}", Some("$.users[*]['id', 'name']")),
    ("{a: .b}", None),
    // what queries do not compute
    (".a | length", None),
    ("$.a | length", None),
    ("$.a | keys", None),
    ("keys", Some("$.keys")),
    ("length($.x)", None),
    ("$.a + $.b", None),
    (".a + .b", None),
    (".a, .b", None),
    (".a // \"none\"", None),
    ("map(.a)", None),
    (".[] | map(.a)", None),
    ("to_entries", Some("$.to_entries")),
    ("$.a.~", None),
    ("$.a.*~", None),
    ("$.a.length()", None),
    // several errors
    ("$.statuses[*][id,text]", Some("$.statuses[*]['id','text']")),
    ("$.statuses[?(@.lang=='ja' and @.id = 1)]", Some("$.statuses[?(@.lang=='ja' && @.id == 1)]")),
    ("a.b-c[]", Some("$.a['b-c'][*]")),
    ("users[name = x].id", None),
    // strings that are not closed
    ("$.statuses[?@.lang==\"ja].id", Some("$.statuses[?@.lang==\"ja\"].id")),
    ("$.a[?(@.b=='x)].c", Some("$.a[?(@.b=='x')].c")),
    ("$.a['b].c", Some("$.a['b'].c")),
    // tests of strings
    ("$[?startswith(@.a, \"x\")]", Some("$[?search(@.a, '^x')]")),
    ("$[?ends_with(@.a,'x') && @.b]", Some("$[?search(@.a, 'x$') && @.b]")),
    ("$[?contains(@.a, 'x')]", Some("$[?search(@.a, 'x')]")),
    ("$[?test(@.a, 'x+')]", Some("$[?search(@.a, 'x+')]")),
    ("$[?@.a.startsWith('x')]", Some("$[?search(@.a, '^x')]")),
    ("$[?@.a.contains(\"(x\")]", Some("$[?search(@.a, '\\\\(x')]")),
    ("$[?@.a like 'x%_']", Some("$[?match(@.a, 'x.*.')]")),
    ("$[?@.a ~ 'x']", Some("$[?search(@.a, 'x')]")),
    ("$[?@.a ~= 'x']", None),
    // what a shell leaves of a query in double quotes
    ("0.Name", Some("$[0].Name")),
    ("0[1].b", Some("$[0][1].b")),
    ("0", None),
    ("", Some("$")),
];

/// R45: texts in other languages' notation get the exact query.
#[test]
fn r45_habits_get_valid_suggestions() {
    for &(text, expected) in HABITS {
        let error = text.parse::<Query>().expect_err(text);
        let fixed = error.suggestion().and_then(|fix| fix.apply(text));
        assert_eq!(fixed.as_deref(), expected, "{text}: {error}");
        if let Some(fixed) = fixed {
            assert!(fixed.parse::<Query>().is_ok(), "{text}: {fixed}");
        }
    }
}

#[test]
fn filters_alone_get_valid_suggestions() {
    for (text, expected) in [
        (".level == \"error\"", Some("@.level == \"error\"")),
        (".a == 1 and .b = 'x'", Some("@.a == 1 && @.b == 'x'")),
        ("level = error", Some("@.level == 'error'")),
        ("startswith(@.a, 'x')", Some("search(@.a, '^x')")),
        ("@.a like '%x'", Some("match(@.a, '.*x')")),
        ("@.a == \"x", Some("@.a == \"x\"")),
        ("@.a + 1 > 2", None),
        ("select(.a == 1)", Some("@.a == 1")),
        (".a | test(\"x\")", Some("search(@.a, 'x')")),
        (".a | length > 1", Some("length(@.a) > 1")),
        (".a | contains(\"x\") and .b", None),
        ("@.a = 1 || .b", Some("@.a == 1 || @.b")),
        (".a[] | select(.b)", None),
    ] {
        let error = Query::parse_filter(text).expect_err(text);
        let fixed = error.suggestion().and_then(|fix| fix.apply(text));
        assert_eq!(fixed.as_deref(), expected, "{text}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(u32::try_from(cases(20_000, 1_000_000)).unwrap_or(u32::MAX)))]

    /// R45: any text parses after its suggestion is applied.
    #[test]
    fn r45_every_suggestion_parses(text in "[$@.a-c0-9\\[\\](){}'\"?*|,:=<>!& +~/-]{0,24}") {
        if let Err(error) = text.parse::<Query>()
            && let Some(fix) = error.suggestion()
        {
            let fixed = fix.apply(&text);
            prop_assert!(fixed.as_deref().is_some_and(|fixed| fixed.parse::<Query>().is_ok()), "{fixed:?}");
        }
        if let Err(error) = Query::parse_filter(&text)
            && let Some(fix) = error.suggestion()
        {
            let fixed = fix.apply(&text);
            prop_assert!(fixed.as_deref().is_some_and(|fixed| Query::parse_filter(fixed).is_ok()), "{fixed:?}");
        }
    }
}
