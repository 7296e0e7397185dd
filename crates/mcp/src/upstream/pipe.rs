//! The transport to a process: lines from a queue to a writer, and from a reader to the inbox.

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc;

use super::inbox::Inbox;
use super::line::{Arrival, Messages};
use super::link::{Link, Sending};
use super::log::ServerLog;
use super::message::Sent;

/// The number of lines that wait for the writer.
const QUEUE: usize = 64;

/// The queue of the thread that writes lines.
struct Lines(mpsc::Sender<String>);

impl Link for Lines {
    fn send(&self, message: Sent) -> Sending {
        let lines = self.0.clone();
        Box::pin(
            async move { lines.send(message.body).await.map_err(|_closed| io::ErrorKind::BrokenPipe.into()) },
        )
    }
}

/// Starts the threads that read and write. They end with their streams. The returned thread reads,
/// and ends after what it was storing.
pub(super) fn start(
    messages: Messages,
    inbox: Inbox,
    reader: impl BufRead + Send + 'static,
    writer: impl Write + Send + 'static,
    log: &ServerLog,
) -> io::Result<(Arc<dyn Link>, JoinHandle<()>)> {
    let (outgoing, lines) = mpsc::channel(QUEUE);
    let (back, log) = (outgoing.downgrade(), log.clone());
    let name = |end: &str| format!("{} {end}", log.server());
    let (reading, writing) = (name("in"), name("out"));
    thread::Builder::new().name(writing).spawn(move || write(writer, lines))?;
    let reading = thread::Builder::new().name(reading).spawn(move || {
        let why = read(&messages, reader, &inbox, &back, &log);
        log.note(&format!("connection closed: {why}"));
        inbox.calls.close();
    })?;
    Ok((Arc::new(Lines(outgoing)), reading))
}

fn write(mut writer: impl Write, mut lines: mpsc::Receiver<String>) {
    while let Some(mut line) = lines.blocking_recv() {
        line.push('\n');
        // The reading thread notices that the server has ended.
        if writer.write_all(line.as_bytes()).and_then(|()| writer.flush()).is_err() {
            return;
        }
    }
}

/// Reads messages to the end. Returns the reason of the end.
fn read(
    messages: &Messages,
    mut reader: impl BufRead + Send,
    inbox: &Inbox,
    back: &mpsc::WeakSender<String>,
    log: &ServerLog,
) -> String {
    loop {
        let message = match messages.next(&mut reader) {
            Ok(Some(Arrival::Message(message))) => message,
            Ok(Some(Arrival::Noise(line))) => {
                log.note(&line);
                continue;
            }
            Ok(Some(Arrival::TooLong(message))) => {
                if let Some(message) = message {
                    inbox.receive(message, || None);
                }
                return format!("a message is longer than {} bytes", messages.max_bytes);
            }
            Ok(None) => return "the server ended".to_owned(),
            Err(error) => return error.to_string(),
        };
        inbox.receive(message, || Some(Arc::new(Lines(back.upgrade()?)) as Arc<dyn Link>));
    }
}
