//! `guides FILE QUERY…`: the time of questions with a guide and without one, in one process, from
//! memory. Without queries, asks for an array at `$.data.records`.
//!
//! The guide is built first. Each question runs several times with it, and once without.

#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;
use std::num::NonZeroUsize;
use std::time::Instant;
use std::{env, fs};

use trommel::path::Query;
use trommel::reader::Validation;
use trommel::sampler::Seed;
use trommel::{Analysis, Document, Measure, Sample, Stats, framing_of};
use trommel_guide::{Guide, Identity, Index, IndexBuilder, Shape};

/// Runs of a question with the guide, of which the fastest counts.
const RUNS: usize = 30;

const QUERIES: [&str; 5] = [
    "count $.data.records[*]",
    "extract $.data.records[-5].id",
    "extract $.data.records[5000:5020]",
    "count $.data.records[*].actor.login",
    "extract $..rare_name",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let file = arguments.next().ok_or("usage: guides FILE ['count|extract QUERY'…]")?;
    let bytes = fs::read(&file)?;
    let open = || Document::from_bytes(&bytes).framing(framing_of(file.as_ref()));
    let started = Instant::now();
    let index = Index::build(&open(), IndexBuilder::default(), Box::new(|_| Ok(())))?;
    let indexed = started.elapsed();
    let shape = Shape::build(&mut open(), &Analysis::new())?;
    let guide = Guide::new(Identity::Output([0; 32]), framing_of(file.as_ref()), index, shape);
    let size = guide.to_bytes().len();
    println!(
        "{} bytes; index in {indexed:.2?}, with the shape in {:.2?}; {size} bytes of guide",
        bytes.len(),
        started.elapsed()
    );
    let mut texts: Vec<String> = arguments.collect();
    if texts.is_empty() {
        texts.extend(QUERIES.map(str::to_owned));
    }
    let mut asks = Vec::new();
    for text in texts {
        let (kind, query) = text.split_once(' ').ok_or("a question is `count QUERY` or `extract QUERY`")?;
        let query: Query = query.parse()?;
        let analysis = Analysis::new().validation(Validation::Structural);
        asks.push((
            text.clone(),
            if kind == "count" { analysis.count(query) } else { analysis.extract(query) },
        ));
    }
    asks.push(("stats".to_owned(), Analysis::new().ask(Measure::Stats(Stats::new()))));
    let hundred = NonZeroUsize::MIN.saturating_add(99);
    let sample = Sample::new("$.data.records".parse()?, hundred).seed(Seed::new(1));
    asks.push((
        "sample of 100".to_owned(),
        Analysis::new().validation(Validation::Structural).ask(Measure::Sample(sample)),
    ));
    println!("| question | with the guide, ms | without, ms | times |\n| --- | ---: | ---: | ---: |");
    let mut guided = guide.guide(open());
    for (text, ask) in asks {
        let mut best = f64::MAX;
        for _ in 0..RUNS {
            let started = Instant::now();
            if guide.answer(&ask, &mut guided)?.is_none() {
                ask.run(&mut guided)?;
            }
            best = best.min(started.elapsed().as_secs_f64());
        }
        let started = Instant::now();
        ask.run(&mut open())?;
        let plain = started.elapsed().as_secs_f64();
        println!("| `{text}` | {:.3} | {:.1} | {:.0} |", best * 1e3, plain * 1e3, plain / best);
    }
    Ok(())
}
