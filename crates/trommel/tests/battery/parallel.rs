//! Record streams on several threads: the number of threads changes nothing observable.

use trommel::path::{Order, Query};
use trommel::reader::{Framing, Limits};
use trommel::{
    Analysis, Count, CountAs, Document, Error, Extract, Measure, OnBadRecord, Report, Sample, Stats, Strategy,
};
use trommel_testkit::generate::Random;

use crate::support::{Memory, Scratch, answer_text, query, size};

const THREADS: [usize; 4] = [1, 2, 3, 8];

/// Lines of a given length; `odd` replaces some of them.
fn lines(bytes: usize, mut odd: impl FnMut(u64, &mut Random) -> Option<String>) -> String {
    let mut random = Random::new(1);
    let mut text = String::new();
    let mut number = 0;
    while text.len() < bytes {
        let line = odd(number, &mut random).unwrap_or_else(|| {
            let tags = ["1", "\"ü\"", "[]", "{\"a\": null}"];
            let tags: Vec<&str> = (0..random.below(4)).map(|_| tags[random.below(4)]).collect();
            format!(
                "{{\"id\": {number}, \"tags\": [{}], \"pad\": \"{}\"}}",
                tags.join(", "),
                "x".repeat(random.below(300))
            )
        });
        text.push_str(&line);
        text.push('\n');
        number += 1;
    }
    text
}

/// Everything observable of a run: the calls of the sink in order, and the answers with the
/// coverage, or the error.
#[derive(Debug, PartialEq)]
struct Observed {
    reported: Memory,
    end: Result<String, String>,
}

impl PartialEq for Memory {
    fn eq(&self, other: &Self) -> bool {
        self.heard == other.heard
    }
}

pub(crate) fn reported(ran: Result<Report, Error>) -> Result<String, String> {
    match ran {
        Ok(report) => {
            let answers: Vec<String> = report.answers.iter().map(answer_text).collect();
            Ok(format!("{answers:?} {:?}", report.coverage))
        }
        Err(Error::Read { error, record }) => {
            Err(format!("{record:?} {:?} {:?} {error}", error.kind(), error.excerpt()))
        }
        Err(error) => Err(format!("{error:?}")),
    }
}

fn observe(analysis: &Analysis, text: &str, threads: usize) -> Observed {
    let mut seen = Memory::located();
    let mut document = Document::from_bytes(text).framing(Framing::Lines);
    let ran = analysis.clone().threads(threads).run_with(&mut document, &mut seen);
    Observed { reported: seen, end: reported(ran) }
}

/// Asserts equal results for every number of threads, and returns them.
fn same(analysis: &Analysis, text: &str) -> Observed {
    let [first, others @ ..] = THREADS.map(|threads| observe(analysis, text, threads));
    for (other, threads) in others.iter().zip(&THREADS[1..]) {
        assert_eq!(other.end, first.end, "{threads} threads");
        assert_eq!(other.reported.heard.len(), first.reported.heard.len(), "{threads} threads");
        assert!(other.reported == first.reported, "{threads} threads");
    }
    first
}

fn all_measures() -> Analysis {
    Analysis::new().extract(query("$.tags[*]")).count(query("$..a")).stats().extract(query("$..a"))
}

/// Values with spans, records, and locations; counts; statistics; coverage.
#[test]
fn reports_are_the_same_for_any_number_of_threads() {
    let text = lines(6 << 20, |_, _| None);
    let seen = same(&all_measures(), &text);
    assert!(seen.end.is_ok() && seen.reported.heard.len() > 10_000, "{:?}", seen.end);
    let document = same(&all_measures().order(Order::Document), &text);
    assert_eq!(document.reported.heard.len(), seen.reported.heard.len());
    // One thread with a window gives the same result.
    let file = Scratch::new("lines.jsonl", text.as_bytes());
    let mut memory = Memory::located();
    let ran = all_measures().run_with(&mut Document::open(file.path()).unwrap(), &mut memory);
    assert_eq!((reported(ran), memory.heard == seen.reported.heard), (seen.end, true));
}

/// Samples are drawn, and refused, as by one sequential run.
#[test]
fn samples_are_the_same_for_any_number_of_threads() {
    let text = lines(3 << 20, |_, _| None);
    let bad =
        lines(3 << 20, |number, _| (number == 9000).then(|| "{\"id\": 1, \"tags\": [1, 2, }".to_owned()));
    let draw = |text, count| Sample::new(query(text), size(count));
    let by = |sample: Sample, text| sample.strategy(Strategy::Stratified(query(text)));
    let asked = [
        (Analysis::new().sample(draw("$", 100)).sample(draw("$.tags[*]", 2000)).count(query("$..a")), true),
        (Analysis::new().sample(draw("$", 3000).strategy(Strategy::Last)).stats(), true),
        (Analysis::new().sample(draw("$", 10)).extract(query("$.id")), true),
        (Analysis::new().sample(by(draw("$", 100), "$.tags[1]")), true),
        (Analysis::new().sample(by(draw("$", 100), "$.id")), false),
        (Analysis::new().sample(draw("$.id", 100)), true),
    ];
    for (analysis, answered) in asked {
        let seen = same(&analysis, &text);
        assert_eq!(seen.end.is_ok(), answered, "{:?}", seen.end);
        assert!(same(&analysis, &bad).end.is_err());
        same(&analysis.on_bad_record(OnBadRecord::Skip { at_most: 10 }), &bad);
    }
}

