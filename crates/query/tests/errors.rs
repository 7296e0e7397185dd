//! R45 (queries): error messages, and the validity of their suggestions.

use trommel_query::{ParseErrorKind, Query};

/// Invalid texts with the text after the suggested change. All of the latter are valid.
const NEAR_MISSES: &[(&str, &str)] = &[
    // the root
    ("", "$"),
    (".", "$"),
    ("@.a", "$.a"),
    ("a.b", "$.a.b"),
    (".a.b", "$.a.b"),
    ("[0]", "$[0]"),
    (" $.a", "$.a"),
    ("$.a\n", "$.a"),
    // dots
    ("$.", "$"),
    ("$.a.*.", "$.a.*"),
    ("$.a..", "$.a"),
    ("$. a", "$.a"),
    ("$.. a", "$..a"),
    ("$...a", "$..a"),
    ("$.a.[0]", "$.a[0]"),
    ("$.['a']", "$['a']"),
    ("$a", "$.a"),
    ("$['a']b", "$['a'].b"),
    ("$.a[*]b", "$.a[*].b"),
    // names
    ("$.\"name\"", "$[\"name\"]"),
    ("$..'a b'.c", "$..['a b'].c"),
    ("$.store.book-1", "$.store['book-1']"),
    ("$..book-1[0].x", "$..['book-1'][0].x"),
    ("$.@type", "$['@type']"),
    ("$.$ref", "$['$ref']"),
    ("$.2nd", "$['2nd']"),
    ("$.a:b", "$['a:b']"),
    ("$.é/ü", "$['é/ü']"),
    ("$.items.0", "$.items[0]"),
    ("$..12", "$..[12]"),
    ("$[a]", "$['a']"),
    ("$['b', a-b ]", "$['b', 'a-b' ]"),
    ("$[3f2a-77]", "$['3f2a-77']"),
    ("$[“a”]", "$['a']"),
    // brackets
    ("$.a[]", "$.a[*]"),
    ("$[", "$[*]"),
    ("$[0,]", "$[0]"),
    ("$[,0]", "$[0]"),
    ("$[0 2]", "$[0, 2]"),
    ("$['a' 'b']", "$['a', 'b']"),
    ("$.a[0", "$.a[0]"),
    ("$.a[?(@.b)", "$.a[?(@.b)]"),
    ("$.a[?(@.b == 1", "$.a[?(@.b == 1)]"),
    ("$.a[?(@.b]", "$.a[?(@.b)]"),
    ("$.a[?@.b)]", "$.a[?@.b]"),
    ("$.a[?(@.b)]]", "$.a[?(@.b)]"),
    // numbers
    ("$[01]", "$[1]"),
    ("$[-007]", "$[-7]"),
    ("$[-0]", "$[0]"),
    ("$[+1]", "$[1]"),
    ("$[?@.a == 01.5]", "$[?@.a == 1.5]"),
    ("$[?@.a == 1.]", "$[?@.a == 1.0]"),
    ("$[?@.a == -00]", "$[?@.a == -0]"),
    ("$[?@.a == .5]", "$[?@.a == 0.5]"),
    ("$[?@.a == +5]", "$[?@.a == 5]"),
    // strings
    ("$['a", "$['a']"),
    ("$['a]", "$['a']"),
    ("$[?@.a == \"x]", "$[?@.a == \"x\"]"),
    ("$[\"it\\'s\"]", "$[\"it's\"]"),
    ("$['say \\\"\"']", "$['say \"\"']"),
    ("$['\\x41']", "$['\\u0041']"),
    ("$['\\0']", "$['\\u0000']"),
    ("$['\\u{1F600}']", "$['\\uD83D\\uDE00']"),
    ("$['\\u{e9}']", "$['\\u00E9']"),
    ("$['\\q']", "$['\\\\q']"),
    ("$['a\nb']", "$['a\\nb']"),
    ("$['a\u{1}b']", "$['a\\u0001b']"),
    ("$[?match(@.a, '\\d+')]", "$[?match(@.a, '[0-9]+')]"),
    ("$[?match(@.a, 'a\\.b')]", "$[?match(@.a, 'a\\\\.b')]"),
    // operators
    ("$[?@.a = 1]", "$[?@.a == 1]"),
    ("$[?@.a === 1]", "$[?@.a == 1]"),
    ("$[?@.a !== 1]", "$[?@.a != 1]"),
    ("$[?@.a <> 1]", "$[?@.a != 1]"),
    ("$[?@.a => 1]", "$[?@.a >= 1]"),
    ("$[?@.a =< 1]", "$[?@.a <= 1]"),
    ("$[?@.a & @.b]", "$[?@.a && @.b]"),
    ("$[?@.a | @.b]", "$[?@.a || @.b]"),
    ("$[?@.a and @.b]", "$[?@.a && @.b]"),
    ("$[?@.a == 1 OR @.b == 2]", "$[?@.a == 1 || @.b == 2]"),
    ("$[?@.a eq 1]", "$[?@.a == 1]"),
    ("$[?not @.a]", "$[?!@.a]"),
    ("$[?not(@.a)]", "$[?!(@.a)]"),
    ("$[?!!@.a]", "$[?@.a]"),
    ("$[?!@.a == 1]", "$[?!(@.a == 1)]"),
    ("$[?! @.a > @.b && @.c]", "$[?!(@.a > @.b) && @.c]"),
    // operands
    ("$[@.a == 1]", "$[?@.a == 1]"),
    ("$[(@.a == 1)]", "$[?(@.a == 1)]"),
    ("$[?a == 1]", "$[?@.a == 1]"),
    ("$[?.a == 1]", "$[?@.a == 1]"),
    ("$[?['a'] == 1]", "$[?@['a'] == 1]"),
    ("$[?a-b == 1]", "$[?@['a-b'] == 1]"),
    ("$[?@.a == foo]", "$[?@.a == 'foo']"),
    ("$[?@.a == True]", "$[?@.a == true]"),
    ("$[?@.a == None]", "$[?@.a == null]"),
    ("$[?@.a == ‘x’]", "$[?@.a == 'x']"),
    ("$[?@.book-1 == 2]", "$[?@['book-1'] == 2]"),
    ("$[?@[ 'a' ]==1]", "$[?@['a']==1]"),
    ("$[?@['a' ]==1]", "$[?@['a']==1]"),
    // functions
    ("$[?lenght(@.a) > 1]", "$[?length(@.a) > 1]"),
    ("$[?len(@.a) > 1]", "$[?length(@.a) > 1]"),
    ("$[?Count(@.*) > 1]", "$[?count(@.*) > 1]"),
    ("$[?count (@.*) > 1]", "$[?count(@.*) > 1]"),
    ("$[?length(@.*) > 1]", "$[?count(@.*) > 1]"),
    ("$[?length(@.a)]", "$[?length(@.a) > 0]"),
    ("$[?match(@.a, 'x') == true]", "$[?match(@.a, 'x')]"),
    ("$[?match(@.a, 'x') == false]", "$[?!match(@.a, 'x')]"),
    // other dialects
    ("$[(@.length-1)]", "$[-1]"),
    ("$.a[( @.length - 2 )].b", "$.a[-2].b"),
    ("$[?@.a.length() > 1]", "$[?length(@.a) > 1]"),
    ("$[?@.a.b.match('x')]", "$[?match(@.a.b, 'x')]"),
    ("$[?@.a =~ /^x\\d+$/]", "$[?search(@.a, '^x[0-9]+$')]"),
    ("$[?(@.a =~ 'x')]", "$[?(search(@.a, 'x'))]"),
    ("$[?@.a =~ /a\\/b/ && @.c]", "$[?search(@.a, 'a/b') && @.c]"),
    ("$[?@.a in ['x', 1,true ]]", "$[?(@.a == 'x' || @.a == 1 || @.a == true)]"),
    ("$[?@.a contains 'x.y$']", "$[?search(@.a, 'x\\\\.y[$]')]"),
];

