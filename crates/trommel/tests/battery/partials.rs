//! Partial answers: computed separately, stored, and merged.

use trommel::path::Query;
use trommel::reader::{Framing, Validation};
use trommel::sampler::Seed;
use trommel::{
    Analysis, Answer, Count, CountAs, Document, Error, Match, Measure, Partial, Sample, Stats, Strategy,
};
use trommel_testkit::generate::{Random, Shape, damage, stream};
use trommel_testkit::naive;

use crate::support::{answer_text, cases, query, sample_of, size};

fn counted_and_described() -> Analysis {
    let mut of_queries = Stats::new();
    of_queries.queries = vec![query("$.a"), query("$..b")];
    let mut rich = Stats::new();
    (rich.schema, rich.values, rich.max_depth) = (true, true, Some(4));
    Analysis::new()
        .count(query("$..a"))
        .ask(Measure::Count(Count::new(Query::root()).count_as(CountAs::NestedTotal)))
        .ask(Measure::Count(Count::new(query("$..*")).limit(1_000_000)))
        .stats()
        .ask(Measure::Stats(of_queries))
        .ask(Measure::Stats(rich))
}

fn part(analysis: &Analysis, bytes: &[u8], number: u64) -> Partial {
    let mut document = Document::from_bytes(bytes).framing(Framing::Lines);
    analysis.run_part(&mut document, number, &mut |_: &Match<'_>| Ok(())).unwrap()
}

/// The text, divided at random line ends.
fn cuts<'t>(random: &mut Random, text: &'t [u8], parts: usize) -> Vec<&'t [u8]> {
    let ends: Vec<usize> = (0..text.len()).filter(|&at| text[at] == b'\n').map(|at| at + 1).collect();
    let mut at: Vec<usize> =
        (1..parts).map(|_| if ends.is_empty() { 0 } else { ends[random.below(ends.len())] }).collect();
    at.extend([0, text.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

fn lines(seed: u64, records: usize) -> Vec<u8> {
    let shape = Shape { duplicates: true, ..Shape::plain() };
    stream(seed, &shape, naive::Framing::Lines, records)
}

fn stored(partial: &Partial) -> Partial {
    Partial::from_bytes(&partial.to_bytes().unwrap()).unwrap()
}

fn answers(analysis: &Analysis, partial: Partial) -> Vec<String> {
    analysis.finish(partial).unwrap().answers.iter().map(answer_text).collect()
}

/// R34: any split at record boundaries, merged in order, equals the whole: counts and statistics
/// exactly, including the order of rows, whether stored in between or not.
#[test]
fn merged_parts_are_the_whole() {
    let analysis = counted_and_described();
    for seed in 0..cases(250, 2000) {
        let mut random = Random::new(seed);
        let text = lines(seed, random.between(1, 30));
        let report = analysis.run(&mut Document::from_bytes(text.clone()).framing(Framing::Lines)).unwrap();
        let whole: Vec<String> = report.answers.iter().map(answer_text).collect();
        let parts = random.between(1, 6);
        let cuts = cuts(&mut random, &text, parts);
        let partials = cuts.iter().zip(0..).map(|(text, number)| part(&analysis, text, number));
        let merged =
            partials.map(|part| stored(&part)).reduce(|merged, part| merged.merge(part).unwrap()).unwrap();
        let finished = analysis.finish(merged.clone()).unwrap();
        assert_eq!(answers(&analysis, merged), whole, "seed {seed}, {} parts", cuts.len());
        assert_eq!(finished.coverage, report.coverage, "seed {seed}");
    }
}

/// R34: merging is associative, to the byte of the stored form. A part without records changes no
/// answer.
#[test]
fn merging_is_associative() {
    let analysis = counted_and_described();
    let analysis = analysis.sample(Sample::new(Query::root(), size(3)).strategy(Strategy::First));
    let analysis = analysis.sample(Sample::new(Query::root(), size(3)).strategy(Strategy::Last));
    for seed in 0..cases(100, 1000) {
        let mut random = Random::new(seed);
        let text = lines(seed, 20);
        let cuts = cuts(&mut random, &text, 3);
        let [a, b, c] = [0, 1, 2].map(|number| part(&analysis, cuts[number], number as u64));
        let left = a.clone().merge(b.clone()).unwrap().merge(c.clone()).unwrap();
        let right = a.clone().merge(b.clone().merge(c).unwrap()).unwrap();
        assert_eq!(left.to_bytes().unwrap(), right.to_bytes().unwrap(), "seed {seed}");
        assert_eq!(left.to_bytes().unwrap(), stored(&left).to_bytes().unwrap(), "seed {seed}");
        let nothing = part(&analysis, b"\n", 7);
        let more = |partial: &Partial| answers(&analysis, partial.clone());
        let (before, after) =
            (nothing.clone().merge(left.clone()).unwrap(), left.clone().merge(nothing).unwrap());
        // The empty line adds one byte and one character to the input.
        for merged in [before, after] {
            let (merged, left) = (more(&merged), more(&left));
            assert_eq!(merged[..3], left[..3]);
            assert_eq!(merged[4], left[4]);
        }
    }
}

/// R33, R34: samples of parts merge to samples of the whole, and every item has its index there.
#[test]
fn samples_of_parts_merge() {
    let text: Vec<u8> =
        (0..300).flat_map(|id| format!("{{\"id\":{id},\"g\":{}}}\n", id % 3).into_bytes()).collect();
    let root = || Sample::new(Query::root(), size(12)).seed(Seed::new(1));
    let analysis = Analysis::new()
        .sample(root())
        .sample(root().strategy(Strategy::First))
        .sample(root().strategy(Strategy::Last))
        .sample(root().strategy(Strategy::Stratified(query("$.g"))));
    let mut random = Random::new(5);
    let mut drawn = Vec::new();
    for _ in 0..2 {
        let cuts = cuts(&mut random, &text, 5);
        let partials = cuts.iter().zip(0..).map(|(text, number)| stored(&part(&analysis, text, number)));
        let merged = partials.reduce(|merged, part| merged.merge(part).unwrap()).unwrap();
        let report = analysis.finish(merged).unwrap();
        for answer in &report.answers {
            let sample = sample_of(answer);
            assert_eq!((sample.total, sample.items.len()), (300, 12));
            for item in &sample.items {
                let expected = format!("{{\"id\":{},\"g\":{}}}", item.index, item.index % 3);
                assert_eq!(item.value, expected.as_bytes());
            }
        }
        let indices =
            |answer: &Answer| sample_of(answer).items.iter().map(|item| item.index).collect::<Vec<_>>();
        assert_eq!(indices(&report.answers[1]), (0..12).collect::<Vec<_>>());
        assert_eq!(indices(&report.answers[2]), (288..300).collect::<Vec<_>>());
        let strata = sample_of(&report.answers[3]).strata.clone().unwrap();
        let found: Vec<_> =
            strata.iter().map(|one| (one.value.clone().unwrap(), one.total, one.sampled)).collect();
        assert_eq!(found, [(b"0".to_vec(), 100, 4), (b"1".to_vec(), 100, 4), (b"2".to_vec(), 100, 4)]);
        drawn.push(indices(&report.answers[0]));
    }
    let whole = analysis.run(&mut Document::from_bytes(text).framing(Framing::Lines)).unwrap();
    assert_eq!(sample_of(&whole.answers[0]).total, 300);
    assert_ne!(drawn[0], drawn[1], "another split gives another sample");
}

#[test]
fn parts_of_different_measures_do_not_merge() {
    let asked = |analysis: Analysis| part(&analysis, b"{\"a\": 1}\n", 0);
    let sample = |seed: u64| Sample::new(Query::root(), size(3)).seed(Seed::new(seed));
    let count = |path: &str| Count::new(query(path));
    let filter = Query::parse_filter("@.x > 1").unwrap();
    let base = || Analysis::new().count(query("$.a"));
    let all = [
        base(),
        Analysis::new().count(query("$.b")),
        Analysis::new().extract(query("$.a")),
        Analysis::new().ask(Measure::Count(count("$.a").limit(9))),
        Analysis::new().ask(Measure::Count(count("$.a").count_as(CountAs::NestedTotal))),
        Analysis::new().ask(Measure::Count(count("$.a").filter(filter))),
        base().validation(Validation::Structural),
        base().duplicates(trommel::path::Duplicates::All),
        base().stats(),
        Analysis::new().sample(sample(1)),
        Analysis::new().sample(sample(2)),
        Analysis::new().sample(sample(1).strategy(Strategy::First)),
        Analysis::new().sample(sample(1).strategy(Strategy::Stratified(query("$.a")))),
        Analysis::new(),
    ];
    for (one, first) in all.iter().enumerate() {
        for (other, second) in all.iter().enumerate() {
            let partial = asked(second.clone());
            assert_eq!(first.finish(partial.clone()).is_ok(), one == other, "{one} {other}");
            assert_eq!(asked(first.clone()).merge(partial).is_ok(), one == other, "{one} {other}");
        }
    }
    // The name of a count is not part of the measure.
    let named = Analysis::new().ask(Measure::Count(count("$.a").name("mine")));
    assert!(named.finish(asked(base())).is_ok());
}

#[test]
fn only_a_whole_input_has_a_systematic_sample() {
    let sample = Sample::new(Query::root(), size(3)).strategy(Strategy::Systematic(None));
    let mut document = Document::from_bytes("[1]");
    let error =
        Analysis::new().sample(sample).run_part(&mut document, 0, &mut |_: &Match<'_>| Ok(())).unwrap_err();
    assert!(error.to_string().contains("random"), "{error}");
}

/// Values are stored as text: bytes that are not UTF-8 are refused.
#[test]
fn refuses_to_store_samples_that_are_not_utf8() {
    let analysis =
        Analysis::new().sample(Sample::new(Query::root(), size(3))).validation(Validation::Structural);
    let mut document = Document::from_bytes(&b"[[\"\xFF\"]]"[..]);
    let error = analysis.run_part(&mut document, 0, &mut |_: &Match<'_>| Ok(())).unwrap_err();
    assert!(matches!(error, Error::Partial(_)) && error.to_string().contains("UTF-8"), "{error}");
}

/// Everything that a partial can contain.
fn everything() -> Analysis {
    let root = |strategy| Sample::new(Query::root(), size(2)).seed(Seed::new(7)).strategy(strategy);
    counted_and_described()
        .extract(query("$.a"))
        .sample(root(Strategy::Random))
        .sample(root(Strategy::First))
        .sample(root(Strategy::Last))
        .sample(root(Strategy::Stratified(query("$.b"))))
}

const GOLDEN: &str = include_str!("../golden/partial-2.json");
const GOLDEN_INPUT: &str =
    "{\"a\": [1, 2.5], \"b\": \"x\"}\n{\"a\": null, \"b\": \"y\"}\n{\"c\": {\"b\": 1e400}}\n";

/// R47: this release stores the same bytes as earlier ones, and reads, merges, and finishes them.
#[test]
fn the_stored_form_is_frozen() {
    let analysis = everything();
    let fresh = String::from_utf8(part(&analysis, GOLDEN_INPUT.as_bytes(), 0).to_bytes().unwrap()).unwrap();
    if fresh != GOLDEN.trim_end() {
        let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/partial-2.json");
        std::fs::write(path, format!("{fresh}\n")).unwrap();
        panic!("the stored form has changed, which needs a new version; it was written to {path}");
    }
    let golden = Partial::from_bytes(GOLDEN.as_bytes()).unwrap();
    let report = analysis.finish(golden.clone()).unwrap();
    let whole = analysis.run(&mut Document::from_bytes(GOLDEN_INPUT).framing(Framing::Lines)).unwrap();
    let exact = |report: &trommel::Report| report.answers[..7].iter().map(answer_text).collect::<Vec<_>>();
    assert_eq!((exact(&report), report.coverage), (exact(&whole), whole.coverage));
    let twice = analysis.finish(golden.merge(part(&analysis, GOLDEN_INPUT.as_bytes(), 1)).unwrap()).unwrap();
    assert_eq!((twice.coverage.records, twice.answers[0].count()), (6, Some(4)));
}

/// R47: an unknown version is refused by name, whatever else the bytes contain.
#[test]
fn unknown_versions_are_refused() {
    for other in ["1", "3", "0", "4294967295"] {
        let newer = GOLDEN.replacen("\"trommel_partial\":2", &format!("\"trommel_partial\":{other}"), 1);
        let unknown = format!("{{\"new\": [], \"trommel_partial\": {other}}}");
        for text in [newer.as_str(), unknown.as_str()] {
            let error = Partial::from_bytes(text.as_bytes()).unwrap_err().to_string();
            assert_eq!(error, format!("the partial has version {other}, and this release reads version 2"));
        }
        let error = serde_json::from_str::<Partial>(&newer).unwrap_err().to_string();
        assert!(error.contains(&format!("version {other}")), "{error}");
    }
}

/// Damaged bytes are refused, or are a partial that can be merged and finished like any other.
/// Nothing panics.
#[test]
fn damaged_bytes_never_panic() {
    let (analysis, whole) = (everything(), GOLDEN.trim_end().as_bytes());
    let good = Partial::from_bytes(whole).unwrap();
    let mut accepted = 0;
    for seed in 0..cases(3000, 30_000) {
        let text = damage(seed, whole);
        let Ok(partial) = Partial::from_bytes(&text) else { continue };
        accepted += 1;
        let merged = good.clone().merge(partial.clone());
        for partial in [Ok(partial), merged].into_iter().flatten() {
            if let Ok(report) = analysis.finish(partial) {
                assert!(!answer_text(&report.answers[0]).is_empty());
            }
        }
    }
    assert!(accepted > 0, "some damage changes only a digit");
    for text in [&b""[..], b"{}", b"null", b"[1]", b"{\"trommel_partial\":2}", b"{\"trommel_partial\":\"2\"}"]
    {
        assert!(matches!(Partial::from_bytes(text), Err(Error::Partial(_))));
    }
    for end in (0..whole.len()).step_by(97) {
        assert!(Partial::from_bytes(&whole[..end]).is_err());
    }
}

/// Numbers that no input can produce do not overflow.
#[test]
fn the_largest_numbers_merge() {
    let huge = GOLDEN.replace("\"bytes_read\":68", "\"bytes_read\":18446744073709551615");
    let huge = huge.replace("\"Number\":2", "\"Number\":18446744073709551615");
    let partial = Partial::from_bytes(huge.as_bytes()).unwrap();
    let report = everything().finish(partial.clone().merge(partial).unwrap()).unwrap();
    assert_eq!(report.coverage.bytes_read, u64::MAX);
    assert_eq!(report.answers[0].count(), Some(u64::MAX));
}
