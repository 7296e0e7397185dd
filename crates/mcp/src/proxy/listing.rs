//! The list of a server's tools: loaded when it is first needed, checked against the approvals.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::time::Instant;
use trommel_tool::Effects;

use super::{Proxy, Wrapped};
use crate::runtime::spawn;
use crate::upstream::{
    Described, ListChange, Mirrored, Outgoing, Params, Reply, RequestError, ServerConfig, Step, Withheld,
    tool_hash, without_annotations,
};

/// The pages of a list that are read.
const PAGES: usize = 100;

/// The maximum number of tools of a server.
const TOOLS: usize = 10_000;

/// The member of a tool's `_meta` that raises the limit of its results.
const MAX_RESULT: &str = "anthropic/maxResultSizeChars";

/// The largest limit that a tool may ask for.
const MAX_LIMIT: usize = 500_000;

/// The tools of a server.
pub(crate) type Tools = Arc<[Arc<WrappedTool>]>;

/// The state of a server's list.
#[derive(Clone, Debug)]
pub(super) enum Listing {
    /// It was not asked for.
    Unknown,
    /// It is being loaded. `is_slow` once somebody has waited for it in vain.
    Loading { is_slow: bool },
    /// The tools that are offered, and those that are withheld.
    Ready { tools: Tools, withheld: Arc<[Withheld]> },
    /// It could not be loaded.
    Failed(String),
}

impl Listing {
    pub(super) fn withheld(&self) -> &[Withheld] {
        match self {
            Self::Ready { withheld, .. } => withheld,
            _ => &[],
        }
    }
}

/// A tool of a server.
#[derive(Debug)]
pub(crate) struct WrappedTool {
    /// Its own name.
    pub(crate) name: String,
    /// Its description, without the name.
    members: Map<String, Value>,
    /// The limit that it asks for.
    pub(super) max_chars: Option<usize>,
    /// The arguments that headers repeat.
    pub(super) mirrored: Mirrored,
    hash: String,
}

impl WrappedTool {
    /// Reads a description.
    ///
    /// # Errors
    /// Returns the reason why the tool cannot be offered.
    fn of(tool: &Value, server: &ServerConfig) -> Result<Self, String> {
        let name = tool.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
        let schema = tool.get("inputSchema").filter(|schema| schema.is_object());
        let (Value::Object(members), Some(name), Some(schema)) = (tool, name, schema) else {
            return Err("a tool without a name or a schema is not offered".to_owned());
        };
        let (mut members, name) = (members.clone(), name.to_owned());
        let mirrored = if server.is_at_url() { Mirrored::of(schema) } else { Ok(Mirrored::default()) };
        let mirrored = mirrored.map_err(|why| format!("the tool {name} is not offered: {why}"))?;
        let hash = tool_hash(tool);
        members.shift_remove("name");
        // A stored result is a manifest, which the schema would not describe: clients refuse it.
        members.shift_remove("outputSchema");
        if let Some(schema) = members.get_mut("inputSchema") {
            without_annotations(schema);
        }
        let asked = members.get("_meta").and_then(|meta| meta.get(MAX_RESULT)).and_then(Value::as_u64);
        let max_chars = asked.map(|chars| usize::try_from(chars).unwrap_or(MAX_LIMIT).min(MAX_LIMIT));
        Ok(Self { name, members, max_chars, mirrored, hash })
    }

    /// The description under an exported name, as JSON text. With the arguments for the choice of a
    /// destination, if the caller may choose.
    pub(super) fn described(&self, name: &str, can_choose: bool) -> String {
        let mut tool = Map::new();
        tool.insert("name".to_owned(), name.into());
        tool.extend(self.members.iter().map(|(name, value)| (name.clone(), value.clone())));
        if let (Some(schema), true) = (self.choice_schema(), can_choose) {
            tool.insert("inputSchema".to_owned(), schema);
        }
        Value::Object(tool).to_string()
    }

    /// The hash of the whole description.
    pub(crate) fn approval(&self) -> Described {
        Described { name: self.name.clone(), hash: self.hash.clone() }
    }

