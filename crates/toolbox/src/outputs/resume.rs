//! Cursors that work with `id` alone: the store's index keeps the arguments of the calls that
//! returned them.
//!
//! The index may lose entries at any time. A cursor then still works with its arguments repeated.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};
use trommel_store::Store;
use trommel_tool::{Call, Failure, Metadata, Output, Permissions, Tool};

use super::failures::Action;

/// The argument that holds a cursor.
const CURSOR: &str = "cursor";

/// A tool whose cursors work with `id` alone.
pub(super) struct Resumable<T> {
    tool: T,
    store: Arc<Store>,
}

impl<T: Tool> Resumable<T> {
    pub(super) fn new(tool: T, store: &Arc<Store>) -> Self {
        Self { tool, store: Arc::clone(store) }
    }

    /// Returns the key under which the store remembers a cursor of this tool.
    fn key(&self, cursor: &str) -> String {
        format!("{}\n{}", self.tool.metadata().name, cursor.trim())
    }

    /// Returns the arguments of the call that returned a cursor. A store that cannot be read does
    /// not know them.
    fn remembered(&self, cursor: &str) -> Option<Map<String, Value>> {
        let text = self.store.cursor_arguments(&self.key(cursor)).ok().flatten()?;
        serde_json::from_str(&text).ok()
    }

    /// Returns the schema of an argument.
    fn schema(&self, name: &str) -> Option<&Value> {
        self.tool.metadata().args_schema.get("properties")?.get(name)
    }

    /// Returns the names of the required arguments that a call lacks.
    fn missing<'a>(&'a self, arguments: &'a Map<String, Value>) -> impl Iterator<Item = &'a str> {
        let required = self.tool.metadata().args_schema.get("required").and_then(Value::as_array);
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        names.filter(|name| arguments.get(*name).is_none_or(Value::is_null))
    }

    /// True if a repeated argument has the same meaning as before, when it may have been omitted.
    fn agrees(&self, name: &str, given: &Value, before: Option<&Value>) -> bool {
        if let Some(before) = before {
            return is_same(given, before);
        }
        let default = self.schema(name).and_then(|schema| schema.get("default"));
        default.is_some_and(|default| is_same(given, default)) || *given == Value::Array(Vec::new())
    }

    fn refuse(&self, arguments: &Map<String, Value>, why: &str) -> Failure {
        let id = arguments.get("id").and_then(Value::as_str).unwrap_or_default();
        let action = Action { tool: &self.tool.metadata().name, verb: "continue an answer about", id };
        action.refuse("bad_cursor", why)
    }
}

/// True for the same JSON value, however its numbers are written.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

/// True for an argument that may differ from page to page: the length of a page.
fn is_free(name: &str) -> bool {
    matches!(name, "max_chars" | "limit")
}

/// True for an argument that is not remembered. The cursor itself is bound to the output.
fn is_own(name: &str) -> bool {
    matches!(name, "id" | CURSOR)
}

impl<T: Tool> Tool for Resumable<T> {
    fn metadata(&self) -> &Metadata {
        self.tool.metadata()
    }

    fn complete(&self, arguments: &mut Map<String, Value>) -> Result<(), Failure> {
        let Some(cursor) = arguments.get(CURSOR).and_then(Value::as_str) else { return Ok(()) };
        let Some(before) = self.remembered(cursor) else {
            let missing: Vec<String> = self
                .missing(arguments)
                .filter(|name| *name != "id")
                .map(|name| format!("`{name}`"))
                .collect();
            if missing.is_empty() {
                return Ok(());
            }
            let why = format!(
                "the arguments that belong to the cursor are not known; copy the cursor whole, and pass the arguments of the \
                 call that returned it again: {}",
                missing.join(", ")
            );
            return Err(self.refuse(arguments, &why));
        };
        let is_bound = |name: &str| !is_free(name) && !is_own(name) && self.schema(name).is_some();
        let mut given = arguments.iter().filter(|(name, value)| !value.is_null() && is_bound(name));
        let differs = given.find(|(name, value)| !self.agrees(name, value, before.get(*name)));
        if let Some((name, _)) = differs {
            let why = format!(
                "`{name}` differs from the call that returned the cursor; leave out `{name}` to continue that answer, or \
                 `cursor` to start a new one"
            );
            return Err(self.refuse(arguments, &why));
        }
        arguments.retain(|_, value| !value.is_null());
        for (name, value) in before {
            arguments.entry(name).or_insert(value);
        }
        Ok(())
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let output = self.tool.run(call)?;
        if let Some(next) = next_cursor(&output) {
            let own = call.arguments.iter().filter(|(name, _)| !is_own(name));
            let own: Map<String, Value> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
            // Without the entry, the next call has to repeat the arguments.
            self.store.remember_cursor(&self.key(&next), &Value::Object(own).to_string());
        }
        Ok(output)
    }

    fn within(&self, permissions: Permissions) -> Option<Arc<dyn Tool>> {
        self.tool.within(permissions)
    }

    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        self.tool.dry_run(call)
    }
}

/// Returns the cursor that continues an answer.
fn next_cursor(output: &Output) -> Option<String> {
    #[derive(Deserialize)]
    struct Partial {
        truncated: Option<Truncated>,
    }
    #[derive(Deserialize)]
    struct Truncated {
        next: Option<String>,
    }
    let partial: Partial = serde_json::from_str(output.as_str()).ok()?;
    partial.truncated?.next
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    fn next(text: &str) -> Option<String> {
        next_cursor(&Output::Json(RawValue::from_string(text.to_owned()).unwrap()))
    }

    #[test]
    fn cursors_are_found_in_any_answer() {
        let deep = format!("{}1e999{}", "[".repeat(5_000), "]".repeat(5_000));
        let text = format!(r#"{{"extracted":{deep},"truncated":{{"reason":"limit","next":"1ab"}}}}"#);
        assert_eq!(next(&text), Some("1ab".to_owned()));
        assert_eq!(next(r#"{"extracted":[{"truncated":{"next":"1ab"}}]}"#), None);
        assert_eq!(next(r#"{"truncated":{"reason":"damage"}}"#), None);
    }

    #[test]
    fn numbers_agree_however_they_are_written() {
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert!(is_same(&value("5"), &value("5.0")) && is_same(&value("[1]"), &value("[1]")));
        assert!(!is_same(&value("5"), &value("\"5\"")) && !is_same(&value("5"), &value("6")));
    }
}
