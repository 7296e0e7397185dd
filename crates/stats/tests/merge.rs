//! R34: the merge law. Any split of the records into parts, merged in any order and grouping, gives
//! the same summary and (with the feature `serde`) the same bytes as one pass.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use support::{Random, observe_text, options, text};
use trommel_reader::{Config, Cursor, Kind, Number, Scalar};
use trommel_stats::{
    Accumulator, Distinct, Frequent, Kinds, Numeric, Profile, ProfileOptions, Quantiles, RowSample,
    TextLengths,
};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Shape, stream};
use trommel_testkit::naive::{Framing, records};

#[cfg(feature = "serde")]
fn bytes<T: serde::Serialize>(state: &T) -> Vec<u8> {
    serde_json::to_vec(state).unwrap()
}

/// Without the feature there are no bytes to compare.
#[cfg(not(feature = "serde"))]
fn bytes<T>(_: &T) -> Vec<u8> {
    Vec::new()
}

/// Merges random pairs of parts until one is left.
fn merge_all<A: Accumulator>(random: &mut Random, mut parts: Vec<A>) -> A {
    while parts.len() > 1 {
        let one = parts.swap_remove(random.below(parts.len()));
        let at = random.below(parts.len());
        parts[at].merge(one);
    }
    parts.pop().unwrap()
}

/// Distributes items over parts and checks the law against one pass over all items.
fn check<A: Accumulator<Summary: std::fmt::Debug + PartialEq> + Clone + MaybeSerialize, T>(
    random: &mut Random,
    empty: &A,
    items: &[T],
    observe: impl Fn(&mut A, &T),
) {
    let mut whole = empty.clone();
    for item in items {
        observe(&mut whole, item);
    }
    let mut parts = vec![empty.clone(); random.between(2, 6)];
    for item in items {
        let part = random.below(parts.len());
        observe(&mut parts[part], item);
    }
    let (expected, expected_bytes) = (whole.summary(), bytes(&whole));
    for _ in 0..2 {
        let merged = merge_all(random, parts.clone());
        assert_eq!(merged.summary(), expected);
        assert_eq!(String::from_utf8(bytes(&merged)), String::from_utf8(expected_bytes.clone()));
    }
}

#[cfg(feature = "serde")]
use serde::Serialize as MaybeSerialize;
#[cfg(not(feature = "serde"))]
trait MaybeSerialize {}
#[cfg(not(feature = "serde"))]
impl<T> MaybeSerialize for T {}

fn check_profile(random: &mut Random, options: &ProfileOptions, documents: &[(u64, Vec<u8>)]) {
    let observe =
        |profile: &mut Profile, (at, document): &(u64, Vec<u8>)| observe_text(profile, document, *at);
    check(random, &Profile::new(options.clone()), documents, observe);
}

/// The records of a stream, each with its offset.
fn documents(seed: u64, shape: &Shape, count: usize) -> Vec<(u64, Vec<u8>)> {
    let text = stream(seed, shape, Framing::Lines, count);
    let records = records(&text, Framing::Lines);
    records.iter().map(|record| (record.span.start, text[record.span.range()].to_vec())).collect()
}

fn everything(options: &mut ProfileOptions) {
    options.schema = true;
    options.values = true;
    options.fields = true;
    options.bytes = true;
    options.histograms = true;
}

#[test]
fn profiles_within_their_caps() {
    for seed in 0..cases(120, 2000) {
        let shape = Shape { duplicates: true, ..Shape::default() };
        let documents = documents(seed, &shape, 10);
        check_profile(&mut Random::new(seed), &options(everything), &documents);
    }
}

/// Samples of rows merge, too, with their examples.
#[test]
fn profiles_of_row_samples() {
    for seed in 0..cases(60, 1000) {
        let documents = documents(seed, &Shape::default(), 30);
        let sampled = options(|options| {
            everything(options);
            let share = [u64::MAX, u64::MAX / 2, u64::MAX / 5][seed as usize % 3];
            options.row_sample = Some(RowSample { roots: seed % 2 == 0, largest_hash: share, seed });
        });
        check_profile(&mut Random::new(seed), &sampled, &documents);
    }
}

