//! Splits the positional arguments of a command into files and queries.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use trommel::path::Query;

use crate::args::{NamedQuery, output_id};
use crate::errors::{Failure, QueryError};
use crate::input::STDIN_ARGUMENT;
use crate::screen::is_input_terminal;

/// The inputs of a command and the queries over them.
#[derive(Debug)]
pub(crate) struct Inputs {
    /// At least one; `-` is standard input, and `output:ID` a stored output.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) queries: Vec<NamedQuery>,
}

impl Inputs {
    /// Splits the arguments of `command`. Reads nothing, but looks whether files exist.
    pub(crate) fn split(arguments: &[OsString], command: &'static str) -> Result<Self, Failure> {
        let usage = |message: String| Failure::Usage { command, message };
        let (mut files, mut queries) = (Vec::new(), Vec::new());
        for argument in arguments {
            match query(argument) {
                Some(query) => {
                    check_no_file(&query, Path::new(argument), command)?;
                    // An invalid query is the more important error.
                    let is_nameless = matches!(command, "sample" | "stats" | "du");
                    if is_nameless && query.name.is_some() && query.query.parse::<Query>().is_ok() {
                        let message = format!("{command} shows no names of queries; write '{}'", query.query);
                        return Err(usage(message));
                    }
                    queries.push(query);
                }
                None => files.push(file(argument, command)?),
            }
        }
        if files.iter().filter(|file| is_stdin(file)).count() > 1 {
            return Err(usage("- is given twice, but standard input can be read only once".into()));
        }
        if files.is_empty() {
            files.push(PathBuf::from(STDIN_ARGUMENT));
        }
        if files.iter().any(|file| is_stdin(file)) && is_input_terminal() {
            let message = format!(
                "standard input is a terminal; name a file, or pipe JSON into the command: … | trommel {command}"
            );
            return Err(usage(message));
        }
        Ok(Self { files, queries })
    }

    /// The texts of the queries, or `$` if there are none.
    pub(crate) fn texts_or_root(&self) -> Vec<String> {
        self.queries_or_root().into_iter().map(|named| named.query).collect()
    }

    /// Returns the queries, or `$` if there are none.
    pub(crate) fn queries_or_root(&self) -> Vec<NamedQuery> {
        match self.queries.as_slice() {
            [] => vec![NamedQuery { name: None, query: "$".into() }],
            queries => queries.to_vec(),
        }
    }

    /// Splits the arguments of a command that takes files only.
    pub(crate) fn files(arguments: &[OsString], command: &'static str) -> Result<Vec<PathBuf>, Failure> {
        let Self { files, queries } = Self::split(arguments, command)?;
        match queries.first() {
            None => Ok(files),
            Some(NamedQuery { query, .. }) => {
                let instead = if command == "schema" {
                    format!("for the schema of a part, use `trommel stats FILE '{query}' --schema`")
                } else {
                    format!("write ./{query} if this is a file")
                };
                let message = format!("{command} takes no query; {instead}");
                Err(Failure::Usage { command, message })
            }
        }
    }
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == STDIN_ARGUMENT
}

/// Returns an argument that is a query: it begins with `$`, or with `NAME=$`.
fn query(argument: &OsString) -> Option<NamedQuery> {
    let text = argument.to_str()?;
    if text.starts_with('$') {
        return Some(NamedQuery { name: None, query: text.into() });
    }
    // A path such as `./a=$b` is a file.
    let (name, rest) = text.split_once("=$").filter(|(name, _)| !name.is_empty() && !name.contains('/'))?;
    Some(NamedQuery { name: Some(name.into()), query: format!("${rest}") })
}

/// Returns an argument that is a file, even if it does not exist. An argument that is neither a
/// file nor a query, and looks like a query, is an error that shows the query to write.
fn file(argument: &OsString, command: &'static str) -> Result<PathBuf, Failure> {
    let path = PathBuf::from(argument);
    let Some(text) = argument.to_str().filter(|text| !is_stdin(&path) && output_id(text).is_none()) else {
        return Ok(path);
    };
    let usage = |message: String| Err(Failure::Usage { command, message });
    if text.is_empty() {
        return usage(
            "an argument is empty; quote queries with single quotes, or the shell replaces $".into(),
        );
    }
    if text.starts_with("=$") {
        return usage(format!("empty name before = in {text}"));
    }
    if path.symlink_metadata().is_ok() {
        return Ok(path);
    }
    if has_known_suffix(text) {
        return Ok(path);
    }
    if let Some(query) = expanded_by_the_shell(text) {
        return usage(format!(
            "there is no file {text}; if it is a query, the shell has expanded its start: write '{query}' in single quotes"
        ));
    }
    match resembled_query(text).and_then(|(name, query)| QueryError::of_argument(name, query)) {
        Some(failure) => Err(failure),
        None => Ok(path),
    }
}

/// Fails if an argument is taken for a query, is none, and is the name of a file.
fn check_no_file(query: &NamedQuery, argument: &Path, command: &'static str) -> Result<(), Failure> {
    if query.query.parse::<Query>().is_ok() || argument.symlink_metadata().is_err() {
        return Ok(());
    }
    let file = argument.display();
    let message =
        format!("an argument that begins with $ or NAME=$ is a query; for the file, write ./{file}");
    Err(Failure::Usage { command, message })
}

