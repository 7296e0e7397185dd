//! Several measures in one run have the answers of separate runs.

use std::num::NonZeroU64;

use trommel::path::Order;
use trommel::reader::{Framing, Validation};
use trommel::sampler::Seed;
use trommel::{Analysis, Count, CountAs, Extract, Measure, Sample, Stats, Strategy};
use trommel_testkit::generate::{self, QueryOptions, Random, Shape, stream};
use trommel_testkit::naive;

use crate::support::{Source, Value, answer_text, cases, naive_framing, query, run, size};

fn measures(random: &mut Random, seed: u64, tree: &naive::Document) -> Vec<Measure> {
    let mut number = 0;
    let mut queries = || {
        number += 1;
        query(&generate::query(seed * 100 + number, tree, &QueryOptions::default()))
    };
    let stride = NonZeroU64::new(2);
    let strategies = [
        Strategy::Random,
        Strategy::First,
        Strategy::Last,
        Strategy::Systematic(None),
        Strategy::Systematic(stride),
    ];
    (0..random.between(2, 7))
        .map(|_| match random.below(6) {
            0 => Measure::Extract(Extract::new(queries())),
            1 => Measure::Extract(Extract::new(queries()).limit(2)),
            2 => Measure::Count(Count::new(queries()).count_as(CountAs::NestedTotal)),
            3 => {
                let strategy = strategies[random.below(strategies.len())].clone();
                // A query that selects several nodes: a singular one would have to select an array.
                let query = query(["$..*", "$..a", "$[*]"][random.below(3)]);
                Measure::Sample(Sample::new(query, size(3)).strategy(strategy).seed(Seed::new(seed)))
            }
            4 => {
                let mut stats = Stats::new();
                stats.queries = (0..random.below(3)).map(|_| queries()).collect();
                stats.values = random.chance(30);
                Measure::Stats(stats)
            }
            _ => Measure::Count(Count::new(queries())),
        })
        .collect()
}

/// For any measures over any input, each answer and each query's values are those of a run of its
/// own.
#[test]
fn combined_measures_equal_separate_runs() {
    for seed in 0..cases(300, 3000) {
        let mut random = Random::new(seed);
        let framing = [Framing::Single, Framing::Lines, Framing::Concatenated][random.weighted(&[2, 2, 1])];
        let shape = Shape { duplicates: random.chance(20), ..Shape::plain() };
        let text = stream(seed, &shape, naive_framing(framing), random.between(1, 5));
        let tree = naive::records(&text, naive_framing(framing))[0].outcome.clone().unwrap();
        let measures = measures(&mut random, seed, &tree);
        let order = [Order::Rfc, Order::Document][random.below(2)];
        let mixed = measures.iter().cloned().fold(Analysis::new().order(order), Analysis::ask);
        let source = Source::pick(seed);
        let (report, memory) = run(&mixed, &mut source.document(&text, framing)).unwrap();
        for (number, measure) in measures.iter().enumerate() {
            let note = format!("seed {seed} {source:?} {measure:?}");
            let alone = Analysis::new().order(order).ask(measure.clone());
            let (single, heard) = run(&alone, &mut Source::pick(seed / 3).document(&text, framing)).unwrap();
            assert_eq!(answer_text(&report.answers[number]), answer_text(&single.answers[0]), "{note}");
            let of_mix = memory.values().into_iter().filter(|value| value.measure == number);
            let of_mix: Vec<Value> = of_mix.map(|value| Value { measure: 0, ..value }).collect();
            assert_eq!(of_mix, heard.values(), "{note}");
        }
    }
}

#[test]
fn no_measures_give_no_answers() {
    let report = Analysis::new().run(&mut trommel::Document::from_bytes("[1, 2]")).unwrap();
    assert!(report.answers.is_empty() && report.coverage.bytes_read < 6);
}

/// In document order, a value inside a sampled one is emitted before the sampled one's bytes are
/// released.
#[test]
fn emits_values_inside_samples_before_release() {
    let text = format!("[[[{{\"b\": 17}}]]{}]", ", [0, 1, 2]".repeat(5000));
    for (sampled, extracted) in [("$[*]", "$..b"), ("$..*", "$[0][0][0].b"), ("$[0]", "$..*[*].b")] {
        let analysis = Analysis::new().order(Order::Document).window(64).validation(Validation::Structural);
        let analysis = analysis.sample(Sample::new(query(sampled), size(3))).extract(query(extracted));
        for source in Source::all() {
            let (_, memory) = run(&analysis, &mut source.document(text.as_bytes(), Framing::Single)).unwrap();
            assert_eq!(memory.texts(), ["17"], "{source:?}");
        }
    }
}

/// Hundreds of measures, each with its own query, in one pass.
#[test]
fn answers_hundreds_of_measures() {
    let members: Vec<String> = (0..300).map(|name| format!("\"k{name}\": [{name}]")).collect();
    let text = format!("{{{}}}", members.join(", "));
    let mut analysis = Analysis::new().order(Order::Document);
    for name in (0..300).rev() {
        analysis = analysis.extract(query(&format!("$.k{name}[0]"))).count(query(&format!("$.k{name}.*")));
    }
    let (report, memory) = run(&analysis, &mut trommel::Document::from_bytes(text)).unwrap();
    assert!(report.answers.iter().all(|answer| answer.count() == Some(1)));
    let expected: Vec<String> = (0..300).map(|name: u32| name.to_string()).collect();
    assert_eq!(memory.texts(), expected);
    let measures: Vec<usize> = memory.values().iter().map(|value| value.measure).collect();
    assert_eq!(measures, (0..300).rev().map(|name| 2 * name).collect::<Vec<_>>());
}
