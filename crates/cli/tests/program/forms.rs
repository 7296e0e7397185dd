//! The forms of values: names, assignments, raw strings, NUL, indentation, and colors.

use serde_json::Value;
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{self, Layout, Names, Random, Shape, stream};
use trommel_testkit::naive;

use crate::common::{Folder, Run, line, piped, run};

/// Documents with difficult names and strings. All parsers agree on their numbers.
fn shape() -> Shape {
    Shape { names: Names::Odd, values: 80, ..Shape::plain() }
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Reads assignments back, as `gron --ungron` does: by its own lexer for paths, and by another
/// library for names and values.
fn ungron(lines: &str) -> Value {
    let mut top = Value::Null;
    for line in lines.lines() {
        let statement = line.strip_suffix(';').unwrap_or_else(|| panic!("no end: {line}"));
        let mut rest = statement.strip_prefix("json").unwrap_or_else(|| panic!("no start: {line}"));
        let mut place = &mut top;
        loop {
            if let Some(value) = rest.strip_prefix(" = ") {
                let value = parse(value);
                // A container is declared before its children.
                if !(value.as_array().is_some_and(Vec::is_empty) && place.is_array()) {
                    *place = value;
                }
                break;
            }
            if let Some(quoted) = rest.strip_prefix("[\"") {
                // gron takes every quote after a backslash for an escaped one.
                let quote = quoted.char_indices().find(|&(at, c)| c == '"' && !quoted[..at].ends_with('\\'));
                let (end, _) = quote.unwrap();
                let name: String = serde_json::from_str(&rest[1..end + 3]).unwrap();
                rest = quoted[end + 1..].strip_prefix(']').unwrap();
                place = place.as_object_mut().unwrap().entry(name).or_insert(Value::Null);
            } else if let Some(index) = rest.strip_prefix('[') {
                let (index, after) = index.split_once(']').unwrap();
                let items = place.as_array_mut().unwrap();
                let index: usize = index.parse().unwrap();
                items.resize(items.len().max(index + 1), Value::Null);
                (rest, place) = (after, &mut items[index]);
            } else {
                let name = rest.strip_prefix('.').unwrap_or_else(|| panic!("no step: {line}"));
                let end = name.find(['.', '[', ' ']).unwrap();
                assert!(!name[..end].is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()), "{line}");
                rest = &name[end..];
                let members = place.as_object_mut().unwrap();
                place = members.entry(&name[..end]).or_insert(Value::Null);
            }
        }
    }
    top
}

#[test]
fn assignments_are_those_of_gron() {
    assert_eq!(
        line("extract users.json $.meta $.users[1] -o gron").ok(),
        "json.meta = {};\njson.meta.n = 3;\njson.meta.n = 4;\njson.meta[\"it's\"] = true;\n\
         json.users[1] = {};\njson.users[1].name = \"Bob\";\njson.users[1].age = 24.50;\n\
         json.users[1].country = \"FR\";\njson.users[1].tags = [];\n"
    );
    let stream = "json = [];\njson[0].id = 1;\njson[1].id = 2;\njson[2].id = 3;\njson[3].id = 4;\n";
    assert_eq!(line("extract log.jsonl $.id -o gron").ok(), stream);
    assert_eq!(line("extract log.jsonl $.x $.id -o gron --limit 4").out, stream);
    assert_eq!(line("extract log.jsonl $.nothing -o gron").out, "");
    assert_eq!(line("sample log.jsonl $ -n 9 --seed 1 -o gron --where @.ms==7").out.lines().count(), 5);
}

/// Assignments read back are the same values, in a document and in a stream, from a file and from a
/// pipe.
#[test]
fn assignments_read_back_are_the_same_values() {
    let folder = Folder::new("gron");
    for seed in 0..cases(25, 400) {
        let mut random = Random::new(seed);
        let text = generate::document(seed, &shape());
        let file = folder.file("document.json", &text);
        let expected: Value = serde_json::from_slice(&text).unwrap();
        let file_lines = run(["extract", &file, "$", "-o", "gron"]).ok();
        assert_eq!(ungron(&file_lines), expected, "seed {seed}");
        assert_eq!(piped(["extract", "-", "$", "-o", "gron"], &text).ok(), file_lines, "seed {seed}");

        let framing = [naive::Framing::Lines, naive::Framing::Concatenated][random.below(2)];
        let one_line = Shape { layout: Layout::OneLine, ..shape() };
        let records = random.between(2, 9);
        let text = stream(seed, &one_line, framing, records);
        let file = folder.file("stream", &text);
        let input = if framing == naive::Framing::Lines { "jsonl" } else { "concatenated" };
        let expected = serde_json::Deserializer::from_slice(&text).into_iter::<Value>();
        let expected = Value::Array(expected.map(Result::unwrap).collect());
        let lines = run(["extract", &file, "$", "-o", "gron", "--input", input]).ok();
        assert_eq!(ungron(&lines), expected, "seed {seed}");
    }
}

