//! Reads standard input ahead on a thread of its own. The writer of the pipe and the analysis then
//! do not wait for each other: analyzing a full pipe takes less time than waking a process.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// The size of a piece: the capacity of a pipe.
const PIECE_SIZE: usize = 64 << 10;

/// The maximum number of pieces in flight.
const MAX_PIECES: usize = 16;

/// A reader that reads ahead by at most 1 MiB. Bytes are available as soon as they are read, even
/// if a piece is not full.
pub(crate) struct ReadAhead {
    filled: Receiver<io::Result<Piece>>,
    empty: SyncSender<Vec<u8>>,
    piece: Option<Piece>,
}

/// A piece of input. Its unread bytes are `at..end`.
struct Piece {
    bytes: Vec<u8>,
    at: usize,
    end: usize,
}

impl ReadAhead {
    /// Starts a thread that reads. It ends with `reader`, or when a piece arrives after this value
    /// is dropped.
    ///
    /// # Errors
    ///
    /// The thread cannot be spawned.
    pub(crate) fn start(reader: impl Read + Send + 'static) -> io::Result<Self> {
        let (give, filled) = sync_channel(MAX_PIECES);
        let (empty, take) = sync_channel(MAX_PIECES);
        for _ in 0..MAX_PIECES {
            // Cannot fail: the channel has a slot for each buffer, and its receiver is alive.
            let _ = empty.try_send(vec![0; PIECE_SIZE]);
        }
        thread::Builder::new().name("input".into()).spawn(move || fill(reader, &take, &give))?;
        Ok(Self { filled, empty, piece: None })
    }
}

impl Read for ReadAhead {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut piece = match self.piece.take() {
            Some(piece) => piece,
            None => match self.filled.recv() {
                Ok(piece) => piece?,
                Err(_) => return Ok(0),
            },
        };
        let mut rest = &piece.bytes[piece.at..piece.end];
        let count = rest.read(into)?;
        piece.at += count;
        if piece.at < piece.end {
            self.piece = Some(piece);
        } else {
            // Fails if the thread has ended, which then needs no more buffers.
            let _ = self.empty.try_send(piece.bytes);
        }
        Ok(count)
    }
}

/// Sends pieces of the input until it ends or fails.
fn fill(mut reader: impl Read, take: &Receiver<Vec<u8>>, give: &SyncSender<io::Result<Piece>>) {
    while let Ok(mut bytes) = take.recv() {
        let piece = loop {
            match reader.read(&mut bytes) {
                Ok(0) => return,
                Ok(end) => break Ok(Piece { bytes, at: 0, end }),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        let failed = piece.is_err();
        if give.send(piece).is_err() || failed {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Yields one item for each call of `read`.
    struct Pieces<I>(I);

    impl<I: Iterator<Item = io::Result<Vec<u8>>>> Read for Pieces<I> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            match self.0.next() {
                Some(piece) => piece?.as_slice().read(into),
                None => Ok(0),
            }
        }
    }

    #[test]
    fn bytes_arrive_in_order() {
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at / 7) as u8).collect();
        for step in [1, 1000, PIECE_SIZE, 1 << 20] {
            let count = if step == 1 { 10_000 } else { bytes.len() };
            let mut ahead = ReadAhead::start(io::Cursor::new(bytes[..count].to_vec())).unwrap();
            let mut found = Vec::new();
            let mut into = vec![0; step];
            loop {
                match ahead.read(&mut into).unwrap() {
                    0 => break,
                    read => found.extend_from_slice(&into[..read]),
                }
            }
            assert!(found == bytes[..count], "in steps of {step}");
            assert_eq!(ahead.read(&mut into).unwrap(), 0, "after the end");
        }
    }

    #[test]
    fn errors_follow_the_bytes_before_them() {
        let pieces = [
            Ok(b"one ".to_vec()),
            Err(io::ErrorKind::Interrupted.into()),
            Ok(b"two".to_vec()),
            Err(io::ErrorKind::ConnectionReset.into()),
            Ok(b"never".to_vec()),
        ];
        let mut ahead = ReadAhead::start(Pieces(pieces.into_iter())).unwrap();
        let mut found = Vec::new();
        let error = ahead.read_to_end(&mut found).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(found, b"one two");
        assert_eq!(ahead.read(&mut [0; 8]).unwrap(), 0);
    }

    #[test]
    fn available_bytes_are_returned_at_once() {
        let (give, take) = mpsc::channel::<Vec<u8>>();
        let mut ahead = ReadAhead::start(Pieces(take.into_iter().map(Ok))).unwrap();
        let mut into = vec![0; PIECE_SIZE];
        for piece in [b"{\"a\":1}\n".as_slice(), b"{"] {
            give.send(piece.to_vec()).unwrap();
            let read = ahead.read(&mut into).unwrap();
            assert_eq!(&into[..read], piece);
        }
    }

    #[test]
    fn reading_ahead_is_bounded() {
        let (started, reads) = mpsc::channel();
        let pieces = std::iter::repeat_with(move || {
            let _ = started.send(());
            Ok(vec![b' '; PIECE_SIZE])
        });
        let ahead = ReadAhead::start(Pieces(pieces)).unwrap();
        for _ in 0..MAX_PIECES {
            reads.recv_timeout(Duration::from_secs(10)).unwrap();
        }
        assert!(reads.recv_timeout(Duration::from_millis(50)).is_err(), "reads ahead more than its limit");
        drop(ahead);
        // The thread waits for an empty buffer and sees that its sender is gone.
        assert_eq!(reads.recv_timeout(Duration::from_secs(10)), Err(mpsc::RecvTimeoutError::Disconnected));
    }
}
