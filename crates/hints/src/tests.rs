use trommel::path::Query;
use trommel::{Analysis, CountAs, Document};

use super::{HintStyle, UnmatchedQuery};

/// The hints for a query over a document.
fn hints(text: &str, query: &str) -> Vec<String> {
    let parsed: Query = query.parse().unwrap();
    of(text, &UnmatchedQuery::new(query, &parsed))
}

fn of(text: &str, asked: &UnmatchedQuery<'_>) -> Vec<String> {
    let analysis = Analysis::new();
    let mut document = Document::from_bytes(text);
    let outline = super::outline(&analysis, &document);
    let hints = super::hints(&analysis, &mut document, &outline, std::slice::from_ref(asked));
    hints.iter().map(|hint| hint.message(HintStyle::Options)).collect()
}

const STORE: &str = r#"{"data": {"users": [{"email": "x", "address": {"zip": 1}, "tags": []}, {"age": 40, "tags": ["a"]}]},
    "total": 3, "products": [{"name": "a", "price": 150}, {"name": "b", "price": 5}]}"#;

const LOG: &str =
    "{\"level\": \"info\", \"msg\": \"a\"}\n{\"level\": \"error\", \"msg\": \"b\", \"code\": [1, 2]}\n";

#[test]
fn suggests_the_nearest_path() {
    for (query, nearest) in [
        ("$.data.user[*].email", "$.data.users[*].email"),
        ("$.data.users[0].emial", "$.data.users[0].email"),
        ("$.data.users[1].emial", "$.data.users[*].email"),
        ("$.data.users.email", "$.data.users[*].email"),
        ("$.data.users.emial", "$.data.users[*].email"),
        ("$.data[0].users", "$.data.users"),
        ("$.Total", "$.total"),
        ("$..emial", "$..email"),
        ("$..adress.zip", "$..address.zip"),
        ("$.zip", "$.data.users[*].address.zip"),
        ("$.dta.usrs[*].email", "$.data.users[*].email"),
        ("$['totl', 'nothing']", "$['total', 'nothing']"),
        ("$.products[?@.prise > 100].name", "$.products[?@.price > 100].name"),
        ("$.products[?@.price > 100].nane", "$.products[?@.price > 100].name"),
        (
            "$.products[?search(@.nam, 'a') && @.prise > 1]",
            "$.products[?search(@.name, \"a\") && @.price > 1]",
        ),
        ("$.product[?@.price > 100]", "$.products[?@.price > 100]"),
    ] {
        let expected = format!("`{query}` selects nothing; the nearest path is `{nearest}`");
        assert_eq!(hints(STORE, query), [expected], "{query}");
    }
}

#[test]
fn suggests_nothing_far_fetched() {
    for query in [
        "$.nope",
        "$.something.else.entirely",
        "$..quantity",
        "$.products[?@.price > 1000]",
        "$.products[?@.q == 1]",
        "$.total.x",
        "$.data.users[0].tags[*]",
    ] {
        assert_eq!(hints(STORE, query), [""; 0], "{query}");
    }
}

#[test]
fn reports_a_misspelled_name_if_the_query_stays_empty() {
    for (query, wanted, nearest) in [
        ("$.products[?@.prise > 1000].name", "prise", "$.products[*].price"),
        ("$.data.users[?@.x > 1].emails", "emails", "$.data.users[*].email"),
    ] {
        let expected =
            format!("`{query}` selects nothing: there is no `{wanted}`; the nearest path is `{nearest}`");
        assert_eq!(hints(STORE, query), [expected], "{query}");
    }
}

#[test]
fn reports_array_lengths() {
    for (query, says) in [
        ("$.products[2].name", "`$.products` has 2 elements"),
        ("$.products[-3]", "`$.products` has 2 elements"),
        ("$.products[7:9]", "`$.products` has 2 elements"),
        ("$.data.users[1].tags[1]", "`$.data.users[1].tags` has 1 element"),
        ("$.data.users[*].tags[5]", "the longest array at `$.data.users[*].tags` has 1 element"),
    ] {
        let expected = format!("`{query}` selects nothing: {says}");
        assert_eq!(hints(STORE, query), [expected], "{query}");
    }
    let stream = "{\"a\": [1, 2]}\n".repeat(300);
    assert_eq!(hints(&stream, "$.a[9]"), ["`$.a[9]` selects nothing: no array at `$.a` is that long"]);
    // The element exists, but has no further children.
    assert_eq!(hints(STORE, "$.products[0].price.x"), [""; 0]);
    assert_eq!(hints(STORE, "$.products[0][0]"), [""; 0]);
}