/// A stream is recognized at its second record. Until then, assignments wait.
#[test]
fn assignments_of_an_unknown_framing_wait_for_the_second_record() {
    let records = b"{\"a\": 1}\n{\"a\": 2}\n";
    let expected = "json = [];\njson[0].a = 1;\njson[1].a = 2;\n";
    assert_eq!(piped(["extract", "-", "$.a", "-o", "gron"], records).ok(), expected);
    let expected = "json = [];\njson[0].a = 1;\njson[1].a = 2;\njson[0] = {};\njson[0].a = 1;\n\
                    json[1] = {};\njson[1].a = 2;\n";
    assert_eq!(piped(["extract", "-", "$.a", "$", "-o", "gron"], records).ok(), expected);
    assert_eq!(piped(["extract", "-", "$.a", "-o", "gron"], b"{\"a\": 1}\n").ok(), "json.a = 1;\n");
    let second = piped(["extract", "-", "$.b", "-o", "gron"], b"{\"a\": 1}\n{\"b\": 2}\n");
    assert_eq!(second.ok(), "json = [];\njson[1].b = 2;\n");
    // A first record that is too long to hold is a document; a second one is then an error.
    let long = format!("{{\"a\": \"{}\"}}\n", "x".repeat(2 << 20));
    assert_eq!(piped(["extract", "-", "$", "-o", "gron"], long.as_bytes()).ok().lines().count(), 2);
    let two = piped(["extract", "-", "$", "-o", "gron"], long.repeat(2).as_bytes());
    assert_eq!((two.status, two.out.lines().count()), (Some(1), 2));
    assert!(two.err.contains("a second record follows") && two.err.contains("--input jsonl"), "{}", two.err);
}

#[test]
fn malformed_values_end_assignments_at_their_position() {
    let refused = line("extract skipped.json $.later -o gron");
    assert_eq!((refused.status, refused.out.as_str()), (Some(1), "json.later = [];\njson.later[0] = 1;\n"));
    assert!(refused.err.contains("skipped.json:2:7"), "{}", refused.err);
}

