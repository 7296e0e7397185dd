//! Bounds on the size of files, functions, parameter lists, and crates.

use std::fmt::Write as _;

use super::{Fault, Rule, Tree};
use crate::source::{Function, Source};

/// The crates of the engine, by folder.
const ENGINE: &[&str] = &[
    "crates/scan/",
    "crates/reader/",
    "crates/query/",
    "crates/path/",
    "crates/sampler/",
    "crates/histogram/",
    "crates/stats/",
    "crates/group/",
    "crates/packed/",
    "crates/trommel/",
];

const FILE_MAX: usize = 800;
const FILE_P90: usize = 400;
const FUNCTION_MAX: usize = 100;
/// Upper bounds on percentiles of functions' lengths: (percent, lines).
const FUNCTION_SHARES: &[(usize, usize)] = &[(50, 8), (90, 25), (99, 70)];
const PARAMETERS_MAX: usize = 5;

/// The files whose functions may have more parameters: the keyword arguments of Python.
pub(super) const KEYWORDS: &[&str] = &["crates/python/src/document.rs", "crates/python/src/store.rs"];

const ENGINE_CRATE_MAX: usize = 4_900;

rules! {
    FILE: "a file has at most 800 net lines, and nine in ten have at most 400"
        => "split it by subject into named modules";
    FUNCTION: "a function has at most 100 lines, comments included; median 8, nine in ten 25, 99 in 100 70"
        => "extract its steps into named functions";
    PARAMETERS: "a function has at most 5 parameters, unless they are keyword arguments of Python"
        => "group related parameters in a struct";
    CRATE: "a crate of the engine has at most 4,900 net lines"
        => "remove duplicate code, or move a second subject into a separate crate";
}

/// Returns the folder of the engine crate that a file belongs to.
pub(super) fn engine_crate(path: &str) -> Option<&'static str> {
    ENGINE.iter().copied().find(|folder| path.starts_with(folder))
}

/// Returns the figures as a table, and the faults.
pub(super) fn check(tree: &Tree<'_>) -> (String, Vec<Fault>) {
    let mut faults = tree.sources.iter().flat_map(check_file).collect::<Vec<_>>();
    let mut rows = Vec::new();
    let mut all = Figures::default();
    for package in &tree.workspace.packages {
        let figures = Figures::of(tree.code_of(package));
        let folder = tree.workspace.relative(package.folder());
        let net = figures.net();
        if net > ENGINE_CRATE_MAX && engine_crate(&format!("{folder}/")).is_some() {
            faults.push(CRATE.fault(&folder, 0, format!("{net} net lines")));
        }
        rows.push((folder, figures.clone()));
        all.add(figures);
    }
    faults.extend(check_shares(&all));
    rows.push(("all".to_owned(), all));
    (table(rows), faults)
}

fn check_file(source: &Source) -> Vec<Fault> {
    let net = source.net_lines();
    let long_file = (net > FILE_MAX).then(|| FILE.fault(&source.path, 0, format!("{net} net lines")));
    let functions = source.functions.iter().flat_map(|function| check_function(&source.path, function));
    long_file.into_iter().chain(functions).collect()
}

fn check_function(path: &str, function: &Function) -> Vec<Fault> {
    let Function { name, line, lines, parameters, .. } = function;
    let long =
        (*lines > FUNCTION_MAX).then(|| FUNCTION.fault(path, *line, format!("`{name}` has {lines} lines")));
    let wide = (*parameters > PARAMETERS_MAX && !KEYWORDS.contains(&path))
        .then(|| PARAMETERS.fault(path, *line, format!("`{name}` has {parameters} parameters")));
    long.into_iter().chain(wide).collect()
}

/// Checks the bounds on the workspace's own code as a whole.
fn check_shares(all: &Figures) -> Vec<Fault> {
    let mut faults = Vec::new();
    let files = percentile(&all.files, 90);
    if files > FILE_P90 {
        faults.push(FILE.fault(
            "workspace",
            0,
            format!("more than one file in ten has over {files} net lines"),
        ));
    }
    for &(percent, most) in FUNCTION_SHARES {
        let lines = percentile(&all.functions, percent);
        if lines > most {
            let what = format!("{percent} % of the functions reach {lines} lines");
            faults.push(FUNCTION.fault("workspace", 0, what));
        }
    }
    faults
}

/// Lengths of files and functions, in ascending order.
#[derive(Clone, Default)]
struct Figures {
    /// Net lines of files.
    files: Vec<usize>,
    /// Lines of functions.
    functions: Vec<usize>,
}

impl Figures {
    fn of<'a>(sources: impl Iterator<Item = &'a Source>) -> Self {
        let mut figures = Self::default();
        for source in sources {
            figures.files.push(source.net_lines());
            let own = source.functions.iter().filter(|function| !function.test);
            figures.functions.extend(own.map(|function| function.lines));
        }
        figures.sorted()
    }

    fn net(&self) -> usize {
        self.files.iter().sum()
    }

    fn add(&mut self, other: Self) {
        self.files.extend(other.files);
        self.functions.extend(other.functions);
        *self = std::mem::take(self).sorted();
    }

    fn sorted(mut self) -> Self {
        self.files.sort_unstable();
        self.functions.sort_unstable();
        self
    }
}

/// Returns the smallest value that `percent` of the values do not exceed, or 0 for an empty slice.
fn percentile(ascending: &[usize], percent: usize) -> usize {
    let rank = (ascending.len() * percent).div_ceil(100);
    ascending.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

fn table(rows: Vec<(String, Figures)>) -> String {
    let mut text = String::from(
        "net lines of code           files    sum    p90    max   functions  median  p90  p99  max\n",
    );
    for (name, Figures { files, functions }) in rows {
        let (sum, file_max) = (files.iter().sum::<usize>(), percentile(&files, 100));
        let share = |percent| percentile(&functions, percent);
        // Writing to text cannot fail.
        let _ = writeln!(
            text,
            "{name:<27} {:>5} {sum:>6} {:>6} {file_max:>6} {:>11} {:>7} {:>4} {:>4} {:>4}",
            files.len(),
            percentile(&files, 90),
            functions.len(),
            share(50),
            share(90),
            share(99),
            share(100),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_use_the_nearest_rank() {
        let values: Vec<usize> = (1..=10).collect();
        assert_eq!([50, 90, 99, 100].map(|percent| percentile(&values, percent)), [5, 9, 10, 10]);
        assert_eq!(percentile(&[], 90), 0);
    }

    #[test]
    fn reports_long_functions_and_parameter_lists() {
        let body = "    a();\n".repeat(FUNCTION_MAX);
        let text =
            format!("fn long() {{\n{body}}}\nfn wide(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8) {{}}\n");
        let faults = check_file(&Source::parse("x.rs", &text).unwrap());
        let found: Vec<_> = faults.iter().map(|fault| (fault.line, &*fault.what)).collect();
        assert_eq!(found, [(1, "`long` has 102 lines"), (103, "`wide` has 6 parameters")]);
    }

    #[test]
    fn counts_only_code_of_a_long_file() {
        let code = "const A: u8 = 0;\n".repeat(FILE_MAX);
        let comments = "// why\n\n".repeat(500);
        assert!(check_file(&Source::parse("x.rs", &format!("{code}{comments}")).unwrap()).is_empty());
        assert_eq!(check_file(&Source::parse("x.rs", &format!("{code}fn a() {{}}")).unwrap()).len(), 1);
    }
}
