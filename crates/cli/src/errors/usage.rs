//! Prints the results of the argument parser: help, the version, and usage errors.

use std::env;
use std::io::Write;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Failure;
use crate::invocation;
use crate::output::{self, Stream, escape};

/// The options that only some commands accept, each with a tip that lists these commands.
const RESTRICTED: &[(&str, &str)] = &[
    ("--where", "extract, count, group, sample, stats, and schema take --where"),
    ("--each", "extract, count, group, sample, stats, and schema take --each"),
    ("-o", TO_A_FILE),
    ("--output", TO_A_FILE),
    ("--by-file", "count, group, stats, and schema take --by-file"),
    ("-H", "extract and sample take -H"),
    ("--with-filename", "extract and sample take --with-filename"),
];

const TO_A_FILE: &str = "extract and sample take --output FORM; to write to a file, add > FILE";

/// Prints help or the version to standard output, or a usage error to standard error. For a usage
/// error, also returns a failure with the exit status.
pub(crate) fn report(mut error: clap::Error, out: Stream) -> Result<(), Failure> {
    if !error.use_stderr() {
        let text = error.render();
        let text = if out.is_colored { text.ansi().to_string() } else { text.to_string() };
        return Ok(output::print(&text)?);
    }
    drop_misleading_tips(&mut error);
    add_commands_tip(&mut error);
    add_redirection_tip(&mut error);
    let text = error.render();
    // The message may quote an argument or the value of an environment variable. If one of them
    // contains unsafe characters, the whole message is escaped, and loses its colors.
    let variables = env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TROMMEL_"));
    let arguments = invocation::get().arguments.iter().cloned();
    let mut quotable = arguments.chain(variables.map(|(_, value)| value));
    let has_unsafe_text = quotable.any(|text| escape::is_needed(&text.to_string_lossy()));
    let _ = if has_unsafe_text {
        write!(anstream::stderr(), "{}", escape::lines(&text.to_string()))
    } else {
        write!(anstream::stderr(), "{}", text.ansi())
    };
    Err(Failure::ParserReported { status: u8::try_from(error.exit_code()).unwrap_or(2) })
}

/// Removes clap's tip to pass an unknown option after `--`: there, it would be taken for a query or
/// a file name.
fn drop_misleading_tips(error: &mut clap::Error) {
    let Some(ContextValue::StyledStrs(mut tips)) = error.remove(ContextKind::Suggested) else { return };
    tips.retain(|tip: &StyledStr| !tip.to_string().starts_with("to pass '"));
    if !tips.is_empty() {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}

/// Adds a tip to the error about an unknown option: the commands that accept this option.
fn add_commands_tip(error: &mut clap::Error) {
    let unknown = error.get(ContextKind::InvalidArg).map(ToString::to_string);
    let restricted = RESTRICTED.iter().find(|(option, _)| unknown.as_deref() == Some(*option));
    if error.kind() == ErrorKind::UnknownArgument
        && let Some((_, tip)) = restricted
    {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*tip).into()]));
    }
}

/// Adds a tip to the error about an unknown form of output that looks like the name of a file.
fn add_redirection_tip(error: &mut clap::Error) {
    let is_output =
        error.get(ContextKind::InvalidArg).is_some_and(|arg| arg.to_string().starts_with("--output"));
    let value = match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) if is_output && value.contains(['.', '/', '\\']) => value,
        _ => return,
    };
    let tip = format!("-o takes a form; to write to a file, add > {value}");
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
}
