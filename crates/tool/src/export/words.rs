//! Sentences for keywords: "At least 1, at most 1000."

use serde_json::{Map, Value};

/// Maximum bytes of a JSON text in a description.
const MAX_JSON: usize = 400;

/// A lower bound with its upper one.
struct Range {
    low: &'static str,
    high: &'static str,
    at_least: &'static str,
    at_most: &'static str,
    /// The unit of the bounds; empty for numbers.
    unit: &'static str,
}

impl Range {
    const fn of_bounds(low: &'static str, high: &'static str, unit: &'static str) -> Self {
        Self { low, high, at_least: "at least", at_most: "at most", unit }
    }
}

const RANGES: [Range; 5] = [
    Range::of_bounds("minimum", "maximum", ""),
    Range {
        low: "exclusiveMinimum",
        high: "exclusiveMaximum",
        at_least: "more than",
        at_most: "less than",
        unit: "",
    },
    Range::of_bounds("minLength", "maxLength", "character"),
    Range::of_bounds("minItems", "maxItems", "item"),
    Range::of_bounds("minProperties", "maxProperties", "member"),
];

/// The sentence of a keyword; empty if the sentence of another keyword includes it, `None` if it
/// has no sentence. `also` returns true for the other keywords that get a sentence.
pub(super) fn sentence(
    keyword: &str,
    schema: &Map<String, Value>,
    also: impl Fn(&str) -> bool,
) -> Option<String> {
    let value = schema.get(keyword)?;
    if let Some(range) = RANGES.iter().find(|range| range.low == keyword || range.high == keyword) {
        return range_sentence(keyword, schema, range, also);
    }
    let text = text(value)?;
    Some(match (keyword, value) {
        ("default", _) => format!("Default: {text}."),
        ("multipleOf", _) => format!("A multiple of {text}."),
        ("pattern", Value::String(pattern)) => format!("Matches the regular expression `{pattern}`."),
        ("format", Value::String(format)) => format!("Format: {format}."),
        ("uniqueItems", Value::Bool(true)) => "No two items are the same.".to_owned(),
        ("deprecated", Value::Bool(true)) => "Deprecated.".to_owned(),
        ("examples", Value::Array(examples)) if !examples.is_empty() => {
            let examples: Vec<String> = examples.iter().map(Value::to_string).collect();
            format!("Examples: {}.", examples.join(", "))
        }
        ("dependentRequired", Value::Object(needs)) => dependent(needs),
        ("dependentSchemas", Value::Object(needs)) => {
            let needs: Vec<String> =
                needs.iter().map(|(name, schema)| format!("With `{name}`, it matches {schema}.")).collect();
            needs.join(" ")
        }
        ("not", _) => format!("It does not match {text}."),
        ("if", _) => conditional(&text, schema)?,
        ("then" | "else", _) => String::new(),
        ("contains", _) => format!("An item matches {text}."),
        _ => return None,
    })
}

/// The JSON text of a value, unless it is too long.
fn text(value: &Value) -> Option<String> {
    let text = value.to_string();
    (text.len() <= MAX_JSON).then_some(text)
}

fn range_sentence(
    keyword: &str,
    schema: &Map<String, Value>,
    range: &Range,
    also: impl Fn(&str) -> bool,
) -> Option<String> {
    let Range { low, high, at_least, at_most, unit } = *range;
    let number = |keyword: &str| schema.get(keyword).filter(|value| value.is_number());
    let mine = number(keyword)?;
    let other = if keyword == low { high } else { low };
    let both = if also(other) { number(other) } else { None };
    let (words, last) = match both {
        Some(_) if keyword == high => return Some(String::new()),
        Some(highest) => (format!("{at_least} {mine}, {at_most} {highest}"), highest),
        None => (format!("{} {mine}", if keyword == low { at_least } else { at_most }), mine),
    };
    let unit = match unit {
        "" => String::new(),
        unit if last.as_u64() == Some(1) => format!(" {unit}"),
        unit => format!(" {unit}s"),
    };
    Some(format!("{}{unit}.", capitalized(&words)))
}