/// True if a text ends like the name of a file that the program reads. `.name.log` may as well be a
/// query for two members.
fn has_known_suffix(text: &str) -> bool {
    const JSON: [&str; 9] = ["json", "jsonl", "ndjson", "geojson", "har", "gz", "zst", "bz2", "xz"];
    const OTHERS: [&str; 4] = ["log", "txt", "csv", "out"];
    let others: &[&str] = if text.starts_with('.') { &[] } else { &OTHERS };
    let end = Path::new(text).extension();
    end.is_some_and(|end| JSON.iter().chain(others).any(|suffix| end.eq_ignore_ascii_case(suffix)))
}

/// Returns the query of which a shell has expanded `$[0]`, in double quotes, to `0`.
fn expanded_by_the_shell(text: &str) -> Option<String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (index, rest) = text.split_at(digits);
    let is_rest_of_query = rest.is_empty() || rest.starts_with('[') || is_member(rest);
    (!index.is_empty() && is_rest_of_query).then(|| format!("$[{index}]{rest}"))
}

/// Divides an argument that looks like a query in another dialect, or without its `$`, into
/// `NAME=`, which may be empty, and the query.
fn resembled_query(text: &str) -> Option<(&str, &str)> {
    let is_call = |text: &str| {
        let name = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(0);
        name > 0 && text[name..].starts_with(['(', '['])
    };
    let resembles = |text: &str| {
        is_member(text)
            || text.starts_with(['[', '@', '{', '*', '"', '\''])
            || text.contains(" | ")
            || is_call(text)
    };
    if resembles(text) {
        return Some(("", text));
    }
    let (name, query) = text.split_at(text.find('=')? + 1);
    resembles(query).then_some((name, query))
}

/// True if a text begins with a member of a query, such as `.a`, `..a`, or `.[0]`, and not with a
/// path.
fn is_member(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('.') else { return false };
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    // `..` and `../a` are paths; so is `.a/b`.
    let before_filter = rest.find(['[', '(', ' ', '|']).map_or(rest, |end| &rest[..end]);
    !before_filter.contains('/') && rest.starts_with(|c: char| c.is_alphanumeric() || "_[\"'*?".contains(c))
        || text == "."
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(argument: &str) -> Option<(Option<String>, String)> {
        query(&argument.into()).map(|found| (found.name, found.query))
    }

    #[test]
    fn queries_begin_with_a_dollar_or_a_name() {
        let some = |name: Option<&str>, query: &str| Some((name.map(str::to_owned), query.to_owned()));
        assert_eq!(named("$.a"), some(None, "$.a"));
        assert_eq!(named("$[?@.a=='b=$']"), some(None, "$[?@.a=='b=$']"));
        assert_eq!(named("n=$.a"), some(Some("n"), "$.a"));
        assert_eq!(named("a=b=$.a"), some(Some("a=b"), "$.a"));
        for file in ["a.json", "./$a", "dir/a=$b.json", "=$.a", "n=.a", ".a", "-"] {
            assert_eq!(named(file), None, "{file}");
        }
    }

    #[test]
    fn queries_of_other_dialects_are_recognized() {
        for text in [
            ".a",
            ".a.b",
            ".a[]",
            ".[0]",
            ".",
            "..a",
            "a[0]",
            "[0]",
            "@.a",
            "n=.a",
            "n=@.a",
            "{a,b}",
            "map(.a)",
            ".a[] | select(.b == \"x/y\")",
            "keys | length",
            ".a?",
            "[?@.a == 1]",
            "n=a[0]",
        ] {
            assert!(resembled_query(text).is_some(), "{text}");
        }
        assert_eq!(resembled_query("n=.a"), Some(("n=", ".a")));
        assert_eq!(resembled_query(".a[] | select(.b==1)"), Some(("", ".a[] | select(.b==1)")));
        for text in
            ["a.json", "../a.json", "./a", ".config/a", "a=b", "dir/a[0].json", "a b.json", "a-b", "x"]
        {
            assert_eq!(resembled_query(text), None, "{text}");
        }
    }

    #[test]
    fn names_of_files_are_recognized() {
        for file in ["a.json", ".a.json", "1.jsonl", "data[0-9].json", "*.gz", "a (1).txt", "0.log", "a.BZ2"]
        {
            assert!(has_known_suffix(file), "{file}");
        }
        for text in [".a", ".request.log", "0.name", "a[0]", "users", ".", ""] {
            assert!(!has_known_suffix(text), "{text}");
        }
    }

    #[test]
    fn a_shell_expands_indices_in_double_quotes() {
        assert_eq!(expanded_by_the_shell("0.Name").as_deref(), Some("$[0].Name"));
        assert_eq!(expanded_by_the_shell("12").as_deref(), Some("$[12]"));
        assert_eq!(expanded_by_the_shell("0[1]").as_deref(), Some("$[0][1]"));
        for text in ["a", "2026-01-01.json", "1/2", ".a", "1.json.gz/x"] {
            assert_eq!(expanded_by_the_shell(text), None, "{text}");
        }
    }
}
