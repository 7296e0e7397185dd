//! The licenses, sources, and versions of all packages that the workspace depends on.
//!
//! The policy is in `deny.toml`. `cargo deny`, which `cargo xtask deep` runs, checks more, but
//! takes minutes to install.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;

use serde::Deserialize;
use spdx::{Expression, ParseMode};

use super::{Fault, Rule, Tree};
use crate::process::{cargo, output};

const POLICY: &str = "deny.toml";

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

rules! {
    LICENSED: "a dependency has a license that `deny.toml` allows"
        => "choose another package, or add the license after reading it";
    PUBLISHED: "a dependency comes from crates.io, or is in this repository"
        => "use a published version";
    VERSIONED: "a dependency on a published package has a version"
        => "replace `*` by a version";
}

#[derive(Deserialize)]
struct Policy {
    licenses: Licenses,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    package: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    version: String,
    license: Option<String>,
    /// `None` for a package of this repository.
    source: Option<String>,
    dependencies: Vec<Requirement>,
}

#[derive(Deserialize)]
struct Requirement {
    name: String,
    req: String,
    path: Option<String>,
}

pub(super) fn check(tree: &Tree<'_>) -> Result<Vec<Fault>, Box<dyn Error>> {
    let root = &tree.workspace.root;
    let policy: Policy = toml::from_str(&fs::read_to_string(root.join(POLICY))?)?;
    let metadata = output(&mut cargo(root, "metadata --all-features --locked --format-version 1"))?;
    let metadata: Metadata = serde_json::from_str(&metadata)?;
    Ok(faults(&policy.licenses, &metadata.packages))
}

fn faults(licenses: &Licenses, packages: &[Dependency]) -> Vec<Fault> {
    let exceptions: BTreeMap<&str, &[String]> =
        licenses.exceptions.iter().map(|exception| (&*exception.package, &*exception.allow)).collect();
    let mut faults = Vec::new();
    for package in packages {
        let shown = format!("{} {}", package.name, package.version);
        let license = package.license.as_deref().unwrap_or("no license");
        let exception = exceptions.get(&*package.name).copied().unwrap_or(&[]);
        let is_allowed = |name: &str| [&licenses.allow, exception].concat().iter().any(|known| known == name);
        if !satisfies(license, is_allowed) {
            faults.push(LICENSED.fault(POLICY, 0, format!("{shown} has {license}")));
        }
        match &package.source {
            Some(source) if source != REGISTRY => {
                faults.push(PUBLISHED.fault(POLICY, 0, format!("{shown} comes from {source}")));
            }
            Some(_) => {}
            None => {
                let any = |required: &&Requirement| required.req == "*" && required.path.is_none();
                let any = package.dependencies.iter().filter(any);
                faults.extend(any.map(|required| {
                    VERSIONED.fault(POLICY, 0, format!("{shown} depends on any {}", required.name))
                }));
            }
        }
    }
    faults
}

/// True if the allowed licenses satisfy an SPDX expression.
fn satisfies(license: &str, is_allowed: impl Fn(&str) -> bool) -> bool {
    // Old manifests write `/` for `OR`.
    let expression = Expression::parse_mode(license, ParseMode::LAX);
    expression.is_ok_and(|expression| expression.evaluate(|required| is_allowed(&required.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_satisfied_by_allowed_licenses() {
        let is_allowed = |name: &str| ["MIT", "Apache-2.0 WITH LLVM-exception"].contains(&name);
        for (license, expected) in [
            ("MIT", true),
            ("MIT/Apache-2.0", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
            ("MIT AND GPL-3.0-only", false),
            ("(GPL-3.0-only OR MIT) AND MIT", true),
            ("no license", false),
        ] {
            assert_eq!(satisfies(license, is_allowed), expected, "{license}");
        }
    }

    #[test]
    fn each_fault_is_found() {
        let licenses = Licenses {
            allow: vec!["MIT".into()],
            exceptions: vec![Exception { package: "b".into(), allow: vec!["ISC".into()] }],
        };
        let packages: Vec<Dependency> = serde_json::from_value(serde_json::json!([
            { "name": "a", "version": "1.0.0", "license": "ISC", "source": REGISTRY, "dependencies": [] },
            { "name": "b", "version": "1.0.0", "license": "ISC", "source": REGISTRY, "dependencies": [] },
            { "name": "c", "version": "1.0.0", "license": "MIT", "source": "git+https://x", "dependencies": [] },
            { "name": "d", "version": "1.0.0", "license": "MIT", "source": null, "dependencies": [
                { "name": "a", "req": "*", "path": null }, { "name": "e", "req": "*", "path": "/e" }
            ] },
        ]))
        .unwrap();
        let found: Vec<_> = faults(&licenses, &packages).into_iter().map(|fault| fault.what).collect();
        assert_eq!(
            found,
            ["a 1.0.0 has ISC", "c 1.0.0 comes from git+https://x", "d 1.0.0 depends on any a"]
        );
    }
}
