//! Visitors of everything in a document.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::Answer;

/// A visitor's operations on the parts of a document.
pub(super) trait Watch: Default {
    /// Returns the final number.
    fn answer(&self) -> u64;
    fn name(&mut self, _: &str) {}
    fn string(&mut self, _: &str) {}
    fn number(&mut self, _: f64) {}
    fn literal(&mut self) {}
    fn begin(&mut self) {}
    fn end(&mut self) {}
}

/// Counts all values.
#[derive(Default)]
pub(super) struct Values(u64);

impl Watch for Values {
    fn answer(&self) -> u64 {
        self.0
    }
    fn string(&mut self, _: &str) {
        self.0 += 1;
    }
    fn number(&mut self, _: f64) {
        self.0 += 1;
    }
    fn literal(&mut self) {
        self.0 += 1;
    }
    fn begin(&mut self) {
        self.0 += 1;
    }
}

/// Counts the bytes of strings and names.
#[derive(Default)]
pub(super) struct TextBytes(u64);

impl Watch for TextBytes {
    fn answer(&self) -> u64 {
        self.0
    }
    fn name(&mut self, text: &str) {
        self.0 += text.len() as u64;
    }
    fn string(&mut self, text: &str) {
        self.0 += text.len() as u64;
    }
}

/// Counts numbers above 0.
#[derive(Default)]
pub(super) struct Positive(u64);

impl Watch for Positive {
    fn answer(&self) -> u64 {
        self.0
    }
    fn number(&mut self, number: f64) {
        self.0 += u64::from(number > 0.0);
    }
}

/// Counts members named `login`.
#[derive(Default)]
pub(super) struct Logins(u64);

impl Watch for Logins {
    fn answer(&self) -> u64 {
        self.0
    }
    fn name(&mut self, name: &str) {
        self.0 += u64::from(name == "login");
    }
}

/// The figures of statistics without paths: values of each type, names, and the depth.
#[derive(Default)]
pub(super) struct Types {
    strings: u64,
    numbers: u64,
    literals: u64,
    containers: u64,
    names: u64,
    depth: u64,
    deepest: u64,
}

impl Watch for Types {
    fn answer(&self) -> u64 {
        std::hint::black_box((self.names, self.deepest));
        self.strings + self.numbers + self.literals + self.containers
    }
    fn name(&mut self, _: &str) {
        self.names += 1;
    }
    fn string(&mut self, _: &str) {
        self.strings += 1;
    }
    fn number(&mut self, _: f64) {
        self.numbers += 1;
    }
    fn literal(&mut self) {
        self.literals += 1;
    }
    fn begin(&mut self) {
        self.containers += 1;
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
    }
    fn end(&mut self) {
        self.depth -= 1;
    }
}

/// The state of a visitor within a document.
pub(super) struct Walked<W>(W);

impl<W: Watch> Answer for Walked<W> {
    fn answer(&self) -> u64 {
        self.0.answer()
    }
}

impl<'de, W: Watch> Deserialize<'de> for Walked<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut watch = W::default();
        Value(&mut watch).deserialize(deserializer)?;
        Ok(Self(watch))
    }
}

struct Value<'w, W>(&'w mut W);

struct Name<'w, W>(&'w mut W);

impl<'de, W: Watch> DeserializeSeed<'de> for Value<'_, W> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, W: Watch> DeserializeSeed<'de> for Name<'_, W> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<W: Watch> Visitor<'_> for Name<'_, W> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<(), E> {
        self.0.name(name);
        Ok(())
    }
}

impl<'de, W: Watch> Visitor<'de> for Value<'_, W> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.string(text);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.0.number(number as f64);
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.0.number(number as f64);
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.0.number(number);
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.0.literal();
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.literal();
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        self.0.begin();
        while elements.next_element_seed(Value(self.0))?.is_some() {}
        self.0.end();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        self.0.begin();
        while members.next_key_seed(Name(self.0))?.is_some() {
            members.next_value_seed(Value(self.0))?;
        }
        self.0.end();
        Ok(())
    }
}
