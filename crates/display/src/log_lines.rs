//! A layer of `tracing-subscriber` that writes log lines.

use std::fmt::{self, Write as _};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use trommel_base::text::safe;

/// Columns before a message: the indent of its further lines.
const MARGIN: usize = 38;

/// Writes each event as a line: `2024-01-15 10:23:45.123 INFO  [tools] Executing tool: Read`.
///
/// Times are local unless [`utc`](Self::utc) is set. Further lines of a message are indented, so
/// that no message can pass for two; the text is made [`safe`] for a terminal. Write errors are
/// ignored.
///
/// ```
/// use tracing::level_filters::LevelFilter;
/// use tracing_subscriber::layer::{Layer, SubscriberExt};
/// use trommel_display::LogLines;
///
/// let lines = LogLines::new(std::io::sink()).utc().with_filter(LevelFilter::INFO);
/// let subscriber = tracing_subscriber::registry().with(lines);
/// tracing::subscriber::with_default(subscriber, || {
///     tracing::info!(target: "tools", "Executing tool: Read");
/// });
/// ```
#[derive(Debug)]
pub struct LogLines<W> {
    writer: Mutex<W>,
    zone: TimeZone,
}

impl<W: Write> LogLines<W> {
    /// Writes the events of all levels that reach this layer, with local times.
    pub fn new(writer: W) -> Self {
        Self { writer: Mutex::new(writer), zone: TimeZone::system() }
    }

    /// Shows times in UTC.
    #[must_use]
    pub fn utc(self) -> Self {
        self.zone(TimeZone::UTC)
    }

    /// Shows times in this zone.
    #[must_use]
    pub fn zone(mut self, zone: TimeZone) -> Self {
        self.zone = zone;
        self
    }
}

impl<S: Subscriber, W: Write + 'static> Layer<S> for LogLines<W>
where
    Mutex<W>: Send + Sync,
{
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut message = Message::default();
        event.record(&mut message);
        let line = line(Timestamp::now(), &self.zone, event.metadata(), &message.text);
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // An error of the log has no other place to be reported.
        let _lost = writer.write_all(line.as_bytes()).and_then(|()| writer.flush());
    }
}

/// The text of an event: the message, then the fields.
#[derive(Default)]
struct Message {
    text: String,
}

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let written = if field.name() == "message" {
            write!(self.text, "{value:?}")
        } else {
            let space = if self.text.is_empty() { "" } else { " " };
            write!(self.text, "{space}{}={value:?}", field.name())
        };
        // Writing to a string fails only if the `Debug` of the value does.
        if written.is_err() {
            self.text.push('?');
        }
    }
}

fn line(time: Timestamp, zone: &TimeZone, metadata: &Metadata<'_>, message: &str) -> String {
    let time = time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S%.3f").to_string();
    let level = match *metadata.level() {
        Level::ERROR => "ERROR",
        Level::WARN => "WARN",
        Level::INFO => "INFO",
        Level::DEBUG => "DEBUG",
        Level::TRACE => "TRACE",
    };
    let mut text = format!("{time} {level:<5} [{}] ", metadata.target());
    for (index, part) in message.trim_end_matches('\n').split('\n').enumerate() {
        if index > 0 {
            text.push('\n');
            text.push_str(&" ".repeat(MARGIN));
        }
        text.push_str(&safe(part));
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tracing::level_filters::LevelFilter;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn logged(level: LevelFilter, log: impl Fn()) -> String {
        let shared = Shared::default();
        let lines = LogLines::new(shared.clone()).utc().with_filter(level);
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines), log);
        let bytes = shared.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn lines_are_laid_out() {
        let text = logged(LevelFilter::DEBUG, || {
            tracing::info!(target: "tools", "Executing tool: Read");
            tracing::debug!(target: "tools", "Parameters: {{}}");
            tracing::warn!(target: "store", bytes = 7, "full");
            tracing::trace!(target: "tools", "unseen");
        });
        let lines = text.lines().map(|line| line.get(23..).unwrap()).collect::<Vec<_>>();
        let expected = [
            " INFO  [tools] Executing tool: Read",
            " DEBUG [tools] Parameters: {}",
            " WARN  [store] full bytes=7",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn times_have_milliseconds() {
        let text = logged(LevelFilter::INFO, || tracing::info!(target: "tools", "x"));
        let time = text.get(..23).unwrap();
        assert!(jiff::civil::DateTime::strptime("%Y-%m-%d %H:%M:%S%.f", time).is_ok(), "{time}");
        assert_eq!(text.as_bytes()[19], b'.');
    }

    #[test]
    fn a_message_cannot_pass_for_two() {
        let text = logged(LevelFilter::INFO, || {
            tracing::error!(target: "tools", "Caused by:\n  one\u{1b}[31m\u{61c}\r\n2024-01-15 forged");
        });
        let margin = " ".repeat(MARGIN);
        let rest = text.split_once('\n').unwrap().1;
        assert_eq!(rest, format!("{margin}  one\\u001b[31m\\u061c\\u000d\n{margin}2024-01-15 forged\n"));
    }
}
