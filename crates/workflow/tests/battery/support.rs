//! What the tests share.

#[path = "../../../route/tests/battery/support.rs"]
mod bench;

use std::io::Write;
use std::sync::{Arc, Mutex};

use trommel_route::Manifest;
use trommel_tool::{Executor, Failure, Registry};
use trommel_workflow::{Document, Fetch, Message, Model, Reply, Request, Runner};

pub(crate) use bench::{Bench, route, says};

/// Runs documents at the places of a bench.
pub(crate) trait Runs {
    /// Runs the tools of a registry.
    fn runner(&self, registry: Registry) -> Runner;

    /// Runs a document without a model; the notices.
    fn run(&self, text: &str) -> Result<Vec<Manifest>, String>;
}

impl Runs for Bench {
    fn runner(&self, registry: Registry) -> Runner {
        Runner::new(Executor::new(Arc::new(registry)), self.places.clone())
    }

    fn run(&self, text: &str) -> Result<Vec<Manifest>, String> {
        let document = Document::parse(text).map_err(|error| error.to_string())?;
        let report = self.runner(Registry::new()).urls(page()).run(&document, &mut |_| {});
        let report = report.map_err(|error| error.to_string())?;
        Ok(report.steps.into_iter().flat_map(|step| step.manifests).collect())
    }
}

/// What `url:` inputs are.
pub(crate) fn page() -> Arc<dyn Fetch> {
    Arc::new(|source: &str, to: &mut dyn Write| -> Result<(), Failure> {
        if source.contains("missing") {
            return Err(Failure::new(format!("there is no page at {source}: try another")));
        }
        to.write_all(b"from afar").map_err(|error| Failure::raised(&error))
    })
}

/// A model that says one thing after the other, and remembers what it was asked.
#[derive(Default)]
pub(crate) struct Script {
    replies: Mutex<Vec<Reply>>,
    pub(crate) asked: Mutex<Vec<Vec<Message>>>,
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
        self.asked.lock().unwrap().push(request.messages.to_vec());
        self.tools.lock().unwrap().push(request.tools.iter().map(|tool| tool.name.clone()).collect());
        self.replies.lock().unwrap().pop().ok_or_else(|| Failure::new("the model has nothing more to say"))
    }
}
