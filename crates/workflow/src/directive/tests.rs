//! The grammar: examples of the specification, positions of errors, and random texts.

use proptest::prelude::*;

use trommel_route::{Pattern, Route, Scope, Target, WriteMode};

use super::*;

fn read(text: &str) -> Directives {
    let (directives, body) = Directives::parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(body, "", "the whole text is directives");
    directives
}

fn error_of(text: &str) -> DirectiveError {
    Directives::parse(text).unwrap_err()
}

fn only_input(text: &str) -> Input {
    let mut directives = read(text);
    assert_eq!(directives.inputs.len(), 1);
    directives.inputs.remove(0)
}

fn route(target: &str) -> Route {
    Route::to(Target::parse(target).unwrap())
}

/// Returns the directives without byte ranges.
fn without_spans(mut directives: Directives) -> Directives {
    directives.inputs.iter_mut().for_each(|input| input.span = 0..0);
    directives.tools.named.iter_mut().for_each(|tool| tool.span = 0..0);
    directives.outputs.iter_mut().for_each(|output| output.span = 0..0);
    directives.model.iter_mut().for_each(|model| model.span = 0..0);
    directives
}

#[test]
fn tools_of_the_specification() {
    let one =
        read("@tools web_search_tavily(output=variable:foo), code_execution(output=file:results/{today})\n");
    let two = read(
        "@tools web_search_tavily(output=variable:foo),\n       code_execution(output=file:results/{today})\n",
    );
    for directives in [one, two] {
        let named = directives.tools.named;
        assert_eq!(named.len(), 2);
        assert_eq!(
            (named[0].name.as_str(), &named[0].route),
            ("web_search_tavily", &Some(route("variable:foo")))
        );
        assert_eq!(
            (named[1].name.as_str(), &named[1].route),
            ("code_execution", &Some(route("file:results/{today}")))
        );
    }
    let replaced = read("@tools web_search_tavily(output=variable:foo, write-mode=replace)");
    assert_eq!(replaced.tools.named[0].route, Some(route("variable:foo").write_mode(WriteMode::Replace)));
}

#[test]
fn inputs_of_the_specification() {
    for (line, source, target, mode) in [
        ("@input file:myfile (output=variable:foo)", "myfile", "variable:foo", None),
        ("@input variable:foo (output=file:myfile)", "foo", "file:myfile", None),
        (
            "@input file:myfile2 (output=variable:foo)     # append by default",
            "myfile2",
            "variable:foo",
            None,
        ),
        (
            "@input url:https://example.com (output=variable:foo)  # future input source",
            "https://example.com",
            "variable:foo",
            None,
        ),
        ("@input file:myfile1 (output=variable:foo)      # append", "myfile1", "variable:foo", None),
        (
            "@input file:myfile3 (output=variable:foo, write-mode=replace)",
            "myfile3",
            "variable:foo",
            Some(WriteMode::Replace),
        ),
        (
            "@input file:myhugefile.md (output=variable:huge_file)",
            "myhugefile.md",
            "variable:huge_file",
            None,
        ),
        (
            "@input variable:huge_file (output=file:archive/{today})",
            "huge_file",
            "file:archive/{today}",
            None,
        ),
        ("@input query: $.users[*].name (output=file:names)", "$.users[*].name", "file:names", None),
    ] {
        let input = only_input(line);
        assert_eq!(input.source.name(), source, "{line}");
        let route = input.route.unwrap();
        assert_eq!((route.target, route.write_mode), (Target::parse(target).unwrap(), mode), "{line}");
        assert!(line.contains(input.source.scheme()));
    }
}

#[test]
fn lines_merge_their_tools_and_the_last_parameters_apply() {
    let tools = read(
        "@tools a(output=variable:x), b\n\n@tools b(output=file:y, write_mode=new), c\n@tools a(output=discard)\n@tools a, c # done",
    )
    .tools;
    let names: Vec<_> = tools.named.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(tools.named[0].route, Some(route("discard")));
    assert_eq!(tools.named[1].route, Some(route("file:y").write_mode(WriteMode::New)));
    assert_eq!(tools.named[2].route, None);
    // A target applies until another one replaces it.
    let tools = read(
        "@tools a(output=inline), b(output=variable:x)\n@tools a(write-mode=new), b(write-mode=replace)",
    )
    .tools;
    assert_eq!(tools.named[0].route, Some(route("inline").write_mode(WriteMode::New)));
    assert_eq!(tools.named[1].route, Some(route("variable:x").write_mode(WriteMode::Replace)));
}

