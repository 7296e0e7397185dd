//! Inputs that are read several times.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::args::Source;
use crate::errors::Failure;
use crate::input::{Options, RawInput};

/// Bytes copied at a time.
const PIECE: usize = 256 << 10;

/// The inputs of a report. Pipes are copied to temporary files, which are removed with this value.
pub(super) struct Repeatable {
    /// The inputs as the user named them.
    named: Vec<PathBuf>,
    /// The files to read.
    files: Vec<PathBuf>,
    /// Files with a copy of an input, and its name.
    copies: Vec<(NamedTempFile, String)>,
}

impl Repeatable {
    /// Prepares the inputs. Copies at most the spool limit of each pipe.
    pub(super) fn new(named: &[PathBuf], source: &Source) -> Result<Self, Failure> {
        let mut inputs = Self { named: named.to_vec(), files: Vec::new(), copies: Vec::new() };
        let options = Options::of_source(source);
        for name in named {
            let options = options.of_file(name.clone());
            let is_missing = !options.is_stdin() && name.symlink_metadata().is_err();
            if options.is_repeatable() || is_missing || name.is_dir() {
                inputs.files.push(name.clone());
                continue;
            }
            let opened = options.open_raw().map_err(|error| options.failure(error))?;
            let RawInput::Stream(mut reader) = opened else {
                // Standard input from a file, which each pass reads from its start.
                inputs.files.push(name.clone());
                continue;
            };
            let mut copy = NamedTempFile::new()?;
            copy_limited(&mut reader, copy.as_file_mut(), source.spool_limit)?;
            inputs.files.push(copy.path().to_owned());
            inputs.copies.push((copy, options.name()));
        }
        Ok(inputs)
    }

    /// The same inputs with a file instead of the only one.
    pub(super) fn replaced(&self, copy: NamedTempFile) -> Self {
        let files = vec![copy.path().to_owned()];
        let copies = self.names().next().map(|name| (copy, name)).into_iter().collect();
        Self { named: self.named.clone(), files, copies }
    }

    /// The files to read.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The copies, and the names of their inputs in messages.
    pub(super) fn aliases(&self) -> Vec<(PathBuf, String)> {
        self.copies.iter().map(|(copy, name)| (copy.path().to_owned(), name.clone())).collect()
    }

    /// The names of the inputs.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let alias = |file: &PathBuf| {
            let copy = self.copies.iter().find(|(copy, _)| copy.path() == file);
            copy.map_or_else(|| file.to_string_lossy().into_owned(), |(_, name)| name.clone())
        };
        self.files.iter().map(alias)
    }

    /// The inputs as arguments of a shell command. Empty if one cannot be repeated there.
    pub(super) fn arguments(&self) -> String {
        let words = self.named.iter().map(|file| shell_word(file));
        words.collect::<Option<Vec<_>>>().map_or_else(String::new, |words| words.join(" "))
    }
}

/// Copies a reader, at most `limit` bytes.
fn copy_limited(reader: &mut dyn Read, to: &mut dyn Write, limit: u64) -> Result<(), Failure> {
    let (mut piece, mut copied) = (vec![0; PIECE], 0_u64);
    loop {
        let count = match reader.read(&mut piece) {
            Ok(0) => return Ok(to.flush()?),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        copied += count as u64;
        if copied > limit {
            return Err(Failure::Form {
                message: "the input exceeds the spool limit",
                position: format!("byte {limit}"),
                note: "a report reads its input several times, so it copies a pipe to a temporary file"
                    .into(),
                help: "raise --spool-limit, or pass a file",
            });
        }
        to.write_all(&piece[..count])?;
    }
}

/// Quotes a file for a shell if needed. `None` for standard input, pipes, and names that are not
/// plain text.
fn shell_word(file: &Path) -> Option<String> {
    let text = file.to_str().filter(|text| !text.chars().any(trommel_base::text::is_unsafe))?;
    let is_output = crate::args::output_id(text).is_some();
    if !is_output && !file.is_file() {
        return None;
    }
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
    if text.chars().all(is_plain) && !text.starts_with('-') {
        return Some(text.to_owned());
    }
    let text = if text.starts_with(['-', '$']) { format!("./{text}") } else { text.to_owned() };
    Some(format!("'{}'", text.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_words_of_a_shell() {
        let folder = tempfile::tempdir().unwrap();
        for (name, quoted) in [("plain.json", false), ("with space.json", true), ("it's.json", true)] {
            let path = folder.path().join(name);
            std::fs::write(&path, "1").unwrap();
            let word = shell_word(&path).unwrap();
            assert_eq!(word.starts_with('\''), quoted, "{word}");
        }
        assert_eq!(shell_word(Path::new("output:o_1")).as_deref(), Some("output:o_1"));
        assert_eq!(shell_word(Path::new("-")), None);
        assert_eq!(shell_word(&folder.path().join("\u{202e}x")), None);
    }

    #[test]
    fn copies_are_limited() {
        let mut copy = Vec::new();
        assert!(copy_limited(&mut &b"12345"[..], &mut copy, 5).is_ok());
        assert_eq!(copy, b"12345");
        assert!(copy_limited(&mut &b"123456"[..], &mut copy, 5).is_err());
    }
}
