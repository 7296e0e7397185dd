//! Objects used as maps share the path `.*` in rows, fields, values, and schema.

mod support;

use support::{observe_text, options, profile, summary};
use trommel_stats::{Accumulator as _, Profile, ProfileOptions, ScalarValue, Summary};

fn everything(options: &mut ProfileOptions) {
    (options.fields, options.values, options.schema) = (true, true, true);
}

/// An object with the names of a range.
fn map(names: std::ops::Range<u32>, member: impl Fn(u32) -> String) -> String {
    let members: Vec<String> = names.map(|id| format!(r#""{id}":{}"#, member(id))).collect();
    format!("{{{}}}", members.join(","))
}

/// Paths of fields, with the number of values and of objects without the name.
fn fields(found: &Summary) -> Vec<(&str, u64, u64)> {
    found.fields.iter().flatten().map(|row| (row.path.as_str(), row.count, row.missing)).collect()
}

fn is_folded(text: &str, depth: u32) -> bool {
    let change = |options: &mut ProfileOptions| (options.fields, options.max_depth) = (true, depth);
    let found = summary(options(change), &[text]);
    fields(&found).iter().any(|row| row.0.ends_with(".*"))
}

#[test]
fn members_of_a_map_share_all_figures() {
    let user = |id: u32| match id {
        5 => r#"{"name":"Ann","age":40,"tags":[]}"#.to_owned(),
        _ => format!(r#"{{"name":"Bob","age":{},"tags":["x"],"id":{id}}}"#, id % 30),
    };
    let text = format!(r#"{{"api":{},"n":1}}"#, map(10..130, user));
    let found = summary(options(everything), &[&text]);
    let expected = [
        ("$", 1, 0),
        ("$.api", 1, 0),
        ("$.api.*", 120, 0),
        ("$.api.*.name", 120, 0),
        ("$.api.*.age", 120, 0),
        ("$.api.*.tags", 120, 0),
        ("$.api.*.tags[*]", 120, 0),
        ("$.api.*.id", 120, 0),
        ("$.n", 1, 0),
    ];
    assert_eq!(fields(&found), expected);
    let objects: Vec<_> = found.objects.iter().flatten().map(|row| (row.path.as_str(), row.keys)).collect();
    assert_eq!(objects, [("$", 2), ("$.api", 120), ("$.api.*", 480)]);
    let arrays = found.arrays.as_ref().unwrap();
    assert_eq!((arrays.len(), arrays[0].path.as_str(), arrays[0].count), (1, "$.api.*.tags", Some(120)));
    let values = found.values.as_ref().unwrap();
    let ages = values.iter().find(|row| row.path == "$.api.*.age").unwrap();
    assert_eq!((ages.count, ages.distinct.count, ages.distinct.approximate), (120, 30, false));
    assert_eq!(ages.frequent.values[0].count, 4);
    let names = values.iter().find(|row| row.path == "$.api.*.name").unwrap();
    assert_eq!(names.frequent.values[0].value, ScalarValue::String("Bob".into()));
    let schema = found.schema.unwrap().into_json();
    assert!(
        schema.contains(r#""api":{"type":"object","additionalProperties":{"type":"object","#),
        "{schema}"
    );
    assert!(found.capped.is_empty());
}

#[test]
fn optional_members_of_a_map_are_missing() {
    let package = |id: u32| {
        let dev = if id.is_multiple_of(4) { r#","dev":true"# } else { "" };
        format!(r#"{{"version":"1.{id}","resolved":"u","integrity":"s","license":"MIT"{dev}}}"#)
    };
    let found = summary(options(everything), &[&map(0..200, package)]);
    assert_eq!(fields(&found)[1], ("$.*", 200, 0));
    assert_eq!(fields(&found)[2], ("$.*.version", 200, 0));
    assert!(fields(&found).contains(&("$.*.dev", 50, 150)));
}

#[test]
fn maps_need_over_100_names() {
    for (names, folded) in [(100, false), (101, true)] {
        assert_eq!(is_folded(&map(0..names, |_| "1".into()), 9), folded);
    }
}

/// One member of another type makes a single object a record. Among several objects, its type does
/// not matter.
#[test]
fn an_odd_member() {
    let odd = |id: u32| if id == 50 { r#""odd""#.into() } else { r#"{"x":1}"#.into() };
    assert!(!is_folded(&map(0..150, odd), 9));
    let objects: Vec<String> = (0..3).map(|part| map(part * 50..part * 50 + 50, odd)).collect();
    assert!(is_folded(&format!("[{}]", objects.join(",")), 9));
    // An odd object among many is not enough to make them different.
    let odd = |id: u32| if id == 50 { r#"{"y":1,"z":2}"#.into() } else { r#"{"x":1}"#.into() };
    assert!(is_folded(&map(0..150, odd), 9));
}

#[test]
fn objects_share_four_fifths_of_their_names() {
    for (own, folded) in [(1, true), (2, false)] {
        let member = |id: u32| {
            let own: Vec<String> = (0..own).map(|n| format!(r#","own{id} {n}":0"#)).collect();
            format!(r#"{{"a":1,"b":1,"c":1,"d":1{}}}"#, own.concat())
        };
        let text = map(0..150, member);
        // The rule does not depend on the depth of the rows.
        for depth in [9, 3, 2] {
            assert_eq!(is_folded(&text, depth), folded, "{own} {depth}");
        }
    }
    assert!(is_folded(&map(0..150, |_| "{}".into()), 2));
    assert!(!is_folded(&map(0..150, |id| format!(r#"{{"x{id}":1}}"#)), 2));
}

/// Several objects are maps if no name is in half of them, whatever their members are.
#[test]
fn names_in_half_of_the_objects_make_records() {
    let member = |id: u32| ["1", "null", r#"{"x":[]}"#][id as usize % 3].to_owned();
    let mut objects: Vec<String> = (0..3).map(|part| map(part * 40..part * 40 + 40, member)).collect();
    let list = |objects: &[String]| format!(r#"{{"items":[{}]}}"#, objects.join(","));
    assert!(is_folded(&list(&objects), 9));
    objects.push(map(0..1, member));
    assert!(!is_folded(&list(&objects), 9));
    // Several objects with the same names are records, even if their members are alike.
    let same = vec![map(0..150, |_| "1".into()); 2];
    assert!(!is_folded(&list(&same), 9));
}

#[test]
fn maps_under_elements_and_in_maps() {
    let inner = |from: u32| map(from..from + 60, |id| format!(r#"{{"id":{id}}}"#));
    let text = format!("[{},{},{}]", inner(0), inner(100), inner(200));
    let found = summary(options(everything), &[&text]);
    assert_eq!(fields(&found)[2..], [("$[*].*", 180, 0), ("$[*].*.id", 180, 0)]);
    let text = map(0..110, |id| format!(r#"{{"all":{},"n":1}}"#, inner(id * 100)));
    let found = summary(options(everything), &[&text]);
    let paths: Vec<_> = fields(&found).into_iter().map(|row| row.0).collect();
    assert_eq!(paths, ["$", "$.*", "$.*.all", "$.*.all.*", "$.*.all.*.id", "$.*.n"]);
}

#[test]
fn names_with_dots_and_control_characters() {
    let members: Vec<String> =
        (0..120).map(|id| format!(r#""a.b\u000{} '{id}'":{{"x.y":{id},"\n":null}}"#, id % 10)).collect();
    let found = summary(options(everything), &[format!("{{{}}}", members.join(","))]);
    assert_eq!(fields(&found)[1..], [("$.*", 120, 0), ("$.*['x.y']", 120, 0), (r"$.*['\n']", 120, 0)]);
}

/// Beyond the cap on names, the members are folded while they are observed. The figures are the
/// same, and `capped` says so.
#[test]
fn a_hundred_thousand_names() {
    let text = map(0..100_000, |id| format!(r#"{{"id":{id},"x":"y"}}"#));
    let found = summary(options(|options| options.fields = true), &[&text]);
    let expected = [("$", 1, 0), ("$.*", 100_000, 0), ("$.*.id", 100_000, 0), ("$.*.x", 100_000, 0)];
    assert_eq!((fields(&found), found.capped.folded_paths), (expected.into(), 1));
    // Folding saves so much memory that the figures about values stay as exact as usual.
    let found = summary(options(everything), &[&text]);
    let values = found.values.unwrap();
    let rows: Vec<_> = values.iter().map(|row| (row.path.as_str(), row.count)).collect();
    assert_eq!(rows, [("$.*.id", 100_000), ("$.*.x", 100_000)]);
    assert_eq!((values[1].distinct.count, values[1].distinct.approximate), (1, false));
    assert!(values[0].distinct.relative_error.unwrap() < 0.03);
    // In parts, each of which is within the cap.
    let part = |part: u32| map(part * 10_000..part * 10_000 + 10_000, |id| format!(r#"{{"id":{id}}}"#));
    let mut merged = Profile::new(options(|options| options.fields = true));
    for number in 0..10 {
        let mut other = Profile::new(options(|options| options.fields = true));
        observe_text(&mut other, part(number).as_bytes(), u64::from(number) << 30);
        merged.merge(other);
    }
    let expected = [("$", 10, 0), ("$.*", 100_000, 0), ("$.*.id", 100_000, 0)];
    assert_eq!(fields(&merged.summary()), expected);
}

/// A profile keeps the names, so objects that turn out to be no maps get their rows.
#[test]
fn merging_can_undo_a_fold() {
    let all = |_: u32| "1".to_owned();
    let fields_of = |options: &mut ProfileOptions| options.fields = true;
    let mut merged = profile(options(fields_of), &[map(0..150, all)]);
    assert_eq!(merged.summary().fields.unwrap().len(), 2);
    merged.merge(profile(options(fields_of), &[map(0..150, all)]));
    assert_eq!(merged.summary().fields.unwrap().len(), 151);
}

/// The number of frequent values is an option of the summary.
#[test]
fn more_frequent_values_on_request() {
    let values: Vec<String> = (0..60).flat_map(|n| vec![n.to_string(); 60 - n]).collect();
    let text = format!("[{}]", values.join(","));
    for (limit, shown) in [(0, 0), (3, 3), (10, 10), (50, 50), (1000, 60)] {
        let change = |options: &mut ProfileOptions| {
            (options.values, options.limits.frequent_values) = (true, limit);
        };
        let found = summary(options(change), &[&text]).values.unwrap();
        let counts: Vec<u64> = found[0].frequent.values.iter().map(|value| value.count).collect();
        assert_eq!(counts, (0..shown).map(|n| 60 - n).collect::<Vec<_>>());
    }
}

/// States without the options of this release can be read, and their profiles can be merged.
#[cfg(feature = "serde")]
#[test]
fn states_of_the_previous_release_merge() {
    let text = map(0..150, |id| format!(r#"{{"id":{id}}}"#));
    let with_fields = options(|options| {
        (options.fields, options.bytes, options.values, options.histograms) = (true, true, true, true);
    });
    let old = profile(options(|options| options.values = true), &[&text]);
    let state = serde_json::to_string(&old).unwrap();
    for new in ["fields", "frequent_values", "bytes\":true", "histograms"] {
        assert!(!state.contains(new), "{new}: {state}");
    }
    let mut old: Profile = serde_json::from_str(&state).unwrap();
    let mut new = profile(with_fields.clone(), &[&text]);
    let stored = serde_json::to_string(&new).unwrap();
    let restored: Profile = serde_json::from_str(&stored).unwrap();
    assert_eq!(restored.summary(), new.summary());
    assert_eq!(fields(&new.summary())[1], ("$.*", 150, 0));
    new.merge(old.clone());
    old.merge(profile(with_fields, &[&text]));
    // Only options that both have stay.
    for merged in [old.summary(), new.summary()] {
        assert_eq!((merged.fields, merged.bytes), (None, None));
        let values = merged.values.unwrap();
        assert!(values.iter().all(|values| values.count > 0 && values.histogram.is_none()));
    }
    assert_eq!(old.summary().objects.unwrap()[1].count, Some(2));
}
