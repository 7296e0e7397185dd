//! Options given to a command that does not take them.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Options that some commands take, and the tip that names these.
const TAKEN: &[(&str, &str)] = &[("--where", "extract, count, sample, stats, and schema take --where")];

/// Adds to the error about an unknown option the commands that take it.
pub(crate) fn with_commands(mut error: clap::Error) -> clap::Error {
    let unknown = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let taken = TAKEN.iter().find(|(option, _)| unknown.as_deref() == Some(*option));
    if error.kind() == ErrorKind::UnknownArgument
        && let Some((_, tip)) = taken
    {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*tip).into()]));
    }
    error
}
