//! `trommel explore`: a tree of the input in the terminal.

use std::env;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use trommel::framing_of;
use trommel::reader::{Framing as Records, Input, Limits, MapPolicy};
use trommel_explore::{Ending, Error, Explorer, Source};
use trommel_guide::Error::Changed;
use trommel_guide::{Guide, Location, SPACING};

use crate::args::{ExploreArgs, Framing, output_id};
use crate::errors::{EngineError, Failure};
use crate::input::STDIN_ARGUMENT;
use crate::output::{self, Screen};
use crate::{home, stdio};

/// The smallest file whose guide is kept: others are read in an instant.
const MIN_KEPT: u64 = 1_000_000;

/// Bytes that a log may have grown by since its guide was built. After more, another one is built.
const MAX_APPENDED: u64 = 64 << 20;

/// The maximum number of decompressed bytes for each compressed one.
const MAX_RATIO: u64 = 1000;

pub(crate) fn run(args: &ExploreArgs, screen: &Screen) -> Result<(), Failure> {
    let usage = |message| Failure::Usage { command: "explore", message };
    let unusable = |cause: &dyn Display| usage(format!("{cause}; --print 80x24 prints the first screen"));
    if args.print.is_none() && !screen.out.is_terminal {
        return Err(unusable(&"standard output is not a terminal"));
    }
    let explorer = explorer(args)?.follow(args.follow);
    let failed = |error| match error {
        Error::Input(cause) => failure(&args.file, cause),
        Error::Key(_) => usage(error.to_string()),
        other => unusable(&other),
    };
    if let Some(size) = args.print {
        let printed = explorer.print(size, &args.keys).map_err(failed)?;
        return Ok(output::print(&printed)?);
    }
    match explorer.run().map_err(failed)? {
        Ending::Signal(signal) => Err(Failure::Signal(signal)),
        _ => Ok(()),
    }
}

fn failure(file: &Path, cause: io::Error) -> Failure {
    let has_records = false;
    let error = trommel::Error::Open { path: file.to_owned(), cause };
    Failure::Work(Box::new(EngineError { error, file: file.to_string_lossy().into_owned(), has_records }))
}

fn explorer(args: &ExploreArgs) -> Result<Explorer, Failure> {
    let name = args.file.to_string_lossy().into_owned();
    let declared = args.input.map(Framing::records);
    if let Some(id) = args.file.to_str().and_then(output_id) {
        return output(id, &name, declared);
    }
    let framing = declared.unwrap_or_else(|| framing_of(&args.file));
    let failed = |error: io::Error| failure(&args.file, error);
    let file = if name == STDIN_ARGUMENT {
        stdio::check_stdin().map_err(failed)?;
        spool(io::stdin()).map_err(failed)?
    } else {
        let file = File::open(&args.file).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        if metadata.is_file() && !is_packed(&file).map_err(failed)? {
            return plain(args, file, &name, framing);
        }
        spool(file).map_err(failed)?
    };
    // Nothing can change an unnamed file, so its guide serves this run only.
    let build = file.try_clone().map_err(failed)?;
    let explorer = Explorer::new(source_of(file, name, framing));
    if !wants_guide(args) {
        return Ok(explorer);
    }
    Ok(explorer.build_guide(move |settings| {
        Guide::build(&build, framing, settings, SPACING).map_err(|error| error.to_string())
    }))
}

fn is_packed(file: &File) -> io::Result<bool> {
    let mut magic = Vec::new();
    let input = Input::from_file(file.try_clone()?, MapPolicy::never())?;
    input.reader().take(8).read_to_end(&mut magic)?;
    Ok(trommel::is_packed(&magic))
}

fn wants_guide(args: &ExploreArgs) -> bool {
    !args.no_guide && env::var_os("TROMMEL_GUIDE").is_none_or(|value| value != "off")
}

/// Explores a file, with its guide. A large one takes longer to read than the first screen: that
/// does not wait for it.
fn plain(args: &ExploreArgs, file: File, name: &str, framing: Records) -> Result<Explorer, Failure> {
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let opened = file.try_clone().map_err(|error| failure(&args.file, error))?;
    let source = source_of(file, name.to_owned(), framing);
    if !wants_guide(args) {
        return Ok(Explorer::new(source));
    }
    let path = args.file.clone();
    let serves = move |guide: &Guide| {
        // An answer that `stats` has left has no points to read from. Past the last point, the
        // file is read.
        let is_near = length.saturating_sub(guide.index().length()) <= MAX_APPENDED;
        guide.is_of(framing) && is_near && (guide.has_points() || length <= SPACING)
    };
    let find = move |file: &File| {
        let guides = home::guides().ok()?;
        let found = match guides.find(&path, file) {
            Err(Changed(_)) => guides.find_grown(&path, file),
            found => found,
        };
        found.ok().map(|(guide, _)| guide).filter(serves)
    };
    if args.print.is_some() {
        return Ok(Explorer::new(match find(&opened) {
            Some(guide) => source.guided_by(guide),
            None => source,
        }));
    }
    let path = args.file.clone();
    Ok(Explorer::new(source).build_guide(move |settings| {
        if let Some(guide) = find(&opened) {
            return Ok(guide);
        }
        let guide = Guide::build(&opened, framing, settings, SPACING).map_err(|error| error.to_string())?;
        if length >= MIN_KEPT {
            keep(&path, &guide);
        }
        Ok(guide)
    }))
}

/// Keeps a guide for later questions. Without room or permission, they read the file.
fn keep(path: &Path, guide: &Guide) {
    if let Ok(guides) = home::guides() {
        let _ = guides.keep(path, guide, Location::Folder);
    }
}

fn source_of(file: File, name: String, framing: Records) -> Source {
    Source::new(name, framing, move || Input::from_file(file.try_clone()?, MapPolicy::never()))
}

/// Explores a stored output, with the guide that was stored.
fn output(id: &str, name: &str, declared: Option<Records>) -> Result<Explorer, Failure> {
    let store = home::store()?;
    let stored = store.get(id)?;
    // Fails if it is text.
    let framing = store.document(&stored)?.current_framing();
    let guide = store.guide(&stored).ok().flatten();
    let opened = Arc::clone(&store);
    let source = Source::new(name, declared.unwrap_or(framing), move || {
        let payload = opened.payload(&stored).map_err(io::Error::other)?;
        Input::from_seekable(payload)
    });
    Ok(Explorer::new(match guide {
        Some(guide) => source.guided_by(guide),
        None => source,
    }))
}

/// Copies a stream to an unnamed temporary file, decompressed.
fn spool(reader: impl Read + Send + 'static) -> io::Result<File> {
    let limit = Limits::default().spool_bytes;
    let mut reader = trommel::unpacked(Box::new(reader), MAX_RATIO)?.take(limit.saturating_add(1));
    let mut file = tempfile::tempfile()?;
    if io::copy(&mut reader, &mut file)? > limit {
        return Err(io::Error::other(format!("it has more than {limit} bytes: store it in a file first")));
    }
    Ok(file)
}
