//! Requests about buffers at work.

use std::io::{self, Write};

use trommel_route::look::{self, Expression, Hunt};
use trommel_route::{BufferInfo, Content, Destinations, Origin, Route, Scope, Target, notice};

use super::answer::{Answer, Bound, Exported, Hits, Listing, Shown, Truncated};
use super::error::Error;
use super::metadata::NAME;
use super::request::{Export, Named, Range, Request, Search};

/// The buffers of a list.
const LISTED: usize = 100;

/// Receives the number of bytes read and of all bytes. The work stops when it returns false.
pub type Watch<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

/// Answers a request about the buffers of these places. Exports go to their files.
///
/// # Errors
/// If there is no such buffer, a buffer or file cannot be read or written, or the request asks for
/// more than an answer may hold.
pub fn answer(places: &Destinations, request: &Request<'_>, watch: Watch<'_>) -> Result<Answer, Error> {
    Work { places, watch }.run(request)
}

struct Work<'a> {
    places: &'a Destinations,
    watch: Watch<'a>,
}

impl Work<'_> {
    fn run(&mut self, request: &Request<'_>) -> Result<Answer, Error> {
        Ok(match *request {
            Request::List { scope, offset } => Answer::List(self.list(scope, offset)?),
            Request::Info(buffer) => Answer::Info(self.find(buffer)?.0),
            Request::Peek { buffer, offset, max_chars } => {
                Answer::Piece(self.peek(buffer, offset, max_chars)?)
            }
            Request::Read { buffer, range } => Answer::Piece(self.read(buffer, range)?),
            Request::Search(search) => Answer::Hits(self.search(search)?),
            Request::Export(export) => Answer::Export(self.export(export)?),
        })
    }

    fn find(&self, buffer: Named<'_>) -> Result<(BufferInfo, Content), Error> {
        Ok(self.places.buffers().find(buffer.name, buffer.scope)?)
    }

    /// Reports the bytes of a buffer that were read.
    fn of(&mut self, total: u64) -> impl FnMut(u64) -> bool {
        move |bytes| (self.watch)(bytes.min(total), total)
    }

    fn list(&self, scope: Option<Scope>, offset: u64) -> Result<Listing, Error> {
        let mut found = self.places.buffers().list(scope)?;
        let total = found.buffers.len();
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        let buffers: Vec<_> = found.buffers.into_iter().skip(skipped).take(LISTED).collect();
        found.unreadable.truncate(LISTED);
        let (returned, next) = (buffers.len(), skipped.saturating_add(buffers.len()));
        let truncated =
            (next < total).then_some(Truncated { reason: Bound::Limit, returned, next: next as u64 });
        Ok(Listing { buffers, total, unreadable: found.unreadable, truncated })
    }

    fn peek(&mut self, buffer: Named<'_>, offset: u64, max_chars: u64) -> Result<Shown, Error> {
        let (info, content) = self.find(buffer)?;
        let piece = look::peek(&info, &content, offset, max_chars, &mut self.of(info.bytes))?;
        let next = piece.offset + piece.chars;
        let returned = usize::try_from(piece.chars).unwrap_or(usize::MAX);
        let truncated = (next < info.chars).then_some(Truncated { reason: Bound::MaxChars, returned, next });
        Ok(Shown { truncated, ..Shown::new(info, piece) })
    }

    fn read(&mut self, buffer: Named<'_>, range: Range) -> Result<Shown, Error> {
        let (info, content) = self.find(buffer)?;
        let watch = &mut self.of(info.bytes);
        match range {
            Range::Lines { first, last } => {
                let piece = look::lines(&info, &content, first, last, watch)?;
                let (start_line, end_line) = (Some(first), Some(last.min(info.lines)));
                Ok(Shown { start_line, end_line, ..Shown::new(info, piece) })
            }
            Range::Chars { offset, length } => {
                let piece = look::range(&info, &content, offset, length, watch)?;
                Ok(Shown::new(info, piece))
            }
        }
    }

    fn search(&mut self, search: Search<'_>) -> Result<Hits, Error> {
        let Search { buffer, pattern, plain, context, offset } = search;
        let (info, content) = self.find(buffer)?;
        let expression = if plain { Expression::plain(pattern)? } else { Expression::regex(pattern)? };
        let hunt = Hunt::new(&expression).from(offset).context(context);
        let found = hunt.run(&info, &content, &mut self.of(info.bytes))?;
        let returned = found.hits.len();
        let truncated = found.next.map(|next| Truncated { reason: Bound::Limit, returned, next });
        let hits = found.hits.into_iter().map(Into::into).collect();
        Ok(Hits { buffer: info.name, scope: info.scope, hits, truncated })
    }

    fn export(&mut self, export: Export<'_>) -> Result<Exported, Error> {
        let path = export.path.trim();
        let path = path.strip_prefix("file:").map_or(path, str::trim);
        if path.is_empty() {
            return Err(Error::NoPath);
        }
        let (info, content) = self.find(export.buffer)?;
        let target = Target::parse(&format!("file:{path}"))?;
        let route = Route::to(target).write_mode(export.write_mode.unwrap_or_default());
        if export.write_mode.is_none() {
            self.check_free(&route)?;
        }
        let mut origin = Origin::of(NAME);
        origin.kind = format!("variable:{}", info.name);
        let mut parcel = self.places.open(&route, origin)?;
        let mut reader =
            Watched { reader: content.reader(0), passed: 0, is_stopped: false, watch: self.of(info.bytes) };
        let copied = io::copy(&mut reader, &mut parcel).and_then(|_| parcel.flush());
        if let Err(error) = copied {
            return Err(if reader.is_stopped { Error::Cancelled } else { Error::Copy(error) });
        }
        let manifest = parcel.finish()?;
        Ok(Exported {
            buffer: info.name,
            scope: info.scope,
            write_mode: route.mode(),
            bytes: manifest.size_bytes,
            chars: manifest.size_chars,
            notice: notice(&manifest),
            path: manifest.id,
        })
    }

    /// An existing file is not written to unless the request says how.
    fn check_free(&self, route: &Route) -> Result<(), Error> {
        let to = self.places.would_go(route)?;
        let path = to.strip_prefix("file:").unwrap_or(&to);
        if self.places.root()?.is_there(path) {
            return Err(Error::Exists { path: path.to_owned() });
        }
        Ok(())
    }
}

/// A reader that stops with the work.
struct Watched<R, W> {
    reader: R,
    passed: u64,
    is_stopped: bool,
    watch: W,
}

impl<R: io::Read, W: FnMut(u64) -> bool> io::Read for Watched<R, W> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(bytes)?;
        self.passed += count as u64;
        self.is_stopped = !(self.watch)(self.passed);
        if self.is_stopped { Err(io::Error::other("cancelled")) } else { Ok(count) }
    }
}
