//! The budgets of one request for its tools, and their excess.
//!
//! The limits are those of the providers in February 2026. They change, and a provider has
//! unpublished ones, such as the size of Anthropic's compiled grammar.

use std::fmt;

use serde::Serialize;
use serde_json::Value;
use trommel_base::text::grouped;

use super::keywords::{has_type, is_required, properties, schemas};
use super::provider::Dialect;

/// Strict tools in a request to Anthropic.
const STRICT_TOOLS: u64 = 20;
/// Optional members of all strict tools in a request to Anthropic.
const OPTIONAL: u64 = 24;
/// Members with several types of all strict tools in a request to Anthropic.
const UNIONS: u64 = 16;
/// Members of all objects in a strict schema of `OpenAI`.
const PROPERTIES: u64 = 5_000;
/// Nested objects and arrays in a strict schema of `OpenAI`.
const LEVELS: u64 = 10;
/// Characters of names and listed values in a strict schema of `OpenAI`.
const CHARACTERS: u64 = 120_000;
/// Listed values in a strict schema of `OpenAI`.
const VALUES: u64 = 1_000;
/// Values above which a single list of strings has a limit of its own.
const LARGE_ENUM: usize = 250;
/// Characters of such a list.
const LARGE_ENUM_CHARACTERS: u64 = 15_000;
/// Characters of a description that clients read.
const DESCRIPTION: u64 = 2_048;

/// A budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Budget {
    /// Strict tools in a request.
    StrictTools,
    /// Optional members of all strict tools.
    OptionalParameters,
    /// Members with several types, of all strict tools.
    UnionParameters,
    /// Members of all objects in a schema.
    Properties,
    /// Nested objects and arrays.
    NestingLevels,
    /// Characters of names and listed values in a schema.
    SchemaCharacters,
    /// Listed values in a schema.
    EnumValues,
    /// Characters of a single long list of strings.
    EnumCharacters,
    /// Characters of a tool's description.
    DescriptionCharacters,
}

impl Budget {
    const fn words(self) -> &'static str {
        match self {
            Self::StrictTools => "strict tools in a request",
            Self::OptionalParameters => "optional parameters of the strict tools in a request",
            Self::UnionParameters => "parameters of several types of the strict tools in a request",
            Self::Properties => "members in the schema",
            Self::NestingLevels => "levels of nesting in the schema",
            Self::SchemaCharacters => "characters of names and listed values in the schema",
            Self::EnumValues => "listed values in the schema",
            Self::EnumCharacters => "characters in a list of more than 250 texts",
            Self::DescriptionCharacters => "characters of description",
        }
    }

    /// The advice.
    const fn advice(self) -> &'static str {
        match self {
            Self::StrictTools | Self::OptionalParameters | Self::UnionParameters => {
                "send fewer tools, or fewer of them strict"
            }
            Self::DescriptionCharacters => {
                "the rest may be cut: say what matters first, details with the arguments"
            }
            _ => "simplify the schema, or send the tool without strict",
        }
    }
}

/// The excess of a budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Excess {
    /// The exported name of the tool, unless all tools together exceed the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The budget.
    pub budget: Budget,
    /// The spent amount.
    pub figure: u64,
    /// The limit.
    pub limit: u64,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tool) = &self.tool {
            write!(f, "{tool}: ")?;
        }
        let (figure, limit) = (grouped(self.figure), grouped(self.limit));
        write!(f, "{figure} {}, at most {limit}; {}", self.budget.words(), self.budget.advice())
    }
}

impl std::error::Error for Excess {}

/// The budgets that tools exceed in a dialect.
///
/// ```
/// use serde_json::json;
/// use trommel_tool::budget::{Budget, check};
/// use trommel_tool::dialect::Dialect;
///
/// let long = "x".repeat(3_000);
/// let tool = json!({"name": "talk", "description": long, "input_schema": {"type": "object"}});
/// let found = check(Dialect::Anthropic, &[tool]);
/// assert_eq!(found.len(), 1);
/// assert_eq!((found[0].budget, found[0].figure), (Budget::DescriptionCharacters, 3_000));
/// ```
pub fn check(dialect: Dialect, tools: &[Value]) -> Vec<Excess> {
    let mut found = Vec::new();
    let mut spent = Spent::NOTHING;
    for tool in tools {
        let body = dialect.body(tool);
        let text = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default();
        let mut exceeded = Vec::new();
        if body.get("strict") == Some(&Value::Bool(true)) {
            exceeded = of_schema(dialect, dialect.schema(tool));
            spent = spent.plus(dialect, dialect.schema(tool));
        }
        let description = text("description").chars().count() as u64;
        exceeded.extend(over(Budget::DescriptionCharacters, description, DESCRIPTION));
        let named =
            exceeded.into_iter().map(|excess| Excess { tool: Some(text("name").to_owned()), ..excess });
        found.extend(named);
    }
    found.extend(spent.excesses());
    found
}

