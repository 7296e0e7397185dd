//! Access to the values of a suite's file.

use crate::naive::{self, Data, Document, ValueId};
use std::path::Path;

/// A value in a suite's file.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    document: &'a Document,
    bytes: &'a [u8],
    value: ValueId,
}

/// Parses a file and passes its root to `read`.
pub(super) fn open<T>(path: &Path, read: impl FnOnce(Fields<'_>) -> T) -> T {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let document = naive::parse(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    read(Fields { document: &document, bytes: &bytes, value: document.root() })
}

impl<'a> Fields<'a> {
    pub(super) fn get(self, name: &str) -> Option<Self> {
        self.document.member(self.value, name).map(|value| Self { value, ..self })
    }

    pub(super) fn need(self, name: &str) -> Self {
        self.get(name).unwrap_or_else(|| panic!("no `{name}` in {}", String::from_utf8_lossy(&self.raw())))
    }

    pub(super) fn text(self) -> String {
        match &self.document[self.value].data {
            Data::String(text) => text.clone(),
            _ => panic!("not a string: {}", String::from_utf8_lossy(&self.raw())),
        }
    }

    pub(super) fn number(self) -> u64 {
        String::from_utf8_lossy(&self.raw()).parse().expect("a count is an integer")
    }

    /// The bytes of the value in the file.
    pub(super) fn raw(self) -> Vec<u8> {
        self.bytes[self.document[self.value].span.range()].to_vec()
    }

    pub(super) fn list(self) -> Vec<Self> {
        self.document.children(self.value).into_iter().map(|value| Self { value, ..self }).collect()
    }

    pub(super) fn texts(self) -> Vec<String> {
        self.list().into_iter().map(Self::text).collect()
    }

    pub(super) fn raws(self) -> Vec<Vec<u8>> {
        self.list().into_iter().map(Self::raw).collect()
    }

    /// Returns the members with their names.
    pub(super) fn members(self) -> Vec<(&'a str, Self)> {
        let members = self.document.members(self.value).iter();
        members.map(|member| (member.name.as_str(), Self { value: member.value, ..self })).collect()
    }
}
