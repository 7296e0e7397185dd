//! The arguments and the path of the program, which differ from those of the process if another
//! program embeds this one.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The call of the program.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The arguments, the first of which is the name of the program.
    pub arguments: Vec<OsString>,
    /// The file that starts the program, if it is known: `trommel mcp install` writes it into the
    /// configuration of clients.
    pub program: Option<PathBuf>,
}

static INVOCATION: OnceLock<Invocation> = OnceLock::new();

impl Invocation {
    /// The call of this process.
    pub fn of_process() -> Self {
        Self { arguments: env::args_os().collect(), program: env::current_exe().ok() }
    }
}

/// Sets the call. Returns the first one if there were several.
pub(crate) fn set(invocation: Invocation) -> &'static Invocation {
    INVOCATION.get_or_init(|| invocation)
}

/// The call of the program.
pub(crate) fn get() -> &'static Invocation {
    INVOCATION.get_or_init(Invocation::of_process)
}