#[test]
fn tools_may_be_all_or_none_with_any_separators() {
    assert_eq!(read("@tools all").tools.selection, ToolSelection::All);
    assert_eq!(read("@tools: yes").tools.selection, ToolSelection::All);
    assert_eq!(read("@tools a, b\n@tools none\n@tools c").tools.named.len(), 1);
    let spread = read("@tools a b   (scope=run) ,c,\n  d\n  , e # the last\n  f\n@model none").tools;
    let names: String = spread.named.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, "abcdef");
    let dotted = read("@tools tool_outputs.list, tool_outputs_read");
    assert_eq!(dotted.tools.named[1].name, "tool_outputs_read");
}

#[test]
fn names_may_contain_parentheses() {
    for (line, name, parameters) in [
        ("@input file:note (1).md", "note (1).md", false),
        ("@input file:note (1)", "note (1)", false),
        ("@input file:note (1) (required)", "note (1)", true),
        ("@input file:note (a (b)) (required=yes)", "note (a (b))", true),
        ("@input file: \"note (required)\"", "note (required)", false),
        ("@input file: 'note, 2' (REQUIRED = on)", "note, 2", true),
        ("@input [[file:notes/a (b)]] (required)", "notes/a (b)", true),
        ("@input file: [[notes/a]]", "notes/a", false),
        ("@input file: bob's notes (required)", "bob's notes", true),
        ("@input file: \"half a quote", "\"half a quote", false),
        ("@input file: \"a\"b", "\"a\"b", false),
        ("@input file: \"a (, b\"", "a (, b", false),
        ("@input url: https://example.com/Rust_(language)", "https://example.com/Rust_(language)", false),
        ("@input file: report (head).md", "report (head).md", false),
        ("@input file: \"x (append)\"", "x (append)", false),
        ("@input file: \"notes output=1\"", "notes output=1", false),
        ("@input query: d.json $[?(@.head == 'x (y)')] (required)", "d.json $[?(@.head == 'x (y)')]", true),
        ("@input query: d.json $[?@.a == ' output=1']", "d.json $[?@.a == ' output=1']", false),
        ("@input file: notes #1.md", "notes #1.md", false),
    ] {
        let input = only_input(line);
        assert_eq!((input.source.name(), input.required), (name, parameters), "{line}");
    }
}

#[test]
fn values_may_contain_commas_parentheses_and_equals_signs() {
    for (line, target) in [
        ("@input file:a (output=\"file:a, b.md\")", "file:a, b.md"),
        ("@input file:a (output='file:(c', required)", "file:(c"),
        ("@input file:a (output=file:report (1).md, required)", "file:report (1).md"),
        ("@input file:a (output=file:a=b)", "file:a=b"),
        ("@input file:a (output = variable:it's)", "variable:it's"),
    ] {
        assert_eq!(only_input(line).route, Some(route(target)), "{line}");
    }
}

#[test]
fn every_parameter_of_an_input() {
    let input = only_input(
        "@input variable:x (scope=session, refs_only, head=20, properties=\"title, tags\", Write_Mode=new, output=discard)",
    );
    assert_eq!(input.scope, Some(Scope::Session));
    assert!(input.refs_only && !input.required);
    assert_eq!((input.head, input.properties), (Some(20), Some(vec!["title".into(), "tags".into()])));
    assert_eq!(input.route, Some(route("discard").write_mode(WriteMode::New)));
    let written = only_input("@input variable:x (scope=session, output=variable:y)");
    assert_eq!((written.scope, written.route), (None, Some(route("variable:y").scope(Scope::Session))));
    assert_eq!(only_input("@input file:x (properties)").properties, Some(Vec::new()));
    assert!(!only_input("@input file:x (required=false)").required);
}