/// Malformed records are reported in order among the values, with lines and columns of the whole
/// input.
#[test]
fn value_statistics_are_the_same_for_any_number_of_threads() {
    let text = "word ".repeat(400);
    let text = lines(35 << 20, |number, random| {
        Some(format!(r#"{{"id":{number},"ratio":{}.5,"text":"{text}{}"}}"#, number % 70, random.below(90)))
    });
    let mut stats = Stats::new();
    (stats.values, stats.fields, stats.top) = (true, true, Some(20));
    let seen = same(&Analysis::new().ask(Measure::Stats(stats)), &text);
    assert!(seen.end.unwrap().contains("$.ratio"));
}

#[test]
fn damages_are_the_same_for_any_number_of_threads() {
    let text = lines(3 << 20, |_, random| random.chance(2).then(|| "{\"tags\": [1, 2, }".to_owned()));
    let text = format!("\u{feff}{{\"ü\": x}}\n\n{text}");
    let skip = |at_most| all_measures().on_bad_record(OnBadRecord::Skip { at_most });
    let seen = same(&skip(u64::MAX), &text);
    let damages = seen.reported.damages();
    assert!(damages.len() > 100 && seen.end.is_ok());
    assert!(damages[0].error.contains("line 1, column 7"), "{}", damages[0].error);
    for at_most in [0, 1, damages.len() as u64 / 2, damages.len() as u64 - 1] {
        let seen = same(&skip(at_most), &text);
        assert_eq!(seen.reported.damages().len() as u64, at_most + 1);
        assert!(seen.end.unwrap_err().contains("TooManyBadRecords"));
    }
}

/// The first error in the order of the input is returned, and everything before it was emitted.
#[test]
fn errors_are_the_same_for_any_number_of_threads() {
    let text = lines(3 << 20, |_, _| None);
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    let mut random = Random::new(3);
    for _ in 0..4 {
        let at = ends[random.below(ends.len())];
        let broken =
            format!("{}{{\"tags\": [1, tru]}}\n{}", &text[..at], text[at..].replacen("null", "nul", 1));
        let seen = same(&all_measures(), &broken);
        let line = text[..at].matches('\n').count();
        let error = seen.end.unwrap_err();
        assert!(
            error.contains(&format!("Some({line})"))
                && error.contains(&format!("line {}, column 14", line + 1))
        );
        assert!(seen.reported.values().iter().all(|value| value.span.start < at as u64 + 14));
    }
    let countable = Measure::Count(Count::new(query("$.tags")).name("n").count_as(CountAs::ArrayLength));
    let at = ends[ends.len() / 2];
    let wrong = format!("{}{{\"tags\": 5}}\n{}", &text[..at], &text[at..]);
    assert!(same(&Analysis::new().ask(countable), &wrong).end.unwrap_err().contains("NotCountable"));
}

/// A limit ends the run at the same byte, and hides errors after it.
#[test]
fn limits_are_the_same_for_any_number_of_threads() {
    let text = lines(3 << 20, |_, _| None);
    let broken = format!("{text}nope\n");
    let all = text.matches("\"id\"").count() as u64;
    for limit in [0, 1, all / 2, all - 1, all] {
        let extract = Measure::Extract(Extract::new(query("$.id")).limit(limit));
        let seen = same(&Analysis::new().ask(extract.clone()), &broken);
        assert_eq!(seen.reported.heard.len() as u64, limit);
        assert!(seen.end.unwrap().contains("complete: false"));
        let count = Measure::Count(Count::new(query("$.id")).limit(limit));
        let seen = same(&Analysis::new().ask(count.clone()).ask(extract.clone()), &broken);
        assert_eq!(seen.reported.heard.len() as u64, limit);
        let seen = same(&Analysis::new().ask(count).ask(extract).count(Query::root()), &broken);
        assert!(seen.end.unwrap_err().contains("Literal") || limit > all);
    }
    let none = Measure::Extract(Extract::new(query("$.none")).limit(1));
    assert!(same(&Analysis::new().ask(none), &text).end.is_ok());
}

/// A record longer than a part runs on the joining thread, and its values are not buffered.
#[test]
fn long_records_are_the_same_for_any_number_of_threads() {
    let long = format!("{{\"tags\": [{}]}}", vec!["[1, {\"a\": 2}]"; 80_000].join(", "));
    let text = lines(3 << 20, |number, _| (number % 9000 == 3000).then(|| long.clone()));
    let seen = same(&all_measures(), &text);
    assert!(seen.end.is_ok() && seen.reported.heard.len() > 150_000);
}

/// A thread of a pool works itself while it waits, because it may be the only one.
#[test]
fn the_pool_of_the_caller_is_used() {
    let text = lines(5 << 20, |_, _| None);
    let alone = observe(&all_measures(), &text, 1);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let within = pool.install(|| {
            let mut memory = Memory::located();
            let mut document = Document::from_bytes(text.clone()).framing(Framing::Lines);
            let ran = all_measures().run_with(&mut document, &mut memory);
            Observed { reported: memory, end: reported(ran) }
        });
        assert!(within == alone, "{threads} threads");
    }
}

/// The limits of reading apply on every thread.
#[test]
fn limits_of_reading_hold_on_every_thread() {
    let mut limits = Limits::default();
    limits.depth = 5;
    let text = lines(3 << 20, |number, _| (number == 9000).then(|| "[[[[[[1]]]]]]".to_owned()));
    let seen = same(&all_measures().limits(limits), &text);
    assert!(seen.end.unwrap_err().contains("Depth(5)"));
}