    /// The schema of its arguments, and of those for the choice of a destination. `None` if it has
    /// arguments of these names itself.
    pub(super) fn choice_schema(&self) -> Option<Value> {
        let mut schema = self.input_schema().clone();
        schema.as_object_mut()?.entry("properties").or_insert_with(|| Map::new().into());
        trommel_route::with_choice(&schema)
    }

    /// What it says about itself.
    pub(crate) fn description(&self) -> &str {
        self.members.get("description").and_then(Value::as_str).unwrap_or("")
    }

    /// The schema of its arguments.
    #[expect(clippy::expect_used, reason = "`of` refuses a tool without one")]
    pub(crate) fn input_schema(&self) -> &Value {
        self.members.get("inputSchema").expect("it was read from a description with a schema")
    }

    /// The effects that it declares; the worst case otherwise.
    pub(crate) fn effects(&self) -> Effects {
        let hints = self.members.get("annotations").cloned();
        hints.and_then(|hints| serde_json::from_value(hints).ok()).unwrap_or(Effects::default())
    }

    /// True if it declares that it only reads, and needs no arguments.
    pub(crate) fn is_harmless(&self) -> bool {
        let reads = self.members.get("annotations").and_then(|hints| hints.get("readOnlyHint"));
        let required = self.members.get("inputSchema").and_then(|schema| schema.get("required"));
        reads == Some(&Value::Bool(true)) && required.and_then(Value::as_array).is_none_or(Vec::is_empty)
    }
}

impl Wrapped {
    /// Waits for the tools, until a deadline. Only the first to wait for a slow server waits that
    /// long.
    pub(super) async fn listed(&self, deadline: Instant) -> Result<Tools, String> {
        let mut listing = self.listing.subscribe();
        loop {
            match &*listing.borrow_and_update() {
                Listing::Ready { tools, .. } => return Ok(Arc::clone(tools)),
                Listing::Failed(why) => return Err(why.clone()),
                Listing::Loading { is_slow: true } => return Err("it is still starting".to_owned()),
                Listing::Loading { is_slow: false } | Listing::Unknown => {}
            }
            if tokio::time::timeout_at(deadline, listing.changed()).await.is_err() {
                self.listing.send_if_modified(|listing| {
                    let is_loading = matches!(listing, Listing::Loading { .. });
                    if is_loading {
                        *listing = Listing::Loading { is_slow: true };
                    }
                    is_loading
                });
            }
        }
    }
}

impl Proxy {
    /// Loads the list of a server in the background, unless it is loaded or being loaded.
    pub(super) fn load(self: &Arc<Self>, server: &Arc<Wrapped>) {
        let is_due = server.listing.send_if_modified(|listing| {
            let is_due = matches!(listing, Listing::Unknown | Listing::Failed(_));
            if is_due {
                *listing = Listing::Loading { is_slow: false };
            }
            is_due
        });
        if is_due {
            let (proxy, server) = (Arc::clone(self), Arc::clone(server));
            spawn(async move { proxy.fetch(&server).await });
        }
    }

    /// Loads the list of a server again, and keeps the old one until then.
    pub(super) fn reload(self: &Arc<Self>, server: &Arc<Wrapped>) {
        let (proxy, server) = (Arc::clone(self), Arc::clone(server));
        spawn(async move {
            proxy.fetch(&server).await;
            // The clients are gone when the program ends.
            let _ = proxy.changed.send(ListChange::Tools);
        });
    }

    async fn fetch(&self, server: &Wrapped) {
        let listing = match self.tools_of(server).await {
            Ok(tools) => self.checked(server, tools),
            Err(why) => Listing::Failed(why),
        };
        let was_slow = matches!(&*server.listing.borrow(), Listing::Loading { is_slow: true });
        let is_ready = matches!(listing, Listing::Ready { .. });
        server.listing.send_replace(listing);
        if was_slow && is_ready {
            // Clients got a list without these tools.
            let _ = self.changed.send(ListChange::Tools);
        }
    }

