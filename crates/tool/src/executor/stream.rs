//! What a tool returns or streams, on its way to where it goes.

use std::io::{self, Write};

use serde_json::{Map, Value};

use super::warn;
use crate::cancel::CancelFlag;
use crate::delivery::{About, Delivery, Finished, Limits, Reason, Sink, Way};
use crate::display::grouped;
use crate::failure::Failure;
use crate::metadata::{Metadata, ResultMode};
use crate::output::Output;
use crate::result::Delivered;

/// Bytes that a tool may return that bounds itself: what its longest result of 100,000 characters can take.
const BOUNDED: usize = 400_000;

/// Bytes that a character takes at most.
const WIDEST: u64 = 4;

/// What a tool returns or streams, on its way to where it goes: held while it is short, then handed on.
pub(super) struct Stream<'a> {
    place: Option<Place<'a>>,
    /// Bytes that the caller may get without any place to send them to.
    most: usize,
    /// Characters that the caller may get although there is a place.
    longest: u64,
    /// Whether the place gets it even when it is empty.
    always: bool,
    reason: Reason,
    keep: bool,
    cancel: &'a CancelFlag,
    held: Vec<u8>,
    sink: Option<Box<dyn Sink + 'a>>,
    chars: u64,
    bytes: u64,
    failed: Option<Failure>,
}

/// Where results go that do not go to the caller.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) delivery: &'a dyn Delivery,
    pub(super) about: About<'a>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(
        tool: &Metadata,
        place: Option<Place<'a>>,
        limits: Limits,
        about: &About<'a>,
        cancel: &'a CancelFlag,
    ) -> Self {
        let way = place.map(|place| place.delivery.way(&place.about, tool.result_mode));
        let (place, (longest, reason)) = match way {
            Some(Way::Delivery) => (place, (0, Reason::Routed)),
            Some(Way::ByLength(mode)) if !tool.bounded => (place, limits.of(mode)),
            _ => (None, limits.of(ResultMode::Auto)),
        };
        let most = about.context.max_output_size;
        Self {
            place,
            most: if tool.bounded { most.max(BOUNDED) } else { most },
            longest,
            always: way == Some(Way::Delivery),
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

    /// Why something that was written was not taken, if so.
    pub(super) fn failed(&mut self) -> Option<Failure> {
        self.failed.take()
    }

    /// Delivers what was returned, or what was streamed when nothing was returned.
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
            return Err(Failure::new(
                "The tool returned a result after it had streamed one: it must return nothing after writing",
            ));
        }
        let bytes = returned.as_str().len();
        if bytes > self.most {
            return Err(self.too_long(bytes as u64));
        }
        self.count(returned.as_str().as_bytes());
        match self.place {
            Some(place) if self.is_long() => {
                let mut sink = place.delivery.open(&place.about, self.reason)?;
                sink.write_all(returned.as_str().as_bytes()).map_err(|error| Failure::raised(&error))?;
                self.publish(sink, self.reason)
            }
            _ => Ok(self.inline(returned, metadata)),
        }
    }

    /// Ends what was streamed.
    fn finish(mut self, metadata: &mut Map<String, Value>) -> Result<(Output, Delivered), Failure> {
        if let Some(sink) = self.sink.take() {
            return self.publish(sink, self.reason);
        }
        if let Some(place) = self.place.filter(|_| self.always) {
            // Nothing was written: what is there may have to give way nevertheless.
            let sink = place.delivery.open(&place.about, self.reason)?;
            return self.publish(sink, self.reason);
        }
        if self.bytes == 0 {
            return Ok((Output::Nothing, Delivered::Inline));
        }
        let (output, is_whole) = Output::of_bytes(std::mem::take(&mut self.held));
        if !is_whole {
            warn(metadata, "the output is not UTF-8 throughout; U+FFFD stands for what is not");
        }
        Ok(self.inline(output, metadata))
    }

    /// Gives the caller the result, and keeps it where that is asked for. That it cannot be kept is no failure.
    fn inline(&self, output: Output, metadata: &mut Map<String, Value>) -> (Output, Delivered) {
        let keep = self.keep && !output.as_str().is_empty();
        match self.place.filter(|_| keep).map(|place| self.kept(place, &output)) {
            Some(Ok(Delivered::Stored(manifest))) => (output, Delivered::Kept(manifest)),
            Some(Err(failure)) => {
                warn(metadata, &format!("the output was not kept: {failure}"));
                (output, Delivered::Inline)
            }
            _ => (output, Delivered::Inline),
        }
    }

    fn kept(&self, place: Place<'_>, output: &Output) -> Result<Delivered, Failure> {
        let mut sink = place.delivery.open(&place.about, Reason::Kept)?;
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
        self.chars += bytes.iter().filter(|byte| (**byte & 0xc0) != 0x80).count() as u64;
    }

    /// Whether the caller is not to get it. Bytes that begin no character count as well, in the end.
    fn is_long(&self) -> bool {
        self.always || self.chars > self.longest || self.bytes > self.longest.saturating_mul(WIDEST)
    }

    fn too_long(&self, bytes: u64) -> Failure {
        let (bytes, most) = (grouped(bytes), grouped(self.most as u64));
        let instead = if self.place.is_some() {
            "the tool must stream a result of this length, or max_output_size be raised"
        } else {
            "ask for less, raise max_output_size, or let long results be delivered elsewhere"
        };
        Failure::new(format!("Output of {bytes} bytes exceeds max_output_size ({most} bytes): {instead}"))
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.cancel.is_cancelled() {
            return Err(Failure::cancelled());
        }
        self.count(bytes);
        if let Some(sink) = &mut self.sink {
            return sink.write_all(bytes).map_err(|error| Failure::raised(&error));
        }
        match self.place {
            Some(place) if self.is_long() => {
                let mut sink = place.delivery.open(&place.about, self.reason)?;
                let held = std::mem::take(&mut self.held);
                let written = sink.write_all(&held).and_then(|()| sink.write_all(bytes));
                self.sink = Some(sink);
                written.map_err(|error| Failure::raised(&error))
            }
            None if self.bytes > self.most as u64 => {
                self.held = Vec::new();
                Err(self.too_long(self.bytes))
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
