//! Tools, places and records to test with.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use trommel_tool::{
    About, Call, Delivery, Executor, Failure, Finished, Function, Manifest, Metadata, Output, Reason, Record,
    Registry, Sink, Tool, ToolExecution,
};

/// The schema of an object with these members, none of them required, and no others.
pub(crate) fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

/// A tool that takes anything, under this name.
pub(crate) fn tool(
    metadata: Metadata,
    run: impl Fn(&mut Call<'_>) -> Result<Output, Failure> + Send + Sync + 'static,
) -> impl Tool + 'static {
    Function::new(metadata, run)
}

/// Something that takes any arguments.
pub(crate) fn anything(name: &str) -> Metadata {
    Metadata::new(name, "A tool of the tests", json!({"type": "object"}))
}

/// An executor of these tools.
pub(crate) fn executor(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Executor {
    let registry = Registry::new();
    for tool in tools {
        registry.register(tool).unwrap();
    }
    Executor::new(Arc::new(registry))
}

/// An executor of one tool.
pub(crate) fn only(
    metadata: Metadata,
    run: impl Fn(&mut Call<'_>) -> Result<Output, Failure> + Send + Sync + 'static,
) -> Executor {
    executor([Arc::new(tool(metadata, run)) as Arc<dyn Tool>])
}

/// One result as a [`MemoryDelivery`] has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Put {
    pub(crate) tool: String,
    pub(crate) parameters: Value,
    pub(crate) reason: Reason,
    pub(crate) bytes: Vec<u8>,
    pub(crate) finished: Option<Finished>,
}

/// A delivery that holds results in memory, and can be made to fail.
#[derive(Debug, Default)]
pub(crate) struct MemoryDelivery {
    pub(crate) puts: Mutex<Vec<Put>>,
    /// The number of deliveries that were dropped unfinished.
    pub(crate) dropped: Mutex<usize>,
    pub(crate) fails: Mutex<Option<Fails>>,
    pub(crate) discards: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fails {
    Open,
    Write,
    Finish,
    Panic,
}

impl MemoryDelivery {
    pub(crate) fn failing(fails: Fails) -> Arc<Self> {
        Arc::new(Self { fails: Mutex::new(Some(fails)), ..Self::default() })
    }

    pub(crate) fn one(&self) -> Put {
        let puts = self.puts.lock().unwrap();
        assert_eq!(puts.len(), 1);
        puts[0].clone()
    }

    fn fails(&self, at: Fails) -> bool {
        *self.fails.lock().unwrap() == Some(at)
    }
}

impl Delivery for MemoryDelivery {
    fn open(&self, about: &About<'_>, reason: Reason) -> Result<Box<dyn Sink + '_>, Failure> {
        if self.fails(Fails::Open) {
            return Err("the shelf is full".into());
        }
        assert!(!self.fails(Fails::Panic), "the shelf fell");
        let parameters = Value::Object(about.parameters.clone());
        let tool = about.tool_name.to_owned();
        Ok(Box::new(Slot {
            shelf: self,
            put: Some(Put { tool, parameters, reason, bytes: Vec::new(), finished: None }),
        }))
    }
}

struct Slot<'a> {
    shelf: &'a MemoryDelivery,
    put: Option<Put>,
}

impl Write for Slot<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.shelf.fails(Fails::Write) {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "no space left"));
        }
        self.put.as_mut().unwrap().bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Slot<'_> {
    fn finish(mut self: Box<Self>, finished: &Finished) -> Result<Option<Manifest>, Failure> {
        if self.shelf.fails(Fails::Finish) {
            return Err("the shelf broke".into());
        }
        let mut put = self.put.take().unwrap();
        put.finished = Some(*finished);
        let mut manifest = Manifest::new("id", "shelf");
        manifest.preview = String::from_utf8_lossy(&put.bytes).into_owned();
        manifest.size_bytes = finished.bytes;
        manifest.size_chars = finished.chars;
        self.shelf.puts.lock().unwrap().push(put);
        Ok((!self.shelf.discards).then_some(manifest))
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if self.put.is_some() {
            *self.shelf.dropped.lock().unwrap() += 1;
        }
    }
}

/// A record as lines of JSON, which can be made to fail.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) lines: Mutex<Vec<String>>,
    pub(crate) fails: bool,
}

impl Record for Lines {
    fn record(&self, execution: &ToolExecution) -> Result<(), Failure> {
        if self.fails {
            return Err("the disk is gone".into());
        }
        self.lines.lock().unwrap().push(serde_json::to_string(execution).unwrap());
        Ok(())
    }

    fn total(&self) -> Result<u64, Failure> {
        Ok(self.lines.lock().unwrap().len() as u64)
    }

    fn load(&self, newest: usize) -> Result<Vec<ToolExecution>, Failure> {
        let lines = self.lines.lock().unwrap();
        let newest = lines.iter().skip(lines.len().saturating_sub(newest));
        Ok(newest.map(|line| serde_json::from_str(line).unwrap()).collect())
    }
}
