//! Runs one column of one task once: `loops TASK COLUMN`, for a tool that counts instructions.
//!
//! The counted code runs in [`counted`]. Generating the input is not counted, nor is a first run,
//! which initializes state that later runs share. Prints the size of the input in bytes. `cargo
//! xtask instructions` runs the core loops.

#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;

use trommel_benches::{Run, Task, engine};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(task), Some(column)) = (arguments.next(), arguments.next()) else {
        return Err("usage: loops TASK COLUMN".into());
    };
    let task = Task::all().iter().find(|known| known.name == task).ok_or("no such task")?;
    let bytes = task.input.bytes();
    let columns = engine::columns(task, bytes);
    let column = columns.into_iter().find(|known| known.name == column).ok_or("no such column")?;
    let Run::Reads(mut run) = column.run else { return Err("the column modifies its input".into()) };
    run();
    let answer = counted(&mut run);
    println!("{}", bytes.len());
    if answer == task.answer { Ok(()) } else { Err("incorrect answer".into()) }
}

/// Runs the counted code. Never inlined, so that the tool finds it by name.
#[inline(never)]
fn counted(run: &mut dyn FnMut() -> u64) -> u64 {
    std::hint::black_box(run())
}
