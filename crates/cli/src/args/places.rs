//! Where programs keep their sessions: an option for each format whose program has such a place.

use std::env;
use std::ffi::{OsStr, OsString};

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use trommel_session::{Format, Home};

/// The folders that options or the environment name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(Vec<(Format, OsString)>);

impl Places {
    /// The folders that the environment names.
    pub(crate) fn of_environment() -> Self {
        Self(homes().filter_map(|(format, home)| Some((format, env::var_os(home.variable)?))).collect())
    }

    /// The folder for a format. An empty one names none.
    pub(crate) fn get(&self, format: Format) -> Option<&OsStr> {
        let (_, folder) = self.0.iter().find(|(other, _)| *other == format)?;
        Some(folder.as_os_str()).filter(|folder| !folder.is_empty())
    }

    /// The same with another folder for a format, if there is one.
    #[cfg(feature = "cloud")]
    pub(crate) fn with(&self, format: Format, folder: Option<OsString>) -> Self {
        let others = self.0.iter().filter(|(other, _)| *other != format).cloned();
        Self(others.chain(folder.map(|folder| (format, folder))).collect())
    }
}

/// The formats whose programs have a place for sessions.
pub(crate) fn homes() -> impl Iterator<Item = (Format, Home)> {
    Format::ALL.iter().filter_map(|format| Some((*format, format.home()?)))
}

impl Args for Places {
    fn augment_args(command: Command) -> Command {
        command.args(homes().map(|(format, home)| {
            Arg::new(home.option)
                .long(home.option)
                .value_name("DIR")
                .env(home.variable)
                .hide_env_values(true)
                .value_parser(value_parser!(OsString))
                .help_heading("Places")
                .help(format!("Where {} keeps its sessions [default: ~/{}]", format.name(), home.folder))
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Places {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |(format, home): (Format, Home)| {
            Some((format, matches.get_one::<OsString>(home.option)?.clone()))
        };
        Ok(Self(homes().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
