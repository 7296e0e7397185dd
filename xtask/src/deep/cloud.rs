//! The tests of cloud storages, with the official clients, against emulators from npm.

use std::fs;
use std::process::Command;

use super::{Outcome, Ran};
use crate::process::{cargo, must_run, release_tests, works};
use crate::workspace::Workspace;

/// The npm packages that the tests run.
const PACKAGES: [&str; 4] =
    ["@vercel/cosmosdb-server@1.0.1", "azurite@3.35.0", "@azure/storage-blob@12.32.0", "s3rver@3.7.1"];

/// Runs clippy and tests with all features that are off by default. One test pushes a session of a
/// gigabyte to an emulator, and pulls it back.
pub(super) fn run(workspace: &Workspace) -> Ran {
    let lint = "clippy --quiet -p trommel-blocks -p trommel-storage -p trommel-toolbox -p trommel-cli --all-features --all-targets -- -D warnings";
    must_run(&mut cargo(&workspace.root, lint))?;
    for tests in [
        "-p trommel-toolbox --features cloud --test battery hybrid",
        "-p trommel-cli --features cloud --test program cloud",
    ] {
        must_run(&mut release_tests(&workspace.root, tests))?;
    }
    let mut storages = release_tests(&workspace.root, "-p trommel-blocks -p trommel-storage --all-features");
    storages.env("TROMMEL_DEEP", "1").env("NODE_OPTIONS", "--max-old-space-size=12000");
    let folder = workspace.target.join("emulators");
    let reason = install(&folder);
    if reason.is_none() {
        storages.env("TROMMEL_EMULATORS", &folder);
    }
    must_run(&mut storages)?;
    Ok(reason.map_or(Outcome::Passed, Outcome::NotRun))
}

/// Installs the emulators. Returns the reason if that fails.
fn install(folder: &std::path::Path) -> Option<String> {
    let without = "; all but the tests with emulators passed";
    if !works(Command::new("node").arg("--version")) {
        return Some(format!("node is not installed{without}"));
    }
    if let Err(error) = fs::create_dir_all(folder) {
        return Some(format!("cannot create {}: {error}{without}", folder.display()));
    }
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(folder).args(PACKAGES);
    must_run(&mut npm).err().map(|error| format!("{error}{without}"))
}
