//! Normalized paths of tree paths, and commands that print their values.

use trommel::path::Location;

use crate::app::App;
use crate::source::Holder;

impl App {
    /// The record and the normalized path of a tree path, as far as its rows are known.
    pub(crate) fn location(&self, path: &[u64]) -> (Option<u64>, String) {
        let mut location = Location::new();
        let Some(tree) = &self.tree else { return (None, location.to_string()) };
        let is_stream = tree.root == Holder::Records;
        let record = if is_stream { path.first().copied() } else { None };
        for depth in usize::from(is_stream) + 1..=path.len() {
            match (tree.row(&path[..depth]), path[depth - 1]) {
                (Ok(Some(row)), index) => match &row.name {
                    Some(name) => location.push_name(name),
                    None => location.push_index(index),
                },
                _ => break,
            }
        }
        (record, location.to_string())
    }

    /// A command for a shell that prints the value at a path.
    pub(crate) fn shell_command(&self, record: Option<u64>, path: &str) -> String {
        let (file, path) = (quoted(self.source.name()), quoted(path));
        match record {
            Some(record) => {
                let one = format!("trommel extract {file} '$' --skip {record} --limit 1");
                if path == "'$'" { one } else { format!("{one} | trommel extract - {path}") }
            }
            None => format!("trommel extract {file} {path}"),
        }
    }
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | ':' | ',');
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted() {
        assert_eq!(quoted("a/b.json"), "a/b.json");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("$.a"), "'$.a'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("-x"), "'-x'");
    }
}
