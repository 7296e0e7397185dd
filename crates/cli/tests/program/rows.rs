//! Rows: `extract -o objects`, `csv`, and `tsv`.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{self, Layout, Names, QueryOptions, Random, Shape, stream};
use trommel_testkit::naive;

use crate::common::{Folder, line, piped, run};

/// Lines with difficult names and strings. All parsers agree on their numbers.
fn shape() -> Shape {
    Shape { names: Names::Odd, layout: Layout::OneLine, values: 25, ..Shape::plain() }
}

#[test]
fn a_row_has_the_values_of_a_record() {
    assert_eq!(
        line("extract log.jsonl $.id $.level tag=$.tags[0] -o csv").ok(),
        "id,level,tag\r\n1,info,\r\n2,error,db\r\n3,info,\r\n4,error,\r\n"
    );
    assert_eq!(
        line("extract log.jsonl $.id $.ms $.tags -o tsv --no-header").ok(),
        "1\t12\t\n2\t250.0\t[\"db\"]\n3\t7\t\n4\t1e3\t\n"
    );
    assert_eq!(
        line("extract log.jsonl $.id $.tags[*] -o objects").ok(),
        "{\"id\":1,\"tags\":null}\n{\"id\":2,\"tags\":\"db\"}\n{\"id\":3,\"tags\":null}\n{\"id\":4,\"tags\":null}\n"
    );
    let each = run(["extract", "users.json", "--each", "$.users[*]", "$.name", "$.tags[*]", "-o", "csv"]);
    assert_eq!(
        each.ok(),
        "name,tags\r\nAda,\"[\"\"math\"\",\"\"code\"\"]\"\r\nBob,\r\nCyd,\"{\"\"deep\"\":null}\"\r\nDür,art\r\n"
    );
    // Without a query, a row holds the record.
    assert_eq!(piped(["extract", "-o", "objects"], b"[1]\n2\n").ok(), "{\"$\":[1]}\n{\"$\":2}\n");
}

#[test]
fn columns_are_named_by_the_last_name_of_their_query() {
    let input = b"{\"a\":{\"b\":[{\"c d\":1}]}}\n{}\n";
    let header = |queries: &[&str]| {
        let rows = piped(["extract"].iter().chain(queries).chain(&["-o", "tsv", "-n", "0"]), input);
        assert_eq!((rows.status, rows.err.as_str()), (Some(0), ""));
        rows.out
    };
    assert_eq!(header(&["$.a.b[*]['c d']", "$.a[0]", "$..b", "x=$.a"]), "c d\ta\tb\tx\n");
    assert_eq!(header(&["$", "$[*]", "$.*", "a\tb=$.a"]), "$\t$[*]\t$.*\ta\\tb\n");
    let csv = piped(["extract", "a,b=$.a", "=$.b", "c\"=$.c", "-o", "csv", "-n", "0"], input);
    assert_eq!(csv.status, Some(2));
    let csv = piped(["extract", "a,b=$.a", "c\"=$.c", "-o", "csv", "-n", "0"], input);
    assert_eq!(csv.ok(), "\"a,b\",\"c\"\"\"\r\n");
    let twice = piped(["extract", "$.a.n", "$.b.n", "-o", "csv"], b"not read").failed(2);
    assert!(twice.contains("two columns are named n; rename one with NAME=QUERY"), "{twice}");
    assert_eq!(piped(["extract", "$.a.n", "m=$.b.n", "-o", "csv", "-n", "0"], input).ok(), "n,m\r\n");
    // Other forms need no names.
    assert_eq!(line("extract users.json $.meta.n $.meta.n").ok(), "3\n3\n");
}

