//! The screen as text, after some keys: for scripts and tests.

use std::io;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use unicode_width::UnicodeWidthStr;

use crate::Error;
use crate::app::App;
use crate::message::Message;

/// The time in which some part of the work must be done.
const PATIENCE: Duration = Duration::from_mins(10);

/// An explorer without a terminal.
pub(crate) struct Printer {
    pub(crate) app: App,
    terminal: Terminal<TestBackend>,
}

impl Printer {
    pub(crate) fn new(app: App, size: (u16, u16)) -> io::Result<Self> {
        let terminal = Terminal::new(TestBackend::new(size.0, size.1)).map_err(io::Error::other)?;
        let mut printer = Self { app, terminal };
        printer.draw()?;
        Ok(printer)
    }

    /// A printer that has read nothing yet.
    #[cfg(test)]
    pub(crate) fn start(app: App, size: (u16, u16)) -> io::Result<Self> {
        let terminal = Terminal::new(TestBackend::new(size.0, size.1)).map_err(io::Error::other)?;
        let mut printer = Self { app, terminal };
        let app = &mut printer.app;
        printer.terminal.draw(|frame| app.draw(frame)).map_err(io::Error::other)?;
        Ok(printer)
    }

    /// Types keys before anything that they need was read.
    #[cfg(test)]
    pub(crate) fn type_ahead(&mut self, keys: &str) -> Result<(), Error> {
        parse(keys)?.into_iter().for_each(|key| self.app.handle(&Event::Key(key)));
        Ok(())
    }

    /// Types keys, and waits for the work of each.
    pub(crate) fn press(&mut self, keys: &str) -> Result<(), Error> {
        for key in parse(keys)? {
            self.app.handle(&Event::Key(key));
            self.draw().map_err(Error::Terminal)?;
        }
        Ok(())
    }

    /// Draws, and handles messages until nothing is being read.
    pub(crate) fn draw(&mut self) -> io::Result<()> {
        let app = &mut self.app;
        self.terminal.draw(|frame| app.draw(frame)).map_err(io::Error::other)?;
        app.update();
        while app.is_waiting() || app.task.is_some() {
            let message = app.receiver.recv_timeout(PATIENCE).map_err(io::Error::other)?;
            if !matches!(message, Message::Terminal(_) | Message::Signal(_)) {
                app.receive(message);
            }
        }
        self.terminal.draw(|frame| app.draw(frame)).map_err(io::Error::other)?;
        Ok(())
    }

    pub(crate) fn text(&self) -> String {
        text(self.terminal.backend().buffer())
    }
}

/// The symbols of a screen, without white space at the ends of lines.
fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut x = 0;
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += symbol.width().max(1) as u16;
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Keys by their characters, and names in angle brackets: `jj<Enter>/text<Enter>`.
fn parse(keys: &str) -> Result<Vec<KeyEvent>, Error> {
    let mut parsed = Vec::new();
    let mut rest = keys;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        let named = (character == '<').then(|| rest.split_once('>')).flatten();
        let Some((name, after)) = named else {
            parsed.push(KeyEvent::new(KeyCode::Char(character), KeyModifiers::NONE));
            continue;
        };
        rest = after;
        parsed.push(key(name)?);
    }
    Ok(parsed)
}

fn key(name: &str) -> Result<KeyEvent, Error> {
    let plain = |code| Ok(KeyEvent::new(code, KeyModifiers::NONE));
    if let Some(character) = name.strip_prefix("C-").and_then(|rest| rest.chars().next()) {
        return Ok(KeyEvent::new(KeyCode::Char(character), KeyModifiers::CONTROL));
    }
    match name.to_ascii_lowercase().as_str() {
        "enter" => plain(KeyCode::Enter),
        "esc" => plain(KeyCode::Esc),
        "space" => plain(KeyCode::Char(' ')),
        "lt" => plain(KeyCode::Char('<')),
        "backspace" => plain(KeyCode::Backspace),
        "up" => plain(KeyCode::Up),
        "down" => plain(KeyCode::Down),
        "left" => plain(KeyCode::Left),
        "right" => plain(KeyCode::Right),
        "home" => plain(KeyCode::Home),
        "end" => plain(KeyCode::End),
        "pgup" => plain(KeyCode::PageUp),
        "pgdn" => plain(KeyCode::PageDown),
        _ => Err(Error::Key(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_names() {
        let codes: Vec<_> = parse("a<Enter><lt><C-d>").unwrap().into_iter().map(|key| key.code).collect();
        let expected = [KeyCode::Char('a'), KeyCode::Enter, KeyCode::Char('<'), KeyCode::Char('d')];
        assert_eq!(codes, expected);
        assert!(parse("<Nothing>").is_err());
        assert_eq!(parse("a<b").unwrap().len(), 3);
    }
}
