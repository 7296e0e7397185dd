//! Reading standard input ahead, on a thread of its own, so that the program in front of the pipe
//! and the analysis do not wait for each other: what a pipe holds is analysed in less time than it
//! takes to wake a process.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Bytes read at a time: what a pipe holds.
const PIECE: usize = 64 << 10;

/// Pieces on the way at once.
const PIECES: usize = 16;

/// A reader that is read ahead by at most 1 MiB. What it has is handed on at once, not when a piece
/// is full.
pub(crate) struct Ahead {
    filled: Receiver<io::Result<Piece>>,
    empty: SyncSender<Vec<u8>>,
    piece: Option<Piece>,
}

/// Bytes that were read, up to `end`, and from where on they are wanted.
struct Piece {
    bytes: Vec<u8>,
    at: usize,
    end: usize,
}

impl Ahead {
    /// Begins to read. The thread ends with the reader, or with the first piece that comes when
    /// nobody waits for it any more.
    ///
    /// # Errors
    ///
    /// There is no thread to be had.
    pub(crate) fn of(reader: impl Read + Send + 'static) -> io::Result<Self> {
        let (give, filled) = sync_channel(PIECES);
        let (empty, take) = sync_channel(PIECES);
        for _ in 0..PIECES {
            // There is room for all, and the other end is here.
            let _ = empty.try_send(vec![0; PIECE]);
        }
        thread::Builder::new().name("input".into()).spawn(move || fill(reader, &take, &give))?;
        Ok(Self { filled, empty, piece: None })
    }
}

impl Read for Ahead {
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
            // Nobody takes it when the reader has ended.
            let _ = self.empty.try_send(piece.bytes);
        }
        Ok(count)
    }
}

/// Hands on what the reader gives until it ends or fails.
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

    /// Gives what its pieces are, one each time it is asked.
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
    fn everything_arrives_in_order() {
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| (at / 7) as u8).collect();
        for step in [1, 1000, PIECE, 1 << 20] {
            let count = if step == 1 { 10_000 } else { bytes.len() };
            let mut ahead = Ahead::of(io::Cursor::new(bytes[..count].to_vec())).unwrap();
            let mut found = Vec::new();
            let mut into = vec![0; step];
            loop {
                match ahead.read(&mut into).unwrap() {
                    0 => break,
                    read => found.extend_from_slice(&into[..read]),
                }
            }
            assert!(found == bytes[..count], "in steps of {step}");
            assert_eq!(ahead.read(&mut into).unwrap(), 0, "behind the end");
        }
    }

    #[test]
    fn errors_come_after_what_was_read_before_them() {
        let pieces = [
            Ok(b"one ".to_vec()),
            Err(io::ErrorKind::Interrupted.into()),
            Ok(b"two".to_vec()),
            Err(io::ErrorKind::ConnectionReset.into()),
            Ok(b"never".to_vec()),
        ];
        let mut ahead = Ahead::of(Pieces(pieces.into_iter())).unwrap();
        let mut found = Vec::new();
        let error = ahead.read_to_end(&mut found).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(found, b"one two");
        assert_eq!(ahead.read(&mut [0; 8]).unwrap(), 0);
    }

    #[test]
    fn what_is_there_is_handed_on_at_once() {
        let (give, take) = mpsc::channel::<Vec<u8>>();
        let mut ahead = Ahead::of(Pieces(take.into_iter().map(Ok))).unwrap();
        let mut into = vec![0; PIECE];
        for piece in [b"{\"a\":1}\n".as_slice(), b"{"] {
            give.send(piece.to_vec()).unwrap();
            let read = ahead.read(&mut into).unwrap();
            assert_eq!(&into[..read], piece);
        }
    }

    #[test]
    fn it_is_ahead_by_so_much_and_no_more() {
        let (tell, told) = mpsc::channel();
        let pieces = std::iter::repeat_with(move || {
            let _ = tell.send(());
            Ok(vec![b' '; PIECE])
        });
        let ahead = Ahead::of(Pieces(pieces)).unwrap();
        for _ in 0..PIECES {
            told.recv_timeout(Duration::from_secs(10)).unwrap();
        }
        assert!(told.recv_timeout(Duration::from_millis(50)).is_err(), "more is read than is wanted");
        drop(ahead);
        // Its thread waits for a piece to fill, and learns that there is none.
        assert_eq!(told.recv_timeout(Duration::from_secs(10)), Err(mpsc::RecvTimeoutError::Disconnected));
    }
}
