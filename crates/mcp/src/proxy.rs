//! The proxy: the tools, prompts, and resources of other servers, among those of this one.

mod call;
mod listing;
mod questions;
mod relay;
mod routing;
mod tasks;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use trommel_route::Destinations;
use trommel_store::Store;
use trommel_tool::Redaction;
use trommel_tool::names::Names;

use crate::runtime::spawn;
use crate::upstream::{Limits, ListChange, ServerConfig, Trust, Upstream, Withheld};
pub(crate) use listing::WrappedTool;
use listing::{Listing, Tools};
use questions::Parked;
use tasks::Task;

/// How long a list waits for servers that are starting. One that takes longer is listed once it has
/// started.
const PATIENCE: Duration = Duration::from_secs(5);

/// The settings of a proxy.
#[derive(Clone, Debug)]
pub struct ProxyOptions {
    /// The servers.
    pub servers: Vec<ServerConfig>,
    /// The approved descriptions of their tools.
    pub trust: Trust,
    /// The time of a call without progress.
    pub timeout: Duration,
    /// The time of a call in all.
    pub total_timeout: Option<Duration>,
    /// The time after which a call becomes a task, for clients that can follow one.
    pub task_after: Duration,
    /// The bytes of a result.
    pub max_result: u64,
    /// The characters of a result that pass unchanged, unless a server or tool has its own limit.
    pub max_chars: usize,
    /// The tools to offer, by the names that clients see; all if empty.
    pub only: Vec<String>,
    /// The tools not to offer.
    pub except: Vec<String>,
}

/// Servers, and what they offer.
pub(crate) struct Proxy {
    servers: Vec<Arc<Wrapped>>,
    options: ProxyOptions,
    /// The names that are taken by the host's own tools.
    own: Vec<String>,
    redaction: Redaction,
    /// Calls that wait for the answer to a question.
    parked: Mutex<BTreeMap<String, Parked>>,
    tasks: Mutex<BTreeMap<String, Task>>,
    store: Arc<Store>,
    /// Where results can go, if the caller may choose.
    destinations: Option<Destinations>,
    /// Changes of lists, for the clients.
    changed: mpsc::UnboundedSender<ListChange>,
}

/// One server with its list of tools.
pub(crate) struct Wrapped {
    pub(crate) upstream: Arc<Upstream>,
    listing: watch::Sender<Listing>,
}

/// The tools of all servers under their exported names.
pub(crate) struct Catalog {
    tools: BTreeMap<String, (Arc<Wrapped>, Arc<WrappedTool>)>,
    /// True if there are destinations to choose.
    can_route: bool,
    /// The servers that are not listed, and why.
    pub(crate) missing: Vec<(String, String)>,
}

impl Proxy {
    /// Prepares the servers. They start when they are first needed.
    pub(crate) fn new(
        options: ProxyOptions,
        own: Vec<String>,
        store: &Arc<Store>,
        destinations: Option<Destinations>,
    ) -> (Arc<Self>, mpsc::UnboundedReceiver<ListChange>) {
        let limits =
            Limits { timeout: options.timeout, total: options.total_timeout, max_bytes: options.max_result };
        let (changes, of_servers) = mpsc::unbounded_channel();
        let (notices, for_clients) = mpsc::unbounded_channel();
        let servers = options.servers.iter().map(|config| {
            let upstream = Upstream::new(config.clone(), limits, store, changes.clone());
            Arc::new(Wrapped { upstream: Arc::new(upstream), listing: watch::channel(Listing::Unknown).0 })
        });
        let proxy = Arc::new(Self {
            servers: servers.collect(),
            options,
            own,
            redaction: Redaction::default(),
            parked: Mutex::default(),
            tasks: Mutex::default(),
            store: Arc::clone(store),
            destinations,
            changed: notices,
        });
        spawn(follow(Arc::downgrade(&proxy), of_servers));
        (proxy, for_clients)
    }

    /// Starts all servers, without waiting for them.
    pub(crate) fn start_all(self: &Arc<Self>) {
        for server in &self.servers {
            self.load(server);
        }
    }

    /// Ends all servers.
    pub(crate) async fn stop(&self) {
        self.lock_parked().clear();
        self.cancel_tasks();
        for server in &self.servers {
            server.upstream.stop().await;
        }
    }