#[test]
fn near_misses_are_fixed() {
    for &(text, fixed) in NEAR_MISSES {
        let error = text.parse::<Query>().expect_err(text);
        let fix = error.suggestion().unwrap_or_else(|| panic!("{text}: {error}"));
        assert_eq!(fix.apply(text).as_deref(), Some(fixed), "{text}: {error}");
        assert!(fixed.parse::<Query>().is_ok(), "{fixed}");
        assert!(text.get(error.span()).is_some() && text.get(fix.span()).is_some(), "{text}");
    }
}

/// The same for a filter alone, where offsets count from its own start.
#[test]
fn near_misses_in_filters_are_fixed() {
    for (text, fixed) in [
        ("@.a = 1", "@.a == 1"),
        ("@.a == 1 and @.b", "@.a == 1 && @.b"),
        ("a > 1", "@.a > 1"),
        ("[@.a > 1]", "[?@.a > 1]"),
        ("[?(@.a > 1)", "[?(@.a > 1)]"),
        ("?@.a)", "?@.a"),
        ("@.a =~ /x/", "search(@.a, 'x')"),
    ] {
        let error = Query::parse_filter(text).expect_err(text);
        let fix = error.suggestion().unwrap_or_else(|| panic!("{text}: {error}"));
        assert_eq!(fix.apply(text).as_deref(), Some(fixed), "{error}");
        assert!(Query::parse_filter(fixed).is_ok());
    }
}

