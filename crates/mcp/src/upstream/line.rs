//! Messages of a server: short ones in memory, responses with long values read as they arrive.

use std::io::{self, BufRead, Cursor as Bytes, Read};
use std::sync::Arc;

use rmcp::model::{ErrorData, RequestId};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use trommel_base::text::{clip, safe};
use trommel_store::Store;

use super::calls::{Calls, Reply};
use super::message::Incoming;
use super::walk::{Reduced, Walk};

/// The bytes of a message that are read into memory before it is looked at.
const SHORT: usize = 2 << 20;

/// The bytes of an error, or of a block that is not text, that are passed on.
const MAX_OTHER: usize = 1 << 20;

/// Reads the messages of one server.
pub(super) struct Messages {
    pub(super) calls: Calls,
    pub(super) store: Arc<Store>,
    /// The bytes of a message.
    pub(super) max_bytes: u64,
}

/// A message, or a line that is none.
#[derive(Debug)]
pub(super) enum Arrival {
    Message(Incoming),
    /// A line that is no message, for the log.
    Noise(String),
    /// A message that exceeds the limit of bytes: the connection must be closed.
    TooLong(Option<Incoming>),
}

impl Messages {
    /// Reads the next line. Returns `None` at the end of the input.
    pub(super) fn next(&self, reader: &mut (impl BufRead + Send)) -> io::Result<Option<Arrival>> {
        loop {
            let mut line = Line { reader, is_ended: false, is_empty: true };
            let arrival = self.read(&mut line)?;
            if matches!(arrival, Some(Arrival::TooLong(_))) {
                return Ok(arrival);
            }
            io::copy(&mut line, &mut io::sink())?;
            if arrival.is_some() || line.is_empty {
                return Ok(arrival);
            }
        }
    }

    /// Reads a message, with which the reader ends. Returns `None` if there is only white space.
    pub(super) fn read(&self, reader: &mut (impl Read + Send)) -> io::Result<Option<Arrival>> {
        let mut reader = Limited { reader, left: self.max_bytes, is_exceeded: false };
        let mut start = Vec::new();
        reader.by_ref().take(SHORT as u64).read_to_end(&mut start)?;
        if start.len() < SHORT && !reader.is_exceeded {
            return Ok((!start.trim_ascii().is_empty()).then(|| self.short(&start)));
        }
        let arrival = self.long(Bytes::new(&start).chain(&mut reader));
        if reader.is_exceeded {
            let why = format!("the server's message is longer than {} bytes", self.max_bytes);
            let id = match arrival {
                Arrival::Message(message) => message.answers().cloned(),
                _ => self.calls.only(),
            };
            return Ok(Some(Arrival::TooLong(id.map(|id| Incoming::failure(id, &why)))));
        }
        Ok(Some(arrival))
    }

    /// Reads a message in memory.
    fn short(&self, bytes: &[u8]) -> Arrival {
        let noise = |why: &str| {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
            Arrival::Noise(format!("{why}: {}", safe(clip(start.trim(), 200).as_ref())))
        };
        let Ok(message) = serde_json::from_slice::<&RawValue>(bytes) else { return noise("not JSON") };
        let envelope: Envelope<'_> = match serde_json::from_str(message.get()) {
            Ok(envelope) => envelope,
            Err(_) => return noise("not a message"),
        };
        let id = envelope.id.and_then(|id| serde_json::from_str::<RequestId>(id.get()).ok());
        let (Some(id), Some(result)) = (&id, envelope.result) else {
            return match Incoming::parse(message.get()) {
                Some(Incoming::Response(id, Err(error))) => Self::error(id, error, message.get().len()),
                Some(message) => Arrival::Message(message),
                None => noise("not a message"),
            };
        };
        let Some(outgoing) = self.calls.get(id) else { return noise("a response to an unknown request") };
        match outgoing.limit.map(|limit| Measure::of(result, limit)) {
            None | Some(Measure::Passes) => answered(id.clone(), Reply::Whole(result.get().to_owned())),
            Some(Measure::Invalid(why)) => failed(Some(id.clone()), &why),
            Some(Measure::TooLong) => self.long(bytes),
        }
    }

    /// Passes an error on, unless it is too long.
    fn error(id: RequestId, error: ErrorData, length: usize) -> Arrival {
        if length <= MAX_OTHER {
            return Arrival::Message(Incoming::Response(id, Err(error)));
        }
        let start = clip(&error.message, 1_000).into_owned();
        failed(Some(id), &format!("the server failed with {length} bytes of error: {start}"))
    }

    /// Reads a message with long values.
    fn long(&self, reader: impl Read + Send) -> Arrival {
        // The number of the call may come last. Until then the largest limit of those that wait
        // would do; one limit for all keeps the memory small.
        let mut walk = Walk::new(reader, &self.store, self.calls.limit());
        let done = walk.read();
        let id = walk.id.take().or_else(|| self.calls.only());
        if let Err(error) = done {
            return failed(id, &format!("the server sent an invalid message: {error}"));
        }
        if let Some(error) = walk.error.take() {
            let length = error.len();
            let error = serde_json::from_str(&error).unwrap_or_else(|_| {
                ErrorData::internal_error(
                    format!("the server sent an invalid error: {}", clip(&error, 200)),
                    None,
                )
            });
            return match id {
                Some(id) => Self::error(id, error, length),
                None => Arrival::Noise(clip(&error.message, 1_000).into_owned()),
            };
        }
        let Some((id, outgoing)) = id.and_then(|id| self.calls.get(&id).map(|outgoing| (id, outgoing)))
        else {
            return Arrival::Noise("a long response to an unknown request".to_owned());
        };
        if outgoing.limit.is_none() {
            return match whole(&walk.finish(&outgoing.origin)) {
                Some(result) => answered(id, Reply::Whole(result)),
                None => failed(Some(id), "the response is too long"),
            };
        }
        let reduced = walk.finish(&outgoing.origin);
        answered(id, Reply::Reduced(Box::new(reduced)))
    }
}

