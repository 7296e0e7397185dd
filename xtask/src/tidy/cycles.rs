//! Imports between the files of a crate: no import cycle spans several folders.
//!
//! `mod` items and re-exports do not count as imports. A parent module and its child that import
//! each other count as one file.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Fault, Rule, Tree};
use crate::source::{Import, Source};

rules! {
    CYCLES: "imports between the files of a crate form no cycle across folders"
        => "move what both need into a module below both";
}

/// The longest chain of re-exports that is followed.
const MAX_REEXPORTS: usize = 16;

pub(super) fn check(tree: &Tree<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for package in &tree.workspace.packages {
        let folder = format!("{}/src/", tree.workspace.relative(package.folder()));
        let sources: Vec<&Source> = tree.code_of(package).collect();
        faults.extend(Graph::new(&folder, &sources).faults());
    }
    faults
}

/// The files of a crate with their imports.
struct Graph<'a> {
    files: Vec<File<'a>>,
    /// For each file, the files it imports from, with the line of the first import.
    edges: Vec<BTreeMap<usize, usize>>,
}

struct File<'a> {
    source: &'a Source,
    /// The names of the modules from the crate's root to this one.
    module: Vec<&'a str>,
    /// The folder of its child modules, or its own folder if it has none.
    folder: &'a str,
}

