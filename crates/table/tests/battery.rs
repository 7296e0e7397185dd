//! Tables against an oracle: each value of each row, in any batches, of any input.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Cursor;

use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal128Type, Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch, RecordBatchReader};
use arrow_ipc::reader::StreamReader;
use arrow_schema::DataType;
use trommel::path::Query;
use trommel::reader::{Framing, Validation, compact};
use trommel::{Analysis, Document, OnBadRecord};
use trommel_table::{
    Column, ColumnType, Error, Field, NumberPolicy, OnMisfit, SchemaError, Table, TableReport, TableRequest,
    TableSchema, TableShape, write_arrow, write_parquet,
};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::Random;
use trommel_testkit::naive;

fn query(text: &str) -> Query {
    text.parse().unwrap()
}

fn lines(text: impl AsRef<[u8]> + Send + Sync + 'static) -> Document<'static> {
    Document::from_bytes(text).framing(Framing::Lines)
}

fn all() -> TableRequest {
    TableRequest::new(Analysis::new())
}

fn batches(table: &mut Table) -> Vec<RecordBatch> {
    std::iter::from_fn(|| table.next_batch().unwrap()).collect()
}

/// The texts of the numbers below a bound.
fn texts(count: u64, text: impl FnMut(u64) -> String) -> String {
    (0..count).map(text).collect::<Vec<_>>().concat()
}

/// All values of a column as JSON texts: strings decoded, numbers as the type prints them.
fn column(batches: &[RecordBatch], name: &str) -> Vec<String> {
    let column =
        |batch: &RecordBatch| batch.column_by_name(name).unwrap_or_else(|| panic!("no {name}")).clone();
    let columns = batches.iter().map(column);
    columns.flat_map(|column| (0..column.len()).map(|row| text(&*column, row)).collect::<Vec<_>>()).collect()
}

fn text(array: &dyn Array, row: usize) -> String {
    if array.is_null(row) || *array.data_type() == DataType::Null {
        return "null".into();
    }
    let join = |items: Vec<String>| format!("[{}]", items.join(","));
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Decimal128(38, 0) => array.as_primitive::<Decimal128Type>().value(row).to_string(),
        DataType::Float64 => format!("{:?}", array.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => format!("{:?}", array.as_string::<i32>().value(row)),
        DataType::List(_) => {
            let items = array.as_list::<i32>().value(row);
            join((0..items.len()).map(|item| text(&*items, item)).collect())
        }
        DataType::Struct(_) => {
            let fields = array.as_struct();
            join(fields.columns().iter().map(|field| text(&**field, row)).collect())
        }
        other => panic!("unexpected type {other}"),
    }
}

/// What a value must be in a column, by another parser.
fn expected(json: &str, column_type: &ColumnType) -> String {
    let json = json.trim();
    if json == "null" {
        return "null".into();
    }
    let join = |items: Vec<String>| format!("[{}]", items.join(","));
    match column_type {
        ColumnType::Boolean | ColumnType::Int64 | ColumnType::UInt64 | ColumnType::Decimal => json.to_owned(),
        ColumnType::Float64 { .. } => format!("{:?}", json.parse::<f64>().unwrap()),
        ColumnType::NumberText => format!("{json:?}"),
        ColumnType::Text => format!("{:?}", serde_json::from_str::<String>(json).unwrap()),
        ColumnType::Json => {
            let mut text = Vec::new();
            compact(json.as_bytes(), &mut text);
            format!("{:?}", String::from_utf8(text).unwrap())
        }
        ColumnType::List(item) => {
            let tree = naive::parse(json.as_bytes()).unwrap();
            let items = tree.children(tree.root());
            join(items.into_iter().map(|id| expected(&json[tree[id].span.range()], item)).collect())
        }
        ColumnType::Struct(fields) => {
            let tree = naive::parse(json.as_bytes()).unwrap();
            let member = |field: &Field| {
                let value = tree.member(tree.root(), &field.key);
                let value = value.map_or("null", |id| &json[tree[id].span.range()]);
                expected(value, &field.column_type)
            };
            join(fields.iter().map(member).collect())
        }
        other => panic!("{json} in a column of {other:?}"),
    }
}

/// Values of one column: mostly of one kind.
#[derive(Clone, Debug)]
enum Kind {
    Bool,
    Small,
    Unsigned,
    Long,
    Real,
    Odd,
    Text,
    List(Box<Kind>),
    Object(Vec<(String, Kind)>),
    Any(Vec<Kind>),
}

impl Kind {
    fn pick(random: &mut Random, depth: usize) -> Self {
        match random.below(if depth == 0 { 7 } else { 11 }) {
            0 => Self::Bool,
            1 => Self::Small,
            2 => Self::Unsigned,
            3 => Self::Long,
            4 => Self::Real,
            5 => Self::Odd,
            6 => Self::Text,
            7 => Self::List(Box::new(Self::pick(random, depth - 1))),
            8 | 9 => Self::Object(Self::members(random, depth - 1)),
            _ => Self::Any((0..2).map(|_| Self::pick(random, depth - 1)).collect()),
        }
    }

    fn members(random: &mut Random, depth: usize) -> Vec<(String, Self)> {
        const NAMES: [&str; 9] = ["a", "A", "", "id", "naïve", "a.b", "\\\"", "x y", "a_2"];
        let first = random.below(NAMES.len());
        let count = random.between(1, 4);
        (0..count)
            .map(|at| (NAMES[(first + at) % NAMES.len()].to_owned(), Self::pick(random, depth)))
            .collect()
    }

    fn write(&self, random: &mut Random, out: &mut String) {
        if random.below(10) == 0 {
            return out.push_str("null");
        }
        let mut digits = |random: &mut Random, count: usize| {
            out.push(char::from(b'1' + random.below(9) as u8));
            (1..count).for_each(|_| out.push(char::from(b'0' + random.below(10) as u8)));
        };
        match self {
            Self::Bool => out.push_str(["true", "false"][random.below(2)]),
            Self::Small => digits(random, 5),
            Self::Unsigned => digits(random, 19),
            Self::Long => digits(random, 30),
            Self::Real => {
                digits(random, 3);
                out.push('.');
                let count = random.between(1, 9);
                (0..count).for_each(|_| out.push(char::from(b'0' + random.below(10) as u8)));
            }
            Self::Odd => out
                .push_str(["1e400", "-0", "0.10", "1E5", "0.1000000000000000055", "2e-320"][random.below(6)]),
            Self::Text => {
                out.push_str(
                    ["\"\"", "\"plain\"", "\"\\u00e9\\n\"", "\"😀\\ud83d\\ude00\"", "\"q\\\"\\\\\""]
                        [random.below(5)],
                );
            }
            Self::List(item) => {
                out.push('[');
                for at in 0..random.below(4) {
                    out.push_str(if at > 0 { ", " } else { "" });
                    item.write(random, out);
                }
                out.push(']');
            }
            Self::Object(members) => Self::write_object(members, random, out),
            Self::Any(kinds) => kinds[random.below(kinds.len())].write(random, out),
        }
    }

    fn write_object(members: &[(String, Self)], random: &mut Random, out: &mut String) {
        out.push('{');
        let mut count = 0;
        for (name, kind) in members {
            // Members are missing, repeated, and in any order of their names.
            for _ in 0..[1, 1, 1, 1, 0, 2][random.below(6)] {
                out.push_str(if count > 0 { " ," } else { " " });
                out.push_str(&serde_json::to_string(name).unwrap());
                out.push_str(": ");
                kind.write(random, out);
                count += 1;
            }
        }
        out.push('}');
    }
}

/// Rows of random objects, as lines.
fn rows(random: &mut Random) -> String {
    let members = Kind::members(random, 3);
    let mut text = String::new();
    for _ in 0..random.below(30) {
        if random.below(20) == 0 {
            text.push_str("null\n");
            continue;
        }
        Kind::write_object(&members, random, &mut text);
        text.push('\n');
    }
    text
}

fn check(
    table: &mut Table,
    expected: &dyn Fn(&str, &Field) -> String,
    text: &str,
    note: &str,
) -> TableReport {
    let columns = table.columns().to_vec();
    let found = batches(table);
    for field in &columns {
        let values: Vec<_> = text.lines().map(|line| expected(line, field)).collect();
        assert_eq!(column(&found, &field.name), values, "{note}, {field:?}");
    }
    let rows: usize = found.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, text.lines().count(), "{note}");
    table.report()
}

