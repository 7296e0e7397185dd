//! Reports about wrapped servers, and the approval of their tools, for commands.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use trommel_store::Store;

use crate::proxy::{Proxy, ProxyOptions, Wrapped};
use crate::runtime::runtime;
use crate::upstream::{Outgoing, Withheld};

/// The state of one wrapped server.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ServerReport {
    /// Its name.
    pub server: String,
    /// The revision of the protocol that it speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The time from its start to its list of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    /// The tools that are offered.
    pub tools: Vec<String>,
    /// The tools that wait for approval.
    pub withheld: Vec<Withheld>,
    /// The outcome of a call of one tool that reads and needs no arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallReport>,
    /// The reason why it cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The newest lines of its log.
    pub log: Vec<String>,
}

/// The outcome of a call.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CallReport {
    /// The tool.
    pub tool: String,
    /// The time that it took.
    pub ms: u64,
    /// The reason why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The lines of a log that a report has.
const LOG_LINES: usize = 10;

/// Starts all servers, lists their tools, and calls one tool of each.
///
/// # Errors
/// Returns an error if the runtime cannot start. A server that fails is reported.
pub fn inspect(options: ProxyOptions, store: &Arc<Store>) -> io::Result<Vec<ServerReport>> {
    with_proxy(options, store, async |proxy| {
        let mut reports = Vec::new();
        for server in proxy.servers() {
            reports.push(inspect_server(&proxy, server).await);
        }
        reports
    })
}

/// Approves the tools of servers as they are now: of all servers or one, all tools or one. Returns
/// the number of tools by server.
///
/// # Errors
/// Returns an error if the runtime cannot start. A server that fails is reported with its reason.
pub fn approve(
    options: ProxyOptions,
    store: &Arc<Store>,
    server: Option<&str>,
    tool: Option<&str>,
) -> io::Result<Vec<(String, Result<usize, String>)>> {
    with_proxy(options, store, async |proxy| {
        let mut approved = Vec::new();
        for wrapped in proxy.servers() {
            let name = wrapped.upstream.config.name();
            if server.is_none_or(|server| server == name) {
                approved.push((name.to_owned(), proxy.approve(wrapped, tool).await));
            }
        }
        approved
    })
}

/// Runs work with the servers, and ends them.
fn with_proxy<T>(
    options: ProxyOptions,
    store: &Arc<Store>,
    work: impl AsyncFnOnce(Arc<Proxy>) -> T,
) -> io::Result<T> {
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        let (proxy, _changes) = Proxy::new(options, Vec::new(), store, None);
        let done = work(Arc::clone(&proxy)).await;
        proxy.stop().await;
        done
    });
    runtime.shutdown_timeout(Duration::from_millis(500));
    Ok(done)
}

async fn inspect_server(proxy: &Arc<Proxy>, server: &Arc<Wrapped>) -> ServerReport {
    let mut report =
        ServerReport { server: server.upstream.config.name().to_owned(), ..ServerReport::default() };
    let start = Instant::now();
    match proxy.tools(server).await {
        Ok(tools) => {
            report.started_ms = Some(start.elapsed().as_millis() as u64);
            report.tools = tools.iter().map(|tool| tool.name.clone()).collect();
            report.withheld =
                proxy.withheld().into_iter().filter(|one| one.server == report.server).collect();
            if let Some(tool) = tools.iter().find(|tool| tool.is_harmless()) {
                report.call = Some(call(proxy, server, &tool.name).await);
            }
        }
        Err(why) => report.error = Some(why),
    }
    if let Ok(connection) = server.upstream.connect().await {
        report.version = Some(connection.version());
    }
    report.log = server.upstream.log.newest(LOG_LINES);
    report
}

/// Calls a tool without arguments.
async fn call(proxy: &Proxy, server: &Wrapped, tool: &str) -> CallReport {
    let start = Instant::now();
    let params = json!({ "name": tool, "arguments": {} }).to_string();
    let outgoing = Outgoing::plain(params);
    let error = match proxy.ask(server, "tools/call", outgoing).await {
        Ok(text) => {
            let result: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
            (result["isError"] == true)
                .then(|| result["content"][0]["text"].as_str().unwrap_or("an error").to_owned())
        }
        Err(error) => Some(error.to_string()),
    };
    CallReport { tool: tool.to_owned(), ms: start.elapsed().as_millis() as u64, error }
}
