//! Compares a message as it is scanned with the same message as `serde_json` parses it.

use std::fmt;
use std::io::Read;
use std::sync::Arc;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use trommel_store::{Store, Stored};

use super::calls::{Calls, Outgoing, Reply};
use super::line::{Arrival, Messages};
use super::message::Incoming;
use super::spill::CallOrigin;
use super::walk::{Part, Reduced, Role};

/// The number of the request that the message answers.
const ID: i64 = 1;

/// Scans a message that answers the request 1, with a limit of characters, and compares the result.
/// Outputs that were stored are removed.
///
/// # Errors
/// Returns the first difference. A message that `serde_json` refuses may be refused or not, but
/// leaves nothing in the store.
#[cfg_attr(
    not(feature = "fuzzing"),
    expect(unreachable_pub, reason = "only fuzzing reaches it from outside")
)]
pub fn check_scan(store: &Arc<Store>, message: &[u8], limit: usize) -> Result<(), String> {
    let calls = Calls::default();
    let mut outgoing = Outgoing::plain("{}".to_owned());
    outgoing.limit = Some(limit);
    outgoing.origin = CallOrigin { tool: "tool".to_owned(), parameters: Map::new() };
    let waiting = calls.open(outgoing, None).ok_or("closed")?;
    let messages = Messages { calls: calls.clone(), store: Arc::clone(store), max_bytes: 1 << 30 };
    let mut reader = message;
    let arrival = messages.read(&mut reader).map_err(|error| error.to_string())?;
    let reply = match &arrival {
        Some(Arrival::Message(Incoming::Response(id, Ok(reply)))) if *id == waiting.request_id() => {
            Some(reply)
        }
        _ => None,
    };
    let expected = serde_json::from_slice::<Strict>(message).ok().and_then(|Strict(value)| answer(value));
    let compared = match (reply, &expected) {
        (None, Some(result)) if is_regular(result) => Err(format!("refused: {arrival:?}")),
        (Some(reply), Some(result)) => compare(store, reply, result),
        _ => Ok(()),
    };
    if let Some(Reply::Reduced(reduced)) = reply {
        for part in &reduced.parts {
            if let Part::Stored { stored, .. } = part {
                store.delete(&stored.id).map_err(|error| error.to_string())?;
            }
        }
    }
    compared
}

/// The result of a message that answers the request.
fn answer(message: Value) -> Option<Map<String, Value>> {
    let Value::Object(mut message) = message else { return None };
    match (message.remove("id"), message.remove("error"), message.remove("result")) {
        (Some(id), None, Some(Value::Object(result))) if id == ID => Some(result),
        _ => None,
    }
}

/// True for a result whose content has the form of the protocol.
fn is_regular(result: &Map<String, Value>) -> bool {
    let is_list = |name: &str| result.get(name).is_none_or(Value::is_array);
    is_list("content")
        && is_list("contents")
        && !(result.contains_key("content") && result.contains_key("contents"))
}

fn compare(store: &Store, reply: &Reply, result: &Map<String, Value>) -> Result<(), String> {
    match reply {
        Reply::Whole(text) => {
            let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
            same("the result", &value, &Value::Object(result.clone()))
        }
        Reply::Reduced(reduced) if is_regular(result) => compare_reduced(store, reduced, result),
        Reply::Reduced(_) => Ok(()),
    }
}

fn compare_reduced(store: &Store, reduced: &Reduced, result: &Map<String, Value>) -> Result<(), String> {
    let name = if result.contains_key("contents") { "contents" } else { "content" };
    let none = Vec::new();
    let blocks = result.get(name).and_then(Value::as_array).unwrap_or(&none);
    let mut left: Vec<&Value> = blocks.iter().collect();
    let mut structured = reduced.structured.as_deref().map(parse).transpose()?;
    for part in &reduced.parts {
        match part {
            Part::Lost { why, .. } => return Err(format!("lost: {why}")),
            Part::Verbatim(block) => {
                let block = parse(block)?;
                take(&mut left, |one| *one == block).ok_or("a block that the message does not have")?;
            }
            Part::Stored { stored, role: Role::Structured, .. } => {
                structured = Some(parse(&payload(store, stored)?)?);
            }
            Part::Stored { stored, role: Role::Block, .. } => {
                let block = parse(&payload(store, stored)?)?;
                take(&mut left, |one| *one == block)
                    .ok_or("a stored block that the message does not have")?;
            }
            Part::Stored { stored, role: Role::Text, texts: Some(_) } => {
                for line in payload(store, stored)?.lines() {
                    let text = parse(line)?;
                    take(&mut left, |one| text_of(one) == text.as_str())
                        .ok_or("a record that is not a text of the message")?;
                }
            }
            Part::Stored { stored, role: Role::Text, texts: None } => {
                let text = payload(store, stored)?;
                take(&mut left, |one| {
                    text_of(one).is_some_and(|one| one == text || is_same_json(one, &text))
                })
                .ok_or_else(|| format!("a stored text that the message does not have: {text:?}"))?;
            }
        }
    }
    if let Some(block) = left.first() {
        return Err(format!("the block {block} is missing"));
    }
    let expected = result.get("structuredContent");
    match (&structured, expected) {
        (Some(found), Some(expected)) => same("the structured content", found, expected)?,
        (None, Some(expected)) if !(reduced.is_structured_repeated && repeats(blocks, expected)) => {
            return Err("the structured content is missing, and no copy of the text".to_owned());
        }
        _ => {}
    }
    for (name, value) in &reduced.members {
        same(name, &parse(value)?, result.get(name).unwrap_or(&Value::Null))?;
    }
    Ok(())
}

