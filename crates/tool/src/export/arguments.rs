//! Arguments with names that a dialect reserves: renamed in the export, and mapped back in a call.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::changes::{Fate, Notes, Obstacle};
use super::keywords::{child, has_type, is_required, properties, schemas};
use super::plain::is_anthropic;
use super::provider::Dialect;

/// Arguments that `LangChain` sets itself, so that those of a model are lost.
const LANGCHAIN: [&str; 3] = ["config", "run_manager", "callbacks"];

/// The changes that map a call's arguments back to those of the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Arguments {
    /// Own names by exported ones.
    names: BTreeMap<String, String>,
    /// The tool's schema, if optional members are exported as nullable.
    nulls: Option<Value>,
}

/// Renames the root's members that a dialect does not accept.
pub(super) fn rename(
    dialect: Dialect,
    schema: Map<String, Value>,
    notes: &mut Notes,
) -> Result<(Value, Arguments), Obstacle> {
    let mut renamed = Arguments::default();
    for (name, _) in properties(&schema).filter(|(name, _)| !is_free(dialect, name)) {
        let spelling = spelling(dialect, name, |spelling| {
            properties(&schema).all(|(other, _)| other != spelling) && !renamed.names.contains_key(spelling)
        })
        .ok_or_else(|| Obstacle::new("/properties", name, "no unused name was found for it"))?;
        let reason = format!("it cannot have its name here, and is `{spelling}`");
        notes.add(&child("/properties", name), name, Fate::Renamed, reason);
        renamed.names.insert(spelling, name.clone());
    }
    if renamed.names.is_empty() {
        return Ok((Value::Object(schema), renamed));
    }
    let exported = renamed.apply(schema.clone());
    match target_of_renamed(&Value::Object(schema), &renamed) {
        Some(target) => {
            Err(Obstacle::new("", "$ref", format!("`{target}` points to an argument that is renamed")))
        }
        None => Ok((Value::Object(exported), renamed)),
    }
}

fn is_free(dialect: Dialect, name: &str) -> bool {
    match dialect {
        Dialect::LangChain => !LANGCHAIN.contains(&name),
        Dialect::Anthropic | Dialect::AnthropicStrict => is_anthropic(name),
        _ => true,
    }
}

/// The first unused one of several legal names.
fn spelling(dialect: Dialect, name: &str, is_unused: impl Fn(&str) -> bool) -> Option<String> {
    let legal = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-') { c } else { '_' };
    let stem: String = match dialect {
        Dialect::LangChain => format!("{name}_"),
        _ if name.is_empty() => "_".to_owned(),
        _ => name.chars().take(56).map(legal).collect(),
    };
    let numbered = (2..1000).map(|number| format!("{stem}_{number}"));
    std::iter::once(stem.clone()).chain(numbered).find(|spelling| is_unused(spelling))
}