fn answered(id: RequestId, reply: Reply) -> Arrival {
    Arrival::Message(Incoming::Response(id, Ok(reply)))
}

/// Returns the result of a request that is neither of a tool nor of a resource, such as a list.
fn whole(reduced: &Reduced) -> Option<String> {
    if !reduced.parts.is_empty() || reduced.structured.is_some() {
        return None;
    }
    let members =
        reduced.members.iter().map(|(name, value)| format!("{}:{value}", Value::from(name.as_str())));
    Some(format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
}

/// Fails a request. Without a number, the server's log is all that has the reason.
fn failed(id: Option<RequestId>, why: &str) -> Arrival {
    match id {
        Some(id) => Arrival::Message(Incoming::failure(id, why)),
        None => Arrival::Noise(why.to_owned()),
    }
}

/// The members of a message that decide where it goes.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// The size of a result against the limit.
#[derive(Debug, PartialEq)]
enum Measure {
    Passes,
    TooLong,
    Invalid(String),
}

impl Measure {
    fn of(result: &RawValue, limit: usize) -> Self {
        #[derive(Deserialize)]
        struct Result<'a> {
            #[serde(borrow, alias = "contents")]
            content: Option<&'a RawValue>,
            #[serde(borrow, rename = "structuredContent")]
            structured: Option<&'a RawValue>,
            #[serde(borrow, rename = "isError")]
            is_error: Option<&'a RawValue>,
        }
        let result: Result<'_> = match serde_json::from_str(result.get()) {
            Ok(result) => result,
            Err(error) => return Self::Invalid(format!("the server sent an invalid result: {error}")),
        };
        let is_error = result.is_error.is_some_and(|flag| flag.get() == "true");
        let mut chars = result.structured.map_or(0, |structured| chars(structured.get()));
        let mut other = 0;
        let blocks: Vec<&RawValue> = match result.content.map(|content| serde_json::from_str(content.get())) {
            None => Vec::new(),
            Some(Ok(blocks)) => blocks,
            Some(Err(_)) => return Self::Invalid("the server sent content that is not an array".into()),
        };
        for block in blocks {
            match text_of(block) {
                Ok(Some(length)) => chars += length,
                Ok(None) => other += block.get().len(),
                Err(error) => return Self::Invalid(format!("the server sent an invalid text: {error}")),
            }
        }
        let limit = if is_error { limit.max(MAX_OTHER) } else { limit };
        if chars <= limit && other <= MAX_OTHER { Self::Passes } else { Self::TooLong }
    }
}

/// The length of a block's text in characters, or of the text of the resource in it.
fn text_of(block: &RawValue) -> Result<Option<usize>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow)]
        text: Option<&'a RawValue>,
        #[serde(borrow)]
        resource: Option<&'a RawValue>,
    }
    // An array could be read as a block as well.
    fn members(value: &RawValue) -> Option<Block<'_>> {
        value.get().starts_with('{').then(|| serde_json::from_str(value.get()).ok())?
    }
    let Some(Block { text, resource }) = members(block) else { return Ok(None) };
    let text = text.or_else(|| members(resource?)?.text).filter(|text| text.get().starts_with('"'));
    text.map(|text| serde_json::from_str::<String>(text.get()).map(|text| chars(&text))).transpose()
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

/// A line, without its end.
struct Line<'r, R> {
    reader: &'r mut R,
    is_ended: bool,
    /// True if not even an end was read.
    is_empty: bool,
}

impl<R: BufRead> Read for Line<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_ended || buffer.is_empty() {
            return Ok(0);
        }
        let available = self.reader.fill_buf()?;
        let most = available.len().min(buffer.len());
        self.is_empty &= most == 0;
        let (length, used) = match memchr::memchr(b'\n', &available[..most]) {
            Some(end) => {
                self.is_ended = true;
                (end, end + 1)
            }
            None => (most, most),
        };
        self.is_ended |= most == 0;
        buffer[..length].copy_from_slice(&available[..length]);
        self.reader.consume(used);
        Ok(length)
    }
}

/// A reader that ends at a limit, and says whether there was more.
struct Limited<'r, R> {
    reader: &'r mut R,
    left: u64,
    is_exceeded: bool,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            self.is_exceeded = self.is_exceeded || self.reader.read(&mut [0])? > 0;
            return Ok(0);
        }
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let length = self.reader.read(&mut buffer[..most])?;
        self.left -= length as u64;
        Ok(length)
    }
}
