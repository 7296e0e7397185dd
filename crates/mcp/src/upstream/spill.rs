//! A value of a result, in memory while it is short, in the store beyond.

use std::sync::Arc;

use blake3::Hash;
use serde_json::{Map, Value};
use trommel_base::text::first;
use trommel_store::{Store, Stored};

use super::capture::Sink;
use super::hashes::Hashes;
use super::writer::Writer;

/// The characters of a value that are kept for the case that the store fails.
const HEAD_CHARS: usize = 30_000;

/// The bytes that are hashed and written at a time: both are fast only in large steps.
const STEP: usize = 256 << 10;

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
    store: &'s Arc<Store>,
    /// The bytes above which the value goes to the store.
    threshold: usize,
    /// The first bytes; all of them while nothing is stored.
    head: Vec<u8>,
    bytes: u64,
    /// Bytes for the next step of the writer.
    pending: Vec<u8>,
    writer: Option<Result<Writer, String>>,
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
    pub(super) fn new(store: &'s Arc<Store>, threshold: usize) -> Self {
        Self { store, threshold, head: Vec::new(), bytes: 0, pending: Vec::new(), writer: None }
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

    /// The hash of the bytes. `None` if they cannot be compared.
    pub(super) fn hash(&mut self) -> Option<Hash> {
        Some(self.hashes()?.exact())
    }

    /// The hash of the JSON without insignificant white space. `None` if it cannot be compared.
    pub(super) fn minified_hash(&mut self) -> Option<Hash> {
        Some(self.hashes()?.minified())
    }

    fn hashes(&mut self) -> Option<Hashes> {
        if self.is_short() {
            return Some(Hashes::of(&self.head));
        }
        self.flush();
        self.writer.as_ref()?.as_ref().ok()?.hashes()
    }

    /// Gives the pending bytes to the writer.
    fn flush(&mut self) {
        if let Some(Ok(writer)) = &self.writer
            && !self.pending.is_empty()
        {
            self.pending = writer.write(std::mem::take(&mut self.pending));
        }
    }

    /// Moves the value to the store if it is in memory.
    pub(super) fn store(&mut self) {
        if self.writer.is_none() {
            self.writer = Some(Writer::start(self.store).map_err(|error| error.to_string()));
            self.pending.extend_from_slice(&self.head);
            self.flush();
        }
        self.head.truncate(4 * HEAD_CHARS);
    }

    /// Ends the value.
    pub(super) fn finish(mut self, origin: &CallOrigin) -> Received {
        self.flush();
        let head = String::from_utf8_lossy(&self.head);
        let stored = match self.writer {
            None => return Received::Short(head.into_owned()),
            Some(writer) => writer.and_then(|writer| writer.finish(origin)),
        };
        match stored {
            Ok(stored) => Received::Stored(Box::new(stored)),
            Err(why) => Received::Lost { head: first(&head, HEAD_CHARS).to_owned(), bytes: self.bytes, why },
        }
    }
}

impl Sink for Spill<'_> {
    fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        match &self.writer {
            None => {
                self.head.extend_from_slice(bytes);
                if self.head.len() > self.threshold {
                    self.store();
                }
            }
            Some(Ok(_)) => {
                self.pending.extend_from_slice(bytes);
                if self.pending.len() >= STEP {
                    self.flush();
                }
            }
            Some(Err(_)) => {}
        }
    }
}
