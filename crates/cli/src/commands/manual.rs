//! `trommel completions` and `trommel man`.

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::Cli;
use crate::errors::Failure;
use crate::output::print;

pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "trommel", &mut script);
    Ok(print(&String::from_utf8_lossy(&script))?)
}

pub(crate) fn man(of: Option<&str>) -> Result<(), Failure> {
    let mut program = Cli::command();
    program.build();
    let command = match of {
        None => program,
        Some(name) => {
            let command = program.find_subcommand(name).cloned();
            let unknown =
                || Failure::Usage { command: "man", message: format!("there is no command {name}") };
            command.ok_or_else(unknown)?
        }
    };
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(print(&String::from_utf8_lossy(&page))?)
}
