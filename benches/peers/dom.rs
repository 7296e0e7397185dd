//! Programs over trees in memory, which parse everything and then walk the tree.

use std::hint::black_box;

use simd_json::prelude::{ValueAsArray, ValueAsObject, ValueAsScalar};
use sonic_rs::{JsonContainerTrait, JsonValueTrait};
use trommel_benches::{Column, Task};

pub(super) fn columns<'a>(task: &'a Task, bytes: &'a [u8]) -> Vec<Column<'a>> {
    let name = task.name.as_str();
    if !CAN.contains(&name) {
        return Vec::new();
    }
    vec![
        Column::reads("serde_json tree", move || {
            answer(name, &serde_json::from_slice::<serde_json::Value>(bytes).unwrap())
        }),
        Column::reads("sonic-rs tree", move || {
            answer(name, &sonic_rs::from_slice::<sonic_rs::Value>(bytes).unwrap())
        }),
        Column::consumes("simd-json tree", move |bytes| {
            answer(name, &simd_json::to_borrowed_value(bytes).unwrap())
        }),
    ]
}

const CAN: &[&str] = &[
    "path/one",
    "path/five",
    "path/two-wildcards",
    "path/filter-string",
    "path/filter-number",
    "path/last",
    "path/length",
    "path/descendants",
    "stats/types",
    "stats/numbers",
    "facade/descendants",
];

/// A node of a tree.
trait Node: Sized {
    fn member(&self, name: &str) -> Option<&Self>;
    fn elements(&self) -> &[Self];
    fn text(&self) -> Option<&str>;
    fn number(&self) -> Option<f64>;
    /// Calls for each child, with its name if it is a member.
    fn for_each_child(&self, each: &mut dyn FnMut(Option<&str>, &Self));
}

fn answer(task: &str, root: &impl Node) -> u64 {
    match task {
        "path/descendants" | "facade/descendants" => logins(root),
        "stats/types" | "stats/numbers" => values(root),
        _ => of_records(task, root.member("data").and_then(|data| data.member("records")).unwrap()),
    }
}

fn of_records(task: &str, records: &impl Node) -> u64 {
    let records = records.elements();
    let count = |found: &dyn Fn(usize) -> usize| (0..records.len()).map(found).sum::<usize>() as u64;
    match task {
        "path/one" => count(&|at| texts(&[records[at].member("id")])),
        "path/five" => count(&|at| {
            let record = &records[at];
            let within = |outer, inner| record.member(outer).and_then(|outer| outer.member(inner));
            texts(&[
                record.member("id"),
                record.member("type"),
                within("actor", "login"),
                within("repo", "name"),
                record.member("created_at"),
            ])
        }),
        "path/two-wildcards" => count(&|at| {
            let commits =
                records[at].member("payload").and_then(|payload| payload.member("commits")).unwrap();
            commits.elements().iter().map(|commit| texts(&[commit.member("sha")])).sum()
        }),
        "path/filter-string" => count(&|at| {
            let is_push = records[at].member("type").and_then(Node::text) == Some("PushEvent");
            if is_push { texts(&[records[at].member("id")]) } else { 0 }
        }),
        "path/filter-number" => count(&|at| {
            let size = records[at].member("payload").and_then(|payload| payload.member("size"));
            let is_large = size.and_then(Node::number).is_some_and(|size| size > 90_000.0);
            if is_large { texts(&[records[at].member("id")]) } else { 0 }
        }),
        "path/last" => texts(&[records.last().and_then(|record| record.member("id"))]) as u64,
        "path/length" => records.len() as u64,
        name => panic!("no program for {name}"),
    }
}

/// Counts the values that exist and are strings.
fn texts(found: &[Option<&impl Node>]) -> usize {
    found.iter().filter(|found| found.is_some_and(|found| black_box(found.text()).is_some())).count()
}

fn logins(node: &impl Node) -> u64 {
    let mut found = 0;
    node.for_each_child(&mut |name, child| {
        found += u64::from(name == Some("login")) + logins(child);
    });
    found
}

fn values(node: &impl Node) -> u64 {
    let mut found = 1;
    node.for_each_child(&mut |_, child| found += values(child));
    found
}

impl Node for serde_json::Value {
    fn member(&self, name: &str) -> Option<&Self> {
        self.get(name)
    }

    fn elements(&self) -> &[Self] {
        self.as_array().map_or(&[], Vec::as_slice)
    }

    fn text(&self) -> Option<&str> {
        self.as_str()
    }

    fn number(&self) -> Option<f64> {
        self.as_f64()
    }

    fn for_each_child(&self, each: &mut dyn FnMut(Option<&str>, &Self)) {
        match self {
            Self::Array(elements) => elements.iter().for_each(|element| each(None, element)),
            Self::Object(members) => members.iter().for_each(|(name, value)| each(Some(name), value)),
            _ => {}
        }
    }
}

impl Node for simd_json::BorrowedValue<'_> {
    fn member(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    fn elements(&self) -> &[Self] {
        self.as_array().map_or(&[], |elements| elements.as_slice())
    }

    fn text(&self) -> Option<&str> {
        self.as_str()
    }

    fn number(&self) -> Option<f64> {
        ValueAsScalar::cast_f64(self)
    }

    fn for_each_child(&self, each: &mut dyn FnMut(Option<&str>, &Self)) {
        if let Some(elements) = self.as_array() {
            for element in elements {
                each(None, element);
            }
        } else if let Some(members) = self.as_object() {
            members.iter().for_each(|(name, value)| each(Some(name), value));
        }
    }
}

impl Node for sonic_rs::Value {
    fn member(&self, name: &str) -> Option<&Self> {
        self.get(name)
    }

    fn elements(&self) -> &[Self] {
        JsonContainerTrait::as_array(self).map_or(&[], |elements| elements.as_slice())
    }

    fn text(&self) -> Option<&str> {
        JsonValueTrait::as_str(self)
    }

    fn number(&self) -> Option<f64> {
        JsonValueTrait::as_f64(self)
    }

    fn for_each_child(&self, each: &mut dyn FnMut(Option<&str>, &Self)) {
        if let Some(elements) = JsonContainerTrait::as_array(self) {
            for element in elements {
                each(None, element);
            }
        } else if let Some(members) = JsonContainerTrait::as_object(self) {
            members.iter().for_each(|(name, value)| each(Some(name), value));
        }
    }
}
