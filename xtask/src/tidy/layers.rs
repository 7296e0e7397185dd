//! Layers of the crates: dependencies point in one direction only.

use super::{Fault, Rule, Tree};
use crate::workspace::{Dependency, Package};

/// Each crate, with the crates of this workspace that it may depend on. Dev-dependencies are not
/// restricted.
const LAYERS: &[(&str, &[&str])] = &[
    (FOUNDATION, &[]),
    ("trommel-scan", &[]),
    ("trommel-reader", &["trommel-scan"]),
    ("trommel-sampler", &[]),
    ("trommel-query", &[]),
    ("trommel-path", &["trommel-query", "trommel-reader"]),
    ("trommel-histogram", &[]),
    ("trommel-stats", &["trommel-histogram", "trommel-reader"]),
    ("trommel-group", &["trommel-query", "trommel-reader", "trommel-stats"]),
    ("trommel-packed", &[]),
    (
        "trommel",
        &[
            "trommel-group",
            "trommel-packed",
            "trommel-path",
            "trommel-reader",
            "trommel-sampler",
            "trommel-stats",
        ],
    ),
    ("trommel-answer", &["trommel"]),
    ("trommel-guide", &["trommel"]),
    ("trommel-explore", &["trommel", "trommel-guide"]),
    ("trommel-hints", &["trommel"]),
    ("trommel-search", &["trommel"]),
    ("trommel-table", &["trommel"]),
    ("trommel-values", &["trommel"]),
    ("trommel-tool", &[]),
    ("trommel-report", &["trommel", "trommel-answer", "trommel-tool"]),
    ("trommel-display", &["trommel-tool"]),
    ("trommel-store", &["trommel", "trommel-guide"]),
    ("trommel-session", &["trommel"]),
    ("trommel-blocks", &["trommel", "trommel-session"]),
    ("trommel-storage", &["trommel-blocks", "trommel-session"]),
    ("trommel-route", &["trommel-tool"]),
    ("trommel-workflow", &["trommel-route", "trommel-tool"]),
    (
        "trommel-toolbox",
        &[
            "trommel",
            "trommel-answer",
            "trommel-blocks",
            "trommel-guide",
            "trommel-hints",
            "trommel-route",
            "trommel-search",
            "trommel-session",
            "trommel-store",
            "trommel-tool",
            "trommel-workflow",
        ],
    ),
    ("trommel-mcp", &["trommel-reader", "trommel-route", "trommel-store", "trommel-tool", "trommel-toolbox"]),
    (
        "trommel-cli",
        &[
            "trommel",
            "trommel-answer",
            "trommel-blocks",
            "trommel-display",
            "trommel-explore",
            "trommel-guide",
            "trommel-hints",
            "trommel-mcp",
            "trommel-report",
            "trommel-route",
            "trommel-search",
            "trommel-session",
            "trommel-storage",
            "trommel-store",
            "trommel-table",
            "trommel-tool",
            "trommel-toolbox",
            "trommel-workflow",
        ],
    ),
    (
        "trommel-python",
        &[
            "trommel",
            "trommel-answer",
            "trommel-cli",
            "trommel-guide",
            "trommel-packed",
            "trommel-store",
            "trommel-table",
            "trommel-tool",
            "trommel-values",
        ],
    ),
    ("trommel-testkit", &["trommel-query"]),
];

/// The crate that every other crate may use.
const FOUNDATION: &str = "trommel-base";

/// Packages without dependents, which may therefore use any crate.
const FREE: &[&str] = &["trommel-benches", "xtask"];

rules! {
    DIRECTION: "crates depend only on the crates that the table in xtask/src/tidy/layers.rs allows"
        => "move the code to a crate that may have the dependency, or pass the value as an argument";
    PLACED: "every crate has a row in the table of xtask/src/tidy/layers.rs"
        => "add a row with the crates it may use";
}

pub(super) fn check(tree: &Tree<'_>) -> Vec<Fault> {
    let packages = tree.workspace.packages.iter().filter(|package| !FREE.contains(&&*package.name));
    packages.flat_map(|package| check_package(tree, package)).collect()
}

fn check_package(tree: &Tree<'_>, package: &Package) -> Vec<Fault> {
    let manifest = tree.workspace.relative(&package.manifest_path);
    let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == package.name) else {
        return vec![PLACED.fault(
            &manifest,
            0,
            format!("`{}` is missing from the table of layers", package.name),
        )];
    };
    let Some(text) = tree.text(&manifest) else { return vec![PLACED.fault(&manifest, 0, "missing")] };
    strays(package, allowed)
        .map(|used| {
            let what = format!("`{}` depends on `{used}`", package.name);
            DIRECTION.fault(&manifest, line_of(text, used), what)
        })
        .collect()
}

/// Returns the crates of this workspace that a package uses, but may not use.
fn strays<'a>(package: &'a Package, allowed: &[&str]) -> impl Iterator<Item = &'a str> {
    let used = package.dependencies.iter().filter(|used| is_built_in(used)).map(|used| used.name.as_str());
    used.filter(|name| *name != FOUNDATION && !allowed.contains(name))
}

/// True if a dependency is in this workspace, and users of the crate build it too.
fn is_built_in(dependency: &Dependency) -> bool {
    dependency.path.is_some() && dependency.kind.as_deref() != Some("dev")
}

/// Returns the line of a manifest that begins with this key, or 0.
fn line_of(manifest: &str, key: &str) -> usize {
    let starts = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '.', '=']));
    manifest.lines().position(starts).map_or(0, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_have_no_cycle() {
        for (index, (name, allowed)) in LAYERS.iter().enumerate() {
            for used in *allowed {
                let place = LAYERS.iter().position(|(other, _)| other == used);
                assert!(place.is_some_and(|place| place < index), "{name} uses {used}");
            }
        }
    }

    #[test]
    fn ignores_dev_dependencies_and_external_crates() {
        let package: Package = serde_json::from_str(
            r#"{"name": "x", "manifest_path": "x/Cargo.toml", "targets": [], "features": {}, "dependencies": [
                {"name": "low", "path": "/low"}, {"name": "high", "path": "/high"},
                {"name": "built", "path": "/built", "kind": "build"},
                {"name": "kit", "path": "/kit", "kind": "dev"}, {"name": "serde"}]}"#,
        )
        .unwrap();
        assert_eq!(strays(&package, &["low"]).collect::<Vec<_>>(), ["high", "built"]);
    }

    #[test]
    fn finds_a_dependency_in_any_notation() {
        let manifest = "[dependencies]\ntrommel-path = { path = \"x\" }\ntrommel.workspace = true\n";
        assert_eq!(line_of(manifest, "trommel-path"), 2);
        assert_eq!(line_of(manifest, "trommel"), 3);
        assert_eq!(line_of(manifest, "trommel-stats"), 0);
    }
}
