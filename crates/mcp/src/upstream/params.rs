//! The parameters of requests, changed only where they must be.

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Members of an object as JSON text, in their order.
type Members = IndexMap<String, Box<RawValue>>;

/// The prefix of the members of `_meta` that belong to the protocol. They differ from connection to
/// connection.
const PROTOCOL: &str = "io.modelcontextprotocol/";

/// The member of `_meta` with the capabilities of a client.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// Parameters of a request, as JSON text.
#[derive(Debug, Default)]
pub(crate) struct Params(Members);

impl Params {
    /// Parses parameters.
    ///
    /// # Errors
    /// Returns an error if they are not an object.
    pub(crate) fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(Self)
    }

    /// A member, as JSON text.
    pub(crate) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.get(name).map(AsRef::as_ref)
    }

    /// Sets a member.
    pub(crate) fn set(&mut self, name: &str, value: &Value) {
        if let Ok(raw) = RawValue::from_string(value.to_string()) {
            self.0.insert(name.to_owned(), raw);
        }
    }

    /// Sets a member to JSON text.
    pub(crate) fn set_raw(&mut self, name: &str, value: Box<RawValue>) {
        self.0.insert(name.to_owned(), value);
    }

    /// Removes a member, and returns it.
    pub(crate) fn remove(&mut self, name: &str) -> Option<Box<RawValue>> {
        self.0.shift_remove(name)
    }

    /// Returns the JSON text.
    pub(crate) fn text(&self) -> String {
        let members = self.0.iter().map(|(name, value)| format!("{}:{value}", Value::from(name.as_str())));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }

    /// Replaces the protocol's own metadata, and keeps the rest, such as trace contexts. The
    /// capabilities are those of the caller.
    pub(super) fn with_meta(mut self, meta: &Map<String, Value>, elicitation: Option<&Value>) -> String {
        let foreign = self.get("_meta").and_then(|meta| Self::parse(meta.get()).ok());
        let mut all = foreign.unwrap_or(Self(Members::new()));
        all.0.retain(|name, _| name != "progressToken" && !name.starts_with(PROTOCOL));
        for (name, value) in meta {
            all.set(name, value);
        }
        if all.get(CAPABILITIES).is_some() {
            let capabilities = elicitation.map(|elicitation| ("elicitation".to_owned(), elicitation.clone()));
            all.set(CAPABILITIES, &Value::Object(capabilities.into_iter().collect()));
        }
        if all.0.is_empty() {
            self.remove("_meta");
        } else if let Ok(raw) = RawValue::from_string(all.text()) {
            self.0.insert("_meta".to_owned(), raw);
        }
        self.text()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_protocols_metadata_is_replaced() {
        let text = r#"{"name":"x","arguments":{"n":1e400, "b":12345678901234567890123},"_meta":{"progressToken":7,"traceparent":"t","io.modelcontextprotocol/clientInfo":{}}}"#;
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let mut params = Params::parse(text).unwrap();
        params.set("name", &"y".into());
        assert_eq!(
            params.with_meta(meta.as_object().unwrap(), None),
            r#"{"name":"y","arguments":{"n":1e400, "b":12345678901234567890123},"_meta":{"traceparent":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#
        );
        let params = Params::parse(r#"{"a":[1 , 2],"_meta":{"progressToken":7}}"#).unwrap();
        assert_eq!(params.with_meta(&Map::new(), None), r#"{"a":[1 , 2]}"#);
    }
}
