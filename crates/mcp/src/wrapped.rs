//! The tools of other servers for callers in this process.

mod content;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use trommel_store::Store;
use trommel_tool::{
    Call, Category, Effects, Failure, Metadata, Output, Permissions, Registry, RegistryError, Tool,
};

use crate::proxy::{Proxy, ProxyOptions, WrappedTool};
use crate::runtime::{Boxed, runtime};
use content::Content;

/// The interval in which a waiting call looks for its cancellation.
const POLL: Duration = Duration::from_millis(20);

/// The end of a description if the tool needs approval.
const APPROVAL_NOTE: &str = " Needs approval.";

/// The tools of other servers. The servers run until this is dropped.
pub struct WrappedTools {
    servers: Servers,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The servers, and the runtime that their connections need.
#[derive(Clone)]
pub(crate) struct Servers {
    pub(crate) proxy: Arc<Proxy>,
    pub(crate) handle: Handle,
    pub(crate) store: Arc<Store>,
}

impl WrappedTools {
    /// Prepares the servers, whose tools must not have the names of others.
    ///
    /// # Errors
    /// Returns an error if the runtime cannot start.
    pub fn new(options: ProxyOptions, others: Vec<String>, store: &Arc<Store>) -> io::Result<Self> {
        let (ready, opened) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let for_proxy = Arc::clone(store);
        let work = move || {
            let runtime = match runtime() {
                Ok(runtime) => runtime,
                Err(error) => return drop(ready.send(Err(error))),
            };
            runtime.block_on(async {
                let (proxy, _changes) = Proxy::new(options, others, &for_proxy, None);
                if ready.send(Ok((Arc::clone(&proxy), Handle::current()))).is_ok() {
                    // An error means that the owner is gone.
                    let _ = stopped.await;
                }
                proxy.stop().await;
            });
            runtime.shutdown_timeout(Duration::from_millis(500));
        };
        let thread = thread::Builder::new().name("wrapped servers".to_owned()).spawn(work)?;
        let (proxy, handle) = opened.recv().map_err(io::Error::other)??;
        let servers = Servers { proxy, handle, store: Arc::clone(store) };
        Ok(Self { servers, stop: Some(stop), thread: Some(thread) })
    }

    /// Starts all servers, and adds their tools to a registry. Returns what the user should know:
    /// servers that failed, and tools that are withheld.
    pub fn register(&self, registry: &Registry) -> Vec<String> {
        let proxy = Arc::clone(&self.servers.proxy);
        let listed = self.servers.wait(async move {
            proxy.start_all();
            let mut notes = Vec::new();
            for server in proxy.servers() {
                if let Err(why) = proxy.tools(server).await {
                    notes.push(format!("the tools of {} are missing: {why}", server.upstream.config.name()));
                }
            }
            let catalog = proxy.catalog().await;
            let tools: Vec<_> = catalog
                .names()
                .filter_map(|name| Some((name.to_owned(), Arc::clone(&catalog.get(name)?.1))))
                .collect();
            (tools, notes)
        });
        let Some((tools, mut notes)) = listed else {
            return vec!["the runtime of the wrapped servers ended".to_owned()];
        };
        for (name, tool) in tools {
            let tool = RemoteTool::new(&name, &tool, self.servers.clone());
            if let Err(error) = registry.register(tool) {
                notes.push(format!("the tool {name} is not offered: {error}"));
            }
        }
        notes.extend(self.servers.proxy.withheld().into_iter().map(|one| {
            let why = if one.is_new { "is new" } else { "changed" };
            format!(
                "the tool {} of {} {why}: it is withheld until `trommel mcp approve`",
                one.tool, one.server
            )
        }));
        notes
    }
}

/// Ends the servers.
impl Drop for WrappedTools {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported.
            let _ = thread.join();
        }
    }
}

impl Servers {
    /// Runs work on the runtime, and waits for it. `None` if the runtime has ended.
    fn wait<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Option<T> {
        self.wait_while(work, || true)
    }

    /// Runs work on the runtime, and waits for it while a condition holds. Then the work is
    /// dropped.
    fn wait_while<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        is_wanted: impl Fn() -> bool,
    ) -> Option<T> {
        let (done, result) = mpsc::channel();
        let work: Boxed = Box::pin(async move { drop(done.send(work.await)) });
        let task = self.handle.spawn(work);
        loop {
            match result.recv_timeout(POLL) {
                Ok(result) => return Some(result),
                Err(RecvTimeoutError::Timeout) if is_wanted() => {}
                Err(_) => {
                    task.abort();
                    return None;
                }
            }
        }
    }
}

/// A tool of another server.
#[derive(Clone)]
pub(crate) struct RemoteTool {
    metadata: Metadata,
    servers: Servers,
}

impl RemoteTool {
    pub(crate) fn new(name: &str, tool: &WrappedTool, servers: Servers) -> Self {
        let mut metadata = Metadata::new(name, tool.description(), tool.input_schema().clone())
            .category(Category::Mcp)
            .effects(tool.effects());
        // The server checks its arguments itself, and may allow more than its schema names.
        if let Value::Object(schema) = &mut metadata.args_schema {
            schema.entry("additionalProperties").or_insert(true.into());
            schema.entry("properties").or_insert_with(|| Map::new().into());
        }
        let mut tool = Self { metadata, servers };
        // Also if its schema cannot be used here.
        if let Err(RegistryError::InvalidSchema { .. }) = Registry::new().register(tool.clone()) {
            tool.metadata.args_schema =
                json!({"type": "object", "properties": {}, "additionalProperties": true});
        }
        tool
    }
}

impl Tool for RemoteTool {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let (proxy, name) = (Arc::clone(&self.servers.proxy), self.metadata.name.clone());
        let arguments: Map<String, Value> = call.arguments.clone();
        let cancel = call.cancel().clone();
        let work = async move { proxy.call_here(&name, &arguments).await };
        let reply = self.servers.wait_while(work, || !cancel.is_cancelled());
        let reply = reply.ok_or_else(Failure::cancelled)?.map_err(Failure::new)?;
        Content::of(&reply).map_err(Failure::new)?.write(&self.servers.store, call)
    }

    fn within(&self, permissions: Permissions) -> Option<Arc<dyn Tool>> {
        let only_reads = self.metadata.effects.is_some_and(|effects: Effects| effects.read_only);
        if permissions.act_outside || only_reads || self.metadata.requires_approval {
            return None;
        }
        let mut tool = self.clone();
        tool.metadata.requires_approval = true;
        tool.metadata.description.push_str(APPROVAL_NOTE);
        Some(Arc::new(tool))
    }
}
