//! The output of a tool.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The output of a tool. A tool may also [stream](crate::Call::writer) it, and return
/// [`Nothing`](Self::Nothing).
///
/// In JSON a text is a string; a JSON value is verbatim, without rounded numbers or moved members.
/// Reading a string back yields a text.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Output {
    /// A JSON value, verbatim.
    Json(Box<RawValue>),
    /// A text.
    Text(String),
    /// Nothing: no output, or one that was streamed.
    #[default]
    Nothing,
}

impl Output {
    /// Serializes a value to JSON.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self::Json)
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The text, or the JSON text; empty for [`Nothing`](Self::Nothing).
    pub fn as_str(&self) -> &str {
        match self {
            Self::Json(raw) => raw.get(),
            Self::Text(text) => text,
            Self::Nothing => "",
        }
    }

    /// True for [`Nothing`](Self::Nothing).
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// JSON if the bytes are one JSON value, else a text; and true if the bytes are UTF-8
    /// throughout.
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> (Self, bool) {
        match String::from_utf8(bytes) {
            Ok(text) => match serde_json::from_str::<&RawValue>(&text) {
                Ok(raw) => (Self::Json(raw.to_owned()), true),
                Err(_) => (Self::Text(text), true),
            },
            Err(error) => (Self::Text(String::from_utf8_lossy(error.as_bytes()).into_owned()), false),
        }
    }
}

/// Equal if kind and bytes are.
impl PartialEq for Output {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other) && self.as_str() == other.as_str()
    }
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Output {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Serialize for Output {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Json(raw) => raw.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Nothing => serializer.serialize_unit(),
        }
    }
}

impl<'de> Deserialize<'de> for Output {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        match raw.get().as_bytes().first() {
            Some(b'"') => serde_json::from_str(raw.get()).map(Self::Text).map_err(serde::de::Error::custom),
            Some(b'n') => Ok(Self::Nothing),
            _ => Ok(Self::Json(raw)),
        }
    }
}
