//! Field extraction: reads the requested fields from a record's tokens, if they are short enough,
//! and skips everything else.

use std::borrow::Cow;
use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use trommel::reader::{self, Cursor, Event, Kind, Names, Number};

use crate::error::{Error, RequestFault, Result};
use crate::message::{self, Blocks};
use crate::value::Value;

/// A path of member names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FieldPath(Vec<String>);

/// The maximum number of names of a path.
const MAX_DEPTH: usize = 16;

impl FieldPath {
    /// Parses a dotted path, such as `data.usage.input_tokens`. Names may be quoted, as in
    /// `data["a.b"]`, and a leading `$.` is accepted.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let fault = |why: &'static str| Error::from(RequestFault::Field { given: text.to_owned(), why });
        let mut rest = text.trim().strip_prefix('$').unwrap_or_else(|| text.trim());
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let mut names = Vec::new();
        while !rest.is_empty() {
            let (name, tail) = next_name(rest).map_err(fault)?;
            names.push(name.to_owned());
            rest = tail;
        }
        match names.len() {
            0 => Err(fault("it has no names")),
            1..=MAX_DEPTH => Ok(Self(names)),
            _ => Err(fault("it is too deep")),
        }
    }

    pub(crate) fn from_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Self(names.into_iter().map(str::to_owned).collect())
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.0
    }

    pub(crate) fn below(&self, name: &str) -> Self {
        Self(std::iter::once(name.to_owned()).chain(self.0.iter().cloned()).collect())
    }
}

/// Splits off the first name of a path.
fn next_name(text: &str) -> std::result::Result<(&str, &str), &'static str> {
    let (name, rest) = if let Some(quoted) = text.strip_prefix('[') {
        let mark = quoted
            .chars()
            .next()
            .filter(|mark| matches!(mark, '"' | '\''))
            .ok_or("brackets must contain a quoted name")?;
        let inside = &quoted[1..];
        let (name, rest) = inside.split_once(mark).ok_or("a quote is not closed")?;
        (name, rest.strip_prefix(']').ok_or("a bracket is not closed")?)
    } else {
        let end = text.find(['.', '[']).unwrap_or(text.len());
        text.split_at(end)
    };
    if name.is_empty() {
        return Err("a name is empty");
    }
    if name == "*" {
        return Err("`*` is not a name: a record is never returned as a whole");
    }
    match rest.strip_prefix('.') {
        Some("") => Err("it ends with a dot"),
        Some(rest) => Ok((name, rest)),
        None => Ok((name, rest)),
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().enumerate() {
            let plain = !name.contains(['.', '[', '"', '\'']);
            match (plain, index) {
                (true, 0) => f.write_str(name)?,
                (true, _) => write!(f, ".{name}")?,
                (false, _) => write!(f, "[\"{name}\"]")?,
            }
        }
        Ok(())
    }
}

/// A set of fields to extract. Each has a numbered slot.
#[derive(Debug)]
pub(crate) struct Fields {
    root: Branch,
    caps: Vec<usize>,
}

#[derive(Debug, Default)]
struct Branch {
    names: Vec<String>,
    /// The same names, compiled for lookup.
    lookup: Option<Names>,
    below: Vec<Branch>,
    /// The slot for the value itself.
    slot: Option<usize>,
    /// True if the value is a message's content, whose [`Blocks`] are read.
    has_blocks: bool,
}