    pub(crate) fn servers(&self) -> &[Arc<Wrapped>] {
        &self.servers
    }

    /// Returns the tools of all servers. Waits for those that are starting, but for a slow one only
    /// once.
    pub(crate) async fn catalog(self: &Arc<Self>) -> Catalog {
        let deadline = Instant::now() + PATIENCE;
        for server in &self.servers {
            self.load(server);
        }
        let mut listed = Vec::new();
        let mut missing = Vec::new();
        for server in &self.servers {
            match server.listed(deadline).await {
                Ok(tools) => listed.extend(tools.iter().map(|tool| (Arc::clone(server), Arc::clone(tool)))),
                Err(why) => missing.push((server.upstream.config.name().to_owned(), why)),
            }
        }
        self.name(listed, missing)
    }

    /// Gives each tool a legal name that no other has.
    fn name(&self, listed: Vec<(Arc<Wrapped>, Arc<WrappedTool>)>, missing: Vec<(String, String)>) -> Catalog {
        // A server's name has no dot, so that no other pair of names is joined to the same text.
        let joined =
            |server: &Wrapped, tool: &WrappedTool| format!("{}.{}", server.upstream.config.name(), tool.name);
        let names: Vec<String> = listed.iter().map(|(server, tool)| joined(server, tool)).collect();
        let exported = Names::of(self.own.iter().chain(&names).map(String::as_str));
        let mut tools = BTreeMap::new();
        let can_route = self.destinations.is_some();
        for (name, tool) in names.iter().zip(listed) {
            let Some(exported) = exported.exported(name) else { continue };
            let is = |list: &[String]| list.iter().any(|one| one == exported || one == name);
            if (self.options.only.is_empty() || is(&self.options.only)) && !is(&self.options.except) {
                tools.insert(exported.to_owned(), tool);
            }
        }
        Catalog { tools, can_route, missing }
    }

    /// The tools of one server, once it has started, however long that takes.
    pub(crate) async fn tools(self: &Arc<Self>, server: &Arc<Wrapped>) -> Result<Tools, String> {
        self.load(server);
        server.listed(Instant::now() + Duration::from_mins(2)).await
    }

    /// The tools that wait for approval.
    pub(crate) fn withheld(&self) -> Vec<Withheld> {
        let listings = self.servers.iter().map(|server| server.listing.borrow().clone());
        listings.flat_map(|listing| listing.withheld().to_vec()).collect()
    }

    /// The characters of a tool's result that pass unchanged.
    fn limit(&self, server: &ServerConfig, tool: Option<&WrappedTool>) -> usize {
        let own = tool.and_then(|tool| server.tool_limits.get(&tool.name).copied().or(tool.max_chars));
        own.or(server.limit).unwrap_or(self.options.max_chars)
    }

    /// Removes the secrets from arguments.
    fn redacted(&self, arguments: &Value) -> Map<String, Value> {
        match arguments {
            Value::Object(members) => self.redaction.parameters(members),
            _ => Map::new(),
        }
    }

    fn lock_parked(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Parked>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Catalog {
    /// The descriptions of the tools, as JSON text, in the order of their names.
    pub(crate) fn described(&self) -> impl Iterator<Item = String> {
        self.tools.iter().map(|(name, (server, tool))| {
            tool.described(name, self.can_route && server.upstream.config.routes)
        })
    }

    /// The server and the tool with an exported name.
    pub(crate) fn get(&self, name: &str) -> Option<&(Arc<Wrapped>, Arc<WrappedTool>)> {
        self.tools.get(name)
    }

    /// The exported names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }
}

/// Passes changes of a server's lists on to the clients, until the proxy is gone.
async fn follow(proxy: std::sync::Weak<Proxy>, mut changes: mpsc::UnboundedReceiver<(String, ListChange)>) {
    while let Some((server, change)) = changes.recv().await {
        let Some(proxy) = proxy.upgrade() else { return };
        let found = proxy.servers.iter().find(|one| one.upstream.config.name() == server);
        match (found, change) {
            (Some(server), ListChange::Tools) => proxy.reload(server),
            _ => {
                // The clients are gone when the program ends.
                let _ = proxy.changed.send(change);
            }
        }
    }
}
