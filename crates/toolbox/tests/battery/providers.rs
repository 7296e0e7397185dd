//! Exports of the tools follow the rules of the providers, and lose nothing silently.

use serde_json::json;
use trommel_route::Destinations;
use trommel_session::Sessions;
use trommel_tool::dialect::{Dialect, Fate};
use trommel_tool::{Metadata, Registry};
use trommel_toolbox::{buffers, outputs, sessions};

use crate::rules::{body, faults};
use crate::support::Bench;

fn tools() -> Vec<Metadata> {
    let bench = Bench::new();
    bench.executor.registry().tools().iter().map(|tool| tool.metadata().clone()).collect()
}

#[test]
fn r28_every_provider_accepts_them() {
    let tools = tools();
    for dialect in Dialect::ALL {
        let export = dialect.export(&tools.iter().collect::<Vec<_>>());
        assert_eq!(faults(&export), Vec::<String>::new(), "{dialect}");
        assert_eq!(export.tools.len(), 8, "{dialect}");
        assert!(export.excesses().is_empty(), "{dialect}: {:?}", export.excesses());
        assert!(!export.dropped.iter().any(|one| one.fate == Fate::Refused), "{dialect}");
    }
}

/// A default value of any type has no strict schema. Anthropic also limits the number of optional
/// arguments of all strict tools together, so the last tools are not strict.
#[test]
fn strict_dialects_work_for_most_tools() {
    let tools = tools();
    let all = ["aggregate", "count", "list", "read", "sample", "search", "stats"]
        .map(|name| format!("tool_outputs_{name}"));
    for (dialect, rest) in [(Dialect::OpenAiStrict, &all[..]), (Dialect::AnthropicStrict, &all[..4])] {
        let export = dialect.export(&tools.iter().collect::<Vec<_>>());
        let strict = export.tools.iter().filter(|tool| body(tool)["strict"] == true);
        let strict: Vec<&str> = strict.map(|tool| body(tool)["name"].as_str().unwrap()).collect();
        assert_eq!(strict, rest, "{dialect}");
        let told: Vec<String> = export
            .dropped
            .iter()
            .filter(|one| one.fate == Fate::NotStrict)
            .map(ToString::to_string)
            .collect();
        let expected = "tool_outputs.extract: `strict` at /properties/default_value does not apply";
        assert!(told.iter().any(|one| one.starts_with(expected)), "{dialect}: {told:?}");
        assert_eq!(told.len(), tools.len() - rest.len(), "{dialect}: {told:?}");
    }
}

/// The tools take a small part of a model's context in every dialect: names, descriptions, and
/// schemas of arguments as compact JSON.
#[test]
fn exports_are_short() {
    let bench = Bench::new();
    let registry = Registry::new();
    outputs::register(&registry, &bench.store).unwrap();
    buffers::register(&registry, &Destinations::default()).unwrap();
    sessions::register(&registry, &Sessions::new()).unwrap();
    let tools = registry.tools();
    let metadata: Vec<_> = tools.iter().map(|tool| tool.metadata()).collect();
    for dialect in Dialect::ALL {
        let export = dialect.export(&metadata);
        let mut sums = [0, 0];
        for tool in &export.tools {
            let body = tool.get("function").unwrap_or(tool);
            let keys = ["parameters", "input_schema", "args_schema", "inputSchema"];
            let schema = keys.iter().find_map(|key| body.get(key)).unwrap();
            let (name, description) = (body["name"].as_str().unwrap(), body["description"].as_str().unwrap());
            let text = json!({ "name": name, "description": description, "schema": schema }).to_string();
            assert!(description.chars().count() <= 1_024, "{name}");
            assert!(!schema.to_string().contains(r#""default":"#), "{name}");
            sums[0] += text.chars().count();
            sums[1] += if name.starts_with("tool_outputs") { text.chars().count() } else { 0 };
        }
        assert!(sums[0] <= 12_000 && sums[1] <= 8_000, "{dialect}: {sums:?}");
        assert!(export.tools.len() == tools.len(), "{dialect}");
    }
}
