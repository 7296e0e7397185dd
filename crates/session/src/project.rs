//! Fields taken straight from a record's tokens: what is asked for and short enough, and nothing else.

use std::borrow::Cow;
use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use trommel::reader::{self, Cursor, Event, Kind, Names, Number, Payload, Scalar, Text};

use crate::error::{Error, Result};
use crate::message::{self, Blocks};
use crate::text::shown;

/// Names one below the other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FieldPath(Vec<String>);

/// Names of a path at most.
const DEEPEST: usize = 16;

impl FieldPath {
    /// A dotted path, `data.usage.input_tokens`, whose names may be quoted: `data["a.b"]`. A leading `$.` is taken as well.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            let found = shown(text, 80);
            Error::request(format!(
                "`{found}` is no field: {why}; write names with dots between them, like data.model"
            ))
        };
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
        let inside = quoted.get(1..).unwrap_or_default();
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

    /// Looks at the object that comes next in the input. `is_wanted` is asked after each value of the object itself whether to go on;
    /// if not, `false` is returned.
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
        let cap = self.caps.get(place).copied().unwrap_or(0);
        match found.values.get_mut(place) {
            Some(value) if value.kind.is_none() => value.capture(cursor, cap)?,
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
            value.kind = None;
        }
    }

    /// The value at a place, if there is one.
    pub(crate) fn get(&self, place: usize) -> Option<&Value> {
        self.values.get(place).filter(|value| value.kind.is_some())
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
        (value.kind == Some(Kind::Number)).then_some(())?;
        let number = Number::parse(&value.json)?;
        number.as_i64().and_then(|count| u64::try_from(count).ok())
    }
}

/// A value as it stands in the file, without white space, if it was short enough.
#[derive(Clone, Debug, Default)]
pub(crate) struct Value {
    kind: Option<Kind>,
    json: String,
    is_over: bool,
}

impl Value {
    pub(crate) fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Whether it had too many characters to be kept.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Its JSON; of one that is too long nothing that could be read.
    pub(crate) fn json(&self) -> Option<&str> {
        (!self.is_over && self.kind.is_some()).then_some(&*self.json)
    }

    /// A string's text; of one that was too long its beginning.
    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        (self.kind == Some(Kind::String)).then_some(())?;
        let inside = self.json.strip_prefix('"').unwrap_or(&self.json);
        let inside = if self.is_over { inside } else { inside.strip_suffix('"').unwrap_or(inside) };
        Some(Text::from_raw(inside.as_bytes(), inside.contains('\\')).decode())
    }

    /// JSON that stands for it where at most `cap` characters are looked at: its own; or, as it was too long to be kept, of a string
    /// the beginning, and for another value one of its kind, each longer than that. It was taken with two characters more.
    pub(crate) fn stand_in(&self, cap: usize) -> Cow<'_, str> {
        if !self.is_over {
            return Cow::Borrowed(&self.json);
        }
        Cow::Owned(match self.kind {
            Some(Kind::String) => format!("{}\"", whole_pairs(&self.json)),
            Some(Kind::Number) => "1".repeat(cap + 1),
            Some(Kind::Array) => format!("[\"{}\"]", ".".repeat(cap)),
            Some(Kind::Object) => format!("{{\"\":\"{}\"}}", ".".repeat(cap)),
            _ => "null".to_owned(),
        })
    }

    /// Takes the value that comes next, and passes over it when it has more than so many characters.
    pub(crate) fn capture(&mut self, cursor: &mut Cursor<'_>, cap: usize) -> reader::Result<()> {
        self.json.clear();
        self.is_over = false;
        let outside = cursor.depth();
        let mut event = cursor.begin_value()?;
        self.kind = Some(match event {
            Event::Begin(kind) | Event::End(kind) | Event::Scalar(kind) => kind,
            Event::Name => Kind::String,
        });
        let mut room = Room { left: cap, fresh: true };
        loop {
            if !room.write(&mut self.json, event, cursor.payload()) {
                self.is_over = true;
                while cursor.depth() > outside {
                    cursor.leave()?;
                }
                return Ok(());
            }
            if cursor.depth() == outside {
                return Ok(());
            }
            let Some(next) = cursor.advance()? else { return Ok(()) };
            event = next;
        }
    }
}