impl<'a> Graph<'a> {
    /// Builds the graph of the sources below a folder.
    fn new(root: &str, sources: &[&'a Source]) -> Self {
        let is_root = |name: &str| matches!(name, "lib.rs" | "main.rs");
        let has_library = sources.iter().any(|source| source.path.strip_prefix(root) == Some("lib.rs"));
        let mut files = Vec::new();
        for source in sources {
            let Some(name) = source.path.strip_prefix(root) else { continue };
            // A program beside the library is a separate crate.
            if name.starts_with("bin/") || has_library && name == "main.rs" {
                continue;
            }
            let stem = name.strip_suffix("/mod.rs").or_else(|| name.strip_suffix(".rs")).unwrap_or(name);
            let module = if is_root(name) { Vec::new() } else { stem.split('/').collect() };
            let own = source.path.strip_suffix(".rs").unwrap_or(&source.path);
            let has_folder = sources
                .iter()
                .any(|other| other.path.strip_prefix(own).is_some_and(|rest| rest.starts_with('/')));
            let around = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            files.push(File { source, module, folder: if has_folder { own } else { around } });
        }
        let mut graph = Self { edges: vec![BTreeMap::new(); files.len()], files };
        for from in 0..graph.files.len() {
            for import in &graph.files[from].source.imports.paths {
                if import.is_reexport {
                    continue;
                }
                if let Some(to) = graph.target(from, import, MAX_REEXPORTS)
                    && to != from
                {
                    graph.edges[from].entry(to).or_insert(import.line);
                }
            }
        }
        graph
    }

    fn file_of(&self, module: &[&str]) -> Option<usize> {
        self.files.iter().position(|file| file.module == module)
    }

    /// Returns the file that defines the item that a file imports.
    fn target(&self, from: usize, import: &Import, steps: usize) -> Option<usize> {
        let mut module = self.files[from].module.clone();
        let mut path = import.path.iter().map(String::as_str).peekable();
        match path.peek().copied()? {
            "crate" => {
                path.next();
                module.clear();
            }
            "self" => {
                path.next();
            }
            "super" => {
                while path.next_if_eq(&"super").is_some() {
                    module.pop();
                }
            }
            child => {
                module.push(child);
                self.file_of(&module)?;
                path.next();
            }
        }
        let mut file = self.file_of(&module)?;
        for name in path {
            module.push(name);
            if let Some(child) = self.file_of(&module) {
                file = child;
                continue;
            }
            return Some(self.definition(file, name, steps).unwrap_or(file));
        }
        Some(file)
    }

    /// Returns the file that defines a name which a file imports.
    fn definition(&self, file: usize, name: &str, steps: usize) -> Option<usize> {
        let mut imports = self.files[file].source.imports.paths.iter();
        let import = imports.find(|import| import.name.as_deref() == Some(name))?;
        self.target(file, import, steps.checked_sub(1)?)
    }

    fn faults(&self) -> Vec<Fault> {
        let groups = self.families();
        let reached: Vec<BTreeSet<usize>> =
            (0..self.files.len()).map(|file| self.reached(file, &groups)).collect();
        let mut faults = Vec::new();
        let mut seen = BTreeSet::<usize>::new();
        for file in 0..self.files.len() {
            let in_cycle = |other: &usize| reached[*other].contains(&file);
            let cycle: BTreeSet<usize> = reached[file].iter().copied().filter(in_cycle).collect();
            if cycle.iter().any(|file| seen.contains(file)) {
                continue;
            }
            seen.extend(&cycle);
            if let Some(path) = self.shortest_cycle(&cycle, &groups) {
                let names: Vec<&str> = path.iter().map(|&file| &*self.files[file].source.path).collect();
                let line = self.edges[path[0]].get(&path[1]).copied().unwrap_or(0);
                faults.push(CYCLES.fault(names[0], line, names.join(" -> ")));
            }
        }
        faults
    }

    /// Returns the family number of each file. A family is a set of parents and children that
    /// import each other.
    fn families(&self) -> Vec<usize> {
        let mut groups: Vec<usize> = (0..self.files.len()).collect();
        for (child, file) in self.files.iter().enumerate() {
            for length in 0..file.module.len() {
                let Some(parent) = self.file_of(&file.module[..length]) else { continue };
                if self.edges[child].contains_key(&parent) && self.edges[parent].contains_key(&child) {
                    let (from, to) = (groups[child], groups[parent]);
                    groups.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
                }
            }
        }
        groups
    }

    /// Returns the files that can be reached from one, where a family counts as one file.
    fn reached(&self, from: usize, groups: &[usize]) -> BTreeSet<usize> {
        let mut reached = BTreeSet::from([from]);
        let mut left = vec![from];
        while let Some(file) = left.pop() {
            let family = (0..groups.len()).filter(|&other| groups[other] == groups[file]);
            for next in family.chain(self.edges[file].keys().copied()) {
                if reached.insert(next) {
                    left.push(next);
                }
            }
        }
        reached
    }

    /// Returns the shortest cycle that crosses from one folder to another and is not within a
    /// family.
    fn shortest_cycle(&self, cycle: &BTreeSet<usize>, groups: &[usize]) -> Option<Vec<usize>> {
        let mut found: Option<Vec<usize>> = None;
        for &from in cycle {
            for &to in self.edges[from].keys().filter(|to| cycle.contains(to)) {
                let crosses = self.files[from].folder != self.files[to].folder;
                if !crosses || groups[from] == groups[to] {
                    continue;
                }
                if let Some(back) = self.shortest_path(to, from, cycle)
                    && found.as_ref().is_none_or(|found| found.len() > back.len() + 1)
                {
                    found = Some([vec![from], back].concat());
                }
            }
        }
        found
    }

    /// Returns the shortest path from one file to another, both included.
    fn shortest_path(&self, from: usize, to: usize, within: &BTreeSet<usize>) -> Option<Vec<usize>> {
        let mut before = BTreeMap::from([(from, from)]);
        let mut left = VecDeque::from([from]);
        while let Some(file) = left.pop_front() {
            if file == to {
                let mut path = vec![to];
                let mut last = to;
                while last != from {
                    last = before[&last];
                    path.push(last);
                }
                path.reverse();
                return Some(path);
            }
            for &next in self.edges[file].keys().filter(|next| within.contains(next)) {
                before.entry(next).or_insert_with(|| {
                    left.push_back(next);
                    file
                });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cycles among files with these texts.
    fn cycles(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::parse(&format!("x/src/{path}"), text).unwrap()).collect();
        let sources: Vec<&Source> = sources.iter().collect();
        Graph::new("x/src/", &sources).faults().into_iter().map(|fault| fault.what).collect()
    }

    #[test]
    fn reports_a_cycle_across_folders() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use b::C;"),
            ("a.rs", "use crate::C;"),
            ("b/mod.rs", "mod c; pub use c::C;"),
            ("b/c.rs", "fn f() { crate::a::g() }"),
        ];
        assert_eq!(cycles(&files), ["x/src/a.rs -> x/src/b/c.rs -> x/src/a.rs"]);
    }

    #[test]
    fn accepts_cycles_within_a_folder() {
        let files = [("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B;"), ("b.rs", "use crate::a::A;")];
        assert!(cycles(&files).is_empty());
    }

    #[test]
    fn accepts_cycles_of_parent_and_child() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a.rs", "mod b; use b::B;"),
            ("a/b.rs", "mod c; use super::A; use c::C;"),
            ("a/b/c.rs", "use super::B;"),
        ];
        assert!(cycles(&files).is_empty());
    }

    #[test]
    fn counts_a_family_as_one_file() {
        let files = [
            ("lib.rs", "mod a; mod d;"),
            ("a.rs", "mod b; use b::B; use crate::d::D;"),
            ("a/b.rs", "use super::A;"),
            ("d.rs", "use crate::a::b::B;"),
        ];
        let found = cycles(&files);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn ignores_imports_of_tests_and_reexports() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub use crate::b::c::C;"),
            ("b.rs", "mod c;"),
            ("b/c.rs", "use crate::a::A;\n#[cfg(test)] mod tests { use crate::a::A; }"),
        ];
        assert!(cycles(&files).is_empty());
    }
}
