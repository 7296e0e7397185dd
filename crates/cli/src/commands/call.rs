//! `trommel call`: validates, runs and records one call of a tool.

use std::fmt;
use std::io::{self, Read};
use std::string::FromUtf8Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use serde_json::{Value, json};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use trommel_display::{ContextView, LogLines, Outcome, Show, ValidationFailed};
use trommel_route::Router;
use trommel_tool::{
    Context, Decision, Delivered, ErrorKind, Event, Executor, LOG_TARGET, Limits, Metadata, ToolError,
    ToolExecution, ToolResult,
};
use trommel_toolbox::{StoreRecord, StoreShelf};

use crate::args::{CallArgs, LogLevel};
use crate::errors::Failure;
use crate::output::{self, Notes, Screen, Stream, escape};
use crate::progress::Progress;
use crate::toolbox::Toolbox;
use crate::{signals, stdio};

/// Bytes of arguments that are read from standard input.
const LONGEST: u64 = 16 << 20;

pub(crate) fn run(args: &CallArgs, screen: &Screen) -> Result<(), Failure> {
    call(args, screen).map_err(|failure| match failure {
        Failure::Store(error) if args.form.json => {
            let shown = as_json(args, error.code(), &error.to_string());
            Failure::Tool { shown, request: Failure::Store(error).status() == 2 }
        }
        Failure::Output(error) if args.form.json && error.kind() != io::ErrorKind::BrokenPipe => {
            Failure::Tool { shown: as_json(args, "io", &error.to_string()), request: false }
        }
        other => other,
    })
}

/// An error as JSON.
fn as_json(args: &CallArgs, kind: &str, message: &str) -> String {
    output::json_line(&json!({"tool": args.tool, "kind": kind, "code": kind, "message": message}))
}

fn call(args: &CallArgs, screen: &Screen) -> Result<(), Failure> {
    let progress = Arc::new(Progress::new(screen));
    let context = context(args)?;
    let interrupted = Interrupted::listen(&context, &progress)?;
    log(args);
    let (arguments, not_json) = arguments(args, screen)?;
    interrupted.running.store(true, Ordering::Relaxed);
    let toolbox = Toolbox::open(screen)?;
    if args.show_context {
        show_context(args, &context, screen);
    }
    let watch = &mut |event: Event<'_>| progress.watch(&event);
    let mut execution = executor(args, &toolbox).call_with(&args.tool, arguments, &context, watch);
    progress.clear();
    if !execution.result.success {
        if let Some(not_json) = not_json {
            not_json.explain(&mut execution.result);
        }
        return Err(match interrupted.signal.load(Ordering::Relaxed) {
            0 => toolbox.problem(&execution, args.form),
            number => Failure::Signal(number),
        });
    }
    if let (Some(warning), false) = (execution.result.metadata.get("warning"), args.panel || args.form.plain)
    {
        let warning = warning.as_str().map_or_else(|| warning.to_string(), str::to_owned);
        Notes::new("", progress).warn(&escape::text(&warning));
    }
    print(args, &toolbox, &execution, screen.out)
}

/// The surroundings of the call.
fn context(args: &CallArgs) -> io::Result<Context> {
    Ok(Context::new(std::env::current_dir()?).dry_run(args.dry_run).timeout(args.timeout))
}

/// What a signal does: ends the process while arguments are read, and the call while the tool runs.
#[derive(Clone, Default)]
struct Interrupted {
    running: Arc<AtomicBool>,
    /// The number of the signal, else 0.
    signal: Arc<AtomicI32>,
}

impl Interrupted {
    fn listen(context: &Context, progress: &Arc<Progress>) -> io::Result<Self> {
        let interrupted = Self::default();
        let (told, cancel) = (interrupted.clone(), context.cancel.clone());
        signals::tell(Arc::clone(progress), move |number| {
            told.signal.store(number, Ordering::Relaxed);
            cancel.cancel();
            told.running.load(Ordering::Relaxed)
        })?;
        Ok(interrupted)
    }
}

/// Logs what was asked for.
fn log(args: &CallArgs) {
    if args.log == LogLevel::Off {
        return;
    }
    let lines = LogLines::new(io::stderr());
    let lines = if args.utc { lines.utc() } else { lines };
    let wanted = Targets::new().with_target(LOG_TARGET, LevelFilter::from(args.log));
    // There is no other subscriber in this process.
    let _ = tracing_subscriber::registry().with(lines.with_filter(wanted)).try_init();
}

/// Arguments that are not JSON.
struct NotJson {
    offset: usize,
}

