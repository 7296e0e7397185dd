//! The terminal: entered, restored also after panics and signals, and read on a thread of its own.

use std::io::{self, Write};
use std::panic;
use std::process;
use std::sync::mpsc::{RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    self, DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::Ending;
use crate::app::App;
use crate::message::Message;

/// The time after which progress and the length of the input are shown again.
const TICK: Duration = Duration::from_millis(200);

/// The status of a process that has panicked.
const PANICKED: i32 = 101;

/// Runs an explorer until its user leaves it, or a signal ends it.
pub(crate) fn run(mut app: App) -> io::Result<Ending> {
    let _screen = Screen::enter()?;
    let mut terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
    watch(app.sender())?;
    loop {
        terminal.draw(|frame| app.draw(frame))?;
        let mut message = match app.receiver.recv_timeout(TICK) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return Ok(Ending::Quit),
        };
        app.poll();
        // All that has arrived is drawn at once.
        while let Some(next) = message.take() {
            match next {
                Message::Terminal(event) => app.handle(&event),
                Message::Signal(signal) => return Ok(Ending::Signal(signal)),
                other => app.receive(other),
            }
            message = app.receiver.try_recv().ok();
        }
        if let Some(text) = app.effects.copied.take() {
            copy(&text)?;
        }
        if app.effects.quits {
            return Ok(Ending::Quit);
        }
    }
}

/// Sends the events of the terminal, and signals.
fn watch(sender: Sender<Message>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let to = sender.clone();
    thread::spawn(move || {
        for signal in signals.forever() {
            // Without a receiver, the program ends.
            let _ = to.send(Message::Signal(signal));
        }
    });
    thread::spawn(move || {
        while let Ok(event) = event::read() {
            if sender.send(Message::Terminal(event)).is_err() {
                return;
            }
        }
        // The terminal is gone.
        let _ = sender.send(Message::Signal(SIGHUP));
    });
    Ok(())
}

/// Passes a text to the clipboard of the terminal (OSC 52).
fn copy(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "\x1b]52;c;{}\x07", STANDARD.encode(text))?;
    out.flush()
}

/// The alternate screen in raw mode.
struct Screen;

impl Screen {
    fn enter() -> io::Result<Self> {
        enable_raw_mode()?;
        let screen = Self;
        execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste, cursor::Hide)?;
        // A panic of any thread would leave work that never ends: its message is shown, and the
        // program ends.
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore();
            hook(info);
            process::exit(PANICKED);
        }));
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if !thread::panicking() {
            drop(panic::take_hook());
        }
        restore();
    }
}

fn restore() {
    // Nothing can be done about a terminal that is gone.
    let _ = execute!(
        io::stdout(),
        DisableBracketedPaste,
        DisableMouseCapture,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
}
