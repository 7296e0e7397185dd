//! Answers from the shape are those of a run.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;

use trommel::reader::{Framing, Limits};
use trommel::{Analysis, Document, Measure, Stats, framing_of};
use trommel_guide::{Error, Guide, Guides, Location};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::{Random, Shape, document, stream};
use trommel_testkit::naive;

fn statistics(seed: u64) -> Stats {
    let mut stats = Stats::new();
    stats.schema = seed & 1 == 0;
    stats.fields = seed & 2 == 0;
    stats.item_types = seed & 4 == 0;
    stats
}

/// A file with this text.
fn file(folder: &tempfile::TempDir, name: &str, text: &[u8]) -> (std::path::PathBuf, std::fs::File) {
    let path = folder.path().join(name);
    std::fs::File::create(&path).unwrap().write_all(text).unwrap();
    let opened = std::fs::File::open(&path).unwrap();
    (path, opened)
}

#[test]
fn the_shape_answers_like_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut answered = 0;
    for seed in 0..cases(300, 10_000) {
        let mut random = Random::new(seed);
        let lines = seed % 3 == 0;
        let shape = if seed % 2 == 0 { Shape::plain() } else { Shape::wide(40) };
        let text = if lines {
            stream(seed, &shape, naive::Framing::Lines, random.between(1, 20))
        } else {
            document(seed, &shape)
        };
        let (path, opened) = file(&folder, if lines { "a.jsonl" } else { "a.json" }, &text);
        let guide = Guide::build(&opened, framing_of(&path), &Analysis::new(), 64).unwrap();
        let framing = framing_of(&path);
        let mut asked = vec![Measure::Stats(statistics(seed))];
        if random.chance(50) {
            asked.push(Measure::Stats(statistics(seed / 8)));
        }
        let analysis = asked.into_iter().fold(Analysis::new(), Analysis::ask);
        let known = guide.report(&analysis, framing).unwrap_or_else(|| panic!("seed {seed}: no answer"));
        let mut ran = analysis.run(&mut Document::open(&path).unwrap()).unwrap();
        assert_eq!(format!("{:?}", known.answers), format!("{:?}", ran.answers), "seed {seed}");
        ran.coverage.guide = true;
        assert_eq!(known.coverage, ran.coverage, "seed {seed}");
        for query in
            ["$", "$[*]", "$[*][*]", "$.id", "$[*].id", "$.data", "$.items[*]", "$.a.b", "$[*].items[*]"]
        {
            let counted = Analysis::new().count(query.parse().unwrap());
            let Some(known) = guide.report(&counted, framing) else { continue };
            let ran = counted.run(&mut Document::open(&path).unwrap()).unwrap();
            assert_eq!(known.answers[0].count(), ran.answers[0].count(), "seed {seed}: {query}");
            answered += 1;
        }
    }
    assert!(answered > 200, "{answered} counts were answered");
}

#[test]
fn other_questions_are_not_answered() {
    let folder = tempfile::tempdir().unwrap();
    let (_, opened) = file(&folder, "a.json", br#"{"a":[1,2,3],"b":{"c":1}}"#);
    let guide = Guide::build(&opened, Framing::Auto, &Analysis::new(), 64).unwrap();
    let count = |query: &str| Analysis::new().count(query.parse().unwrap());
    let answer =
        |analysis: &Analysis| guide.report(analysis, Framing::Auto).map(|report| report.answers[0].count());
    assert_eq!(answer(&count("$.a[*]")), Some(Some(3)));
    assert!(answer(&count("$.a[0]")).is_none());
    assert!(answer(&count("$..c")).is_none());
    assert!(answer(&count("$.x")).is_none());
    assert!(answer(&count("$.a[?@ > 1]")).is_none());
    assert!(answer(&Analysis::new()).is_none());
    let filter = trommel::path::Query::parse_filter("@.b").unwrap();
    assert!(answer(&count("$.a[*]").filter(filter)).is_none());
    assert!(answer(&count("$.a[*]").each("$.a".parse().unwrap())).is_none());
    let limits = |depth| {
        let mut limits = Limits::default();
        limits.depth = depth;
        limits
    };
    assert!(answer(&count("$.a[*]").limits(limits(1))).is_none());
    assert!(answer(&count("$.a[*]").limits(limits(2))).is_some());
    let mut top = Stats::new();
    (top.values, top.top) = (true, Some(3));
    assert!(answer(&Analysis::new().ask(Measure::Stats(top))).is_none());
    assert!(guide.report(&count("$.a[*]"), Framing::Lines).is_none());
}

#[test]
fn guides_are_kept_found_and_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let guides = Guides::new(folder.path().join("guides"));
    let (path, opened) = file(&folder, "a.json", br#"{"a":[1,2,3]}"#);
    assert!(matches!(guides.find(&path, &opened), Err(Error::Missing)));
    let guide = Guide::build(&opened, Framing::Auto, &Analysis::new(), 64).unwrap();
    for location in [Location::Folder, Location::Beside] {
        let kept = guides.keep(&path, &guide, location).unwrap();
        let (found, at) = guides.find(&path, &opened).unwrap();
        assert_eq!((found.index(), &at), (guide.index(), &kept));
        assert_eq!(guides.remove(&path).unwrap(), [kept]);
    }
    // Another user's guide. Only the administrator can give one away.
    let kept = guides.keep(&path, &guide, Location::Beside).unwrap();
    if std::os::unix::fs::chown(&kept, Some(12_345), None).is_ok() {
        assert!(matches!(guides.find(&path, &opened), Err(Error::Changed("it belongs to another user"))));
    }
    guides.remove(&path).unwrap();
    // A changed file, another file, and a damaged guide.
    let kept = guides.keep(&path, &guide, Location::Beside).unwrap();
    std::fs::write(&path, br#"{"a":[1,2,4]}"#).unwrap();
    let opened = std::fs::File::open(&path).unwrap();
    assert!(matches!(guides.find(&path, &opened), Err(Error::Changed(_))));
    let (other, opened) = file(&folder, "b.json", br#"{"a":[1,2,3]}"#);
    std::fs::copy(&kept, folder.path().join("b.json.guide")).unwrap();
    assert!(matches!(guides.find(&other, &opened), Err(Error::Changed(_))));
    std::fs::write(folder.path().join("b.json.guide"), b"trommelG").unwrap();
    assert!(matches!(guides.find(&other, &opened), Err(Error::Damaged(_))));
}

#[test]
fn malformed_and_compressed_files_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let (_, opened) = file(&folder, "a.json", br#"{"a":[1,2,"#);
    assert!(matches!(Guide::build(&opened, Framing::Auto, &Analysis::new(), 64), Err(Error::Input(_))));
    let (_, opened) = file(&folder, "b.json", b"\x1f\x8b\x08\0\0\0\0\0\0\0");
    assert!(matches!(Guide::build(&opened, Framing::Auto, &Analysis::new(), 64), Err(Error::Unsuitable(_))));
}