/// Every value of every row is in its column, exactly, for any batches and any input.
#[test]
fn tables_hold_every_value() {
    for seed in 0..cases(600, 6000) {
        let mut random = Random::new(seed);
        let text = rows(&mut random);
        let mut request = all();
        (request.batch_rows, request.batch_bytes) = (random.between(1, 40), random.between(1, 2000));
        request.depth = [8, 8, 1, 2][random.below(4)];
        let document = match seed % 3 {
            0 => lines(text.clone()),
            1 => Document::from_reader(Cursor::new(text.clone())).framing(Framing::Lines),
            _ => Document::from_seekable(Cursor::new(text.clone())).unwrap().framing(Framing::Lines),
        };
        let mut table = Table::open(&request, document).unwrap();
        let is_nested = table.columns().first().is_some_and(|field| field.key != "value");
        let expect = |line: &str, field: &Field| {
            if !is_nested {
                return expected(line, &field.column_type);
            }
            let tree = naive::parse(line.trim().as_bytes()).unwrap();
            let value = tree.member(tree.root(), &field.key);
            expected(value.map_or("null", |id| &line.trim()[tree[id].span.range()]), &field.column_type)
        };
        check(&mut table, &expect, &text, &format!("seed {seed}"));
    }
}

/// Columns of queries, with the same answers in one document and in lines.
#[test]
fn columns_are_queries_from_the_row_on() {
    for seed in 0..cases(300, 3000) {
        let mut random = Random::new(seed);
        let text = rows(&mut random);
        let mut request = all()
            .column(Column::new("a", query("$.a")))
            .column(Column::new("all", query("$.*")))
            .column(Column::new("A", query("$['A']")));
        request.batch_rows = random.between(1, 40);
        let document = if seed % 2 == 0 {
            lines(text.clone())
        } else {
            request.analysis = Analysis::new().each(query("$.rows[*]"));
            let rows = text.lines().collect::<Vec<_>>().join(",");
            Document::from_bytes(format!("{{\"rows\":[{rows}]}}"))
        };
        let mut table = Table::open(&request, document).unwrap();
        let names: Vec<_> = table.columns().iter().map(|field| field.name.clone()).collect();
        assert_eq!(names, ["a", "all", "A_2"], "seed {seed}");
        let expect = |line: &str, field: &Field| {
            let tree = naive::parse(line.trim().as_bytes()).unwrap();
            let value = |id| line.trim()[tree[id].span.range()].to_owned();
            let json = if field.key == "all" {
                let values: Vec<_> = tree.children(tree.root()).into_iter().map(value).collect();
                if values.is_empty() { "null".into() } else { format!("[{}]", values.join(",")) }
            } else {
                tree.member(tree.root(), &field.key).map_or("null".into(), value)
            };
            expected(&json, &field.column_type)
        };
        check(&mut table, &expect, &text, &format!("seed {seed}"));
    }
}