/// A reference that renaming would break.
fn target_of_renamed(schema: &Value, renamed: &Arguments) -> Option<String> {
    let places: Vec<String> = renamed.names.values().map(|name| child("#/properties", name)).collect();
    let is_broken = |target: &str| {
        let rest = places.iter().find_map(|place| target.strip_prefix(place.as_str()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let targets = schemas(schema).filter_map(|visited| visited.schema.get("$ref")?.as_str());
    targets.filter(|target| is_broken(target)).map(str::to_owned).next()
}

impl Arguments {
    /// The schema with the exported names in it.
    fn apply(&self, mut schema: Map<String, Value>) -> Map<String, Value> {
        let exported: BTreeMap<&str, &str> =
            self.names.iter().map(|(spelling, name)| (name.as_str(), spelling.as_str())).collect();
        let renamed = |name: &str| exported.get(name).copied().unwrap_or(name).to_owned();
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            let members = std::mem::take(properties);
            *properties = members.into_iter().map(|(name, value)| (renamed(&name), value)).collect();
        }
        let rename_all = |names: &mut Value| {
            for name in names.as_array_mut().into_iter().flatten() {
                if let Some(text) = name.as_str() {
                    *name = renamed(text).into();
                }
            }
        };
        if let Some(required) = schema.get_mut("required") {
            rename_all(required);
        }
        for keyword in ["dependentRequired", "dependentSchemas"] {
            if let Some(Value::Object(needs)) = schema.get_mut(keyword) {
                let members = std::mem::take(needs);
                *needs = members.into_iter().map(|(name, value)| (renamed(&name), value)).collect();
                needs.values_mut().filter(|value| value.is_array()).for_each(&rename_all);
            }
        }
        schema
    }

    /// Adds the schema that distinguishes a null for an omitted member from a meant one; `None` if
    /// no change is needed at all.
    pub(super) fn with_nulls(mut self, schema: &Value, strict: Option<&Value>) -> Option<Self> {
        if strict.is_some() {
            self.nulls = Some(schema.clone());
        }
        (self.nulls.is_some() || !self.names.is_empty()).then_some(self)
    }

    /// A call's arguments in the tool's own terms.
    pub(super) fn restore(&self, mut arguments: Value) -> Value {
        if let Some(schema) = &self.nulls {
            drop_nulls(schema, &mut arguments);
        }
        match arguments {
            Value::Object(members) => {
                let own = |name: String| self.names.get(&name).cloned().unwrap_or(name);
                Value::Object(members.into_iter().map(|(name, value)| (own(name), value)).collect())
            }
            other => other,
        }
    }
}

/// Removes nulls of optional members that cannot be null, as far as the schema is simple to follow.
fn drop_nulls(schema: &Value, value: &mut Value) {
    match (schema, value) {
        (Value::Object(schema), Value::Object(members)) => {
            members.retain(|name, value| {
                let inner = schema.get("properties").and_then(|properties| properties.get(name));
                !value.is_null() || is_required(schema, name) || inner.is_none_or(takes_null)
            });
            for (name, inner) in properties(schema) {
                if let Some(value) = members.get_mut(name) {
                    drop_nulls(inner, value);
                }
            }
        }
        (Value::Object(schema), Value::Array(elements)) => {
            if let Some(items) = schema.get("items") {
                for element in elements {
                    drop_nulls(items, element);
                }
            }
        }
        _ => {}
    }
}

/// True if null may be meant.
fn takes_null(schema: &Value) -> bool {
    let Value::Object(members) = schema else { return true };
    if let Some(Value::Array(values)) = members.get("enum") {
        return values.iter().any(Value::is_null);
    }
    if let Some(value) = members.get("const") {
        return value.is_null();
    }
    if members.contains_key("type") {
        return has_type(members, "null");
    }
    let branches = members.get("anyOf").or_else(|| members.get("oneOf")).and_then(Value::as_array);
    branches.is_none_or(|branches| branches.iter().any(takes_null))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn renamed(dialect: Dialect, schema: &Value) -> (Value, Arguments) {
        let Value::Object(members) = schema else { panic!("no object: {schema}") };
        rename(dialect, members.clone(), &mut Notes::default()).unwrap()
    }

    #[test]
    fn names_reserved_by_langchain_are_renamed() {
        let schema = json!({
            "properties": {"config": {}, "config_": {}, "callbacks": {}, "path": {}},
            "required": ["config", "path"],
            "dependentRequired": {"callbacks": ["config"]}
        });
        let (exported, arguments) = renamed(Dialect::LangChain, &schema);
        let expected = json!({
            "properties": {"config__2": {}, "config_": {}, "callbacks_": {}, "path": {}},
            "required": ["config__2", "path"],
            "dependentRequired": {"callbacks_": ["config__2"]}
        });
        assert_eq!(exported.to_string(), expected.to_string());
        let call = json!({"config__2": 1, "config_": 2, "callbacks_": null});
        assert_eq!(arguments.restore(call), json!({"config": 1, "config_": 2, "callbacks": null}));
        assert_eq!(renamed(Dialect::Mcp, &schema).0, schema);
    }

    #[test]
    fn names_that_anthropic_refuses_are_renamed() {
        let schema = json!({"properties": {"naïve name": {}, "na_ve_name": {}, "": {}, "fine.name-1": {}}});
        let (exported, arguments) = renamed(Dialect::Anthropic, &schema);
        let names: Vec<_> = exported["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(names, ["na_ve_name_2", "na_ve_name", "_", "fine.name-1"]);
        assert_eq!(arguments.restore(json!({"_": 1, "na_ve_name_2": 2})), json!({"": 1, "naïve name": 2}));
    }

    #[test]
    fn a_null_that_may_be_meant_stays() {
        let schema = json!({
            "properties": {
                "id": {"type": "string"},
                "limit": {"type": "integer"},
                "filter": {"type": ["string", "null"]},
                "any": {},
                "rows": {"type": "array", "items": {"properties": {"name": {"enum": ["a"]}}}}
            },
            "required": ["id"]
        });
        let arguments = Arguments { nulls: Some(schema), ..Arguments::default() };
        let call = json!({"id": null, "limit": null, "filter": null, "any": null, "rows": [{"name": null}], "x": null});
        let expected = json!({"id": null, "filter": null, "any": null, "rows": [{}], "x": null});
        assert_eq!(arguments.restore(call), expected);
    }
}
