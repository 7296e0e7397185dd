//! Shared helpers.

#[path = "../../../route/tests/battery/support.rs"]
mod bench;

use std::io::Write;
use std::sync::{Arc, Mutex};

use trommel_route::Manifest;
use trommel_tool::{Executor, Failure, Registry};
use trommel_workflow::{Document, Fetch, Message, Model, Reply, Request, Runner};

pub(crate) use bench::{Bench, route, says};

/// Runs documents against the destinations of a bench.
pub(crate) trait RunDocuments {
    /// Returns a runner with the tools of a registry.
    fn runner(&self, registry: Registry) -> Runner;

    /// Runs a document without a model. Returns the manifests of its steps.
    fn run(&self, text: &str) -> Result<Vec<Manifest>, String>;
}

impl RunDocuments for Bench {
    fn runner(&self, registry: Registry) -> Runner {
        Runner::new(Executor::new(Arc::new(registry)), self.destinations.clone())
    }

    fn run(&self, text: &str) -> Result<Vec<Manifest>, String> {
        let document = Document::parse(text).map_err(|error| error.to_string())?;
        let report = self.runner(Registry::new()).urls(page_fetcher()).run(&document, &mut |_| {});
        let report = report.map_err(|error| error.to_string())?;
        Ok(report.steps.into_iter().flat_map(|step| step.manifests).collect())
    }
}

/// Fetches `url:` inputs. An address that contains `missing` fails.
pub(crate) fn page_fetcher() -> Arc<dyn Fetch> {
    Arc::new(|source: &str, to: &mut dyn Write| -> Result<(), Failure> {
        if source.contains("missing") {
            return Err(Failure::new(format!("found no page at {source}: try another address")));
        }
        to.write_all(b"remote page").map_err(|error| Failure::raised(&error))
    })
}

/// A model that returns scripted replies in order and records its requests.
#[derive(Default)]
pub(crate) struct Script {
    replies: Mutex<Vec<Reply>>,
    pub(crate) requests: Mutex<Vec<Vec<Message>>>,
    pub(crate) tools: Mutex<Vec<Vec<String>>>,
}

impl Script {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Arc<Self> {
        let mut replies: Vec<_> = replies.into_iter().collect();
        replies.reverse();
        Arc::new(Self { replies: Mutex::new(replies), ..Self::default() })
    }
}

impl Model for Script {
    fn answer(&self, request: &Request<'_>) -> Result<Reply, Failure> {
        self.requests.lock().unwrap().push(request.messages.to_vec());
        self.tools.lock().unwrap().push(request.tools.iter().map(|tool| tool.name.clone()).collect());
        self.replies.lock().unwrap().pop().ok_or_else(|| Failure::new("the script has no more replies"))
    }
}
