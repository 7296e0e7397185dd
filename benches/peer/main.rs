//! One peer's answer to a task as a whole program, for `goals`: `peer ENGINE TASK FILE` prints it.
//!
//! The file is mapped. An engine that uses its input up is given a copy.
//! `peer ceiling reading FILE` and the like do what no engine can do without.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for measurements: a panic is how it says that something is wrong"
)]

#[path = "../peers/mod.rs"]
mod peers;

use trommel::reader::{Framing, Input, MapPolicy};
use trommel_benches::{Run, Task, ceilings};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, task, file] = arguments.as_slice() else { panic!("peer ENGINE TASK FILE") };
    #[expect(unsafe_code, reason = "peers take bytes, and a copy would be counted as theirs")]
    // SAFETY: the file was made for measurements, and nobody writes to it meanwhile.
    let policy = unsafe { MapPolicy::trusted() };
    let input = Input::open(file, policy).unwrap();
    let bytes = input.view().unwrap().bytes();
    println!("{}", if engine == "ceiling" { ceiling(task, bytes) } else { answer(engine, task, bytes) });
}

fn answer(engine: &str, task: &str, bytes: &[u8]) -> u64 {
    let task = Task::all().iter().find(|known| known.name == task).unwrap();
    let column = peers::columns(task, bytes).into_iter().find(|column| column.name == engine).unwrap();
    match column.run {
        Run::Reads(mut run) => run(),
        Run::Consumes(mut run) => run(&mut bytes.to_vec()),
    }
}

fn ceiling(name: &str, bytes: &[u8]) -> u64 {
    let ceiling = ceilings::named(name).unwrap();
    u64::from(ceiling(bytes, Framing::Single))
}