/// Characters that may still be written.
struct Room {
    left: usize,
    /// Whether nothing stands before the next value that it has to be kept apart from.
    fresh: bool,
}

impl Room {
    /// Writes an event as JSON; whether there was room for it.
    fn write(&mut self, out: &mut String, event: Event, payload: Payload<'_>) -> bool {
        let comma = !self.fresh && !matches!(event, Event::End(_));
        if comma && !self.push(out, ",") {
            return false;
        }
        self.fresh = matches!(event, Event::Begin(_) | Event::Name);
        match (event, payload) {
            (Event::Begin(kind), _) => self.push(out, if kind == Kind::Object { "{" } else { "[" }),
            (Event::End(kind), _) => self.push(out, if kind == Kind::Object { "}" } else { "]" }),
            (Event::Name, Payload::Name(name)) => self.quote(out, &name) && self.push(out, ":"),
            (_, Payload::Scalar(Scalar::String(text))) => self.quote(out, &text),
            (_, Payload::Scalar(Scalar::Number(number))) => self.push(out, number.lexeme()),
            (_, Payload::Scalar(Scalar::Bool(value))) => self.push(out, if value { "true" } else { "false" }),
            _ => self.push(out, "null"),
        }
    }

    /// A string as it is spelt. Of one that is too long its beginning is written.
    fn quote(&mut self, out: &mut String, text: &Text<'_>) -> bool {
        let raw = std::str::from_utf8(text.raw()).unwrap_or_default();
        if !self.push(out, "\"") {
            return false;
        }
        if text.is_cut() || !self.has_room(raw) {
            out.push_str(beginning(raw, self.left));
            return false;
        }
        self.push(out, raw) && self.push(out, "\"")
    }

    fn has_room(&self, text: &str) -> bool {
        text.len() <= self.left || text.chars().nth(self.left).is_none()
    }

    fn push(&mut self, out: &mut String, text: &str) -> bool {
        let room = self.has_room(text);
        if room {
            out.push_str(text);
            self.left -=
                if text.len() <= self.left && text.is_ascii() { text.len() } else { text.chars().count() };
        }
        room
    }
}

/// At most so many characters of a string's spelling, and no half of an escape.
fn beginning(raw: &str, most: usize) -> &str {
    let mut end = 0;
    let mut chars = raw.char_indices();
    for _ in 0..most {
        let Some((at, c)) = chars.next() else { break };
        end = at + c.len_utf8();
        if c != '\\' {
            continue;
        }
        let more = match chars.next() {
            Some((_, 'u')) => chars.nth(3).map(|(at, c)| at + c.len_utf8()),
            Some((at, c)) => Some(at + c.len_utf8()),
            None => None,
        };
        match more {
            Some(more) => end = more,
            None => return raw.get(..at).unwrap_or_default(),
        }
    }
    raw.get(..end).unwrap_or_default()
}

/// A string's spelling without half of a surrogate pair at its end, which its beginning may have.
fn whole_pairs(raw: &str) -> &str {
    const ESCAPE: usize = 6;
    let before = raw.len().checked_sub(ESCAPE).and_then(|at| raw.split_at_checked(at));
    let is_half = |escape: &str| escape.starts_with("\\ud") || escape.starts_with("\\uD");
    match before {
        // The backslash may be one that another escapes: only what stands for no character is half of one.
        Some((before, escape)) if is_half(escape) => {
            let is_lost = Text::from_raw(raw.as_bytes(), true).decode().ends_with('\u{fffd}');
            if is_lost { before } else { raw }
        }
        _ => raw,
    }
}

/// Values under their names, one below the other, as they are answered.
#[derive(Clone, Debug, Default)]
pub struct Nested {
    members: Vec<(String, Node)>,
}

/// A member of a [`Nested`].
#[derive(Clone, Copy, Debug)]
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
    fn a_beginning_ends_between_escapes() {
        assert_eq!(beginning(r"ab\ncd", 3), r"ab\n");
        assert_eq!(beginning(r"\u00e9\u00e9", 1), r"\u00e9");
        assert_eq!(beginning(r"ab\u00", 9), "ab");
        assert_eq!(beginning("äöü", 2), "äö");
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
