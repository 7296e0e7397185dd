//! Required fields of a published manifest, and the crates that are never published.

use std::error::Error;

use serde::Deserialize;

use super::{Fault, Rule, Tree};
use crate::workspace::{Package, Workspace};

/// Packages that serve only this workspace, and the Python package, which is not one of Rust.
const PRIVATE: &[&str] = &["trommel-benches", "trommel-python", "trommel-testkit", "xtask"];

/// The fuzz targets are a separate workspace.
const FUZZ: &str = "fuzz/Cargo.toml";

const LICENSE: &str = "MIT OR Apache-2.0";

rules! {
    COMPLETE: "a published crate has a description, license, repository, rust-version, and docs.rs settings"
        => "add the field, or inherit it with `.workspace = true`";
    KEPT: "exactly benches, fuzz, python, testkit and xtask are unpublished"
        => "add or remove `publish = false`";
    LINTED: "every crate of the workspace inherits the workspace's lints"
        => "add `[lints]` with `workspace = true`";
    TEXTS: "the texts of both licenses are in the root folder"
        => "add LICENSE-MIT and LICENSE-APACHE";
}

/// The part of a manifest that `cargo metadata` omits.
#[derive(Deserialize)]
struct Manifest {
    package: Section,
    lints: Option<Lints>,
}

#[derive(Deserialize)]
struct Section {
    publish: Option<toml::Value>,
}

#[derive(Deserialize)]
struct Lints {
    workspace: Option<bool>,
}

pub(super) fn check(tree: &Tree<'_>) -> Result<Vec<Fault>, Box<dyn Error>> {
    let mut faults = Vec::new();
    for package in &tree.workspace.packages {
        faults.extend(check_package(tree.workspace, package));
        let path = tree.workspace.relative(&package.manifest_path);
        let manifest: Manifest =
            toml::from_str(tree.text(&path).ok_or_else(|| format!("{path} does not exist"))?)?;
        if manifest.lints.and_then(|lints| lints.workspace) != Some(true) {
            faults.push(LINTED.fault(&path, 0, "lints of its own"));
        }
    }
    if let Some(text) = tree.text(FUZZ) {
        let manifest: Manifest = toml::from_str(text)?;
        if manifest.package.publish != Some(toml::Value::Boolean(false)) {
            faults.push(KEPT.fault(FUZZ, 0, "could be published"));
        }
    }
    let missing = ["LICENSE-MIT", "LICENSE-APACHE"].into_iter().filter(|name| !tree.files.contains(*name));
    faults.extend(missing.map(|name| TEXTS.fault(name, 0, "missing")));
    Ok(faults)
}

fn check_package(workspace: &Workspace, package: &Package) -> Vec<Fault> {
    let path = workspace.relative(&package.manifest_path);
    let private = PRIVATE.contains(&&*package.name);
    if package.is_published() == private {
        let what = if private { "could be published" } else { "cannot be published" };
        return vec![KEPT.fault(&path, 0, what)];
    }
    if private {
        return Vec::new();
    }
    let docs = package.metadata.as_ref().and_then(|metadata| metadata.pointer("/docs/rs"));
    let fields = [
        ("description", package.description.as_ref().is_some_and(|text| !text.is_empty())),
        ("license", package.license.as_deref() == Some(LICENSE)),
        ("repository", package.repository.is_some()),
        ("rust-version", package.rust_version.is_some()),
        ("[package.metadata.docs.rs]", docs.is_some()),
    ];
    let wrong = fields.into_iter().filter(|(_, good)| !good);
    wrong.map(|(field, _)| COMPLETE.fault(&path, 0, format!("`{field}` is missing or invalid"))).collect()
}
