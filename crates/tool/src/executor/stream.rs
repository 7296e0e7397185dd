//! The result of a call on its way to the caller or the delivery.

use std::io::{self, Write};

use serde_json::{Map, Value};
use trommel_base::Cancel;
use trommel_base::text::count_chars;

use super::error::DeliveryError;
use super::shared::warn;
use crate::contract::delivery::{About, Delivery, DeliveryMode, Finished, Limits, Reason, Sink};
use crate::contract::failure::Failure;
use crate::contract::metadata::{Metadata, ResultMode};
use crate::contract::output::Output;
use crate::contract::result::Delivered;

/// The most bytes of a bounded tool's result: the size of its longest one, of 100,000 characters.
const MAX_BOUNDED: usize = 400_000;

/// The most bytes of a character.
const MAX_CHAR: u64 = 4;

/// The result of a call: buffered while it is short, then passed to the delivery.
pub(super) struct Stream<'a> {
    delivery_call: Option<DeliveryCall<'a>>,
    /// The most bytes that the caller gets without a delivery.
    max: usize,
    /// The most characters that the caller gets although there is a delivery.
    longest: u64,
    /// True if the delivery gets even an empty result.
    always: bool,
    reason: Reason,
    keep: bool,
    cancel: &'a Cancel,
    held: Vec<u8>,
    sink: Option<Box<dyn Sink + 'a>>,
    chars: u64,
    bytes: u64,
    failed: Option<Failure>,
}