/// Removes the first block for which a condition holds.
fn take(left: &mut Vec<&Value>, is: impl Fn(&Value) -> bool) -> Option<()> {
    let position = left.iter().position(|block| is(block))?;
    left.remove(position);
    Some(())
}

/// The text of a block, or of the resource in it.
fn text_of(block: &Value) -> Option<&str> {
    block.get("text").or_else(|| block.get("resource")?.get("text"))?.as_str()
}

/// True if structured content has nothing but the text: as the same JSON, or in a string.
fn repeats(blocks: &[Value], structured: &Value) -> bool {
    let texts: Vec<&str> = blocks.iter().filter_map(text_of).collect();
    let is_wrapped = |text| {
        structured.as_object().is_some_and(|members| members.values().any(|one| one.as_str() == Some(text)))
    };
    texts.iter().any(|text| is_wrapped(text) || is_same_json(text, &structured.to_string()))
}

fn is_same_json(a: &str, b: &str) -> bool {
    matches!((parse(a), parse(b)), (Ok(a), Ok(b)) if a == b)
}

fn same(what: &str, found: &Value, expected: &Value) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found} instead of {expected}")) }
}

fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{error}: {text:?}"))
}

fn payload(store: &Store, stored: &Stored) -> Result<String, String> {
    let mut payload = store.payload(stored).map_err(|error| error.to_string())?;
    let mut text = String::new();
    payload.read_to_string(&mut text).map_err(|error| error.to_string())?;
    Ok(text)
}

