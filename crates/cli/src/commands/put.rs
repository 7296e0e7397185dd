//! `trommel put`: stores an output.
//!
//! A separate thread reads, so that signals are handled while no input arrives. A signal discards
//! the output written so far.

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

use crate::args::{PutArgs, output_id};
use crate::errors::{EngineError, Failure};
use crate::output::size::grouped;
use crate::output::{self, Notes, Screen, escape};
use crate::progress::Progress;
use crate::read_ahead::ReadAhead;
use crate::{home, signals, stdio};

/// The number of bytes to read at a time.
const READ_SIZE: usize = 256 << 10;

/// The maximum number of pieces that wait to be written.
const MAX_QUEUED: usize = 2;

/// An event from the reading thread or from a signal.
enum InputEvent {
    Bytes(Vec<u8>),
    End,
    Failed(io::Error),
    Signal(i32),
}

pub(crate) fn run(args: &PutArgs, screen: &Screen) -> Result<(), Failure> {
    let progress = Arc::new(Progress::new(screen));
    let (sender, pieces) = sync_channel(MAX_QUEUED);
    let handler = sender.clone();
    // Sending fails only after the last piece was received; the output is then as good as stored.
    signals::on_signal(Arc::clone(&progress), move |signal| {
        handler.send(InputEvent::Signal(signal)).is_ok()
    })?;
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
    // Returning without `finish` drops `put`, which discards the output.
    written.map_err(|error| error.failure(args))?;
    let stored = put.finish()?;
    warn(args, &stored, progress);
    if args.json {
        // The index of lines only serves reading.
        let mut shown = stored;
        shown.line_index = None;
        let document = serde_json::to_string(&shown).map_err(io::Error::other)?;
        return Ok(output::print_json(&document, true, screen.out)?);
    }
    Ok(output::print(&format!("{}\n", stored.id))?)
}

/// Builds the metadata of the output from the options.
fn origin(args: &PutArgs) -> Origin {
    let mut origin = Origin::of(args.tool.as_str());
    origin.id.clone_from(&args.id);
    origin.conversation_id.clone_from(&args.conversation);
    origin.message_id.clone_from(&args.message);
    origin.success = !args.failed;
    if let Some(parameters) = &args.param {
        origin.parameters = redacted(parameters);
    }
    origin
}

/// Returns the arguments with secrets redacted.
fn redacted(parameters: &Value) -> Value {
    Redaction::new().value(parameters)
}

/// The input to store.
struct Input {
    bytes: Box<dyn Read + Send>,
    /// The length, if it is known and nothing is decompressed.
    length: Option<u64>,
    /// The framing by file name, or that of the stored output.
    framing: Framing,
}

fn open(args: &PutArgs, store: &Store) -> Result<Input, Failure> {
    if let Some(id) = args.file.to_str().and_then(output_id) {
        let stored = store.get(id)?;
        let framing = stored.framing.map_or(Framing::Auto, Records::framing);
        let bytes = Box::new(store.payload(&stored)?);
        return Ok(Input { bytes, length: Some(stored.size_bytes), framing });
    }
    let failed = |cause| PutError::Opening(cause).failure(args);
    if args.file.as_os_str() == "-" {
        stdio::check_stdin().map_err(failed)?;
        let bytes = Box::new(ReadAhead::start(io::stdin()).map_err(failed)?);
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

/// Sends pieces of the input until it ends or no receiver is left.
fn read(bytes: Box<dyn Read + Send>, ratio: u64, sender: &SyncSender<InputEvent>) {
    let read = || -> io::Result<()> {
        let mut input = trommel::unpacked(bytes, ratio)?;
        loop {
            let mut piece = Vec::with_capacity(READ_SIZE);
            if input.by_ref().take(READ_SIZE as u64).read_to_end(&mut piece)? == 0 {
                return Ok(());
            }
            if sender.send(InputEvent::Bytes(piece)).is_err() {
                return Ok(());
            }
        }
    };
    let end = read().map_or_else(InputEvent::Failed, |()| InputEvent::End);
    let _ = sender.send(end);
}

/// The reason why nothing was stored.
enum PutError {
    /// The input cannot be opened.
    Opening(io::Error),
    /// The input cannot be read past this offset.
    Reading(io::Error, u64),
    Writing(io::Error),
    Signal(i32),
}

impl PutError {
    fn failure(self, args: &PutArgs) -> Failure {
        let file = args.file.to_string_lossy().into_owned();
        let error = match self {
            Self::Signal(signal) => return Failure::Signal(signal),
            Self::Writing(error) => return write_failure(error),
            Self::Opening(cause) => Error::Open { path: args.file.clone(), cause },
            // Converts an exceeded ratio into a limit error.
            Self::Reading(cause, offset) => reader::Error::io(cause, offset).into(),
        };
        Failure::Work(Box::new(EngineError { error, file, has_records: false }))
    }
}

/// Returns the failure of a write. The store passes its own errors through the writer.
fn write_failure(error: io::Error) -> Failure {
    match error.downcast::<StoreError>() {
        Ok(error) => error.into(),
        Err(error) => Failure::Output(error),
    }
}

/// Writes the pieces that the reading thread sends.
fn write(put: &mut Put<'_>, pieces: &Receiver<InputEvent>, progress: impl Fn(u64)) -> Result<(), PutError> {
    for piece in pieces {
        match piece {
            InputEvent::Bytes(bytes) => put.write_all(&bytes).map_err(PutError::Writing)?,
            InputEvent::End => return Ok(()),
            InputEvent::Failed(cause) => return Err(PutError::Reading(cause, put.written())),
            InputEvent::Signal(signal) => return Err(PutError::Signal(signal)),
        }
        progress(put.written());
    }
    Ok(())
}

/// Notes why content that looks like JSON was stored as text, or which records are damaged.
fn warn(args: &PutArgs, stored: &Stored, progress: Arc<Progress>) {
    let begins = stored.preview.trim_start().starts_with(['{', '[']);
    let notes = Notes::new(&args.file.to_string_lossy(), progress);
    if let (Kind::Text, true, Some(why)) = (stored.kind, begins, &stored.not_json) {
        let why = escape::short(&why.message, 300);
        notes.note(&format!("not valid JSON ({why}); stored as text"));
    }
    if let Some(first) = &stored.first_damaged {
        let (damaged, all) = (grouped(stored.damaged_records), grouped(stored.records.unwrap_or(0)));
        let why = escape::short(&first.why.message, 300);
        let record = first.record;
        notes.note(&format!(
            "not valid JSON and skipped by queries: {damaged} of {all} records, the first is record {record} ({why})"
        ));
    }
}
