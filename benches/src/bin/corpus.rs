//! Writes the large files that measurements are about: `corpus FOLDER [MEGABYTES]`, 1000 unless said otherwise.
//!
//! Events of 3 KB as one document and as lines, a fifth of that laid out over lines, and a tenth of numbers. They are the same on
//! every machine; what is there from another time stays. Prints what they hold.

#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("corpus FOLDER [MEGABYTES]")?;
    let megabytes: u64 = arguments.next().map_or(Ok(1000), |text| text.parse())?;
    for (name, value) in trommel_benches::corpus::make(Path::new(&folder), megabytes * 1_000_000)? {
        println!("{name} {value}");
    }
    Ok(())
}