impl Fields {
    /// Compiles paths, each with its maximum number of characters.
    pub(crate) fn new<'p>(paths: impl IntoIterator<Item = (&'p FieldPath, usize)>) -> Self {
        let mut root = Branch::default();
        let mut caps = Vec::new();
        for (path, cap) in paths {
            root.branch(path.names()).slot.get_or_insert(caps.len());
            caps.push(cap);
        }
        root.make_ready();
        Self { root, caps }
    }

    /// Also reads the blocks of the content at a path.
    pub(crate) fn with_blocks(mut self, path: &FieldPath) -> Self {
        self.root.branch(path.names()).has_blocks = true;
        self.root.make_ready();
        self
    }

    /// Compiles dotted paths that are known to be valid.
    pub(crate) fn from_dotted(paths: &[(&str, usize)]) -> Self {
        let parsed = paths
            .iter()
            .map(|(path, cap)| (FieldPath::from_names(path.split('.')), *cap))
            .collect::<Vec<_>>();
        Self::new(parsed.iter().map(|(path, cap)| (path, *cap)))
    }

    /// The number of slots.
    pub(crate) fn slots(&self) -> usize {
        self.caps.len()
    }

    /// Reads the fields of the next object. After each member of the object itself, `keep_reading`
    /// decides whether to continue. Returns `false` if it ended the read.
    pub(crate) fn read_while(
        &self,
        cursor: &mut Cursor<'_>,
        found: &mut FieldValues,
        keep_reading: &mut dyn FnMut(&FieldValues) -> bool,
    ) -> reader::Result<bool> {
        found.clear(self.caps.len());
        if !matches!(cursor.begin_value()?, Event::Begin(Kind::Object)) {
            return Ok(true);
        }
        let Some(names) = &self.root.lookup else { return Ok(true) };
        while let Some(number) = cursor.next_named(names)? {
            if let Some(branch) = self.root.below.get(number) {
                self.descend(branch, cursor, found)?;
            }
            if !keep_reading(found) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads all fields of the next object.
    pub(crate) fn read_all(&self, cursor: &mut Cursor<'_>, found: &mut FieldValues) -> reader::Result<()> {
        self.read_while(cursor, found, &mut |_| true).map(drop)
    }

    /// Reads the value at a branch, and the branches below it. The recursion is as deep as the
    /// longest path.
    fn descend(
        &self,
        branch: &Branch,
        cursor: &mut Cursor<'_>,
        found: &mut FieldValues,
    ) -> reader::Result<()> {
        if !branch.has_blocks {
            return self.descend_to_fields(branch, cursor, found);
        }
        if branch.slot.is_none() && branch.lookup.is_none() {
            found.blocks = message::blocks(cursor)?;
            return Ok(());
        }
        // Both the blocks and the value are requested, so the value is read twice.
        let mark = cursor.hold();
        found.blocks = message::blocks(cursor)?;
        cursor.rewind(&mark);
        cursor.release();
        self.descend_to_fields(branch, cursor, found)
    }

    fn descend_to_fields(
        &self,
        branch: &Branch,
        cursor: &mut Cursor<'_>,
        found: &mut FieldValues,
    ) -> reader::Result<()> {
        let Some(slot) = branch.slot else { return self.descend_below(branch, cursor, found) };
        let both = branch.lookup.is_some();
        let mark = both.then(|| cursor.hold());
        let cap = self.caps[slot];
        match found.values.get_mut(slot) {
            // The first of several members with the same name counts.
            Some(value) if value.kind().is_none() => value.capture(cursor, cap)?,
            _ => cursor.skip_value().map(drop)?,
        }
        if let Some(mark) = mark {
            cursor.rewind(&mark);
            cursor.release();
            self.descend_below(branch, cursor, found)?;
        }
        Ok(())
    }

    fn descend_below(
        &self,
        branch: &Branch,
        cursor: &mut Cursor<'_>,
        found: &mut FieldValues,
    ) -> reader::Result<()> {
        let Some(names) = &branch.lookup else { return cursor.skip_value().map(drop) };
        if cursor.peek()? != Some(Kind::Object) {
            return cursor.skip_value().map(drop);
        }
        cursor.begin_value()?;
        while let Some(number) = cursor.next_named(names)? {
            if let Some(below) = branch.below.get(number) {
                self.descend(below, cursor, found)?;
            }
        }
        Ok(())
    }
}

impl Branch {
    /// Returns the branch at the end of a path, creating it if necessary.
    fn branch(&mut self, names: &[String]) -> &mut Self {
        let Some((first, rest)) = names.split_first() else { return self };
        let known = self.names.iter().position(|name| name == first);
        let index = known.unwrap_or_else(|| {
            self.names.push(first.clone());
            self.below.push(Self::default());
            self.below.len() - 1
        });
        self.below[index].branch(rest)
    }

    fn make_ready(&mut self) {
        if !self.names.is_empty() {
            self.lookup = Some(Names::new(self.names.iter().map(String::as_str)));
        }
        self.below.iter_mut().for_each(Self::make_ready);
    }
}

/// The field values of one record. Reused for the next one, to avoid allocations.
#[derive(Debug, Default)]
pub(crate) struct FieldValues {
    values: Vec<Value>,
    blocks: Option<Blocks>,
}

impl FieldValues {
    fn clear(&mut self, slots: usize) {
        self.blocks = None;
        self.values.resize_with(slots, Value::default);
        for value in &mut self.values {
            value.clear();
        }
    }

    /// Returns the value in a slot, if the record has it.
    pub(crate) fn get(&self, slot: usize) -> Option<&Value> {
        self.values.get(slot).filter(|value| value.kind().is_some())
    }

    /// Returns the blocks of the content, if they are read.
    pub(crate) fn blocks(&self) -> Option<&Blocks> {
        self.blocks.as_ref()
    }

    /// Returns the text in a slot. None if the value is missing or not a string.
    pub(crate) fn text(&self, slot: usize) -> Option<Cow<'_, str>> {
        self.get(slot)?.text()
    }

    /// Returns the number in a slot, if it is a whole one.
    pub(crate) fn count(&self, slot: usize) -> Option<u64> {
        let value = self.get(slot)?;
        (value.kind() == Some(Kind::Number)).then_some(())?;
        let number = value.json().and_then(Number::parse)?;
        number.as_i64().and_then(|count| u64::try_from(count).ok())
    }
}