#[test]
fn the_other_directives() {
    let directives = read(
        "\n@output: file: reports/{today} (1)\n  @output variable:answer (scope=session)\n@output context\n@write_mode New\n\
         @model gpt-4.1 (thinking=high)\n@header Report of {today}\n",
    );
    assert_eq!(directives.outputs[0].route, route("file:reports/{today} (1)"));
    assert_eq!(directives.outputs[1].route, route("variable:answer").scope(Scope::Session));
    assert_eq!(directives.outputs[2].route, route("inline"));
    assert_eq!(directives.write_mode, Some(WriteMode::New));
    let model = directives.model.unwrap();
    assert_eq!((model.name.as_deref(), model.thinking.as_deref()), (Some("gpt-4.1"), Some("high")));
    assert_eq!(directives.header.unwrap().as_str(), "Report of {today}");
    assert_eq!(read("@model none").model.unwrap().name, None);
}

#[test]
fn the_first_other_line_ends_the_directives() {
    let (directives, body) =
        Directives::parse("@input file:a\n\n@model none\n\nWrite.\n@input file:b\n").unwrap();
    assert_eq!((directives.inputs.len(), body), (1, "\nWrite.\n@input file:b\n"));
    for text in ["@ nobody", "@1 first", "a@b.c d", "@foo.bar x", "@input(x)"] {
        assert_eq!(Directives::parse(text).unwrap(), (Directives::default(), text), "{text}");
    }
    assert_eq!(Directives::parse("@header é\n\n@model none\né").unwrap().1, "é");
    let crlf = Directives::parse("@input file:a (required)\r\n@tools a,\r\n b\r\ntext\r\n").unwrap();
    assert_eq!((crlf.0.tools.named.len(), crlf.0.inputs[0].source.name(), crlf.1), (2, "a", "text\r\n"));
}

/// R45: errors mark the faulty characters and give a remedy.
#[test]
fn r45_errors_mark_the_fault() {
    for (text, column, marked, said) in [
        ("@inptu file:a", 2, "inptu", "Did you mean @input?"),
        ("@cache daily", 2, "cache", "remove this line"),
        ("@input", 2, "input", "needs a value"),
        ("@input notes.md", 8, "notes.md", "file:PATH, variable:NAME"),
        ("@input file:", 8, "file:", "a name is missing"),
        ("@input file:/etc/passwd", 13, "/etc/passwd", "an absolute path"),
        ("@input file:../x", 13, "../x", "`..`"),
        ("@input file:a/**/b", 13, "a/**/b", "`**`"),
        ("@input file:{todya}", 13, "{todya}", "did you mean {today}?"),
        ("@input file:a (output=variable:)", 23, "variable:", "a name is missing"),
        ("@input file:a (output=s3:x)", 23, "s3:x", "inline, discard, variable:NAME, or file:PATH"),
        ("@input file:a (output=)", 16, "output", "a value is missing"),
        ("@input file:a (outptu=variable:b)", 16, "outptu", "Did you mean `output`?"),
        ("@input file:a (output=file:a, b.md)", 31, "b.md", "in quotes"),
        ("@input file:a (output=\"file:a\" b)", 32, "b", "in quotes"),
        ("@input file:a (output=\"a) # x\" b)", 32, "", "in quotes"),
        ("@input file:a (output=variable:b", 15, "(output=variable:b", "not closed"),
        ("@input file:a (head=no)", 21, "no", "number of characters"),
        ("@input file:a (head=1, head=2)", 24, "head", "occurs twice"),
        ("@input file:a (required=maybe)", 25, "maybe", "true or false"),
        ("@input file:a (write-mode=under, output=discard)", 27, "under", "append, replace, or new"),
        ("@input file:a (output=variable:b, scope=ever)", 41, "ever", "run or session"),
        ("@tools a(output=variable:x, b)", 29, "b", "unknown parameter"),
        ("@tools a(ouput=variable:x)", 10, "ouput", "Did you mean `output`?"),
        ("@tools a(output=variable:x", 9, "(", "not closed"),
        ("@tools ,", 8, ",", "a tool is missing"),
        ("@tools (x)", 8, "(", "cannot begin with"),
        ("@output nowhere", 9, "nowhere", "unknown target"),
        ("@output file:a (write-mode=x)", 28, "x", "append, replace, or new"),
        ("@write-mode sideways", 13, "sideways", "append, replace, or new"),
        ("@model two words", 8, "two words", "one word"),
        ("@header {", 9, "{", "unbalanced brace"),
    ] {
        let error = error_of(text);
        assert_eq!((error.line, error.column), (1, column), "{text}: {error}");
        assert_eq!(text.get(error.span.clone()), Some(marked), "{text}: {error}");
        assert!(error.message.contains(said), "{text}: {error}");
    }
    let error = error_of("\n@model none\n@tools a,\n  bé(output=x:y)\n");
    assert_eq!((error.line, error.column), (4, 13));
    let last = error.to_string();
    assert!(last.ends_with("\n    bé(output=x:y)\n              ^^^"), "{last}");
    let long = error_of(&format!("@input file:{}{{x}}", "é\u{202e}".repeat(300)));
    assert!(long.to_string().chars().count() < 2_500, "{long}");
    assert!(error_of(&format!("@model {}", "x".repeat(5_000))).message.contains("4096"));
}

