//! Imports of a file from other modules of its crate: `use` items and qualified paths.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The imports of a file.
#[derive(Default)]
pub(crate) struct Imports {
    pub(crate) paths: Vec<Import>,
}

/// A path to an item in another module.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// Its first line, one-based.
    pub(crate) line: usize,
    /// Its segments, verbatim: the first may be `crate`, `self`, or `super`.
    pub(crate) path: Vec<String>,
    /// The name that a `use` gives it in this file. `None` for a path in code, and for a glob.
    pub(crate) name: Option<String>,
    /// True for a re-export, which has a visibility.
    pub(crate) is_reexport: bool,
}

impl Imports {
    /// Returns the imports of a file.
    pub(super) fn of(file: &syn::File) -> Self {
        let mut imports = Self::default();
        imports.visit_file(file);
        imports
    }

    /// Adds the names of a `use` tree.
    fn add(&mut self, tree: &syn::UseTree, prefix: &[String], is_reexport: bool) {
        let line = super::first_line(tree.span());
        let with = |name: &syn::Ident| [prefix, &[name.to_string()]].concat();
        let import = |path, name| Import { line, path, name, is_reexport };
        match tree {
            syn::UseTree::Path(inner) => self.add(&inner.tree, &with(&inner.ident), is_reexport),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.add(tree, prefix, is_reexport));
            }
            syn::UseTree::Glob(_) => self.paths.push(import(prefix.to_vec(), None)),
            syn::UseTree::Name(name) if name.ident == "self" => {
                self.paths.push(import(prefix.to_vec(), prefix.last().cloned()));
            }
            syn::UseTree::Name(name) => {
                self.paths.push(import(with(&name.ident), Some(name.ident.to_string())));
            }
            syn::UseTree::Rename(rename) => {
                let path = if rename.ident == "self" { prefix.to_vec() } else { with(&rename.ident) };
                self.paths.push(import(path, Some(rename.rename.to_string())));
            }
        }
    }
}

impl<'ast> Visit<'ast> for Imports {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !super::is_test_only(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_reexport = !matches!(item.vis, syn::Visibility::Inherited);
        self.add(&item.tree, &[], is_reexport);
    }

    /// A path in code is an import if it starts with `crate`, `self`, or `super`.
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 && segments.first().is_some_and(|first| first == "crate" || first == "super") {
            let line = super::first_line(path.span());
            self.paths.push(Import { line, path: segments, name: None, is_reexport: false });
        }
        visit::visit_path(self, path);
    }

    /// The path in `pub(in path)` is not an import.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

#[cfg(test)]
mod tests {
    use super::super::Source;

    #[test]
    fn finds_uses_and_qualified_paths() {
        let text = "pub(crate) use a::{self, B as C};\nuse crate::d::*;\n\
            fn f(x: super::E) { crate::g::h(); std::mem::take(x) }\n\
            #[cfg(test)]\nmod tests { use crate::t; }\n";
        let source = Source::parse("x.rs", text).unwrap();
        let paths = source.imports.paths.iter();
        let found: Vec<_> = paths
            .map(|import| (import.line, import.path.join("::"), import.name.as_deref(), import.is_reexport))
            .collect();
        assert_eq!(
            found,
            [
                (1, "a".into(), Some("a"), true),
                (1, "a::B".into(), Some("C"), true),
                (2, "crate::d".into(), None, false),
                (3, "super::E".into(), None, false),
                (3, "crate::g::h".into(), None, false),
            ]
        );
    }
}
