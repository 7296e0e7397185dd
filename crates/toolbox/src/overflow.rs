//! The store as the destination of results that are too long.

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::Value;
use trommel_route::OverflowStore;
use trommel_store::{Error, Kind, Origin, Put, Store, Stored};
use trommel_tool::{About, Failure, Finished, Manifest, Reason, Sink};

use crate::preview;
use crate::text::string;

/// The store as the [`OverflowStore`] of a [`Router`](trommel_route::Router). It takes results that
/// are too long and that no rule routes elsewhere. The tools `tool_outputs.*` can query them.
/// Results are streamed, so their size does not affect memory use.
///
/// ```no_run
/// use std::sync::Arc;
/// use trommel_route::Router;
/// use trommel_store::{Store, StoreOptions};
/// use trommel_toolbox::StoreOverflow;
///
/// # fn main() -> Result<(), trommel_store::Error> {
/// let store = Arc::new(Store::open("outputs", StoreOptions::default())?);
/// let delivery = Router::default().overflow_store(Arc::new(StoreOverflow::new(&store)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StoreOverflow {
    store: Arc<Store>,
}

impl StoreOverflow {
    /// Stores results in this store.
    pub fn new(store: &Arc<Store>) -> Self {
        Self { store: Arc::clone(store) }
    }
}

impl OverflowStore for StoreOverflow {
    fn open(&self, about: &About<'_>, _: Reason) -> Result<Box<dyn Sink + '_>, Failure> {
        let mut origin = Origin::of(about.tool_name);
        origin.conversation_id.clone_from(&about.context.conversation_id);
        origin.message_id.clone_from(&about.context.message_id);
        origin.parameters = Value::Object(about.parameters.clone());
        origin.created_at = Some(about.started_at.as_millisecond());
        let put = self.store.put(origin).map_err(|error| not_stored(about.tool_name, &error))?;
        Ok(Box::new(StoreSink { put, store: &self.store, tool: about.tool_name.to_owned() }))
    }
}

/// A result that is being stored. Dropping it discards the bytes written so far.
struct StoreSink<'a> {
    put: Put<'a>,
    store: &'a Store,
    tool: String,
}

impl Write for StoreSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.put.flush()
    }
}

impl Sink for StoreSink<'_> {
    fn finish(self: Box<Self>, _: &Finished) -> Result<Option<Manifest>, Failure> {
        let Self { put, store, tool } = *self;
        let stored = put.finish().map_err(|error| not_stored(&tool, &error))?;
        Ok(Some(manifest(store, &stored)))
    }
}

fn not_stored(tool: &str, error: &Error) -> Failure {
    Failure::new(format!("cannot store the result of {tool}: {error}")).with("code", error.code())
}

/// Returns the manifest that a caller gets in place of a stored result: its size, a preview, and
/// calls that query it. The preview reads at most 16 MiB of the output.
pub fn manifest(store: &Store, stored: &Stored) -> Manifest {
    let mut manifest = Manifest::new(&stored.id, "store");
    manifest.kind = stored.kind.name().into();
    manifest.size_chars = stored.characters;
    manifest.size_bytes = stored.size_bytes;
    manifest.items = match stored.kind {
        Kind::JsonLines => stored.records,
        _ => stored.summary.keys.or(stored.summary.items),
    };
    let outline = preview::outline(store, stored);
    manifest.next_calls = next_calls(stored, &outline);
    manifest.preview = outline.text;
    manifest
}

/// Suggests calls that suit the stored output.
fn next_calls(stored: &Stored, outline: &preview::Outline) -> Vec<String> {
    let id = &stored.id;
    let call = |tool: &str, more: &str| format!("tool_outputs.{tool} {{\"id\":\"{id}\"{more}}}");
    if stored.kind == Kind::Text {
        return vec![call("read", "")];
    }
    let mut calls = vec![call("stats", ""), call("read", "")];
    if let Some(path) = &outline.array {
        calls.push(call("sample", &format!(",\"path\":{},\"size\":5", string(path))));
        let counts = format!(",\"counts\":[{{\"name\":\"items\",\"path\":{}", string(path));
        let kind = if stored.kind == Kind::JsonLines { ",\"count_type\":\"matches\"" } else { "" };
        calls.push(call("count", &format!("{counts}{kind}}}]")));
    }
    if let Some(path) = &outline.value {
        calls.push(call("extract", &format!(",\"paths\":[{}]", string(path))));
    }
    calls
}