#[test]
fn names_are_printed_one_per_line() {
    assert_eq!(line("extract users.json $.meta -o keys").ok(), "\"n\"\n\"n\"\n\"it's\"\n");
    assert_eq!(line("extract users.json $.meta $ -o keys -r").ok(), "n\nn\nit's\nusers\nmeta\n");
    let escaped = piped(["extract", "-", "$", "-o", "keys", "-r"], br#"{"\u00fc\n": 1, "": 2}"#);
    assert_eq!(escaped.ok(), "ü\n\n\n");
    let mixed = line("extract users.json $.users[0].tags $.meta -o keys");
    assert_eq!((mixed.status, mixed.out.lines().count()), (Some(0), 3));
    assert_eq!(mixed.err, "note: 1 match is not an object, so it has no names\n");
    assert!(line("extract users.json $.users[*].* -o keys").err.contains("matches are not objects"));
}

/// Raw strings are those that another library decodes; other values stay as they are.
#[test]
fn raw_strings_are_decoded() {
    let folder = Folder::new("raw");
    for seed in 0..cases(25, 400) {
        let text = generate::document(seed, &shape());
        let file = folder.file("document.json", &text);
        let values = run(["extract", &file, "$..*"]);
        let expected = values.out.lines().map(|line| match parse(line) {
            Value::String(text) => text + "\n",
            _ => line.to_owned() + "\n",
        });
        let expected: String = expected.collect();
        assert_eq!(run(["extract", &file, "$..*", "-r"]).out, expected, "seed {seed}");
        // Without strings that contain NUL, values can be split at NUL.
        let plain = values.out.replace('\n', "\0");
        assert_eq!(run(["extract", &file, "$..*", "-0"]).out, plain, "seed {seed}");
    }
}

#[test]
fn values_can_end_with_nul() {
    assert_eq!(line("extract users.json $.users[*].age -0").ok(), "36\x0024.50\0-0\0");
    assert_eq!(line("extract users.json $.users[*].name -r -0").ok(), "Ada\0Bob\0Cyd\0Dür\0");
    assert_eq!(line("extract users.json $.meta.n -o paths -0").ok(), "$['meta']['n']\0");
    assert_eq!(line("extract users.json $.meta -o verbatim -0").ok().matches('\0').count(), 1);
    assert_eq!(line("extract users.json $.users[1].age -o located -0").ok().matches('\0').count(), 1);
    assert_eq!(line("sample users.json $.users[*].age -n 9 --seed 1 -0").out, "36\x0024.50\0-0\0");
    assert_eq!(line("extract users.json $.meta -o keys -r -0").ok(), "n\0n\0it's\0");
}

/// A string with NUL would look like two values.
#[test]
fn strings_with_nul_are_errors_if_values_end_with_nul() {
    let folder = Folder::new("nul");
    let file = folder.file(
        "nul.json",
        r#"{"a": "\\u0000", "b":
        "x\u0000y", "c\u0000": 1}"#,
    );
    assert_eq!(run(["extract", &file, "$.a", "-r", "-0"]).ok(), "\\u0000\0");
    assert_eq!(run(["extract", &file, "$.b", "-r"]).ok(), "x\0y\n");
    assert_eq!(run(["extract", &file, "$.b", "-0"]).ok(), "\"x\\u0000y\"\0");
    for args in
        [&["extract", &file, "$.a", "$.b", "-r", "-0"][..], &["sample", &file, "$.*", "-n", "9", "-r0"]]
    {
        let refused = run(args);
        assert_eq!(refused.status, Some(1), "{refused:?}");
        assert!(refused.err.contains("nul.json:2:9: the string contains NUL"), "{}", refused.err);
    }
    let names = run(["extract", &file, "$", "-o", "keys", "-r", "-0"]);
    assert_eq!((names.status, names.out.as_str()), (Some(1), "a\0b\0"));
    assert!(names.err.contains("nul.json:2:21") && names.err.contains("omit -0"), "{}", names.err);
}

/// Indented values are the same values, with one member or element per line.
#[test]
fn values_can_be_indented() {
    assert_eq!(
        line("extract users.json $.meta $.users[1].tags --pretty").ok(),
        "{\n  \"n\": 3,\n  \"n\": 4,\n  \"it's\": true\n}\n[]\n"
    );
    let located = line("extract users.json $.meta.n -o located --pretty").ok();
    assert!(located.starts_with("{\n  \"path\": \"$['meta']['n']\",\n  \"value\": 3,\n"), "{located}");
    let folder = Folder::new("pretty");
    for seed in 0..cases(25, 400) {
        let text = generate::document(seed, &shape());
        let file = folder.file("document.json", &text);
        let expected: Value = serde_json::from_slice(&text).unwrap();
        let indented = run(["extract", &file, "$", "--pretty"]).ok();
        assert_eq!(parse(&indented), expected, "seed {seed}");
        // The other library breaks and indents lines in the same way.
        let levels = |text: &str| text.lines().map(|line| line.find(|c| c != ' ')).collect::<Vec<_>>();
        let other = serde_json::to_string_pretty(&expected).unwrap();
        assert_eq!(levels(&indented), levels(&other), "seed {seed}");
        let document = run(["extract", &file, "$", "$..*", "--json", "--pretty"]);
        assert_eq!(parse(&document.out), parse(&run(["extract", &file, "$", "$..*", "--json"]).out));
        let sample = run(["sample", &file, "$..*", "-n", "3", "--seed", "1", "--json", "--pretty"]);
        assert!(parse(&sample.out)["sample"].is_array() && sample.out.lines().count() > 5);
    }
}

/// Large values are laid out, decoded, and assigned in pieces.
#[test]
fn large_values_take_every_form() {
    let folder = Folder::new("large-forms");
    let text = "0123456789\\n\\u00fc\\\\ ".repeat(500_000);
    let decoded = "0123456789\nü\\ ".repeat(500_000);
    let numbers = vec!["[1,{\"a\":[]}]"; 400_000].join(",");
    let file = folder.file("large.json", format!("{{\"text\": \"{text}\", \"list\": [{numbers}]}}"));
    for more in [&[][..], &["--no-mmap"]] {
        let run = |args: &[&str]| run(["extract", &file].iter().chain(args).chain(more));
        assert!(run(&["$.text", "-r"]).ok() == format!("{decoded}\n"));
        assert!(run(&["$.text", "-r", "-0"]).ok() == format!("{decoded}\0"));
        assert!(run(&["$.text", "-o", "gron"]).ok() == format!("json.text = \"{text}\";\n"));
        let list = run(&["$.list", "--pretty"]).ok();
        assert!(list.lines().count() == 400_000 * 6 + 2);
        assert!(list.replace([' ', '\n'], "") == format!("[{numbers}]"));
        let lines = run(&["$.list", "-o", "gron"]).ok();
        assert!(lines.lines().count() == 1 + 400_000 * 4);
        assert!(lines.ends_with(
            "json.list[399999] = [];\njson.list[399999][0] = 1;\n\
                                 json.list[399999][1] = {};\njson.list[399999][1].a = [];\n"
        ));
    }
}