/// Field values nested by their paths, as returned in answers.
#[derive(Clone, Debug, Default)]
pub struct Nested {
    members: Vec<(String, Node)>,
}

/// A member of a [`Nested`].
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a member is a value or names, and nothing else")]
pub enum Member<'a> {
    /// The JSON of a value.
    Value(&'a str),
    /// Values under further names.
    Nested(&'a Nested),
}

#[derive(Clone, Debug)]
enum Node {
    Leaf(Box<RawValue>),
    Inner(Nested),
}

impl Nested {
    /// True if there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the members in order.
    pub fn members(&self) -> impl Iterator<Item = (&str, Member<'_>)> {
        self.members.iter().map(|(name, node)| {
            let member = match node {
                Node::Leaf(value) => Member::Value(value.get()),
                Node::Inner(nested) => Member::Nested(nested),
            };
            (name.as_str(), member)
        })
    }

    /// Returns the JSON of the value at a path.
    pub fn get(&self, path: &[&str]) -> Option<&str> {
        let (first, rest) = path.split_first()?;
        let (_, node) = self.members.iter().find(|(name, _)| name == first)?;
        match node {
            Node::Leaf(value) => rest.is_empty().then(|| value.get()),
            Node::Inner(nested) => nested.get(rest),
        }
    }

    /// Adds a JSON value at a path, unless there is already one.
    pub(crate) fn put(&mut self, names: &[String], json: &str) {
        let Some((first, rest)) = names.split_first() else { return };
        let index = self.members.iter().position(|(name, _)| name == first);
        match index.and_then(|index| self.members.get_mut(index)) {
            Some((_, Node::Inner(nested))) => nested.put(rest, json),
            Some((_, Node::Leaf(_))) => {}
            None if rest.is_empty() => {
                if let Ok(value) = RawValue::from_string(json.to_owned()) {
                    self.members.push((first.clone(), Node::Leaf(value)));
                }
            }
            None => {
                let mut nested = Self::default();
                nested.put(rest, json);
                self.members.push((first.clone(), Node::Inner(nested)));
            }
        }
    }

    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> std::result::Result<(), M::Error> {
        for (name, node) in &self.members {
            match node {
                Node::Leaf(value) => map.serialize_entry(name, value)?,
                Node::Inner(nested) => map.serialize_entry(name, nested)?,
            }
        }
        Ok(())
    }
}

impl Serialize for Nested {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len()))?;
        self.write(&mut map)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::config;

    fn found(fields: &Fields, json: &str) -> FieldValues {
        let mut found = FieldValues::default();
        let mut cursor = Cursor::new(json.as_bytes(), &config());
        fields.read_all(&mut cursor, &mut found).unwrap();
        found
    }

    fn json(found: &FieldValues, slot: usize) -> Option<&str> {
        found.get(slot).and_then(Value::json)
    }

    #[test]
    fn parses_paths() {
        for (text, names) in [
            ("model", vec!["model"]),
            ("data.model", vec!["data", "model"]),
            ("$.data.model", vec!["data", "model"]),
            ("$['data'].x", vec!["data", "x"]),
            (r#"data["a.b"].c"#, vec!["data", "a.b", "c"]),
        ] {
            assert_eq!(FieldPath::parse(text).unwrap().names(), names, "{text}");
        }
        for text in ["", "$", "a..b", "a.", "a[0]", "a.*", "a[\"b", "a['b'"] {
            let error = FieldPath::parse(text).unwrap_err().to_string();
            assert!(error.contains("like data.model"), "{text}: {error}");
        }
    }

    #[test]
    fn returns_values_verbatim() {
        let fields = Fields::from_dotted(&[("a", 100), ("b.c", 100), ("b", 100), ("d.e", 100), ("f", 5)]);
        let text = r#"{ "b": {"c": [1.50, {"x":  null}], "z": true}, "d": 3, "a": "t\u00e9xt", "f": "toolong", "a": 2 }"#;
        let found = found(&fields, text);
        assert_eq!(json(&found, 0), Some(r#""t\u00e9xt""#));
        assert_eq!(found.text(0).unwrap(), "téxt");
        assert_eq!(json(&found, 1), Some(r#"[1.50,{"x":null}]"#));
        assert_eq!(json(&found, 2), Some(r#"{"c":[1.50,{"x":null}],"z":true}"#));
        assert_eq!(json(&found, 3), None);
        assert_eq!((json(&found, 4), found.get(4).unwrap().is_too_long()), (None, true));
        assert_eq!(found.text(4).unwrap(), "tool");
    }

    #[test]
    fn skips_long_values() {
        let fields = Fields::from_dotted(&[("a", 10), ("b", 10)]);
        let text = format!(r#"{{"a": [[{}], {{"x": 1}}], "b": 7}}"#, "1, ".repeat(50) + "1");
        let found = found(&fields, &text);
        assert!(found.get(0).unwrap().is_too_long());
        assert_eq!(found.count(1), Some(7));
    }

    #[test]
    fn nests_values_by_path() {
        let mut nested = Nested::default();
        for (path, json) in
            [("data.a", "1"), ("x", "\"y\""), ("data.b.c", "[2.50]"), ("data.a", "3"), ("x.z", "4")]
        {
            nested.put(FieldPath::parse(path).unwrap().names(), json);
        }
        let text = serde_json::to_string(&nested).unwrap();
        assert_eq!(text, r#"{"data":{"a":1,"b":{"c":[2.50]}},"x":"y"}"#);
        let names: Vec<_> = nested.members().map(|(name, _)| name).collect();
        assert_eq!(names, ["data", "x"]);
        let (_, Member::Nested(data)) = nested.members().next().unwrap() else { panic!("{nested:?}") };
        let (_, Member::Value(json)) = data.members().next().unwrap() else { panic!("{data:?}") };
        assert_eq!(json, "1");
    }
}
