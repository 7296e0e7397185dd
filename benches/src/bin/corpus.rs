//! Writes the large files for measurements: `corpus FOLDER [MEGABYTES]`, by default 1000.
//!
//! The files are events of 3 KB as one document and as lines, a fifth of that size as an indented
//! document, and a tenth as numbers. They are identical on every machine, and existing files are
//! kept. Prints the contents of each file.

#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;

use trommel_benches::programs::Arguments;

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { folder, bytes, .. } = Arguments::take("corpus FOLDER [MEGABYTES]", 1000)?;
    for (name, value) in trommel_benches::corpus::make(&folder, bytes)? {
        println!("{name} {value}");
    }
    Ok(())
}