/// Folding also depends only on the observations.
#[test]
fn profiles_beyond_their_name_cap() {
    for seed in 0..cases(400, 5000) {
        let shape = Shape { duplicates: seed % 2 == 0, values: 60, ..Shape::plain() };
        let documents = documents(seed, &shape, 12);
        let capped = options(|options| {
            everything(options);
            options.limits.names_per_path = [1, 2, 4, 6, 8][seed as usize % 5];
        });
        check_profile(&mut Random::new(seed), &capped, &documents);
    }
}

/// The decision to fold maps is part of the summary, so it does not depend on the parts.
#[test]
fn profiles_with_maps() {
    let mut folded = 0;
    for seed in 0..cases(60, 2000) {
        let random = &mut Random::new(seed);
        // Each name is in `share` of eight records.
        let (names, share) = (random.between(90, 200), random.between(1, 6));
        let record = |record: usize| {
            let members = (0..names).filter(|name| (name + record) % 8 < share);
            let members = members.map(|name| format!(r#""k{name}":{{"id":{name},"x":[{}]}}"#, name % 7));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        };
        let documents: Vec<_> = (0..8).map(|n| (n as u64 * 100_000, record(n).into_bytes())).collect();
        let limited = options(|options| {
            everything(options);
            options.max_depth = [10_000, 3, 2][seed as usize % 3];
        });
        check_profile(random, &limited, &documents);
        let mut profile = Profile::new(limited);
        for (at, document) in &documents {
            observe_text(&mut profile, document, *at);
        }
        folded += usize::from(profile.summary().fields.unwrap()[1].path == "$.*");
    }
    assert!((10..50).contains(&folded), "{folded}");
}

/// Records with a member that all of them have, among ever new names.
#[test]
fn folding_keeps_names_of_every_object() {
    let record =
        |n: u64| format!(r#"{{"id":{n},"k{n}":{{"x{n}":1,"y":2}},"k{}":null,"t":[{{"z{n}":1}}]}}"#, n + 1);
    for seed in 0..20 {
        let documents: Vec<_> = (0..40).map(|n| (n * 100, record(n).into_bytes())).collect();
        let capped = options(|options| {
            everything(options);
            options.limits.names_per_path = 10;
        });
        check_profile(&mut Random::new(seed), &capped, &documents);
        let mut profile = Profile::new(capped);
        for (at, document) in &documents {
            observe_text(&mut profile, document, *at);
        }
        let summary = profile.summary();
        let paths: Vec<_> = summary.objects.unwrap().into_iter().map(|row| (row.path, row.keys)).collect();
        assert_eq!(paths, [("$".into(), 160), ("$.*".into(), 80), ("$.t[*]".into(), 40)]);
        assert_eq!(summary.capped.folded_paths, 3);
        let schema = summary.schema.unwrap().into_json();
        assert!(
            schema.contains(r#""required":["id","t"]"#) && schema.contains(r#""required":["y"]"#),
            "{schema}"
        );
    }
}

/// If many values exhaust the memory, the caps of all figures are lowered, with the same result for
/// any split.
#[test]
fn profiles_short_of_memory() {
    let record = |random: &mut Random| {
        let members: Vec<String> = (0..12)
            .map(|name| {
                format!(
                    r#""m{name}":[{},"text {}",{}e-3]"#,
                    random.below(1 << (2 * name)),
                    random.below(300),
                    random.bits()
                )
            })
            .collect();
        format!("{{{}}}", members.join(","))
    };
    for seed in 0..cases(6, 60) {
        let random = &mut Random::new(seed);
        let documents: Vec<_> = (0..250).map(|n| (n * 1000, record(random).into_bytes())).collect();
        for bytes in [60_000, 200_000, 400_000] {
            let tight = options(|options| {
                everything(options);
                options.limits.bytes = bytes;
            });
            check_profile(random, &tight, &documents);
        }
    }
}

/// If memory does not suffice even then, the folded paths may depend on the parts, but no total
/// does.
#[test]
fn totals_stay_exact_under_memory_pressure() {
    for seed in 0..cases(60, 1000) {
        let documents =
            documents(seed, &Shape { values: 200, width: 30, duplicates: true, ..Shape::default() }, 10);
        let observe = |options: ProfileOptions, documents: &[(u64, Vec<u8>)]| {
            let mut profile = Profile::new(options);
            for (at, document) in documents {
                observe_text(&mut profile, document, *at);
            }
            profile
        };
        let exact = observe(options(|_| {}), &documents).summary();
        let sum = |summary: &trommel_stats::Summary| -> (u64, u64) {
            let arrays = summary.arrays.as_ref().unwrap().iter().map(|row| row.length).sum();
            (arrays, summary.objects.as_ref().unwrap().iter().map(|row| row.keys).sum())
        };
        for bytes in [10_000, 40_000] {
            let tight = options(|options| options.limits.bytes = bytes);
            let mut merged = observe(tight.clone(), &documents[..5]);
            merged.merge(observe(tight, &documents[5..]));
            let found = merged.summary();
            assert_eq!((&found.structure, found.types), (&exact.structure, exact.types));
            if found.capped.max_depth.is_none()
                && found.capped.arrays.is_none()
                && found.capped.objects.is_none()
            {
                assert_eq!(sum(&found), sum(&exact));
            }
            assert!(!found.capped.is_empty());
        }
    }
}

fn numbers(random: &mut Random, count: usize) -> Vec<String> {
    let number = |random: &mut Random| match random.below(5) {
        0 => random.below(10).to_string(),
        1 => format!("-{}.{}", random.below(1000), random.bits()),
        2 => format!("{}e{}", random.bits(), random.between(0, 600) as i64 - 320),
        3 => format!("{}0", random.bits()),
        _ => format!("0.{}", random.below(100)),
    };
    (0..count).map(|_| number(random)).collect()
}

fn number(lexeme: &str) -> Number<'_> {
    Number::parse(lexeme).unwrap()
}

#[test]
fn accumulators_of_one_type() {
    let texts: Vec<String> = (0..60).map(|n| "aé\\n".repeat(n * n % 37)).collect();
    let kinds = [Kind::Null, Kind::Bool, Kind::Array, Kind::Null, Kind::Object];
    for seed in 0..cases(60, 1000) {
        let random = &mut Random::new(seed);
        let count = random.below(400);
        let lexemes = numbers(random, count);
        check(random, &Numeric::default(), &lexemes, |all, lexeme| all.observe(number(lexeme)));
        for cap in [16, 50, 4096] {
            check(random, &Quantiles::with_cap(cap), &lexemes, |all, lexeme| {
                all.observe(number(lexeme).as_f64());
            });
        }
        check(random, &TextLengths::default(), &texts, |all, raw| {
            all.observe(text(raw.as_bytes()).char_len());
        });
        check(random, &Kinds::default(), &kinds, |all, kind| all.observe(*kind));
    }
}

#[test]
fn accumulators_of_any_scalar() {
    let long = b"long ".repeat(60);
    for seed in 0..cases(60, 1000) {
        let random = &mut Random::new(seed);
        let count = random.below(400);
        let lexemes = numbers(random, count);
        let mut scalars = vec![Scalar::Null, Scalar::Bool(true), Scalar::Bool(false)];
        scalars.extend([&long, b"A".as_slice(), b"\\u0041"].map(|raw| Scalar::String(text(raw))));
        scalars.extend(lexemes.iter().map(|lexeme| Scalar::Number(number(lexeme))));
        let positioned: Vec<(u64, Scalar<'_>)> = (0..).zip(scalars).collect();
        for cap in [16, 50, 4096] {
            check(random, &Distinct::with_cap(cap), &positioned, |all, (_, scalar)| all.observe(scalar));
            check(random, &Frequent::with_cap(cap), &positioned, |all, (at, scalar)| {
                all.observe(scalar, *at);
            });
        }
    }
}

/// Parts with different caps merge to the lower cap, in either order.
#[test]
fn the_lower_cap_applies() {
    for seed in 0..cases(40, 500) {
        let random = &mut Random::new(seed);
        let lexemes = numbers(random, 300);
        let scalars: Vec<Scalar<'_>> = lexemes.iter().map(|lexeme| Scalar::Number(number(lexeme))).collect();
        let halves = scalars.split_at(150);
        let frequent = |cap: usize, base: u64, scalars: &[Scalar<'_>]| {
            let mut all = Frequent::with_cap(cap);
            (base..).zip(scalars).for_each(|(at, scalar)| all.observe(scalar, at));
            all
        };
        let distinct = |cap: usize, scalars: &[Scalar<'_>]| {
            let mut all = Distinct::with_cap(cap);
            for scalar in scalars {
                all.observe(scalar);
            }
            all
        };
        for (low, high) in [(16, 64), (64, 1000), (100, 128), (100, 2000)] {
            let (mut one, mut other) = (frequent(low, 0, halves.0), frequent(high, 150, halves.1));
            let (first, second) = (one.clone(), other.clone());
            one.merge(second);
            other.merge(first);
            let whole = frequent(low, 0, &scalars);
            assert_eq!((one.summary(), other.summary()), (whole.summary(), whole.summary()));
            assert_eq!((bytes(&one), bytes(&other)), (bytes(&whole), bytes(&whole)));
            let mut one = distinct(high, halves.0);
            one.merge(distinct(low, halves.1));
            assert_eq!(one.summary(), distinct(low, &scalars).summary());
            assert_eq!(bytes(&one), bytes(&distinct(low, &scalars)));
        }
    }
}

/// A value at an offset that is used again is sampled once, in one part or in several.
#[cfg(feature = "serde")]
#[test]
fn occurrences_that_are_repeated() {
    let text = |number: usize| format!(r#"{{"a":{number},"b":"x"}}"#);
    let observed = |documents: std::ops::Range<usize>, distinct: usize| {
        let mut profile = Profile::new(options(everything));
        for document in documents {
            observe_text(&mut profile, text(document % distinct).as_bytes(), 7);
        }
        profile
    };
    for distinct in [1, 5, 700, 1500] {
        let whole = observed(0..3000, distinct);
        for cut in [1, 600, 2000] {
            let (mut first, mut second) = (observed(0..cut, distinct), observed(cut..3000, distinct));
            let (one, other) = (first.clone(), second.clone());
            first.merge(other);
            second.merge(one);
            let found = (first.summary(), second.summary());
            assert_eq!(found, (whole.summary(), whole.summary()), "{distinct} {cut}");
            assert_eq!((bytes(&first), bytes(&second)), (bytes(&whole), bytes(&whole)), "{distinct} {cut}");
            // The merged part observes more.
            for document in 0..700 {
                observe_text(&mut first, text(document % distinct).as_bytes(), 7);
            }
            assert_eq!(first.summary().types.number, 3700, "{distinct} {cut}");
        }
    }
}

/// A restored state continues as if it had not been stored.
#[cfg(feature = "serde")]
#[test]
fn restored_states_continue() {
    for seed in 0..cases(100, 2000) {
        let documents = documents(seed, &Shape { duplicates: true, values: 80, ..Shape::default() }, 8);
        let limited = options(|options| {
            everything(options);
            options.limits.names_per_path = [65_536, 4][seed as usize % 2];
            options.limits.bytes = [64 << 20, 100_000][seed as usize / 2 % 2];
        });
        let mut whole = Profile::new(limited.clone());
        let mut stored = Profile::new(limited);
        for (at, document) in &documents {
            observe_text(&mut whole, document, *at);
            observe_text(&mut stored, document, *at);
            let state = bytes(&stored);
            stored = serde_json::from_slice(&state).unwrap();
            assert_eq!(bytes(&stored), state);
        }
        let (found, expected) = (stored.summary(), whole.summary());
        assert_eq!((&found.structure, &found.types), (&expected.structure, &expected.types));
        if seed % 4 < 2 {
            assert_eq!(bytes(&stored), bytes(&whole));
        }
    }
}

/// R13: a damaged state is an error or a valid state, never a panic.
#[cfg(feature = "serde")]
#[test]
fn damaged_states_are_refused() {
    let mut refused = 0;
    for seed in 0..cases(2000, 30_000) {
        let documents = documents(seed % 10, &Shape::default(), 2);
        let mut profile = Profile::new(options(everything));
        for (at, document) in &documents {
            observe_text(&mut profile, document, *at);
        }
        let random = &mut Random::new(seed);
        let mut state = bytes(&profile);
        for _ in 0..random.between(1, 3) {
            let at = random.below(state.len());
            state[at] = b"0123456789,[]{}\"-nul"[random.below(20)];
        }
        match serde_json::from_slice::<Profile>(&state) {
            Err(_) => refused += 1,
            Ok(mut read) => {
                observe_text(&mut read, &documents[0].1, 7);
                read.merge(profile);
                assert!(read.summary().schema.is_some());
            }
        }
    }
    assert!(refused > 100);
}

/// The elements of an array may be observed by forked profiles. Joining these gives the result of
/// one pass over all elements.
#[test]
fn forked_profiles_join() {
    let mut joins = 0;
    for seed in 0..cases(60, 3_000) {
        let mut random = Random::new(seed);
        let shape = Shape { values: 300, width: 20, duplicates: true, ..Shape::default() };
        let elements = documents(seed, &shape, 30);
        let elements: Vec<_> = elements.iter().map(|(_, text)| String::from_utf8_lossy(text)).collect();
        let text = format!(r#"{{"a":[0,{{"b":[{}]}}],"c":[1],"c":2}}"#, elements.join(","));
        for change in [everything, |options: &mut ProfileOptions| options.max_depth = 3] {
            let options = options(change);
            let mut whole = Profile::new(options.clone());
            fork(text.as_bytes(), &mut whole, || false);
            let mut joined = Profile::new(options);
            joins += fork(text.as_bytes(), &mut joined, || random.chance(30));
            assert_eq!(joined.summary(), whole.summary(), "seed {seed}");
            joined.normalize();
            whole.normalize();
            assert_eq!(String::from_utf8(bytes(&joined)), String::from_utf8(bytes(&whole)), "seed {seed}");
        }
    }
    assert!(joins > 200, "{joins}");
}

/// Forks start with the paths and the coarseness of a profile whose figures are partly sketches,
/// and several are in flight. They join to the result of one pass, also if memory runs out.
#[test]
fn forks_ahead_join() {
    let mut joins = 0;
    for seed in 0..cases(4, 100) {
        let mut random = Random::new(seed);
        let elements: Vec<_> = (0..8_000)
            .map(|number| {
                let (few, many) = (random.below(5), random.below(2_000));
                let mut text =
                    format!(r#"{{"few":{few},"many":"m{many}","all":"{number}","float":{number}.5}}"#);
                if random.chance(5) {
                    text.insert_str(1, &format!(r#""name{}":{many},"#, random.below(300)));
                }
                text
            })
            .collect();
        let text = format!(r#"{{"a":[0,{{"b":[{}]}}]}}"#, elements.join(","));
        for bytes_limit in [64 << 20, 2 << 20, 300 << 10] {
            let mut options = options(everything);
            options.values = true;
            options.limits.bytes = bytes_limit;
            let mut whole = Profile::new(options.clone());
            fork(text.as_bytes(), &mut whole, || false);
            let mut joined = Profile::new(options);
            joins += fork_ahead(text.as_bytes(), &mut joined, &mut random);
            joined.normalize();
            whole.normalize();
            assert!(bytes(&joined) == bytes(&whole), "seed {seed}, {bytes_limit} bytes");
        }
    }
    assert!(joins > 100, "{joins}");
}

/// Observes a document. Between elements of its array `b`, now and then continues with another fork
/// of the profile, or joins those before it. Returns the number of joins.
fn fork_ahead(text: &[u8], profile: &mut Profile, random: &mut Random) -> usize {
    let mut cursor = Cursor::new(text, &Config::default());
    let (mut forks, mut joins) = (Vec::<Profile>::new(), 0);
    profile.begin();
    while let Some(event) = cursor.advance().unwrap() {
        let at = cursor.span().start;
        forks.last_mut().unwrap_or(profile).observe(event, cursor.payload(), at);
        if cursor.between().is_some() && cursor.depth() == 4 {
            let ended = cursor.peek().unwrap().is_none() && text[cursor.offset() as usize] == b']';
            if ended || forks.len() > 3 {
                joins += forks.len();
                forks.drain(..).for_each(|fork| profile.join(fork));
            }
            if !ended && random.below(500) == 0 {
                forks.extend(profile.fork());
            }
        }
    }
    profile.end();
    joins
}

/// Observes a document. Between elements of its array `b`, whenever `change` returns true, switches
/// to a fork of the profile or joins the fork. Returns the number of joins.
fn fork(text: &[u8], profile: &mut Profile, mut change: impl FnMut() -> bool) -> usize {
    let mut cursor = Cursor::new(text, &Config::default());
    let (mut other, mut joins) = (None::<Profile>, 0);
    profile.begin();
    while let Some(event) = cursor.advance().unwrap() {
        let at = cursor.span().start;
        other.as_mut().unwrap_or(profile).observe(event, cursor.payload(), at);
        let between = cursor.between().is_some() && cursor.depth() == 4;
        if between && (other.is_some() || change()) {
            let ended = cursor.peek().unwrap().is_none() && text[cursor.offset() as usize] == b']';
            if let Some(fork) = other.take_if(|_| ended || change()) {
                profile.join(fork);
                joins += 1;
            } else if other.is_none() && !ended {
                other = profile.fork();
            }
        }
    }
    profile.end();
    joins
}
