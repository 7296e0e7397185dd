//! `trommel run`: runs a document step by step.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};
use trommel::Cancel;
use trommel_route::{Scope, Target, notice};
use trommel_tool::{Context, Decision, Executor, Limits, Metadata};
use trommel_toolbox::{QueryInputs, StoreOverflow, StoreRecord};
use trommel_workflow::{
    CallReport, DirectiveError, Document, Endpoint, MAX_DOCUMENT_BYTES, Model, Progress as RunEvent, Report,
    RunError, Runner, StepReport,
};

use crate::args::RunArgs;
use crate::errors::{Failure, StepError};
use crate::output::{self, Notes, Screen, Stream, escape};
use crate::progress::{Progress, Spinner};
use crate::signals;
use crate::toolbox::{Toolbox, Workspace};

/// How long a call of a wrapped tool may take without progress.
#[cfg(feature = "mcp")]
const WRAPPED_TIMEOUT: Duration = Duration::from_mins(5);

/// How long such a call may take in all, unless an option says so.
#[cfg(feature = "mcp")]
const LONGEST_CALL: Duration = Duration::from_hours(1);

/// Help for a step that needs a model if the environment names none.
const MODEL_HINT: &str = "set TROMMEL_MODEL_URL and TROMMEL_MODEL";

pub(crate) fn run(args: &RunArgs, screen: &Screen) -> Result<(), Failure> {
    let context = Context::new(std::env::current_dir()?);
    let signal = Arc::new(AtomicI32::new(0));
    let (handler, cancel, reading) = (Arc::clone(&signal), context.cancel.clone(), Cancel::new());
    let reading_handle = reading.clone();
    signals::on_signal(Arc::new(Progress::hidden()), move |number| {
        handler.store(number, Ordering::Relaxed);
        cancel.cancel();
        reading_handle.cancel();
        signals::exit_after_grace(number);
        true
    })?;
    let root = args.root.clone().unwrap_or_else(|| folder(&args.file).to_owned());
    let document = read(&args.file, &root)?;
    let workspace = Workspace { session: &args.session, root: &root, usual: Scope::Run };
    let toolbox = Toolbox::open_in(&workspace, screen)?;
    #[cfg(feature = "mcp")]
    let servers = wrapped_servers(args, &toolbox)?;
    #[cfg(feature = "mcp")]
    let context = match servers {
        Some(_) => context.timeout(args.wrapping.timeout_total.unwrap_or(LONGEST_CALL)),
        None => context,
    };
    let queries = QueryInputs::new(&toolbox.store, &toolbox.destinations).cancel_with(&reading);
    let runner = runner(args, &toolbox, context).queries(Arc::new(queries));
    let done = if args.dry_run {
        plan(args, &runner, &document, screen)
    } else {
        steps(args, &runner, &document, screen)
    };
    match signal.load(Ordering::Relaxed) {
        0 => done,
        number => Err(Failure::Signal(number)),
    }
}

/// Starts the wrapped servers, and adds their tools.
#[cfg(feature = "mcp")]
fn wrapped_servers(args: &RunArgs, toolbox: &Toolbox) -> Result<Option<trommel_mcp::WrappedTools>, Failure> {
    let options = super::mcp::proxy_options("run", &args.wrapping, WRAPPED_TIMEOUT, crate::args::MAX_CHARS)?;
    let Some(options) = options else { return Ok(None) };
    let servers = trommel_mcp::WrappedTools::new(options, toolbox.registry.names(), &toolbox.store)?;
    let notes = Notes::new("", Arc::new(Progress::hidden()));
    for note in servers.register(&toolbox.registry) {
        notes.warn(&escape::text(&note));
    }
    Ok(Some(servers))
}