/// A missing value leaves its cell empty, and never moves another one.
#[test]
fn missing_values_do_not_shift_columns() {
    let input = b"{\"b\":1}\n{\"a\":2}\n{}\n{\"a\":null,\"b\":\"\"}\n";
    let rows = |rest: &[&str]| piped(["extract", "$.a", "$.b"].iter().chain(rest), input).ok();
    assert_eq!(rows(&["-o", "csv"]), "a,b\r\n,1\r\n2,\r\n,\r\n,\"\"\r\n");
    assert_eq!(rows(&["-o", "tsv"]), "a\tb\n\t1\n2\t\n\t\n\t\"\"\n");
    assert_eq!(
        rows(&["-o", "objects"]),
        "{\"a\":null,\"b\":1}\n{\"a\":2,\"b\":null}\n{\"a\":null,\"b\":null}\n{\"a\":null,\"b\":\"\"}\n"
    );
    assert_eq!(
        rows(&["-o", "csv", "--default", "\"N,A\""]),
        "a,b\r\n\"N,A\",1\r\n2,\"N,A\"\r\n\"N,A\",\"N,A\"\r\n,\"\"\r\n"
    );
    assert_eq!(rows(&["-o", "tsv", "--default", "[ 1 ]", "-n", "1"]), "a\tb\n[1]\t1\n");
    assert_eq!(rows(&["-o", "objects", "--default", "{\"x\": 1}", "-n", "1"]), "{\"a\":{\"x\":1},\"b\":1}\n");
    assert_eq!(rows(&["-o", "csv", "--default", "\"\"", "-n", "1"]), "a,b\r\n\"\",1\r\n");
    // A reader would skip an empty line.
    let alone = piped(["extract", "$.a", "-o", "csv"], input).ok();
    assert_eq!(alone, "a\r\n\"\"\r\n2\r\n\"\"\r\n\"\"\r\n");
    assert_eq!(piped(["extract", "$.a", "-o", "tsv"], input).ok(), "a\n\n2\n\n\n");
}

#[test]
fn limits_count_rows() {
    let rows = |rest: &str| line(&format!("extract log.jsonl $.id $.tags -o csv --no-header {rest}")).ok();
    assert_eq!(rows("--limit 2"), "1,\r\n2,\"[\"\"db\"\"]\"\r\n");
    assert_eq!(rows("--skip 3"), "4,\r\n");
    assert_eq!(rows("--skip 1 -n 2"), "2,\"[\"\"db\"\"]\"\r\n3,\r\n");
    assert_eq!(rows("--skip 9"), "");
    assert_eq!(rows("-n 0"), "");
    assert_eq!(rows("--where @.level==\"error\" --skip 1"), "4,\r\n");
    let two = line("extract log.jsonl log.jsonl $.id -o csv --no-header --skip 3 -n 3").ok();
    assert_eq!(two, "4\r\n1\r\n2\r\n");
    // The rest of the input is not read, but strict validation reads the last record.
    let rows = |text: &str, rest: &[&str]| {
        piped(
            ["extract", "$.a", "-o", "csv", "--no-header", "-n", "1", "--input", "jsonl"].iter().chain(rest),
            text.as_bytes(),
        )
    };
    assert_eq!(rows("{\"a\": 1}\n{\"a\": tru}\n", &[]).ok(), "1\r\n");
    assert_eq!(rows("{\"a\": 1, \"b\": tru}\n", &[]).ok(), "1\r\n");
    assert_eq!(rows("{\"a\": 1, \"b\": tru}\n", &["--strict"]).status, Some(1));
    assert_eq!(rows("{\"a\": 1, \"b\": true}\n{\"a\": tru}\n", &["--strict"]).ok(), "1\r\n");
    // Without --output, the same options count values.
    assert_eq!(line("extract log.jsonl $.id $.level --skip 2 -n 1").ok(), "3\n\"info\"\n");
    assert_eq!(line("extract log.jsonl $.tags --skip 1").ok(), "");
    let document = line("extract log.jsonl $.id --skip 1 -n 2 --json").json();
    assert_eq!(document, json!({"extracted": {"$.id": [2, 3]}}));
}

#[test]
fn no_value_in_any_row_fails_only_with_exit_status() {
    let none = line("extract log.jsonl $.x -o csv -e");
    assert_eq!((none.status, none.out.lines().count()), (Some(1), 5));
    assert_eq!(line("extract log.jsonl $.tags -o csv -e -n 1").status, Some(1));
    assert_eq!(line("extract log.jsonl $.tags -o csv -e").status, Some(0));
    assert_eq!(
        line("extract log.jsonl $.lvel $.id -o csv -n 1").err,
        "note: `$.lvel` selects nothing; the nearest path is `$.level`\n"
    );
}

/// Parses CSV with the other library.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// Parses TSV by its definition.
fn parse_tsv(text: &str) -> Vec<Vec<String>> {
    let cell = |cell: &str| {
        if cell == "\"\"" {
            return String::new();
        }
        let (mut text, mut chars) = (String::new(), cell.chars());
        while let Some(c) = chars.next() {
            text.push(match (c, if c == '\\' { chars.next() } else { None }) {
                ('\\', Some('t')) => '\t',
                ('\\', Some('n')) => '\n',
                ('\\', Some('r')) => '\r',
                ('\\', Some(other @ ('\\' | '"'))) => other,
                ('\\', other) => panic!("an unknown escape {other:?} in {cell}"),
                (plain, _) => plain,
            });
        }
        text
    };
    text.lines().map(|line| line.split('\t').map(cell).collect()).collect()
}

