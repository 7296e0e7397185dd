//! Prompts, resources, and completions of the servers, passed through.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use super::call::{Outcome, Request};
use super::{Proxy, Wrapped};
use crate::upstream::{CallOrigin, Capabilities, Outgoing, Params, RequestError};

/// A prompt with the server that has it, and its own name there.
struct Owner {
    server: Arc<Wrapped>,
    own: String,
}

impl Proxy {
    /// The prompts of all servers, under names that no two of them share.
    pub(crate) async fn prompts(self: &Arc<Self>) -> Vec<Value> {
        self.prompts_with_owners().await.into_iter().map(|(prompt, _)| prompt).collect()
    }

    async fn prompts_with_owners(self: &Arc<Self>) -> Vec<(Value, Owner)> {
        let mut prompts = Vec::new();
        for server in self.running().await {
            if !server.1.has("prompts") {
                continue;
            }
            let server = server.0;
            for mut prompt in self.listed(&server, "prompts/list", "prompts").await {
                let Some(own) = prompt.get("name").and_then(Value::as_str).map(str::to_owned) else {
                    continue;
                };
                prompt["name"] = format!("{}_{own}", server.upstream.config.name()).into();
                prompts.push((prompt, Owner { server: Arc::clone(&server), own }));
            }
        }
        prompts
    }

    /// The resources of all servers.
    pub(crate) async fn resources(self: &Arc<Self>) -> Vec<Value> {
        self.all("resources/list", "resources").await
    }

    /// The templates of resources of all servers.
    pub(crate) async fn templates(self: &Arc<Self>) -> Vec<Value> {
        self.all("resources/templates/list", "resourceTemplates").await
    }

    async fn all(self: &Arc<Self>, method: &str, items: &str) -> Vec<Value> {
        let mut all = Vec::new();
        for (server, capabilities) in self.running().await {
            if capabilities.has("resources") {
                all.extend(self.listed(&server, method, items).await);
            }
        }
        all
    }

    /// A list of a server; empty if it fails, which its log has.
    async fn listed(&self, server: &Wrapped, method: &str, items: &str) -> Vec<Value> {
        match self.list(server, method, items).await {
            Ok(items) => items,
            Err(why) => {
                server.upstream.log.note(&why);
                Vec::new()
            }
        }
    }

    /// The servers that could be started, with their capabilities.
    async fn running(self: &Arc<Self>) -> Vec<(Arc<Wrapped>, Capabilities)> {
        // Waits for the servers as a list of tools does.
        let missing = self.catalog().await.missing;
        let mut running = Vec::new();
        for server in &self.servers {
            if missing.iter().any(|(name, _)| name == server.upstream.config.name()) {
                continue;
            }
            if let Ok(connection) = server.upstream.connect().await {
                running.push((Arc::clone(server), connection.capabilities()));
            }
        }
        running
    }

    /// Gets a prompt. `None` if no server has it.
    pub(crate) async fn prompt(
        self: &Arc<Self>,
        name: &str,
        mut params: Params,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<String, ErrorData>> {
        let prompts = self.prompts_with_owners().await;
        let (_, owner) = prompts.into_iter().find(|(prompt, _)| prompt["name"] == name)?;
        params.set("name", &owner.own.as_str().into());
        let outgoing = Outgoing::plain(params.text());
        let request =
            Request { server: owner.server, method: "prompts/get", what: name.to_owned(), outgoing };
        Some(result(self.run(request, context).await))
    }

    /// Reads a resource. The first server that has it answers.
    pub(crate) async fn resource(
        self: &Arc<Self>,
        uri: &str,
        params: &Params,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<String, ErrorData>> {
        let mut refused = None;
        for (server, capabilities) in self.running().await {
            if !capabilities.has("resources") {
                continue;
            }
            let outgoing = Outgoing {
                params: params.text(),
                origin: CallOrigin {
                    tool: format!("{}.resources", server.upstream.config.name()),
                    ..CallOrigin::default()
                },
                limit: Some(self.limit(&server.upstream.config, None)),
                mirrored: Vec::new(),
                elicitation: None,
            };
            let request = Request { server, method: "resources/read", what: uri.to_owned(), outgoing };
            match self.run(request, context).await {
                Outcome::Refused(error) => refused = Some(error),
                outcome => return Some(result(outcome)),
            }
        }
        refused.map(Err)
    }

    /// Completes an argument of a prompt or a template. `None` if no server can.
    pub(crate) async fn completion(
        self: &Arc<Self>,
        mut params: Params,
    ) -> Option<Result<String, ErrorData>> {
        let reference: Value = serde_json::from_str(params.get("ref")?.get()).ok()?;
        let mut servers = Vec::new();
        if let Some(name) = reference.get("name").and_then(Value::as_str) {
            let prompts = self.prompts_with_owners().await;
            let (_, owner) = prompts.into_iter().find(|(prompt, _)| prompt["name"] == name)?;
            let mut own = reference.clone();
            own["name"] = owner.own.into();
            params.set("ref", &own);
            servers.push(owner.server);
        } else {
            servers.extend(self.running().await.into_iter().map(|(server, _)| server));
        }
        let mut refused = None;
        for server in servers {
            let outgoing = Outgoing::plain(params.text());
            match self.ask(&server, "completion/complete", outgoing).await {
                Ok(text) => return Some(Ok(text)),
                Err(RequestError::Refused(error)) => refused = Some(error),
                Err(RequestError::Failed(why)) => refused = Some(ErrorData::internal_error(why, None)),
            }
        }
        refused.map(Err)
    }
}

fn result(outcome: Outcome) -> Result<String, ErrorData> {
    match outcome {
        Outcome::Result(text) | Outcome::Interim(text) => Ok(text),
        Outcome::Refused(error) => Err(error),
        Outcome::Failed(why) => Err(ErrorData::internal_error(why, None)),
    }
}