impl NotJson {
    fn new(text: &str, error: &serde_json::Error) -> Self {
        let before =
            text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
        let offset = (before + error.column().saturating_sub(1)).min(text.len());
        Self { offset }
    }

    /// Adds the code and the offset to what the result says of arguments that are not JSON.
    fn explain(&self, result: &mut ToolResult) {
        if result.error_kind() != Some(ErrorKind::InvalidArguments) {
            return;
        }
        result.metadata.insert("code".into(), "invalid_json".into());
        result.metadata.insert("offset".into(), self.offset.into());
    }
}

/// Why standard input cannot be used as arguments.
enum Unreadable {
    Input(io::Error),
    TooLong,
    NotUtf8(FromUtf8Error),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => write!(f, "The arguments cannot be read: {error}"),
            Self::TooLong => write!(f, "The arguments are longer than {LONGEST} bytes"),
            Self::NotUtf8(error) => write!(f, "The arguments are not UTF-8: {error}"),
        }
    }
}

impl Unreadable {
    fn failure(&self, args: &CallArgs, screen: &Screen) -> Failure {
        // No executor has run, so no result carries this error. It is built here as the executor
        // would build it, because panels and JSON show the errors of calls alone.
        let error = ToolError::new(ErrorKind::InvalidArguments, self.to_string());
        let shown = if args.form.json {
            as_json(args, "invalid_arguments", &error.message)
        } else {
            ValidationFailed::new(&args.tool, &error).text(&screen.err.look(args.form.plain))
        };
        Failure::Tool { shown, request: true }
    }
}

/// The arguments of the command line, or of standard input.
fn arguments(args: &CallArgs, screen: &Screen) -> Result<(Value, Option<NotJson>), Failure> {
    let read;
    let text = if args.arguments == "-" {
        read = from_stdin().map_err(|why| why.failure(args, screen))?;
        &read
    } else {
        &args.arguments
    };
    // What is no JSON is refused, and recorded, as any other arguments that do not validate.
    Ok(match serde_json::from_str(text) {
        Ok(arguments) => (arguments, None),
        Err(error) => (text.as_str().into(), Some(NotJson::new(text, &error))),
    })
}

fn from_stdin() -> Result<String, Unreadable> {
    let mut bytes = Vec::new();
    stdio::check_stdin().map_err(Unreadable::Input)?;
    io::stdin().take(LONGEST + 1).read_to_end(&mut bytes).map_err(Unreadable::Input)?;
    if bytes.len() as u64 > LONGEST {
        return Err(Unreadable::TooLong);
    }
    String::from_utf8(bytes).map_err(Unreadable::NotUtf8)
}

fn show_context(args: &CallArgs, context: &Context, screen: &Screen) {
    let view = ContextView::new(context);
    let text = if args.form.json {
        output::json_line(&view) + "\n"
    } else {
        view.text(&screen.err.look(args.form.plain))
    };
    // The call runs even if its context cannot be shown.
    let _ = io::Write::write_all(&mut io::stderr(), text.as_bytes());
}

/// What runs the tool: results too long for the caller go to the store, and so do all that can be
/// asked later.
fn executor(args: &CallArgs, toolbox: &Toolbox) -> Executor {
    let mut limits = Limits::default();
    limits.keep_all = true;
    let router = Router::new(toolbox.places.clone()).shelf(Arc::new(StoreShelf::new(&toolbox.store)));
    let approve = args.approve;
    Executor::new(Arc::clone(&toolbox.registry))
        .limits(limits)
        .delivery(Arc::new(router))
        .record(Arc::new(StoreRecord::new(&toolbox.store)))
        .approval(move |_: &Metadata, _: &serde_json::Map<String, Value>| {
            if approve { Decision::Granted } else { Decision::Denied("pass --approve to run it".to_owned()) }
        })
}

/// Prints the result's output, or where it went.
fn print(args: &CallArgs, toolbox: &Toolbox, execution: &ToolExecution, out: Stream) -> Result<(), Failure> {
    if args.panel || args.form.plain {
        let tool = toolbox.registry.get(&execution.tool_name);
        let outcome = Outcome::new(execution, tool.as_ref().map(|tool| tool.metadata()));
        return Ok(output::print(&outcome.text(&out.look(args.form.plain)))?);
    }
    let result = &execution.result;
    let document = match &result.delivered {
        Delivered::Stored(manifest) => serde_json::to_string(manifest),
        _ => serde_json::to_string(&result.output),
    };
    Ok(output::print_json(&document.map_err(io::Error::other)?, args.form.json, out)?)
}