#[test]
fn threads_do_not_change_a_form() {
    let folder = Folder::new("form-threads");
    let lines = (0..40_000).map(|id| format!("{{\"id\": {id}, \"a b\": [\"x\\n\", {}]}}\n", id % 7));
    let file = folder.file("many.jsonl", lines.collect::<String>());
    for form in
        [&["-o", "gron"][..], &["-o", "keys", "-r"], &["-r"], &["--pretty"], &["-0", "--color", "always"]]
    {
        let run = |threads| run(["extract", &file, "$", "$['a b']", "--threads", threads].iter().chain(form));
        let (one, four) = (run("1"), run("4"));
        assert!(one == four && one.status == Some(0) && one.out.len() > 40_000, "{form:?}");
    }
}

/// Names of files are not part of the values that a style changes.
#[test]
fn every_line_can_begin_with_the_name_of_its_file() {
    let folder = Folder::new("names");
    let one = folder.file("one [\"x\"].jsonl", "{\"a\": \"b\\n\"}\n{\"a\": [1]}\n");
    let two = folder.file("two.json", "{\"a\": {\"c\": 2}}");
    let named = |rest: &[&str]| run(["extract", &one, &two, "-H"].iter().chain(rest)).ok();
    assert_eq!(named(&["$.a"]), format!("{one}\t\"b\\n\"\n{one}\t[1]\n{two}\t{{\"c\":2}}\n"));
    assert_eq!(named(&["$.a", "-r", "-0"]), format!("{one}\tb\n\0{one}\t[1]\0{two}\t{{\"c\":2}}\0"));
    let pretty = format!("{one}\t\"b\\n\"\n{one}\t[\n  1\n]\n{two}\t{{\n  \"c\": 2\n}}\n");
    assert_eq!(named(&["$.a", "--pretty"]), pretty);
    assert_eq!(named(&["$", "-o", "keys"]), format!("{one}\t\"a\"\n{one}\t\"a\"\n{two}\t\"a\"\n"));
    let gron = format!(
        "{one}\tjson = [];\n{one}\tjson[0].a = \"b\\n\";\n{one}\tjson[1].a = [];\n{one}\tjson[1].a[0] = 1;\n\
         {two}\tjson = [];\n{two}\tjson[0].a = {{}};\n{two}\tjson[0].a.c = 2;\n"
    );
    assert_eq!(named(&["$.a", "-o", "gron"]), gron);
    let single = run(["extract", &two, "$.a", "-o", "gron", "-H"]).ok();
    assert_eq!(single, format!("{two}\tjson.a = {{}};\n{two}\tjson.a.c = 2;\n"));
    let refused = run(["extract", &one, &two, "$.a", "-o", "gron"]).failed(2);
    assert!(refused.contains("-o gron takes one file, unless -H"), "{refused}");

    let sample = |rest: &[&str]| run(["sample", &one, &two, "-n", "9", "--seed", "1"].iter().chain(rest)).out;
    let items = format!("{one}\t{{\"a\":\"b\\n\"}}\n{one}\t{{\"a\":[1]}}\n{two}\t{{\"a\":{{\"c\":2}}}}\n");
    assert_eq!(sample(&["-H"]), items);
    let located = sample(&["-o", "located", "$..c"]);
    let file = serde_json::to_string(&two).unwrap();
    assert_eq!(
        located,
        format!(
            "{{\"path\":\"$['a']['c']\",\"value\":2,\"start\":12,\"end\":13,\"record\":0,\"file\":{file}}}\n"
        )
    );
}

