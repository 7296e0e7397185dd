//! Programs over types that serde fills, by three parsers.

use std::borrow::Cow;
use std::fmt;
use std::hint::black_box;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use trommel_benches::{Column, Task};

use super::Answer;
use super::walk::{Logins, Positive, TextBytes, Types, Values, Walked};

pub(super) fn columns<'a>(task: &'a Task, bytes: &'a [u8]) -> Vec<Column<'a>> {
    let name = task.name.as_str();
    if !CAN.contains(&name) {
        return Vec::new();
    }
    vec![
        Column::reads("serde_json", move || answer::<SerdeJson>(name, bytes)),
        Column::reads("sonic-rs", move || answer::<SonicRs>(name, bytes)),
        Column::consumes("simd-json", move |bytes| answer::<SimdJson>(name, bytes)),
    ]
}

/// A parser that fills types.
trait Parser {
    /// The type of its input.
    type Bytes<'b>;
    /// One document.
    fn read<'b, T: Deserialize<'b>>(bytes: Self::Bytes<'b>) -> T;
    /// One document per line; returns the sum.
    fn read_lines<'b, T: Deserialize<'b> + Answer>(bytes: Self::Bytes<'b>) -> u64;
}

struct SerdeJson;
struct SonicRs;
struct SimdJson;

impl Parser for SerdeJson {
    type Bytes<'b> = &'b [u8];

    fn read<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> T {
        serde_json::from_slice(bytes).unwrap()
    }

    fn read_lines<'b, T: Deserialize<'b> + Answer>(bytes: &'b [u8]) -> u64 {
        serde_json::Deserializer::from_slice(bytes).into_iter::<T>().map(|line| line.unwrap().answer()).sum()
    }
}

impl Parser for SonicRs {
    type Bytes<'b> = &'b [u8];

    fn read<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> T {
        sonic_rs::from_slice(bytes).unwrap()
    }

    fn read_lines<'b, T: Deserialize<'b> + Answer>(bytes: &'b [u8]) -> u64 {
        super::lines(bytes).map(|line| Self::read::<T>(line).answer()).sum()
    }
}

impl Parser for SimdJson {
    type Bytes<'b> = &'b mut [u8];

    fn read<'b, T: Deserialize<'b>>(bytes: &'b mut [u8]) -> T {
        simd_json::serde::from_slice(bytes).unwrap()
    }

    fn read_lines<'b, T: Deserialize<'b> + Answer>(bytes: &'b mut [u8]) -> u64 {
        let end = bytes.len() - usize::from(bytes.ends_with(b"\n"));
        let lines = bytes[..end].split_mut(|&byte| byte == b'\n');
        lines.map(|line| Self::read::<T>(line).answer()).sum()
    }
}

const CAN: &[&str] = &[
    "reader/values",
    "reader/pretty",
    "reader/skip",
    "reader/strings",
    "reader/numbers",
    "path/one",
    "path/pretty",
    "path/five",
    "path/two-wildcards",
    "path/filter-string",
    "path/filter-number",
    "path/last",
    "path/length",
    "path/descendants",
    "path/descendants-count",
    "path/last-key",
    "stats/types",
    "stats/numbers",
    "facade/check",
    "facade/descendants",
    "lines/check",
    "lines/count",
    "lines/extract",
];

fn answer<P: Parser>(task: &str, bytes: P::Bytes<'_>) -> u64 {
    match task {
        "reader/values" | "reader/pretty" => P::read::<Walked<Values>>(bytes).answer(),
        "reader/skip" | "lines/check" | "lines/count" => P::read_lines::<IgnoredAny>(bytes),
        "reader/strings" => P::read::<Walked<TextBytes>>(bytes).answer(),
        "reader/numbers" => P::read::<Walked<Positive>>(bytes).answer(),
        "path/one" | "path/pretty" => P::read::<Document<Each<Id<'_>>>>(bytes).answer(),
        "path/five" => P::read::<Document<Each<Five<'_>>>>(bytes).answer(),
        "path/two-wildcards" => P::read::<Document<Each<Commits<'_>>>>(bytes).answer(),
        "path/filter-string" => P::read::<Document<Each<Push<'_>>>>(bytes).answer(),
        "path/filter-number" => P::read::<Document<Each<Large<'_>>>>(bytes).answer(),
        "path/last" => P::read::<Document<Last<Id<'_>>>>(bytes).answer(),
        "path/last-key" => P::read::<WithMeta<'_>>(bytes).answer(),
        "path/length" => P::read::<Document<Each<IgnoredAny>>>(bytes).answer(),
        "path/descendants" | "path/descendants-count" | "facade/descendants" => {
            P::read::<Walked<Logins>>(bytes).answer()
        }
        "stats/types" | "stats/numbers" => P::read::<Walked<Types>>(bytes).answer(),
        "facade/check" => P::read::<IgnoredAny>(bytes).answer(),
        "lines/extract" => P::read_lines::<Id<'_>>(bytes),
        name => panic!("no program for {name}"),
    }
}

impl Answer for IgnoredAny {
    fn answer(&self) -> u64 {
        1
    }
}

#[derive(serde::Deserialize)]
struct Document<T> {
    data: Data<T>,
}

#[derive(serde::Deserialize)]
struct Data<T> {
    records: T,
}

impl<T: Answer> Answer for Document<T> {
    fn answer(&self) -> u64 {
        self.data.records.answer()
    }
}

#[derive(serde::Deserialize)]
struct WithMeta<'a> {
    #[serde(borrow)]
    meta: Meta<'a>,
}

#[derive(serde::Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    source: Cow<'a, str>,
}

