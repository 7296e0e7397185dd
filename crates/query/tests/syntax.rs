//! The accepted grammar and the resulting trees (RFC 9535), beyond the compliance suite.

use std::cmp::Ordering::{Equal, Greater, Less};

use proptest::prelude::*;
use trommel_query::{
    Argument, Comparable, Comparison, FilterQuery, Function, FunctionCall, Literal, Logical, ParseErrorKind,
    Query, Segments, Selector, Slice, compare_strings,
};
use trommel_testkit::effort::cases;

fn parse(text: &str) -> Query {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Returns the only selector of the query's last segment.
fn last(text: &str) -> Selector {
    let query = parse(text);
    match query.segments().iter().last().map(|segment| segment.selectors.as_slice()) {
        Some([selector]) => selector.clone(),
        _ => panic!("{text} ends with one selector"),
    }
}

fn filter(text: &str) -> Logical {
    Query::parse_filter(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn relative(text: &str) -> FilterQuery {
    let segments = parse(&format!("${text}")).segments().clone();
    FilterQuery { absolute: false, segments }
}

fn number(lexeme: &str) -> Comparable {
    Comparable::Literal(Literal::Number(lexeme.to_owned()))
}

fn value_call(function: Function, value: Comparable) -> Comparable {
    Comparable::Call(FunctionCall { function, arguments: vec![Argument::Value(value)] })
}

fn nodes_call(function: Function, query: FilterQuery) -> Comparable {
    Comparable::Call(FunctionCall { function, arguments: vec![Argument::Nodes(query)] })
}

fn test(function: Function, text: Comparable, pattern: Comparable) -> Logical {
    let arguments = vec![Argument::Value(text), Argument::Value(pattern)];
    Logical::Test(FunctionCall { function, arguments })
}

#[test]
fn strings_are_ordered_by_scalar_values() {
    let ascending = ["", "\0", "A", "a", "a\0", "aa", "b", "é", "\u{ffff}", "\u{10000}", "\u{10ffff}"];
    for (index, left) in ascending.iter().enumerate() {
        assert_eq!(compare_strings(left, left), Equal);
        for right in &ascending[index + 1..] {
            assert_eq!(compare_strings(left, right), Less);
            assert_eq!(compare_strings(right, left), Greater);
        }
    }
}

#[test]
fn shorthand_names_take_all_of_unicode() {
    for name in ["a", "_", "é", "☺", "\u{80}", "\u{10ffff}", "\u{feff}", "\u{2028}x9", "length", "true"] {
        assert_eq!(last(&format!("$.{name}")), Selector::Name(name.to_owned()));
        assert_eq!(last(&format!("$..{name}")), Selector::Name(name.to_owned()));
    }
}

#[test]
fn every_escape_is_undone() {
    let name = |text: &str| last(&format!("$[{text}]"));
    for quote in ["'", "\""] {
        for (escaped, plain) in [
            ("\\b\\f\\n\\r\\t\\/\\\\", "\u{8}\u{c}\n\r\t/\\"),
            ("\\u0000\\u001F\\u00e9", "\0\u{1f}é"),
            ("\\uD83D\\uDE00\\ud834\\udd1e", "😀𝄞"),
            ("\\uFFFF\\uE000\\uD7FF", "\u{ffff}\u{e000}\u{d7ff}"),
            ("\u{7f}\u{10ffff} a", "\u{7f}\u{10ffff} a"),
            ("", ""),
        ] {
            assert_eq!(name(&format!("{quote}{escaped}{quote}")), Selector::Name(plain.to_owned()));
        }
    }
    assert_eq!(name("'\\'\"'"), Selector::Name("'\"".to_owned()));
    assert_eq!(name("\"\\\"'\""), Selector::Name("\"'".to_owned()));
}

#[test]
fn indices_and_slices() {
    let slice = |start, end, step| Selector::Slice(Slice { start, end, step });
    for (text, selector) in [
        ("0", Selector::Index(0)),
        ("-1", Selector::Index(-1)),
        ("9007199254740991", Selector::Index(9_007_199_254_740_991)),
        ("-9007199254740991", Selector::Index(-9_007_199_254_740_991)),
        (":", slice(None, None, 1)),
        ("::", slice(None, None, 1)),
        ("1:", slice(Some(1), None, 1)),
        (":-1", slice(None, Some(-1), 1)),
        ("1:2:3", slice(Some(1), Some(2), 3)),
        ("::-1", slice(None, None, -1)),
        ("::0", slice(None, None, 0)),
        (" 1\t:\n2\r: 3 ", slice(Some(1), Some(2), 3)),
        (" : : ", slice(None, None, 1)),
    ] {
        assert_eq!(last(&format!("$[{text}]")), selector, "{text}");
    }
}

#[test]
fn operators_bind_as_written() {
    let exists = |text: &str| Logical::Exists(relative(text));
    let (a, b, c) = (exists(".a"), exists(".b"), exists(".c"));
    let not = |of: &Logical| Logical::Not(Box::new(of.clone()));
    let and = |of: &[&Logical]| Logical::And(of.iter().map(|&of| of.clone()).collect());
    let or = |of: &[&Logical]| Logical::Or(of.iter().map(|&of| of.clone()).collect());
    for (text, tree) in [
        ("@.a||@.b&&@.c", or(&[&a, &and(&[&b, &c])])),
        ("@.a&&@.b||@.c", or(&[&and(&[&a, &b]), &c])),
        ("(@.a||@.b)&&@.c", and(&[&or(&[&a, &b]), &c])),
        ("!@.a&&@.b", and(&[&not(&a), &b])),
        ("!(@.a&&@.b)", not(&and(&[&a, &b]))),
        ("! ( ! @.a )", not(&not(&a))),
        ("((@.a))", a.clone()),
        // Nested operators of one kind become one list, since they are associative.
        ("@.a||(@.b||@.c)", or(&[&a, &b, &c])),
        ("(@.a&&@.b)&&@.c", and(&[&a, &b, &c])),
        ("@.a&&((@.b)&&(@.c))", and(&[&a, &b, &c])),
    ] {
        assert_eq!(filter(text), tree, "{text}");
    }
}

#[test]
fn comparisons_take_literals_singular_queries_and_values() {
    let singular = |text: &str| Comparable::Singular(relative(text));
    let compare = |left, op, right| Logical::Compare { left, op, right };
    for (text, op) in [
        ("==", Comparison::Equal),
        ("!=", Comparison::NotEqual),
        ("<", Comparison::Less),
        ("<=", Comparison::LessOrEqual),
        (">", Comparison::Greater),
        (">=", Comparison::GreaterOrEqual),
    ] {
        assert_eq!(filter(&format!("@.a{text}1")), compare(singular(".a"), op, number("1")));
        assert_eq!(filter(&format!("1\n{text}\t@ .a [0]")), compare(number("1"), op, singular(".a[0]")));
    }
    let root = FilterQuery { absolute: true, segments: parse("$['x']").segments().clone() };
    let length = value_call(Function::Length, nodes_call(Function::Value, relative("..a")));
    assert_eq!(
        filter("length( value( @..a ) )==$['x']"),
        compare(length, Comparison::Equal, Comparable::Singular(root))
    );
    let text = |text: &str| Comparable::Literal(Literal::String(text.to_owned()));
    assert_eq!(filter("'a'<\"b\""), compare(text("a"), Comparison::Less, text("b")));
    for (word, literal) in
        [("null", Literal::Null), ("true", Literal::Bool(true)), ("false", Literal::Bool(false))]
    {
        let right = Comparable::Literal(literal);
        assert_eq!(filter(&format!("@=={word}")), compare(singular(""), Comparison::Equal, right));
    }
}

#[test]
fn numbers_are_kept_as_written() {
    for lexeme in [
        "0",
        "-0",
        "-0.0",
        "1e400",
        "1E+2",
        "1e-2",
        "12345678901234567890123456789012345678901",
        "0.10",
        "-1.5e3",
    ] {
        let Logical::Compare { right, .. } = filter(&format!("@=={lexeme}")) else { panic!("{lexeme}") };
        assert_eq!(right, number(lexeme));
    }
}

#[test]
fn patterns_can_be_computed() {
    let (text, pattern) =
        (Comparable::Singular(relative(".a")), nodes_call(Function::Value, relative("..b")));
    assert_eq!(filter("search(@.a,value(@..b))"), test(Function::Search, text, pattern));
    for valid in ["match(1, 2)", "match(null, 'a')", "search(length(@.a), count(@.*))", "!match(@.a, @.b)"] {
        filter(valid);
    }
}

/// White space is allowed exactly where the grammar has `S`.
#[test]
fn white_space_is_allowed_only_where_the_grammar_has_it() {
    for text in [
        "$ .a",
        "$\n['a']",
        "$ ..a",
        "$.a\t[ 'a' , 0\r]",
        "$[ ?@.a]",
        "$[? @.a ]",
        "$[?@ .a [ 0 ]]",
        "$[?! @.a]",
        "$[?length( @.a )==1]",
        "$[?match( @.a , 'x' )]",
        "$[?( @.a )]",
        "$[?@.a\n==\n1]",
        "$[?count(@[ 0 ])==1]",
        "$[?length(@[ 'a' ])==1]",
        "$[?@['a'] [0]==1]",
        "$[?@[ 'a' ]]",
        "$[?@[ 'a' ] && @.b==1]",
    ] {
        parse(text);
    }
    for text in [
        " $",
        "$ ",
        "$\u{a0}.a",
        "$. a",
        "$.. a",
        "$. .a",
        "$[- 1]",
        "$[?count (@)==1]",
        "$[?@.a= =1]",
        "$[?@.a& &@.b]",
        "$[?t rue==@]",
        "$[?@[ 'a']==1]",
        "$[?1==@['a' ]]",
        "$[?@.a[ 0]<@.b]",
        "$[?$[0\n]==1]",
        "$\u{b}.a",
    ] {
        assert!(text.parse::<Query>().is_err(), "{text:?}");
    }
}

/// Kinds of errors that the compliance suite does not distinguish.
#[test]
fn kinds_of_errors() {
    use ParseErrorKind as Kind;
    for (text, kind) in [
        ("", Kind::End),
        ("a", Kind::Root),
        ("$[?@.a", Kind::End),
        ("$.a b", Kind::Unexpected),
        ("$['a", Kind::Unterminated),
        ("$['\\v']", Kind::Escape),
        ("$['\\ud800']", Kind::Escape),
        ("$['\t']", Kind::ControlCharacter),
        ("$[00]", Kind::Number),
        ("$[?@==1.]", Kind::Number),
        ("$[?@==1e]", Kind::Number),
        ("$[1:9007199254740992]", Kind::Range),
        ("$[?foo(@)]", Kind::UnknownFunction),
        ("$[?Length(@)==1]", Kind::UnknownFunction),
        ("$[?length()==1]", Kind::ArgumentCount),
        ("$[?match(@)]", Kind::ArgumentCount),
        ("$[?length(@,@)==1]", Kind::ArgumentCount),
        ("$[?count('a')==1]", Kind::ArgumentType),
        ("$[?count(length(@))==1]", Kind::ArgumentType),
        ("$[?value(match(@,'a'))==1]", Kind::ArgumentType),
        ("$[?length(match(@,'a'))==1]", Kind::ArgumentType),
        ("$[?length(@.a==1)==1]", Kind::ArgumentType),
        ("$[?length(@.a && @.b)==1]", Kind::ArgumentType),
        ("$[?length((@.a))==1]", Kind::ArgumentType),
        ("$[?length(!@.a)==1]", Kind::ArgumentType),
        ("$[?length(@.*)==1]", Kind::NotSingular),
        ("$[?match(@..a,'x')]", Kind::NotSingular),
        ("$[?@..a==1]", Kind::NotSingular),
        ("$[?1==@[0,1]]", Kind::NotSingular),
        ("$[?@[?@.a]==1]", Kind::NotSingular),
        ("$[?length(@)]", Kind::ResultType),
        ("$[?!count(@)]", Kind::ResultType),
        ("$[?match(@,'a')==1]", Kind::ResultType),
        ("$[?1==search(@,'a')]", Kind::ResultType),
        ("$[?'a']", Kind::LiteralAlone),
        ("$[?!true]", Kind::LiteralAlone),
        ("$[?(1)]", Kind::LiteralAlone),
        ("$[?@.a && 1]", Kind::LiteralAlone),
        ("$.a^", Kind::Dialect),
        ("$[(@.length-1)]", Kind::Dialect),
        ("$[?@[ 0]==1]", Kind::WhiteSpace),
    ] {
        let error = text.parse::<Query>().expect_err(text);
        assert_eq!(error.kind(), kind, "{text}: {error}");
        assert!(error.kind().code().starts_with("query-"));
        assert!(!error.kind().is_limit());
    }
}

#[test]
fn filters_have_three_notations() {
    let expected = filter("@.a > 1");
    for text in ["?@.a>1", "[?(@.a > 1)]", "[?@.a>1]", " @.a > 1 ", "? @.a>1", "[ ? @.a>1 ]\n", "(@.a > 1)"] {
        assert_eq!(filter(text), expected, "{text}");
    }
    for text in [
        "",
        "?",
        "[]",
        "[?]",
        "[@.a]",
        "[?@.a,?@.b]",
        "[?@.a]]",
        "[?@.a",
        "@.a]",
        "??@.a",
        "@.a @.b",
        "1",
        "$.a,",
    ] {
        assert!(Query::parse_filter(text).is_err(), "{text}");
    }
    assert_eq!(Query::root().with_filter(expected), parse("$[?@.a>1]"));
    assert_eq!(parse("$.a").with_wildcard(), parse("$.a[*]"));
    assert_eq!(parse("$.a").with_child(Selector::Index(-1)), parse("$.a[-1]"));
}

#[test]
fn singular_queries_are_names_and_indices() {
    for text in ["$", "$.a", "$['a'][0].b[-1]"] {
        assert!(parse(text).is_singular(), "{text}");
    }
    for text in ["$.*", "$..a", "$[0:1]", "$['a','b']", "$[?@]", "$.a[0].*.b"] {
        assert!(!parse(text).is_singular(), "{text}");
    }
}

#[test]
fn finds_invalid_patterns_at_any_depth() {
    let query =
        parse(r"$[?match(@.a, '\\d') || !(@[?search(@, '[')] && length(value(@[?match(@, '(a')])) == 1)].b");
    let bad = query.invalid_patterns().into_iter().map(|(pattern, _)| pattern).collect::<Vec<_>>();
    assert_eq!(bad, [r"\d", "[", "(a"]);
    assert_eq!(filter("match(@.a, 'a+') && match(@.a, $.b) && match('(', 'a')").invalid_patterns(), []);
    assert_eq!(filter("match(@.a, '(')").invalid_patterns().len(), 1);
}

/// A query is plain data, which can be sent to and shared between threads.
#[test]
fn queries_are_shared_freely() {
    fn shared<T: Send + Sync + Clone + PartialEq + 'static>(_: &T) {}
    shared(&parse("$[?@.a]"));
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_]{1,6}", any::<String>(), "['\"\\\\\u{0}-\u{1f}\u{7f}]{0,4}"]
}

fn lexeme() -> impl Strategy<Value = String> {
    "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?"
}

fn integer() -> impl Strategy<Value = i64> {
    prop_oneof![-20_i64..20, -9_007_199_254_740_991_i64..=9_007_199_254_740_991]
}

fn slice() -> impl Strategy<Value = Selector> {
    let bound = || prop::option::of(integer());
    (bound(), bound(), integer()).prop_map(|(start, end, step)| Selector::Slice(Slice { start, end, step }))
}

fn query_of(selectors: Vec<(bool, Vec<Selector>)>) -> Segments {
    let mut text = String::from("$");
    for (descendant, selectors) in selectors {
        text.push_str(if descendant { "..[" } else { "[" });
        let list = selectors.iter().map(ToString::to_string).collect::<Vec<_>>();
        text.push_str(&list.join(","));
        text.push(']');
    }
    parse(&text).segments().clone()
}

fn singular() -> impl Strategy<Value = FilterQuery> {
    let step = prop_oneof![name().prop_map(Selector::Name), integer().prop_map(Selector::Index)];
    (any::<bool>(), prop::collection::vec(step, 0..3)).prop_map(|(absolute, steps)| FilterQuery {
        absolute,
        segments: query_of(steps.into_iter().map(|step| (false, vec![step])).collect()),
    })
}

fn comparable() -> impl Strategy<Value = Comparable> {
    let literal = prop_oneof![
        Just(Literal::Null),
        any::<bool>().prop_map(Literal::Bool),
        lexeme().prop_map(Literal::Number),
        name().prop_map(Literal::String),
    ];
    let leaf = prop_oneof![
        literal.prop_map(Comparable::Literal),
        singular().prop_map(Comparable::Singular),
        singular().prop_map(|query| nodes_call(Function::Count, query)),
        singular().prop_map(|query| nodes_call(Function::Value, query)),
    ];
    leaf.prop_recursive(2, 3, 1, |inner| inner.prop_map(|of| value_call(Function::Length, of)))
}

fn comparison() -> impl Strategy<Value = Comparison> {
    prop::sample::select(vec![
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ])
}

/// Expressions in the form that the parser produces: a list of operands contains no list of its own
/// kind.
fn logical() -> impl Strategy<Value = Logical> {
    let leaf = prop_oneof![
        singular().prop_map(Logical::Exists),
        (comparable(), comparison(), comparable()).prop_map(|(left, op, right)| Logical::Compare {
            left,
            op,
            right
        }),
        (any::<bool>(), comparable(), comparable()).prop_map(|(whole, subject, pattern)| {
            test(if whole { Function::Match } else { Function::Search }, subject, pattern)
        }),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            inner.clone().prop_map(|of| Logical::Not(Box::new(of))),
            (list.clone(), any::<bool>()).prop_map(|(operands, any)| join(operands, any)),
            (any::<bool>(), selectors(inner)).prop_map(|(absolute, selectors)| {
                Logical::Exists(FilterQuery { absolute, segments: query_of(selectors) })
            }),
        ]
    })
}

fn join(operands: Vec<Logical>, any: bool) -> Logical {
    let flat = operands.into_iter().flat_map(|operand| match operand {
        Logical::Or(inner) if any => inner,
        Logical::And(inner) if !any => inner,
        other => vec![other],
    });
    if any { Logical::Or(flat.collect()) } else { Logical::And(flat.collect()) }
}

fn selectors(
    filter: impl Strategy<Value = Logical> + 'static,
) -> impl Strategy<Value = Vec<(bool, Vec<Selector>)>> {
    let selector = prop_oneof![
        name().prop_map(Selector::Name),
        Just(Selector::Wildcard),
        integer().prop_map(Selector::Index),
        slice(),
        filter.prop_map(|filter| Selector::Filter(Box::new(filter))),
    ];
    prop::collection::vec((any::<bool>(), prop::collection::vec(selector, 1..3)), 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(2_000, 100_000) as u32, ..ProptestConfig::default() })]

    /// The canonical form of a tree parses to an equal tree, and is its own canonical form.
    #[test]
    fn canonical_form_parses_to_an_equal_query(filter in logical()) {
        let query = Query::root().with_filter(filter);
        let text = query.to_string();
        let parsed = parse(&text);
        prop_assert_eq!(&parsed, &query, "{}", text);
        prop_assert_eq!(parsed.to_string(), text);
    }
}
