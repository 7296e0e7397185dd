//! Handling of requests about buffers.

use std::io::{self, Write};

use trommel_route::reading::{self, Expression};
use trommel_route::{BufferInfo, Content, Destinations, Origin, Route, Scope, Target, notice};

use super::answer::{
    Answer, BufferExcerpt, BufferListing, ExportResult, SearchHits, Truncated, TruncationReason,
};
use super::error::Error;
use super::metadata::NAME;
use super::request::{BufferRef, Export, Range, Request, Search};

/// The maximum number of buffers in a list.
const MAX_LISTED: usize = 100;

/// A callback that receives the number of bytes read and their total. It returns false to cancel
/// the request.
pub type OnProgress<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

/// Answers a request about the buffers of `destinations`. Exports go to its files.
///
/// # Errors
/// Returns an error if the buffer does not exist, a buffer or file cannot be read or written, or
/// the answer would exceed its bounds.
pub fn answer(
    destinations: &Destinations,
    request: &Request<'_>,
    on_progress: OnProgress<'_>,
) -> Result<Answer, Error> {
    RequestHandler { destinations, on_progress }.run(request)
}

/// The state while a request is handled.
struct RequestHandler<'a> {
    destinations: &'a Destinations,
    on_progress: OnProgress<'a>,
}

impl RequestHandler<'_> {
    fn run(&mut self, request: &Request<'_>) -> Result<Answer, Error> {
        Ok(match *request {
            Request::List { scope, offset } => Answer::List(self.list(scope, offset)?),
            Request::Info(buffer) => Answer::Info(self.find(buffer)?.0),
            Request::Peek { buffer, offset, max_chars } => {
                Answer::Excerpt(self.peek(buffer, offset, max_chars)?)
            }
            Request::Read { buffer, range } => Answer::Excerpt(self.read(buffer, range)?),
            Request::Search(search) => Answer::Hits(self.search(search)?),
            Request::Export(export) => Answer::Export(self.export(export)?),
        })
    }

    fn find(&self, buffer: BufferRef<'_>) -> Result<(BufferInfo, Content), Error> {
        Ok(self.destinations.buffers().find(buffer.name, buffer.scope)?)
    }

    /// Returns a callback that reports the progress of reading one buffer.
    fn reporter(&mut self, total: u64) -> impl FnMut(u64) -> bool {
        move |bytes| (self.on_progress)(bytes.min(total), total)
    }

    fn list(&self, scope: Option<Scope>, offset: u64) -> Result<BufferListing, Error> {
        let mut list = self.destinations.buffers().list(scope)?;
        let total = list.buffers.len();
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        let buffers: Vec<_> = list.buffers.into_iter().skip(skipped).take(MAX_LISTED).collect();
        list.unreadable.truncate(MAX_LISTED);
        let (returned, next) = (buffers.len(), skipped.saturating_add(buffers.len()));
        let truncated = (next < total).then_some(Truncated {
            reason: TruncationReason::Limit,
            returned,
            next: next as u64,
        });
        Ok(BufferListing { buffers, total, unreadable: list.unreadable, truncated })
    }

    fn peek(&mut self, buffer: BufferRef<'_>, offset: u64, max_chars: u64) -> Result<BufferExcerpt, Error> {
        let (info, content) = self.find(buffer)?;
        let excerpt = reading::peek(&info, &content, offset, max_chars, &mut self.reporter(info.bytes))?;
        let next = excerpt.offset + excerpt.chars;
        let returned = usize::try_from(excerpt.chars).unwrap_or(usize::MAX);
        let truncated =
            (next < info.chars).then_some(Truncated { reason: TruncationReason::MaxChars, returned, next });
        Ok(BufferExcerpt { truncated, ..BufferExcerpt::new(info, excerpt) })
    }

    fn read(&mut self, buffer: BufferRef<'_>, range: Range) -> Result<BufferExcerpt, Error> {
        let (info, content) = self.find(buffer)?;
        let on_progress = &mut self.reporter(info.bytes);
        match range {
            Range::Lines { first, last } => {
                let excerpt = reading::lines(&info, &content, first, last, on_progress)?;
                let (start_line, end_line) = (Some(first), Some(last.min(info.lines)));
                Ok(BufferExcerpt { start_line, end_line, ..BufferExcerpt::new(info, excerpt) })
            }
            Range::Chars { offset, length } => {
                let excerpt = reading::range(&info, &content, offset, length, on_progress)?;
                Ok(BufferExcerpt::new(info, excerpt))
            }
        }
    }

    fn search(&mut self, search: Search<'_>) -> Result<SearchHits, Error> {
        let Search { buffer, pattern, plain, context, offset } = search;
        let (info, content) = self.find(buffer)?;
        let expression = if plain { Expression::plain(pattern)? } else { Expression::regex(pattern)? };
        let search = reading::Search::new(&expression).from(offset).context(context);
        let results = search.run(&info, &content, &mut self.reporter(info.bytes))?;
        let returned = results.hits.len();
        let truncated =
            results.next.map(|next| Truncated { reason: TruncationReason::Limit, returned, next });
        let hits = results.hits.into_iter().map(Into::into).collect();
        Ok(SearchHits { buffer: info.name, scope: info.scope, hits, truncated })
    }

    fn export(&mut self, export: Export<'_>) -> Result<ExportResult, Error> {
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
        let mut file = self.destinations.open(&route, origin)?;
        let mut reader = MonitoredReader {
            reader: content.reader(0),
            bytes_read: 0,
            is_cancelled: false,
            on_progress: self.reporter(info.bytes),
        };
        let copied = io::copy(&mut reader, &mut file).and_then(|_| file.flush());
        if let Err(error) = copied {
            return Err(if reader.is_cancelled { Error::Cancelled } else { Error::Copy(error) });
        }
        let manifest = file.finish()?;
        Ok(ExportResult {
            buffer: info.name,
            scope: info.scope,
            write_mode: route.mode(),
            bytes: manifest.size_bytes,
            chars: manifest.size_chars,
            notice: notice(&manifest),
            path: manifest.id,
        })
    }

    /// Refuses to write to an existing file unless the request has a write mode.
    fn check_free(&self, route: &Route) -> Result<(), Error> {
        let to = self.destinations.preview(route)?;
        let path = to.strip_prefix("file:").unwrap_or(&to);
        if self.destinations.root()?.exists(path) {
            return Err(Error::Exists { path: path.to_owned() });
        }
        Ok(())
    }
}

/// A reader that reports progress and stops if the request is cancelled.
struct MonitoredReader<R, W> {
    reader: R,
    bytes_read: u64,
    is_cancelled: bool,
    on_progress: W,
}

impl<R: io::Read, W: FnMut(u64) -> bool> io::Read for MonitoredReader<R, W> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(bytes)?;
        self.bytes_read += count as u64;
        // `io::copy` stops only on an error, so cancellation becomes one. The flag distinguishes it
        // from a failed read.
        self.is_cancelled = !(self.on_progress)(self.bytes_read);
        if self.is_cancelled { Err(io::Error::other("cancelled")) } else { Ok(count) }
    }
}
