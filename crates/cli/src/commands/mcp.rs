//! `trommel mcp`: serves the tools over the Model Context Protocol.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use trommel_mcp::{
    Change, Client, Endpoint, Host, HttpOptions, InstallError, Installer, ProxyOptions, ServerConfig,
    ServerReport, Service, Stop, Trust, UnknownClient,
};
use trommel_route::{Destinations, Scope};
use trommel_tool::Permissions;

use crate::args::{MAX_CHARS, McpArgs, McpOperation, ServeArgs, Wrapping};
use crate::errors::Failure;
use crate::output::{self, Notes, Screen, escape};
use crate::progress::Progress;
use crate::toolbox::{Toolbox, Workspace};
use crate::{signals, stdio};

/// The fewest characters of a token that cannot be guessed.
const MIN_TOKEN: usize = 16;

pub(crate) fn run(args: &McpArgs, screen: &Screen) -> Result<(), Failure> {
    match &args.operation {
        None => serve(&args.serve, screen),
        Some(McpOperation::Approve { server, tool, wrapping }) => {
            approve(server.as_deref(), tool.as_deref(), wrapping)
        }
        Some(McpOperation::Install { client, wrap_existing, apply }) => {
            let (installer, client) = installer(client)?;
            change(&installer.install(client, *wrap_existing).map_err(refused)?, *apply)
        }
        Some(McpOperation::Uninstall { client, apply }) => {
            let (installer, client) = installer(client)?;
            change(&installer.uninstall(client).map_err(refused)?, *apply)
        }
        Some(McpOperation::Doctor { wrapping, json }) => doctor(wrapping, *json, screen),
    }
}

/// How long a call of a command may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The servers of a command that needs some.
fn servers(wrapping: &Wrapping) -> Result<ProxyOptions, Failure> {
    let none = || Failure::Usage {
        command: "mcp",
        message: "no server is wrapped: name one with --wrap NAME=COMMAND or --config FILE".to_owned(),
    };
    proxy_options("mcp", wrapping, PATIENCE, MAX_CHARS)?.ok_or_else(none)
}

fn approve(server: Option<&str>, tool: Option<&str>, wrapping: &Wrapping) -> Result<(), Failure> {
    signals::install(Arc::new(Progress::hidden()))?;
    let options = servers(wrapping)?;
    if let Some(server) = server
        && !options.servers.iter().any(|one| one.name() == server)
    {
        let message = format!("no wrapped server is named {server}");
        return Err(Failure::Usage { command: "mcp", message });
    }
    let approved = trommel_mcp::approve(options, &crate::home::store()?, server, tool)?;
    let lines = approved.iter().filter_map(|(server, result)| {
        let approved = result.as_ref().ok().map(|count| tools(*count));
        approved.map(|tools| format!("{server}: approved {tools}\n"))
    });
    output::print(&lines.collect::<Vec<_>>().concat())?;
    let failures = approved.iter().filter_map(|(_, result)| result.as_ref().err());
    let failures = failures.map(|why| format!("error: {}\n", escape::text(why)));
    let failures = failures.collect::<Vec<_>>().concat();
    if failures.is_empty() { Ok(()) } else { Err(Failure::Tool { text: failures, is_request: false }) }
}

/// The installer for a client of this user.
fn installer(client: &str) -> Result<(Installer, Client), Failure> {
    let usage = |message: String| Failure::Usage { command: "mcp", message };
    let client = client.parse().map_err(|error: UnknownClient| usage(error.to_string()))?;
    let home = etcetera::home_dir().map_err(|error| usage(error.to_string()))?;
    let program = crate::invocation::get().program.clone();
    let program = program.ok_or_else(|| io::Error::other("the path of this program is not known"))?;
    let backups = crate::home::folder()?.join(BACKUPS_FOLDER);
    Ok((Installer { home, program, args: Vec::new(), backups }, client))
}

#[expect(clippy::needless_pass_by_value, reason = "an argument of map_err")]
fn refused(error: InstallError) -> Failure {
    Failure::Tool { text: format!("error: {}\n", escape::text(&error.to_string())), is_request: false }
}

/// Prints a change, or makes it.
fn change(change: &Change, apply: bool) -> Result<(), Failure> {
    if change.is_empty() {
        return Ok(output::print("nothing to do\n")?);
    }
    output::print(&change.describe())?;
    if apply {
        return change.apply().map_err(refused);
    }
    Notes::new("", Arc::new(Progress::hidden())).note("nothing was written: pass --apply to write it");
    Ok(())
}

