//! `trommel mcp`: serves the tools over the Model Context Protocol.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use trommel_mcp::{Endpoint, Host, HttpOptions, ProxyOptions, ServerConfig, Service, Stop, Trust};
use trommel_route::Scope;
use trommel_tool::Permissions;

use crate::args::{McpArgs, ServeArgs, Wrapping};
use crate::errors::Failure;
use crate::output::{Notes, Screen};
use crate::progress::Progress;
use crate::toolbox::{Toolbox, Workspace};
use crate::{signals, stdio};

/// The fewest characters of a token that cannot be guessed.
const MIN_TOKEN: usize = 16;

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
    let mut service = Service::new(host(args, screen)?);
    service.proxy = proxy(&args.wrapping, args.timeout)?;
    service.eager = args.eager;
    if let Some(address) = args.http {
        serve_http(args, address, service, &stop)?;
    } else {
        serve_stdio(service, &stop)?;
    }
    match signal.load(Ordering::Relaxed) {
        0 => Ok(()),
        number => Err(Failure::Signal(number)),
    }
}

fn serve_stdio(service: Service, stop: &Stop) -> Result<(), Failure> {
    stdio::check_stdin()?;
    Ok(trommel_mcp::serve(service, io::BufReader::new(io::stdin()), io::stdout(), stop)?)
}

/// Listens at an address. Other machines need a token.
fn serve_http(args: &ServeArgs, address: SocketAddr, service: Service, stop: &Stop) -> Result<(), Failure> {
    let usage = |message: String| Failure::Usage { command: "mcp", message };
    let mut options = HttpOptions::default();
    (options.hosts, options.origins) = (args.allow_host.clone(), args.allow_origin.clone());
    if let Some(file) = &args.token_file {
        let token = std::fs::read_to_string(file).map_err(|error| usage(format!("cannot read {}: {error}", file.display())))?;
        let token = token.trim().to_owned();
        if token.len() < MIN_TOKEN {
            return Err(usage(format!("the token in {} is shorter than {MIN_TOKEN} characters", file.display())));
        }
        options.token = Some(token);
    } else if !address.ip().is_loopback() {
        return Err(usage(format!("{address} can be reached from other machines: require a token with --token-file FILE")));
    }
    let endpoint = Endpoint::bind(address).map_err(|error| usage(format!("cannot listen at {address}: {error}")))?;
    Notes::new("", Arc::new(Progress::hidden())).note(&format!("listening at {}", endpoint.url()));
    Ok(endpoint.serve(service, &options, stop)?)
}

/// Opens the tools. They only read, unless writes are allowed.
fn host(args: &ServeArgs, screen: &Screen) -> Result<Host, Failure> {
    let root = args.allow_writes.as_deref().unwrap_or(Path::new("."));
    let workspace = Workspace { session: "default", root, usual: Scope::Session };
    let Toolbox { store, registry, .. } = Toolbox::open_in(&workspace, screen)?;
    let permissions = if args.allow_writes.is_some() { Permissions::ALL } else { Permissions::NONE };
    Ok(Host { registry, store, working_dir: std::env::current_dir()?, timeout: args.timeout, permissions })
}

/// The file of approved tools, in the folder of all state.
const TRUST_FILE: &str = "mcp/trust.json";

/// Reads the configuration of the wrapped servers. `None` if there are none.
fn proxy(args: &Wrapping, timeout: Duration) -> Result<Option<ProxyOptions>, Failure> {
    let usage = |error: trommel_mcp::ConfigError| Failure::Usage { command: "mcp", message: error.to_string() };
    let mut servers = Vec::new();
    for text in &args.wrap {
        servers.push(ServerConfig::parse(text).map_err(usage)?);
    }
    for file in &args.config {
        servers.extend(ServerConfig::read(file).map_err(usage)?);
    }
    if servers.is_empty() {
        return Ok(None);
    }
    ServerConfig::check_distinct(&servers).map_err(usage)?;
    Ok(Some(ProxyOptions {
        servers,
        trust: Trust::new(crate::home::folder()?.join(TRUST_FILE)),
        timeout,
        total_timeout: args.timeout_total,
        max_result: args.max_result,
        max_chars: args.max_chars,
        only: args.only.clone(),
        except: args.except.clone(),
    }))
}