fn over(budget: Budget, figure: u64, limit: u64) -> Option<Excess> {
    (figure > limit).then_some(Excess { tool: None, budget, figure, limit })
}

/// The part of the shared budgets that the strict tools of a request have used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    tools: u64,
    optional: u64,
    unions: u64,
}

impl Spent {
    /// Nothing yet.
    pub(super) const NOTHING: Self = Self { tools: 0, optional: 0, unions: 0 };

    /// Adds a strict schema, if it and the request stay within their budgets.
    pub(super) fn with(self, dialect: Dialect, schema: &Value) -> Result<Self, Excess> {
        let spent = self.plus(dialect, schema);
        match of_schema(dialect, schema).into_iter().chain(spent.excesses()).next() {
            Some(excess) => Err(excess),
            None => Ok(spent),
        }
    }

    fn plus(self, dialect: Dialect, schema: &Value) -> Self {
        if !matches!(dialect, Dialect::Anthropic | Dialect::AnthropicStrict) {
            return self;
        }
        let mut spent = Self { tools: self.tools + 1, ..self };
        for visited in schemas(schema) {
            let optional = properties(visited.schema).filter(|(name, _)| !is_required(visited.schema, name));
            spent.optional += optional.count() as u64;
            let several =
                visited.schema.get("type").and_then(Value::as_array).is_some_and(|types| types.len() > 1);
            spent.unions += u64::from(several || visited.schema.contains_key("anyOf"));
        }
        spent
    }

    fn excesses(self) -> Vec<Excess> {
        let shared = [
            over(Budget::StrictTools, self.tools, STRICT_TOOLS),
            over(Budget::OptionalParameters, self.optional, OPTIONAL),
            over(Budget::UnionParameters, self.unions, UNIONS),
        ];
        shared.into_iter().flatten().collect()
    }
}

/// The budgets that a single strict schema exceeds.
fn of_schema(dialect: Dialect, schema: &Value) -> Vec<Excess> {
    if !matches!(dialect, Dialect::OpenAi | Dialect::OpenAiStrict) {
        return Vec::new();
    }
    let mut figures = Figures::default();
    schemas(schema).for_each(|visited| figures.add(visited.schema, visited.level as u64));
    figures.excesses()
}

#[derive(Default)]
struct Figures {
    properties: u64,
    levels: u64,
    characters: u64,
    values: u64,
    large_enum: u64,
}

impl Figures {
    fn add(&mut self, schema: &serde_json::Map<String, Value>, level: u64) {
        let length = |text: &str| text.chars().count() as u64;
        let of_value = |value: &Value| value.as_str().map_or_else(|| length(&value.to_string()), length);
        self.properties += properties(schema).count() as u64;
        if has_type(schema, "object") || has_type(schema, "array") {
            self.levels = self.levels.max(level);
        }
        let definitions = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
        let names = properties(schema).chain(definitions).map(|(name, _)| length(name));
        self.characters += names.sum::<u64>() + schema.get("const").map_or(0, of_value);
        if let Some(Value::Array(values)) = schema.get("enum") {
            let characters = values.iter().map(of_value).sum();
            self.characters += characters;
            self.values += values.len() as u64;
            if values.len() > LARGE_ENUM && values.iter().any(Value::is_string) {
                self.large_enum = self.large_enum.max(characters);
            }
        }
    }