fn types(text: &'static str, request: &TableRequest) -> Vec<ColumnType> {
    let table = Table::open(request, lines(text)).unwrap();
    table.columns().iter().map(|field| field.column_type.clone()).collect()
}

/// The first type of the list that holds all values.
#[test]
fn the_type_is_the_narrowest() {
    let one = |text| types(text, &all()).remove(0);
    assert_eq!(one("{\"a\":1}\n{\"a\":null}\n{}\n"), ColumnType::Int64);
    assert_eq!(one("{\"a\":1}\n{\"a\":18446744073709551615}\n"), ColumnType::UInt64);
    assert_eq!(one("{\"a\":-1}\n{\"a\":18446744073709551615}\n"), ColumnType::Decimal);
    assert_eq!(one("{\"a\":1}\n{\"a\":0.1}\n"), ColumnType::Float64 { rounded: false });
    assert_eq!(one("{\"a\":0.1}\n{\"a\":9007199254740993}\n"), ColumnType::NumberText);
    assert_eq!(one("{\"a\":1e400}\n"), ColumnType::NumberText);
    assert_eq!(one("{\"a\":null}\n"), ColumnType::Null);
    assert_eq!(one("{\"a\":[]}\n"), ColumnType::List(Box::new(ColumnType::Null)));
    assert_eq!(one("{\"a\":{}}\n"), ColumnType::Json);
    assert_eq!(one("{\"a\":1}\n{\"a\":\"1\"}\n"), ColumnType::Json);
    assert_eq!(types("1\n2\n", &all()), [ColumnType::Int64]);
    assert_eq!(types("", &all()), [ColumnType::Null]);
    let mut rounded = all();
    rounded.numbers = NumberPolicy::Rounded;
    assert_eq!(
        types("{\"a\":0.1}\n{\"a\":9007199254740993}\n", &rounded),
        [ColumnType::Float64 { rounded: true }]
    );
    let mut table = Table::open(&rounded, lines("{\"a\":0.1}\n{\"a\":9007199254740993}\n")).unwrap();
    assert_eq!(column(&batches(&mut table), "a"), ["0.1", "9007199254740992.0"]);
    assert_eq!(table.report().rounded, 1);
}

