//! Tokens that arrive many at once count like those that arrive one by one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use support::{Random, observe_text, options};
use trommel_reader::{Config, Cursor, Framing};
use trommel_stats::{Accumulator, Profile, ProfileOptions, RowSample, ValuesSummary};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Shape, document};

/// The profile of a document that is read in batches.
fn in_batches(text: &[u8], options: &ProfileOptions, is_stream: bool) -> Profile {
    let mut cursor = if is_stream {
        Cursor::from_reader(text, Framing::Single, &Config::new())
    } else {
        Cursor::new(text, &Config::new())
    };
    let mut profile = Profile::new(options.clone());
    assert!(cursor.next_record().unwrap());
    profile.begin();
    // The first value opens the container whose tokens are passed on.
    let event = cursor.advance().unwrap().unwrap();
    profile.observe(event, cursor.payload(), cursor.span().start);
    cursor.listen(0, u64::MAX, &mut profile).unwrap();
    profile.end();
    profile
}

fn check(text: &[u8], options: &ProfileOptions) {
    let mut one_by_one = Profile::new(options.clone());
    observe_text(&mut one_by_one, text, 0);
    for is_stream in [false, true] {
        let batches = in_batches(text, options, is_stream);
        assert_eq!(batches.summary(), one_by_one.summary(), "{}", String::from_utf8_lossy(text));
        #[cfg(feature = "serde")]
        assert_eq!(serde_json::to_string(&batches).unwrap(), serde_json::to_string(&one_by_one).unwrap());
    }
}

/// An array of the same documents again and again, so that names are predicted.
fn repeated(random: &mut Random, documents: &[Vec<u8>], count: usize) -> Vec<u8> {
    let picked: Vec<&[u8]> =
        (0..count).map(|_| documents[random.below(documents.len())].trim_ascii()).collect();
    [b"[".as_slice(), &picked.join(&b","[..]), b"]"].concat()
}

#[test]
fn shapes_are_those_of_single_tokens() {
    for seed in 0..cases(200, 4000) {
        let random = &mut Random::new(seed);
        let shape = Shape { duplicates: seed % 3 == 0, values: 40, ..Shape::default() };
        let documents: Vec<_> = (0..4).map(|number| document(seed * 10 + number, &shape)).collect();
        let text = repeated(random, &documents, random_count(seed));
        check(
            &text,
            &options(|options| {
                (options.fields, options.bytes) = (seed % 2 == 0, seed % 3 != 0);
                options.histograms = seed % 4 == 0;
                options.schema = seed % 5 == 0;
                options.values = seed % 7 == 0;
                let half = RowSample { roots: seed % 4 == 1, largest_hash: u64::MAX / 2, seed };
                options.row_sample = (seed % 2 == 0).then_some(half);
                options.max_depth = [10_000, 3, 2, 1][seed as usize % 4];
                options.limits.names_per_path = [100_000, 4, 1][seed as usize % 3];
            }),
        );
    }
}

const fn random_count(seed: u64) -> usize {
    [1, 7, 60, 300][seed as usize % 4]
}

