//! Runs one column of one task once: `loops TASK COLUMN`, for a tool that counts instructions.
//!
//! What is to be counted happens in [`counted`]; making the input does not, and neither does a
//! first run, in which things are set up that last. Prints how many bytes the input has.
//! `cargo xtask instructions` asks for the core loops.

#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;

use trommel_benches::{Run, Task, engine};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(task), Some(column)) = (arguments.next(), arguments.next()) else {
        return Err("usage: loops TASK COLUMN".into());
    };
    let task = Task::all().iter().find(|known| known.name == task).ok_or("there is no such task")?;
    let bytes = task.input.bytes();
    let columns = engine::columns(task, bytes);
    let column = columns.into_iter().find(|known| known.name == column).ok_or("there is no such column")?;
    let Run::Reads(mut run) = column.run else { return Err("a column that uses its input up".into()) };
    run();
    let answer = counted(&mut run);
    println!("{}", bytes.len());
    if answer == task.answer { Ok(()) } else { Err("the answer is wrong".into()) }
}

/// What is counted. Never inlined, so that it can be found by its name.
#[inline(never)]
fn counted(run: &mut dyn FnMut() -> u64) -> u64 {
    std::hint::black_box(run())
}