#[test]
fn suggests_where_for_a_filter_on_records() {
    let says = |query: &str, filter: &str, rest: &str| {
        let message = format!(
            "`{query}` selects nothing: `$` is each record of the stream, and the filter looks inside it; to filter records, \
             use --where '{filter}' with the query '{rest}'"
        );
        assert_eq!(hints(LOG, query), [message], "{query}");
    };
    says(r#"$[?@.level=="error"]"#, r#"@.level == "error""#, "$");
    says(r#"$[?@.level=="error"].msg"#, r#"@.level == "error""#, "$.msg");
    says(r#"$[?@.levle=="error"].msg"#, r#"@.level == "error""#, "$.msg");
    says(r#"$[?@.level=="error"].code[1]"#, r#"@.level == "error""#, "$.code[1]");
    for query in [r#"$[?@.level=="fatal"]"#, r#"$[?@.level=="info"].code"#] {
        assert_eq!(hints(LOG, query), [""; 0], "{query}");
    }
    // A single document instead of a stream, and a stream of arrays.
    assert_eq!(hints(r#"{"level": "error"}"#, r#"$[?@.level=="error"]"#), [""; 0]);
    assert_eq!(hints("[{\"a\": 1}]\n[{\"a\": 2}]\n", "$[?@.a == 3]"), [""; 0]);
}

#[test]
fn suggests_the_nearest_filter() {
    let filtered = |text: &str, query: &str, filter: &str, count_as| {
        let (parsed, condition) = (query.parse().unwrap(), Query::parse_filter(filter).unwrap());
        of(text, &UnmatchedQuery::new(query, &parsed).filter(Some(&condition), count_as))
    };
    assert_eq!(
        filtered(LOG, "$", "@.levle == 'error'", CountAs::Matches),
        [
            r#"nothing at `$` passes the filter `@.levle == "error"`; one that selects something is `@.level == "error"`"#
        ]
    );
    assert_eq!(
        filtered(STORE, "$.products", "@.prise > 100", CountAs::ArrayLength),
        [
            "nothing at `$.products` passes the filter `@.prise > 100`; one that selects something is `@.price > 100`"
        ]
    );
    assert_eq!(
        filtered(STORE, "$.products[*]", "@.prise > 1000", CountAs::Matches),
        [
            "nothing at `$.products[*]` passes the filter `@.prise > 1000`: there is no `prise`; the nearest path is \
          `$.products[*].price`"
        ]
    );
    assert_eq!(filtered(STORE, "$.products", "@.price > 1000", CountAs::ArrayLength), [""; 0]);
    assert_eq!(
        filtered(STORE, "$.product", "@.price > 100", CountAs::ArrayLength),
        ["`$.product` selects nothing; the nearest path is `$.products`"]
    );
    // An empty array has the length 0, which needs no hint.
    let query = "$.data.users[0].tags".parse().unwrap();
    assert_eq!(
        of(STORE, &UnmatchedQuery::new("$.data.users[0].tags", &query).filter(None, CountAs::ArrayLength)),
        [""; 0]
    );
}

#[test]
fn reports_invalid_patterns() {
    let warnings = |query: &str| {
        let parsed: Query = query.parse().unwrap();
        let asked = UnmatchedQuery::new(query, &parsed);
        assert_eq!(of(r#"{"a": "7"}"#, &asked), [""; 0], "{query}");
        asked.pattern_warnings()
    };
    let what =
        |pattern: &str| format!("the pattern `{pattern}` is not an I-Regexp (RFC 9485) and matches nothing");
    assert_eq!(warnings(r#"$[?match(@, "\\d")]"#), [what(r"\d") + "; write `[0-9]`"]);
    assert_eq!(
        warnings(r#"$[?search(@, "\\w+\\s\\w") || search(@, "x")]"#),
        [what(r"\w+\s\w") + r"; write `[A-Za-z0-9_]+[ \t\r\n][A-Za-z0-9_]`"]
    );
    for (query, pattern, says) in [
        (r#"$[?search(@, "\\bRT")]"#, r"\bRT", "no word boundaries"),
        (r#"$[?search(@, "(?i)rt")]"#, "(?i)rt", "no flags"),
        (r#"$[?search(@, "[0-9")]"#, "[0-9", "not closed"),
    ] {
        let [message] = &*warnings(query) else { panic!("{query}") };
        assert!(message.starts_with(&what(pattern)) && message.contains(says), "{message}");
    }
    assert_eq!(warnings(r#"$[?search(@, "[0-9]")]"#), [""; 0]);
}

#[test]
fn unrepeatable_documents_get_no_hint() {
    let analysis = Analysis::new();
    let mut document = Document::from_reader(STORE.as_bytes());
    let outline = super::outline(&analysis, &Document::from_bytes(STORE));
    let query = "$.Total".parse().unwrap();
    assert!(
        super::hints(&analysis, &mut document, &outline, &[UnmatchedQuery::new("$.Total", &query)])
            .is_empty()
    );
}

#[test]
fn omits_long_suggestions() {
    let name = "n".repeat(250);
    let text = format!(r#"{{"{name}": 1, "{}": 2}}"#, "m".repeat(60));
    assert_eq!(hints(&text, &format!("$.{name}x")), [""; 0]);
    assert_eq!(hints(&text, &format!("$.{}", "m".repeat(61))).len(), 1);
}

#[test]
fn suggests_counting_elements_for_a_length_member() {
    for (query, path) in [("$.products.length", "$.products"), ("$.data.users.size", "$.data.users")] {
        let said = hints(STORE, query);
        assert!(said[0].ends_with(&format!("count FILE '{path}' --as array-length`")), "{said:?}");
    }
    assert_eq!(hints(STORE, "$.total.length"), Vec::<String>::new());
}
