//! `trommel help`, `trommel completions`, and `trommel man`.

use clap::{CommandFactory, Parser};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::Cli;
use crate::errors::{Failure, usage};
use crate::output::{Screen, print};

/// Prints the long help of the program, a command, or an operation of a command.
pub(crate) fn help(of: &[String], screen: &Screen) -> Result<(), Failure> {
    find("help", of)?;
    let args = ["trommel"].into_iter().chain(of.iter().map(String::as_str)).chain(["--help"]);
    match Cli::try_parse_from(args) {
        Err(help) => usage::report(help, screen.out),
        Ok(_) => Ok(()),
    }
}

pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "trommel", &mut script);
    Ok(print(&String::from_utf8_lossy(&script))?)
}

pub(crate) fn man(of: Option<&str>) -> Result<(), Failure> {
    let mut page = Vec::new();
    Man::new(find("man", of.as_slice())?).render(&mut page)?;
    Ok(print(&String::from_utf8_lossy(&page))?)
}

/// Returns the command at a path of names. Errors refer to the help of the command `asked`.
fn find(asked: &'static str, path: &[impl AsRef<str>]) -> Result<clap::Command, Failure> {
    let mut program = Cli::command();
    program.build();
    path.iter().map(AsRef::as_ref).try_fold(program, |command, name| {
        let unknown = || Failure::Usage { command: asked, message: format!("unknown command {name}") };
        command.find_subcommand(name).cloned().ok_or_else(unknown)
    })
}
