//! The host's own tools: those that read stored outputs, buffers, and sessions.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use trommel_base::Cancel;
use trommel_route::Destinations;
use trommel_store::Store;
use trommel_tool::dialect::{Dialect, Export};
use trommel_tool::{
    Context, Event, Executor, Metadata, Permissions, Registry, RegistryError, Tool, ToolExecution,
};
use trommel_toolbox::StoreRecord;

/// The program that serves its tools: where calls run, and what they may do.
pub struct Host {
    /// The tools.
    pub registry: Arc<Registry>,
    /// The stored outputs.
    pub store: Arc<Store>,
    /// The folder that relative paths start at.
    pub working_dir: PathBuf,
    /// The time limit of a call.
    pub timeout: Duration,
    /// The effects that calls may have.
    pub permissions: Permissions,
    /// Where the results of wrapped tools can go, if their caller may choose.
    pub destinations: Option<Destinations>,
}

/// The tools of a host, within its permissions.
pub(crate) struct OwnTools {
    executor: Executor,
    export: Export,
    /// The description of each tool, as JSON text.
    described: Vec<String>,
    working_dir: PathBuf,
    timeout: Duration,
    pub(crate) store: Arc<Store>,
}

impl OwnTools {
    /// # Errors
    /// Never in practice: the names are those of a registry.
    pub(crate) fn new(host: Host) -> Result<Self, RegistryError> {
        let Host { registry, store, working_dir, timeout, permissions, destinations: _ } = host;
        let permitted = Registry::new();
        for tool in registry.tools() {
            permitted.register(tool.within(permissions).unwrap_or(tool))?;
        }
        let tools = permitted.tools();
        let metadata: Vec<&Metadata> = tools.iter().map(Tool::metadata).collect();
        let export = Dialect::Mcp.export(&metadata);
        let described = export.tools.iter().map(Value::to_string).collect();
        let executor = Executor::new(Arc::new(permitted)).record(Arc::new(StoreRecord::new(&store)));
        Ok(Self { executor, export, described, working_dir, timeout, store })
    }

    /// The description of each tool, as JSON text, in the order of their names.
    pub(crate) fn described(&self) -> &[String] {
        &self.described
    }

    /// The exported names, which no other server's tool may have.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + '_ {
        self.export.names.iter().map(|(_, exported)| exported)
    }

    /// True if a tool has this name, in either spelling.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.export.names.original(name).is_some() || self.export.names.exported(name).is_some()
    }

    /// The names of tools that are similar to an unknown one.
    pub(crate) fn suggestions(&self, name: &str) -> Vec<String> {
        self.executor.registry().suggestions(name)
    }

    /// Runs a tool on this thread.
    pub(crate) fn call(
        &self,
        name: &str,
        arguments: Value,
        cancel: Cancel,
        events: &mut dyn FnMut(Event<'_>),
    ) -> ToolExecution {
        let (name, arguments) =
            self.export.restore(name, arguments).unwrap_or_else(|| (name.to_owned(), Value::Null));
        let context = Context::new(&self.working_dir).timeout(self.timeout).cancelled_by(cancel);
        self.executor.call_with(&name, arguments, &context, events)
    }
}