#[test]
fn samples_take_the_forms_of_values() {
    let sample =
        |rest: &str| line(&format!("sample users.json $.users[*].tags -n 1 --strategy first {rest}"));
    assert_eq!(sample("").ok(), "[\"math\",\"code\"]\n");
    assert_eq!(sample("-o verbatim").ok(), "[\"math\", \"code\"]\n");
    assert_eq!(sample("-o paths").ok(), "$['users'][0]['tags']\n");
    assert_eq!(
        sample("-o located").ok(),
        "{\"path\":\"$['users'][0]['tags']\",\"value\":[\"math\",\"code\"],\"start\":71,\"end\":87}\n"
    );
    assert!(sample("-o gron").ok().ends_with("json.users[0].tags[1] = \"code\";\n"));
    let each = "users.json --each $.users[*] $.name -o gron";
    let names = "json.users[0].name = \"Ada\";\njson.users[1].name = \"Bob\";\n\
                 json.users[2].name = \"Cyd\";\njson.users[3].name = \"D\\u00fcr\";\n";
    assert_eq!(line(&format!("extract {each}")).ok(), names);
    let sampled = line("sample users.json --each $.users[*] $..name -n 9 --strategy first -o gron");
    assert_eq!(sampled.out, names);
    let record = line("sample log.jsonl $ -n 1 --strategy last -o located").ok();
    assert!(record.contains("\"path\":\"$\"") && record.ends_with(",\"record\":3}\n"), "{record}");
    // Each located item is the match with its index.
    let matches = line("extract log.jsonl $.* --order document -o located").ok();
    let sample = run(["sample", "log.jsonl", "$.*", "-n", "5", "--seed", "3", "-o", "located"]).ok();
    assert!(sample.lines().count() == 5 && sample.lines().all(|item| matches.contains(item)), "{sample}");
}

/// `--color always` colors a pipe, and the colored text without its colors is the plain text.
#[test]
fn colors_are_on_request() {
    let strip = |run: Run| anstream::adapter::strip_str(&run.ok()).to_string();
    for args in [
        "extract users.json $.users[*] $.meta",
        "extract users.json $.users[*] $.meta --order document -o located",
        "extract users.json $ -o keys",
        "extract users.json $.meta -o gron",
        "extract users.json $.meta --json",
        "extract users.json $.meta --pretty",
        "sample users.json $.users -n 2 --seed 1",
        "schema users.json",
        "stats users.json",
        "count users.json $..*",
        "group log.jsonl $.level",
        "extract log.jsonl $.id $.level -o objects",
    ] {
        let plain = line(args).ok();
        let colored = line(&format!("--color always {args}"));
        assert!(colored.out.contains("\u{1b}["), "{args}: {}", colored.out);
        assert_eq!(strip(colored), plain, "{args}");
        assert_eq!(line(&format!("{args} --color=never")).ok(), plain, "{args}");
    }
    let error = line("extract users.json $. --color=always").failed(2);
    assert!(error.contains("\u{1b}["), "{error}");
    let help = line("--color always extract --help").ok();
    assert!(help.contains("\u{1b}["), "{help}");
    assert!(
        line("--color sometimes extract users.json $")
            .failed(2)
            .contains("[possible values: auto, always, never]")
    );
    let raw = line("extract users.json $.users[0].name -r --color always").ok();
    assert_eq!(raw, "Ada\n");
}

#[test]
fn options_that_do_not_apply_to_a_form_are_refused() {
    for (args, said) in [
        ("-o located -r", "-o located prints JSON objects, so -r does not apply"),
        ("-o gron -r", "-o gron prints assignments, so -r does not apply"),
        ("-o gron -0", "so -0 does not apply"),
        ("-o gron --pretty", "so --pretty does not apply"),
        ("-o verbatim --pretty", "-o verbatim prints the bytes of the input"),
        ("-o paths --pretty", "-o paths prints paths"),
        ("-o keys --pretty", "-o keys prints names"),
        ("--json -r", "cannot be used with"),
        ("--json -0", "cannot be used with"),
        ("-o raw", "[possible values: values, verbatim, paths, located, "),
    ] {
        let refused = line(&format!("extract users.json $.meta {args}")).failed(2);
        assert!(refused.contains(said), "{args}: {refused}");
    }
    for (args, said) in [
        ("-o located -r", "so -r does not apply"),
        ("-o keys", "invalid value"),
        ("--indices -o paths", "cannot be used with"),
        ("--json -o paths", "cannot be used with"),
    ] {
        let refused = line(&format!("sample users.json $.users -n 1 {args}")).failed(2);
        assert!(refused.contains(said), "{args}: {refused}");
    }
}
