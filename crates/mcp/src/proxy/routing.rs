//! Calls of wrapped tools whose caller chose where the result goes.

use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::watch;
use trommel_base::Cancel;
use trommel_route::{RoutableTool, Router, notice};
use trommel_tool::{Context, Executor, Registry, ToolExecution};
use trommel_toolbox::StoreRecord;

use super::{Proxy, Wrapped, WrappedTool};
use crate::era::Era;
use crate::progress::{Report, Reporter, report};
use crate::render;
use crate::upstream::Params;
use crate::wrapped::{RemoteTool, Servers};

/// A call with a destination.
pub(super) struct Routed {
    name: String,
    arguments: Value,
    executor: Executor,
}

impl Proxy {
    /// Returns the call if its caller may choose the destination, and did: another than the answer
    /// itself.
    pub(super) fn routed(
        self: &Arc<Self>,
        server: &Arc<Wrapped>,
        tool: &Arc<WrappedTool>,
        name: &str,
        params: &Params,
    ) -> Option<Routed> {
        let destinations = self.destinations.clone().filter(|_| server.upstream.config.routes)?;
        tool.choice_schema()?;
        let arguments: Value = serde_json::from_str(params.get("arguments")?.get()).ok()?;
        if arguments.get("output")?.as_str() == Some("inline") {
            return None;
        }
        let servers =
            Servers { proxy: Arc::clone(self), handle: Handle::current(), store: Arc::clone(&self.store) };
        let registry = Registry::new();
        registry.register(RoutableTool::new(RemoteTool::new(name, tool, servers))).ok()?;
        let router = Router::new(destinations).allow_choice(name, None);
        let executor = Executor::new(Arc::new(registry))
            .delivery(Arc::new(router))
            .record(Arc::new(StoreRecord::new(&self.store)));
        Some(Routed { name: name.to_owned(), arguments, executor })
    }
}

impl Routed {
    /// Runs the call, and returns the text of the result: where its content went.
    pub(super) async fn run(self, context: &RequestContext<RoleServer>) -> String {
        let era = Era::of(context);
        let cancel = Cancel::new();
        let calling = Context::new(".").timeout(Duration::MAX).cancelled_by(cancel.clone());
        let (_progress, latest) = watch::channel(Report::default());
        let mut reporter = Reporter::of(context);
        let Self { name, arguments, executor } = self;
        let what = name.clone();
        let call = tokio::task::spawn_blocking(move || executor.call(&name, arguments, &calling));
        let done = tokio::select! {
            done = call => done,
            never = report(reporter.as_mut(), &latest, &what) => match never {},
            () = context.ct.cancelled() => {
                cancel.cancel();
                return render::failure(era, "cancelled");
            }
        };
        match done {
            Ok(execution) => answer(era, &execution),
            Err(panic) => render::failure(era, &format!("{what} failed inside the server: {panic}")),
        }
    }
}

/// The result of a call: a notice of where its content went.
fn answer(era: Era, execution: &ToolExecution) -> String {
    match execution.result.manifest() {
        Some(manifest) => render::message(era, &notice(manifest)),
        None => render::execution(era, execution),
    }
}
