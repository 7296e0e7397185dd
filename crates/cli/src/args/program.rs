//! The whole program for the argument parser: its commands in groups, and options about the
//! terminal, which every command accepts.

use std::fmt::Write as _;

use clap::builder::Styles;
use clap::builder::styling::AnsiColor;
use clap::{Args, CommandFactory, ValueEnum};

use super::Cli;

pub(super) const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default().dimmed());

/// The names of the commands that a program may not have.
#[cfg(feature = "mcp")]
const MCP: &str = "mcp";
#[cfg(not(feature = "mcp"))]
const MCP: &str = "";
#[cfg(feature = "explore")]
const EXPLORE: &str = "explore";
#[cfg(not(feature = "explore"))]
const EXPLORE: &str = "";

/// The commands in the order and the groups of the help.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Query",
        &[
            "extract", "count", "group", "sample", "stats", "du", "report", "schema", "check", "guide",
            EXPLORE, "read", "search",
        ],
    ),
    ("Outputs", &["put", "list", "rm", "pin", "gc", "verify", "rebuild"]),
    ("Agents", &["tools", "call", "history", "run", MCP, "buffers", "sessions"]),
    ("Shell", &["help", "completions", "man"]),
];

/// Options about the terminal.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Appearance {
    /// Color the output
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(long_help = "Color the output\n\nWith auto, the output is colored on a terminal. The \
                       variables NO_COLOR and CLICOLOR_FORCE change that.")]
    #[arg(help_heading = "Terminal", hide_short_help = true)]
    pub(crate) color: When,

    /// Show progress on standard error
    ///
    /// With auto, progress appears after half a second if standard error is a terminal and standard
    /// output is not a pipe, which may lead to a pager. With always, it also appears next to a
    /// pipe, and as one line per second if standard error is not a terminal.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    #[arg(help_heading = "Terminal", hide_short_help = true)]
    pub(crate) progress: When,

    /// Omit notes and progress
    ///
    /// Warnings and errors remain. --progress always brings progress back.
    #[arg(short, long, global = true, help_heading = "Terminal", hide_short_help = true)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    Auto,
    Always,
    Never,
}

/// Returns the program with its commands in groups.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let (header, literal) = (STYLES.get_header(), STYLES.get_literal());
    let width = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or(0);
    let mut groups = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(groups, "{header}{group}:{header:#}");
        for name in names.iter().filter(|name| !name.is_empty()) {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(groups, "  {literal}{name}{literal:#}{:1$}  {about}", "", width - name.len());
        }
        groups.push('\n');
    }
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| *names).copied().filter(|name| !name.is_empty()).collect();
        let command = Cli::command();
        let mut names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        grouped.sort_unstable();
        names.sort_unstable();
        assert_eq!(grouped, names);
    }
}
