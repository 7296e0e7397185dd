//! Calls of wrapped tools whose caller chose where the result goes.

use std::sync::Arc;
use std::time::Duration;

use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use serde_json::value::RawValue;
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
use crate::runtime::blocking;
use crate::upstream::Params;
use crate::wrapped::{RemoteTool, Servers};

/// A call with a destination.
pub(super) struct Routed {
    name: String,
    arguments: Value,
    executor: Executor,
}

impl Proxy {
    /// Returns the call if its caller chose a destination other than the answer itself. Otherwise
    /// removes the arguments of the choice, which the server does not know.
    ///
    /// # Errors
    /// Returns the reason why the choice cannot be read.
    pub(super) fn routed(
        self: &Arc<Self>,
        server: &Wrapped,
        tool: &WrappedTool,
        name: &str,
        params: &mut Params,
    ) -> Result<Option<Routed>, String> {
        let Some(destinations) = &self.destinations else { return Ok(None) };
        if !server.upstream.config.routes || tool.choice_schema().is_none() {
            return Ok(None);
        }
        let Some(raw) = params.get("arguments") else { return Ok(None) };
        let invalid = |error: serde_json::Error| format!("{name}: invalid arguments: {error}");
        let arguments: Value = serde_json::from_str(raw.get()).map_err(invalid)?;
        if arguments.get("output").is_none_or(|output| output == "inline") {
            let mut own = Params::parse(raw.get()).map_err(invalid)?;
            if own.remove("output").is_some() | own.remove("write_mode").is_some() {
                params.set_raw("arguments", RawValue::from_string(own.text()).map_err(invalid)?);
            }
            return Ok(None);
        }
        let servers =
            Servers { proxy: Arc::clone(self), handle: Handle::current(), store: Arc::clone(&self.store) };
        let registry = Registry::new();
        let tool = RoutableTool::new(RemoteTool::new(name, tool, servers));
        registry.register(tool).map_err(|error| error.to_string())?;
        let router = Router::new(destinations.clone()).allow_choice(name, None);
        let executor = Executor::new(Arc::new(registry))
            .delivery(Arc::new(router))
            .record(Arc::new(StoreRecord::new(&self.store)));
        Ok(Some(Routed { name: name.to_owned(), arguments, executor }))
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
        let call = blocking(move || executor.call(&name, arguments, &calling));
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
