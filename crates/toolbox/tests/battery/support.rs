//! A store, an executor with the tools, and checks of every answer.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::sync::Arc;

use jsonschema::Validator;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use trommel_store::{Origin, Store, StoreOptions, Stored};
use trommel_tool::{Context, ErrorKind, Executor, Registry, ToolError, ToolExecution, ToolResult};
use trommel_toolbox::outputs;

/// The tools over a store.
pub(crate) struct Bench {
    pub(crate) store: Arc<Store>,
    pub(crate) executor: Executor,
    results: BTreeMap<String, Validator>,
    /// The folder of the store.
    pub(crate) folder: TempDir,
}

/// Parses a JSON text. Numbers that no double can hold become zero.
pub(crate) fn parsed(text: &str) -> Value {
    let known = |error: &serde_json::Error| error.to_string().starts_with("number out of range");
    match (serde_json::from_str(text), text.trim_start().as_bytes()[0]) {
        (Ok(value), _) => value,
        (Err(error), b'{') if known(&error) => {
            let members: Vec<(String, Value)> =
                members(text).into_iter().map(|(name, value)| (name, parsed(value.get()))).collect();
            Value::Object(members.into_iter().collect())
        }
        (Err(error), b'[') if known(&error) => {
            let elements: Vec<Box<RawValue>> = serde_json::from_str(text).unwrap();
            Value::Array(elements.iter().map(|element| parsed(element.get())).collect())
        }
        (Err(error), _) => {
            assert!(known(&error), "{error}: {text}");
            json!(0)
        }
    }
}

/// Returns all members of an object in order, including duplicates.
pub(crate) fn members(text: &str) -> Vec<(String, Box<RawValue>)> {
    struct Members(Vec<(String, Box<RawValue>)>);

    impl<'de> Deserialize<'de> for Members {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_map(Collect)
        }
    }

    struct Collect;

    impl<'de> Visitor<'de> for Collect {
        type Value = Members;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(Members(members))
        }
    }

    serde_json::from_str::<Members>(text).unwrap().0
}

/// An answer that passed the checks.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) value: Value,
    pub(crate) metadata: Map<String, Value>,
}

impl Answer {
    /// Returns the reason for the cut, the number of units, and the argument to continue with.
    pub(crate) fn truncated(&self) -> Option<(&str, u64, Option<&Value>)> {
        let truncated = self.value.get("truncated")?;
        Some((truncated["reason"].as_str()?, truncated["returned"].as_u64()?, truncated.get("next")))
    }

    pub(crate) fn next(&self) -> Option<&str> {
        self.value["truncated"]["next"].as_str()
    }

    /// Returns a member of the coverage.
    pub(crate) fn coverage(&self, figure: &str) -> &Value {
        &self.metadata["coverage"][figure]
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(StoreOptions::default())
    }

    /// Creates a store that compresses all payloads.
    pub(crate) fn packed() -> Self {
        let mut options = StoreOptions::default();
        options.pack_over = Some(0);
        Self::with(options)
    }

    fn with(options: StoreOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(Store::open(folder.path().join("store"), options).unwrap());
        let registry = Registry::new();
        outputs::register(&registry, &store).unwrap();
        let results = registry.tools().into_iter().map(|tool| {
            let metadata = tool.metadata();
            (metadata.name.clone(), jsonschema::validator_for(&metadata.result_schema).unwrap())
        });
        let results = results.collect();
        Self { store, executor: Executor::new(Arc::new(registry)), results, folder }
    }

    /// Stores a payload under an ID.
    pub(crate) fn put(&self, id: &str, payload: impl AsRef<[u8]>) -> Stored {
        let mut origin = Origin::of("web.fetch");
        origin.id = Some(id.to_owned());
        self.store.put_from(origin, payload.as_ref()).unwrap()
    }

    /// Removes the guide of an output, which it must have.
    pub(crate) fn remove_guide(&self, id: &str) {
        assert!(self.store.get(id).unwrap().guide.is_some());
        let folders = fs::read_dir(self.folder.path().join("store/payload")).unwrap();
        let mut candidates = folders.map(|folder| folder.unwrap().path().join(format!("{id}.guide")));
        assert!(candidates.any(|candidate| fs::remove_file(candidate).is_ok()));
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> ToolExecution {
        self.executor.call(&format!("tool_outputs.{tool}"), arguments, &Context::new("/"))
    }

    /// Calls a tool that must succeed, and checks its answer.
    pub(crate) fn ok(&self, tool: &str, arguments: Value) -> Answer {
        let told = arguments.to_string();
        self.tried(tool, arguments).unwrap_or_else(|result| panic!("{tool} {told}: {:?}", result.error))
    }

    /// Calls a tool, and checks the answer if there is one.
    pub(crate) fn tried(&self, tool: &str, arguments: Value) -> Result<Answer, Box<ToolResult>> {
        let told = arguments.to_string();
        let most = arguments["max_chars"].as_u64().unwrap_or(if tool == "read" { 8_000 } else { 30_000 });
        let result = self.call(tool, arguments).result;
        if !result.success {
            return Err(Box::new(result));
        }
        let text = result.output.unwrap().as_str().to_owned();
        assert!(text.chars().count() as u64 <= most, "{tool} {told}: {}", text.len());
        let value = parsed(&text);
        let faults = self.results[&format!("tool_outputs.{tool}")].iter_errors(&value);
        let faults: Vec<String> = faults.map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{tool} {told}: {faults:?} in {text}");
        let coverage = &result.metadata["coverage"];
        assert!(
            coverage["bytes_read"].is_u64() && coverage["bytes_total"].is_u64(),
            "{tool} {told}: {coverage}"
        );
        assert!(
            coverage["exact"].is_boolean() && coverage["duration_ms"].is_f64(),
            "{tool} {told}: {coverage}"
        );
        assert!(
            ["strict", "structural"].iter().any(|one| coverage["validation"] == *one),
            "{tool} {told}: {coverage}"
        );
        Ok(Answer { text, value, metadata: result.metadata })
    }

    /// Returns the JSON value of an answer.
    pub(crate) fn value(&self, tool: &str, arguments: Value) -> Value {
        self.ok(tool, arguments).value
    }

    /// Calls a tool that must fail.
    pub(crate) fn error(&self, tool: &str, arguments: Value) -> (ToolError, Map<String, Value>) {
        let told = arguments.to_string();
        let result = self.call(tool, arguments).result;
        let error = result.error.unwrap_or_else(|| panic!("{tool} {told}: {:?}", result.output));
        (error, result.metadata)
    }

    /// Calls a tool that must refuse the request, and returns the message.
    pub(crate) fn refused(&self, tool: &str, arguments: Value) -> String {
        let told = arguments.to_string();
        let (error, _) = self.error(tool, arguments);
        assert_eq!(error.kind, ErrorKind::Refused, "{tool} {told}: {}", error.message);
        error.message
    }

    /// Returns all pages of an answer.
    pub(crate) fn walk(&self, tool: &str, arguments: &Value) -> Vec<Answer> {
        let mut pages = vec![self.ok(tool, arguments.clone())];
        while let Some(next) = pages.last().unwrap().next() {
            let mut again = arguments.clone();
            again["cursor"] = json!(next);
            let page = self.ok(tool, again);
            assert_ne!(page.next(), Some(next), "{tool} {arguments} does not end");
            pages.push(page);
            assert!(pages.len() < 100_000, "{tool} {arguments} does not end");
        }
        pages
    }
}
