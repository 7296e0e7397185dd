//! `trommel call`: validates, runs, and records one tool call.

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
use trommel_toolbox::{StoreOverflow, StoreRecord};

use crate::args::{CallArgs, LogLevel};
use crate::errors::Failure;
use crate::output::{self, Notes, Screen, Stream, escape};
use crate::progress::Progress;
use crate::toolbox::Toolbox;
use crate::{signals, stdio};

/// The maximum number of bytes of arguments on standard input.
const MAX_ARGUMENT_BYTES: u64 = 16 << 20;

pub(crate) fn run(args: &CallArgs, screen: &Screen) -> Result<(), Failure> {
    call(args, screen).map_err(|failure| match failure {
        Failure::Store(error) if args.form.json => {
            let shown = as_json(args, error.code(), &error.to_string());
            Failure::Tool { text: shown, is_request: Failure::Store(error).status() == 2 }
        }
        Failure::Output(error) if args.form.json && error.kind() != io::ErrorKind::BrokenPipe => {
            Failure::Tool { text: as_json(args, "io", &error.to_string()), is_request: false }
        }
        other => other,
    })
}

/// Formats an error as JSON.
fn as_json(args: &CallArgs, kind: &str, message: &str) -> String {
    output::json_line(&json!({"tool": args.tool, "kind": kind, "code": kind, "message": message}))
}

fn call(args: &CallArgs, screen: &Screen) -> Result<(), Failure> {
    let progress = Arc::new(Progress::new(screen));
    let context = context(args)?;
    let interrupt = Interrupt::listen(&context, &progress)?;
    log(args);
    let (arguments, not_json) = arguments(args, screen)?;
    // From here on, a signal cancels the call instead of ending the process.
    interrupt.running.store(true, Ordering::Relaxed);
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
        return Err(match interrupt.signal.load(Ordering::Relaxed) {
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

/// Builds the context of the call.
fn context(args: &CallArgs) -> io::Result<Context> {
    Ok(Context::new(std::env::current_dir()?).dry_run(args.dry_run).timeout(args.timeout))
}

/// The effect of a signal: it ends the process while arguments are read, and cancels the call while
/// the tool runs.
#[derive(Clone, Default)]
struct Interrupt {
    running: Arc<AtomicBool>,
    /// The number of the signal, or 0.
    signal: Arc<AtomicI32>,
}

impl Interrupt {
    fn listen(context: &Context, progress: &Arc<Progress>) -> io::Result<Self> {
        let interrupt = Self::default();
        let (handler, cancel) = (interrupt.clone(), context.cancel.clone());
        signals::on_signal(Arc::clone(progress), move |number| {
            handler.signal.store(number, Ordering::Relaxed);
            cancel.cancel();
            handler.running.load(Ordering::Relaxed)
        })?;
        Ok(interrupt)
    }
}

/// Starts the log at the requested level.
fn log(args: &CallArgs) {
    if args.log == LogLevel::Off {
        return;
    }
    let lines = LogLines::new(io::stderr());
    let lines = if args.utc { lines.utc() } else { lines };
    let wanted = Targets::new().with_target(LOG_TARGET, LevelFilter::from(args.log));
    // Cannot fail: this is the only subscriber of the process.
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

    /// Adds the code and the offset to the result of a call whose arguments are not JSON.
    fn explain(&self, result: &mut ToolResult) {
        if result.error_kind() != Some(ErrorKind::InvalidArguments) {
            return;
        }
        result.metadata.insert("code".into(), "invalid_json".into());
        result.metadata.insert("offset".into(), self.offset.into());
    }
}

/// The reason why standard input cannot be used as arguments.
enum ArgumentsError {
    Input(io::Error),
    TooLong,
    NotUtf8(FromUtf8Error),
}

impl fmt::Display for ArgumentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => write!(f, "cannot read the arguments: {error}"),
            Self::TooLong => write!(f, "the arguments are longer than {MAX_ARGUMENT_BYTES} bytes"),
            Self::NotUtf8(error) => write!(f, "the arguments are not UTF-8: {error}"),
        }
    }
}

