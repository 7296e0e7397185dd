//! Tools that come and go.

use std::sync::Arc;
use std::thread;

use serde_json::json;
use trommel_tool::{Category, Context, Executor, Metadata, Output, Registry, RegistryError, Tool};

use crate::support::{anything, tool};

fn named(name: &str, category: Category) -> impl Tool + 'static {
    tool(anything(name).category(category), |_| Ok(Output::Nothing))
}

fn some() -> Registry {
    let registry = Registry::new();
    for (name, category) in [
        ("Write", Category::File),
        ("Bash", Category::Execution),
        ("Read", Category::File),
        ("tool_outputs.list", Category::Other),
    ] {
        registry.register(named(name, category)).unwrap();
    }
    registry
}

#[test]
fn tools_are_listed_in_order() {
    let registry = some();
    assert_eq!(registry.names(), ["Bash", "Read", "Write", "tool_outputs.list"]);
    let names = |category| {
        let tools = registry.in_category(category);
        tools.iter().map(|tool| tool.metadata().name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(Category::File), ["Read", "Write"]);
    assert!(names(Category::Web).is_empty());
    assert_eq!((registry.len(), registry.is_empty(), Registry::default().is_empty()), (4, false, true));
    assert!(registry.contains("Read") && !registry.contains("read"));
    assert!(registry.contains("tool_outputs_list"));
}

#[test]
fn duplicate_tools_are_refused() {
    let registry = some();
    let error = registry.register(named("Read", Category::Web)).unwrap_err();
    assert_eq!(error.to_string(), "Cannot register tool \"Read\": a tool with this name already exists.");
    assert_eq!(registry.get("Read").unwrap().metadata().category, Category::File);
    registry.deregister("Read").unwrap();
    registry.register(named("Read", Category::Web)).unwrap();
    assert_eq!(registry.get("Read").unwrap().metadata().category, Category::Web);
}

#[test]
fn unknown_tools_cannot_be_removed() {
    let error = some().deregister("Raed").err().unwrap();
    assert_eq!(error.to_string(), "The tool \"Raed\" is not registered.");
    assert_eq!(error.advice(), ["Did you mean one of these?", "  • Read"]);
}

#[test]
fn names_and_schemas_are_checked() {
    let registry = Registry::new();
    for name in ["", "a b", "a/b", "ä", &"x".repeat(129), "a\u{1b}[31m"] {
        let error = registry.register(named(name, Category::Other)).unwrap_err();
        assert!(matches!(&error, RegistryError::InvalidName { .. }));
        assert!(!error.to_string().contains('\u{1b}') && !error.advice().is_empty());
    }
    let wrong = Metadata::new("t", "", json!({"type": "object", "properties": 1}));
    let error = registry.register(tool(wrong, |_| Ok(Output::Nothing))).unwrap_err();
    assert!(error.to_string().starts_with("Cannot register tool \"t\": its args_schema cannot be used: "));
    let wrong = anything("t").result_schema(json!({"type": "text"}));
    let error = registry.register(tool(wrong, |_| Ok(Output::Nothing))).unwrap_err();
    assert!(error.to_string().starts_with("Cannot register tool \"t\": its result_schema cannot be used: "));
    assert_eq!(error.advice(), ["Correct result_schema and register the tool again."]);
    let deep = (0..200).fold(json!(true), |inner, _| json!({"items": inner}));
    let error = registry.register(tool(anything("t").result_schema(deep), |_| Ok(Output::Nothing)));
    assert!(error.unwrap_err().to_string().ends_with("it is nested deeper than 128 levels"));
    registry.register(named(&"x".repeat(128), Category::Other)).unwrap();
}

#[test]
fn reports_the_state_in_figures() {
    let state = some().state();
    let json = serde_json::to_value(&state).unwrap();
    assert_eq!(json["total"], 4);
    assert_eq!(
        json["by_category"],
        json!({"file": 2, "execution": 1, "web": 0, "task": 0, "notebook": 0, "mcp": 0, "other": 1})
    );
    assert_eq!(json["names"], json!(["Bash", "Read", "Write", "tool_outputs.list"]));
    assert!(state.instance_id.starts_with("0x") && state.instance_id.len() == 14);
    assert_ne!(some().state().instance_id, state.instance_id);
}

#[test]
fn tools_come_and_go_while_others_are_called() {
    let registry = Arc::new(some());
    let executor = Executor::new(Arc::clone(&registry));
    thread::scope(|scope| {
        for part in 0..4 {
            let (executor, registry) = (&executor, &registry);
            scope.spawn(move || {
                for turn in 0..50 {
                    let name = format!("t{part}_{turn}");
                    registry.register(named(&name, Category::Task)).unwrap();
                    assert!(executor.call(&name, json!({}), &Context::default()).result.success);
                    registry.deregister(&name).unwrap();
                }
            });
        }
    });
    assert_eq!(registry.len(), 4);
}

#[test]
fn metadata_is_json() {
    let tool = Metadata::new("Read", "Reads", json!(null)).category(Category::File).command("file");
    let json = serde_json::to_value(&tool).unwrap();
    assert_eq!(json["category"], "file");
    assert_eq!(json["result_mode"], "auto");
    assert_eq!(
        json["args_schema"],
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    );
    assert_eq!(serde_json::from_value::<Metadata>(json).unwrap(), tool);
    let little: Metadata =
        serde_json::from_value(json!({"name": "a", "description": "", "args_schema": {"type": "object"}}))
            .unwrap();
    assert_eq!(little, Metadata::new("a", "", json!({"type": "object"})));
}

#[test]
fn parameters_are_a_view_of_the_schema() {
    let schema = json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "Absolute path", "minLength": 1, "maxLength": 4096},
            "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 10000, "default": 2000},
            "format": {"enum": ["a", "b"]},
            "either": {"anyOf": [{"type": "string"}, {"type": "array"}]}
        },
        "required": ["file_path"]
    });
    let parameters = Metadata::new("Read", "", schema).parameters();
    assert_eq!(
        serde_json::to_value(&parameters[0]).unwrap(),
        json!({
            "name": "file_path", "type": "string", "description": "Absolute path", "required": true, "default": null,
            "enum": null, "min_length": 1, "max_length": 4096, "minimum": null, "maximum": null
        })
    );
    let types = parameters.iter().map(|one| one.type_.as_str()).collect::<Vec<_>>();
    assert_eq!(types, ["string", "integer|null", "any", "string|array"]);
    assert_eq!(parameters[1].maximum.as_ref().unwrap().as_u64(), Some(10_000));
    assert_eq!(parameters[2].enum_.as_ref().unwrap().len(), 2);
}
