//! Where the second pass gets its rows: from the values that the first one kept, or from the input,
//! which is read on a thread of its own.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use trommel::{Analysis, Cancel, Damage, Document};

use crate::cells::{Chunk, RowSink, TakeRows, Window};
use crate::error::Error;

/// Bytes of kept rows in memory. More go to an unnamed temporary file.
const KEPT_MEMORY: u64 = 32 << 20;

/// Chunks between the thread that reads and the one that builds batches.
const MAX_QUEUED: usize = 2;

/// Rows in order, in chunks.
pub(crate) enum RowSource {
    Kept(KeptRows),
    Pass(Pass),
}

impl RowSource {
    /// Reads the next chunk of rows into `chunk`. Returns false after the last one.
    pub(crate) fn next(&mut self, chunk: &mut Vec<u8>) -> Result<bool, Error> {
        match self {
            Self::Kept(kept) => kept.next(chunk),
            Self::Pass(pass) => pass.next(chunk),
        }
    }
}

/// Rows that the first pass kept, in chunks: the first ones in memory, the others in a file, each
/// after its length.
#[derive(Debug)]
pub(crate) struct KeptRows {
    chunk: Chunk,
    memory: VecDeque<Vec<u8>>,
    file: Option<File>,
    /// Bytes of all chunks so far.
    bytes: u64,
    /// Bytes of the chunks in the file that are not yet read.
    in_file: u64,
    limit: u64,
}

impl KeptRows {
    /// Keeps at most `limit` bytes.
    pub(crate) fn new(limit: u64) -> Self {
        let (chunk, memory) = (Chunk::default(), VecDeque::new());
        Self { chunk, memory, file: None, bytes: 0, in_file: 0, limit }
    }

    pub(crate) fn push(&mut self, row: &[u8]) -> io::Result<()> {
        match self.chunk.push(row) {
            Some(full) => self.keep(full),
            None => Ok(()),
        }
    }

    fn keep(&mut self, chunk: Vec<u8>) -> io::Result<()> {
        self.bytes += chunk.len() as u64;
        if self.bytes > self.limit {
            let limit = self.limit;
            let why = format!(
                "the values of the rows exceed the spool limit of {limit} bytes; raise it, or give a schema"
            );
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        if self.bytes <= KEPT_MEMORY {
            self.memory.push_back(chunk);
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            file => file.insert(tempfile::tempfile()?),
        };
        self.in_file += chunk.len() as u64;
        file.write_all(&(chunk.len() as u64).to_le_bytes())?;
        file.write_all(&chunk)
    }

    /// Rewinds to the first row.
    pub(crate) fn rewind(mut self) -> io::Result<Self> {
        let rest = std::mem::take(&mut self.chunk.bytes);
        if !rest.is_empty() {
            self.keep(rest)?;
        }
        if let Some(file) = &mut self.file {
            file.seek(SeekFrom::Start(0))?;
        }
        Ok(self)
    }

    fn next(&mut self, chunk: &mut Vec<u8>) -> Result<bool, Error> {
        if let Some(first) = self.memory.pop_front() {
            *chunk = first;
            return Ok(true);
        }
        let file = match &mut self.file {
            Some(file) if self.in_file > 0 => file,
            _ => return Ok(false),
        };
        let mut length = [0; 8];
        file.read_exact(&mut length)?;
        let length = u64::from_le_bytes(length);
        self.in_file -= length;
        chunk.resize(length as usize, 0);
        file.read_exact(chunk)?;
        Ok(true)
    }
}

/// A pass over the input, on a thread of its own. Dropping it cancels the pass.
pub(crate) struct Pass {
    received: Receiver<Message>,
    cancel: Cancel,
    is_over: bool,
}

enum Message {
    Chunk(Vec<u8>),
    Ended(Result<(), Error>),
}

/// The rows that a pass takes.
pub(crate) struct PassRequest {
    /// Selects the rows and extracts the columns.
    pub(crate) analysis: Analysis,
    pub(crate) lists: Vec<bool>,
    pub(crate) window: Window,
    pub(crate) damaged: Box<dyn FnMut(&Damage) + Send>,
}

impl Pass {
    pub(crate) fn start(request: PassRequest, mut document: Document<'static>) -> io::Result<Self> {
        let (sender, received) = sync_channel(MAX_QUEUED);
        let PassRequest { analysis, lists, window, mut damaged } = request;
        let cancel = analysis.cancel().child();
        let analysis = analysis.cancel_with(&cancel);
        let run = move || {
            let mut queue = Queue { chunk: Chunk::default(), sender: &sender };
            let mut sink = RowSink::new(&lists, &analysis.config(), window, &mut queue, &mut *damaged);
            let ran = analysis.run_with(&mut document, &mut sink);
            let ended = sink.finish(ran);
            // The receiver may be gone, and then needs neither.
            let rest = std::mem::take(&mut queue.chunk.bytes);
            let _ = sender.send(Message::Chunk(rest));
            let _ = sender.send(Message::Ended(ended));
        };
        thread::Builder::new().name("trommel-table".into()).spawn(run)?;
        Ok(Self { received, cancel, is_over: false })
    }

    fn next(&mut self, chunk: &mut Vec<u8>) -> Result<bool, Error> {
        if self.is_over {
            return Ok(false);
        }
        match self.received.recv() {
            Ok(Message::Chunk(next)) => {
                *chunk = next;
                Ok(true)
            }
            Ok(Message::Ended(ended)) => {
                self.is_over = true;
                ended.map(|()| false)
            }
            Err(_) => {
                self.is_over = true;
                Err(io::Error::other("the thread that reads the rows panicked").into())
            }
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// Sends rows in chunks.
struct Queue<'s> {
    chunk: Chunk,
    sender: &'s SyncSender<Message>,
}

impl TakeRows for Queue<'_> {
    fn row(&mut self, row: &[u8]) -> io::Result<()> {
        match self.chunk.push(row) {
            Some(full) => {
                let sent = self.sender.send(Message::Chunk(full));
                // Only a table that was dropped receives no more.
                sent.map_err(|_unsent| io::ErrorKind::BrokenPipe.into())
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::CHUNK_BYTES;

    #[test]
    fn rows_beyond_the_memory_are_kept_in_a_file_in_their_order() {
        let rows =
            || (0..3 * KEPT_MEMORY / CHUNK_BYTES as u64).map(|row| vec![row as u8; CHUNK_BYTES * 3 / 4]);
        let mut kept = KeptRows::new(u64::MAX);
        rows().for_each(|row| kept.push(&row).unwrap());
        assert!(kept.file.is_some(), "the rows have more bytes than the memory");
        let mut kept = kept.rewind().unwrap();
        let (mut chunk, mut found) = (Vec::new(), Vec::new());
        while kept.next(&mut chunk).unwrap() {
            found.append(&mut chunk);
        }
        assert_eq!(found.len(), rows().map(|row| row.len()).sum::<usize>());
        assert!(rows().flatten().eq(found), "the rows come in the order in which they were pushed");
    }
}
