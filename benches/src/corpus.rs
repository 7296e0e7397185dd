//! The large input files of whole programs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

use trommel_testkit::events::{self, Arrangement};

use crate::Input;

/// The values of the words in braces in the definitions: paths of files, and counts of their
/// contents.
pub type Names = BTreeMap<String, String>;

/// The file that records the contents of the files in a folder.
const CONTENTS: &str = "corpus.json";

/// Writes the files into a folder, unless they exist, and returns their contents. Events take
/// `bytes` bytes as one document and the same as lines. The indented document has a fifth of that
/// size, and the numbers have a tenth.
pub fn make(folder: &Path, bytes: u64) -> io::Result<Names> {
    fs::create_dir_all(folder)?;
    let key = ("{bytes}".to_owned(), bytes.to_string());
    if let Ok(text) = fs::read(folder.join(CONTENTS)) {
        let names: Names = serde_json::from_slice(&text)?;
        if names.get(&key.0) == Some(&key.1) {
            return Ok(placed(names, folder));
        }
    }
    let mut names = Names::from([key]);
    let mut note = |name: &str, value: String| names.insert(format!("{{{name}}}"), value);
    for (name, file, arrangement) in
        [("document", "events.json", Arrangement::Document), ("lines", "events.jsonl", Arrangement::Lines)]
    {
        let written = events::write(File::create(folder.join(file))?, arrangement, bytes)?;
        note(name, file.to_owned());
        for (what, number) in [
            ("records", written.records),
            ("fives", 5 * written.records),
            ("pushes", written.pushes),
            ("logins", written.logins),
        ] {
            note(&format!("{name}-{what}"), number.to_string());
        }
    }
    for (name, file, input, bytes) in [
        ("pretty", "pretty.json", Input::Pretty, bytes / 5),
        ("numbers", "numbers.json", Input::Numbers, bytes / 10),
    ] {
        // Written in pieces, because a started program inherits the peak memory of its parent.
        input.write(BufWriter::new(File::create(folder.join(file))?), bytes)?;
        note(name, file.to_owned());
    }
    fs::write(folder.join(CONTENTS), serde_json::to_vec_pretty(&names)?)?;
    Ok(placed(names, folder))
}

/// Returns the same names, with the folder prepended to the files.
fn placed(mut names: Names, folder: &Path) -> Names {
    for file in ["{document}", "{lines}", "{pretty}", "{numbers}"] {
        if let Some(name) = names.get_mut(file) {
            *name = folder.join(&*name).display().to_string();
        }
    }
    names
}
