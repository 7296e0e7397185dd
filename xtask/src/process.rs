//! Running other programs, with errors that say which one and why.

use std::error::Error;
use std::path::Path;
use std::process::Command;

/// A `cargo` command in the workspace's root.
///
/// The name is looked up afresh, so that a leading `+nightly` reaches the toolchain manager rather
/// than the `cargo` that runs this program. Arguments are separated by white space.
pub(crate) fn cargo(root: &Path, arguments: &str) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments.split_whitespace()).current_dir(root);
    command
}

/// A run of `cargo test --release` with debug assertions: optimized, with the checks that a release
/// leaves out.
pub(crate) fn release_tests(root: &Path, arguments: &str) -> Command {
    let mut command = cargo(root, &format!("test --release {arguments}"));
    command.env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true");
    command
}

/// Runs a command on this terminal; an exit status other than 0 is an error that repeats the
/// command.
pub(crate) fn must_run(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let shown = shown(command);
    eprintln!("$ {shown}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` ended with {status}").into()),
        Err(error) => Err(format!("`{shown}` could not be started: {error}").into()),
    }
}

/// The standard output of a command; an exit status other than 0 is an error that carries what it
/// said.
pub(crate) fn output(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let shown = shown(command);
    let output = command.output().map_err(|error| format!("`{shown}` could not be started: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{shown}` ended with {}: {}", output.status, said.trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Whether a command can be started and ends well; what it prints is dropped.
pub(crate) fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Whether a program is on this machine, by a command that ends well where it is; if not, it is
/// installed by the other.
pub(crate) fn is_there(check: &mut Command, install: &mut Command) -> bool {
    works(check) || must_run(install).is_ok() && works(check)
}

/// A command as one would type it: the variables set for it, the program, its arguments.
fn shown(command: &Command) -> String {
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.display(), value?.display())));
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    variables.chain(words.map(|word| word.display().to_string())).collect::<Vec<_>>().join(" ")
}
