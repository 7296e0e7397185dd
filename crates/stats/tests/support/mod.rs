//! Shared test support: events generated from the naive parser's tree, and functions that observe
//! them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "each battery uses its part")]

use std::collections::BTreeSet;
use trommel_reader::{Event, Kind, Number, Payload, Scalar, Text};
use trommel_stats::{Accumulator as _, Profile, ProfileOptions, Summary};
use trommel_testkit::naive::{self, Data, Document, ValueId, parse};

#[allow(unused_imports, reason = "each battery uses its part")]
pub(crate) use trommel_testkit::generate::Random;

/// Converts a kind to the reader's type.
pub(crate) fn kind(kind: naive::Kind) -> Kind {
    Kind::ALL.into_iter().find(|found| found.name() == kind.name()).unwrap()
}

pub(crate) fn options(change: impl FnOnce(&mut ProfileOptions)) -> ProfileOptions {
    let mut options = ProfileOptions::default();
    change(&mut options);
    options
}

pub(crate) fn text(raw: &[u8]) -> Text<'_> {
    Text::from_raw(raw, raw.contains(&b'\\'))
}

/// Returns the scalar of a value, borrowed from the text of its document.
pub(crate) fn scalar<'a>(bytes: &'a [u8], document: &Document, id: ValueId) -> Option<Scalar<'a>> {
    let value = &document[id];
    let span = &bytes[value.span.range()];
    Some(match &value.data {
        Data::Null => Scalar::Null,
        Data::Bool(value) => Scalar::Bool(*value),
        Data::Number(_) => Scalar::Number(Number::parse(str::from_utf8(span).unwrap()).unwrap()),
        Data::String(_) => Scalar::String(text(&span[1..span.len() - 1])),
        Data::Array(_) | Data::Object(_) => return None,
    })
}

enum Step {
    Value(ValueId),
    Name(naive::Span),
    End(ValueId),
}

/// Observes the values `roots` of a document, nested ones included. Offsets count from `base`.
pub(crate) fn observe(
    profile: &mut Profile,
    bytes: &[u8],
    document: &Document,
    roots: &BTreeSet<ValueId>,
    base: u64,
) {
    let mut steps = vec![Step::Value(document.root())];
    while let Some(step) = steps.pop() {
        match step {
            Step::Name(span) => {
                let raw = &bytes[span.range()];
                profile.observe(Event::Name, Payload::Name(text(&raw[1..raw.len() - 1])), base + span.start);
            }
            Step::End(id) => {
                let value = &document[id];
                if scalar(bytes, document, id).is_none() {
                    profile.observe(
                        Event::End(kind(value.data.kind())),
                        Payload::None,
                        base + value.span.end - 1,
                    );
                }
                if roots.contains(&id) {
                    profile.end();
                }
            }
            Step::Value(id) => {
                if roots.contains(&id) {
                    profile.begin();
                }
                let (kind, at) = (kind(document[id].data.kind()), base + document[id].span.start);
                match scalar(bytes, document, id) {
                    Some(scalar) => profile.observe(Event::Scalar(kind), Payload::Scalar(scalar), at),
                    None => profile.observe(Event::Begin(kind), Payload::None, at),
                }
                steps.push(Step::End(id));
                for &child in document.children(id).iter().rev() {
                    steps.push(Step::Value(child));
                    if let Data::Object(members) = &document[id].data {
                        steps.push(Step::Name(members[document.position(child).unwrap()].name_span));
                    }
                }
            }
        }
    }
}

/// Observes a whole document that begins at the offset `base`.
pub(crate) fn observe_text(profile: &mut Profile, bytes: &[u8], base: u64) {
    let document = parse(bytes).unwrap();
    observe(profile, bytes, &document, &BTreeSet::from([document.root()]), base);
}

/// Returns the profile of several documents, one after the other.
pub(crate) fn profile<T: AsRef<[u8]>>(options: ProfileOptions, documents: &[T]) -> Profile {
    let mut profile = Profile::new(options);
    let mut base = 0;
    for document in documents {
        observe_text(&mut profile, document.as_ref(), base);
        base += document.as_ref().len() as u64 + 1;
    }
    profile
}

pub(crate) fn summary<T: AsRef<[u8]>>(options: ProfileOptions, documents: &[T]) -> Summary {
    profile(options, documents).summary()
}
