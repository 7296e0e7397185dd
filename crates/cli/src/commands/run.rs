//! `trommel run`: runs a document, step by step.

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
use trommel_toolbox::{Queries, StoreRecord, StoreShelf};
use trommel_workflow::{
    CallReport, DOCUMENT_BYTES, DirectiveError, Document, Endpoint, Model, Progress as Told, Report,
    RunError, Runner, StepReport,
};

use crate::args::RunArgs;
use crate::errors::{BadStep, Failure};
use crate::output::{self, Notes, Screen, Stream, escape};
use crate::progress::{Progress, Waiting};
use crate::signals;
use crate::toolbox::{Place, Toolbox};

/// What to do where a step needs a model, and the environment names none.
const MODEL_HINT: &str = "set TROMMEL_MODEL_URL and TROMMEL_MODEL";

pub(crate) fn run(args: &RunArgs, screen: &Screen) -> Result<(), Failure> {
    let context = Context::new(std::env::current_dir()?);
    let signal = Arc::new(AtomicI32::new(0));
    let (told, cancel, reading) = (Arc::clone(&signal), context.cancel.clone(), Cancel::new());
    let read_no_more = reading.clone();
    signals::tell(Arc::new(Progress::hidden()), move |number| {
        told.store(number, Ordering::Relaxed);
        cancel.cancel();
        read_no_more.cancel();
        signals::leave_after_a_grace(number);
        true
    })?;
    let root = args.root.clone().unwrap_or_else(|| folder(&args.file).to_owned());
    let document = read(&args.file, &root)?;
    let place = Place { session: &args.session, root: &root, usual: Scope::Run };
    let toolbox = Toolbox::at(&place, screen)?;
    let queries = Queries::new(&toolbox.store, &toolbox.places).cancel_with(&reading);
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

/// Reads the document.
fn read(file: &Path, root: &Path) -> Result<Document, Failure> {
    let shown = shown_name(file);
    let usage = |why: String| Failure::Usage { command: "run", message: format!("{shown}: {why}") };
    let mut bytes = Vec::new();
    let most = DOCUMENT_BYTES as u64 + 1;
    let read = if is_stdin(file) {
        io::stdin().take(most).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    let length = read.map_err(|error| usage(format!("cannot read the document: {error}")))?;
    if length > DOCUMENT_BYTES {
        return Err(usage(format!("the document is longer than {DOCUMENT_BYTES} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let byte = error.utf8_error().valid_up_to();
        usage(format!("the document is not valid UTF-8 (byte {byte}); save it as UTF-8"))
    })?;
    let document = Document::parse(&text).map_err(|error| BadStep::failure(&shown, error))?;
    let identity =
        identity(file, root).map_err(|error| usage(format!("cannot resolve its path: {error}")))?;
    Ok(document.named(identity))
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// The document's name in messages.
fn shown_name(file: &Path) -> String {
    if is_stdin(file) { "standard input".to_owned() } else { file.to_string_lossy().into_owned() }
}

/// The text under which `{pending}` remembers files: the document's canonical path, or for standard
/// input its root.
fn identity(file: &Path, root: &Path) -> io::Result<String> {
    let path = if is_stdin(file) { root.join("-") } else { file.to_owned() };
    let folder = folder(&path).canonicalize()?;
    if is_stdin(file) {
        return Ok(folder.join("-").to_string_lossy().into_owned());
    }
    // A pipe or a device has no place of its own: it counts by the name it was given.
    Ok(path.canonicalize().unwrap_or(path).to_string_lossy().into_owned())
}

/// The folder of a file.
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
    let runner = Runner::new(executor, toolbox.places.clone())
        .context(context)
        .shelf(Arc::new(StoreShelf::new(&toolbox.store)))
        .approve(args.approve)
        .model_hint(MODEL_HINT);
    match model_of_environment(args.model_timeout) {
        Some(model) => runner.model(model),
        None => runner,
    }
}

/// Says what would happen.
fn plan(args: &RunArgs, runner: &Runner, document: &Document, screen: &Screen) -> Result<(), Failure> {
    let file = shown_name(&args.file);
    warn(&file, &document.warnings);
    let plan = runner.dry_run(document).map_err(|error| BadStep::of_dry_run(&file, error))?;
    if args.json {
        let steps: Vec<_> =
            plan.steps.iter().map(|step| json!({"name": step.name, "does": step.does})).collect();
        let plan = json!({"steps": steps, "warnings": listed(&document.warnings)});
        return Ok(output::print_json(&plan.to_string(), true, screen.out)?);
    }
    Ok(output::print(&shown(&plan.to_string(), screen.out))?)
}

/// Runs the steps, and prints the outcome of each as it comes.
fn steps(args: &RunArgs, runner: &Runner, document: &Document, screen: &Screen) -> Result<(), Failure> {
    let file = shown_name(&args.file);
    warn(&file, &document.warnings);
    let mut printed: io::Result<()> = Ok(());
    let mut waiting = None;
    // An answer that belongs to the document's context is printed with that, at the end.
    let mut is_context = false;
    let mut tell = |told: Told<'_>| {
        waiting =
            matches!(told, Told::Asking).then(|| Waiting::new("waiting for the model or its tools", screen));
        let text = match told {
            Told::Warning(warning) => return warn(&file, std::slice::from_ref(warning)),
            _ if args.json || printed.is_err() => return,
            Told::Step(step) => {
                is_context =
                    step.directives.outputs.iter().any(|output| output.route.target == Target::Inline);
                format!("## {}\n", escape::text(&step.name))
            }
            Told::Manifest(manifest) => format!("{}\n", notice(manifest)),
            Told::Call(execution) => format!("{}\n", CallReport::of(execution)),
            Told::Answer(answer) if !is_context => format!("\n{}\n", answer.trim_end()),
            _ => return,
        };
        printed = output::print(&shown(&text, screen.out));
    };
    let done = runner.run(document, &mut tell);
    drop(waiting);
    printed?;
    let report = match done {
        Ok(report) => report,
        Err(error) => {
            if args.json && !error.is_cancelled {
                output::print_json(&failed(&error, document).to_string(), true, screen.out)?;
            }
            return Err(BadStep::of_run(&file, error));
        }
    };
    if args.json {
        return Ok(output::print_json(&told(&report, document).to_string(), true, screen.out)?);
    }
    if !report.context.is_empty() {
        output::print(&shown(&format!("\n{}\n", report.context.trim_end()), screen.out))?;
    }
    Ok(())
}

/// Prints warnings with their places.
fn warn(file: &str, warnings: &[DirectiveError]) {
    let notes = Notes::new("", Arc::new(Progress::hidden()));
    for DirectiveError { message, line, column, .. } in warnings {
        notes.warn(&escape::text(&format!("{file}:{line}:{column}: {message}")));
    }
}

/// Warnings as JSON.
fn listed(warnings: &[DirectiveError]) -> Value {
    let one = |warning: &DirectiveError| json!({"line": warning.line, "column": warning.column, "message": warning.message});
    warnings.iter().map(one).collect()
}

/// A report as JSON.
fn told(report: &Report, document: &Document) -> Value {
    let steps: Vec<_> = report.steps.iter().map(step).collect();
    json!({"steps": steps, "context": report.context, "warnings": listed(&document.warnings)})
}

/// A step's report as JSON.
fn step(step: &StepReport) -> Value {
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
        "warnings": listed(&step.warnings),
        "answer": step.answer
    })
}

/// The report of a run that failed: the completed steps, what the failed one had done, and the
/// error.
fn failed(error: &RunError, document: &Document) -> Value {
    let mut report = told(&error.done, document);
    let DirectiveError { message, line, column, .. } = &*error.error;
    report["partial"] = error.partial.as_deref().map_or(Value::Null, step);
    report["error"] = json!({"step": error.step, "line": line, "column": column, "message": message});
    report
}

/// A text for its reader: on a terminal with unsafe characters as escapes.
fn shown(text: &str, out: Stream) -> String {
    if out.is_terminal { escape::lines(text) } else { text.to_owned() }
}

/// The endpoint that the environment names, if it does, with a time limit for each request. Our
/// variables come before those that other programs read as well.
fn model_of_environment(timeout: Duration) -> Option<Arc<dyn Model>> {
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

/// The first of these variables that says something.
fn variable(names: [&str; 2]) -> Option<String> {
    let texts = names.iter().filter_map(|name| std::env::var_os(name)?.into_string().ok());
    texts.map(|text| text.trim().to_owned()).find(|text| !text.is_empty())
}
