//! The lock files of the separate workspaces, which have the versions of the main one.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;

use serde::Deserialize;

use super::{Fault, Rule, Tree};

const MAIN: &str = "Cargo.lock";

/// The lock files of the workspaces beside the main one.
const OTHERS: [&str; 3] = ["benches/jsonpath_lib/Cargo.lock", "crates/capi/Cargo.lock", "fuzz/Cargo.lock"];

rules! {
    SAME_VERSIONS: "a package has the version of the main lock file in the other ones, too"
        => "run `cargo update PACKAGE --precise VERSION` there";
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
}

pub(super) fn check(tree: &Tree<'_>) -> Result<Vec<Fault>, Box<dyn Error>> {
    let read = |path: &str| fs::read_to_string(tree.workspace.root.join(path));
    let main = read(MAIN)?;
    let mut faults = Vec::new();
    for path in OTHERS {
        let different = different(&main, &read(path)?)?;
        faults.extend(different.into_iter().map(|what| SAME_VERSIONS.fault(path, 0, what)));
    }
    Ok(faults)
}

/// The packages of a lock file that the main one has in another, compatible version.
fn different(main: &str, other: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let main: Lock = toml::from_str(main)?;
    let other: Lock = toml::from_str(other)?;
    let versions: BTreeMap<_, _> = main
        .package
        .iter()
        .map(|locked| ((&*locked.name, compatible(&locked.version)), &*locked.version))
        .collect();
    let different = other.package.iter().filter_map(|locked| {
        let version = versions.get(&(&*locked.name, compatible(&locked.version)))?;
        (*version != locked.version).then(|| format!("{} {}, not {version}", locked.name, locked.version))
    });
    Ok(different.collect())
}

/// The numbers of a version that compatible ones have in common: up to the first that is not 0.
fn compatible(version: &str) -> &str {
    let first = version.find(|c: char| c.is_ascii_digit() && c != '0').unwrap_or(version.len());
    let end = version[first..].find('.').map_or(version.len(), |dot| first + dot);
    &version[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compatible_versions_are_compared() {
        for (version, prefix) in [("1.2.3", "1"), ("10.0.3", "10"), ("0.2.46", "0.2"), ("0.0.7", "0.0.7")] {
            assert_eq!(compatible(version), prefix, "{version}");
        }
        let lock = |packages: &[(&str, &str)]| {
            let package = |(name, version): &(&str, &str)| {
                format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n")
            };
            packages.iter().map(package).collect::<String>()
        };
        let main = lock(&[("a", "1.2.3"), ("b", "0.4.1"), ("b", "0.5.0"), ("c", "2.0.0")]);
        let other = lock(&[("a", "1.3.0"), ("b", "0.4.1"), ("b", "0.5.2"), ("c", "1.0.0"), ("d", "1.0.0")]);
        let expected = ["a 1.3.0, not 1.2.3", "b 0.5.2, not 0.5.0"];
        assert_eq!(different(&main, &other).unwrap(), expected);
        assert_eq!(different(&main, &main).unwrap(), Vec::<String>::new());
    }
}
