//! Answers from the shape are those of a run.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Write;

use trommel::reader::{Framing, Limits, Validation};
use trommel::{Analysis, Document, Measure, Stats, framing_of};
use trommel_guide::{Error, FileIdentity, Guide, Guides, Location};
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

/// Of small inputs, an answer takes more than a guide may have.
fn padded(mut text: Vec<u8>) -> Vec<u8> {
    text.splice(0..0, std::iter::repeat_n(b' ', 2 << 20));
    text
}

/// The answer of one run answers what follows from it, and nothing else.
#[test]
fn an_answer_is_a_guide() {
    let folder = tempfile::tempdir().unwrap();
    let (mut same, mut derived, mut refused) = (0, 0, 0);
    for seed in 0..cases(100, 5_000) {
        let text = if seed % 3 == 0 {
            stream(seed, &Shape::plain(), naive::Framing::Lines, 5)
        } else {
            document(seed, &Shape::wide(20))
        };
        let text = padded(text);
        let (path, opened) = file(&folder, if seed % 3 == 0 { "a.jsonl" } else { "a.json" }, &text);
        let framing = framing_of(&path);
        let run = |stats: Stats| {
            let analysis = Analysis::new().ask(Measure::Stats(stats));
            let opened = &mut Document::open(&path).unwrap();
            let partial = analysis.run_part(opened, 0, &mut |_: &trommel::Match<'_>| Ok(())).unwrap();
            (analysis, partial)
        };
        let (analysis, partial) = run(statistics(seed));
        let identity = || trommel_guide::FileIdentity::of(&opened).unwrap();
        let guide = Guide::of_answer(identity(), framing, &analysis, &partial).unwrap();
        let Some(guide) = guide else { continue };
        let mut guide = Guide::from_bytes(&guide.to_bytes()).unwrap();
        assert!(!guide.has_points() && guide.check_file(&opened).is_ok());
        let whole = Guide::build(&opened, framing, &Analysis::new(), 64).unwrap();
        assert!(guide.agrees(&whole) && whole.agrees(&guide), "seed {seed}");
        for other in 0..8 {
            let (asked, partial) = run(statistics(other));
            let Some(known) = guide.report(&asked, framing) else {
                // The question asks for figures that the answer lacks.
                assert_ne!(seed & !other & 7, 0, "seed {seed}: {other}");
                refused += 1;
                continue;
            };
            assert_eq!(other & seed & 7, seed & 7, "seed {seed}: {other}");
            let mut ran = asked.finish(partial).unwrap();
            assert_eq!(format!("{:?}", known.answers), format!("{:?}", ran.answers), "seed {seed}: {other}");
            ran.coverage.guide = true;
            assert_eq!(known.coverage, ran.coverage);
            if other == seed & 7 { same += 1 } else { derived += 1 }
        }
        let (values, partial) = run({
            let mut values = Stats::new();
            values.values = true;
            values
        });
        assert!(guide.report(&values, framing).is_none());
        if guide.add_answer(&values, &partial).unwrap() {
            let stored = guide.to_bytes();
            assert!(guide.add_answer(&values, &partial).unwrap());
            assert_eq!(guide.to_bytes(), stored, "the same answer replaces itself");
            let known = guide.report(&values, framing).unwrap();
            let ran = values.finish(partial).unwrap();
            assert_eq!(format!("{:?}", known.answers), format!("{:?}", ran.answers), "seed {seed}");
        }
    }
    assert!(same > 20 && derived > 50 && refused > 50, "{same} {derived} {refused}");
}

/// A log that grows line by line: each time, only the appended lines are read.
#[test]
fn statistics_of_a_growing_log_are_those_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let guides = Guides::new(folder.path().join("guides"));
    let mut grown = 0;
    for seed in 0..cases(40, 2_000) {
        let mut random = Random::new(seed);
        let lines = |number: u64| {
            let mut text =
                stream(seed * 100 + number, &Shape::plain(), naive::Framing::Lines, 1 + number as usize);
            if text.last() != Some(&b'\n') {
                text.push(b'\n');
            }
            text
        };
        let (path, opened) = file(&folder, "log.jsonl", &padded(lines(0)));
        let stats = statistics(seed);
        let run = |stats: &Stats| {
            let analysis = Analysis::new().ask(Measure::Stats(stats.clone()));
            let document = &mut Document::open(&path).unwrap();
            let partial = analysis.run_part(document, 0, &mut |_: &trommel::Match<'_>| Ok(())).unwrap();
            (analysis, partial)
        };
        let identity = || trommel_guide::FileIdentity::of(&opened).unwrap();
        let (analysis, partial) = run(&stats);
        let Some(left) = Guide::of_answer(identity(), Framing::Lines, &analysis, &partial).unwrap() else {
            continue;
        };
        guides.keep(&path, &left, Location::Folder).unwrap();
        for number in 1..4 {
            let mut log = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
            log.write_all(&lines(number)).unwrap();
            assert!(matches!(guides.find(&path, &opened), Err(Error::Changed(_))));
            let (known, _) = guides.find_grown(&path, &opened).unwrap();
            // Statistics that are known have more figures, or the same.
            let asked = Analysis::new().ask(Measure::Stats(statistics(seed | random.bits())));
            let (merged, partial) = known.answer_grown(&asked, &opened).unwrap().unwrap();
            let Some(guide) = Guide::of_answer(identity(), Framing::Lines, &merged, &partial).unwrap() else {
                break;
            };
            let known = guide.report(&asked, Framing::Lines).unwrap();
            let mut ran = asked.run(&mut Document::open(&path).unwrap()).unwrap();
            ran.coverage.guide = true;
            assert_eq!(format!("{:?}", known.answers), format!("{:?}", ran.answers), "seed {seed}");
            assert_eq!(known.coverage, ran.coverage, "seed {seed}");
            guides.keep(&path, &guide, Location::Folder).unwrap();
            grown += 1;
        }
    }
    assert!(grown > 20, "{grown}");
}

#[test]
fn other_changes_are_not_growth() {
    let folder = tempfile::tempdir().unwrap();
    let guides = Guides::new(folder.path().join("guides"));
    let text: &[u8] = b"{\"a\":1}\n{\"a\":2}\n";
    let is_grown = |before: &[u8], after: &[u8]| {
        let (path, opened) = file(&folder, "log.jsonl", before);
        let analysis = Analysis::new().stats();
        let mut document = Document::open(&path).unwrap();
        let partial = analysis.run_part(&mut document, 0, &mut |_: &trommel::Match<'_>| Ok(())).unwrap();
        let identity = trommel_guide::FileIdentity::of(&opened).unwrap();
        let guide = Guide::of_answer(identity, Framing::Lines, &analysis, &partial).unwrap().unwrap();
        guides.keep(&path, &guide, Location::Folder).unwrap();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().write_all(after).unwrap();
        guides.find_grown(&path, &opened).is_ok()
    };
    assert!(is_grown(text, &[text, b"3\n"].concat()));
    assert!(!is_grown(text, text));
    assert!(!is_grown(text, b"{\"a\":1}\n{\"a\":3}\n4\n"));
    assert!(!is_grown(b"{\"a\":1}\n2", b"{\"a\":1}\n23\n"));
    assert!(!is_grown(text, b"{\"b\":1}\n{\"a\":2}\n3\n"));
}

#[test]
fn other_runs_leave_no_guide() {
    let folder = tempfile::tempdir().unwrap();
    let (_, opened) = file(&folder, "a.jsonl", b"{\"a\":[1]}\n{\"a\":2}\n");
    let left = |analysis: &Analysis, text: &[u8]| {
        let mut document = Document::from_bytes(text.to_vec()).framing(Framing::Lines);
        let partial = analysis.run_part(&mut document, 0, &mut |_: &trommel::Match<'_>| Ok(())).unwrap();
        let identity = trommel_guide::FileIdentity::of(&opened).unwrap();
        Guide::of_answer(identity, Framing::Lines, analysis, &partial).unwrap().is_some()
    };
    let (text, broken): (&[u8], &[u8]) = (b"{\"a\":[1]}\n{\"a\":2}\n", b"{\"a\":[1]}\n{\n");
    let stats = || Analysis::new().stats();
    let skip = trommel::OnBadRecord::Skip { at_most: 9 };
    let mut limits = Limits::default();
    limits.depth = 5;
    let mut narrow = Stats::new();
    narrow.queries.push("$.a".parse().unwrap());
    assert!(left(&stats(), text));
    assert!(left(&stats().on_bad_record(skip), text));
    assert!(!left(&stats().on_bad_record(skip), broken));
    assert!(!left(&stats().limits(limits), text));
    assert!(!left(&stats().validation(trommel::reader::Validation::Structural), text));
    assert!(!left(&stats().filter(trommel::path::Query::parse_filter("@.a").unwrap()), text));
    assert!(!left(&stats().each("$.a".parse().unwrap()), text));
    assert!(!left(&stats().count("$.a".parse().unwrap()), text));
    assert!(!left(&Analysis::new().ask(Measure::Stats(narrow)), text));
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

/// A guide in a file is not used if a byte of it is flipped, except the names by block: without
/// them, every block is read.
#[test]
fn flipped_bytes_of_a_file_change_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let guides = Guides::new(folder.path().join("guides"));
    let members: Vec<String> = (0..40).map(|id| format!(r#"{{"id":{id},"n{}":[1]}}"#, id / 4)).collect();
    let text = format!("[{}]", members.join(","));
    let (path, opened) = file(&folder, "a.json", text.as_bytes());
    let guide = Guide::build(&opened, Framing::Auto, &Analysis::new(), 64).unwrap();
    let kept = guides.keep(&path, &guide, Location::Beside).unwrap();
    let bytes = std::fs::read(&kept).unwrap();
    let count = |guide: &Guide| {
        let analysis = Analysis::new().validation(Validation::Structural).window(32);
        let analysis = analysis.count("$..n7".parse().unwrap());
        format!("{:?}", analysis.run(&mut guide.guide(Document::open(&path).unwrap())).unwrap().answers)
    };
    let (mut refused, mut unnamed) = (0, 0);
    for at in 0..=bytes.len() {
        let mut flipped = bytes.clone();
        flipped.get_mut(at).into_iter().for_each(|byte| *byte ^= 4);
        std::fs::write(&kept, &flipped).unwrap();
        match guides.find(&path, &opened) {
            Err(Error::Damaged(_) | Error::Version(_)) => refused += 1,
            Err(error) => panic!("byte {at}: {error}"),
            Ok((found, _)) => {
                assert_eq!(count(&found), count(&guide), "byte {at}");
                let is_whole = found.check_names().is_ok();
                assert_eq!(is_whole, at == bytes.len(), "byte {at}");
                assert_eq!(guides.keep(&path, &found, Location::Folder).is_ok(), is_whole);
                unnamed += usize::from(!is_whole);
            }
        }
    }
    assert!(refused > 500 && unnamed > 50, "{refused} {unnamed}");
}

#[test]
fn malformed_and_compressed_files_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let (_, opened) = file(&folder, "a.json", br#"{"a":[1,2,"#);
    assert!(matches!(Guide::build(&opened, Framing::Auto, &Analysis::new(), 64), Err(Error::Input(_))));
    let (_, opened) = file(&folder, "b.json", b"\x1f\x8b\x08\0\0\0\0\0\0\0");
    assert!(matches!(Guide::build(&opened, Framing::Auto, &Analysis::new(), 64), Err(Error::Unsuitable(_))));
}

/// Answers are asked again, with all their options.
#[test]
fn answers_are_verified() {
    let folder = tempfile::tempdir().unwrap();
    // Guides of short files have no room for figures of values.
    let spaces = " ".repeat(4 << 20);
    let text = format!(r#"{{"a":[{{"b":1,"c":"x"}},{{"b":2.5,"c":null}}],"d":[1,1,2]{spaces}}}"#);
    let (path, opened) = file(&folder, "a.json", text.as_bytes());
    let (wrong, _) = file(&folder, "b.json", text.replace('2', "3").as_bytes());
    let mut options = vec![Stats::new()];
    for seed in 0..32 {
        let mut stats = statistics(seed);
        (stats.values, stats.histograms, stats.bytes) = (seed & 8 == 0, seed & 16 == 0, seed & 32 == 0);
        stats.top = Some(2).filter(|_| seed % 3 == 0);
        stats.max_depth = Some(2).filter(|_| seed % 5 == 0);
        stats.rows = Some(4).filter(|_| seed % 7 == 0);
        (stats.per_path, stats.duplicate_names) = (seed % 11 != 0, seed % 9 != 0);
        options.push(stats);
    }
    let open = || Ok(Document::open(&path)?);
    let mut noticed = 0;
    for stats in options {
        let depends = stats.values && stats.max_depth.is_none();
        let analysis = Analysis::new().ask(Measure::Stats(stats));
        let partial = |path: &std::path::Path| {
            let ignore = &mut |_: &trommel::Match<'_>| Ok(());
            analysis.run_part(&mut Document::open(path).unwrap(), 0, ignore).unwrap()
        };
        for has_points in [false, true] {
            let built = if has_points {
                Guide::build(&opened, Framing::Auto, &Analysis::new(), 16).ok()
            } else {
                let identity = FileIdentity::of(&opened).unwrap();
                Guide::of_answer(identity, Framing::Auto, &analysis, &partial(&path)).unwrap()
            };
            let Some(mut guide) = built else { panic!("{}", analysis.questions()) };
            let fits = guide.add_answer(&analysis, &partial(&path)).unwrap();
            guide.verify_answers(&Analysis::new(), open).unwrap();
            let mut guide = Guide::from_bytes(&guide.to_bytes()).unwrap();
            guide.add_answer(&analysis, &partial(&wrong)).unwrap();
            let verified = guide.verify_answers(&Analysis::new(), open);
            assert!(fits, "{}", analysis.questions());
            if depends {
                noticed += 1;
                assert!(matches!(verified, Err(Error::Changed(_))), "{}", analysis.questions());
            }
        }
    }
    assert!(noticed > 10, "{noticed}");
}
