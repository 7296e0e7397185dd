//! The tools over the store and the buffers, for commands that ask them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use trommel_display::{Problem, Show, ToolNotFound};
use trommel_route::{Destinations, Files, Scope};
use trommel_store::Store;
use trommel_tool::{Context, Executor, Output, Registry, ToolExecution};
use trommel_toolbox::{buffers, outputs, sessions};

use crate::args::{DisplayForm as Form, Places};
use crate::errors::{self, Failure};
use crate::output::{self, Screen};
use crate::progress::Progress;

/// Where files and variables are.
pub(crate) struct Place<'a> {
    /// The session whose variables outlive the process.
    pub(crate) session: &'a str,
    /// The folder that files are read and written below.
    pub(crate) root: &'a Path,
    /// How long a variable lives when nothing is said.
    pub(crate) usual: Scope,
}

/// The buffers and files at a place. The program's own folder is closed to them.
pub(crate) fn destinations(place: &Place<'_>) -> Result<Destinations, Failure> {
    let files = Files::open(place.root)?.closed_to(crate::home::folder()?);
    let kept = crate::home::buffers(place.session, place.usual)?;
    Ok(Destinations::new(Arc::new(kept)).files(Arc::new(files)))
}

/// The store, the places that contents are routed to, and the tools that ask them.
pub(crate) struct Toolbox {
    pub(crate) store: Arc<Store>,
    pub(crate) places: Destinations,
    pub(crate) registry: Arc<Registry>,
    screen: Screen,
}

impl Toolbox {
    /// The tools over the usual session and the files of this folder.
    pub(crate) fn open(screen: &Screen) -> Result<Self, Failure> {
        Self::at(&Place { session: "default", root: Path::new("."), usual: Scope::Session }, screen)
    }

    /// Opens the store and registers the tools.
    pub(crate) fn at(place: &Place<'_>, screen: &Screen) -> Result<Self, Failure> {
        let store = crate::home::store()?;
        let places = destinations(place)?;
        let registry = Registry::new();
        // Their names are ours, and each is registered once.
        outputs::register(&registry, &store).map_err(std::io::Error::other)?;
        buffers::register(&registry, &places).map_err(std::io::Error::other)?;
        register_sessions(&registry)?;
        Ok(Self { store, places, registry: Arc::new(registry), screen: *screen })
    }

    /// Reads a stored output by its tool, as long as it takes, and shows the progress. The call is
    /// not recorded.
    pub(crate) fn read(
        &self,
        arguments: Value,
        form: Form,
        progress: &Progress,
    ) -> Result<Box<RawValue>, Failure> {
        let mut context = Context::new(".").timeout(Duration::MAX);
        // The limits of a model do not bind a program.
        context.max_output_size = usize::MAX;
        let executor = Executor::new(Arc::clone(&self.registry));
        let mut execution =
            executor.call_with("tool_outputs.read", arguments, &context, &mut |event| progress.watch(&event));
        progress.clear();
        if let Some(Output::Json(answer)) = execution.result.output {
            return Ok(answer);
        }
        errors::read::in_options(&mut execution);
        if form.json {
            Err(self.problem(&execution, form))
        } else {
            Err(Failure::Called(Box::new(execution)))
        }
    }

    /// The failure of a call without a result.
    pub(crate) fn problem(&self, execution: &ToolExecution, form: Form) -> Failure {
        let tool = self.registry.get(&execution.tool_name);
        let problem = Problem::new(execution, tool.as_ref().map(|tool| tool.metadata()));
        let request = execution.result.error_kind().is_some_and(trommel_tool::ErrorKind::is_request);
        Failure::Tool { shown: self.refusal(&problem, form), request }
    }

    /// The failure of a name that no tool has.
    pub(crate) fn not_found(&self, name: &str, form: Form) -> Failure {
        let suggestions = self.registry.suggestions(name);
        let problem = ToolNotFound::new(name, &suggestions);
        Failure::Tool { shown: self.refusal(&problem, form), request: true }
    }

    /// What is shown on standard error instead of an answer.
    fn refusal(&self, display: &(impl Show + serde::Serialize), form: Form) -> String {
        if form.json { output::json_line(display) } else { display.text(&self.screen.err.look(form.plain)) }
    }
}

/// The tool over the sessions that are where the environment says, and over those of the cloud
/// where settings name one.
fn register_sessions(registry: &Registry) -> Result<(), Failure> {
    let places = Places::of_environment();
    #[cfg(feature = "cloud")]
    let registered = {
        let known = crate::cloud::open(&places);
        match (known.cloud, known.problem) {
            (Some(cloud), _) => {
                sessions::register_hybrid(registry, cloud.hybrid, sessions::Bounds::default())
            }
            (None, None) => sessions::register(registry, &known.sessions),
            // Invalid settings do not disable this tool or the others; answers report them.
            (None, Some(why)) => {
                let problem = format!("sessions of this machine only, as the storage cannot be used: {why}");
                sessions::register_despite(registry, &known.sessions, &problem)
            }
        }
    };
    #[cfg(not(feature = "cloud"))]
    let registered = sessions::register(registry, &crate::home::sessions(&places));
    Ok(registered.map_err(std::io::Error::other)?)
}
