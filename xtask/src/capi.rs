//! `cargo xtask c` and `cargo xtask header`: the C library and its header.
//!
//! The programs of `crates/capi` are compiled with `-Wall -Wextra -Werror`, linked with either
//! library, and run: alone, with `AddressSanitizer`'s allocator, and in valgrind.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use crate::Verdict;
use crate::process::{cargo, must_run, works};
use crate::workspace::Workspace;

#[derive(Args)]
pub(crate) struct HeaderOptions {
    /// Write the header instead of comparing it
    #[arg(long)]
    write: bool,
}

/// The library's dependencies on the system, for programs that link it statically.
const SYSTEM: [&str; 4] = ["-lpthread", "-ldl", "-lm", "-lgcc_s"];

pub(crate) fn header(workspace: &Workspace, options: &HeaderOptions) -> Verdict {
    let package = workspace.root.join("crates/capi");
    let config = cbindgen::Config::from_file(package.join("cbindgen.toml"))?;
    // Its modules follow from it.
    let builder = cbindgen::Builder::new().with_config(config).with_src(package.join("src/lib.rs"));
    let mut generated = Vec::new();
    builder.generate()?.write(&mut generated);
    let path = package.join("include/trommel.h");
    if options.write {
        fs::write(&path, generated)?;
        return Ok(true);
    }
    if fs::read(&path)? == generated {
        return Ok(true);
    }
    Err(format!("{} is not that of the code: run `cargo xtask header --write`", path.display()).into())
}

pub(crate) fn run(workspace: &Workspace) -> Verdict {
    header(workspace, &HeaderOptions { write: false })?;
    let (package, target) = (workspace.root.join("crates/capi"), workspace.target.join("capi"));
    let mut build = cargo(&workspace.root, "build --quiet --release --manifest-path crates/capi/Cargo.toml");
    must_run(build.env("CARGO_TARGET_DIR", &target))?;
    let programs = Programs { libraries: target.join("release"), folder: target.join("programs"), package };
    fs::create_dir_all(&programs.folder)?;
    for (source, compiler) in
        [("tests/battery.c", "cc"), ("examples/count.c", "cc"), ("examples/values.cpp", "c++")]
    {
        for form in [Form::Shared, Form::Static, Form::Sanitized] {
            let program = programs.compile(source, compiler, form)?;
            must_run(&mut programs.command(&program, form))?;
        }
    }
    let battery = programs.compile("tests/battery.c", "cc", Form::Shared)?;
    if works(Command::new("valgrind").arg("--version")) {
        let mut command = Command::new("valgrind");
        command.args([
            "--quiet",
            "--error-exitcode=1",
            "--leak-check=full",
            "--errors-for-leak-kinds=definite",
        ]);
        must_run(programs.with_library(command.arg(battery)))?;
    } else {
        println!("NOT RUN: valgrind is not installed");
    }
    let mut python = Command::new("python3");
    must_run(python.arg(programs.package.join("examples/sample.py")).arg(programs.shared()))?;
    Ok(true)
}

/// How a program is linked.
#[derive(Clone, Copy)]
enum Form {
    Shared,
    Static,
    /// Statically, with `AddressSanitizer` in the program and for every allocation.
    Sanitized,
}

/// The programs that use the library.
struct Programs {
    package: PathBuf,
    libraries: PathBuf,
    folder: PathBuf,
}

impl Programs {
    fn shared(&self) -> PathBuf {
        self.libraries.join("libtrommel.so")
    }

    fn compile(&self, source: &str, compiler: &str, form: Form) -> Result<PathBuf, Box<dyn Error>> {
        let program = self.folder.join(source.replace(['/', '.'], "_"));
        let mut command = Command::new(compiler);
        command.args(["-Wall", "-Wextra", "-Werror", "-g", "-I"]).arg(self.package.join("include"));
        command.arg(self.package.join(source)).arg("-o").arg(&program);
        match form {
            Form::Shared => command.arg(self.shared()),
            Form::Static => command.arg(self.libraries.join("libtrommel.a")).args(SYSTEM),
            Form::Sanitized => {
                command.arg("-fsanitize=address").arg(self.libraries.join("libtrommel.a")).args(SYSTEM)
            }
        };
        must_run(&mut command)?;
        Ok(program)
    }

    fn command(&self, program: &Path, form: Form) -> Command {
        let mut command = Command::new(program);
        if matches!(form, Form::Shared) {
            self.with_library(&mut command);
        }
        command
    }

    fn with_library<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("LD_LIBRARY_PATH", &self.libraries)
    }
}
