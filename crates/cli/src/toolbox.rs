//! The tools over the store, the buffers, and the sessions, for commands that call them.

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

use crate::args::{DisplayForm as Form, SessionFolders};
use crate::errors::{self, Failure};
use crate::output::{self, Screen};
use crate::progress::Progress;

/// The location of files and variables.
pub(crate) struct Workspace<'a> {
    /// The session whose variables outlive the process.
    pub(crate) session: &'a str,
    /// The folder that contains all files to read and write.
    pub(crate) root: &'a Path,
    /// The default lifetime of a variable.
    pub(crate) usual: Scope,
}

/// Returns the destinations of a workspace. The program's own folder is not accessible through
/// them.
pub(crate) fn destinations(workspace: &Workspace<'_>) -> Result<Destinations, Failure> {
    let files = Files::open(workspace.root)?.exclude(crate::home::folder()?);
    let kept = crate::home::buffers(workspace.session, workspace.usual)?;
    Ok(Destinations::new(Arc::new(kept)).files(Arc::new(files)))
}

/// The store, the destinations of routed content, and the tools over both.
pub(crate) struct Toolbox {
    pub(crate) store: Arc<Store>,
    pub(crate) destinations: Destinations,
    pub(crate) registry: Arc<Registry>,
    screen: Screen,
}

impl Toolbox {
    /// Opens the tools over the default session and the files of the current folder.
    pub(crate) fn open(screen: &Screen) -> Result<Self, Failure> {
        Self::open_in(&Workspace { session: "default", root: Path::new("."), usual: Scope::Session }, screen)
    }

    /// Opens the store and registers the tools.
    pub(crate) fn open_in(workspace: &Workspace<'_>, screen: &Screen) -> Result<Self, Failure> {
        let store = crate::home::store()?;
        let destinations = destinations(workspace)?;
        let registry = Registry::new();
        // Registering cannot fail: the names are valid, and each is registered once.
        outputs::register(&registry, &store).map_err(std::io::Error::other)?;
        buffers::register(&registry, &destinations).map_err(std::io::Error::other)?;
        register_sessions(&registry)?;
        Ok(Self { store, destinations, registry: Arc::new(registry), screen: *screen })
    }

    /// Calls the tool that reads stored outputs, without a time limit and with progress. The call
    /// is not recorded.
    pub(crate) fn read(
        &self,
        arguments: Value,
        form: Form,
        progress: &Progress,
    ) -> Result<Box<RawValue>, Failure> {
        let mut context = Context::new(".").timeout(Duration::MAX);
        // The size limit protects the context of a model, not a terminal or pipe.
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
            Err(Failure::ReadTool(Box::new(execution)))
        }
    }

    /// Returns the failure of a call.
    pub(crate) fn problem(&self, execution: &ToolExecution, form: Form) -> Failure {
        let tool = self.registry.get(&execution.tool_name);
        let problem = Problem::new(execution, tool.as_ref().map(|tool| tool.metadata()));
        let request = execution.result.error_kind().is_some_and(trommel_tool::ErrorKind::is_request);
        Failure::Tool { text: self.refusal(&problem, form), is_request: request }
    }

    /// Returns the failure for an unknown tool name.
    pub(crate) fn not_found(&self, name: &str, form: Form) -> Failure {
        let suggestions = self.registry.suggestions(name);
        let problem = ToolNotFound::new(name, &suggestions);
        Failure::Tool { text: self.refusal(&problem, form), is_request: true }
    }

    /// Formats a display for standard error.
    fn refusal(&self, display: &(impl Show + serde::Serialize), form: Form) -> String {
        if form.json { output::json_line(display) } else { display.text(&self.screen.err.layout(form.plain)) }
    }
}

/// Registers the tool over the sessions that the environment names, and over those of the cloud if
/// settings name a storage.
fn register_sessions(registry: &Registry) -> Result<(), Failure> {
    let destinations = SessionFolders::from_environment();
    #[cfg(feature = "cloud")]
    let registered = {
        let known = crate::cloud::open(&destinations);
        match (known.cloud, known.problem) {
            (Some(cloud), _) => {
                sessions::register_hybrid(registry, cloud.hybrid, sessions::Bounds::default())
            }
            (None, None) => sessions::register(registry, &known.sessions),
            // Invalid settings do not disable this tool or the others; answers report them.
            (None, Some(why)) => {
                let problem = format!("only sessions of this machine: the storage cannot be used: {why}");
                sessions::register_with_problem(registry, &known.sessions, &problem)
            }
        }
    };
    #[cfg(not(feature = "cloud"))]
    let registered = sessions::register(registry, &crate::home::sessions(&destinations));
    Ok(registered.map_err(std::io::Error::other)?)
}
