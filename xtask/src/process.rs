//! Running other programs, with errors that name the command and the reason.

use std::error::Error;
use std::path::Path;
use std::process::Command;

/// A `cargo` command in the workspace's root.
///
/// The name is resolved through `PATH`, so that a leading `+nightly` reaches the toolchain manager
/// rather than the `cargo` that runs this program. Arguments are separated by white space.
pub(crate) fn cargo(root: &Path, arguments: &str) -> Command {
    let mut command = Command::new("cargo");
    command.args(arguments.split_whitespace()).current_dir(root);
    command
}

/// A run of `cargo test --release` with debug assertions: optimized, but with the checks that a
/// release build omits.
pub(crate) fn release_tests(root: &Path, arguments: &str) -> Command {
    let mut command = cargo(root, &format!("test --release {arguments}"));
    command.env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true");
    command
}

/// Runs a command on this terminal. An exit status other than 0 is an error that names the command.
pub(crate) fn must_run(command: &mut Command) -> Result<(), Box<dyn Error>> {
    let shown = shown(command);
    eprintln!("$ {shown}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` ended with {status}").into()),
        Err(error) => Err(format!("`{shown}` could not be started: {error}").into()),
    }
}

/// Returns the standard output of a command. An exit status other than 0 is an error with the
/// command's standard error.
pub(crate) fn output(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let shown = shown(command);
    let output = command.output().map_err(|error| format!("`{shown}` could not be started: {error}"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{shown}` ended with {}: {}", output.status, stderr.trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// True if a command starts and succeeds. Discards its output.
pub(crate) fn works(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// Runs `check`, which succeeds if a program is installed, and `install` if it fails. Returns true
/// if either succeeds.
pub(crate) fn is_installed(check: &mut Command, install: &mut Command) -> bool {
    works(check) || must_run(install).is_ok() && works(check)
}

/// Returns a command as typed in a shell: the variables set for it, the program, and its arguments.
fn shown(command: &Command) -> String {
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.display(), value?.display())));
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    variables.chain(words.map(|word| word.display().to_string())).collect::<Vec<_>>().join(" ")
}