#[test]
fn rejects_a_filter_written_as_a_path() {
    for (text, condition) in [
        (r#"$[?(@.type == "PushEvent")]"#, Some(r#"@.type == "PushEvent""#)),
        ("$.products[?@.price > 100]", Some("@.price > 100")),
        ("  $.a['?'][?@.b['?'] == '?'] ", Some("@.b['?'] == '?'")),
        ("[?$.a[?(@.b) && (@.c)]]", Some("(@.b) && (@.c)")),
        ("$.a[?@.b].c", None),
        ("$.a[0, ?@.b]", None),
        ("$..a[?@.b][?@.c]", None),
    ] {
        let error = Query::parse_filter(text).expect_err(text);
        assert_eq!(error.kind(), ParseErrorKind::FilteredPath, "{text}: {error}");
        let better = error.suggestion().and_then(|fix| fix.apply(text));
        assert_eq!(better.as_deref(), condition, "{text}: {error}");
        assert!(better.is_none_or(|better| Query::parse_filter(&better).is_ok()), "{text}");
    }
    for text in
        ["$.strict", "$.a == @.b", "@.a[?@.b]", "count($.a[?@.b]) > 1", "$.a[?@.b] && @.c", "!$.a[?@.b]"]
    {
        assert!(Query::parse_filter(text).is_ok(), "{text}");
    }
}

/// Nothing is suggested if no similar text is valid.
#[test]
fn suggests_nothing_without_a_similar_text() {
    for text in [
        "/a/b",
        "$.a ^",
        "$.{x}",
        "$.a.~",
        "$.a[~]",
        "$[?@.a == [1]]",
        "$[?@.a == {}]",
        "$[?foo(@.a)]",
        "$[?first(@.*) == 1]",
        "$[?@.a =~ /x/i]",
        "$[?@.a in $.b]",
        "$[?@.* == 1]",
        "$[?true]",
        "$[?@.a == 1 &&]",
        "$.a.b >= 98.6",
        "$['\\ud800']",
        "$[9007199254740992]",
        "$[?(@.a == 1) == true]",
        "$.a.length()",
        "$[?@.a == 1e]",
        "$[?count() > 1]",
        "$[- 1]",
        "$[?@.a in [@.b]]",
        "$[?(@.a) =~ /x/]",
    ] {
        let error = text.parse::<Query>().expect_err(text);
        assert_eq!(error.suggestion(), None, "{text}: {error}");
    }
}

#[test]
fn errors_are_one_sentence() {
    for (text, message) in [
        (
            "$[?@.a = 1]",
            "unexpected `=` at byte 7: expected a comparison, `&&`, `||` or the end of the filter; write `==` instead of `=`",
        ),
        (
            "$.store.book-1",
            "the name `book-1` must be quoted at byte 8: expected a segment (`.name`, `..name` or `[…]`) or the end of \
             the query; write `['book-1']` instead of `.book-1`",
        ),
        ("$.a[0", "the query ends too early at byte 5: expected `,` or `]`; add `]` at byte 5"),
        ("$.a ", "white space is not allowed at byte 3: expected the end of the query; remove ` ` at byte 3"),
        (
            "$[?lenght(@.a)>1]",
            "unknown function `lenght` at byte 3: expected `length`, `count`, `value`, `match` or `search`; write \
             `length` instead of `lenght`",
        ),
        (
            "$[?@.*>1]",
            "`@.*` may select several nodes at byte 3: expected a query that selects at most one node: only names and \
             indices, no `*`, `..`, slice, filter or list",
        ),
        (
            "$['a\u{7}']",
            "the control character `\\u{7}` must be escaped at byte 4: expected an escape such as `\\n`, `\\t` or \
             `\\u0000`; write `\\u0007` instead of `\\u{7}`",
        ),
    ] {
        assert_eq!(text.parse::<Query>().expect_err(text).to_string(), message);
    }
}

/// At most 80 characters of a hostile text are shown, without control characters.
#[test]
fn messages_truncate_the_query() {
    let long = "語".repeat(5000);
    for text in [
        format!("$.{long}-x"),
        format!("$[{long}]"),
        format!("$['{long}"),
        format!("$[?{long}(@)]"),
        format!("$[?@ == {long}]"),
        format!("$[?@.a in ['{long}']]"),
        format!("$[?'{long}']"),
        format!("$[?@['{long}'].* == 1]"),
    ] {
        let error = text.parse::<Query>().expect_err("long");
        let shown = error.to_string().matches('語').count();
        assert!(shown <= 80, "{shown}: {error}");
    }
    let error = "$[\u{202e}\u{1b}[31m]".parse::<Query>().expect_err("hostile");
    assert!(!error.to_string().contains(['\u{202e}', '\u{1b}']), "{error}");
}

/// Errors can be cloned, compared, sent to threads, and boxed.
#[test]
fn errors_implement_the_usual_traits() {
    fn boxed<T: std::error::Error + Send + Sync + Clone + 'static>(error: &T) -> Box<dyn std::error::Error> {
        Box::new(error.clone())
    }
    let error = "$.".parse::<Query>().expect_err("ends");
    assert_eq!(boxed(&error).to_string(), error.to_string());
    assert_eq!((error.kind(), error.kind().code()), (ParseErrorKind::End, "query-end"));
    assert_eq!(
        (error.offset(), error.span(), error.expected()),
        (2, 2..2, "a name or `*` directly after the dot")
    );
}