impl ArgumentsError {
    fn failure(&self, args: &CallArgs, screen: &Screen) -> Failure {
        // No executor has run, so no result carries this error. It is built here as the executor
        // would build it, because panels and JSON show the errors of calls alone.
        let error = ToolError::new(ErrorKind::InvalidArguments, self.to_string());
        let shown = if args.form.json {
            as_json(args, "invalid_arguments", &error.message)
        } else {
            ValidationFailed::new(&args.tool, &error).text(&screen.err.layout(args.form.plain))
        };
        Failure::Tool { text: shown, is_request: true }
    }
}

/// Returns the arguments from the command line or from standard input.
fn arguments(args: &CallArgs, screen: &Screen) -> Result<(Value, Option<NotJson>), Failure> {
    let read;
    let text = if args.arguments == "-" {
        read = from_stdin().map_err(|why| why.failure(args, screen))?;
        &read
    } else {
        &args.arguments
    };
    // Text that is not JSON is passed on as a string. The executor refuses and records it like
    // other invalid arguments.
    Ok(match serde_json::from_str(text) {
        Ok(arguments) => (arguments, None),
        Err(error) => (text.as_str().into(), Some(NotJson::new(text, &error))),
    })
}

fn from_stdin() -> Result<String, ArgumentsError> {
    let mut bytes = Vec::new();
    stdio::check_stdin().map_err(ArgumentsError::Input)?;
    io::stdin().take(MAX_ARGUMENT_BYTES + 1).read_to_end(&mut bytes).map_err(ArgumentsError::Input)?;
    if bytes.len() as u64 > MAX_ARGUMENT_BYTES {
        return Err(ArgumentsError::TooLong);
    }
    String::from_utf8(bytes).map_err(ArgumentsError::NotUtf8)
}

fn show_context(args: &CallArgs, context: &Context, screen: &Screen) {
    let view = ContextView::new(context);
    let text = if args.form.json {
        output::json_line(&view) + "\n"
    } else {
        view.text(&screen.err.layout(args.form.plain))
    };
    // The call runs even if its context cannot be shown.
    let _ = io::Write::write_all(&mut io::stderr(), text.as_bytes());
}

/// Builds the executor. Results that exceed the limit go to the store, and so do all results that
/// can be queried later.
fn executor(args: &CallArgs, toolbox: &Toolbox) -> Executor {
    let mut limits = Limits::default();
    limits.keep_all = true;
    let router = Router::new(toolbox.destinations.clone())
        .overflow_store(Arc::new(StoreOverflow::new(&toolbox.store)));
    let approve = args.approve;
    Executor::new(Arc::clone(&toolbox.registry))
        .limits(limits)
        .delivery(Arc::new(router))
        .record(Arc::new(StoreRecord::new(&toolbox.store)))
        .approval(move |_: &Metadata, _: &serde_json::Map<String, Value>| {
            if approve { Decision::Granted } else { Decision::Denied("pass --approve to run it".to_owned()) }
        })
}

/// Prints the result, or the manifest of a result that was stored.
fn print(args: &CallArgs, toolbox: &Toolbox, execution: &ToolExecution, out: Stream) -> Result<(), Failure> {
    if args.panel || args.form.plain {
        let tool = toolbox.registry.get(&execution.tool_name);
        let outcome = Outcome::new(execution, tool.as_ref().map(|tool| tool.metadata()));
        return Ok(output::print(&outcome.text(&out.layout(args.form.plain)))?);
    }
    let result = &execution.result;
    let document = match &result.delivered {
        Delivered::Stored(manifest) => serde_json::to_string(manifest),
        _ => serde_json::to_string(&result.output),
    };
    Ok(output::print_json(&document.map_err(io::Error::other)?, args.form.json, out)?)
}
