//! The peak heap beyond the input, for every column of the tasks with `peak = true`.
//!
//! `cargo bench -p trommel-benches --bench peak` prints a table for inputs of 8 MB and of 64 MB. As
//! a test, without `--bench`, it runs only the smaller inputs. In both cases trommel's columns must
//! stay below a bound that does not depend on the input, and all columns must give the same answer.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "measurements print their results, and panic if an answer is incorrect"
)]

#[path = "../peers/mod.rs"]
mod peers;

use trommel_benches::{BYTES, Column, Run, Task, engine};
use trommel_testkit::alloc::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

/// The bytes that trommel may hold: bytes of a stream held for look-back, matches held for another
/// order, and its own memory.
const BOUND: usize = 40 << 20;

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let measuring = arguments.iter().any(|argument| argument == "--bench")
        && !arguments.iter().any(|argument| argument == "--test");
    let sizes = if measuring { [BYTES, 8 * BYTES].as_slice() } else { &[BYTES] };
    let heads: Vec<_> = sizes.iter().map(|size| format!("{} MB", size / 1_000_000)).collect();
    println!("\nPeak heap in KiB, beyond the input.\n\n| task | column | {} |", heads.join(" | "));
    println!("| --- | ---{} |", " | ---:".repeat(sizes.len()));
    for task in Task::all().iter().filter(|task| task.peak) {
        for (name, peaks) in rows(task, sizes) {
            let peaks: Vec<_> = peaks.iter().map(|peak| peak.div_ceil(1024).to_string()).collect();
            println!("| {} | {name} | {} |", task.name, peaks.join(" | "));
        }
    }
}

/// Returns the name of each column, and its peak for each size.
fn rows(task: &Task, sizes: &[u64]) -> Vec<(&'static str, Vec<usize>)> {
    let mut rows: Vec<(&str, Vec<usize>)> = Vec::new();
    for &size in sizes {
        let bytes = task.input.make(size);
        let own = engine::columns(task, &bytes);
        let own_columns = own.len();
        // The correct answer is known for the usual size. For another size, all columns must agree
        // with the first.
        let mut answer = (size == BYTES).then_some(task.answer);
        for (place, column) in own.into_iter().chain(peers::columns(task, &bytes)).enumerate() {
            let name = column.name;
            let (found, peak) = measure(column, &bytes);
            assert_eq!(found, *answer.get_or_insert(found), "{} by {name}", task.name);
            assert!(place >= own_columns || peak <= BOUND, "{} by {name} held {peak} bytes", task.name);
            match rows.get_mut(place) {
                Some((_, peaks)) => peaks.push(peak),
                None => rows.push((name, vec![peak])),
            }
        }
    }
    rows
}

fn measure(column: Column<'_>, bytes: &[u8]) -> (u64, usize) {
    let (answer, usage) = match column.run {
        Run::Reads(mut run) => ALLOCATOR.measure(&mut *run),
        Run::Consumes(mut run) => {
            let mut copy = bytes.to_vec();
            ALLOCATOR.measure(|| run(&mut copy))
        }
    };
    (answer, usage.peak)
}