/// A value without repeated names, about which readers differ.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Self)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value without repeated names")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(all.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some((name, Strict(value))) = members.next_entry::<String, Strict>()? {
            if all.insert(name, value).is_some() {
                return Err(A::Error::custom("a repeated name"));
            }
        }
        Ok(all.into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use trommel_store::StoreOptions;
    use trommel_testkit::effort::cases;

    use super::*;

    fn store() -> (tempfile::TempDir, Arc<Store>) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("outputs"), StoreOptions::default()).unwrap();
        (folder, Arc::new(store))
    }

    fn text() -> impl Strategy<Value = String> {
        let json = json_value().prop_map(|value| value.to_string());
        let pretty = json_value().prop_map(|value| format!(" {value:#}\n"));
        prop_oneof!["\\PC{0,60}", "[ -~\n\té\u{1F600}\"\\\\]{0,60}", json, pretty]
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<f32>().prop_map(|number| Value::from(f64::from(number))),
            "\\PC{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-c]{1,2}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn block() -> impl Strategy<Value = Value> {
        prop_oneof![
            4 => text().prop_map(|text| json!({"type": "text", "text": text})),
            1 => text().prop_map(|text| json!({"text": text, "annotations": {"a": [1]}, "type": "text"})),
            1 => text().prop_map(|text| json!({"type": "resource", "resource": {"uri": "u", "text": text}})),
            1 => "[A-Z]{0,40}".prop_map(|data| json!({"type": "image", "data": data})),
            1 => json_value().prop_map(|value| json!({"type": "text", "text": value})),
            1 => json_value().prop_map(|value| json!({"resource": value})),
            1 => json_value(),
        ]
    }

    fn result() -> impl Strategy<Value = Value> {
        let structured = prop_oneof![Just(0_u8), Just(1), Just(2), Just(3)];
        (prop::collection::vec(block(), 0..5), structured, json_value(), text(), any::<bool>()).prop_map(
            |(mut blocks, kind, value, text, is_last)| {
                let structured = match kind {
                    0 => None,
                    1 => {
                        blocks = vec![json!({"type": "text", "text": value.to_string()})];
                        Some(value)
                    }
                    2 => {
                        blocks = vec![json!({"type": "text", "text": text})];
                        Some(json!({"result": text}))
                    }
                    _ => Some(value),
                };
                let mut result = json!({"content": blocks});
                if let Some(structured) = structured {
                    if is_last {
                        result["structuredContent"] = structured;
                    } else {
                        result = json!({"structuredContent": structured, "content": blocks});
                    }
                }
                result["_meta"] = json!({"x": 1.5});
                result
            },
        )
    }

    /// Writes all characters outside ASCII as escapes.
    fn escaped(text: &str) -> String {
        let escape = |c: char| -> String {
            let mut units = [0; 2];
            let units = c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}"));
            if c.is_ascii() { c.into() } else { units.collect() }
        };
        text.chars().map(escape).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: cases(96, 20_000) as u32, ..ProptestConfig::default() })]

        #[test]
        fn scanned_messages_are_those_of_another_reader(
            result in result(),
            limit in prop_oneof![Just(0), 1..8_usize, 8..200_usize],
            is_pretty: bool,
            is_escaped: bool,
            is_id_last: bool,
        ) {
            let (_folder, store) = store();
            let result = if is_pretty { format!("{result:#}") } else { result.to_string() };
            let message = if is_id_last {
                format!(r#"{{"result":{result},"jsonrpc":"2.0","id":1}}"#)
            } else {
                format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)
            };
            let message = if is_escaped { escaped(&message) } else { message };
            let checked = check_scan(&store, message.as_bytes(), limit);
            prop_assert_eq!(checked, Ok(()), "{} {}", limit, message);
            // A part of the message is refused, or is another message.
            let cut = message.len() / 2;
            prop_assert_eq!(check_scan(&store, &message.as_bytes()[..cut], limit), Ok(()));
        }
    }

    /// Each way to store a part of a result that is longer than the limit.
    #[test]
    fn long_parts_are_stored_whole() {
        let (_folder, store) = store();
        let (long, list) = ("long \u{e9}\n".repeat(10_000), json!(vec![json!({"a": [1, "x"]}); 5_000]));
        let text = |text: &str| json!({"type": "text", "text": text});
        let many: Vec<Value> = (0..3_000).map(|number| text(&format!("text {number} \u{e9}"))).collect();
        let image = json!({"type": "image", "data": "A".repeat(90_000), "mimeType": "image/png"});
        let resource = json!({"type": "resource", "resource": {"uri": "u", "text": long}});
        let results = [
            json!({"content": [text(&long)]}),
            json!({"content": [text(&list.to_string()), text("short")]}),
            json!({"content": many}),
            json!({"content": [image, text(&long), image, text("short")]}),
            json!({"content": [resource, text(&long)], "isError": true}),
            json!({"contents": [{"uri": "u", "text": long}, {"uri": "v", "blob": "A".repeat(90_000)}]}),
            json!({"content": [text("short")], "structuredContent": {"list": list}}),
            json!({"content": [text(&list.to_string())], "structuredContent": {"list": list}}),
            json!({"content": [text(&list.to_string())], "structuredContent": list}),
            json!({"content": {"long": long}}),
            json!({"content": [], "contents": [long]}),
        ];
        for result in results {
            let message = json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string();
            for limit in [0, 100, 50_000, 1 << 20] {
                let checked = check_scan(&store, message.as_bytes(), limit);
                assert_eq!(checked, Ok(()), "{limit} {}", &message[..200.min(message.len())]);
            }
        }
        // Without its space, the text would be the structured content.
        for content in [r#"{"a":[1,2.5 0]}"#, r#"{"a":[1,2.\n50]}"#, r#"{"a":[1,2.50]}"#] {
            let block = text(content);
            let message = format!(
                r#"{{"id":1,"result":{{"content":[{block}],"structuredContent":{{"a":[1,2.50]}}}}}}"#
            );
            assert_eq!(check_scan(&store, message.as_bytes(), 4), Ok(()), "{content}");
        }
        let repeated = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"content":[]}}"#;
        assert_eq!(check_scan(&store, repeated.as_bytes(), 10), Ok(()));
    }

    #[test]
    fn differences_are_found() {
        let (_folder, store) = store();
        let reply = Reply::Whole(r#"{"content":[]}"#.to_owned());
        let result = json!({"content": [1]}).as_object().unwrap().clone();
        assert!(compare(&store, &reply, &result).is_err());
        let reduced = Reduced { parts: vec![Part::Verbatim("2".to_owned())], ..Reduced::default() };
        assert!(compare(&store, &Reply::Reduced(Box::new(reduced)), &result).is_err());
        let reduced = Reduced::default();
        assert_eq!(
            compare(&store, &Reply::Reduced(Box::new(reduced)), &result),
            Err("the block 1 is missing".to_owned())
        );
    }
}
