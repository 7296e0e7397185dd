//! `trommel put`: stores an output.
//!
//! A thread of its own reads, so that a signal is heard while nothing comes; what was written by
//! then is taken back.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use serde_json::Value;
use trommel::reader::{self, Framing};
use trommel::{Error, framing_of};
use trommel_store::{Error as StoreError, Kind, Origin, Put, Records, Store, Stored};
use trommel_tool::Redaction;

use crate::ahead::Ahead;
use crate::args::{PutArgs, output_id};
use crate::errors::{BadWork, Failure};
use crate::output::{self, Notes, Screen, escape};
use crate::progress::Progress;
use crate::{home, signals, stdio};

/// Bytes read at a time.
const CHUNK: usize = 256 << 10;

/// Pieces that wait to be written.
const WAITING: usize = 2;

/// What the thread that reads, or a signal, has to say.
enum Piece {
    Bytes(Vec<u8>),
    End,
    Failed(io::Error),
    Signal(i32),
}

pub(crate) fn run(args: &PutArgs, screen: &Screen) -> Result<(), Failure> {
    let progress = Arc::new(Progress::new(screen));
    let (sender, pieces) = sync_channel(WAITING);
    let told = sender.clone();
    // When nobody listens any more, the output is as good as stored.
    signals::tell(Arc::clone(&progress), move |signal| told.send(Piece::Signal(signal)).is_ok())?;
    let store = home::store()?;
    let input = open(args, &store)?;
    let (bytes, total) = (input.bytes, input.length);
    let mut origin = origin(args);
    origin.framing = if let Some(framing) = args.input { framing.records() } else { input.framing };
    let mut put = store.put(origin)?;
    let ratio = args.limit_ratio;
    thread::Builder::new().name("input".into()).spawn(move || read(bytes, ratio, &sender))?;
    let written = write(&mut put, &pieces, |bytes| progress.update(bytes, total));
    progress.clear();
    written.map_err(|ended| ended.failure(args))?;
    let stored = put.finish()?;
    warn(args, &stored, progress);
    if args.json {
        let document = serde_json::to_string(&stored).map_err(io::Error::other)?;
        return Ok(output::print_json(&document, true, screen.out)?);
    }
    Ok(output::print(&format!("{}\n", stored.id))?)
}

/// Where the output comes from.
fn origin(args: &PutArgs) -> Origin {
    let mut origin = Origin::of(args.tool.as_str());
    origin.id.clone_from(&args.id);
    origin.conversation_id.clone_from(&args.conversation);
    origin.message_id.clone_from(&args.message);
    origin.success = !args.failed;
    if let Some(parameters) = &args.param {
        origin.parameters = blotted(parameters);
    }
    origin
}

/// The arguments without the secrets in them.
fn blotted(parameters: &Value) -> Value {
    Redaction::new().value(parameters)
}

/// What is stored.
struct Input {
    bytes: Box<dyn Read + Send>,
    /// Where it is known, and nothing is unpacked.
    length: Option<u64>,
    /// As its name, or the output that it is, tells.
    framing: Framing,
}

fn open(args: &PutArgs, store: &Store) -> Result<Input, Failure> {
    if let Some(id) = args.file.to_str().and_then(output_id) {
        let stored = store.get(id)?;
        let framing = stored.framing.map_or(Framing::Auto, Records::framing);
        let bytes = Box::new(store.payload(&stored)?);
        return Ok(Input { bytes, length: Some(stored.size_bytes), framing });
    }
    let failed = |cause| Ended::Opening(cause).failure(args);
    if args.file.as_os_str() == "-" {
        stdio::check_stdin().map_err(failed)?;
        let bytes = Box::new(Ahead::of(io::stdin()).map_err(failed)?);
        return Ok(Input { bytes, length: None, framing: Framing::Auto });
    }
    let file = File::open(&args.file).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(failed(io::ErrorKind::IsADirectory.into()));
    }
    let length = metadata.is_file().then_some(metadata.len());
    Ok(Input { bytes: Box::new(file), length, framing: framing_of(&args.file) })
}

/// Hands over what is read, until somebody stops listening.
fn read(bytes: Box<dyn Read + Send>, ratio: u64, sender: &SyncSender<Piece>) {
    let read = || -> io::Result<()> {
        let mut input = trommel::unpacked(bytes, ratio)?;
        loop {
            let mut piece = Vec::with_capacity(CHUNK);
            if input.by_ref().take(CHUNK as u64).read_to_end(&mut piece)? == 0 {
                return Ok(());
            }
            if sender.send(Piece::Bytes(piece)).is_err() {
                return Ok(());
            }
        }
    };
    let end = read().map_or_else(Piece::Failed, |()| Piece::End);
    let _ = sender.send(end);
}

/// Why nothing is stored.
enum Ended {
    /// The input cannot be opened.
    Opening(io::Error),
    /// The input cannot be read behind so many bytes.
    Reading(io::Error, u64),
    Writing(io::Error),
    Signal(i32),
}

impl Ended {
    fn failure(self, args: &PutArgs) -> Failure {
        let file = args.file.to_string_lossy().into_owned();
        let error = match self {
            Self::Signal(signal) => return Failure::Signal(signal),
            Self::Writing(error) => return refused(error),
            Self::Opening(cause) => Error::Open { path: args.file.clone(), cause },
            // A ratio that is exceeded becomes a limit by this.
            Self::Reading(cause, behind) => reader::Error::io(cause, behind).into(),
        };
        Failure::Work(Box::new(BadWork { error, file, has_records: false }))
    }
}

/// What the store says through a writer.
fn refused(error: io::Error) -> Failure {
    match error.downcast::<StoreError>() {
        Ok(error) => error.into(),
        Err(error) => Failure::Output(error),
    }
}

/// Writes what is read.
fn write(put: &mut Put<'_>, pieces: &Receiver<Piece>, progress: impl Fn(u64)) -> Result<(), Ended> {
    for piece in pieces {
        match piece {
            Piece::Bytes(bytes) => put.write_all(&bytes).map_err(Ended::Writing)?,
            Piece::End => return Ok(()),
            Piece::Failed(cause) => return Err(Ended::Reading(cause, put.written())),
            Piece::Signal(signal) => return Err(Ended::Signal(signal)),
        }
        progress(put.written());
    }
    Ok(())
}

/// Says of what looks like JSON why it is none.
fn warn(args: &PutArgs, stored: &Stored, progress: Arc<Progress>) {
    let begins = stored.preview.trim_start().starts_with(['{', '[']);
    if let (Kind::Text, true, Some(why)) = (stored.kind, begins, &stored.not_json) {
        let why = escape::short(&why.message, 300);
        let notes = Notes::new(&args.file.to_string_lossy(), progress);
        notes.note(&format!("stored as text, for it is no JSON: {why}"));
    }
}
