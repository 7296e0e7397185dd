//! `trommel run`: runs a document, step by step.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use serde_json::{Value, json};
use trommel::Cancel;
use trommel_route::{DOCUMENT_BYTES, Document, Progress as Told, Report, Runner, Scope, notice};
use trommel_tool::{Context, Executor, Limits};
use trommel_toolbox::{Queries, StoreRecord, StoreShelf};

use crate::args::RunArgs;
use crate::errors::{BadStep, Failure};
use crate::output::{self, escape};
use crate::progress::Progress;
use crate::toolbox::{Place, Toolbox};
use crate::{model, signals};

pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let context = Context::new(std::env::current_dir()?);
    let signal = Arc::new(AtomicI32::new(0));
    let (told, cancel, reading) = (Arc::clone(&signal), context.cancel.clone(), Cancel::new());
    let read_no_more = reading.clone();
    signals::tell(Arc::new(Progress::new()), move |number| {
        told.store(number, Ordering::Relaxed);
        cancel.cancel();
        read_no_more.cancel();
        signals::leave_after_a_grace(number);
        true
    })?;
    let document = read(&args.file)?;
    let root = args.root.clone().unwrap_or_else(|| folder(&args.file).to_owned());
    let place = Place { session: &args.session, root: &root, usual: Scope::Run };
    let toolbox = Toolbox::at(&place)?;
    let queries = Queries::new(&toolbox.store, &toolbox.places).cancel_with(&reading);
    let runner = runner(&toolbox, context).queries(Arc::new(queries));
    let done = if args.dry_run { plan(args, &runner, &document) } else { steps(args, &runner, &document) };
    match signal.load(Ordering::Relaxed) {
        0 => done,
        number => Err(Failure::Signal(number)),
    }
}

/// Reads the document.
fn read(file: &Path) -> Result<Document, Failure> {
    let shown = file.to_string_lossy();
    let usage = |why: String| Failure::Usage { command: "run", message: format!("{shown}: {why}") };
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(DOCUMENT_BYTES as u64 + 1).read_to_end(&mut bytes));
    let length = read.map_err(|error| usage(format!("the document cannot be read: {error}")))?;
    if length > DOCUMENT_BYTES {
        return Err(usage(format!("the document is longer than {DOCUMENT_BYTES} bytes")));
    }
    let text =
        String::from_utf8(bytes).map_err(|error| usage(format!("the document is no text: {error}")))?;
    let document = Document::parse(&text).map_err(|error| BadStep::failure(&shown, error))?;
    Ok(document.named(file.file_name().unwrap_or_default().to_string_lossy()))
}

/// The folder of a file.
fn folder(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn runner(toolbox: &Toolbox, context: Context) -> Runner {
    let mut limits = Limits::default();
    limits.keep_all = true;
    let executor = Executor::new(Arc::clone(&toolbox.registry))
        .limits(limits)
        .record(Arc::new(StoreRecord::new(&toolbox.store)));
    let runner = Runner::new(executor, toolbox.places.clone())
        .context(context)
        .shelf(Arc::new(StoreShelf::new(&toolbox.store)));
    match model::of_environment() {
        Some(model) => runner.model(model),
        None => runner,
    }
}

/// Says what would happen.
fn plan(args: &RunArgs, runner: &Runner, document: &Document) -> Result<(), Failure> {
    let plan =
        runner.dry_run(document).map_err(|error| BadStep::of_run(&args.file.to_string_lossy(), error))?;
    if args.json {
        let steps: Vec<_> =
            plan.steps.iter().map(|step| json!({"name": step.name, "does": step.does})).collect();
        return Ok(output::print_json(&json!({"steps": steps}).to_string(), true)?);
    }
    Ok(output::print(&shown(&plan.to_string()))?)
}

/// Runs the steps, and prints what comes of each as it comes.
fn steps(args: &RunArgs, runner: &Runner, document: &Document) -> Result<(), Failure> {
    let mut printed: io::Result<()> = Ok(());
    let mut tell = |told: Told<'_>| {
        let text = match told {
            _ if args.json || printed.is_err() => return,
            Told::Step(step) => format!("## {}\n", escape::text(&step.name)),
            Told::Manifest(manifest) => format!("{}\n", notice(manifest)),
            Told::Answer(answer) => format!("\n{}\n", answer.trim_end()),
            _ => return,
        };
        printed = output::print(&shown(&text));
    };
    let done = runner.run(document, &mut tell);
    printed?;
    let report = done.map_err(|error| BadStep::of_run(&args.file.to_string_lossy(), error))?;
    if args.json {
        return Ok(output::print_json(&told(&report).to_string(), true)?);
    }
    if !report.context.is_empty() {
        output::print(&shown(&format!("\n{}\n", report.context.trim_end())))?;
    }
    Ok(())
}

/// A report as JSON.
fn told(report: &Report) -> Value {
    let steps = report.steps.iter().map(|step| {
        json!({"name": step.name, "manifests": step.manifests, "calls": step.calls, "answer": step.answer})
    });
    json!({"steps": steps.collect::<Vec<_>>(), "context": report.context})
}

/// A text as whoever reads it may have it.
fn shown(text: &str) -> String {
    if output::is_terminal() { escape::lines(text) } else { text.to_owned() }
}
