//! The folders where programs keep their sessions. Each format whose program has such a folder has
//! an option.

use std::env;
use std::ffi::{OsStr, OsString};

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use trommel_session::{Format, Home};

/// The session folders that options or environment variables set.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionFolders(Vec<(Format, OsString)>);

impl SessionFolders {
    /// Reads the folders from the environment.
    pub(crate) fn from_environment() -> Self {
        Self(homes().filter_map(|(format, home)| Some((format, env::var_os(home.variable)?))).collect())
    }

    /// Returns the folder for a format. An empty value counts as unset.
    pub(crate) fn get(&self, format: Format) -> Option<&OsStr> {
        let (_, folder) = self.0.iter().find(|(other, _)| *other == format)?;
        Some(folder.as_os_str()).filter(|folder| !folder.is_empty())
    }

    /// Returns a copy with another folder for a format, or without one.
    #[cfg(feature = "cloud")]
    pub(crate) fn with(&self, format: Format, folder: Option<OsString>) -> Self {
        let others = self.0.iter().filter(|(other, _)| *other != format).cloned();
        Self(others.chain(folder.map(|folder| (format, folder))).collect())
    }
}

/// The formats whose programs keep their sessions in a known folder.
pub(crate) fn homes() -> impl Iterator<Item = (Format, Home)> {
    Format::ALL.iter().filter_map(|format| Some((*format, format.home()?)))
}

impl Args for SessionFolders {
    fn augment_args(command: Command) -> Command {
        command.args(homes().map(|(format, home)| {
            Arg::new(home.option)
                .long(home.option)
                .value_name("DIR")
                .env(home.variable)
                .hide_env_values(true)
                .value_parser(value_parser!(OsString))
                .help_heading("Session folders")
                .help(format!("Read {} sessions from DIR [default: ~/{}]", format.name(), home.folder))
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SessionFolders {
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