fn doctor(wrapping: &Wrapping, json: bool, screen: &Screen) -> Result<(), Failure> {
    signals::install(Arc::new(Progress::hidden()))?;
    let reports = trommel_mcp::inspect(servers(wrapping)?, &crate::home::store()?)?;
    let is_healthy = reports
        .iter()
        .all(|report| report.error.is_none() && report.call.as_ref().is_none_or(|call| call.error.is_none()));
    if json || !screen.out.is_terminal {
        let document = serde_json::to_string(&reports).map_err(io::Error::other)?;
        output::print_json(&document, true, screen.out)?;
    } else {
        output::print(&reports.iter().map(described).collect::<Vec<_>>().join("\n"))?;
    }
    if is_healthy { Ok(()) } else { Err(Failure::AlreadyReported) }
}

fn tools(count: usize) -> String {
    if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") }
}

/// Describes the state of a server for a person.
fn described(report: &ServerReport) -> String {
    let mut lines = vec![match (&report.error, &report.version, report.started_ms) {
        (Some(why), ..) => format!("{}: error: {}", report.server, escape::text(why)),
        (None, version, ms) => format!(
            "{}: {} in {} ms, revision {}",
            report.server,
            tools(report.tools.len()),
            ms.unwrap_or(0),
            version.as_deref().unwrap_or("unknown")
        ),
    }];
    lines.extend(report.withheld.iter().map(|one| {
        let why = if one.is_new { "new" } else { "changed" };
        format!("  withheld: {} ({why}): run trommel mcp approve", escape::text(&one.tool))
    }));
    lines.push(match &report.call {
        None => "  no call: no tool declares that it reads and needs no arguments".to_owned(),
        Some(call) => match &call.error {
            None => format!("  {}: answered in {} ms", escape::text(&call.tool), call.ms),
            Some(why) => format!("  {}: error: {}", escape::text(&call.tool), escape::text(why)),
        },
    });
    lines.extend(report.log.iter().map(|line| format!("  log: {}", escape::text(line))));
    lines.join("\n") + "\n"
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
    let proxy = proxy_options("mcp", &args.wrapping, args.timeout, args.max_chars)?;
    service.proxy = proxy.map(|options| ProxyOptions { task_after: args.task_after, ..options });
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
        let token = std::fs::read_to_string(file)
            .map_err(|error| usage(format!("cannot read {}: {error}", file.display())))?;
        let token = token.trim().to_owned();
        if token.len() < MIN_TOKEN {
            return Err(usage(format!(
                "the token in {} is shorter than {MIN_TOKEN} characters",
                file.display()
            )));
        }
        options.token = Some(token);
    } else if !address.ip().is_loopback() {
        return Err(usage(format!(
            "{address} can be reached from other machines: require a token with --token-file FILE"
        )));
    }
    let endpoint =
        Endpoint::bind(address).map_err(|error| usage(format!("cannot listen at {address}: {error}")))?;
    Notes::new("", Arc::new(Progress::hidden())).note(&format!("listening at {}", endpoint.url()));
    Ok(endpoint.serve(service, &options, stop)?)
}

/// Opens the tools. They only read, unless writes are allowed.
fn host(args: &ServeArgs, screen: &Screen) -> Result<Host, Failure> {
    let root = args.allow_writes.as_deref().unwrap_or(Path::new("."));
    let workspace = Workspace { session: "default", root, usual: Scope::Session };
    let Toolbox { store, registry, destinations, .. } = Toolbox::open_in(&workspace, screen)?;
    let permissions = if args.allow_writes.is_some() { Permissions::ALL } else { Permissions::NONE };
    // Without the permission, results can go to variables, but not to files.
    let destinations = match args.allow_writes {
        Some(_) => destinations,
        None => Destinations::new(Arc::clone(destinations.buffers())),
    };
    Ok(Host {
        registry,
        store,
        working_dir: std::env::current_dir()?,
        timeout: args.timeout,
        permissions,
        destinations: Some(destinations),
    })
}

/// The folder of backups of clients' files, in the folder of all state.
const BACKUPS_FOLDER: &str = "mcp/clients";

/// The file of approved tools, in the folder of all state.
const TRUST_FILE: &str = "mcp/trust.json";

/// Reads the configuration of the wrapped servers. `None` if there are none.
pub(crate) fn proxy_options(
    command: &'static str,
    args: &Wrapping,
    timeout: Duration,
    max_chars: usize,
) -> Result<Option<ProxyOptions>, Failure> {
    let usage = |error: trommel_mcp::ConfigError| Failure::Usage { command, message: error.to_string() };
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
        max_chars,
        task_after: Duration::MAX,
        only: args.only.clone(),
        except: args.except.clone(),
    }))
}
