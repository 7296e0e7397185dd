//! The events of a response with several messages (HTML standard, section 9.2: server-sent events).

use std::io::{self, BufRead, Read};
use std::time::Duration;

use memchr::memchr2;

/// The bytes of a field's name, or of its value, that are kept. The data is not kept at all.
const MAX_FIELD: usize = 1 << 10;

/// Reads the events of a stream.
#[derive(Debug)]
pub(super) struct Events<R> {
    reader: R,
    /// True if the last line ended with `\r`, so that a `\n` belongs to the same end.
    skips_newline: bool,
    /// The ID of the newest event that has one.
    pub(super) last_id: Option<String>,
    /// The pause before the stream is opened again, if the server asks for one.
    pub(super) retry: Option<Duration>,
}

/// The data of one event: its lines, joined.
#[derive(Debug)]
pub(super) struct EventData<'e, R> {
    events: &'e mut Events<R>,
    is_ended: bool,
}

/// The start of a line.
#[derive(Debug, PartialEq, Eq)]
enum Start {
    /// The data of this line follows.
    Data,
    /// Another field, which was read.
    Other,
    /// An empty line: the end of an event.
    Blank,
    /// The end of the stream.
    End,
}

impl<R: BufRead> Events<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, skips_newline: false, last_id: None, retry: None }
    }

    /// Returns the data of the next event, or `None` at the end of the stream.
    pub(super) fn next(&mut self) -> io::Result<Option<EventData<'_, R>>> {
        loop {
            match self.line_start()? {
                Start::Data => return Ok(Some(EventData { events: self, is_ended: false })),
                Start::Other | Start::Blank => {}
                Start::End => return Ok(None),
            }
        }
    }

    fn line_start(&mut self) -> io::Result<Start> {
        let mut line = Vec::new();
        loop {
            let available = self.fill()?;
            if available.is_empty() {
                return Ok(if line.is_empty() { Start::End } else { self.field(&line) });
            }
            let byte = available[0];
            if matches!(byte, b'\n' | b'\r') {
                self.consume_end(byte);
                return Ok(if line.is_empty() { Start::Blank } else { self.field(&line) });
            }
            if line.len() < MAX_FIELD {
                line.push(byte);
            }
            self.reader.consume(1);
            let name = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line);
            if name == b"data:" {
                if self.fill()?.first() == Some(&b' ') {
                    self.reader.consume(1);
                }
                return Ok(Start::Data);
            }
        }
    }

    /// Reads a field other than the data.
    fn field(&mut self, line: &[u8]) -> Start {
        let line = String::from_utf8_lossy(line);
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" if !value.contains('\0') => self.last_id = Some(value.to_owned()),
            "retry" => self.retry = value.parse().ok().map(Duration::from_millis),
            _ => {}
        }
        Start::Other
    }

    /// The bytes that are available, without the second half of a line's end.
    fn fill(&mut self) -> io::Result<&[u8]> {
        if self.skips_newline {
            let is_newline = self.reader.fill_buf()?.first() == Some(&b'\n');
            self.skips_newline = false;
            if is_newline {
                self.reader.consume(1);
            }
        }
        self.reader.fill_buf()
    }

    fn consume_end(&mut self, byte: u8) {
        self.reader.consume(1);
        self.skips_newline = byte == b'\r';
    }
}

impl<R: BufRead> Read for EventData<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_ended || buffer.is_empty() {
            return Ok(0);
        }
        let available = self.events.fill()?;
        if available.is_empty() {
            self.is_ended = true;
            return Ok(0);
        }
        let most = available.len().min(buffer.len());
        let end = memchr2(b'\n', b'\r', &available[..most]);
        let length = end.unwrap_or(most);
        if length > 0 {
            buffer[..length].copy_from_slice(&available[..length]);
            self.events.reader.consume(length);
            return Ok(length);
        }
        let byte = available[0];
        self.events.consume_end(byte);
        loop {
            match self.events.line_start()? {
                Start::Data => {
                    buffer[0] = b'\n';
                    return Ok(1);
                }
                Start::Other => {}
                Start::Blank | Start::End => {
                    self.is_ended = true;
                    return Ok(0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data of all events, read with buffers of a size.
    fn events(text: &str, size: usize) -> (Vec<String>, Option<String>, Option<Duration>) {
        let mut events = Events::new(io::BufReader::with_capacity(size, text.as_bytes()));
        let mut all = Vec::new();
        while let Some(mut data) = events.next().unwrap() {
            let mut text = String::new();
            data.read_to_string(&mut text).unwrap();
            all.push(text);
        }
        (all, events.last_id, events.retry)
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        let text = concat!(
            "\u{feff}data: first\n\n",
            ": a comment\n\n",
            "id: 7\nretry: 250\nevent: message\ndata:{\"a\":\ndata: 1}\nid: 8\n\n",
            "data\n\n",
            "data:  two spaces\r\n\r\n",
            "data: returns\rdata: only\r\r",
            "data: \n\n",
            "datum: x\n\n",
            "data: not ended",
        );
        for end in ["\n", "\r\n", "\r"] {
            for size in [1, 2, 3, 64] {
                let text = if end == "\n" { text.to_owned() } else { text.replace('\n', end) };
                let text = text.replace("\r\r\r", "\r\r").replace("\r\r\n", "\r\n");
                let (all, id, retry) = events(&text, size);
                let expected = ["first", "{\"a\":\n1}", " two spaces", "returns\nonly", "", "not ended"]
                    .map(str::to_owned);
                assert_eq!(all, expected, "{end:?} {size}");
                assert_eq!((id.as_deref(), retry), (Some("8"), Some(Duration::from_millis(250))));
            }
        }
    }

    #[test]
    fn long_fields_are_not_kept() {
        let text = format!("id: {}\n{}: x\ndata: 1\n\n", "i".repeat(100_000), "n".repeat(100_000));
        let (all, id, _) = events(&text, 4096);
        assert_eq!(all, ["1"]);
        assert!(id.unwrap().len() <= MAX_FIELD);
    }
}
