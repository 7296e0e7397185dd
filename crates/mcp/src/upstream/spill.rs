//! A value of a result, in memory while it is short, in the store beyond.

use std::io::Write;

use blake3::{Hash, Hasher};
use serde_json::{Map, Value};
use trommel_base::text::first;
use trommel_reader::Compactor;
use trommel_store::{Origin, Put, Store, Stored};

use super::capture::Sink;

/// The characters of a value that are kept for the case that the store fails.
const HEAD_CHARS: usize = 30_000;

/// The call that a value is the result of.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallOrigin {
    /// The exported name of the tool, or the method of another request.
    pub(crate) tool: String,
    /// The arguments, with secrets redacted.
    pub(crate) parameters: Map<String, Value>,
}

/// A value that is being received.
pub(super) struct Spill<'s> {
    store: &'s Store,
    /// The bytes above which the value goes to the store.
    threshold: usize,
    /// The first bytes; all of them while nothing is stored.
    head: Vec<u8>,
    put: Option<Put<'s>>,
    /// The reason why the rest was not kept.
    failure: Option<String>,
    bytes: u64,
    exact: Hasher,
    minified: Minified,
}

/// A value that was received.
pub(super) enum Received {
    /// It is short.
    Short(String),
    /// It is stored.
    Stored(Box<Stored>),
    /// It could not be stored. The start is all that is left.
    Lost {
        /// The first characters.
        head: String,
        bytes: u64,
        why: String,
    },
}

impl<'s> Spill<'s> {
    /// Receives a value into memory, or beyond some bytes into the store.
    pub(super) fn new(store: &'s Store, threshold: usize) -> Self {
        Self {
            store,
            threshold,
            head: Vec::new(),
            put: None,
            failure: None,
            bytes: 0,
            exact: Hasher::new(),
            minified: Minified::default(),
        }
    }

    /// True while all of the value is in memory.
    pub(super) fn is_short(&self) -> bool {
        self.bytes <= self.head.len() as u64
    }

    /// The length of the value so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The value, while it is in memory.
    pub(super) fn text(&self) -> Option<&str> {
        if self.is_short() { std::str::from_utf8(&self.head).ok() } else { None }
    }

    /// The hash of the bytes.
    pub(super) fn hash(&self) -> Hash {
        self.exact.finalize()
    }

    /// The hash of the JSON without insignificant white space. It identifies a value and its
    /// pretty-printed copy.
    pub(super) fn minified_hash(&self) -> Hash {
        self.minified.finish()
    }

    /// Moves the value to the store if it is in memory.
    pub(super) fn store(&mut self) {
        if self.put.is_none() && self.failure.is_none() {
            let head = std::mem::take(&mut self.head);
            self.write(&head);
            self.head = head;
        }
        self.head.truncate(4 * HEAD_CHARS);
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failure.is_some() {
            return;
        }
        let put = match &mut self.put {
            Some(put) => Ok(put),
            // The call is set at the end: its response may come before the number of the call.
            none => self.store.put(Origin::of("")).map(|put| none.insert(put)),
        };
        let written = put.map_err(|error| error.to_string());
        let written = written.and_then(|put| put.write_all(bytes).map_err(|error| error.to_string()));
        if let Err(why) = written {
            self.put = None;
            self.failure = Some(why);
        }
    }

    /// Ends the value.
    pub(super) fn finish(self, origin: &CallOrigin) -> Received {
        let bytes = self.bytes;
        let is_short = self.is_short() && self.put.is_none() && self.failure.is_none();
        let head = String::from_utf8_lossy(&self.head);
        if is_short {
            return Received::Short(head.into_owned());
        }
        let lost = |why: String| Received::Lost { head: first(&head, HEAD_CHARS).to_owned(), bytes, why };
        match (self.put, self.failure) {
            (_, Some(why)) => lost(why),
            (None, None) => lost("nothing was written".to_owned()),
            (Some(mut put), None) => {
                let named = put.set_call(&origin.tool, Value::Object(origin.parameters.clone()));
                match named.and_then(|()| put.finish()) {
                    Ok(stored) => Received::Stored(Box::new(stored)),
                    Err(error) => lost(error.to_string()),
                }
            }
        }
    }
}

impl Sink for Spill<'_> {
    fn take(&mut self, bytes: &[u8]) {
        self.exact.update(bytes);
        self.minified.update(bytes);
        self.bytes += bytes.len() as u64;
        if self.put.is_none() && self.failure.is_none() {
            self.head.extend_from_slice(bytes);
            if self.head.len() > self.threshold {
                self.store();
            }
        } else {
            self.write(bytes);
        }
    }
}

/// The hash of JSON without the white space between its tokens.
#[derive(Default)]
struct Minified {
    hasher: Hasher,
    compactor: Compactor,
    buffer: Vec<u8>,
}

impl Minified {
    fn update(&mut self, bytes: &[u8]) {
        // A few kilobytes at a time stay in the cache.
        for piece in bytes.chunks(16 << 10) {
            self.compactor.push(piece, &mut self.buffer);
            self.hasher.update(&self.buffer);
            self.buffer.clear();
        }
    }

    fn finish(&self) -> Hash {
        self.hasher.finalize()
    }
}

#[cfg(test)]
mod tests {
    use trommel_testkit::generate::{Random, Shape, document};

    use super::*;

    fn minified(parts: &[&[u8]]) -> Hash {
        let mut hash = Minified::default();
        for part in parts {
            hash.update(part);
        }
        hash.finish()
    }

    #[test]
    fn white_space_between_tokens_does_not_matter() {
        for seed in 0..300 {
            let text = document(seed, &Shape::plain());
            let value: Value = serde_json::from_slice(&text).unwrap();
            let (compact, pretty) = (value.to_string(), serde_json::to_string_pretty(&value).unwrap());
            let (start, end) = pretty.as_bytes().split_at(Random::new(seed).below(pretty.len()));
            assert_eq!(minified(&[start, end]), blake3::hash(compact.as_bytes()), "{seed}");
        }
    }

    #[test]
    fn white_space_in_strings_matters() {
        assert_ne!(minified(&[br#"{"a": "b c"}"#]), minified(&[br#"{"a":"bc"}"#]));
        assert_ne!(minified(&[br#"["\" a"]"#]), minified(&[br#"["\"a"]"#]));
    }
}
