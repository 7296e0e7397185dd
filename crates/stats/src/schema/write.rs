//! Writes a schema as text, without recursion.

use super::format;
use crate::profile::{NONE, Node, Trie};
use std::fmt::Write as _;
use trommel_reader::Kind;

/// The minimum number of strings for a `format`.
const MIN_STRINGS: u64 = 20;
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The remaining work, last task first.
enum Task {
    /// The subschema of a node.
    Schema(u32),
    /// `"name":` of a node, preceded by a comma unless it is the first.
    Property {
        node: u32,
        is_first: bool,
    },
    Text(String),
}

struct Writer<'a> {
    trie: &'a Trie,
    /// Nodes from this one on are not described. The trie is in breadth-first order, so these are
    /// the deepest.
    described: u32,
    /// The maximum depth.
    depth: u32,
    tasks: Vec<Task>,
    json: String,
}

/// Writes the schema of a regrouped trie.
pub(super) fn write(trie: &Trie, limit: usize, depth: u32) -> String {
    let described = u32::try_from(limit).unwrap_or(NONE).max(1);
    let mut writer = Writer { trie, described, depth, tasks: Vec::new(), json: String::new() };
    write_to(&mut writer.json, format_args!(r#"{{"$schema":"{DIALECT}""#));
    if trie.nodes.is_empty() {
        writer.json.push('}');
    } else {
        writer.schema(0, true);
    }
    while let Some(task) = writer.tasks.pop() {
        match task {
            Task::Text(text) => writer.json.push_str(&text),
            Task::Schema(node) => {
                writer.json.push('{');
                writer.schema(node, false);
            }
            Task::Property { node, is_first } => {
                let name = String::from_utf8_lossy(trie.name(&trie.nodes[node as usize]));
                writer.json.push_str(if is_first { "" } else { "," });
                push_string(&mut writer.json, &name);
                writer.json.push(':');
            }
        }
    }
    writer.json
}

impl Writer<'_> {
    /// Writes the keywords of a node after the opening brace, and schedules those with subschemas
    /// and the closing brace.
    fn schema(&mut self, id: u32, has_keywords: bool) {
        let node = &self.trie.nodes[id as usize];
        if let Some(types) = types(node) {
            self.json.push_str(if has_keywords { "," } else { "" });
            write_to(&mut self.json, format_args!(r#""type":{types}"#));
        }
        if let Some(format) = format_of(node) {
            write_to(&mut self.json, format_args!(r#","format":"{format}""#));
        }
        let mut tasks = Vec::new();
        if node.depth < self.depth {
            self.objects(node, &mut tasks);
            self.arrays(node, &mut tasks);
        }
        tasks.push(Task::Text("}".into()));
        self.tasks.extend(tasks.into_iter().rev());
    }

    fn objects(&self, node: &Node, tasks: &mut Vec<Task>) {
        let Some(objects) = node.objects.as_deref() else { return };
        let mut names = 0;
        let mut required = String::new();
        let mut at = objects.head;
        while at < self.described
            && let Some(member) = self.trie.nodes.get(at as usize)
        {
            if names == 0 {
                tasks.push(Task::Text(r#","properties":{"#.into()));
            }
            tasks.push(Task::Property { node: at, is_first: names == 0 });
            tasks.push(Task::Schema(at));
            // A repeated name counts once in `present`, so this holds exactly if every object has
            // the name.
            if member.present >= objects.sizes.count {
                required.push_str(if required.is_empty() { "" } else { "," });
                push_string(&mut required, &String::from_utf8_lossy(self.trie.name(member)));
            }
            names += 1;
            at = member.follower;
        }
        if names > 0 {
            tasks.push(Task::Text("}".into()));
        }
        if !required.is_empty() {
            tasks.push(Task::Text(format!(r#","required":[{required}]"#)));
        }
        // A cut-off list of properties must not forbid the missing names, and the folded values may
        // not cover them: allow anything.
        let left_out = objects.names - names;
        if objects.fold != NONE && objects.fold < self.described && left_out == 0 {
            tasks.push(Task::Text(r#","additionalProperties":"#.into()));
            tasks.push(Task::Schema(objects.fold));
        } else if objects.fold != NONE || left_out > 0 {
            let limit = self.described;
            let what = if left_out > 0 { format!("{left_out} more names") } else { "the values".into() };
            let text = format!(
                r#","additionalProperties":true,"$comment":"{what} are not described: the limit is {limit} subschemas""#
            );
            tasks.push(Task::Text(text));
        }
    }

    fn arrays(&self, node: &Node, tasks: &mut Vec<Task>) {
        let item = node.arrays.as_ref().map_or(NONE, |arrays| arrays.item);
        if item < self.described {
            tasks.push(Task::Text(r#","items":"#.into()));
            tasks.push(Task::Schema(item));
        } else if item != NONE {
            let limit = self.described;
            let comment = format!(r#"{{"$comment":"not described: the limit is {limit} subschemas"}}"#);
            tasks.push(Task::Text(format!(r#","items":{comment}"#)));
        }
    }
}

/// The types of a node's values: a string, or a list of strings.
fn types(node: &Node) -> Option<String> {
    let names: Vec<String> =
        node.kinds.set().iter().map(|kind| format!(r#""{}""#, type_name(node, kind))).collect();
    match names.as_slice() {
        [] => None,
        [name] => Some(name.clone()),
        names => Some(format!("[{}]", names.join(","))),
    }
}

fn type_name(node: &Node, kind: Kind) -> &'static str {
    if kind == Kind::Number && !node.has_fractions { "integer" } else { kind.name() }
}

fn format_of(node: &Node) -> Option<&'static str> {
    let enough = node.kinds.get(Kind::String) >= MIN_STRINGS;
    if enough { format::name(node.formats) } else { None }
}

/// Appends a JSON string.
fn push_string(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\0'..='\u{1F}' => write_to(json, format_args!("\\u{:04x}", u32::from(c))),
            _ => json.push(c),
        }
    }
    json.push('"');
}

fn write_to(json: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = json.write_fmt(text);
}