fn capitalized(words: &str) -> String {
    let mut characters = words.chars();
    let initial = characters.next().into_iter().flat_map(char::to_uppercase).collect::<String>();
    initial + characters.as_str()
}

fn dependent(needs: &Map<String, Value>) -> String {
    let sentence = |(name, others): (&String, &Value)| {
        let others: Vec<String> =
            others.as_array()?.iter().filter_map(Value::as_str).map(|other| format!("`{other}`")).collect();
        (!others.is_empty()).then(|| format!("With `{name}`, also {}.", others.join(" and ")))
    };
    needs.iter().filter_map(sentence).collect::<Vec<_>>().join(" ")
}

fn conditional(condition: &str, schema: &Map<String, Value>) -> Option<String> {
    let branch = |keyword: &str| schema.get(keyword).map_or(Some(None), |value| text(value).map(Some));
    let (then, otherwise) = (branch("then")?, branch("else")?);
    let then = then.map_or(String::new(), |then| format!(", it matches {then}"));
    let otherwise = otherwise.map_or(String::new(), |otherwise| format!(", else it matches {otherwise}"));
    Some(format!("If it matches {condition}{then}{otherwise}."))
}

/// A description, followed by sentences.
pub(super) fn described(description: &str, sentences: &[String]) -> String {
    let mut text = description.trim_end().to_owned();
    for sentence in sentences.iter().filter(|sentence| !sentence.is_empty()) {
        if !text.is_empty() {
            let ends = text.ends_with(['.', '!', '?', ':', ';']);
            text.push_str(if ends { " " } else { ". " });
        }
        text.push_str(sentence);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(schema: &Value) -> Vec<Option<String>> {
        let Value::Object(schema) = schema else { return Vec::new() };
        schema.keys().map(|keyword| sentence(keyword, schema, |_| true)).collect()
    }

    #[test]
    fn keywords_have_words() {
        let cases = [
            (json!({"minimum": 1, "maximum": 1000}), vec![Some("At least 1, at most 1000."), Some("")]),
            (json!({"maximum": 1.5}), vec![Some("At most 1.5.")]),
            (json!({"minLength": 1}), vec![Some("At least 1 character.")]),
            (json!({"maxItems": 3, "minItems": 1}), vec![Some(""), Some("At least 1, at most 3 items.")]),
            (json!({"exclusiveMinimum": 0}), vec![Some("More than 0.")]),
            (json!({"default": "random"}), vec![Some("Default: \"random\".")]),
            (json!({"uniqueItems": true}), vec![Some("No two items are the same.")]),
            (json!({"uniqueItems": false}), vec![None]),
            (json!({"dependentRequired": {"a": ["b", "c"]}}), vec![Some("With `a`, also `b` and `c`.")]),
            (json!({"not": {"required": ["a"]}}), vec![Some("It does not match {\"required\":[\"a\"]}.")]),
            (
                json!({"if": {"type": "null"}, "else": false}),
                vec![Some("If it matches {\"type\":\"null\"}, else it matches false."), Some("")],
            ),
            (json!({"examples": [1, "a"]}), vec![Some("Examples: 1, \"a\".")]),
            (json!({"default": "x".repeat(500)}), vec![None]),
            (json!({"x-own": 1}), vec![None]),
        ];
        for (schema, expected) in cases {
            let expected: Vec<Option<String>> =
                expected.into_iter().map(|words| words.map(str::to_owned)).collect();
            assert_eq!(said(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_bound_that_stays_is_not_said() {
        let Value::Object(schema) = json!({"minItems": 1, "maxItems": 3}) else { return };
        assert_eq!(sentence("maxItems", &schema, |_| false).as_deref(), Some("At most 3 items."));
    }

    #[test]
    fn sentences_follow_a_description() {
        let sentence = "At least 1.".to_owned();
        assert_eq!(
            described("Number of items", std::slice::from_ref(&sentence)),
            "Number of items. At least 1."
        );
        assert_eq!(described("Wow!", &[String::new(), sentence.clone()]), "Wow! At least 1.");
        assert_eq!(described("", &[sentence]), "At least 1.");
    }
}
