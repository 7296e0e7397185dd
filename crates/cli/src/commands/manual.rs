//! `trommel help`, `trommel completions`, and `trommel man`.

use std::fs;
use std::path::Path;

use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::args::command;
use crate::errors::{Failure, usage};
use crate::output::{Screen, print};

/// The topics of `trommel help`, and their texts.
const TOPICS: [(&str, &str); 4] = [
    ("input", include_str!("../topics/input.txt")),
    ("queries", include_str!("../topics/queries.txt")),
    ("output", include_str!("../topics/output.txt")),
    ("limits", include_str!("../topics/limits.txt")),
];

/// Prints a topic, or the long help of the program, a command, or an operation of a command.
pub(crate) fn help(of: &[String], screen: &Screen) -> Result<(), Failure> {
    if let [name] = of
        && let Some((_, text)) = TOPICS.iter().find(|(topic, _)| topic == name)
    {
        return Ok(print(text)?);
    }
    find("help", of)?;
    let args = ["trommel"].into_iter().chain(of.iter().map(String::as_str)).chain(["--help"]);
    match command().try_get_matches_from(args) {
        Err(help) => usage::report(help, screen.out),
        Ok(_) => Ok(()),
    }
}

pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "trommel", &mut script);
    Ok(print(&String::from_utf8_lossy(&script))?)
}

/// Prints the manual page of a command.
pub(crate) fn man(of: &[String]) -> Result<(), Failure> {
    Ok(print(&page(&find("man", of)?)?)?)
}

/// Writes the manual pages of all commands and operations to a folder.
pub(crate) fn all_pages(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder)?;
    let mut program = command();
    program.build();
    let mut commands = vec![&program];
    while let Some(command) = commands.pop() {
        fs::write(folder.join(Man::new(command.clone()).get_filename()), page(command)?)?;
        commands.extend(command.get_subcommands());
    }
    Ok(())
}

/// Formats a manual page. The text after the options is a section for each of its paragraphs that
/// has a heading.
fn page(command: &clap::Command) -> Result<String, Failure> {
    let mut page = Vec::new();
    let man = Man::new(command.clone()).manual("User Commands");
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    synopsis(command).to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(after) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        after_options(&after.to_string()).to_writer(&mut page)?;
    }
    if command.get_version().is_some() {
        man.render_version_section(&mut page)?;
    }
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// The usage as in the help, with the values of arguments.
fn synopsis(command: &clap::Command) -> Roff {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    for (number, line) in usage.lines().map(str::trim).enumerate() {
        if number > 0 {
            roff.control("br", []);
        }
        match line.strip_prefix(name) {
            Some(rest) => roff.text([bold(name), roman(rest)]),
            None => roff.text([roman(line)]),
        };
    }
    roff
}

/// Formats the text after the options: examples, exit statuses, and notes.
fn after_options(text: &str) -> Roff {
    let mut roff = Roff::new();
    for (number, paragraph) in text.split("\n\n").enumerate() {
        let (heading, body) = match paragraph.split_once(':') {
            Some(("Examples", body)) => (Some("EXAMPLES"), body),
            Some(("Exit status", body)) => (Some("EXIT STATUS"), body),
            _ => ((number == 0).then_some("NOTES"), paragraph),
        };
        match heading {
            Some(heading) => roff.control("SH", [heading]),
            None => roff.control("PP", []),
        };
        let is_verbatim = heading == Some("EXAMPLES");
        if is_verbatim {
            roff.control("nf", []);
        }
        for line in body.lines().map(str::trim).filter(|line| !line.is_empty()) {
            roff.text([roman(line)]);
        }
        if is_verbatim {
            roff.control("fi", []);
        }
    }
    roff
}

/// Returns the command at a path of names. Errors refer to the help of the command `asked`.
fn find(asked: &'static str, path: &[String]) -> Result<clap::Command, Failure> {
    let mut program = command();
    program.build();
    path.iter().try_fold(program, |command, name| {
        let topics = TOPICS.map(|(topic, _)| topic).join(", ");
        let help = if asked == "help" { format!("; topics are {topics}") } else { String::new() };
        let unknown = || Failure::Usage { command: asked, message: format!("unknown command {name}{help}") };
        command.find_subcommand(name).cloned().ok_or_else(unknown)
    })
}