/// Messages name each type.
#[test]
fn types_have_names() {
    let text = "{\"a\":null,\"b\":true,\"c\":1,\"d\":18446744073709551615,\"e\":-1,\"f\":0.5,\"g\":1e400,\"h\":\"\",\"i\":{},\"j\":[1],\"k\":{\"x\":1}}\n{\"e\":18446744073709551615}\n";
    let named =
        |request: &TableRequest| types(text, request).iter().map(ColumnType::name).collect::<Vec<_>>();
    let expected = [
        "null",
        "a boolean",
        "an integer of 64 bits",
        "an unsigned integer of 64 bits",
        "an integer of at most 38 digits",
        "a number that a double holds exactly",
        "a number",
        "a string",
        "a value",
        "an array",
        "an object",
    ];
    assert_eq!(named(&all()), expected);
    let mut rounded = all();
    rounded.numbers = NumberPolicy::Rounded;
    let column = types("{\"a\":0.1}\n{\"a\":9007199254740993}\n", &rounded).remove(0);
    assert_eq!(column.name(), "a number in the range of doubles");
}

/// Values that do not fit say which type the schema wants.
#[test]
fn misfits_name_the_type() {
    for (property, value, wanted) in [
        (r#"{"type":"boolean"}"#, "1", "a boolean, not 1"),
        (r#"{"type":"string"}"#, "[1]", "a string, not [1]"),
        (r#"{"type":"number"}"#, "true", "a number that a double holds exactly, not true"),
        (r#"{"type":"array","items":{"type":"string"}}"#, "\"x\"", "an array, not \"x\""),
        (r#"{"type":"object","properties":{"x":{"type":"string"}}}"#, "7", "an object, not 7"),
    ] {
        let mut request = all();
        let text = format!("{{\"type\":\"object\",\"properties\":{{\"a\":{property}}}}}");
        request.schema = Some(schema(&text));
        let mut table = Table::open(&request, lines(format!("{{\"a\":{value}}}\n"))).unwrap();
        let Err(Error::Misfit(misfit)) = table.next_batch() else { panic!("{value} fits {property}") };
        let expected = format!("row 0, $.a, at byte 5: the schema wants {wanted}");
        assert_eq!(misfit.to_string(), expected);
    }
}

/// Objects with many names of which none is in half of them are JSON, as are depths beyond the
/// limit.
#[test]
fn maps_and_depths_are_json() {
    let map = texts(300, |at| format!("{{\"m\":{{\"id{at}\":1}},\"n\":{at}}}\n"));
    let table = Table::open(&all(), lines(map)).unwrap();
    let columns: Vec<_> = table.columns().iter().map(|field| (&*field.name, &field.column_type)).collect();
    assert_eq!(columns, [("m", &ColumnType::Json), ("n", &ColumnType::Int64)]);
    let deep = format!("{{\"d\":{}1{}}}\n", "[".repeat(5000), "]".repeat(5000));
    let mut table = Table::open(&all(), lines(deep)).unwrap();
    let mut inner = &table.columns()[0].column_type;
    let mut depth = 0;
    while let ColumnType::List(item) = inner {
        (inner, depth) = (item, depth + 1);
    }
    assert_eq!((inner, depth), (&ColumnType::Json, 7));
    assert_eq!(batches(&mut table).len(), 1);
}

fn schema(text: &str) -> TableSchema {
    TableSchema::from_json_schema(text).unwrap()
}

const SCHEMA: &str = r#"{"type":"object","properties":{
    "id":{"type":"integer"},"who":{"type":["object","null"],"properties":{"tags":{"type":"array","items":{"type":"string"}}}}}}"#;

/// With a schema the input is read once, and rows that do not fit are an error, null, or left out.
#[test]
fn rows_that_do_not_fit_a_schema_are_found() {
    let text = "{\"id\":1,\"who\":{\"tags\":[\"a\"]},\"more\":1}\n{\"id\":\"2\"}\n{\"id\":3,\"who\":{\"tags\":[\"b\",4]}}\n{\"id\":5}\n";
    let mut request = all();
    request.schema = Some(schema(SCHEMA));
    let reader = || Document::from_reader(text.as_bytes()).framing(Framing::Lines);
    let mut table = Table::open(&request, reader()).unwrap();
    let Err(Error::Misfit(misfit)) = table.next_batch() else { panic!("the second row fits") };
    assert_eq!(
        misfit.to_string(),
        "row 1, $.id, at byte 45: the schema wants an integer of 64 bits, not \"2\""
    );
    assert!(table.next_batch().unwrap().is_none());
    request.on_misfit = OnMisfit::Skip;
    let mut table = Table::open(&request, reader()).unwrap();
    assert_eq!(column(&batches(&mut table), "id"), ["1", "5"]);
    assert_eq!((table.report().rows, table.report().misfits), (2, 2));
    request.on_misfit = OnMisfit::Null;
    let mut table = Table::open(&request, lines(format!("{text}7\nnull\n"))).unwrap();
    let found = batches(&mut table);
    assert_eq!(column(&found, "id"), ["1", "null", "3", "5", "null", "null"]);
    assert_eq!(column(&found, "who"), ["[[\"a\"]]", "null", "null", "null", "null", "null"]);
    assert_eq!(table.report().misfits, 3);
    request.columns = vec![Column::new("id", query("$.id")), Column::new("who", query("$.who"))];
    let mut table = Table::open(&request, reader()).unwrap();
    let found = batches(&mut table);
    assert_eq!(column(&found, "id"), ["1", "null", "3", "5"]);
    assert_eq!(column(&found, "who"), ["[[\"a\"]]", "null", "null", "null"]);
    let report = table.report();
    assert_eq!((report.misfits, report.first_misfit.unwrap().path.as_str()), (2, "id"));
    request.on_misfit = OnMisfit::Stop;
    request.columns.remove(0);
    let Err(Error::Misfit(misfit)) = Table::open(&request, reader()).unwrap().next_batch() else {
        panic!("the third row fits")
    };
    let at = text.find(",4]").unwrap() as u64 + 1;
    assert_eq!((misfit.row, misfit.offset, misfit.path.as_str()), (2, at, "who.tags[1]"));
    request.columns.push(Column::new("other", query("$.other")));
    let missing = Table::open(&request, reader()).err().unwrap();
    assert!(matches!(missing, Error::Schema(SchemaError::NoColumn(name)) if name == "other"));
}

/// Values before a malformed record come, then its error; or it is skipped and counted.
#[test]
fn malformed_records_are_errors_or_counted() {
    let text = "{\"a\":1}\n{\"a\":2\n{\"a\":3}\n";
    let mut request = all();
    request.schema = Some(schema(r#"{"properties":{"a":{"type":"integer"}}}"#));
    request.batch_rows = 1;
    let mut table = Table::open(&request, lines(text)).unwrap();
    assert_eq!(table.next_batch().unwrap().unwrap().num_rows(), 1);
    assert!(matches!(table.next_batch(), Err(Error::Run(_))));
    request.schema = None;
    assert!(matches!(Table::open(&request, lines(text)), Err(Error::Run(_))));
    // Structural validation skips the contents of rows, which are validated before they are used.
    let skipped = "{\"a\":{\"b\":1}}\n{\"a\":{\"b\":[01]}}\n";
    for columns in [vec![], vec![Column::new("a", query("$.a"))]] {
        let mut request = all();
        request.analysis = Analysis::new().validation(Validation::Structural);
        request.columns = columns;
        let Err(Error::Malformed { error, record }) = Table::open(&request, lines(skipped)) else {
            panic!("a number is valid")
        };
        assert_eq!((error.offset(), record), (26, 1));
    }
    request.analysis = Analysis::new().on_bad_record(OnBadRecord::Skip { at_most: 9 });
    for columns in [vec![], vec![Column::new("a", query("$.a"))]] {
        request.columns = columns;
        let mut table = Table::open(&request, lines(text)).unwrap();
        assert_eq!(column(&batches(&mut table), "a"), ["1", "3"]);
        assert_eq!(table.report().bad_records, 1);
    }
}

/// Skipped and limited rows, no rows, and 10,000 columns.
#[test]
fn windows_and_widths() {
    let text = texts(50, |at| format!("{{\"a\":{at}}}\n"));
    let mut request = all();
    (request.skip, request.limit) = (7, Some(3));
    let mut table = Table::open(&request, lines(text)).unwrap();
    assert_eq!(column(&batches(&mut table), "a"), ["7", "8", "9"]);
    let mut none = Table::open(&all().column(Column::new("a", query("$.a"))), lines("")).unwrap();
    assert_eq!((none.schema().fields().len(), none.next_batch().unwrap()), (1, None));
    let wide = texts(10_000, |at| format!("{}\"c{at}\":{at}", if at > 0 { "," } else { "{" }));
    let mut table = Table::open(&all(), lines(format!("{wide}}}\n{{\"c9999\":1}}\n"))).unwrap();
    let found = batches(&mut table);
    assert_eq!(found[0].num_columns(), 10_000);
    assert_eq!(column(&found, "c9999"), ["9999", "1"]);
}

/// Strings of any length and strings beyond the spool's memory pass.
#[test]
fn long_values_pass() {
    let long = "x".repeat(20 << 20);
    let mut request = all().column(Column::new("a", query("$.a"))).column(Column::new("n", query("$.n")));
    request.analysis = Analysis::new().limits({
        let mut limits = trommel::reader::Limits::default();
        limits.token_bytes = 64 << 20;
        limits
    });
    let text = format!("{{\"a\":\"{long}\",\"n\":1}}\n{{\"a\":\"y\",\"n\":2}}\n");
    let mut table = Table::open(&request, lines(text.clone())).unwrap();
    let found = batches(&mut table);
    assert_eq!(column(&found, "n"), ["1", "2"]);
    assert_eq!(found[0].column(0).as_string::<i32>().value(0).len(), long.len());
    request.spool_limit = 1 << 20;
    let error = Table::open(&request, lines(text)).err().unwrap();
    assert!(error.to_string().contains("exceed the spool limit of 1048576 bytes"), "{error}");
}

/// Files are read back: Arrow's stream format and Parquet, with the mark of JSON columns.
#[test]
fn files_are_read_back() {
    for seed in 0..cases(100, 1000) {
        let mut random = Random::new(seed);
        let text = rows(&mut random);
        let mut request = all();
        request.batch_rows = random.between(1, 40);
        let open = || Table::open(&request, lines(text.clone())).unwrap();
        let expected = batches(&mut open());
        let names: Vec<_> = open().columns().iter().map(|field| field.name.clone()).collect();
        let mut arrow = Vec::new();
        write_arrow(&mut open(), &mut arrow).unwrap();
        let read: Vec<_> =
            StreamReader::try_new(Cursor::new(&arrow), None).unwrap().map(Result::unwrap).collect();
        assert_eq!(read, expected, "seed {seed}");
        let mut file = Vec::new();
        write_parquet(&mut open(), &mut file).unwrap();
        let reader =
            parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(bytes::Bytes::from(file), 7);
        let read: Vec<_> = reader.unwrap().map(Result::unwrap).collect();
        for name in &names {
            assert_eq!(column(&read, name), column(&expected, name), "seed {seed}, {name}");
        }
    }
    let mut json = Table::open(&all(), lines("{\"a\":1}\n{\"a\":[]}\n")).unwrap();
    let field = json.schema().field(0).clone();
    assert_eq!(field.metadata().get("ARROW:extension:name").map(String::as_str), Some("arrow.json"));
    assert_eq!(column(&batches(&mut json), "a"), ["\"1\"", "\"[]\""]);
}

/// Any values, of which some columns have several types.
fn random_rows(random: &mut Random, count: usize) -> Vec<String> {
    let scalar = |random: &mut Random| match random.below(6) {
        0 => "null".to_owned(),
        1 => random.below(1000).to_string(),
        2 => format!("{}.5", random.below(9)),
        3 => "\"text\"".to_owned(),
        4 => format!("{{\"n{}\":{}}}", random.below(4), random.below(3)),
        _ => format!("[{}]", random.below(5)),
    };
    let row = |random: &mut Random| {
        let members = (0..random.below(4)).map(|_| {
            let name = random.below(5);
            format!("\"m{name}\":{}", scalar(random))
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    };
    (0..count).map(|_| row(random)).collect()
}

#[test]
fn merged_shapes_of_parts_are_those_of_the_whole() {
    for case in 0..cases(300, 30_000) {
        let random = &mut Random::new(case);
        let rows = random_rows(random, 1 + case as usize % 12);
        let mut request = all();
        if case % 3 == 0 {
            request =
                request.column(Column::new("a", query("$.m1"))).column(Column::new("b", query("$.m2[*]")));
        }
        let observe = |rows: &[String]| {
            let shape = TableShape::observe(&request, &mut lines(rows.join("\n"))).unwrap();
            assert_eq!(TableShape::from_bytes(&shape.to_bytes()).unwrap(), shape);
            shape
        };
        let whole = observe(&rows);
        let cut = random.below(rows.len() + 1);
        let merged = observe(&rows[..cut]).merge(observe(&rows[cut..])).unwrap();
        assert_eq!(merged, whole, "{rows:?}");
        let schema = merged.schema(&request).unwrap();
        assert_eq!(schema, Table::open(&request, lines(rows.join("\n"))).unwrap().table_schema());
        request.schema = Some(schema);
        for part in [&rows[..cut], &rows[cut..]] {
            let mut table = Table::open(&request, lines(part.join("\n"))).unwrap();
            let count: usize = batches(&mut table).iter().map(RecordBatch::num_rows).sum();
            assert_eq!(count, part.len());
        }
    }
}

#[test]
fn shapes_of_other_columns_and_damaged_ones_are_errors() {
    let shape = |request: &TableRequest| {
        TableShape::observe(request, &mut lines("{\"a\":[{\"b\":1}]}".to_owned())).unwrap()
    };
    let (whole, two) = (shape(&all()), all().column(Column::new("a", query("$.a"))));
    let two = two.column(Column::new("b", query("$.a[*].b")));
    assert!(matches!(whole.clone().merge(shape(&two)), Err(Error::Schema(SchemaError::OtherColumns))));
    assert!(matches!(whole.clone().schema(&two), Err(Error::Schema(SchemaError::OtherColumns))));
    let bytes = whole.to_bytes();
    for at in 0..bytes.len() {
        let cut = TableShape::from_bytes(&bytes[..at]);
        assert!(matches!(cut, Err(Error::Schema(SchemaError::NotShape(_)))), "{at}");
    }
    let text = String::from_utf8(bytes).unwrap();
    let deep = format!(
        "{{\"trommel_table_shape\":1,\"columns\":1,\"nodes\":[{}{{}}]}}",
        "{\"list\":true},".repeat(100_000)
    );
    let damaged = [
        text.replace("shape\":1", "shape\":2"),
        text.replace("columns\":1", "columns\":2"),
        text.replace("columns\":1", "columns\":0"),
        deep,
    ];
    for damaged in damaged {
        assert!(TableShape::from_bytes(damaged.as_bytes()).is_err(), "{}", &damaged[..80]);
    }
}

#[test]
fn columns_with_one_name_keep_their_types() {
    let mut request =
        all().column(Column::new("id", query("$.id"))).column(Column::new("id", query("$.of.id")));
    let rows = || lines("{\"id\":1,\"of\":{\"id\":\"a\"}}".to_owned());
    request.schema = Some(Table::open(&request, rows()).unwrap().table_schema());
    let mut table = Table::open(&request, rows()).unwrap();
    let types: Vec<_> = table.columns().iter().map(|field| field.column_type.clone()).collect();
    assert_eq!(types, [ColumnType::Int64, ColumnType::Text]);
    assert_eq!(batches(&mut table)[0].num_rows(), 1);
}

/// Errors have the text that the program prints, their cause, and come back from Arrow's type.
#[test]
fn errors_say_what_to_do() {
    let schema = |text: &str| TableSchema::from_json_schema(text).unwrap_err().to_string();
    assert!(schema("{").starts_with("the schema is not valid JSON: "), "{}", schema("{"));
    assert!(schema("{\"type\":\"array\"}").contains("as `trommel schema` prints it"));
    let shape = TableShape::from_bytes(b"{").unwrap_err();
    assert!(shape.to_string().starts_with("not the types of a table: "), "{shape}");
    let mut request = all().column(Column::new("other", query("$.id")));
    request.schema = Some(
        TableSchema::from_json_schema(r#"{"type":"object","properties":{"id":{"type":"integer"}}}"#).unwrap(),
    );
    let missing = Table::open(&request, lines("{\"id\":1}\n")).err().unwrap();
    assert_eq!(missing.to_string(), "the schema has no property other; name the column as the schema does");
    assert!(std::error::Error::source(&missing).is_none());
    // A fault after the types are known, as a reader of batches gets it.
    let mut request = all().column(Column::new("id", query("$.id")));
    request.schema = Some(
        TableSchema::from_json_schema(r#"{"type":"object","properties":{"id":{"type":"integer"}}}"#).unwrap(),
    );
    for (rows, text) in [
        ("{\"id\":1}\n{\"id\":\"a\"}\n", "row 1, id, at byte 15: the schema wants an integer of 64 bits"),
        ("{\"id\":1}\n{\"id\":}\n", "at byte"),
    ] {
        let mut table = Table::open(&request, lines(rows)).unwrap();
        let fault = table.by_ref().find_map(Result::err).unwrap();
        let error = Error::from(fault);
        assert!(error.to_string().contains(text), "{error}");
        let has_cause = std::error::Error::source(&error).is_some();
        assert_eq!(has_cause, !matches!(error, Error::Misfit(_)), "{error:?}");
    }
    let foreign = arrow_schema::ArrowError::ExternalError("other".into());
    assert!(Error::from(foreign).to_string().starts_with("cannot write the table: "));
}

/// An output that is full.
struct Full;

impl std::io::Write for Full {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("the disk is full"))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let table = || Table::open(&all(), lines(texts(1000, |number| format!("{{\"n\":{number}}}\n")))).unwrap();
    for error in
        [write_arrow(&mut table(), Full).unwrap_err(), write_parquet(&mut table(), Full).unwrap_err()]
    {
        assert!(error.to_string().contains("the disk is full"), "{error}");
        assert!(std::error::Error::source(&error).is_some());
    }
}