/// The expected text of a cell, from the values as JSON on lines.
fn cell_text(values: &[&str]) -> String {
    match values {
        [] | ["null"] => String::new(),
        [one] => match serde_json::from_str::<Value>(one).unwrap() {
            Value::String(text) => text,
            _ => (*one).to_owned(),
        },
        several => format!("[{}]", several.join(",")),
    }
}

/// Rows read back by other libraries are the values that `extract` prints one by one.
#[test]
fn rows_read_back_are_the_same_values() {
    let folder = Folder::new("rows");
    for seed in 0..cases(20, 300) {
        let mut random = Random::new(seed);
        let text = stream(seed, &shape(), naive::Framing::Lines, random.between(1, 12));
        let file = folder.file("records.jsonl", &text);
        let records = naive::records(&text, naive::Framing::Lines);
        let queries: Vec<String> = (0..random.between(1, 4))
            .map(|number| {
                let record = &records[random.below(records.len())];
                let query = match random.below(3) {
                    0 => "$.*".to_owned(),
                    _ => generate::query(
                        seed + number as u64,
                        record.outcome.as_ref().unwrap(),
                        &QueryOptions::default(),
                    ),
                };
                format!("c{number}={query}")
            })
            .collect();
        let rows = |form: &str, threads: &str| {
            let args = ["extract", &file, "-o", form, "-j", threads].map(str::to_owned);
            let rows = run(args.iter().chain(&queries));
            assert_eq!(rows.status, Some(0), "seed {seed}: {rows:?}");
            rows.out
        };
        let mut expected = vec![vec![Vec::new(); queries.len()]; records.len()];
        for (column, query) in queries.iter().enumerate() {
            let located = run(["extract", &file, query.split_once('=').unwrap().1, "-o", "located"]);
            for line in located.out.lines() {
                let located: Value = serde_json::from_str(line).unwrap();
                let start = line.find("\"value\":").unwrap() + 8;
                let end = line.rfind(",\"start\":").unwrap();
                let row: &mut Vec<Vec<String>> = &mut expected[located["record"].as_u64().unwrap() as usize];
                row[column].push(line[start..end].to_owned());
            }
        }
        let texts: Vec<Vec<String>> = expected
            .iter()
            .map(|row| {
                row.iter()
                    .map(|cell| cell_text(&cell.iter().map(String::as_str).collect::<Vec<_>>()))
                    .collect()
            })
            .collect();
        let names: Vec<String> = (0..queries.len()).map(|number| format!("c{number}")).collect();
        let table = [vec![names.clone()], texts].concat();
        let csv = rows("csv", "1");
        assert_eq!(parse_csv(&csv), table, "seed {seed}: {queries:?}");
        assert_eq!(python_csv(&csv), table, "seed {seed}: {queries:?}");
        assert_eq!(parse_tsv(&rows("tsv", "1")), table, "seed {seed}: {queries:?}");
        let objects: Vec<Value> = expected
            .iter()
            .map(|row| {
                let parse = |text: &String| serde_json::from_str::<Value>(text).unwrap();
                let value = |cell: &Vec<String>| match cell.as_slice() {
                    [] => Value::Null,
                    [one] => parse(one),
                    several => several.iter().map(parse).collect(),
                };
                Value::Object(names.iter().cloned().zip(row.iter().map(value)).collect::<Map<_, _>>())
            })
            .collect();
        let printed = rows("objects", "1");
        let parsed: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(parsed, objects, "seed {seed}: {queries:?}");
        let from_pipe = ["extract", "-o", "csv", "--input", "jsonl"].map(str::to_owned);
        assert_eq!(piped(from_pipe.iter().chain(&queries), &text).out, csv, "seed {seed}");
        for form in ["csv", "tsv", "objects"] {
            assert_eq!(rows(form, "4"), rows(form, "1"), "seed {seed}");
        }
    }
}

