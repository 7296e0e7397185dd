//! The throughput of every task, for trommel, its peers, and the ceilings of the machine.
//!
//! `cargo bench -p trommel-benches --bench speed -- path/` measures the names with that prefix.
//! Without `--bench`, as a test, every column runs once. In both cases an incorrect answer is a
//! panic that names the task and the column.

#![expect(clippy::unwrap_used, reason = "measurements panic if an answer is incorrect")]

mod blocks;
mod ceilings;
mod documents;
#[path = "../peers/mod.rs"]
mod peers;
mod sampler;
mod sessions;

use std::iter;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkGroup, Criterion, SamplingMode, Throughput, measurement::WallTime};
use trommel_benches::{Column, Run, Task, engine};

fn main() {
    // Short times, so that a full run takes minutes. The columns of a task differ by more than the
    // noise.
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(700))
        .nresamples(1000)
        .without_plots()
        .configure_from_args();
    ceilings::bench(&mut criterion);
    for task in Task::all() {
        compare(&mut criterion, &task.name, task, task.input.bytes());
    }
    documents::bench(&mut criterion);
    sampler::bench(&mut criterion);
    sessions::bench(&mut criterion);
    blocks::bench(&mut criterion);
    criterion.final_summary();
}

/// Measures all columns of a task over these bytes as a group, brackets first, so that both figures
/// of a ratio are measured within seconds.
fn compare(criterion: &mut Criterion, name: &str, task: &Task, bytes: &[u8]) {
    let mut group = criterion.benchmark_group(name);
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Bytes(bytes.len() as u64));
    let columns = engine::columns(task, bytes).into_iter().chain(peers::columns(task, bytes));
    for column in iter::once(ceilings::brackets(task, bytes)).chain(columns) {
        measure(&mut group, task, bytes, column);
    }
    group.finish();
}

fn measure(group: &mut BenchmarkGroup<'_, WallTime>, task: &Task, bytes: &[u8], column: Column<'_>) {
    let check = |answer| assert_eq!(answer, task.answer, "{} by {}", task.name, column.name);
    match column.run {
        Run::Reads(mut run) => group.bench_function(column.name, |bencher| bencher.iter(|| check(run()))),
        Run::Consumes(mut run) => group.bench_function(column.name, |bencher| {
            bencher.iter_batched_ref(|| bytes.to_vec(), |copy| check(run(copy)), BatchSize::PerIteration);
        }),
    };
}
