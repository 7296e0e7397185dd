//! A host's own tools: one that works at once, one that waits for something, both called as a model would call them.
//!
//! ```sh
//! cargo run -p trommel-tool --example own_tool
//! ```
#![expect(clippy::print_stdout, reason = "a program for a terminal")]

use std::error::Error;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use trommel_tool::{
    Async, AsyncTool, Call, Category, Context, Executor, Failure, Function, Metadata, Output, Registry,
};

/// Adds two numbers.
fn add() -> Function<impl Fn(&mut Call<'_>) -> Result<Output, Failure> + Send + Sync> {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": false
    });
    Function::new(Metadata::new("add", "Add two integers", schema).category(Category::Other), |call| {
        let numbers: std::collections::BTreeMap<String, i64> = call.parse()?;
        Ok(numbers.values().sum::<i64>().to_string().into())
    })
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

fn main() -> Result<(), Box<dyn Error>> {
    let schema = json!({"type": "object", "properties": {"ms": {"type": "integer"}}, "required": ["ms"]});
    let registry = Registry::new();
    registry.register(add())?;
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
        println!("{name} {arguments}");
        let result = executor.call(name, arguments, &context).result;
        match (&result.output, &result.error) {
            (Some(output), _) => println!("  {}", output.as_str()),
            (_, Some(error)) => println!("  {}", error.to_string().replace('\n', "\n  ")),
            _ => println!("  nothing"),
        }
        if let Some(healed) = result.metadata.get("healed") {
            println!("  healed: {healed}");
        }
    }
    Ok(())
}