/// Parses CSV with Python. Without Python, returns the rows of the other library.
fn python_csv(text: &str) -> Vec<Vec<String>> {
    const PROGRAM: &str = "import csv, io, json, sys\n\
        csv.field_size_limit(1 << 30)\n\
        text = io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8', newline='')\n\
        print(json.dumps(list(csv.reader(text, strict=True))))";
    let python =
        Command::new("python3").args(["-c", PROGRAM]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut python) = python else {
        println!("python3 is missing");
        return parse_csv(text);
    };
    let mut stdin = python.stdin.take().unwrap();
    let sent = text.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(sent.as_bytes()).unwrap());
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Cells with every special character, and much larger than any buffer.
#[test]
fn cells_of_any_content_and_size_are_read_back() {
    let folder = Folder::new("cells");
    let large = "0123456789,\"\r\n\t\\ü😀".repeat(100_000);
    let plain = "0123456789".repeat(300_000);
    let texts = [
        "",
        "\"",
        "\"\"",
        "\"\"\"",
        "a,b",
        "a\nb",
        "a\r\nb",
        "\r",
        "\t",
        "\\",
        "\\t",
        "a\0b",
        " ",
        " a ",
        "null",
        "1",
        "[1]",
        "ü\u{2028}😀",
        "'",
        "=1+1",
        &large,
        &plain,
    ];
    let record = |text: &str| json!({"a": text, "b": [text], "c": 1}).to_string() + "\n";
    let records: String = texts.iter().map(|text| record(text)).collect();
    let file = folder.file("cells.jsonl", &records);
    let expected = texts.iter().map(|text| {
        let array = serde_json::to_string(&[text]).unwrap();
        vec![(*text).to_owned(), array, "1".to_owned()]
    });
    let header = ["a", "b", "c"].map(str::to_owned).to_vec();
    let expected: Vec<Vec<String>> = std::iter::once(header).chain(expected).collect();
    for more in [&[][..], &["--no-mmap"], &["-n", "99"]] {
        let rows = |form| run(["extract", &file, "$.a", "$.b", "$.c", "-o", form].iter().chain(more)).ok();
        let csv = rows("csv");
        assert!(parse_csv(&csv) == expected && python_csv(&csv) == expected, "{more:?}");
        assert!(parse_tsv(&rows("tsv")) == expected, "{more:?}");
        let objects = rows("objects");
        assert!(objects.lines().eq(records.lines()), "{more:?}");
    }
    // Only cells that need quotes have them, however large they are.
    let csv = run(["extract", &file, "$.a", "-o", "csv", "--no-header", "--skip", "21"]).ok();
    assert!(csv == format!("{plain}\r\n"));
}

/// A row is held within the spool limit.
#[test]
fn rows_are_limited() {
    let folder = Folder::new("row-limit");
    let large = format!("{{\"a\": \"{}\"}}\n", "x".repeat(30_000_000));
    let file = folder.file("large.jsonl", "{\"a\": 1}\n".to_owned() + &large.repeat(2) + "{\"a\": 2}\n");
    let all = run(["extract", &file, "$.a", "-o", "csv", "--spool-limit", "40MB"]).ok();
    assert_eq!((all.lines().count(), all.len()), (5, 60_000_000 + 3 + 2 * 3 + 4));
    let few = run(["extract", &file, "$.a", "-o", "csv", "--spool-limit", "20MB"]);
    assert_eq!((few.status, few.out.as_str()), (Some(1), "a\r\n1\r\n"));
    assert!(few.err.contains("a row exceeds the spool limit of 20000000 bytes"), "{}", few.err);
    assert_eq!(folder.entries().len(), 1);
}

#[test]
fn threads_do_not_change_rows() {
    let folder = Folder::new("row-threads");
    let record = |id: usize| {
        let name = if id.is_multiple_of(3) { String::new() } else { format!("\"name\": \"n,{id}\", ") };
        format!("{{{name}\"id\": {id}, \"tags\": [{}]}}", vec!["\"t\""; id % 4].join(", "))
    };
    let records: Vec<String> = (0..40_000).map(record).collect();
    let lines = folder.file("many.jsonl", records.join("\n"));
    let document = folder.file("many.json", format!("{{\"x\": {{\"items\": [{}]}}}}", records.join(",\n")));
    for form in ["csv", "tsv", "objects"] {
        let rows = |args: &[&str], threads: &str| {
            let rows = ["$.id", "$.name", "$.tags[*]", "-o", form, "-j", threads];
            run(["extract"].iter().chain(args).chain(&rows)).ok()
        };
        let one = rows(&[&lines], "1");
        assert!(one == rows(&[&lines], "4") && one.lines().count() >= 40_000, "{form}");
        let each = [document.as_str(), "--each", "$.x.items[*]"];
        assert!(rows(&each, "1") == one && rows(&each, "4") == one, "{form}");
        let part = rows(&[&lines, "--skip", "39990", "-n", "5"], "4");
        assert!(part == rows(&[&lines, "--skip", "39990", "-n", "5"], "1") && part.lines().count() <= 6);
    }
}

