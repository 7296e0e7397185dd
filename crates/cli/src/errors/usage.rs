//! Help, the version, and arguments that the parser refuses.

use std::env;
use std::io::Write;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Failure;
use crate::output::{self, Stream, escape};

/// Options that some commands take, and the tip that names these.
const TAKEN: &[(&str, &str)] = &[("--where", "extract, count, sample, stats, and schema take --where")];

/// Prints help or the version to standard output, or a usage error to standard error.
pub(crate) fn report(mut error: clap::Error, out: Stream) -> Result<(), Failure> {
    if !error.use_stderr() {
        let text = error.render();
        let text = if out.is_colored { text.ansi().to_string() } else { text.to_string() };
        return Ok(output::print(&text)?);
    }
    drop_misleading_tips(&mut error);
    name_commands(&mut error);
    let text = error.render();
    // Arguments and variables are part of the message. What could act on a terminal is escaped, and
    // styles with it.
    let variables = env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TROMMEL_"));
    let mut given = env::args_os().chain(variables.map(|(_, value)| value));
    let hostile = given.any(|text| escape::is_needed(&text.to_string_lossy()));
    let _ = if hostile {
        write!(anstream::stderr(), "{}", escape::lines(&text.to_string()))
    } else {
        write!(anstream::stderr(), "{}", text.ansi())
    };
    Err(Failure::Reported { status: u8::try_from(error.exit_code()).unwrap_or(2) })
}

/// Removes the advice to write an unknown option after `--`, where it would be a query or a file.
fn drop_misleading_tips(error: &mut clap::Error) {
    let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) else { return };
    tips.retain(|tip: &StyledStr| !tip.to_string().starts_with("to pass '"));
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}

/// Adds to the error about an unknown option the commands that take it.
fn name_commands(error: &mut clap::Error) {
    let unknown = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let taken = TAKEN.iter().find(|(option, _)| unknown.as_deref() == Some(*option));
    if error.kind() == ErrorKind::UnknownArgument
        && let Some((_, tip)) = taken
    {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*tip).into()]));
    }
}