    fn excesses(&self) -> Vec<Excess> {
        let own = [
            over(Budget::Properties, self.properties, PROPERTIES),
            over(Budget::NestingLevels, self.levels, LEVELS),
            over(Budget::SchemaCharacters, self.characters, CHARACTERS),
            over(Budget::EnumValues, self.values, VALUES),
            over(Budget::EnumCharacters, self.large_enum, LARGE_ENUM_CHARACTERS),
        ];
        own.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    fn openai(parameters: &Value) -> Value {
        let function = json!({"name": "t", "description": "", "parameters": parameters, "strict": true});
        json!({"type": "function", "function": function})
    }

    fn found(tool: &Value) -> Vec<(Budget, u64, u64)> {
        let found = check(Dialect::OpenAiStrict, std::slice::from_ref(tool));
        assert!(found.iter().all(|excess| excess.tool.as_deref() == Some("t")));
        found.into_iter().map(|excess| (excess.budget, excess.figure, excess.limit)).collect()
    }

    fn members(count: usize, schema: &Value) -> Value {
        let members: Map<String, Value> = (0..count).map(|at| (format!("{at:04}"), schema.clone())).collect();
        json!({"type": "object", "properties": members})
    }

    #[test]
    fn the_limits_of_openai() {
        let string = json!({"type": "string"});
        assert_eq!(found(&openai(&members(5_000, &string))), []);
        assert_eq!(found(&openai(&members(5_001, &string))), [(Budget::Properties, 5_001, 5_000)]);

        let nested = |levels: usize| (1..levels).fold(members(1, &string), |inner, _| members(1, &inner));
        assert_eq!(found(&openai(&nested(10))), []);
        assert_eq!(found(&openai(&nested(11))), [(Budget::NestingLevels, 11, 10)]);

        let listed = |count: usize, length: usize| {
            let values: Vec<String> = (0..count).map(|at| format!("{at:0length$}")).collect();
            openai(&members(1, &json!({"enum": values})))
        };
        assert_eq!(found(&listed(1_000, 15)), []);
        assert_eq!(found(&listed(1_001, 4)), [(Budget::EnumValues, 1_001, 1_000)]);
        assert_eq!(found(&listed(251, 60)), [(Budget::EnumCharacters, 15_060, 15_000)]);
        assert_eq!(found(&listed(250, 479)), []);
        assert_eq!(found(&listed(250, 480)), [(Budget::SchemaCharacters, 120_004, 120_000)]);
    }

    #[test]
    fn the_limits_of_anthropic_are_of_all_tools_together() {
        let tool =
            |schema: &Value| json!({"name": "t", "description": "", "input_schema": schema, "strict": true});
        let string = json!({"type": "string"});
        let tools = vec![tool(&members(1, &string)); 21];
        let found = check(Dialect::AnthropicStrict, &tools);
        assert_eq!((found.len(), found[0].budget, found[0].figure), (1, Budget::StrictTools, 21));

        let tools = [tool(&members(12, &string)), tool(&members(13, &string))];
        let found = check(Dialect::AnthropicStrict, &tools);
        assert_eq!((found.len(), found[0].budget, found[0].figure), (1, Budget::OptionalParameters, 25));
        assert_eq!(
            found[0].to_string(),
            "25 optional parameters of the strict tools in a request, at most 24; send fewer tools, or fewer of them strict"
        );

        let mut union = members(17, &json!({"type": ["string", "null"]}));
        union["required"] = union["properties"].as_object().unwrap().keys().cloned().collect();
        let found = check(Dialect::AnthropicStrict, &[tool(&union)]);
        assert_eq!((found.len(), found[0].budget, found[0].figure), (1, Budget::UnionParameters, 17));

        let mut plain = tool(&members(30, &string));
        plain.as_object_mut().unwrap().remove("strict");
        assert_eq!(check(Dialect::AnthropicStrict, &[plain]), []);
    }

    #[test]
    fn each_excess_names_the_tool_the_figures_and_a_remedy() {
        let budgets = [
            Budget::StrictTools,
            Budget::OptionalParameters,
            Budget::UnionParameters,
            Budget::Properties,
            Budget::NestingLevels,
            Budget::SchemaCharacters,
            Budget::EnumValues,
            Budget::EnumCharacters,
            Budget::DescriptionCharacters,
        ];
        let mut messages = budgets.map(|budget| {
            let excess = Excess { tool: Some("t".into()), budget, figure: 12_000, limit: 10_000 };
            excess.to_string()
        });
        for message in &messages {
            assert!(message.starts_with("t: ") && message.contains("12,000") && message.contains("10,000"));
            assert!(message.contains("; ") || message.contains(": "), "{message}");
        }
        messages.sort();
        assert!(messages.windows(2).all(|pair| pair[0] != pair[1]), "{messages:?}");
    }
}