    /// Withholds the tools that are not approved.
    fn checked(&self, server: &Wrapped, tools: Vec<WrappedTool>) -> Listing {
        let config = &server.upstream.config;
        let described: Vec<Described> = tools.iter().map(WrappedTool::approval).collect();
        let withheld = match self.options.trust.check(config.name(), &described) {
            Ok(withheld) => withheld,
            Err(error) => return Listing::Failed(format!("its tools cannot be checked: {error}")),
        };
        let offered = tools
            .into_iter()
            .filter(|tool| config.offers(&tool.name) && !withheld.iter().any(|one| one.tool == tool.name));
        Listing::Ready { tools: offered.map(Arc::new).collect(), withheld: withheld.into() }
    }

    /// Approves the tools of a server as they are now, all or one. Returns their number.
    pub(crate) async fn approve(&self, server: &Wrapped, tool: Option<&str>) -> Result<usize, String> {
        let tools = self.tools_of(server).await?;
        let chosen = tools.iter().filter(|one| tool.is_none_or(|tool| tool == one.name));
        let described: Vec<Described> = chosen.map(WrappedTool::approval).collect();
        if let (Some(tool), true) = (tool, described.is_empty()) {
            return Err(format!("the server {} has no tool {tool}", server.upstream.config.name()));
        }
        let approved = self.options.trust.approve(server.upstream.config.name(), &described);
        approved.map_err(|error| error.to_string()).map(|()| described.len())
    }

    /// Reads all pages of a server's list.
    async fn tools_of(&self, server: &Wrapped) -> Result<Vec<WrappedTool>, String> {
        let connection = server.upstream.connect().await.map_err(|error| error.to_string())?;
        if !connection.capabilities().has("tools") {
            return Ok(Vec::new());
        }
        drop(connection);
        let items = self.list(server, "tools/list", "tools").await?;
        let mut tools: Vec<WrappedTool> = Vec::new();
        for item in items.iter().take(TOOLS) {
            match WrappedTool::of(item, &server.upstream.config) {
                Ok(tool) if tools.iter().any(|other| other.name == tool.name) => {
                    server
                        .upstream
                        .log
                        .note(&format!("two tools are named {}: the first is offered", tool.name));
                }
                Ok(tool) => tools.push(tool),
                Err(why) => server.upstream.log.note(&why),
            }
        }
        Ok(tools)
    }

    /// Reads all pages of a list.
    pub(super) async fn list(
        &self,
        server: &Wrapped,
        method: &str,
        items: &str,
    ) -> Result<Vec<Value>, String> {
        let mut all = Vec::new();
        let mut cursor: Option<Value> = None;
        for _ in 0..PAGES {
            let mut params = Params::default();
            if let Some(cursor) = &cursor {
                params.set("cursor", cursor);
            }
            let outgoing = Outgoing::plain(params.text());
            let reply = self.ask(server, method, outgoing).await.map_err(|error| error.to_string())?;
            let mut page: Value =
                serde_json::from_str(&reply).map_err(|error| format!("{method}: invalid result: {error}"))?;
            match page.get_mut(items).map(Value::take) {
                Some(Value::Array(items)) => all.extend(items),
                _ => return Err(format!("{method}: the result has no array {items}")),
            }
            let next = page.get("nextCursor").filter(|next| next.is_string()).cloned();
            // A server that repeats a cursor would be listed forever.
            if next.is_none() || next == cursor || all.len() >= TOOLS {
                break;
            }
            cursor = next;
        }
        Ok(all)
    }

    /// Sends a request whose response is no result of a tool, and returns the response.
    pub(crate) async fn ask(
        &self,
        server: &Wrapped,
        method: &str,
        outgoing: Outgoing,
    ) -> Result<String, RequestError> {
        let mut pending = server.upstream.request(method, outgoing, None).await?;
        loop {
            match pending.next().await {
                Step::Done(Ok(Reply::Whole(text))) => return Ok(text),
                Step::Done(Ok(Reply::Reduced(_))) => {
                    return Err(RequestError::Failed(format!("{method}: the response is too long")));
                }
                Step::Done(Err(error)) => return Err(error),
                // Dropping the question refuses it.
                Step::Question(_) => {}
            }
        }
    }
}