/// Reads the document.
fn read(file: &Path, root: &Path) -> Result<Document, Failure> {
    let shown = display_name(file);
    let usage = |why: String| Failure::Usage { command: "run", message: format!("{shown}: {why}") };
    let mut bytes = Vec::new();
    let max_bytes = MAX_DOCUMENT_BYTES as u64 + 1;
    let read = if is_stdin(file) {
        io::stdin().take(max_bytes).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|file| file.take(max_bytes).read_to_end(&mut bytes))
    };
    let length = read.map_err(|error| usage(format!("cannot read the document: {error}")))?;
    if length > MAX_DOCUMENT_BYTES {
        return Err(usage(format!("the document is longer than {MAX_DOCUMENT_BYTES} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let byte = error.utf8_error().valid_up_to();
        usage(format!("the document is not valid UTF-8 (byte {byte}); save it as UTF-8"))
    })?;
    let document = Document::parse(&text).map_err(|error| StepError::failure(&shown, error))?;
    let identity =
        identity(file, root).map_err(|error| usage(format!("cannot resolve its path: {error}")))?;
    Ok(document.named(identity))
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// Returns the document's name in messages.
fn display_name(file: &Path) -> String {
    if is_stdin(file) { "standard input".to_owned() } else { file.to_string_lossy().into_owned() }
}

/// Returns the name under which `{pending}` remembers files: the document's canonical path, or the
/// root for standard input.
fn identity(file: &Path, root: &Path) -> io::Result<String> {
    let path = if is_stdin(file) { root.join("-") } else { file.to_owned() };
    let folder = folder(&path).canonicalize()?;
    if is_stdin(file) {
        return Ok(folder.join("-").to_string_lossy().into_owned());
    }
    // A pipe or a device has no canonical path, so its given path is used.
    Ok(path.canonicalize().unwrap_or(path).to_string_lossy().into_owned())
}

/// Returns the folder of a file.
fn folder(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn runner(args: &RunArgs, toolbox: &Toolbox, context: Context) -> Runner {
    let mut limits = Limits::default();
    limits.keep_all = true;
    let approve = args.approve;
    let executor = Executor::new(Arc::clone(&toolbox.registry))
        .limits(limits)
        .record(Arc::new(StoreRecord::new(&toolbox.store)))
        .approval(move |_: &Metadata, _: &Map<String, Value>| {
            if approve {
                Decision::Granted
            } else {
                Decision::Denied("run the document with --approve".to_owned())
            }
        });
    let runner = Runner::new(executor, toolbox.destinations.clone())
        .context(context)
        .overflow_store(Arc::new(StoreOverflow::new(&toolbox.store)))
        .approve(args.approve)
        .model_hint(MODEL_HINT);
    match model_from_environment(args.model_timeout) {
        Some(model) => runner.model(model),
        None => runner,
    }
}

/// Prints the plan of a dry run.
fn plan(args: &RunArgs, runner: &Runner, document: &Document, screen: &Screen) -> Result<(), Failure> {
    let file = display_name(&args.file);
    warn(&file, &document.warnings);
    let plan = runner.dry_run(document).map_err(|error| StepError::of_dry_run(&file, error))?;
    if args.json {
        let steps: Vec<_> =
            plan.steps.iter().map(|step| json!({"name": step.name, "does": step.does})).collect();
        let plan = json!({"steps": steps, "warnings": warnings_json(&document.warnings)});
        return Ok(output::print_json(&plan.to_string(), true, screen.out)?);
    }
    Ok(output::print(&for_terminal(&plan.to_string(), screen.out))?)
}

/// Runs the steps and prints the outcome of each as it arrives.
fn steps(args: &RunArgs, runner: &Runner, document: &Document, screen: &Screen) -> Result<(), Failure> {
    let file = display_name(&args.file);
    warn(&file, &document.warnings);
    let mut printed: io::Result<()> = Ok(());
    let mut spinner = None;
    // An answer to the document's context is printed with the context at the end.
    let mut is_context = false;
    let mut observe = |event: RunEvent<'_>| {
        spinner = matches!(event, RunEvent::Asking)
            .then(|| Spinner::new("waiting for the model or its tools", screen));
        let text = match event {
            RunEvent::Warning(warning) => return warn(&file, std::slice::from_ref(warning)),
            _ if args.json || printed.is_err() => return,
            RunEvent::Step(step) => {
                is_context =
                    step.directives.outputs.iter().any(|output| output.route.target == Target::Inline);
                format!("## {}\n", escape::text(&step.name))
            }
            RunEvent::Manifest(manifest) => format!("{}\n", notice(manifest)),
            RunEvent::Call(execution) => format!("{}\n", CallReport::of(execution)),
            RunEvent::Answer(answer) if !is_context => format!("\n{}\n", answer.trim_end()),
            _ => return,
        };
        printed = output::print(&for_terminal(&text, screen.out));
    };
    let done = runner.run(document, &mut observe);
    drop(spinner);
    printed?;
    let report = match done {
        Ok(report) => report,
        Err(error) => {
            if args.json && !error.is_cancelled {
                output::print_json(&failure_json(&error, document).to_string(), true, screen.out)?;
            }
            return Err(StepError::of_run(&file, error));
        }
    };
    if args.json {
        return Ok(output::print_json(&report_json(&report, document).to_string(), true, screen.out)?);
    }
    if !report.context.is_empty() {
        output::print(&for_terminal(&format!("\n{}\n", report.context.trim_end()), screen.out))?;
    }
    Ok(())
}

/// Prints warnings with their positions.
fn warn(file: &str, warnings: &[DirectiveError]) {
    let notes = Notes::new("", Arc::new(Progress::hidden()));
    for DirectiveError { message, line, column, .. } in warnings {
        notes.warn(&escape::text(&format!("{file}:{line}:{column}: {message}")));
    }
}

/// Formats warnings as JSON.
fn warnings_json(warnings: &[DirectiveError]) -> Value {
    let one = |warning: &DirectiveError| json!({"line": warning.line, "column": warning.column, "message": warning.message});
    warnings.iter().map(one).collect()
}

/// Formats a report as JSON.
fn report_json(report: &Report, document: &Document) -> Value {
    let steps: Vec<_> = report.steps.iter().map(step_json).collect();
    json!({"steps": steps, "context": report.context, "warnings": warnings_json(&document.warnings)})
}

/// Formats a step's report as JSON.
fn step_json(step: &StepReport) -> Value {
    let calls = step.tool_calls.iter().map(|call| {
        json!({
            "tool": call.tool,
            "arguments": call.arguments,
            "success": call.error.is_none(),
            "error": call.error,
            "destination": call.destination,
            "chars": call.chars
        })
    });
    json!({
        "name": step.name,
        "manifests": step.manifests,
        "calls": step.calls,
        "tool_calls": calls.collect::<Vec<_>>(),
        "warnings": warnings_json(&step.warnings),
        "answer": step.answer
    })
}

/// Formats the report of a failed run: the completed steps, the partial result of the failed step,
/// and the error.
fn failure_json(error: &RunError, document: &Document) -> Value {
    let mut report = report_json(&error.done, document);
    let DirectiveError { message, line, column, .. } = &*error.error;
    report["partial"] = error.partial.as_deref().map_or(Value::Null, step_json);
    report["error"] = json!({"step": error.step, "line": line, "column": column, "message": message});
    report
}

/// Escapes unsafe characters if the text goes to a terminal.
fn for_terminal(text: &str, out: Stream) -> String {
    if out.is_terminal { escape::lines(text) } else { text.to_owned() }
}

/// Returns the endpoint that the environment names, with a time limit per request. Variables of
/// this program take precedence over those that other programs read, too.
fn model_from_environment(timeout: Duration) -> Option<Arc<dyn Model>> {
    let url = variable(["TROMMEL_MODEL_URL", "OPENAI_BASE_URL"])?;
    let mut endpoint = Endpoint::new(&url).timeout(timeout);
    if let Some(key) = variable(["TROMMEL_MODEL_KEY", "OPENAI_API_KEY"]) {
        endpoint = endpoint.key(key);
    }
    if let Some(model) = variable(["TROMMEL_MODEL", "OPENAI_MODEL"]) {
        endpoint = endpoint.model(model);
    }
    Some(Arc::new(endpoint))
}

/// Returns the first variable that is set and not empty.
fn variable(names: [&str; 2]) -> Option<String> {
    let texts = names.iter().filter_map(|name| std::env::var_os(name)?.into_string().ok());
    texts.map(|text| text.trim().to_owned()).find(|text| !text.is_empty())
}
