//! Fields taken straight from a record's tokens: what is asked for and short enough, and nothing
//! else.

use std::borrow::Cow;
use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use trommel::reader::{self, Cursor, Event, Kind, Names, Number};

use crate::error::{Error, RequestFault, Result};
use crate::message::{self, Blocks};
use crate::value::Value;

/// Names one below the other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FieldPath(Vec<String>);

/// Names of a path at most.
const DEEPEST: usize = 16;

impl FieldPath {
    /// A dotted path, `data.usage.input_tokens`, whose names may be quoted: `data["a.b"]`. A
    /// leading `$.` is taken as well.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &'static str| Error::from(RequestFault::Field { given: text.to_owned(), why });
        let mut rest = text.trim().strip_prefix('$').unwrap_or_else(|| text.trim());
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let mut names = Vec::new();
        while !rest.is_empty() {
            let (name, behind) = next_name(rest).map_err(wrong)?;
            names.push(name.to_owned());
            rest = behind;
        }
        match names.len() {
            0 => Err(wrong("it names nothing")),
            1..=DEEPEST => Ok(Self(names)),
            _ => Err(wrong("it is too deep")),
        }
    }

    pub(crate) fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        Self(names.into_iter().map(str::to_owned).collect())
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.0
    }

    pub(crate) fn below(&self, name: &str) -> Self {
        Self(std::iter::once(name.to_owned()).chain(self.0.iter().cloned()).collect())
    }
}

/// The first name of a path, and what follows it.
fn next_name(text: &str) -> std::result::Result<(&str, &str), &'static str> {
    let (name, rest) = if let Some(quoted) = text.strip_prefix('[') {
        let mark =
            quoted.chars().next().filter(|mark| matches!(mark, '"' | '\'')).ok_or("only names are taken")?;
        let inside = &quoted[1..];
        let (name, rest) = inside.split_once(mark).ok_or("a quote has no end")?;
        (name, rest.strip_prefix(']').ok_or("a bracket has no end")?)
    } else {
        let end = text.find(['.', '[']).unwrap_or(text.len());
        text.split_at(end)
    };
    if name.is_empty() {
        return Err("a name is empty");
    }
    if name == "*" {
        return Err("`*` is no name, and all of a record is never returned");
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

/// What is looked for in a record: numbered places, each with its path.
#[derive(Debug)]
pub(crate) struct Fields {
    root: Branch,
    caps: Vec<usize>,
}

#[derive(Debug, Default)]
struct Branch {
    names: Vec<String>,
    /// The same, made ready for a search.
    sought: Option<Names>,
    below: Vec<Branch>,
    /// The place that takes the value itself.
    place: Option<usize>,
    /// True if the value is a message's content, whose [`Blocks`] are read.
    has_blocks: bool,
}

impl Fields {
    /// Looks for these, of each at most so many characters.
    pub(crate) fn new<'p>(paths: impl IntoIterator<Item = (&'p FieldPath, usize)>) -> Self {
        let mut root = Branch::default();
        let mut caps = Vec::new();
        for (path, cap) in paths {
            root.branch(path.names()).place.get_or_insert(caps.len());
            caps.push(cap);
        }
        root.make_ready();
        Self { root, caps }
    }

    /// Reads also the blocks of the content at a path.
    pub(crate) fn with_blocks(mut self, path: &FieldPath) -> Self {
        self.root.branch(path.names()).has_blocks = true;
        self.root.make_ready();
        self
    }

    /// The same from texts with dots, which are right.
    pub(crate) fn of(paths: &[(&str, usize)]) -> Self {
        let parsed =
            paths.iter().map(|(path, cap)| (FieldPath::of(path.split('.')), *cap)).collect::<Vec<_>>();
        Self::new(parsed.iter().map(|(path, cap)| (path, *cap)))
    }

    /// How many places there are.
    pub(crate) fn places(&self) -> usize {
        self.caps.len()
    }

    /// Looks at the object that comes next in the input. `is_wanted` is asked after each value of
    /// the object itself whether to go on; if not, `false` is returned.
    pub(crate) fn look(
        &self,
        cursor: &mut Cursor<'_>,
        found: &mut Found,
        is_wanted: &mut dyn FnMut(&Found) -> bool,
    ) -> reader::Result<bool> {
        found.clear(self.caps.len());
        if !matches!(cursor.begin_value()?, Event::Begin(Kind::Object)) {
            return Ok(true);
        }
        let Some(names) = &self.root.sought else { return Ok(true) };
        while let Some(number) = cursor.next_named(names)? {
            if let Some(branch) = self.root.below.get(number) {
                self.descend(branch, cursor, found)?;
            }
            if !is_wanted(found) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// All of it.
    pub(crate) fn look_at_all(&self, cursor: &mut Cursor<'_>, found: &mut Found) -> reader::Result<()> {
        self.look(cursor, found, &mut |_| true).map(drop)
    }

    /// Reads the value at a branch, and below it. Recurses as deep as a path is long.
    fn descend(&self, branch: &Branch, cursor: &mut Cursor<'_>, found: &mut Found) -> reader::Result<()> {
        if !branch.has_blocks {
            return self.descend_to_fields(branch, cursor, found);
        }
        if branch.place.is_none() && branch.sought.is_none() {
            found.blocks = message::blocks(cursor)?;
            return Ok(());
        }
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
        found: &mut Found,
    ) -> reader::Result<()> {
        let Some(place) = branch.place else { return self.descend_below(branch, cursor, found) };
        let both = branch.sought.is_some();
        let mark = both.then(|| cursor.hold());
        let cap = self.caps[place];
        match found.values.get_mut(place) {
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
        found: &mut Found,
    ) -> reader::Result<()> {
        let Some(names) = &branch.sought else { return cursor.skip_value().map(drop) };
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
    /// The branch at the end of a path, made where there is none.
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
            self.sought = Some(Names::new(self.names.iter().map(String::as_str)));
        }
        self.below.iter_mut().for_each(Self::make_ready);
    }
}

/// What was found of one record. Used again for the next, so that nothing is allocated for it.
#[derive(Debug, Default)]
pub(crate) struct Found {
    values: Vec<Value>,
    blocks: Option<Blocks>,
}

impl Found {
    fn clear(&mut self, places: usize) {
        self.blocks = None;
        self.values.resize_with(places, Value::default);
        for value in &mut self.values {
            value.clear();
        }
    }

    /// The value at a place, if there is one.
    pub(crate) fn get(&self, place: usize) -> Option<&Value> {
        self.values.get(place).filter(|value| value.kind().is_some())
    }

    /// The blocks of the content, where those are read and there are any.
    pub(crate) fn blocks(&self) -> Option<&Blocks> {
        self.blocks.as_ref()
    }

    /// The text at a place; nothing where there is none, or something else.
    pub(crate) fn text(&self, place: usize) -> Option<Cow<'_, str>> {
        self.get(place)?.text()
    }

    /// The whole number at a place, if it is one.
    pub(crate) fn count(&self, place: usize) -> Option<u64> {
        let value = self.get(place)?;
        (value.kind() == Some(Kind::Number)).then_some(())?;
        let number = value.json().and_then(Number::parse)?;
        number.as_i64().and_then(|count| u64::try_from(count).ok())
    }
}