/// The delivery of one call.
#[derive(Clone, Copy)]
pub(super) struct DeliveryCall<'a> {
    pub(super) delivery: &'a dyn Delivery,
    pub(super) about: About<'a>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(
        tool: &Metadata,
        delivery_call: Option<DeliveryCall<'a>>,
        limits: Limits,
        about: &About<'a>,
        cancel: &'a Cancel,
    ) -> Self {
        let mode = delivery_call.map(|delivery_call| {
            delivery_call.delivery.delivery_mode(&delivery_call.about, tool.result_mode)
        });
        let (delivery_call, (longest, reason)) = match mode {
            Some(DeliveryMode::Delivery) => (delivery_call, (0, Reason::Routed)),
            Some(DeliveryMode::ByLength(mode)) if !tool.bounded => (delivery_call, limits.of(mode)),
            _ => (None, limits.of(ResultMode::Auto)),
        };
        let max = about.context.max_output_size;
        Self {
            delivery_call,
            max: if tool.bounded { max.max(MAX_BOUNDED) } else { max },
            longest,
            always: mode == Some(DeliveryMode::Delivery),
            reason,
            keep: limits.keep_all,
            cancel,
            held: Vec::new(),
            sink: None,
            chars: 0,
            bytes: 0,
            failed: None,
        }
    }

    /// The failure of a write, if one failed.
    pub(super) fn failed(&mut self) -> Option<Failure> {
        self.failed.take()
    }

    /// Delivers the returned result, or the streamed one if nothing was returned.
    pub(super) fn deliver(
        mut self,
        returned: Output,
        metadata: &mut Map<String, Value>,
    ) -> Result<(Output, Delivered), Failure> {
        if let Some(failure) = self.failed.take() {
            return Err(failure);
        }
        if returned.is_nothing() {
            return self.finish(metadata);
        }
        if self.bytes > 0 {
            return Err(DeliveryError::Twice.into());
        }
        let bytes = returned.as_str().len();
        if bytes > self.max {
            return Err(self.too_long(bytes as u64).into());
        }
        self.count(returned.as_str().as_bytes());
        match self.delivery_call {
            Some(delivery_call) if self.is_long() => {
                let mut sink = delivery_call.delivery.open(&delivery_call.about, self.reason)?;
                sink.write_all(returned.as_str().as_bytes()).map_err(|error| Failure::raised(&error))?;
                self.publish(sink, self.reason)
            }
            _ => Ok(self.inline(returned, metadata)),
        }
    }

    /// Delivers the streamed result.
    fn finish(mut self, metadata: &mut Map<String, Value>) -> Result<(Output, Delivered), Failure> {
        if let Some(sink) = self.sink.take() {
            return self.publish(sink, self.reason);
        }
        if let (Some(delivery_call), true) = (self.delivery_call, self.always) {
            // Nothing was written, but an empty result may have to replace an earlier one.
            let sink = delivery_call.delivery.open(&delivery_call.about, self.reason)?;
            return self.publish(sink, self.reason);
        }
        if self.bytes == 0 {
            return Ok((Output::Nothing, Delivered::Inline));
        }
        let (output, is_whole) = Output::of_bytes(std::mem::take(&mut self.held));
        if !is_whole {
            warn(metadata, "the output is not valid UTF-8; invalid bytes were replaced by U+FFFD");
        }
        Ok(self.inline(output, metadata))
    }

    /// Returns the result to the caller, and also keeps it if the host wants that. A failure to
    /// keep it is only a warning.
    fn inline(&self, output: Output, metadata: &mut Map<String, Value>) -> (Output, Delivered) {
        let Some(delivery_call) = self.delivery_call else { return (output, Delivered::Inline) };
        if !self.keep || output.as_str().is_empty() {
            return (output, Delivered::Inline);
        }
        match self.kept(delivery_call, &output) {
            Ok(Delivered::Stored(manifest)) => (output, Delivered::Kept(manifest)),
            Ok(_) => (output, Delivered::Inline),
            Err(failure) => {
                warn(metadata, &format!("the output was not kept: {failure}"));
                (output, Delivered::Inline)
            }
        }
    }

    fn kept(&self, delivery_call: DeliveryCall<'_>, output: &Output) -> Result<Delivered, Failure> {
        let mut sink = delivery_call.delivery.open(&delivery_call.about, Reason::Kept)?;
        sink.write_all(output.as_str().as_bytes()).map_err(|error| Failure::raised(&error))?;
        self.publish(sink, Reason::Kept).map(|(_, delivered)| delivered)
    }

    fn publish(&self, sink: Box<dyn Sink + '_>, reason: Reason) -> Result<(Output, Delivered), Failure> {
        let manifest = sink.finish(&Finished { chars: self.chars, bytes: self.bytes })?;
        let delivered = manifest.map_or(Delivered::Away, |mut manifest| {
            manifest.reason = reason;
            Delivered::Stored(Box::new(manifest))
        });
        Ok((Output::Nothing, delivered))
    }

    fn count(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.chars += count_chars(bytes);
    }

    /// True if the result goes to the delivery instead of the caller. Bytes limit it as well, as
    /// some of them may start no character.
    fn is_long(&self) -> bool {
        self.always || self.chars > self.longest || self.bytes > self.longest.saturating_mul(MAX_CHAR)
    }

    fn too_long(&self, bytes: u64) -> DeliveryError {
        DeliveryError::TooLong { bytes, max: self.max as u64, can_stream: self.delivery_call.is_some() }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        self.count(bytes);
        if let Some(sink) = &mut self.sink {
            return sink.write_all(bytes).map_err(|error| Failure::raised(&error));
        }
        match self.delivery_call {
            Some(delivery_call) if self.is_long() => {
                let mut sink = delivery_call.delivery.open(&delivery_call.about, self.reason)?;
                let held = std::mem::take(&mut self.held);
                let written = sink.write_all(&held).and_then(|()| sink.write_all(bytes));
                self.sink = Some(sink);
                written.map_err(|error| Failure::raised(&error))
            }
            None if self.bytes > self.max as u64 => {
                self.held = Vec::new();
                Err(self.too_long(self.bytes).into())
            }
            _ => {
                self.held.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}

impl Write for Stream<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed.is_none() {
            self.failed = self.take(bytes).err();
        }
        match &self.failed {
            None => Ok(bytes.len()),
            Some(failure) => Err(io::Error::other(failure.clone())),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
