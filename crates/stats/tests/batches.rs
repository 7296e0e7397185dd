//! Tokens that arrive many at once count like those that arrive one by one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Random, observe_text, options};
use trommel_reader::{Config, Cursor, Framing};
use trommel_stats::{Accumulator, Profile, ProfileOptions, ValuesSummary};
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
                (options.values, options.array_values) = (seed % 7 == 0, seed % 2 == 0);
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

/// Figures about values without those in arrays are the others, in any parts.
#[test]
fn values_in_arrays_can_be_left_out() {
    let mut left_out = 0;
    for seed in 0..cases(300, 4000) {
        let text = document(seed, &Shape { values: 60, ..Shape::default() });
        let all = options(|options| (options.values, options.histograms) = (true, true));
        let mut some = all.clone();
        some.array_values = false;
        let observed = |options: &ProfileOptions| {
            let mut profile = Profile::new(options.clone());
            observe_text(&mut profile, &text, 0);
            profile
        };
        let values = |profile: &Profile| profile.summary().values.unwrap();
        let outside = |row: &ValuesSummary| !row.path.contains("[*]");
        let expected: Vec<_> = values(&observed(&all)).into_iter().filter(outside).collect();
        left_out += values(&observed(&all)).len() - expected.len();
        assert_eq!(values(&observed(&some)), expected, "{}", String::from_utf8_lossy(&text));
        let mut forked = observed(&some);
        forked.merge(observed(&all));
        assert!(values(&forked).iter().all(|row| !row.path.contains("[*]")));
    }
    assert!(left_out > 100, "{left_out}");
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
