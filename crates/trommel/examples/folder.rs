//! A parallel run over a folder. Each file is a part that any free thread processes, and the
//! partials are merged in the order of the names. The same works across machines, since partials
//! can be stored and sent.
//!
//! ```sh
//! cargo run --release --example folder logs '$..user'
//! ```
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;
use std::path::PathBuf;

use rayon::prelude::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use trommel::{Analysis, Answer, Document, Match, Partial};

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "testdata/documents".to_owned());
    let query = arguments.next().unwrap_or_else(|| "$..*".to_owned());
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    files.retain(|file| file.is_file());
    files.sort();

    let analysis = Analysis::new().count(query.parse()?).stats();
    let answered = files.par_iter().enumerate().map(|(part, file)| {
        let mut document = Document::open(file)?;
        let partial = analysis.run_part(&mut document, part as u64, &mut |_: &Match<'_>| Ok(()))?;
        // The partial takes the form in which it would be sent.
        Partial::from_bytes(&partial.to_bytes()?)
    });
    let mut merged: Option<Partial> = None;
    for (file, partial) in files.iter().zip(answered.collect::<Vec<_>>()) {
        match partial {
            Ok(partial) => {
                merged = Some(match merged {
                    Some(merged) => merged.merge(partial)?,
                    None => partial,
                });
            }
            Err(error) => println!("{} skipped: {error}", file.display()),
        }
    }
    let Some(merged) = merged else { return Ok(()) };
    let report = analysis.finish(merged)?;
    for answer in &report.answers {
        match answer {
            Answer::Count(count) => println!("{count} nodes"),
            Answer::Stats(stats) => {
                println!("{} bytes, {} values", stats.bytes, stats.summary.structure.total_values);
            }
            _ => {}
        }
    }
    Ok(())
}