/// Text that looks like parameters never becomes part of a name: the error marks the part that is
/// malformed.
#[test]
fn malformed_parameters_are_errors() {
    for (text, marked, said) in [
        ("@input file:a (output=variable:v; write-mode=replace)", "write-mode=replace", "a comma is missing"),
        ("@input file:a (output=variable:v required, head=3 scope=run)", "scope=run", "a comma is missing"),
        ("@input file:a (output=variable:v) trailing words", "trailing words", "only a remark"),
        ("@input file:a (output=variable:v))", ")", "only a remark"),
        ("@input file:a (required) (output=variable:v)", "(output=variable:v)", "only a remark"),
        ("@input file:a (required)# remark", "# remark", "only a remark"),
        ("@input file:a output=variable:v", "output=variable:v", "in parentheses"),
        ("@input file:a, write_mode = new", "write_mode = new", "in parentheses"),
        ("@input file:a [output=variable:v]", "output=variable:v]", "in parentheses"),
        ("@input query: d.json $.x output=variable:v", "output=variable:v", "in parentheses"),
        ("@input file:a (output: variable:v)", "output: variable:v", "output=variable:v"),
        ("@input file:a (draft)", "draft", "in quotes"),
        ("@input file:a (1, 2)", "1", "unknown parameter `1`"),
        ("@input file:a (see file=b)", "see file", "unknown parameter"),
        ("@input file:a (b", "(b", "not closed"),
        ("@input file:a (b))", ")", "unexpected `)`"),
        ("@input \"file:a\" (output=variable:v) words", "words", "only a remark"),
        ("@input \"file:a\" words", "words", "may follow a quoted name"),
        ("@output file:x (append)", "append", "Did you mean `write-mode=append`?"),
        ("@output file:x(replace)", "replace", "Did you mean `write-mode=replace`?"),
        ("@output variable:x (session)", "session", "@output takes scope, write-mode"),
        ("@model small (temperature=0)", "temperature", "@model takes thinking"),
        ("@tools a(output: variable:v)", "output: variable:v", "output=variable:v"),
        ("@tools a(output=variable:v; write-mode=new)", "write-mode=new", "a comma is missing"),
    ] {
        let error = error_of(text);
        assert_eq!(text.get(error.span.clone()), Some(marked), "{text}: {error}");
        assert!(error.message.contains(said), "{text}: {error}");
    }
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z0-9 _.-]{0,12}[a-z0-9]",
        "[a-z]{1,4} \\([a-z0-9]{1,3}\\)",
        "[a-z]{1,3}'s [a-z, =#]{0,4}[a-z]",
        "[a-z]{1,3}\\{\\{[a-z]\\}\\}",
        "[a-z]{1,4}-\\{today\\}",
    ]
}

fn target() -> impl Strategy<Value = Target> {
    prop_oneof![
        Just(Target::Inline),
        Just(Target::Discard),
        name().prop_map(|name| Target::Variable(Pattern::parse(&name).unwrap())),
        name().prop_map(|name| Target::File(Pattern::parse(&name).unwrap())),
    ]
}

