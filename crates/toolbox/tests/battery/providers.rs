//! Exports of the tools follow the rules of the providers, and lose nothing silently.

use trommel_tool::Metadata;
use trommel_tool::dialect::{Dialect, Fate};

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
