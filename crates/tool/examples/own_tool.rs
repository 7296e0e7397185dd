//! A host's own tools: one that works at once, one that waits for something, both called as a model
//! would call them.
//!
//! ```sh
//! cargo run -p trommel-tool --example own_tool
//! ```

use std::collections::BTreeMap;
use std::error::Error;
use std::future::poll_fn;
use std::io::{self, Write};
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trommel_tool::{
    Async, AsyncTool, Call, Context, Executor, Failure, Function, Metadata, Output, Registry,
};

/// The whole of a tool, from what it says about itself to its answer.
fn register_add(registry: &Registry) -> Result<(), Box<dyn Error>> {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"]
    });
    registry.register(Function::new(Metadata::new("add", "Add two integers", schema), |call| {
        let numbers: BTreeMap<String, i64> = call.parse()?;
        Ok(numbers.values().sum::<i64>().to_string())
    }))?;
    Ok(())
}

/// Waits, without keeping a thread busy, until it is woken or its time is over.
struct Wait(Metadata);

impl AsyncTool for Wait {
    fn metadata(&self) -> &Metadata {
        &self.0
    }

    async fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let until = Instant::now() + Duration::from_millis(call.arguments["ms"].as_u64().unwrap_or_default());
        poll_fn(|task| {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Poll::Ready(());
            }
            let waker = task.waker().clone();
            thread::spawn(move || {
                thread::sleep(left);
                waker.wake();
            });
            Poll::Pending
        })
        .await;
        Ok("waited".into())
    }
}

/// Registers both tools, and calls them with valid and invalid arguments.
fn run(out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    register_add(&registry)?;
    let schema = json!({"type": "object", "properties": {"ms": {"type": "integer"}}, "required": ["ms"]});
    registry.register(Async(Wait(Metadata::new("wait", "Wait some milliseconds", schema))))?;

    let executor = Executor::new(Arc::new(registry));
    let context = Context::new(".").timeout(Duration::from_millis(200));
    let calls = [
        ("add", json!({"a": 2, "b": "40"})),
        ("add", json!({"a": 2, "c": 40})),
        ("wait", json!({"ms": 20})),
        ("wait", json!({"ms": 60_000})),
        ("ad", json!({})),
    ];
    for (name, arguments) in calls {
        call(&executor, name, arguments, &context, out)?;
    }
    Ok(())
}

fn call(
    executor: &Executor,
    name: &str,
    arguments: Value,
    context: &Context,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "{name} {arguments}")?;
    let result = executor.call(name, arguments, context).result;
    match (&result.output, &result.error) {
        (Some(output), _) => writeln!(out, "  {}", output.as_str())?,
        (_, Some(error)) => writeln!(out, "  {}", error.to_string().replace('\n', "\n  "))?,
        _ => writeln!(out, "  nothing")?,
    }
    match result.metadata.get("healed") {
        Some(healed) => writeln!(out, "  healed: {healed}"),
        None => Ok(()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_are_answered() {
        let mut out = Vec::new();
        run(&mut out).unwrap();
        let told = r#"add {"a":2,"b":"40"}
  42
  healed: [{"path":"b","from":"40","to":40}]
add {"a":2,"c":40}
  Missing required parameter: b; Unknown parameter: c
  Required parameters:
    • a (integer)
    • b (integer)
  Valid parameters: a, b
wait {"ms":20}
  waited
wait {"ms":60000}
  Tool timed out after 0.2s
ad {}
  The tool "ad" is not registered.
  Did you mean one of these? add
"#;
        assert_eq!(String::from_utf8(out).unwrap(), told);
    }
}
