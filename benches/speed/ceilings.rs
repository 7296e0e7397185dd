//! The ceilings of the machine: all of them over the document, and brackets again for each task.

use criterion::{Criterion, SamplingMode, Throughput};
use trommel_benches::ceilings::{ALL, BRACKETS, GROUP, named};
use trommel_benches::{Column, Input, Task};

pub(crate) fn bench(criterion: &mut Criterion) {
    let bytes = Input::Document.bytes();
    let mut group = criterion.benchmark_group(GROUP);
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Bytes(bytes.len() as u64));
    for (name, ceiling) in ALL {
        group.bench_function(name, |bencher| {
            bencher.iter(|| assert!(ceiling(bytes, Input::Document.framing()), "{name} failed"));
        });
    }
    group.finish();
}

/// A column without an answer, which counts the brackets of these bytes: the minimum work of any
/// answer.
pub(crate) fn brackets<'a>(task: &'a Task, bytes: &'a [u8]) -> Column<'a> {
    let pass = named(BRACKETS).unwrap();
    Column::reads(BRACKETS, move || {
        assert!(pass(bytes, task.input.framing()), "the brackets of {} are unbalanced", task.name);
        task.answer
    })
}
