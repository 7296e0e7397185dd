//! One peer's answer to a task as a whole program, for `goals`: `peer ENGINE TASK FILE` prints it.
//!
//! The file is mapped. An engine that modifies its input gets a copy. `peer ceiling reading FILE`
//! and the like measure the ceilings.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for measurements panics if an answer is incorrect"
)]

#[path = "../peers/mod.rs"]
mod peers;

use trommel::reader::{Framing, Input, MapPolicy};
use trommel_benches::{Run, Task, ceilings};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, task, file] = arguments.as_slice() else { panic!("peer ENGINE TASK FILE") };
    #[expect(unsafe_code, reason = "peers take bytes, and the memory of a copy would count as theirs")]
    // SAFETY: the file was generated for measurements, and no process writes to it meanwhile.
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