impl Answer for WithMeta<'_> {
    fn answer(&self) -> u64 {
        black_box(&*self.meta.source);
        1
    }
}

#[derive(serde::Deserialize)]
struct Id<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

impl Answer for Id<'_> {
    fn answer(&self) -> u64 {
        black_box(&*self.id);
        1
    }
}

#[derive(serde::Deserialize)]
struct Five<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    actor: Actor<'a>,
    #[serde(borrow)]
    repo: Repo<'a>,
    #[serde(borrow)]
    created_at: Cow<'a, str>,
}

#[derive(serde::Deserialize)]
struct Actor<'a> {
    #[serde(borrow)]
    login: Cow<'a, str>,
}

#[derive(serde::Deserialize)]
struct Repo<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

impl Answer for Five<'_> {
    fn answer(&self) -> u64 {
        black_box([&*self.id, &self.kind, &self.actor.login, &self.repo.name, &self.created_at]).len() as u64
    }
}

#[derive(serde::Deserialize)]
struct Commits<'a> {
    #[serde(borrow)]
    payload: WithCommits<'a>,
}

#[derive(serde::Deserialize)]
struct WithCommits<'a> {
    #[serde(borrow)]
    commits: Each<Commit<'a>>,
}

#[derive(serde::Deserialize)]
struct Commit<'a> {
    #[serde(borrow)]
    sha: Cow<'a, str>,
}

impl Answer for Commits<'_> {
    fn answer(&self) -> u64 {
        self.payload.commits.answer()
    }
}

impl Answer for Commit<'_> {
    fn answer(&self) -> u64 {
        black_box(&*self.sha);
        1
    }
}

#[derive(serde::Deserialize)]
struct Push<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
}

impl Answer for Push<'_> {
    fn answer(&self) -> u64 {
        black_box(&*self.id);
        u64::from(self.kind == "PushEvent")
    }
}

#[derive(serde::Deserialize)]
struct Large<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    payload: Size,
}

#[derive(serde::Deserialize)]
struct Size {
    size: f64,
}

impl Answer for Large<'_> {
    fn answer(&self) -> u64 {
        black_box(&*self.id);
        u64::from(self.payload.size > 90_000.0)
    }
}

/// The elements of an array, added up without being kept.
struct Each<T>(u64, PhantomData<T>);

/// The last element of an array.
struct Last<T>(Option<T>);

impl<T> Answer for Each<T> {
    fn answer(&self) -> u64 {
        self.0
    }
}

impl<T: Answer> Answer for Last<T> {
    fn answer(&self) -> u64 {
        self.0.as_ref().map_or(0, Answer::answer)
    }
}

impl<'de, T: Deserialize<'de> + Answer> Deserialize<'de> for Each<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Self(0, PhantomData))
    }
}

impl<'de, T: Deserialize<'de> + Answer> Visitor<'de> for Each<T> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<Self, A::Error> {
        while let Some(element) = elements.next_element::<T>()? {
            self.0 += element.answer();
        }
        Ok(self)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Last<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Self(None))
    }
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for Last<T> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<Self, A::Error> {
        while let Some(element) = elements.next_element()? {
            self.0 = Some(element);
        }
        Ok(self)
    }
}
