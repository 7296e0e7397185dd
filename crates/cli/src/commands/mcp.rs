//! `trommel mcp`: serves the tools over the Model Context Protocol.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use trommel_mcp::{Host, Server, Stop};
use trommel_route::Scope;
use trommel_tool::Permissions;

use crate::args::{McpArgs, ServeArgs};
use crate::errors::Failure;
use crate::output::Screen;
use crate::progress::Progress;
use crate::toolbox::{Toolbox, Workspace};
use crate::{signals, stdio};

pub(crate) fn run(args: &McpArgs, screen: &Screen) -> Result<(), Failure> {
    serve(&args.serve, screen)
}

fn serve(args: &ServeArgs, screen: &Screen) -> Result<(), Failure> {
    let stop = Stop::new();
    let signal = Arc::new(AtomicI32::new(0));
    let (handler, stopping) = (Arc::clone(&signal), stop.clone());
    signals::on_signal(Arc::new(Progress::hidden()), move |number| {
        handler.store(number, Ordering::Relaxed);
        stopping.stop();
        signals::exit_after_grace(number);
        true
    })?;
    let server = Server::new(host(args, screen)?).map_err(io::Error::other)?;
    stdio::check_stdin()?;
    trommel_mcp::serve(&server, io::BufReader::new(io::stdin()), io::stdout(), &stop)?;
    match signal.load(Ordering::Relaxed) {
        0 => Ok(()),
        number => Err(Failure::Signal(number)),
    }
}

/// Opens the tools. They only read, unless writes are allowed.
fn host(args: &ServeArgs, screen: &Screen) -> Result<Host, Failure> {
    let root = args.allow_writes.as_deref().unwrap_or(Path::new("."));
    let workspace = Workspace { session: "default", root, usual: Scope::Session };
    let Toolbox { store, registry, .. } = Toolbox::open_in(&workspace, screen)?;
    let permissions = if args.allow_writes.is_some() { Permissions::ALL } else { Permissions::NONE };
    Ok(Host { registry, store, working_dir: std::env::current_dir()?, timeout: args.timeout, permissions })
}
