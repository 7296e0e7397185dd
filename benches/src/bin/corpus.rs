//! Writes the large files that measurements are about: `corpus FOLDER [MEGABYTES]`, 1000 unless
//! said otherwise.
//!
//! Events of 3 KB as one document and as lines, a fifth of that laid out over lines, and a tenth of
//! numbers. They are the same on every machine; what is there from another time stays. Prints what
//! they hold.

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