/// Repeated names alone, in objects of known and of ever new classes.
#[test]
fn repeats_are_those_of_single_tokens() {
    for seed in 0..cases(200, 4000) {
        let random = &mut Random::new(seed);
        let shape = Shape { duplicates: true, values: 40, ..Shape::default() };
        let documents: Vec<_> = (0..20).map(|number| document(seed * 20 + number, &shape)).collect();
        let text = repeated(random, &documents, random_count(seed));
        check(
            &text,
            &options(|options| {
                (options.per_path, options.counts) = (false, seed % 4 == 0);
                options.duplicate_names = true;
            }),
        );
    }
    let maps = (0..3_000).map(|number| format!(r#"{{"k{number}":1,"k{}":2,"x":3}}"#, number / 2 * 2));
    let text = format!("[{}]", maps.collect::<Vec<_>>().join(","));
    check(text.as_bytes(), &options(|options| (options.per_path, options.counts) = (false, false)));
}

/// The trie is rebuilt while containers are open.
#[test]
fn shapes_beyond_their_memory() {
    let names = |number: u64| format!(r#"{{"n{number}":{{"a":[{number},{{}}],"m{}":null}}}}"#, number * 7);
    let documents: Vec<String> = (0..3_000).map(names).collect();
    let text = format!("[{}]", documents.join(", "));
    check(text.as_bytes(), &options(|options| options.limits.bytes = 200_000));
}

/// Figures become coarser between scalars of the same batch.
#[test]
fn values_beyond_their_memory() {
    let row = |number: u64| {
        let text = number * 0x9E37_79B9;
        format!(
            r#"{{"id":{number},"text":"{text}","x":{}.5,"y":[{},null,{}]}}"#,
            text % 997,
            text % 5,
            number.is_multiple_of(2)
        )
    };
    let rows: Vec<String> = (0..6_000).map(row).collect();
    let text = format!("[{}]", rows.join(", "));
    for bytes in [60_000, 100_000, 300_000, 1_000_000] {
        check(
            text.as_bytes(),
            &options(|options| {
                (options.values, options.histograms, options.schema) = (true, true, true);
                options.limits.bytes = bytes;
            }),
        );
    }
}

/// The figures about the values of a sample are those of its rows, and of all that is in no row.
#[test]
fn figures_of_samples_are_those_of_their_rows() {
    let mut sampled = 0;
    for seed in 0..cases(150, 3000) {
        let random = &mut Random::new(seed);
        let shape = Shape { values: 20, ..Shape::default() };
        let rows: Vec<_> = (0..40).map(|number| document(seed * 50 + number, &shape)).collect();
        let rows: Vec<&[u8]> = rows.iter().map(|row| row.trim_ascii()).collect();
        let text = [b"{\"first\":[1],\"rows\":[".as_slice(), &rows.join(&b","[..]), b"],\"x\":5}"].concat();
        let sample = RowSample { roots: false, largest_hash: u64::MAX / (1 + random.below(4) as u64), seed };
        let all = options(|options| (options.values, options.histograms) = (true, true));
        let mut of_sample = all.clone();
        of_sample.row_sample = Some(sample);
        let found = in_batches(&text, &of_sample, seed % 2 == 0).summary();
        // The same document without the other rows.
        let mut at = b"{\"first\":[1],\"rows\":[".len() as u64;
        let mut kept = Vec::new();
        for row in &rows {
            if sample.includes(at) {
                kept.push(*row);
            }
            at += row.len() as u64 + 1;
        }
        let first: &[u8] = if sample.includes(10) { b"1" } else { b"" };
        let kept_text =
            [b"{\"first\":[", first, b"],\"rows\":[".as_slice(), &kept.join(&b","[..]), b"],\"x\":5}"]
                .concat();
        let mut expected = Profile::new(all);
        observe_text(&mut expected, &kept_text, 0);
        let by_path = |values: Vec<ValuesSummary>| {
            values.into_iter().map(|row| (row.path.clone(), row)).collect::<BTreeMap<_, _>>()
        };
        let (found_values, expected) =
            (by_path(found.values.clone().unwrap()), by_path(expected.summary().values.unwrap()));
        for (path, row) in &expected {
            let found = &found_values[path];
            let figures = |row: &ValuesSummary| {
                (
                    row.count,
                    row.numbers.clone(),
                    row.quantiles,
                    row.strings,
                    row.distinct,
                    row.histogram.clone(),
                )
            };
            assert_eq!(figures(found), figures(row), "{path}");
        }
        assert_eq!(found_values.len(), expected.len());
        let rows_of_paths = found.row_samples.unwrap();
        let row = rows_of_paths.iter().find(|row| row.path == "$.rows[*]");
        let (rows_found, examples) = row.map_or((0, 0), |row| (row.rows, row.examples.len()));
        assert_eq!((rows_found, examples), (kept.len() as u64, kept.len().min(10)));
        assert!(row.is_none_or(|row| row.total == 40));
        sampled += kept.len();
    }
    assert!(sampled > 1000, "{sampled}");
}

/// Names whose bytes as written begin like the decoded bytes of others.
#[test]
fn names_with_quotes_are_not_confused() {
    let object = r#"{"x\":":1,"x":"y","a\\n":2,"a\n":3,"x\"":"","\u0078":true,"":0}"#;
    let text = format!("[{}]", [object; 100].join(","));
    check(text.as_bytes(), &options(|options| (options.fields, options.bytes) = (true, true)));
    let reversed = r#"{"x":":","x\":":1,"a\n":3,"a\\n":2}"#;
    let text = format!("[{},{}]", [object; 50].join(","), [reversed; 100].join(","));
    check(text.as_bytes(), &options(|options| (options.fields, options.bytes) = (true, true)));
}

/// The separator of two values is expected to be the last one.
#[test]
fn separators_change_between_values() {
    let separators = [",", ", ", " ,", " , ", ",  ", ",\n", ",\t ", "\n,\n "];
    let scalars = ["1", "\"a \"", "\"b, \"", "null", "\",\"", "-2.5e3", "\"\"", "false", "[2, 3]", "[4,5]"];
    for seed in 0..cases(100, 4000) {
        let random = &mut Random::new(seed);
        let mut text = String::from("[0");
        let mut separator = ",";
        for number in 0..300 {
            if random.below(3) == 0 {
                separator = separators[random.below(separators.len())];
            }
            let value = scalars[random.below(scalars.len())];
            text += separator;
            if number % 3 == 0 {
                text += &["{\"a\":", value, separator, "\"b\" : ", value, "}"].concat();
            } else {
                text += value;
            }
        }
        text.push(']');
        check(text.as_bytes(), &options(|options| (options.bytes, options.values) = (true, seed % 2 == 0)));
    }
}