/// Values under their names, one below the other, as they are answered.
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
    /// Whether there is nothing in it.
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

    /// The JSON of the value below these names.
    pub fn get(&self, path: &[&str]) -> Option<&str> {
        let (first, rest) = path.split_first()?;
        let (_, node) = self.members.iter().find(|(name, _)| name == first)?;
        match node {
            Node::Leaf(value) => rest.is_empty().then(|| value.get()),
            Node::Inner(nested) => nested.get(rest),
        }
    }

    /// Puts JSON below these names, unless something stands there.
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

    fn found(fields: &Fields, json: &str) -> Found {
        let mut found = Found::default();
        let mut cursor = Cursor::new(json.as_bytes(), &config());
        fields.look_at_all(&mut cursor, &mut found).unwrap();
        found
    }

    fn json(found: &Found, place: usize) -> Option<&str> {
        found.get(place).and_then(Value::json)
    }

    #[test]
    fn paths_are_names_with_dots() {
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
    fn values_come_as_they_stand() {
        let fields = Fields::of(&[("a", 100), ("b.c", 100), ("b", 100), ("d.e", 100), ("f", 5)]);
        let text = r#"{ "b": {"c": [1.50, {"x":  null}], "z": true}, "d": 3, "a": "t\u00e9xt", "f": "toolong", "a": 2 }"#;
        let found = found(&fields, text);
        assert_eq!(json(&found, 0), Some(r#""t\u00e9xt""#));
        assert_eq!(found.text(0).unwrap(), "téxt");
        assert_eq!(json(&found, 1), Some(r#"[1.50,{"x":null}]"#));
        assert_eq!(json(&found, 2), Some(r#"{"c":[1.50,{"x":null}],"z":true}"#));
        assert_eq!(json(&found, 3), None);
        assert_eq!((json(&found, 4), found.get(4).unwrap().is_over()), (None, true));
        assert_eq!(found.text(4).unwrap(), "tool");
    }

    #[test]
    fn what_is_too_long_is_passed_over_wherever_it_is() {
        let fields = Fields::of(&[("a", 10), ("b", 10)]);
        let text = format!(r#"{{"a": [[{}], {{"x": 1}}], "b": 7}}"#, "1, ".repeat(50) + "1");
        let found = found(&fields, &text);
        assert!(found.get(0).unwrap().is_over());
        assert_eq!(found.count(1), Some(7));
    }

    #[test]
    fn answers_are_nested() {
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