/// A pipe gets each row when its record ends.
#[test]
fn rows_do_not_wait_for_the_end() {
    use std::io::{BufRead, BufReader};

    let mut child = crate::common::trommel(["extract", "$.a", "$.b", "-o", "csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for number in 0..3 {
        writeln!(stdin, "{{\"b\": {number}, \"a\": \"x\"}}").unwrap();
        if number == 0 {
            assert_eq!(lines.next().unwrap().unwrap(), "a,b");
        }
        assert_eq!(lines.next().unwrap().unwrap(), format!("x,{number}"));
    }
    drop(stdin);
    assert_eq!(crate::common::wait(&mut child), Some(0));
}

#[test]
fn malformed_records_end_rows_or_are_skipped() {
    let stop = line("extract damaged.jsonl $.id -o csv --input jsonl");
    assert_eq!((stop.status, stop.out.as_str()), (Some(1), "id\r\n1\r\n2\r\n"));
    assert!(stop.err.contains("damaged.jsonl:3:8"), "{}", stop.err);
    let skip = line("extract damaged.jsonl $.id -o csv --on-bad-record skip");
    assert_eq!((skip.status, skip.out.as_str()), (Some(0), "id\r\n1\r\n6\r\n"));
    let value = line("extract skipped.json $.later -o csv").failed(1);
    assert!(value.contains("skipped.json:2:7: not a JSON literal"), "{value}");
}

/// A single row is often a document whose elements were meant.
#[test]
fn a_single_row_gets_a_note_that_names_each() {
    let note = |args: &str| line(&format!("extract {args}")).err;
    assert_eq!(
        note("users.json $.users[*].name -o csv"),
        "note: the only row has several values in a cell; to print a row for each of the elements of its longest array, add `--each '$.users[*]'`\n"
    );
    assert_eq!(
        note("users.json $.meta.n -o tsv"),
        "note: the input is one document, and so one record; to print a row for each of the elements of its longest array, add `--each '$.users[*]'`\n"
    );
    assert_eq!(note("users.json --each $.users[0] $.tags[*] -o csv"), "");
    assert_eq!(note("log.jsonl $.id -o csv -n 1"), "");
    let several = |input: &[u8]| piped(["extract", "$.a[*]", "-o", "csv"], input).err;
    assert!(several(b"{\"a\": [1, 2]}").contains("--each QUERY"), "{}", several(b"{\"a\": [1, 2]}"));
    assert_eq!(several(b"{\"a\": [1, 2]}\n{\"a\": [1]}"), "");
    assert_eq!(piped(["extract", "$.a", "-o", "csv"], b"{\"a\": 1}").err, "");
    assert_eq!(note("users.json $.users[*].name -o csv --quiet"), "");
}

#[test]
fn options_that_do_not_apply_to_rows_are_refused() {
    for (args, said) in [
        ("-o csv --json", "cannot be used with"),
        ("-o csv --flatten", "--flatten and --include-paths need --json"),
        ("-o objects --order document", "--order document does not apply to rows"),
        ("-o csv -0", "-o csv prints rows of text, so -0 does not apply"),
        ("-o tsv --pretty", "-o tsv prints rows of text, so --pretty does not apply"),
        ("-o objects -r", "-o objects prints JSON objects, so -r does not apply"),
        ("-o csv -H", "-H does not apply to -o csv and tsv"),
        ("-o objects --no-header", "--no-header needs -o csv or tsv"),
        ("--default 1", "--default needs --json, or -o objects, csv, or tsv"),
        ("-o csv --default N/A", "--default <JSON>"),
    ] {
        let refused = line(&format!("extract users.json $.meta {args}")).failed(2);
        assert!(refused.contains(said), "{args}: {refused}");
    }
    // Cells of text are raw strings anyway.
    assert_eq!(line("extract log.jsonl $.level -o csv -r -n 1 --no-header").ok(), "info\r\n");
    assert_eq!(line("extract log.jsonl $.level -o objects -0 -n 1").ok(), "{\"level\":\"info\"}\0");
    let named = line("extract log.jsonl $.id -o objects -n 1 -H").ok();
    assert_eq!(named, "log.jsonl\t{\"id\":1}\n");
}