fn routes() -> impl Strategy<Value = Route> {
    let mode = prop::option::of(prop::sample::select(&WriteMode::ALL[..]));
    let scope = prop::option::of(prop::sample::select(&Scope::ALL[..]));
    (target(), mode, scope).prop_map(|(target, write_mode, scope)| {
        let mut route = Route::to(target);
        (route.write_mode, route.scope) = (write_mode, scope);
        route
    })
}

fn inputs() -> impl Strategy<Value = Input> {
    let source = prop_oneof![
        name().prop_map(|name| Source::File(Pattern::parse(&name).unwrap())),
        name().prop_map(|name| Source::Variable(Pattern::parse(&name).unwrap())),
        "https://[a-z]{1,5}/[a-z()]{0,5}".prop_map(Source::Url),
    ];
    let flags = (any::<bool>(), any::<bool>(), prop::option::of(1..5_000_u64));
    let properties = prop::option::of(prop::collection::vec("[a-z]{1,4}", 0..3));
    (source, prop::option::of(routes()), flags, properties).prop_map(
        |(source, mut route, flags, properties)| {
            let (required, refs_only, head) = flags;
            let is_written = |route: &&mut Route| !matches!(route.target, Target::Variable(_));
            let scope = route.as_mut().filter(is_written).and_then(|route| route.scope.take());
            Input { source, route, scope, required, refs_only, properties, head, span: 0..0 }
        },
    )
}

proptest! {
    /// Written directives parse to the same directives.
    #[test]
    fn written_directives_parse_to_the_same(
        inputs in prop::collection::vec(inputs(), 0..4),
        tools in prop::collection::btree_map("[a-z][a-z_.]{1,8}[a-z]", prop::option::of(routes()), 0..4),
        outputs in prop::collection::vec(routes(), 0..3),
        model in prop::option::of("[a-z]{2}-[0-9]"),
        mode in prop::option::of(prop::sample::select(&WriteMode::ALL[..])),
    ) {
        let mut directives = Directives { inputs, ..Directives::default() };
        let words = ["all", "none", "yes", "no", "on", "off", "true", "false"];
        for (name, route) in tools.into_iter().filter(|(name, _)| !words.contains(&name.as_str())) {
            let write_mode = route.as_ref().and_then(|route| route.write_mode);
            directives.tools.named.push(ToolUse { name, route, write_mode, span: 0..0 });
        }
        directives.outputs = outputs.into_iter().map(|route| Output { route, span: 0..0 }).collect();
        directives.model = model.map(|name| Model { name: Some(name), thinking: None, span: 0..0 });
        directives.write_mode = mode;
        let text = directives.to_string();
        let again = Directives::parse(&text);
        prop_assert!(again.is_ok(), "{text}\n{}", again.unwrap_err());
        let (again, body) = again.unwrap();
        prop_assert_eq!(body, "");
        prop_assert_eq!(without_spans(again), directives, "{}", text);
    }

    /// Any text gives directives or an error whose position is in the text, and directives that are
    /// written and parsed again are the same.
    #[test]
    fn any_text_is_parsed_or_refused(text in "(@(input|tools|output|model|header)[: ](file:|variable:|url:)?[a-c(){}\"',=# \\[\\]]{0,14}(\\(output=[a-z:,()\"' ]{0,9}\\)?)?\n){0,3}[@a \n]{0,4}") {
        match Directives::parse(&text) {
            Ok((directives, body)) => {
                prop_assert!(text.ends_with(body));
                let written = directives.to_string();
                let again = Directives::parse(&written);
                prop_assert!(again.is_ok(), "{text:?} became {written:?}\n{}", again.unwrap_err());
                prop_assert_eq!(without_spans(again.unwrap().0), without_spans(directives), "{}", written);
            }
            Err(error) => {
                prop_assert!(text.get(error.span.clone()).is_some());
                prop_assert!(error.line >= 1 && error.column >= 1 && !error.to_string().is_empty());
            }
        }
    }
}
